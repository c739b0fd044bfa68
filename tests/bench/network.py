"""A network of validators and full nodes: finality, throughput, a validator that is killed, catching up, state sync, disk, and the simulator.

    ./bench network [--only loopback,slow,killed,blocks,disk,pruning,sync,liars,bodies,seeds,hundred] [--json] [--write]

Everything takes about two hours, half of it the hundred validators. The programs are those of COWBOY_BIN, or of target/release.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from common import ROOT, machine, median, rows_of_section, table, write_section

os.environ.setdefault("COWBOY_BIN", str(ROOT / "target" / "release"))
sys.path.insert(0, str(ROOT / "tests" / "network"))
import epochs  # noqa: E402
import rates  # noqa: E402
from rates import Row, load, percentile  # noqa: E402

PROGRAMS = pathlib.Path(os.environ["COWBOY_BIN"])
# What the validators' links are where they are slow.
SLOW = ["--latency", "80ms±20ms", "--loss", "2%"]
# The same lanes and blocks as in `./bench chain`: room for what the computer can do.
WIDE = [f"--parameter={name}={value}" for name, value in rates.WIDE.items()]


class Testnet:
    """`cowboyd testnet` with these options, until the block ends."""

    def __init__(self, folder, validators, *options):
        self.folder, self.newcomers = folder, []
        command = ["testnet", "--validators", validators, "--port", 0, "--p2p-port", epochs.free_ports(validators), "--state", "net", *options]
        self.process = epochs.Process(folder, "testnet", *command)
        self.url = self.process.url
        rows = [line.split() for line in self.process.said if "  pid " in line]
        self.pids = {int(row[1]): int(row[-1]) for row in rows if row[0] == "validator"}

    def start(self, name, *arguments):
        """A node beside those of the testnet."""
        self.newcomers.append(epochs.Process(self.folder, name, *arguments))
        return self.newcomers[-1]

    def record(self, validator=0):
        return epochs.program("cowboyd", self.folder, "record", "--config", f"net/validator-{validator}.json")["record"]

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        for process in [*self.newcomers, self.process]:
            if process.child.poll() is None:
                process.stop()


@contextlib.contextmanager
def node(folder, name, *arguments):
    """One `cowboyd`, until the block ends."""
    process = epochs.Process(folder, name, *arguments)
    try:
        yield process
    finally:
        if process.child.poll() is None:
            process.stop()


def blocks(url, first):
    """Time and number of transactions of the blocks from a height on, ascending."""
    found, offset = {}, 0
    while True:
        page = epochs.get(url, f"/blocks?offset={offset}&limit=100")["blocks"]
        found.update({row["height"]: (row["timestamp_ms"], row["transaction_count"]) for row in page})
        if not page or page[-1]["height"] <= first:
            return [found[height] for height in sorted(found) if height >= first]
        offset += len(page)


def height(url):
    return epochs.get(url, "/height")["height"]


def bytes_of(folder):
    """What the files in a folder take on the disk."""
    return sum(path.lstat().st_blocks * 512 for path in pathlib.Path(folder).rglob("*") if path.is_file())


def loopback(folder):
    """Four validators that make blocks as fast as they can."""
    with Testnet(folder, 4, "--block-time-ms", 1, *WIDE) as net:
        settled = load(net.url, "settling", "--count", 300)
        sent = [load(net.url, "transfers", "--count", 40_000, "--batch", 100)["per_second"] for _ in range(3)]
    return [
        Row("finality_loopback_p50_ms", "4 validators on loopback, fastest blocks: submission to final receipt, p50", "≤ 150 ms", settled["p50_us"] / 1e3, "ms"),
        Row("transfers_per_second", "the same: transfers finalized a second, median of 3 times 40,000", "≥ 5,000", median(sent), "/s"),
    ]


def slow(folder):
    """Seven validators with slow and lossy links, with little to do, and with more transfers than blocks have room for."""
    with Testnet(folder, 7, *SLOW) as net:
        settled = load(net.url, "settling", "--count", 200)
        gaps = []
        for _ in range(3):
            first = height(net.url)
            load(net.url, "transfers", "--count", 30_000, "--batch", 100)
            gaps += rates.gaps_of_full(blocks(net.url, first))
    return [
        Row("finality_slow_p50_ms", "7 validators, 80 ± 20 ms, 2 % loss, blocks of 1 s: submission to final receipt, p50", "≤ 1,300 ms", settled["p50_us"] / 1e3, "ms"),
        Row("finality_slow_p99_ms", "the same, p99", "≤ 2,000 ms", settled["p99_us"] / 1e3, "ms"),
        Row("interval_full_p99_ms", f"the same, user lane full: time between blocks, p99 of {len(gaps)}", "≤ 1,300 ms", percentile(gaps, 99), "ms"),
    ]


def killed(folder):
    """Kills each of four validators once, while an epoch's shares are dealt, and starts it again."""
    times = []
    with Testnet(folder, 4, "--epoch", 60) as net:
        # The API is that of the first, which is asked.
        for index in (1, 2, 3):
            epochs.wait_for_height(net.url, height(net.url) + 15)
            at = time.time() * 1e3
            os.kill(net.pids[index], signal.SIGKILL)
            time.sleep(20)
            times.append(rates.until_rhythm(blocks(net.url, height(net.url) - 40), at, 1_000))
            net.start(f"again-{index}", "start", "--quiet", "--config", f"net/validator-{index}.json", "--port", 0)
    return [Row("rhythm_after_kill_ms", f"one of 4 validators killed: from its first missed turn until blocks come in time again, worst of {len(times)}", "≤ 3,000 ms", max(times), "ms")]


def catch_up(folder, url, first, last):
    """Blocks a second of a new full node that executes everything, between two heights."""
    with node(folder, "follower", "follow", url, "--port", 0, "--quiet", "--state", "follower") as follower:
        times = []
        for wanted in (first, last):
            while (reached := height(follower.url)) < wanted:
                time.sleep(0.01)
            times.append((reached, time.perf_counter()))
    shutil.rmtree(folder / "follower")
    (before, begun), (after, ended) = times
    return (after - before) / (ended - begun)


def by_blocks(folder):
    """A full node that executes blocks from genesis on: empty ones, then full ones."""
    options = ["--port", 0, "--state", "chain", "--runners", 0, "--no-gateway", "--quiet", "--balance", 500_000]
    # All of a block for the user lane, and a price that stays.
    full = [f"--parameter={name}={value}" for name, value in rates.FULL.items()]
    with node(folder, "empty", "dev", *options, "--block-time", "instant") as dev:
        epochs.program("cowboy", folder, "chain", "mine", 20_000, "--rpc-url", dev.url)
        empty = catch_up(folder, dev.url, 2_000, 20_000)
    shutil.rmtree(folder / "chain")
    with node(folder, "full", "dev", *options, *full, "--block-time", "1s") as dev:
        first = height(dev.url)
        for _ in range(3):
            load(dev.url, "transfers", "--count", 40_000, "--batch", 100)
        counts = [count for _, count in blocks(dev.url, first)]
        transfers = max(counts)
        is_full = [place for place, count in enumerate(counts) if count >= transfers * 0.9]
        # Those between are counted as full blocks by what they have.
        share = sum(counts[is_full[0] + 1: is_full[-1] + 1]) / transfers
        span = is_full[-1] - is_full[0]
        rate = catch_up(folder, dev.url, first + is_full[0], first + is_full[-1]) * share / span
    return [
        Row("catch_up_empty_per_second", "catching up from genesis: empty blocks a second", "≥ 1,000", empty, "/s"),
        Row("catch_up_full_per_second", f"the same: blocks of {transfers:,} transfers a second, signatures checked", "≥ 8", rate, "/s"),
    ]


# Idle blocks between two heights at which the log of the state has the same size: each adds ten operations to it, and twenty nodes to the tree over them. They are
# dropped in pieces of 65,536 operations and of 262,144 nodes (decision 697), so that up to 17 MB come and go. At the first of the two heights the first piece of
# either has been dropped.
LOG_BEGINS, LOG_PERIOD = 20_000, 13_107


def disk(folder):
    """What idle blocks leave in the folder of a validator and of a full node that prune no blocks."""
    figures = {"validator": [], "full node": []}
    options = ["--port", 0, "--state", "chain", "--runners", 0, "--no-gateway", "--quiet", "--block-time", "instant"]
    for count in (LOG_BEGINS, LOG_PERIOD):
        with node(folder, "idle", "dev", *options) as dev:
            epochs.program("cowboy", folder, "chain", "mine", count, "--rpc-url", dev.url)
            reached = height(dev.url)
            with node(folder, "follower", "follow", dev.url, "--port", 0, "--quiet", "--state", "follower") as follower:
                epochs.wait_for_height(follower.url, reached)
        figures["validator"].append((reached, bytes_of(folder / "chain")))
        figures["full node"].append((reached, bytes_of(folder / "follower")))
    rows = []
    for who, ((before, small), (after, large)) in figures.items():
        figure = (large - small) / (after - before)
        rows.append(Row(f"idle_block_{who.replace(' ', '_')}_bytes", f"disk that stays per idle block before pruning, {who}", "≤ 600 B", figure, "B"))
    return rows


def pruning(folder):
    """A full node that keeps few blocks, at two heights. Three days of blocks are as many as it keeps, so both would have as much."""
    kept, sizes = 2_000, []
    with Testnet(folder, 1, "--block-time-ms", 1, "--epoch", 60) as net:
        for wanted in (3 * kept, 6 * kept):
            epochs.wait_for_height(net.url, wanted)
            arguments = ["join", "--quiet", "--dir", "pruned", "--genesis", "net/genesis.json", "--bootstrap", net.record(), "--keep-blocks", kept]
            with node(folder, "pruned", *arguments, "--listen", "127.0.0.1:0", "--port", 0) as joined:
                epochs.wait_for_height(joined.url, wanted + 2 * kept)
            sizes.append(bytes_of(folder / "pruned"))
    return [
        Row("pruned_mb", f"a full node that keeps {kept:,} idle blocks, {2 * kept:,} blocks after it joined", None, sizes[0] / 1e6, "MB"),
        Row("pruned_growth_mb", f"the same, {3 * kept:,} blocks later: growth", "no growth", (sizes[1] - sizes[0]) / 1e6, "MB"),
    ]


def join(net, name, records):
    """Seconds until a new full node has the newest state, and begins to follow."""
    began = time.perf_counter()
    arguments = ["join", "--quiet", "--dir", name, "--genesis", "net/genesis.json", "--bootstrap", ",".join(records), "--listen", "127.0.0.1:0"]
    joined = net.start(name, *arguments, "--port", 0)
    seconds = time.perf_counter() - began
    if not any(line.startswith("began at height") for line in joined.said):
        raise SystemExit(f"{name} has not fetched a state: {joined.said}")
    return seconds, joined


def same_block(net, joined):
    """Fails unless both have the same newest block, whose hash covers the state."""
    reached = height(net.url)
    epochs.wait_for_height(joined.url, reached)
    hashes = {epochs.get(url, f"/block/{reached}")["hash"] for url in (net.url, joined.url)}
    if len(hashes) != 1:
        raise SystemExit(f"at height {reached} are {hashes}")


def fill(net, accounts):
    """Opens accounts, a transfer for each."""
    for _ in range(accounts // 40_000):
        load(net.url, "accounts", "--count", 40_000, "--batch", 100)
    return accounts // 40_000 * 40_000


def sync(folder):
    """State sync of a million accounts. A peer answers 50 requests a second, so there are eight of them, the most that a node connects to."""
    with Testnet(folder, 1, "--block-time-ms", 200, *WIDE) as net:
        accounts = fill(net, 1_000_000)
        records = [net.record()]
        for index in range(7):
            join(net, f"peer-{index}", records)
            records.append(epochs.program("cowboyd", folder, "record", "--dir", f"peer-{index}")["record"])
        seconds, joined = join(net, "joiner", records)
        same_block(net, joined)
    return [Row("state_sync_million_s", f"state sync of {accounts:,} accounts from 8 peers", "≤ 60 s", seconds, "s")]


def liars(folder):
    """The same with 100,000 accounts and eight peers, of which four change the operations that they give."""
    with Testnet(folder, 4, "--block-time-ms", 500, *WIDE) as net, contextlib.ExitStack() as stack:
        accounts = fill(net, 120_000)
        records = [net.record(index) for index in range(4)]
        for index in range(4):
            command = [str(PROGRAMS / "examples" / "liar"), "--bootstrap", records[index], "--dir", f"liar-{index}"]
            liar = stack.enter_context(subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            stack.callback(liar.stdin.close)
            records.append(liar.stdout.readline().removeprefix("ready: ").strip())
        seconds, joined = join(net, "joiner", records)
        same_block(net, joined)
    return [Row("state_sync_liars_s", f"state sync of {accounts:,} accounts from 8 peers of which 4 lie", "ends right", seconds, "s")]


def simulation():
    """The program of the simulations, as the tests build it."""
    command = ["cargo", "test", "--quiet", "-p", "cowboy-node", "--test", "simulation", "--no-run", "--message-format=json"]
    built = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout
    rows = [json.loads(line) for line in built.splitlines()]
    return next(row["executable"] for row in rows if row.get("executable") and row["target"]["name"] == "simulation")


def simulated(*arguments, **environment):
    """Minutes and the most memory in MB of one run of the simulations, and its output."""
    command = [simulation(), "--nocapture", *arguments]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}, cwd=ROOT / "edge" / "node") as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ends with {process.returncode}:\n{output}")
    return (time.perf_counter() - began) / 60, usage.ru_maxrss / 1e3, output


def seeds(_):
    minutes, _, _ = simulated("seeds::a_network_agrees")
    return [Row("seeds_minutes", "simulator, 20 seeds over 4 epochs with joins, leaves, crashes and partitions", "≤ 2 min", minutes, "min")]


def hundred(_):
    minutes, memory, _ = simulated("--ignored", "--exact", "seeds::a_hundred_validators")
    return [
        Row("hundred_minutes", "simulator, 100 validators over three epochs of 144 blocks with resharing", "completes", minutes, "min"),
        Row("hundred_mb", "the same, most memory", "reported", memory, "MB"),
    ]


def bodies(_):
    """What a block costs its leader and the network, sent in each of the ways."""
    _, _, output = simulated("--ignored", "--exact", "bodies::what_a_block_costs")
    return rates.rows_of_bodies(json.loads(line) for line in re.findall(r'\{"validators".*\}', output))


BENCHES = {
    "loopback": loopback, "slow": slow, "killed": killed, "blocks": by_blocks, "disk": disk, "pruning": pruning,
    "sync": sync, "liars": liars, "bodies": bodies, "seeds": seeds, "hundred": hundred,
}


def main():
    parser = argparse.ArgumentParser(prog="./bench network", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(BENCHES), help="which of them, with commas between")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/bench.md; rows that were not measured stay")
    arguments = parser.parse_args()
    if unknown := set(arguments.only) - set(BENCHES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}")
    rows = []
    for name in arguments.only:
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"cowboy-bench-{name}-"))
        try:
            found = BENCHES[name](folder)
        except BaseException:
            print(f"the logs are in {folder}", file=sys.stderr)
            raise
        shutil.rmtree(folder)
        rows += found
        for row in found:
            print(f"{row.what}: {row.text()}", file=sys.stderr, flush=True)
    if arguments.json:
        print(json.dumps([row.json() for row in rows], indent=2))
        return
    for name, text in sections(rows).items():
        print(f"{name}\n\n{text}\n")
        if arguments.write:
            write_section(name, text)


def merged(old, new):
    """The old rows of a table, each replaced by the new one that says the same but for figures, and then the other new ones."""
    def words(row):
        return re.sub(r"[\d,.]+", "#", row[0])

    by_words = {words(row): row for row in new}
    return [by_words.pop(words(row), row) for row in old] + list(by_words.values())


def sections(rows):
    """The sections of the page with these rows: what blocks cost to send stands by itself."""
    intro = (
        f"`./bench network`: real processes, with the links between validators on loopback, or through the relay of `cowboyd testnet {' '.join(SLOW)}`; the simulator where it is "
        f"named. Nodes and clients share {machine()}. Submission to final receipt includes the wait for the next block. "
        f"Disk is measured at two heights {LOG_PERIOD:,} idle blocks apart, between which the log of the state grows and is pruned by the same ([decision "
        "697](decisions/0697-what-idle-blocks-leave-on-the-disk.md))."
    )
    sent = (
        "`./bench network --only bodies`: what a full block costs, in the simulator, with links of 40 ± 10 ms that carry a gigabit a second and processors that take no time. "
        "Pieces of the erasure code are computed, without their proofs. [Decision 612](decisions/0612-bodies-travel-once.md) says what is sent."
    )
    network = [[row.what, row.target or "", row.text()] for row in rows if not row.key.startswith("bodies_")]
    network = merged(rows_of_section("A network"), network) if network else []
    costs = rates.table_of_bodies([row for row in rows if row.key.startswith("bodies_")])
    found = {"A network": intro + "\n\n" + table(["what", "target", "figure"], network)} if network else {}
    return {**found, "Sending a block": sent + "\n\n" + table(*costs)} if costs[1] else found


if __name__ == "__main__":
    main()
