"""What `./bench network` computes from times and counts, and the load that it sends."""
import collections
import json
import math
import os
import pathlib
import subprocess

# As far as the parameters' ranges go.
WIDE = {
    "fees.block_cycles": 4_000_000_000, "fees.block_cells": 400_000_000, "fees.cycles_target": 1_000_000_000, "fees.cells_target": 100_000_000,
    "lanes.user_cycles": 1_000_000_000, "execution.block_weight": 4_000_000_000,
}
# Blocks of the usual size in which the user lane may use everything, and whose base fee does not rise.
FULL = {"fees.cycles_target": 80_000_000}


class Row(collections.namedtuple("Row", "key what target figure unit")):
    """A figure beside its target."""

    def text(self):
        digits = 0 if isinstance(self.figure, int) or abs(self.figure) >= 100 else 1
        return f"{self.figure:,.{digits}f} {self.unit}".replace(" /s", "/s")

    def json(self):
        return {**self._asdict(), "figure": round(self.figure, 3)}


def load(url, *what):
    """Sends a load to the node at this URL. Answers its report."""
    program = pathlib.Path(os.environ["COWBOY_BIN"]) / "examples" / "load"
    command = [str(program), "cowboy", "--address", url.removeprefix("http://").rstrip("/"), *map(str, what)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3_600)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def percentile(values, percent):
    """The smallest value that this share of all values is not above."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def gaps_of_full(blocks):
    """Times between full blocks that follow each other. A block with nine tenths of the most transactions is full."""
    most = max(count for _, count in blocks)
    pairs = zip(blocks, blocks[1:])
    return [after - before for (before, one), (after, other) in pairs if min(one, other) >= most * 0.9]


def until_rhythm(blocks, since, block_time):
    """From the last block in time before the first late one after a moment to the last late one, in ms; 0 where none was late. A block is late after one and
    a half times the block time. Nobody misses a leader before its turn, which is drawn."""
    late = [pair for pair in zip(blocks, blocks[1:]) if pair[1][0] > since and pair[1][0] - pair[0][0] > block_time * 1.5]
    return late[-1][1][0] - late[0][0][0] if late else 0


# The ways to send a block, and the figures of each.
WAYS = {"whole": "whole", "coded": "pieces of an erasure code", "compact": "header, and ids of transactions"}
COSTS = {
    "leader_kb": "the leader sends", "all_kb": "all send", "mempool_kb": "all send of its transactions before", "finality_ms": "proposal to finality, p50",
}


def rows_of_bodies(reports):
    """Rows of the reports of `bodies::what_a_block_costs`."""
    rows = []
    for report in reports:
        figures = {name: report[name.replace("_kb", "_bytes")] for name in COSTS}
        what = f"{report['validators']} validators, a block of {report['transactions']:,} transfers, {WAYS[report['way']]}"
        for name, figure in figures.items():
            # Pieces are computed: nothing is sent before them, and they take no time.
            if figure:
                scale, unit = (1e3, "KB") if name.endswith("_kb") else (1, "ms")
                rows.append(Row(f"bodies_{report['validators']}_{report['way']}_{name}", f"{what}: {COSTS[name]}", None, figure / scale, unit))
    return rows


def table_of_bodies(rows):
    """The same rows as a header and the cells of a table."""
    found = collections.defaultdict(dict)
    for row in rows:
        _, validators, way, name = row.key.split("_", 3)
        found[validators, way][name] = row.text()
    cells = [[validators, WAYS[way], *(figures.get(name, "") for name in COSTS)] for (validators, way), figures in found.items()]
    return ["validators", "a block is sent", *COSTS.values()], cells
