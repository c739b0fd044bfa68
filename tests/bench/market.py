"""How fast the off-chain market is: a devnet with five runners inside, and an actor that asks for jobs of a tool that answers at once.

    python3 tests/bench/market.py [--write] [--jobs 500] [--runners 5]
"""
import argparse
import collections
import os
import pathlib
import statistics
import sys
import tempfile
import time

from common import ROOT, machine, table, write_section

sys.path.insert(0, str(ROOT / "tests" / "market"))
import world as market  # noqa: E402
from world import World, until  # noqa: E402

# What is slow is measured, not given up.
market.PATIENCE_SECONDS = 600

# A module that answers its input: memory, alloc(size) = 0, run(pointer, size) = size.
ECHO = bytes.fromhex(
    "0061736d01000000" "010c0260017f017f60027f7f017e" "0303020001" "0503010001"
    "071803066d656d6f72790200" "05616c6c6f630000" "0372756e0001" "0a0c02040041000b0500 2001ad0b".replace(" ", "")
)
DISPATCHER = f"0x{2:040x}"
BATCH = 20
LATENCIES = 10


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write", action="store_true")
    options.add_argument("--jobs", type=int, default=500)
    options.add_argument("--runners", type=int, default=5)
    asked = options.parse_args()
    os.environ.setdefault("COWBOY_BIN", str(pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "echo.wasm").write_bytes(ECHO)
        (folder / "tools.toml").write_text('[tools.echo]\nfile = "echo.wasm"\n')
        with World(folder, "--block-time", "200ms", "--balance", "100000", "--runner-config", folder / "tools.toml") as world:
            measure(world, asked)


def measure(world, asked):
    world.runners_are(5)
    here = pathlib.Path(__file__).parent
    actor = world.run("actor", "deploy", "--code", here / "asker.py", "--manifest-json", here / "asker.json")["address"]
    world.run("transfer", actor, "40000cby")
    counts = lambda: world.run("actor", "query", actor, "count")["result"]

    blocks = []
    for number in range(LATENCIES):
        world.run("actor", "execute", actor, "ask", "--payload", '{"count": 1, "runners": 3}')
        until("the answer", lambda: counts()[0] > number)
        newest = world.get("/jobs?limit=1")["jobs"][0]
        blocks.append(counts()[2] - newest["submitted_at"])

    before, nonce = counts()[0], world.run("account", "nonce")["nonce"]
    began = time.monotonic()
    for place in range(0, asked.jobs, BATCH):
        count = min(BATCH, asked.jobs - place)
        world.run("actor", "execute", actor, "ask", "--payload", f'{{"count": {count}, "runners": {asked.runners}}}', "--no-wait", "--nonce", nonce + place // BATCH)
    sent = time.monotonic() - began
    until("all answers", lambda: sum(counts()[:2]) >= before + asked.jobs)
    took = time.monotonic() - began
    answers, failures, _ = counts()
    left, difference = settle(world)
    rows = [
        ("blocks from submission to callback, 3 runners, 200 ms blocks", f"{statistics.median(blocks):.0f} (max {max(blocks)})"),
        (f"{asked.jobs} jobs of {asked.runners} runners: answers, failures", f"{answers - before}, {failures}"),
        ("seconds until all were submitted", f"{sent:.1f}"),
        ("seconds until all were answered", f"{took:.1f}"),
        ("jobs per second", f"{asked.jobs / took:.0f}"),
        ("base units that the Dispatcher holds once all are paid", f"{left:,}"),
        ("circulating supply beyond genesis + minted − burned", f"{difference:,}"),
    ]
    text = f"`./bench market`, on {machine()}. Node, runners and client share it.\n\n" + table(["what", "figure"], rows)
    print(text)
    if failures:
        print("why jobs failed:", dict(collections.Counter(job.get("reason") for job in world.get("/jobs?limit=1000")["jobs"] if job["status"] == "failed")))
    if asked.write:
        write_section("The market", text)


def settle(world):
    """Makes blocks until every challenge window is over. Returns the remaining escrow, and the error of the supply."""
    world.run("chain", "warp", "--blocks", 1_000)
    until("the payouts", lambda: all(job["status"] in ("settled", "failed") for job in world.get("/jobs?limit=1000")["jobs"]))
    supply = world.get("/supply")
    held = world.run("account", "balance", DISPATCHER)["balance"]
    return int(held), supply["circulating"] - (supply["genesis"] + supply["minted"] - supply["burned"])


if __name__ == "__main__":
    main()
