"""A devnet of real programs as a scenario sees it: `cowboyd dev` in the background, and every step one run of `cowboy`."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

from cowboy_sdk import Address

ROOT = pathlib.Path(__file__).parents[3]
STARTUP_SECONDS = 60


def programs():
    """The folder with `cowboy` and `cowboyd`: COWBOY_BIN, or the newest build of this clone; None when there is none."""
    if "COWBOY_BIN" in os.environ:
        return pathlib.Path(os.environ["COWBOY_BIN"])
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [folder for folder in (target / "release", target / "debug") if (folder / "cowboyd").exists()]
    return max(built, key=lambda folder: (folder / "cowboyd").stat().st_mtime, default=None)


class Refused(Exception):
    """What `cowboy` said when it failed."""


class DevnetWorld:
    """One devnet with its own chain. Use as a context manager."""

    def __init__(self, folder):
        self.folder = folder
        self.home = tempfile.TemporaryDirectory()
        self.node = subprocess.Popen(
            [folder / "cowboyd", "dev", "--port", "0", "--block-time", "instant", "--runners", "0", "--quiet"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.home.name,
        )
        self.keys = {}
        for line in self.node.stdout:
            account = re.match(r"\(\d+\) (0x\S+)\s+(\S+)", line)
            ready = re.match(r"ready: (\S+)", line)
            if account:
                self.keys[Address(account[1])] = account[2]
            if ready:
                self.url = ready[1]
                break
        else:
            raise AssertionError("cowboyd ended before it was ready")
        self.deployed = []

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.node.terminate()
        self.node.wait(STARTUP_SECONDS)
        self.node.stdout.close()
        self.home.cleanup()

    def accounts(self):
        return dict(zip(("alice", "bob", "carol"), self.keys))

    def run(self, *arguments, sender=None):
        command = [self.folder / "cowboy", "--json", "--rpc-url", self.url]
        if sender is not None:
            command += ["--private-key", self.keys[sender]]
        done = subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, cwd=self.home.name)
        if done.returncode != 0:
            raise Refused(done.stderr)
        return json.loads(done.stdout)

    def deploy(self, path, init, sender):
        options = () if init is None else ("--init-payload", init.decode())
        answer = self.run("actor", "deploy", "--code", path, *options, sender=sender)
        self.deployed.append(Address(answer["address"]))
        return self.deployed[-1]

    def execute(self, actor, handler, payload, sender, value):
        options = () if payload is None else (f"--payload={json.dumps(payload)}",)
        return self.run("actor", "execute", actor, handler, *options, "--value", value, sender=sender)["result"]

    def query(self, actor, handler, payload, sender):
        options = () if payload is None else (f"--payload={json.dumps(payload)}",)
        return self.run("actor", "query", actor, handler, *options)["result"]

    def transfer(self, to, amount):
        self.run("transfer", to, amount, sender=next(iter(self.keys)))

    def mine(self, blocks):
        self.run("chain", "mine", blocks)

    def height(self):
        return self.run("block", "latest")["height"]

    def balance(self, address):
        return self.run("account", "balance", address)["balance"]

    def events(self):
        logs = [log for actor in self.deployed for log in self.run("actor", "logs", actor, "--limit", 1000)["logs"]]
        return [(log["name"], log["value"]) for log in logs]
