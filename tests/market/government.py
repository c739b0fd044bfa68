"""Governance on a network of four that `cowboyd genesis --config` made and where nobody is a deployer: every path, end to end, by the client."""

import json
import socket
import subprocess

import pytest
from nitro import encode
from world import Refused, World, a_job, programs, until

CBY = 10**9

REGISTRY, VERIFIER, TEE, TIMERS, ENTITLEMENTS, TREASURY, GOVERNANCE, CONTAINERS = (
    f"0x{number:040x}" for number in (0x01, 0x03, 0x05, 0x06, 0x07, 0x08, 0x09, 0x11)
)
# Blocks come as fast as four validators agree, so that the shortest periods that there are take less than a minute.
GENESIS = """
chain_id = 7
council = [{council}]

[parameters]
"consensus.block_time" = 20
"governance.voting_fast" = 600
"governance.timelock_fast" = 600
"jobs.challenge_window" = 20000
"jobs.dispute_window" = 20000
{accounts}
"""
LIMITS = {
    "gc_cycles_per_block": 1_000_000,
    "max_cells_per_fire": 200_000,
    "max_cycles_per_fire": 300_000,
    "max_timers_per_actor": 7,
    "max_ttl_blocks": 200_000,
}
# What the decision does, in one block: of the claim that the runner is slashed, and its job is over.
EVENTS = [
    *("ModelStatusSet", "EmbeddingModelSet", "RunnerBelowStake", "ChallengeResolved", "JobSettled", "PolicySet", "RootsSet"),
    *("timer.cancelled_by_governance", "timer.extended_by_governance", "EntitlementDeprecated", "DomainSetChanged", "vesting.beneficiary"),
    *("ImageSet", "timer_config.updated", "parameter.moved", "vesting.disbursed", "proposal.executed"),
]
SLEEPER = """from cowboy_sdk import actor, public, set_timer


@actor
class Sleeper:
    @public
    def sleep(self, blocks: int):
        return set_timer(blocks, 'wake').hex()

    def wake(self, message):
        self.storage['awake'] = True
"""


def free_ports(count):
    """The first of `count` ports in a row that nobody uses."""
    for first in range(23_000, 60_000, 50):
        sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
        try:
            for place, one in enumerate(sockets):
                one.bind(("127.0.0.1", first + place))
            return first
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise AssertionError("no ports are free")


class Network(World):
    """Four validators in four processes, made from a file. Accounts 0 to 8 are the council; they and account 9 have a million CBY each."""

    def __init__(self, folder):
        self.folder, self.bin, self.processes = folder, programs(), []
        keys = [f"0x{number:064x}" for number in range(1, 11)]
        self.url = "http://127.0.0.1:1"
        self.accounts = [(self.client("wallet", "address", "--private-key", key)["address"], key) for key in keys]
        council = ", ".join(f'"{address}"' for address, _ in self.accounts[:9])
        accounts = "".join(f'[[account]]\naddress = "{address}"\ncby = 1000000\n' for address, _ in self.accounts)
        (folder / "genesis.toml").write_text(GENESIS.format(council=council, accounts=accounts))
        made = [self.bin / "cowboyd", "genesis", "--config", "genesis.toml", "--p2p-port", str(free_ports(4))]
        subprocess.run(made, cwd=folder, check=True, capture_output=True)
        files = [folder / "network" / f"validator-{number}.json" for number in range(4)]
        self.validators = [json.loads(file.read_text())["secrets"]["signer"] for file in files]
        self.nodes = [self.start("cowboyd", [self.bin / "cowboyd", "start", "--config", file, "--port", "0"]) for file in files]
        self.url = self.nodes[0].ready
        self.wait_for(1)

    def client(self, *arguments):
        command = ["cowboy", "--json", "--rpc-url", self.url, *map(str, arguments)]
        done = subprocess.run(command, executable=self.bin / "cowboyd", capture_output=True, text=True, cwd=self.folder)
        if done.returncode != 0:
            raise Refused(done.stderr + done.stdout)
        return json.loads(done.stdout)

    def ask(self, actor, method, value="0", account=0, **argument):
        """Calls a method of a system actor, and gives what it answers."""
        payload = "0x" + encode(as_bytes(argument)).hex()
        return self.run("actor", "execute", actor, method, "--payload", payload, "--value", value, account=account)["receipt"]["return_data"]

    def height(self):
        return self.get("/height")["height"]

    def wait_for(self, height):
        """However fast blocks come: each is waited for by itself."""
        while (seen := self.height()) < height:
            until(f"the block after {seen}", lambda: self.height() > seen)

    def vote(self, proposal):
        for key in self.validators:
            self.client("gov", "vote", proposal, "yes", "--private-key", key)

    def decide(self, *actions):
        """Proposes, shortens the process by the council, votes, counts and executes. Answers the events of the execution."""
        decision = json.dumps({"actions": list(actions)})
        preview = self.run("gov", "preview", decision)
        assert (preview["error"], preview["tier"]) == (None, 3), preview
        self.run("gov", "propose", decision)
        proposal = self.get("/governance/proposals?limit=1")["proposals"][0]["id"]
        for member in range(7):
            self.run("gov", "fast-track", proposal, account=member)
        self.vote(proposal)
        self.wait_for(self.run("gov", "show", proposal)["height"])
        self.run("gov", "count", proposal)
        self.wait_for(self.run("gov", "show", proposal)["height"])
        events = self.run("gov", "execute", proposal)["receipt"]["events"]
        assert self.run("gov", "show", proposal)["stage"] == "executed"
        return [event["name"] for event in events]


def as_bytes(value):
    """Hex is bytes, as in what `cowboy gov` takes."""
    if isinstance(value, dict):
        return {name: as_bytes(item) for name, item in value.items()}
    if isinstance(value, list):
        return [as_bytes(item) for item in value]
    return bytes.fromhex(value[2:]) if isinstance(value, str) and value.startswith("0x") else value


def call(actor, method, **argument):
    return {"action": "call", "actor": actor, "method": method, "argument": argument}


def a_model():
    return {"name": "a model", **{part: "0x" + f"{number:02x}" * 32 for number, part in enumerate(("weights", "arch", "tokenizer", "license"), 1)}}


def two_timers(network):
    """Timers of an actor, far ahead. Answers their ids."""
    sleeper = network.folder / "sleeper.py"
    sleeper.write_text(SLEEPER)
    actor = network.run("actor", "deploy", "--code", sleeper)["address"]
    for _ in range(2):
        network.run("actor", "execute", actor, "sleep", "--payload", network.height() + 100_000)
    first, second = network.get(f"/timers/{actor}")["timers"]
    return first["id"], second["id"]


def a_claim(network):
    """A result that somebody claims to be dishonest, which nobody can find out by doing the work again. Answers the job."""
    web = network.server("web")
    network.runner(1, "[http]\nallow_private = true\n")
    network.runners_are(1)
    job = a_job("Http", {"url": f"{web}/price"}, mode="economic_bond", timeout_blocks=4_000)
    job["bounds"]["max_wall_time_seconds"] = 20
    job = network.submit(job)
    done = until("a result", lambda: (found := network.job(job))["status"] in ("verified", "failed") and found)
    assert done["status"] == "verified", done
    runner = done["members"][0]["runner"]
    network.ask(VERIFIER, "challenge", job_id=job, runner=runner, claim="the page said something else", value="100cby", account=3)
    return job


def test_every_path(tmp_path):
    """Decision 179: without any deployer's key a challenge is decided, a trusted program and an image are accepted, a model is banned, an entitlement
    is deprecated, a bucket has a beneficiary who is paid, the burn of runners' pay (A-290) and the rent (A-291) move, and the validators
    cancel a timer, extend another and move the limits of all (instructions 48 to 50)."""
    with Network(tmp_path) as network:
        for key in network.validators:
            address = network.client("wallet", "address", "--private-key", key)["address"]
            network.run("transfer", address, "100cby")
        claimed = a_claim(network)
        timers = two_timers(network)
        # {model_id: 32 bytes}
        model = "0x" + network.ask(REGISTRY, "publish_model", value="1000cby", **a_model())[-64:]
        digest, beneficiary = "0x" + "07" * 32, network.accounts[8][0]
        actions = [
            call(REGISTRY, "set_model_status", model_id=model, status=2),
            call(VERIFIER, "set_embedding_model", model_id=model),
            call(VERIFIER, "decide_challenge", job_id=claimed, upheld=True),
            call(TEE, "set_policy", environment="nitro", measurement="0x" + "05" * 144, accepted=True, name="a program"),
            call(TEE, "set_roots", environment="nitro", roots=["0x" + b"a certificate".hex()]),
            call(TIMERS, "cancel_timer", timer_id=timers[0]),
            call(TIMERS, "extend_timer", timer_id=timers[1], expires_at=150_000),
            call(ENTITLEMENTS, "deprecate", id="storage.kv", **{"from": 1_000_000}),
            call(ENTITLEMENTS, "set_domain_set", name="weather", domains=["api.weather.gov"]),
            call(TREASURY, "set_beneficiary", bucket="community", beneficiary=beneficiary),
            call(CONTAINERS, "set_image", digest=digest, allowed=True, name="alpine"),
            call(GOVERNANCE, "update_timer_config", **LIMITS),
            {"action": "set_parameter", "name": "jobs.payout_burn", "value": 900},
            {"action": "set_parameter", "name": "rent.rate", "value": 2_000_000},
            {"action": "disburse", "bucket": "treasury", "to": beneficiary, "amount": 5 * CBY},
        ]
        for action in actions:
            if action["action"] == "call":
                with pytest.raises(Refused, match="system_unauthorized"):
                    network.ask(action["actor"], action["method"], account=9, **action["argument"])
        before = network.get(f"/account/{beneficiary}")["balance"]
        events = network.decide(*actions)
        assert sorted(set(events)) == sorted(EVENTS)
        network.ask(TREASURY, "release", bucket="community")
        assert network.get(f"/account/{beneficiary}")["balance"] == before + (5 + 10_000_000) * CBY
        params = {row["name"]: row["value"] for row in network.get("/params?limit=1000")["params"]}
        assert (params["jobs.payout_burn"], params["rent.rate"]) == (900, 2_000_000)
        assert params["timers.timers_per_actor"] == LIMITS["max_timers_per_actor"]
        left = network.get("/timers")["timers"]
        assert [timer["expires_at"] for timer in left] == [150_000]
        assert network.job(claimed)["status"] == "settled", "the claim was upheld"
