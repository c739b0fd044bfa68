"""Files of volumes: coding beside the libraries, putting and getting with real relays, proofs, repair, and losses over years beside the formula.

    ./bench volumes [--only coding,files,small,proofs,repair,losses] [--megabytes 1024] [--json] [--write]

Node, relays and client are processes on loopback. With files of 1 GiB, which the design names, everything takes about ten minutes and 6 GB of disk.
"""
import datetime
import hashlib
import heapq
import json
import math
import os
import random
import re
import statistics
import subprocess
import time
import urllib.error

import figures
from common import machine, median
from figures import Row, example, say
import world
from world import World, fetch, until

RELAYS = "0x000000000000000000000000000000000000000b"
DATA, PARITY = 4, 2
GETS = 3
SMALL_FILES = 20
YEARS = 10
DAYS_TO_FAIL = 90
# Simulated, so that enough are lost to compare.
VOLUMES = 10_000
# Repairs of large files take longer than tests wait.
world.PATIENCE_SECONDS = 1_800


class Storage(World):
    """A devnet whose relays are processes of their own, each with the key of an account, and a volume with a key."""

    def __init__(self, folder, relays, megabytes, block_time="200ms", **parameters):
        options = [option for name, value in parameters.items() for option in ("--parameter", f"volumes.{name}={value}")]
        super().__init__(folder, "--block-time", block_time, "--balance", "20000", "--runners", "0", "--no-gateway", "--no-demo", "--relays", "0", "--proxies", "0", *options)
        self.relays, self.megabytes = {}, megabytes
        try:
            for number in range(1, relays + 1):
                self.relay(number)
            until(f"{relays} relays that are up", lambda: [relay["is_healthy"] for relay in self.run("relay", "list")].count(True) == relays)
            quota = f"{megabytes * 5 // 4 + 64}MiB"
            self.run("volume", "create", "bench", "--quota", quota, "--key", "volume.key", "--code", f"{DATA}+{PARITY}")
        except BaseException as problem:
            self.__exit__(type(problem), problem, None)
            raise

    def relay(self, number):
        folder = self.folder / f"relay{number}"
        folder.mkdir()
        (folder / "relay.key").write_text(self.accounts[number][1])
        (folder / "relay.toml").write_text(
            f'node = "{self.url}"\ntrust_node = true\nkey_file = "{folder / "relay.key"}"\nstate = "{folder / "state"}"\nlisten = "127.0.0.1:0"\n'
            f'endpoint = "localhost"\nstake_cby = 5100\nregion = "region-{number % 3}"\ncapacity_gib = 4\nmetrics = "127.0.0.1:0"\n'
        )
        process = self.start("cowboy-relay", [self.bin / "cowboyd", "--config", folder / "relay.toml"], RUST_LOG="info")
        self.relays[self.accounts[number][0]] = process

    def holders(self):
        return [slot["relay"] if slot["is_serving"] else None for slot in self.run("volume", "info", "bench")["slots"]]

    def said(self):
        """What the relays logged, without colours."""
        return re.sub(r"\x1b\[[0-9;]*m", "", (self.folder / "cowboy-relay.err").read_text())

    def sent(self):
        """Bytes that each relay that is up has sent, by the address of its numbers."""
        counts = {}
        for address in re.findall(r"http://127\.0\.0\.1:\d+/metrics", self.said()):
            try:
                page = fetch(address).decode()
            except urllib.error.URLError:
                continue
            counts[address] = int(re.search(r"^cowboy_relay_bytes_sent_total (\d+)$", page, re.MULTILINE)[1])
        return counts

    def events(self, name):
        return [log for log in self.get(f"/actor/{RELAYS}/logs?order=desc&limit=100")["logs"] if log["name"] == name]

    def client(self, *arguments):
        """Seconds of one run of `cowboy volume`, its most memory in MiB, and what it prints."""
        command = ["cowboy", "--json", "--rpc-url", self.url, "--private-key", self.accounts[0][1], "volume", *map(str, arguments), "--key", "volume.key"]
        began = time.perf_counter()
        with open(self.folder / "client.err", "wb") as errors:
            with subprocess.Popen(command, executable=self.bin / "cowboyd", stdout=subprocess.PIPE, stderr=errors, text=True, cwd=self.folder) as process:
                printed = process.stdout.read()
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - began
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(command[5:])} ends with {process.returncode}: {(self.folder / 'client.err').read_text()}")
        return seconds, usage.ru_maxrss / 1024, json.loads(printed)

    def put_file(self):
        """Puts a file of random bytes. Answers seconds and memory."""
        source = self.folder / "file.bin"
        self.digest = hashlib.sha256()
        with open(source, "wb") as file:
            for _ in range(self.megabytes):
                part = os.urandom(1 << 20)
                self.digest.update(part)
                file.write(part)
        seconds, memory, _ = self.client("put", "bench", source, "notes/")
        source.unlink()
        return seconds, memory

    def get_file(self):
        """Gets it back. Answers seconds and memory."""
        target = self.folder / "fetched.bin"
        seconds, memory, _ = self.client("get", "bench", "notes/file.bin", target)
        with open(target, "rb") as file:
            if hashlib.file_digest(file, "sha256").digest() != self.digest.digest():
                raise SystemExit("the file that comes back is another one")
        target.unlink()
        return seconds, memory


def coding(_, asked):
    found = example("coding")
    rows = [
        Row("coding_mib", "encrypting, coding and hashing a file of 64 MiB on one core", "≥ 300 MiB/s", found["whole"], "MiB/s"),
        Row("coding_percent", "the same, of what its libraries take one after the other", None, found["ratio"] * 100, "%"),
    ]
    names = ("encrypting: AES-256-GCM", f"coding: Reed–Solomon {DATA}+{PARITY}", "hashing: BLAKE3 of all shards")
    for name, stage, library in zip(names, found["stages"], found["libraries"]):
        rows.append(Row(f"stage_{name.partition(':')[0]}_percent", f"{name}, {stage:,.0f} MiB/s: of the library's {library:,.0f} MiB/s", "≥ 80 %", stage / library * 100, "%"))
    return rows


def files(folder, asked):
    size = asked.megabytes
    with Storage(folder, 6, size, alive=86_400, proof_period=200, proof_window=100) as storage:
        put, put_memory = storage.put_file()
        say(f"  put: {put:.1f} s")
        gets = [storage.get_file() for _ in range(GETS)]
        until("proofs", lambda: storage.events("proof.given"))
        payloads = [storage.get(f"/transaction/{log['receipt']}")["instruction"]["payload"] for log in storage.events("proof.given")]
        # The relays of the first slots, whose cells are the file: all of it has to be decoded.
        for address in storage.holders()[:PARITY]:
            storage.relays[address].kill()
        degraded = [storage.get_file() for _ in range(GETS)]
    what = f"a file of {size:,} MiB, 6 relays"
    memory = max(memory for _, memory in [*gets, *degraded])
    return [
        Row("put_mib", f"{what}: put, with its commit", "≥ 60 MiB/s", size / put, "MiB/s"),
        Row("get_mib", f"the same: get, median of {GETS}", "≥ 100 MiB/s", size / median([seconds for seconds, _ in gets]), "MiB/s"),
        Row("get_degraded_mib", "the same: get with 2 relays dead", "≥ 60 MiB/s", size / median([seconds for seconds, _ in degraded]), "MiB/s"),
        Row("put_memory_mib", "most memory of the client: put", "≤ 64 MiB", put_memory, "MiB"),
        Row("get_memory_mib", "most memory of the client: get", "≤ 64 MiB", memory, "MiB"),
        Row("answer_of_relay_bytes", f"most bytes of an answer to a round, of {len(payloads)} of these relays", "≤ 20,480 B", max(len(payload) // 2 - 1 for payload in payloads), "B"),
    ]


def small(folder, asked):
    """A file of 100 bytes, on a chain with the usual second between blocks."""
    blocks, beyond = [], []
    with Storage(folder, 6, 1, block_time="1s", alive=86_400) as storage:
        for number in range(SMALL_FILES):
            source = folder / f"small-{number}.bin"
            source.write_bytes(os.urandom(100))
            before = storage.get("/height")["height"]
            seconds, _, done = storage.client("put", "bench", source, "notes/")
            (commit,) = done["commits"]
            blocks.append(storage.get(f"/transaction/{commit['tx_hash']}")["block_height"] - before)
            beyond.append(max(0.0, seconds - 2) * 1e3)
    return [
        Row("small_blocks", f"a file of 100 bytes: put and commit, blocks of 1 s until it stands, p50 of {SMALL_FILES}", "≤ 2", statistics.median(blocks), "blocks"),
        Row("small_blocks_max", "the same, most", None, max(blocks), "blocks"),
        Row("small_beyond_ms", "the same: time of the command beyond two blocks, p50", "≤ 50 ms", statistics.median(beyond), "ms"),
    ]


def proofs(_, asked):
    found = example("points")
    return [
        Row("draw_us", f"drawing the four points of a relay with {found['slots']:,} slots", "≤ 200 µs", found["draw_ns"] / 1e3, "µs"),
        Row("draw_records", "the same: records of its directory that are read", "bounded", found["draw_records"], "records"),
        Row("answer_bytes", "most bytes of an answer of four points: 1,024 files, the largest shard has 64 MiB", "≤ 20,480 B", found["answer_bytes"], "B"),
        Row("check_us", "checking an answer of four points", "≤ 1,000 µs", found["check_ns"] / 1e3, "µs"),
        Row("caught_percent", f"a relay that lost 5 %: caught within a day, of {found['runs']:,} seeded runs", "≥ 90 %; 91.5 % by the formula", found["caught"] / found["runs"] * 100, "%"),
        Row("honest_refused", f"one that lost nothing: answers that do not hold, of {found['answers']:,}", "0", found["honest_refused"], "answers"),
    ]


def repair(folder, asked):
    """One of six relays is killed, and a seventh gets its slot."""
    with Storage(folder, 7, asked.megabytes, alive=200, retry=5, proof_period=200, proof_window=100) as storage:
        storage.put_file()
        get = median([storage.get_file()[0] for _ in range(GETS)])
        # Of all data shards, with what fills up their last stripes.
        (listed,) = storage.run("volume", "ls", "bench", "--key", "volume.key")
        before, killed = storage.sent(), time.time() * 1e3
        storage.relays[storage.holders()[2]].kill()
        say("  a relay is killed: another gets its slot once its last round of proofs is over, in two minutes at most")
        until("the slot has another relay", lambda: [log for log in storage.events("slot.filled") if log["timestamp_ms"] > killed])
        after = storage.sent()
        given = max(log["timestamp_ms"] for log in storage.events("slot.given"))
        rebuilt = max(line.split()[0] for line in storage.said().splitlines() if "the slot is rebuilt" in line)
    seconds = datetime.datetime.fromisoformat(rebuilt).timestamp() - given / 1e3
    read = sum(count - before[address] for address, count in after.items())
    what = f"a slot of a file of {asked.megabytes:,} MiB rebuilt by another relay"
    return [
        Row("repair_read_percent", f"{what}: read, beyond {DATA} slots", "≤ 2 %", (read / listed["bytes"] - 1) * 100, "%"),
        Row("repair_seconds", "the same: from the block that gives it to the last byte", None, seconds, "s"),
        Row("repair_of_get", "the same, of the time of a get", "≤ 2", seconds / get, "times"),
    ]


def lost_of(data, parity, days_to_repair, source):
    """How many of the simulated volumes lose a file: in each slot a relay loses everything after 90 days on average, and its successor rebuilds it in
    a fixed time. A volume that lost more slots at once than its parity is lost."""
    lost = 0
    for _ in range(VOLUMES):
        down, at = [], 0.0
        # Slots that are there fail one after the other; as many as are down come back at fixed times.
        while True:
            up = data + parity - len(down)
            following = at + source.expovariate(up / DAYS_TO_FAIL)
            if down and down[0] <= following:
                at = heapq.heappop(down)
                continue
            at = following
            if at > YEARS * 365.25:
                break
            heapq.heappush(down, at + days_to_repair)
            if len(down) > parity:
                lost += 1
                break
    return lost


def expected(data, parity, days_to_repair):
    """The same by the formula for rare losses: a first slot fails, and `parity` others fail within the time t in which the first is rebuilt. They come in
    any order, which gives t to the power of their number, divided by its factorial."""
    slots = data + parity
    rate = math.prod((slots - gone) / DAYS_TO_FAIL for gone in range(parity + 1)) * days_to_repair**parity / math.factorial(parity)
    return VOLUMES * (1 - math.exp(-rate * YEARS * 365.25))


def losses(_, asked):
    source = random.Random(1)
    for data, parity, days in ((4, 2, 1.0), (4, 2, 0.25), (4, 2, 1 / 24), (10, 5, 1.0), (16, 8, 1.0)):
        found, formula = lost_of(data, parity, days, source), expected(data, parity, days)
        what = f"{data}+{parity}, rebuilt in {days * 24:.0f} h: lost of {VOLUMES:,} simulated volumes in {YEARS} years"
        yield Row(f"lost_{data}_{parity}_{days * 24:.0f}h", what, f"{formula:,.0f} by the formula" if formula >= 10 else f"{formula:.2g} by the formula", found, "volumes")


def page(asked):
    return "Files of volumes", (
        f"`./bench volumes`: node, relays and client are processes that share {machine()}; one core for coding, median of seven rounds. A time of a client includes its start and "
        f"the opening of the volume. In the simulation each relay loses everything after {DAYS_TO_FAIL} days on average, independently of others; the formula is that for rare losses. "
        "The chain gives a successor a day; a relay rebuilds a slot as fast as it reads."
    )


def options(parser):
    parser.add_argument("--megabytes", type=int, default=1_024, help="MiB of a large file, at most 1024")


if __name__ == "__main__":
    parts = {"coding": coding, "files": files, "small": small, "proofs": proofs, "repair": repair, "losses": lambda folder, asked: list(losses(folder, asked))}
    figures.run("volumes", __doc__, parts, page, options)
