"""Writes selection.json: draws of runners, made by another implementation than the chain's.

    PYTHONPATH=sdk/python python3 tests/vectors/selection.py > tests/vectors/selection.json
"""

import json
import struct

from cowboy_sdk._keccak import keccak256

DOMAIN = b"cowboy-runner-select-v3:"


def root(leaves):
    """The keccak tree: leaf = H(be32(i) + digest), an odd last node paired with itself, root = H(be32(n) + tree)."""
    level = [keccak256(struct.pack(">I", place) + leaf) for place, leaf in enumerate(leaves)]
    while len(level) > 1:
        level = [keccak256(level[i] + level[min(i + 1, len(level) - 1)]) for i in range(0, len(level), 2)]
    return keccak256(struct.pack(">I", len(leaves)) + (level[0] if level else keccak256(b"")))


def select(candidates, seed, count):
    pool = list(candidates)
    current = seed
    for place in range(min(count, len(pool))):
        current = keccak256(current + struct.pack("<Q", place))
        total = sum(weight for _, weight in pool[place:])
        point = struct.unpack("<Q", current[:8])[0] % total
        for other in range(place, len(pool)):
            if point < pool[other][1]:
                break
            point -= pool[other][1]
        pool[place], pool[other] = pool[other], pool[place]
    return [runner for runner, _ in pool[:count]]


def draw(name, weights, count, attempt=0, excluded=()):
    candidates = [(keccak256(b"runner" + bytes([n]))[:20], weight) for n, weight in enumerate(weights)]
    candidates.sort()
    left_out = sorted(candidates[place][0] for place in excluded)
    round_seed = (keccak256(name.encode()) * 2)[:48]
    job, submitted_at = keccak256(b"job " + name.encode()), len(name) * 1000
    seed = keccak256(round_seed + DOMAIN + job + struct.pack("<Q", submitted_at))
    used = keccak256(seed + b"retry:" + struct.pack("<I", attempt)) if attempt else seed
    left = [entry for entry in candidates if entry[0] not in left_out]
    text = lambda data: "0x" + data.hex()
    return {
        "name": name,
        "candidates": [{"runner": text(runner), "weight": weight} for runner, weight in candidates],
        "candidates_root": text(root([keccak256(runner + struct.pack(">Q", weight)) for runner, weight in candidates])),
        "round_seed": text(round_seed),
        "job_id": text(job),
        "submitted_at": submitted_at,
        "attempt": attempt,
        "excluded": [text(runner) for runner in left_out],
        "seed": text(seed),
        "selected": [text(runner) for runner in select(left, used, count)],
    }


DRAWS = [
    draw("one of one", [7_070_000], 1),
    draw("one of three", [7_070_000, 10_000_000, 14_140_000], 1),
    draw("three of three", [1, 1, 1], 3),
    draw("three of five", [7_070_000] * 5, 3),
    draw("five of twenty, weights far apart", [10**n for n in range(1, 13)] + [5] * 8, 5),
    draw("nine of a hundred", [7_070_000 + 1_000 * n for n in range(100)], 9),
    draw("the first retry", [7_070_000] * 7, 3, 1, (0, 2, 4)),
    draw("the third retry", [7_070_000, 9, 9_000_000, 3, 8_000_000, 1], 2, 3, (1, 3)),
    draw("all that is left", [4, 5, 6, 7], 2, 2, (0, 3)),
]

if __name__ == "__main__":
    print(json.dumps({"about": "Weighted draws of runners (002 §5, 003 §5.3). Made by selection.py.", "draws": DRAWS}, indent=1))
