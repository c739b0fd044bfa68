"""Four validators in processes of their own on loopback, and what anybody may ask them."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import clients
from clients import Finding

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "market"))
import world  # noqa: E402

VALIDATORS = 4
CHAIN_ID = 1
PATIENCE_SECONDS = 90


def until(what, question, evidence=str, seconds=PATIENCE_SECONDS):
    """Asks until there is an answer, and gives it. None in time is a finding, with the evidence."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := question():
            return found
        time.sleep(0.05)
    raise Finding(f"{what} within {seconds} s: it does not happen {evidence()}".rstrip())


def free_ports(count, kind):
    """The first of a range of free ports, below those that the system gives to clients."""
    for first in range(10_000 + os.getpid() % 200 * 100, 32_000, count):
        try:
            for port in range(first, first + count):
                with socket.socket(socket.AF_INET, kind) as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise OSError("no free ports below 32,000")


class Validator:
    """One of the four: its process, which may be away, and its API."""

    def __init__(self, index, folder, api_port, quic_port, environment):
        self.index, self.folder, self.state = index, folder, folder / "network" / f"state-{index}"
        self.target = clients.Target("127.0.0.1", api_port, quic_port)
        self.url = f"http://127.0.0.1:{api_port}"
        self.environment, self.process, self.starts = environment, None, 0
        self.log = folder / f"validator-{index}.err"

    def __str__(self):
        return f"validator {self.index}"

    @property
    def errors(self):
        if not self.is_running():
            self.reader.join()
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def start(self):
        command = [world.programs() / "cowboyd", "start", "--quiet", "--config", self.folder / "network" / f"validator-{self.index}.json"]
        # What earlier runs of it said is kept beside it.
        if self.log.exists():
            self.log.rename(self.log.with_suffix(f".{self.starts}.err"))
        self.starts += 1
        # Through a pipe: a process whose files may not grow still says why it ends.
        self.process = subprocess.Popen(
            [*map(str, command), "--port", str(self.target.api[1])], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self.environment, cwd=self.folder
        )
        self.reader = threading.Thread(target=self.read_errors, args=(self.process.stderr, self.log), daemon=True)
        self.reader.start()

    @staticmethod
    def read_errors(source, log):
        with source, open(log, "wb", buffering=0) as written:
            while part := source.read1(65_536):
                written.write(part)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends it in good order, or by force when it takes too long."""
        if self.is_running():
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()

    def check_and_repair(self):
        """Runs `cowboyd check --repair` on the folder of the stopped validator. Returns whether it can continue: lost blocks are fetched again."""
        command = [world.programs() / "cowboyd", "--json", "check", "--state", self.state, "--repair"]
        checked = subprocess.run([*map(str, command)], capture_output=True, text=True, env=self.environment)
        if checked.returncode not in (0, 1) or (checked.returncode == 1 and '{"error":' not in checked.stderr):
            raise Finding(f"`cowboyd check` of {self} ends with {checked.returncode}: {checked.stderr[-1500:]!r}")
        if not checked.stdout:
            # It cannot even be opened.
            return False
        found = json.loads(checked.stdout)
        return not (found["damaged_pages"] or found["faults"] or found["state_damage"] or found["engine_damage"])

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def must_run(self):
        if not self.is_running():
            raise Finding(f"{self} ended by itself with {self.process.returncode}: {self.errors[-1500:]}")

    def get(self, path, seconds=30):
        """The JSON of a path, or None for 404 and for a node that does not answer."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=seconds) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code in (404, 429, 503):
                return None
            raise Finding(f"{self} answers {path} with {error.code}: {error.read(500)!r}") from error
        except (OSError, ValueError):
            return None

    def submit(self, transaction):
        """Hands in a transaction's bytes: the answer's JSON, or None where the node does not answer."""
        request = urllib.request.Request(self.url + "/submit", transaction, {"Content-Type": "application/octet-stream"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            try:
                return json.load(error)
            except ValueError:
                # A server that has no connection left for this client says so in plain words.
                return None
        except (OSError, ValueError):
            return None

    def fate(self, name):
        """What it says of a transaction's hash: `final`, or why there is no receipt. None where it does not answer."""
        try:
            with urllib.request.urlopen(f"{self.url}/transaction/{name}/receipt", timeout=30):
                return "final"
        except urllib.error.HTTPError as error:
            return error.read().decode() if error.code == 404 else None
        except OSError:
            return None

    def height(self):
        # One that is paused is not waited for.
        found = self.get("/height", 2)
        return found and found["height"]

    def block(self, height):
        """A block with its receipts, without what a node knows of its finality: which certificates and which next block it has differs."""
        found = self.get(f"/block/{height}")
        return found and {**found, "certificate": None, "qc": None, "finality": None}

    def reaches(self, goal):
        """Waits until it has this height. One that comes no further for a while is a finding; how far it has to go is not."""
        height = 0
        while height < goal:
            before = height
            height = until(f"{self} comes beyond height {before}, to {goal}", lambda: self.must_run() or self.height_beyond(before))

    def height_beyond(self, before):
        height = self.height() or 0
        return height if height > before else None

    def health_seconds(self):
        """How long it takes to answer that it is alive. No answer within ten seconds is a finding, where it should run."""
        started = time.monotonic()
        if self.get("/health", 10) is None:
            self.must_run()
            raise Finding(f"{self} does not answer /health within 10 s")
        return time.monotonic() - started


class Network:
    """The validators. Use as a context manager."""

    def __init__(self, folder, funded, block_time_ms, environments):
        quic = free_ports(VALIDATORS, socket.SOCK_DGRAM)
        fund = [part for account in funded for part in ("--fund", str(account))]
        command = ["genesis", "--validators", VALIDATORS, "--chain-id", CHAIN_ID, "--p2p-port", quic, "--block-time-ms", block_time_ms, "--out", "network", *fund]
        subprocess.run([world.programs() / "cowboyd", *map(str, command)], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        # Behind the API's port is that of the metrics.
        port = free_ports(2 * VALIDATORS, socket.SOCK_STREAM)
        self.validators = [Validator(index, folder, port + 2 * index, quic + index, environments[index]) for index in range(VALIDATORS)]

    def __enter__(self):
        for validator in self.validators:
            validator.start()
        self.advances(1)
        return self

    def __exit__(self, *problem):
        for validator in self.validators:
            if validator.is_running():
                validator.process.kill()
                validator.process.wait()

    def top(self):
        """The greatest height that any of them has, 0 where none answers."""
        return max(validator.height() or 0 for validator in self.validators if validator.is_running())

    def advances(self, blocks):
        """Waits until the whole chain is a number of blocks further."""
        height = self.top()
        goal = height + blocks
        while height < goal:
            before = height
            height = until(f"a block after {before}", lambda: (top := self.top()) > before and top)

    def all_vote(self):
        """Waits until blocks from now on have votes of all: one that follows and never votes again shows only when another one is away."""
        seen, height = 0, self.top()

        def is_everybody():
            nonlocal seen, height
            # What is there already has votes of before.
            while (found := self.validators[0].get(f"/block/{height + 1}", 2)) is not None:
                height += 1
                # A bit for each validator, in as many bytes as it takes, none where the leader saw no votes.
                seen |= int.from_bytes(bytes.fromhex(found["header"]["voters"][2:]), "big")
            return seen == 2**VALIDATORS - 1

        until("votes of every validator", is_everybody, lambda: f"up to height {height} votes are {seen:#b}")

    def agrees(self):
        """Waits until all are where the first of them is now, and compares their blocks up to there. The common height."""
        for validator in self.validators:
            validator.must_run()
        goal = self.top()
        for validator in self.validators:
            validator.reaches(goal)
        for height in {goal, max(goal - 1, 1), max(goal // 2, 1), 1}:
            # One that has no time to answer is asked again.
            blocks = [until(f"{validator} answers about block {height}", lambda: validator.block(height)) for validator in self.validators]
            if any(block != blocks[0] for block in blocks):
                raise Finding(f"the validators have different blocks at height {height}: {json.dumps(blocks)[:2000]}")
        return goal
