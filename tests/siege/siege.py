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
# Accounts that deploy programs, in turns: a node takes nothing for a while of one whose program ran far too long (decision 297).
DEPLOYERS = 24
# What a node says of a transaction that waits behind a missing one.
BEHIND_A_GAP, WAITS = "is missing", '"status":"pending"'
# What it says of one that it dropped: its sender is set apart, or the node had no time for it, again and again.
TOO_SLOW = "far longer to run", "longer than a proposal has time for, "
RECEIVER = bytes([0x77] * 20)
# Transfers that wait for a block before no more are sent.
MOST_UNDER_WAY = 32


class Traffic(threading.Thread):
    """Transfers of an honest account, some a second, to validators in turns; fewer where blocks do not keep up with them. Keeps each
    until all validators have its receipt."""

    def __init__(self, network, account):
        super().__init__(daemon=True)
        self.network, self.account = network, account
        self.waiting, self.taken, self.over, self.lock = {}, 0, threading.Event(), threading.Lock()

    def run(self):
        turn, arrived, newest = 0, 0, collections.deque(maxlen=MOST_UNDER_WAY)
        while not self.over.wait(0.25):
            turn += 1
            validator = self.network.validators[turn % VALIDATORS]
            if self.account.nonce - arrived >= MOST_UNDER_WAY:
                found = validator.get(f"/account/{self.account}", 2)
                arrived = max(arrived, found["nonce"] if found else 0)
                if arrived < self.account.nonce:
                    # The next one may have been lost, with a validator that took it.
                    validator.submit(newest[arrived - self.account.nonce])
                continue
            with self.lock:
                data, name = transactions.signed(self.account, CHAIN_ID, transactions.transfer(RECEIVER, 1), TRANSFER)
                self.waiting[name] = data
            newest.append(data)
            validator.submit(data)

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

    def __init__(self, seed, is_long, only):
        self.random = randomness.Random(seed)
        # What takes minutes comes once, where there is time.
        self.faults = [faults.long_away] if is_long and not only else []
        self.choice = [fault for fault in [*faults.FAULTS, faults.long_away] if fault.__name__ == only] or faults.FAULTS
        self.deployers = [transactions.Account(bytes([0x22] * 31 + [number + 1])) for number in range(DEPLOYERS)]
        # Programs that validators have taken: who signed each, and who took it.
        self.taken = {}
        self.counts, self.slowest = collections.Counter(), 0.0

    def round_of_programs(self):
        """Programs as simulations by many clients at once, and as transactions that are paid for."""
        validator = self.random.choice(self.network.validators)
        sources = [programs.program(self.random) for _ in range(PROGRAMS_A_ROUND)]
        found = clients.simulations(validator.target, self.random, sources, self.simulation)
        self.counts["programs simulated"] += found["simulations"]
        self.deploys(validator, sources[:DEPLOYS_A_ROUND])
        return f"programs at {validator}: {found}"

    def deploys(self, validator, sources):
        """Hands in programs of the next account. Its nonce is asked for: what a node dropped has not used one."""
        self.deployers.append(deployer := self.deployers.pop(0))
        deployer.nonce = self.nonce_of(deployer, validator)
        for source in sources:
            data, name = transactions.signed(deployer, CHAIN_ID, transactions.deploy(source), PROGRAM)
            answer = validator.submit(data)
            if answer and answer["results"][0].get("tx_hash"):
                self.taken[name] = deployer
            else:
                deployer.nonce -= 1

    @staticmethod
    def nonce_of(account, validator):
        return until(f"{validator} answers about {account}", lambda: validator.get(f"/account/{account}"))["nonce"]

    def programs_end(self):
        """Each program that a validator took is final on all of them, or was dropped as too slow. What waits behind one that was
        dropped gets a transfer in its place, as a sender would send one."""
        for name, deployer in list(self.taken.items()):
            fates = {validator: validator.fate(name) for validator in self.network.validators}
            for validator, fate in fates.items():
                if fate and BEHIND_A_GAP in fate:
                    deployer.nonce = self.nonce_of(deployer, validator)
                    validator.submit(transactions.signed(deployer, CHAIN_ID, transactions.transfer(RECEIVER, 1), TRANSFER)[0])
            is_final = all(fate == "final" for fate in fates.values())
            if is_final or self.is_dropped(fates.values()):
                self.counts["programs in blocks" if is_final else "programs dropped: too slow"] += 1
                del self.taken[name]
        return not self.taken

    @staticmethod
    def is_dropped(fates):
        """Whether a validator dropped a program as too slow and none has it any more: where another transaction took its nonce meanwhile,
        the others do not know why it went."""
        is_over = all(fate and fate != "final" and WAITS not in fate for fate in fates)
        return is_over and any(why in fate for fate in fates for why in TOO_SLOW)

    def simulation(self, source):
        terms, sender = transactions.Terms(0, 0, 0, 0, 0), self.deployers[0]
        body = transactions.unsigned(CHAIN_ID, sender.nonce, transactions.deploy(source), terms, sender.address, b"")
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
        self.network.all_vote()
        traffic.settles()
        # What came meanwhile waits for a transaction before it that a validator may have taken with it.
        until("all pools are empty but for what has just come", lambda: traffic.settles() or (self.programs_end() and self.pools_are_empty()), self.said_of_pools)
        return self.network.agrees()

    def pools_are_empty(self):
        waiting = [found["mempool"] for found in (validator.get("/health/detailed") for validator in self.network.validators) if found]
        return len(waiting) == VALIDATORS and max(waiting) <= VALIDATORS

    def said_of_pools(self):
        """For a finding: what each validator has waiting, and says of the programs that have not ended."""
        pools = {str(validator): validator.get("/health/detailed") for validator in self.network.validators}
        return f"{pools}; programs: { {name: [validator.fate(name) for validator in self.network.validators] for name in self.taken} }"


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
    siege = Siege(seed, minutes >= LONG_MINUTES, only)
    with Network(folder, [honest, *siege.deployers], BLOCK_TIME_MS, settings) as network:
        for validator in network.validators:
            validator.clock = clock if validator.index == 1 else None
        siege.network, traffic = network, Traffic(network, honest)
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
    parser.add_argument("--fault", choices=[fault.__name__ for fault in [*faults.FAULTS, faults.long_away]], help="nothing but this fault, again and again")
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
