#!/usr/bin/env python3
"""Besieges a network of four validators for some minutes: programs that ask for too much, hostile clients, machines that fail.

    siege.py [--minutes 2] [--seed N] [--fault NAME] [--write]

After each round all validators are at one height with the same blocks, every transaction that was taken has its receipt on each of
them, and no transaction is left waiting. Whatever else happens is a finding: it is printed, the folder with logs and states is kept,
and the exit code is 1. The seed gives the same choices again."""

import argparse
import collections
import os
import pathlib
import random as randomness
import shutil
import sys
import tempfile
import threading
import time

import clients
import faults
import programs
import transactions
from network import CHAIN_ID, VALIDATORS, Finding, Network, until

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "bench"))
import common  # noqa: E402

BLOCK_TIME_MS = 500
# From how many minutes on a validator is away for as long as the engines keep blocks.
LONG_MINUTES = 30
TRANSFER = transactions.Terms(30_000, 1_000)
# As much as a transaction may use.
PROGRAM = transactions.Terms(22_000_000, 15_000_000)
PROGRAMS_A_ROUND, DEPLOYS_A_ROUND = 40, 4
RECEIVER = bytes([0x77] * 20)


class Traffic(threading.Thread):
    """Transfers of an honest account, some a second, to validators in turns. Keeps each until all validators have its receipt."""

    def __init__(self, network, account):
        super().__init__(daemon=True)
        self.network, self.account = network, account
        self.waiting, self.taken, self.over, self.lock = {}, 0, threading.Event(), threading.Lock()

    def run(self):
        turn = 0
        while not self.over.wait(0.25):
            with self.lock:
                data, name = transactions.signed(self.account, CHAIN_ID, transactions.transfer(RECEIVER, 1), TRANSFER)
                self.waiting[name] = data
            turn += 1
            self.network.validators[turn % VALIDATORS].submit(data)

    def settles(self):
        """Every transfer so far has a receipt on every validator. One that a validator took with it when it ended is handed in again."""
        with self.lock:
            names = dict(self.waiting)
        started = time.monotonic()
        for index, (name, data) in enumerate(names.items()):
            for validator in self.network.validators:
                def has_receipt():
                    validator.must_run()
                    if validator.get(f"/transaction/{name}/receipt"):
                        return True
                    self.network.validators[(index + int(time.monotonic() - started)) % VALIDATORS].submit(data)
                    return False

                until(f"{validator} has the receipt of {name}", has_receipt)
        with self.lock:
            for name in names:
                del self.waiting[name]
            self.taken += len(names)


class Siege:
    """The rounds, and what was counted."""

    def __init__(self, network, seed, is_long, only):
        self.network, self.random = network, randomness.Random(seed)
        # What takes minutes comes once, where there is time.
        self.faults = [faults.long_away] if is_long and not only else []
        self.choice = [fault for fault in faults.FAULTS if not only or fault.__name__ == only]
        self.attacker = transactions.Account(bytes([0x22] * 32))
        self.counts, self.slowest = collections.Counter(), 0.0

    def round_of_programs(self):
        """Programs as simulations by many clients at once, and as transactions that are paid for."""
        validator = self.random.choice(self.network.validators)
        sources = [programs.program(self.random) for _ in range(PROGRAMS_A_ROUND)]
        found = clients.simulations(validator.target, self.random, sources, self.simulation)
        self.counts["programs simulated"] += found["simulations"]
        for source in sources[:DEPLOYS_A_ROUND]:
            data, _ = transactions.signed(self.attacker, CHAIN_ID, transactions.deploy(source), PROGRAM)
            answer = validator.submit(data)
            taken = bool(answer and answer["results"][0].get("tx_hash"))
            self.attacker.nonce -= not taken
            self.counts["programs in blocks"] += taken
        return f"programs at {validator}: {found}"

    def simulation(self, source):
        terms = transactions.Terms(0, 0, 0, 0, 0)
        body = transactions.unsigned(CHAIN_ID, self.attacker.nonce, transactions.deploy(source), terms, self.attacker.address, b"")
        return body + transactions.NO_SIGNATURE + b"\0"

    def round_of_clients(self):
        validator, attack = self.random.choice(self.network.validators), self.random.choice(clients.ATTACKS)
        found = attack(validator.target, self.random)
        self.counts.update({f"hostile {what}": count for what, count in found.items() if what != "answered"})
        return f"{attack.__name__} at {validator}: {found}"

    def round_of_faults(self):
        validator = self.random.choice(self.network.validators)
        fault = self.faults.pop(0) if self.faults else self.random.choice(self.choice)
        what = fault(self.network, validator, self.random)
        self.counts[f"fault {fault.__name__.replace('_', ' ')}"] += "left out" not in what
        return f"{what} at {validator}"

    def verify(self, traffic):
        """What must hold after each round."""
        for validator in self.network.validators:
            validator.must_run()
            until(f"{validator} answers", lambda: validator.must_run() or validator.height() is not None)
            self.slowest = max(self.slowest, validator.health_seconds())
        self.network.advances(1)
        # Who was away comes up with the others first.
        self.network.agrees()
        traffic.settles()
        # What came meanwhile waits for a transaction before it that a validator may have taken with it.
        until("all pools are empty but for what has just come", lambda: traffic.settles() or self.pools_are_empty())
        return self.network.agrees()

    def pools_are_empty(self):
        waiting = [found["mempool"] for found in (validator.get("/health/detailed") for validator in self.network.validators) if found]
        return len(waiting) == VALIDATORS and max(waiting) <= VALIDATORS


def environments(folder):
    """Each validator's environment. The second one's clock can be moved, where libfaketime is installed."""
    found = [dict(os.environ) for _ in range(VALIDATORS)]
    clock = None
    if faults.FAKETIME:
        clock = folder / "clock"
        clock.write_text("+0")
        found[1].update(LD_PRELOAD=str(faults.FAKETIME), FAKETIME_TIMESTAMP_FILE=str(clock), FAKETIME_NO_CACHE="1", FAKETIME_DONT_FAKE_MONOTONIC="1")
    return found, clock


def besiege(folder, minutes, seed, only):
    """The whole siege. What was counted."""
    honest = transactions.Account(bytes([0x11] * 32))
    settings, clock = environments(folder)
    siege_accounts = [honest, transactions.Account(bytes([0x22] * 32))]
    with Network(folder, siege_accounts, BLOCK_TIME_MS, settings) as network:
        for validator in network.validators:
            validator.clock = clock if validator.index == 1 else None
        siege, traffic = Siege(network, seed, minutes >= LONG_MINUTES, only), Traffic(network, honest)
        traffic.start()
        rounds = [siege.round_of_faults] if only else [siege.round_of_programs, siege.round_of_clients, siege.round_of_faults]
        end, number = time.monotonic() + minutes * 60, 0
        while time.monotonic() < end:
            number += 1
            print(f"round {number}: {rounds[(number - 1) % len(rounds)]()}", end="", flush=True)
            print(f"; all at height {siege.verify(traffic)}", flush=True)
        traffic.over.set()
        traffic.join()
        siege.verify(traffic)
        siege.counts["rounds"] = number
        siege.counts["honest transactions, all with receipts everywhere"] = traffic.taken
        return siege


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--fault", choices=[fault.__name__ for fault in faults.FAULTS], help="nothing but this fault, again and again")
    parser.add_argument("--write", action="store_true", help="write the figures to docs/bench.md")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else randomness.SystemRandom().randrange(2**32)
    print(f"siege of {arguments.minutes:g} minutes, --seed {seed}", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cowboy-siege-"))
    try:
        siege = besiege(folder, arguments.minutes, seed, arguments.fault)
    except Finding as finding:
        print(f"FINDING: {finding}\nlogs and states: {folder}", file=sys.stderr)
        return 1
    shutil.rmtree(folder)
    rows = [*sorted(siege.counts.items()), ["slowest answer of /health, s", f"{siege.slowest:.2f}"], ["findings", 0]]
    report = common.table(["what", "count"], rows)
    print(report)
    if arguments.write:
        common.write_section("A siege", f"`./test siege` with SIEGE_MINUTES={arguments.minutes:g}, seed {seed}: four validators on {common.machine()}.\n\n{report}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
