"""Releases of secrets by a committee of 16, of whom 11 have to answer: time, throughput, and what dealing the key costs.

    ./bench secrets [--only partials,releases,dealing] [--releases 200] [--json] [--write]

Node, sixteen proxies and recipient are processes on loopback. Everything takes about twelve minutes, most of it phases of dealings.
"""
import concurrent.futures
import http.client
import json
import ssl
import threading
import time
import urllib.request

import figures
from common import machine
from figures import Row, example, say
import rates
import world
from world import World, until

SECRETS = "0x0000000000000000000000000000000000000004"
MEMBERS, THRESHOLD = 16, 11
PHASES = ("join", "deal", "ack", "log", "confirm")
# Who speaks in these are dealers: members of the committee before.
OF_DEALERS = ("deal", "log")
NAME = "BENCH_KEY"
# Connections to one proxy, and how often all releases are asked for.
CONNECTIONS = 8
POLL_SECONDS = 0.05
# A dealing takes 500 blocks.
world.PATIENCE_SECONDS = 600


class Committee(World):
    """A devnet whose proxies are processes of their own, each with the key of an account. Its rows are the governed ones, but for the wait of a proxy."""

    def __init__(self, folder, **parameters):
        rows = {"proxy_wait": 0, "retry": 20, **parameters}
        options = [option for name, value in rows.items() for option in ("--parameter", f"secrets.{name}={value}")]
        services = ["--runners", "0", "--proxies", "0", "--relays", "0", "--no-gateway", "--no-demo"]
        super().__init__(folder, "--block-time", "200ms", "--accounts", str(MEMBERS + 1), "--balance", "20000", *services, *options)
        self.proxies = {}
        try:
            for number in range(1, MEMBERS + 1):
                self.proxy(number)
        except BaseException as problem:
            self.__exit__(type(problem), problem, None)
            raise

    def proxy(self, number):
        """A proxy with the key of an account. Its folder stays, so that it can be started again."""
        folder = self.folder / f"proxy{number}"
        if not folder.exists():
            folder.mkdir()
            (folder / "proxy.key").write_text(self.accounts[number][1])
            (folder / "proxy.toml").write_text(
                f'node = "{self.url}"\ntrust_node = true\nkey_file = "{folder / "proxy.key"}"\nstate = "{folder / "state"}"\n'
                'listen = "127.0.0.1:0"\nendpoint = "localhost"\nstake_cby = 10000\n'
            )
        process = self.start("cowboy-proxy", [self.bin / "cowboyd", "--config", folder / "proxy.toml"], RUST_LOG="info")
        self.proxies[self.accounts[number][0].lower()] = (number, process)

    def kill(self, address):
        self.proxies[address][1].kill()

    def restart(self, address):
        self.proxy(self.proxies[address][0])

    def view(self, method, **argument):
        headers = {"content-type": "application/json"}
        asked = urllib.request.Request(f"{self.url}/actors/{SECRETS}/views/{method}", json.dumps(argument).encode(), headers)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.load(answer)["result"]

    def key(self):
        """The key that secrets are sealed to; one without a committee where none was dealt."""
        return self.view("get_key") or {"epoch": 0, "members": []}

    def dealt(self, epoch, watch=lambda round: None):
        """Waits until a committee holds the key, and answers the heights at which its dealing began and ended. Shows what is seen of it to `watch`."""
        begun = None

        def is_over():
            nonlocal begun
            round = self.view("get_round")
            if round:
                begun = round["begun_at"]
                watch(round)
            key = self.key()
            return key["epoch"] >= epoch and key

        key = until(f"committee {epoch}", is_over)
        return begun, key["since"]

    def cost(self, begun, over):
        """Bytes of the messages of a dealing between two heights, and of the events of 0x04."""
        messages = events = 0
        for height in range(begun, over + 1):
            block = self.get(f"/block/{height}")
            for transaction in block["transactions"]:
                instruction = transaction["instruction"]
                if (instruction.get("target") or "").lower() == SECRETS and instruction.get("handler") in PHASES:
                    messages += size(instruction["payload"])
            events += sum(size(event["data"]) for receipt in block["receipts"] for event in receipt["events"] if event["emitter"].lower() == SECRETS)
        return messages, events


def size(hexadecimal):
    return len(hexadecimal) // 2 - 1


class Deaths:
    """Has one member dead in each phase of a dealing, another one each time. A member is killed before its phase begins, once it has said what the
    phase before asks of it, and starts again when its phase is over."""

    def __init__(self, committee, members):
        self.committee, self.members, self.silent, self.phase = committee, members[: len(PHASES)], {}, None
        committee.kill(self.members[0])
        self.killed = 1

    def watch(self, round):
        place = PHASES.index(round["phase"])
        speakers = [seat["address"].lower() for seat in round["dealers" if round["phase"] in OF_DEALERS else "players"]]
        if self.phase != round["phase"]:
            self.phase = round["phase"]
            say(f"  {self.phase}: member {place} is dead")
            if place > 0:
                self.committee.restart(self.members[place - 1])
            if self.killed <= place:
                self.kill_next()
        spoke = {address for number, address in enumerate(speakers) if round["spoke"] >> number & 1}
        self.silent[self.phase] = [address for address in speakers if address not in spoke]
        following = self.members[self.killed] if self.killed < len(PHASES) else None
        if self.killed == place + 1 and following and (following in spoke or following not in speakers):
            self.kill_next()

    def kill_next(self):
        self.committee.kill(self.members[self.killed])
        self.killed += 1


def partials(_, asked):
    found = example("partials")
    ms = lambda name: found[f"{name}_us"] / 1e3
    return [
        Row("partial_ms", "a member's answer", "≤ 1.5 ms", ms("partial"), "ms"),
        Row("partial_of_blst", "the same, of a signature of blst", None, ms("partial") / ms("blst_sign"), "times"),
        Row("check_ms", "checking an answer: five pairings", "≤ 5 ms", ms("check"), "ms"),
        Row("check_of_blst", "the same, of checking a signature with blst: two pairings", None, ms("check") / ms("blst_verify"), "times"),
        Row("combine_ms", f"a signature out of {THRESHOLD} answers", None, ms("combine"), "ms"),
    ]


def releases(folder, asked):
    """Sixteen proxies deal a key; releases are opened on the chain, and the members asked for their answers."""
    with Committee(folder) as committee:
        say("  sixteen proxies deal the first key: about 100 s")
        committee.dealt(1)
        sizes = len(committee.key()["members"]), committee.key()["threshold"]
        if sizes != (MEMBERS, THRESHOLD):
            raise SystemExit(f"the committee has {sizes[0]} members, of whom {sizes[1]} have to answer")
        (folder / "value.txt").write_text("a value\n")
        (folder / "owner.key").write_text(committee.accounts[0][1])
        committee.run("secret", "set", NAME, "--value-file", "value.txt", "--jobs", "http", "--hosts", "api.weather.test", "--any-runner")
        named = (committee.url, folder / "owner.key", NAME, asked.releases)
        times = example("release", *named, "ask")["times_us"]
        say("  releases that one proxy is asked for")
        per_second = rate(committee, example("release", *named, "open")["releases"])
    what = f"a release after finality, until the value is open, {MEMBERS} members asked"
    return [
        Row("release_p50_ms", f"{what}: p50 of {len(times)}", "≤ 60 ms", rates.percentile(times, 50) / 1e3, "ms"),
        Row("release_p99_ms", "the same, p99", "≤ 250 ms", rates.percentile(times, 99) / 1e3, "ms"),
        Row("releases_per_second", f"releases that one proxy answers, {CONNECTIONS} connections", "≥ 50", per_second, "/s"),
    ]


def rate(committee, ids):
    """Answers a second of the first member, each release asked for once."""
    proxy = committee.view("get_proxy", address=committee.key()["members"][0]["address"])
    # Its certificate is its own: the chain has the hash of its key.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    kept = threading.local()

    def ask(release):
        if not hasattr(kept, "connection"):
            kept.connection = http.client.HTTPSConnection("127.0.0.1", proxy["port"], timeout=60, context=context)
        kept.connection.request("POST", "/v1/release", json.dumps({"release_id": release}), {"content-type": "application/json"})
        answer = kept.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"the proxy answers {answer.status}: {body}")

    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        began = time.perf_counter()
        list(pool.map(ask, ids))
        return len(ids) / (time.perf_counter() - began)


def dealing(folder, asked):
    """The first key, a committee that hands it on, and one of whom another member is dead in each phase."""
    found = {}
    with Committee(folder, term=20) as committee:
        found["the first dealing"] = committee.dealt(1)
        say("  the first dealing is over")
        found["dealing to the next committee"] = committee.dealt(2)
        deaths = Deaths(committee, [member["address"].lower() for member in committee.key()["members"]])
        say("  the second dealing is over")
        found["the same with a member dead in each phase"] = committee.dealt(3, deaths.watch)
        costs = {name: committee.cost(*heights) for name, heights in found.items()}
    dead = sum(bool(silent) for silent in deaths.silent.values())
    rows = []
    for name, (begun, over) in found.items():
        messages, events = costs[name]
        key = name.replace(" ", "_")
        rows += [
            Row(f"{key}_blocks", f"{name}, {MEMBERS} proxies: blocks", "≤ 500", over - begun, "blocks"),
            Row(f"{key}_kib", f"{name}: bytes of its messages, which stand on the chain until it is over", "≤ 160 KiB", messages / 1024, "KiB"),
            Row(f"{key}_events_kib", f"{name}: bytes of the events of the Secrets Manager", "≤ 160 KiB", events / 1024, "KiB"),
        ]
    return [*rows, Row("phases_with_a_dead_member", f"phases in which a member was silent, of {len(PHASES)}", str(len(PHASES)), dead, "phases")]


def page(asked):
    return "Releases of secrets", (
        f"`./bench secrets`: a committee of {MEMBERS}, of whom {THRESHOLD} have to answer. Node, proxies and recipient are processes that share {machine()}. A block every 200 ms, and "
        "phases of 100 blocks. A release includes the recipient's connections to all members, the proofs that the node gives, and the check of each answer."
    )


def options(parser):
    parser.add_argument("--releases", type=int, default=200, help="releases that are measured, and as many that one proxy is asked for")


if __name__ == "__main__":
    figures.run("secrets", __doc__, {"partials": partials, "releases": releases, "dealing": dealing}, page, options)
