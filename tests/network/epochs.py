"""`cowboyd testnet` for twenty epochs, the set of validators another one in each, while transactions flow."""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import signal
import socket
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "market"))
import world  # noqa: E402

# Dealing takes half an epoch: this is short, and long enough for a computer that runs all the nodes.
EPOCH = 48
GENESIS_VALIDATORS = 4
# Epochs in a row that may keep their signers for a reason: a computer that is busy puts the logs of dealers too late into blocks.
MAX_KEPT = 3
# Epochs from the one in which a set is fixed to the first in which it signs: docs/nodes.md.
FIXED_BEFORE = 3
# Accounts of the devnet's mnemonic, with 1,000,000 CBY each: two pay for stakes, one sends all the time.
STAKES = [
    "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
]
SENDER = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a"
STAKES_OF_AN_ACCOUNT = 9
RECEIVER = "0x" + "11" * 20


def program(name, folder, *arguments, **environment):
    """What a program prints as JSON. Anything but success ends the run."""
    command = [str(world.programs() / name), "--json", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(f"{name} {' '.join(map(str, arguments))} ends with {done.returncode}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def get(url, path):
    with urllib.request.urlopen(url + path, timeout=60) as answer:
        return json.load(answer)


def wait_for_height(url, height):
    """Reads the stream of blocks until the node has this height."""
    while get(url, "/height")["height"] < height:
        with urllib.request.urlopen(url + "/follow", timeout=120) as stream:
            stream.read(1)


def free_ports(count):
    """Free UDP ports in a row."""
    for first in range(10_000 + os.getpid() % 200 * 100, 32_000, count):
        try:
            for port in range(first, first + count):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise SystemExit("no free ports below 32,000")


class Process:
    """`cowboyd` with these arguments, from the moment it says that it is ready."""

    def __init__(self, folder, name, *arguments):
        # A newcomer ends with this process, as the members of the testnet do.
        with open(folder / f"{name}.log", "w") as log:
            self.child = subprocess.Popen(
                [str(world.programs() / "cowboyd"), *map(str, arguments)], text=True, cwd=folder,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env={**os.environ, "COWBOY_STOP_WITH_INPUT": "1"},
            )
        self.said = []
        for line in self.child.stdout:
            if line.startswith("ready: "):
                self.url = line.removeprefix("ready: ").strip()
                break
            self.said.append(line.strip())
        else:
            raise SystemExit(f"cowboyd {' '.join(map(str, arguments))} ends with {self.child.wait()}: {self.said}")
        # It never waits for a reader.
        threading.Thread(target=self.child.stdout.read, daemon=True).start()

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(60)


# What the chain says of an epoch: who signs, whether shares were dealt for it, and whom the next set that is fixed leaves out, with the reason.
Epoch = collections.namedtuple("Epoch", "number signers is_dealt left_out")


class Sets:
    """Counts the sets of validators. Ends the run where one stays for no reason that the chain gives."""

    def __init__(self, first):
        self.last, self.changed, self.kept, self.waited, self.left_out = first, 0, 0, 0, {first.number: first.left_out}

    def take(self, epoch):
        """The next epoch. Returns why it keeps its signers, or nothing."""
        last, self.last, self.left_out[epoch.number] = self.last, epoch, epoch.left_out
        if epoch.signers != last.signers:
            if not epoch.is_dealt and epoch.number == last.number + 1:
                raise SystemExit(f"epoch {epoch.number} has other signers than the one before, and no shares were dealt for it")
            self.changed, self.kept = self.changed + 1, 0
            return None
        if not epoch.is_dealt:
            reason = "the dealing for it failed"
        elif self.left_out.get(epoch.number - FIXED_BEFORE):
            reason = f"epoch {epoch.number - FIXED_BEFORE} left validators out of its set"
        elif self.changed:
            raise SystemExit(f"epoch {epoch.number} has the signers of the one before, after {self.changed} changes, and its dealing succeeded")
        else:
            self.waited += 1
            if self.waited > 6:
                raise SystemExit("nobody joins")
            return None
        self.kept += 1
        if self.kept > MAX_KEPT:
            raise SystemExit(f"epoch {epoch.number} is the {self.kept}th in a row that keeps its signers, after {self.changed} changes: {reason}")
        return reason


Member = collections.namedtuple("Member", "key address account secret pid url process")


class Network:
    """The testnet, and the newcomers beside it."""

    def __init__(self, folder, block_time_ms):
        self.folder, self.newcomers = folder, 0
        port = free_ports(GENESIS_VALIDATORS)
        options = ["--validators", GENESIS_VALIDATORS, "--full-nodes", 1, "--epoch", EPOCH, "--block-time-ms", block_time_ms]
        # A newcomer counts as one for three epochs, and one registers in every other epoch.
        options += ["--parameter", "consensus.newcomers=5000"]
        self.testnet = Process(folder, "testnet", "testnet", *options, "--port", 0, "--p2p-port", port, "--state", "net")
        rows = [line.split() for line in self.testnet.said if "  pid " in line]
        self.full_node = next(row[-3] for row in rows if row[:2] == ["full", "node"])
        # It is ready before it has found a peer.
        wait_for_height(self.full_node, 1)
        self.members, self.left, self.names, self.addresses = collections.deque(), [], {}, []
        accounts = {row["consensus_key"]: row["address"] for row in self.validators()}
        for index in range(GENESIS_VALIDATORS):
            file = json.loads((folder / f"net/validator-{index}.json").read_text())
            key = program("cowboyd", folder, "keys", "show", "--config", f"net/validator-{index}.json")["network"]
            row = next(row for row in rows if row[:2] == ["validator", str(index)])
            self.add(f"genesis-{index}", Member(key, file["listen"], accounts[key], file["secrets"]["signer"], int(row[-1]), row[-3], None))
        self.of_genesis = {member.key for member in self.members}
        self.record = program("cowboyd", folder, "record", "--dir", "net/full-node-0")["record"]

    def add(self, name, member):
        self.members.append(member)
        self.names[member.key] = name
        self.addresses += ["--peer", f"{member.key}@{member.address}"]

    def stop(self):
        for member in [*self.members, *self.left]:
            if member.process:
                member.process.stop()
        return self.testnet.stop()

    def cowboy(self, *arguments, key):
        return program("cowboy", self.folder, *arguments, "--rpc-url", self.full_node, "--private-key", key)

    def validators(self):
        return get(self.full_node, "/validators?limit=1000")["validators"]

    def epoch(self):
        found = get(self.full_node, "/validators?limit=1000")
        signers = frozenset(row["consensus_key"] for row in found["validators"] if row["is_signing"])
        left_out = {row["consensus_key"]: row["left_out"] for row in found["validators"] if row["left_out"]}
        return Epoch(found["epoch"], signers, found["is_dealt"], left_out)

    def describe(self, epoch, reason):
        """An epoch in words: who signs, why these still do, and who is left out of the next set."""
        words = [", ".join(sorted(self.names[key] for key in epoch.signers)) + " sign"]
        if reason:
            words.append(f"the same as before, because {reason}")
        words += sorted(f"{self.names[key]} is left out of the next set that is fixed ({why})" for key, why in epoch.left_out.items())
        return f"epoch {epoch.number}: {'; '.join(words)}"

    def join(self):
        """A stranger with a stake: new keys, a node, a registration."""
        number, self.newcomers = self.newcomers, self.newcomers + 1
        secret = "0x" + hashlib.sha256(f"newcomer {number}".encode()).hexdigest()
        account = program("cowboy", self.folder, "wallet", "address", "--private-key", secret)["address"]
        config, address = f"net/newcomer-{number}.json", f"127.0.0.1:{free_ports(1)}"
        # Validators of the genesis have no address on chain, and one that leaves signs on for some epochs.
        program("cowboyd", self.folder, "keys", "new", "--genesis", "net/genesis.json", "--out", config, "--listen", address, *self.addresses)
        registration = program("cowboyd", self.folder, "keys", "registration", "--config", config, "--account", account)
        (self.folder / "registration.json").write_text(json.dumps(registration))
        found_by = ["--listen", "127.0.0.1:0", "--bootstrap", self.record]
        process = Process(self.folder, f"newcomer-{number}", "start", "--quiet", "--config", config, "--port", 0, *found_by)
        self.cowboy("transfer", account, "100010cby", key=STAKES[number // STAKES_OF_AN_ACCOUNT])
        self.cowboy("validator", "register", "@registration.json", "--stake", "100000cby", key=secret)
        self.add(f"newcomer-{number}", Member(registration["network_key"], address, account, secret, process.child.pid, process.url, process))
        return f"newcomer-{number} registers"

    def leave(self):
        """The validator that has signed longest gives notice. It signs on for some epochs."""
        member = self.members.popleft()
        self.cowboy("transfer", member.account, "10cby", key=STAKES[0])
        self.cowboy("validator", "leave", key=member.secret)
        self.left.append(member)
        return f"{self.names[member.key]} leaves"


class Traffic(threading.Thread):
    """One transfer after the other."""

    def __init__(self, network):
        super().__init__(daemon=True)
        self.network, self.sent, self.failure, self.stopped = network, 0, None, threading.Event()

    def run(self):
        try:
            while not self.stopped.is_set():
                self.network.cowboy("transfer", RECEIVER, "1cby", key=SENDER)
                self.sent += 1
        except SystemExit as failure:
            self.failure = failure

    def finish(self):
        self.stopped.set()
        self.join()
        if self.failure:
            raise self.failure


def run(network, epochs):
    traffic = Traffic(network)
    traffic.start()
    epoch, reason, steps = network.epoch(), None, 0
    sets = Sets(epoch)
    while sets.changed < epochs:
        # Whoever leaves has left for good when an epoch has passed without it.
        for member in [member for member in network.left if member.key not in epoch.signers]:
            network.left.remove(member)
            member.process.stop() if member.process else os.kill(member.pid, signal.SIGTERM)
        said = network.describe(epoch, reason)
        done = network.join() if steps % 2 == 0 else network.leave()
        steps += 1
        print(f"{said}; {traffic.sent} transfers; {done}", flush=True)
        wait_for_height(network.full_node, (epoch.number + 1) * EPOCH + 2)
        epoch = network.epoch()
        reason = sets.take(epoch)
    print(f"{network.describe(epoch, reason)}; {traffic.sent} transfers", flush=True)
    traffic.finish()
    # Every node that still runs has the same chain, and the same balance.
    height = get(network.full_node, "/height")["height"]
    urls = [network.full_node, *(member.url for member in network.members)]
    for url in urls:
        wait_for_height(url, height)
    hashes = {get(url, f"/block/{height}")["hash"] for url in urls}
    balances = {get(url, f"/account/{RECEIVER}")["balance"] for url in urls}
    if len(hashes) != 1 or balances != {traffic.sent * 10**9}:
        raise SystemExit(f"{len(urls)} nodes at height {height} have {hashes}, and balances {balances} after {traffic.sent} transfers")
    stayed = network.of_genesis.intersection(member.key for member in network.members)
    print(f"{sets.changed} sets of validators in {epoch.number} epochs, {traffic.sent} transfers, height {height}; {len(stayed)} of the first ones are left")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--epochs", type=int, default=20, help="sets of validators, one after the other")
    options.add_argument("--block-time-ms", type=int, default=500)
    chosen = options.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cowboy-network-"))
    network = Network(folder, chosen.block_time_ms)
    try:
        run(network, chosen.epochs)
    except BaseException:
        print(f"the logs are in {folder}", file=sys.stderr)
        raise
    finally:
        ended = network.stop()
    if ended != 0:
        raise SystemExit(f"the testnet does not end well: see {folder}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
