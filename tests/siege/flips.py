#!/usr/bin/env python3
"""Damages one file of a devnet's folder again and again: flips a bit of it, or cuts it off. What the node then serves is what it served
before, or is refused; a node that does not start, or ends, says what to do.

    flips.py [--count 100] [--seed N] [--write]

Prints what became of each kind of file, and fails where something wrong was served, or nothing was said."""

import argparse
import collections
import json
import pathlib
import random as randomness
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

import faults
import network
import transactions

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "bench"))
import common  # noqa: E402

CHAIN_ID, BLOCKS = 1337, 30
KEY = bytes.fromhex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
RECEIVER = bytes([0x77] * 20)
TERMS = transactions.Terms(30_000, 1_000)
SECONDS = 60


class Node:
    """A devnet on a folder: it is ready when it is made, or has ended."""

    def __init__(self, folder, state):
        command = [network.world.programs() / "cowboyd", "dev", "--state", state, "--port", "0", "--block-time", "instant", "--runners", "0", "--no-gateway", "--quiet"]
        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=self.errors, text=True, cwd=folder)
        self.url = next((line.split(": ", 1)[1].strip() for line in self.process.stdout if line.startswith("ready: ")), None)

    def ask(self, path, body=None):
        """The JSON; the word "refused" where the node refuses it by name, and None where it has ended."""
        headers = {"Content-Type": "application/octet-stream" if isinstance(body, bytes) else "application/json"}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url + path, data, headers), timeout=SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return "refused" if b"damaged" in error.read() or error.code == 503 else f"answered with {error.code}"
        except OSError:
            try:
                # Who says nothing any more is ending.
                self.process.wait(SECONDS)
                return None
            except subprocess.TimeoutExpired:
                return "silent"

    def end(self):
        """Ends it, and gives its exit code and what it said."""
        if self.url is not None:
            self.process.kill()
        code = self.process.wait()
        self.process.stdout.close()
        self.errors.seek(0)
        with self.errors:
            return code, self.errors.read()


def answers(node):
    """What it says of every block and of an account."""
    paths = [f"/block/{height}" for height in range(1, BLOCKS + 1)] + [f"/account/0x{RECEIVER.hex()}"]
    return {path: node.ask(path) for path in paths}


def make(folder):
    """A stopped devnet's folder with some blocks, and what it answered."""
    state = folder / "state"
    node = Node(folder, state)
    account = transactions.Account(KEY)
    for _ in range(BLOCKS):
        data, _ = transactions.signed(account, CHAIN_ID, transactions.transfer(RECEIVER, 1), TERMS)
        assert node.ask("/submit_wait", data)["results"][0]["receipt"], "a transfer is final"
    truth = answers(node)
    node.process.terminate()
    node.process.wait()
    return state, truth


def damage(random, path):
    """Flips a bit of the file, or, in every tenth case, cuts it off."""
    data = bytearray(path.read_bytes())
    if random.random() < 0.1:
        path.write_bytes(data[: random.randrange(len(data))])
        return "cut off"
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    path.write_bytes(data)
    return "bit flipped"


def outcome(folder, damaged, truth):
    """What became of a damaged folder: a word for the table, and what is wrong, if anything."""
    node = Node(folder, damaged)
    wrong, found = None, {}
    if node.url is not None:
        found = answers(node)
        lies = [path for path, said in found.items() if said not in (truth[path], "refused", None)]
        if lies:
            wrong = f"{lies[0]}: {json.dumps(found[lies[0]])[:600]} and not {json.dumps(truth[lies[0]])[:600]}"
        elif isinstance(node.ask("/dev/mine", {"blocks": 1}), str) and node.ask("/health/ready") != "refused":
            wrong = "it makes no block, and says that it is ready"
    is_up = node.url is not None and node.process.poll() is None
    code, said = node.end()
    if not is_up and (code != 1 or not said.rstrip().split("\n")[-1].startswith("error: ") or not any(way in said for way in faults.WAYS_OUT)):
        wrong = wrong or f"it ends with {code} and does not say what to do: {said[-600:]}"
    if wrong:
        return "wrong", wrong
    if not is_up:
        return "does not start, or exits, and says what to do", None
    return ("refuses some data" if "refused" in found.values() else "no effect"), None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the figures to docs/bench.md")
    arguments = parser.parse_args()
    random, counts, wrongs = randomness.Random(arguments.seed), collections.defaultdict(collections.Counter), []
    with tempfile.TemporaryDirectory(prefix="cowboy-flips-") as name:
        folder = pathlib.Path(name)
        state, truth = make(folder)
        files = [path.relative_to(state) for path in sorted(state.rglob("*")) if path.is_file() and path.stat().st_size]
        kinds = {part: [path for path in files if part in str(path)] for part in faults.PARTS}
        for number in range(arguments.count):
            part = random.choice([part for part in kinds if kinds[part]])
            path, damaged = random.choice(kinds[part]), folder / "damaged"
            shutil.rmtree(damaged, ignore_errors=True)
            shutil.copytree(state, damaged)
            how = damage(random, damaged / path)
            what, wrong = outcome(folder, damaged, truth)
            counts[part][what] += 1
            if wrong:
                wrongs.append(f"{number}: {path}, {how}: {wrong}")
                print(wrongs[-1], flush=True)
    words = sorted({word for found in counts.values() for word in found})
    report = common.table(["files", *words], [[part, *(found[word] for word in words)] for part, found in sorted(counts.items())])
    print(report)
    if arguments.write:
        common.write_section("Damaged files", f"`tests/siege/flips.py --count {arguments.count} --seed {arguments.seed}`: a devnet of {BLOCKS} blocks, on {common.machine()}.\n\n{report}")
    return 1 if wrongs else 0


if __name__ == "__main__":
    sys.exit(main())
