"""How fast a file becomes shards, beside what its libraries do alone; and how many volumes are lost over years, beside the formula."""

import heapq
import json
import math
import random
import subprocess
import sys

import common

PROGRAM = common.ROOT / "target" / "release" / "examples" / "coding"
YEARS = 10
DAYS_TO_FAIL = 90
# Simulated, so that enough are lost to compare; the rows are of a thousand.
VOLUMES = 10_000


def losses(data, parity, days_to_repair, source):
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


def loss_rows():
    source = random.Random(1)
    for data, parity, days in ((4, 2, 1.0), (4, 2, 0.25), (4, 2, 1 / 24), (10, 5, 1.0), (16, 8, 1.0)):
        found, formula = losses(data, parity, days, source), expected(data, parity, days)
        per = 1_000 / VOLUMES
        yield [f"{data}+{parity}", f"{days * 24:.0f} h", f"{found * per:.2f}", f"{formula * per:.2g}"]


def main():
    figures = json.loads(subprocess.run([PROGRAM], check=True, capture_output=True, text=True).stdout)
    rows = [
        ["encrypting, coding and hashing", figures["whole"], f"{figures['ratio']:.2f}"],
        ["the three libraries, one after the other", figures["libraries"], "1"],
        ["AES-256-GCM alone", figures["encrypting"], ""],
        ["Reed–Solomon 4+2 alone", figures["coding"], ""],
        ["BLAKE3 of all shards alone", figures["hashing"], ""],
    ]
    text = common.table(["one core", "MiB/s of the file", "ratio"], rows)
    lost = common.table(["code", "time to rebuild", "lost of 1,000 in 10 years", "by the formula"], loss_rows())
    print(f"{text}\n\n{lost}")
    if "--write" in sys.argv:
        about = f"`./bench volumes`: a file of 64 MiB with the code 4+2, on {common.machine()}. Median of seven rounds."
        years = (
            f"Volumes whose relays each lose everything after {DAYS_TO_FAIL} days on average, independently of each other, over {YEARS} years, in a simulation "
            f"of {VOLUMES:,} volumes and by the formula for rare losses. The chain gives a successor a day; a relay rebuilds a slot as fast as it reads."
        )
        common.write_section("Files of volumes", f"{about}\n\n{text}\n\n{years}\n\n{lost}")


main()
