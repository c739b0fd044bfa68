"""A devnet against anvil: the same client, the same load, in turns on one machine."""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from common import ROOT, machine, median, table, write_section

ANVIL_VERSION = "1.7.1"
TOOLS = ROOT / "target" / "bench"
LOAD = ROOT / "target" / "release" / "examples" / "load"
COWBOYD = ROOT / "target" / "release" / "cowboyd"
# A node that has not answered after this number of seconds never will.
PATIENCE = 60


class Node:
    """A running node; ended, by its process id, when the block ends."""

    def __init__(self, command, port, question, log):
        self.port = port
        self.log = open(log, "wb")
        started = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, cwd=TOOLS)
        self.startup = self.first_answer(question, started)

    def first_answer(self, question, started):
        while time.perf_counter() - started < PATIENCE:
            if self.process.poll() is not None:
                raise SystemExit(f"{self.process.args[0]} ended with {self.process.returncode}; see {self.log.name}")
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(question)
                if connection.recv(65536).startswith(b"HTTP/1.1 200"):
                    return time.perf_counter() - started
            time.sleep(0.0005)
        raise SystemExit(f"{self.process.args[0]} gives no answer; see {self.log.name}")

    def resident(self):
        """Resident memory in MiB."""
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0

    def __enter__(self):
        return self

    def __exit__(self, *details):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Anvil:
    name = command = "anvil"
    configuration = ["--gas-limit", "100000000000", "--no-request-size-limit", "--silent"]
    # Mining on arrival, its default, is what delays are measured with. Under load over several connections it strands
    # transactions and then stops answering (1.7.1), so that rates are measured with a block a second, mined early when it idles.
    for_rates = ["--block-time", "1"]

    def __init__(self):
        if not self.binary():
            TOOLS.mkdir(parents=True, exist_ok=True)
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(TOOLS), f"@foundry-rs/anvil@{ANVIL_VERSION}"], check=True, stdout=subprocess.DEVNULL)

    def binary(self):
        return next(TOOLS.glob("node_modules/@foundry-rs/anvil-*/bin/anvil*"), None)

    def start(self, state, more=()):
        port = free_port()
        body = b'{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
        question = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        return Node([self.binary(), "--port", str(port), *self.configuration, *more], port, question, TOOLS / "anvil.log")


class Cowboy:
    name, command = "cowboy", "cowboyd dev"
    # The lanes and one actor's share of a block, as far as the parameters' ranges go.
    parameters = {
        "fees.block_cycles": 4_000_000_000, "fees.block_cells": 400_000_000, "fees.cycles_target": 1_000_000_000, "fees.cells_target": 100_000_000,
        "lanes.user_cycles": 1_000_000_000, "execution.actor_block_cycles": 80_000_000, "execution.block_weight": 4_000_000_000,
    }
    configuration = ["--block-time", "instant", "--balance", "500000", *(f"--parameter={name}={value}" for name, value in parameters.items())]
    for_rates = []

    def start(self, state, more=()):
        port = free_port()
        question = b"GET /height HTTP/1.1\r\nHost: x\r\n\r\n"
        return Node([COWBOYD, "dev", "--port", str(port), *(["--state", str(state)] if state else []), "--runners", "0", "--quiet", *self.configuration, *more], port, question, TOOLS / "cowboyd.log")


def load(chain, node, counter, *what):
    command = [LOAD, chain.name, "--address", f"127.0.0.1:{node.port}", *(["--counter", counter] if counter else []), *map(str, what)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"{chain.name} {' '.join(map(str, what))}: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    print(f"{chain.name:>7} {' '.join(map(str, what))}: {report} {done.stderr.strip()}", file=sys.stderr, flush=True)
    return report


def measure(chain, scale):
    """One round: delays on a fresh node whose state goes with it, then rates on one that opens its state again (anvil keeps none)."""
    figures = {}
    state = pathlib.Path(tempfile.mkdtemp(prefix="cowboy-bench-"))
    try:
        with chain.start(None) as node:
            figures["fresh"] = node.startup * 1000
            time.sleep(3)
            figures["resident"] = node.resident()
            counter = load(chain, node, None, "deploy")["counter"]
            figures["settling"] = load(chain, node, counter, "settling", "--count", 300 // scale)["p50_us"] / 1000
            one = load(chain, node, counter, "reads", "--count", 5000 // scale, "--connections", 1)
            figures["read_delay"], figures["read_rate"] = one["p50_us"], one["per_second"]
            figures["read_rate_16"] = load(chain, node, counter, "reads", "--count", 60000 // scale, "--connections", 16)["per_second"]
        with chain.start(state / "chain") as node:
            if chain.name == "cowboy":
                counter = load(chain, node, None, "deploy")["counter"]
                figures["settling_on_disk"] = load(chain, node, counter, "settling", "--count", 300 // scale)["p50_us"] / 1000
        with chain.start(state / "chain", chain.for_rates) as node:
            figures["reopened"] = node.startup * 1000
            if chain.name == "anvil":
                counter = load(chain, node, None, "deploy")["counter"]
            figures["transfers"] = load(chain, node, counter, "transfers", "--count", 40000 // scale, "--batch", 100)["per_second"]
            figures["calls"] = load(chain, node, counter, "calls", "--count", 20000 // scale, "--batch", 100)["per_second"]
            figures["transfers_single"] = load(chain, node, counter, "transfers", "--count", 10000 // scale, "--batch", 1)["per_second"]
            figures["calls_single"] = load(chain, node, counter, "calls", "--count", 5000 // scale, "--batch", 1)["per_second"]
            figures["resident_after"] = node.resident()
    finally:
        shutil.rmtree(state, ignore_errors=True)
    return figures


# Name, what it is called, how it is written, and whether more is better.
ROWS = [
    ("fresh", "start to first answer, fresh", "{:.0f} ms", False),
    ("reopened", "start to first answer, existing state", "{:.0f} ms", False),
    ("resident", "idle resident memory", "{:.0f} MiB", False),
    ("resident_after", "resident memory after the load", "{:.0f} MiB", False),
    ("transfers", "transfers/s, batches of 100, 40k", "{:,.0f}", True),
    ("transfers_single", "transfers/s, one a request, 10k", "{:,.0f}", True),
    ("calls", "counter calls/s, batches of 100, 20k", "{:,.0f}", True),
    ("calls_single", "counter calls/s, one a request, 5k", "{:,.0f}", True),
    ("read_delay", "read-only call, one connection, p50", "{:.0f} µs", False),
    ("read_rate", "read-only calls/s, one connection", "{:,.0f}", True),
    ("read_rate_16", "read-only calls/s, 16 connections", "{:,.0f}", True),
    ("settling", "submit to final receipt, p50", "{:.2f} ms", False),
    ("settling_on_disk", "the same with `--state`, each step on the disk", "{:.2f} ms", False),
]


def main():
    parser = argparse.ArgumentParser(prog="./bench chain", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often each chain is measured, in turns")
    parser.add_argument("--scale", type=int, default=1, help="divide the amounts of work by this, for a quick look")
    parser.add_argument("--only", choices=["anvil", "cowboy"], help="measure one of them")
    parser.add_argument("--write", action="store_true", help="write the table into docs/bench.md")
    arguments = parser.parse_args()
    chains = [kind() for kind in (Anvil, Cowboy) if arguments.only in (None, kind.name)]
    rounds = {chain.name: [] for chain in chains}
    for _ in range(arguments.rounds):
        for chain in chains:
            rounds[chain.name].append(measure(chain, arguments.scale))
    middle = {name: {key: median([figures[key] for figures in every]) for key, *_ in ROWS if key in every[0]} for name, every in rounds.items()}
    rows = []
    for key, label, form, more in ROWS:
        cells = [form.format(figures[key]) if key in figures else "" for figures in middle.values()]
        both = len(middle) == 2 and all(key in figures for figures in middle.values())
        rows.append([label, *cells, *([f"{middle['cowboy'][key] / middle['anvil'][key]:.2f}×"] if both else [""] * (len(middle) == 2))])
    text = table(["", *middle, *(["cowboy / anvil"] if len(middle) == 2 else [])], rows)
    configuration = "; ".join(f"`{chain.command} {' '.join(chain.configuration)}`{', for rates `' + ' '.join(chain.for_rates) + '`' if chain.for_rates else ''}" for chain in chains)
    text = (f"`./bench chain`: median of {arguments.rounds} alternating rounds; 10 senders over 10 connections; transactions are signed before the clock starts; rates are measured from the first "
            f"submission until all are in committed state. anvil {ANVIL_VERSION} has no consensus and executes a 21-byte EVM counter; our counter is a Python actor, and blocks are final. "
            "anvil's rates are measured with one block per second, mined earlier when it is idle. With its default, which mines on arrival, transactions over several connections get stuck and anvil stops responding. "
            f"Configuration: {configuration}. {machine()}.\n\n{text}")
    print(text)
    if arguments.write:
        write_section("A devnet against anvil", text)


if __name__ == "__main__":
    main()
