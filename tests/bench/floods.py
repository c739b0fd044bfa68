"""What others notice of a flood: endless queries, half-sent heads and idle connections against a devnet, and the memory they leave.

    python3 tests/bench/floods.py [--write] [--seconds 20] [--clients 40]
"""
import argparse
import http.client
import json
import pathlib
import socket
import tempfile
import threading
import time

import gateway
from common import machine, median, table, write_section

HERE = pathlib.Path(__file__).parent
ACCOUNTS = [
    ("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80", None),
    ("0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d", "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"),
]
SETTLE = 20


def post(port, path, body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


class Flood:
    """Threads that do the same again and again until the block ends."""

    def __init__(self, count, act):
        self.over, self.done = threading.Event(), []
        self.threads = [threading.Thread(target=self.run, args=(act,)) for _ in range(count)]

    def run(self, act):
        while not self.over.is_set():
            try:
                self.done.append(act())
            except OSError:
                self.done.append(None)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *problem):
        self.over.set()
        for thread in self.threads:
            thread.join()


def bystander(folder, node, seconds):
    """Seconds that health checks and transfers of somebody else take, the transfers with the client's start and until they are final."""
    health, transfers, until = [], [], time.monotonic() + seconds
    while time.monotonic() < until:
        for _ in range(20):
            begun = time.monotonic()
            connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=60)
            connection.request("GET", "/health")
            assert connection.getresponse().status == 200
            connection.close()
            health.append(time.monotonic() - begun)
        begun = time.monotonic()
        gateway.cowboy(folder, node, ACCOUNTS[0][0], "transfer", ACCOUNTS[1][1], "1cby")
        transfers.append(time.monotonic() - begun)
    return health, transfers


def connections(node, count, said):
    """Opens connections that say this much and no more, and answers them."""
    opened = []
    for _ in range(count):
        try:
            connection = socket.create_connection(("127.0.0.1", node.port), timeout=5)
            connection.sendall(said)
            opened.append(connection)
        except OSError:
            pass
    return opened


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write", action="store_true")
    options.add_argument("--seconds", type=int, default=20)
    options.add_argument("--clients", type=int, default=40)
    asked = options.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        with gateway.devnet(folder, "200ms") as node:
            actor = gateway.cowboy(folder, node, ACCOUNTS[0][0], "actor", "deploy", "--code", HERE / "endless.py")["address"]
            quiet = node.resident()

            def note(what, health, transfers):
                rows.append([what, f"{median(health) * 1e3:.1f} / {max(health) * 1e3:.0f} ms", f"{median(transfers) * 1e3:.0f} / {max(transfers) * 1e3:.0f} ms", f"{node.resident():.0f} MiB"])

            note("nothing else", *bystander(folder, node, asked.seconds / 2))
            query = {"selector": "spin", "payload": "", "max_cycles": 100_000_000}
            with Flood(asked.clients, lambda: post(node.port, f"/actor/{actor}/read_handler", query)) as flood:
                figures = bystander(folder, node, asked.seconds)
            note(f"{asked.clients} clients with endless queries ({len(flood.done)} answered)", *figures)
            for what, said in (("half-sent heads", b"GET /health HTTP/1.1\r\nHost: a\r\nX-Slow: "), ("idle connections", b"")):
                for connection in connections(node, 2_000, said):
                    connection.close()
            time.sleep(SETTLE)
            after = node.resident()
    text = (f"`./bench floods`: a devnet with a block every 200 ms, on {machine()}, which node, attackers and an honest client share. The honest client's times are "
            "median and maximum: of `/health` on a new connection, and of `cowboy transfer` from its start until the transfer is final.\n\n"
            + table(["load", "health", "transfer", "resident"], rows)
            + f"\n\nResident memory: {quiet:.0f} MiB before, and {after:.0f} MiB {SETTLE} s after all of this and 4,000 connections without a complete request.")
    print(text)
    if asked.write:
        write_section("Floods", text)


if __name__ == "__main__":
    main()
