"""pytest's plugin: the fixtures that `cowboy test` has, so that the same file of tests runs under both, and on a devnet.

`chain` is a fresh `cowboy_sdk.testing.Chain`; `alice`, `bob` and `carol` are its funded accounts, and `jobs()` lists the off-chain jobs
that wait on it. pytest finds the plugin by the package's entry point.

`pytest --network=dev` runs the tests on the node of COWBOY_RPC_URL (http://localhost:4000 where unset), which has to be a devnet: `cowboyd
dev --block-time instant --runners 0`. Every step is then a run of `cowboy`, signed by accounts of the devnet, and fees are charged. After each
test the devnet is what it was before.
"""

import base64
import builtins
import http.client
import json
import os
import pathlib
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

from . import errors, testing
from ._offchain import Job, Jobs
from ._payloads import decoded, encoded
from .types import Address, to_address_bytes

# Accounts 1 to 3 of every devnet, and their keys, which everybody knows.
_DEVNET = {
    "ALICE": ("0x70997970c51812dc3a010c7d01b50e0d17dc79c8", "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"),
    "BOB": ("0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc", "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a"),
    "CAROL": ("0x90f79bf6eb2c4f870365e785982e1f101e93b906", "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6"),
}


def pytest_addoption(parser):
    parser.addoption("--network", choices=["dev"], help="run tests of actors on this network instead of the chain in this process")


def pytest_configure(config):
    # Before a test imports them: on a devnet these are accounts that can sign.
    if config.getoption("--network") == "dev":
        for name, (address, _) in _DEVNET.items():
            setattr(testing, name, Address(address))


@pytest.fixture
def chain(request):
    """A fresh chain, or the devnet. Paths of actors are looked for beside the test's file first, then where pytest runs."""
    folder = request.path.parent
    if request.config.getoption("--network") != "dev":
        yield testing.Chain(folder=folder)
        return
    devnet = DevnetChain(folder)
    before = devnet._post("/dev/snapshot", {})["id"]
    yield devnet
    devnet._post("/dev/revert", {"id": before})


@pytest.fixture
def alice():
    return testing.ALICE


@pytest.fixture
def bob():
    return testing.BOB


@pytest.fixture
def carol():
    return testing.CAROL


@pytest.fixture
def jobs(chain):
    """The jobs that wait for an outcome, read anew at each call: `jobs()`."""
    return chain.jobs


# What the three accounts declare as runners: every kind of work, for the least price.
_RUNNER = {
    "kinds": ["http", "llm", "mcp", "custom", "container"],
    "rates": {"http_request_base": 1, "max_job_value": 5 * 10**12},
    "max_concurrent": 1000,
    "result_key": "0x" + "11" * 32,
    "containers": {"cpu_millicores": 16_000, "memory_mib": 65_536, "scratch_mib": 204_800, "platforms": ["linux/amd64"], "volumes": True},
}
_RUNNER_STAKE = 10_000 * 10**9
# How long the gateway may take for a name or a command.
_GATEWAY_SECONDS = 30
_WAITS = ("drawing", "waiting", "assigned", "revealing")


class DevnetChain(Jobs):
    """A devnet as a test sees it: what `cowboy_sdk.testing.Chain` does, by real transactions.

    Jobs are taken by the chain's Dispatcher, for which Alice, Bob and Carol are runners. They never work: the test's answer is delivered in
    the Result Verifier's name. The job itself stays with them until its time is over.
    """

    def __init__(self, folder):
        self._folder = pathlib.Path(folder)
        # Where `cowboy` runs: in the project's folder it would give the names of the author's actors to those of the test, which are gone after it.
        self._elsewhere = tempfile.TemporaryDirectory()
        self._url = os.environ.get("COWBOY_RPC_URL", "http://localhost:4000")
        self._keys = {bytes(Address(address)): key for address, key in _DEVNET.values()}
        self._programs = {}
        self._deployers = {}
        self._sites = {}
        # Addresses of equal sources differ by the salt, also between runs.
        self._salt = os.urandom(16).hex()
        self._answered = set()
        self._unanswered = []
        if self._get("/runners?limit=1")["total_count"] == 0:
            for address, _ in _DEVNET.values():
                self.fund(Address(address), 2 * _RUNNER_STAKE)
                self._cowboy("runner", "register", json.dumps(_RUNNER), "--stake", str(_RUNNER_STAKE), sender=Address(address))

    # Accounts

    def fund(self, address, amount):
        self._post("/dev/balance", {"address": _hex(address), "balance": self.balance(address) + amount})

    def balance(self, address):
        return self._cowboy("account", "balance", _hex(address))["balance"]

    @property
    def height(self):
        return self._get("/height")["height"]

    # Actors

    def deploy(self, source, *, sender=None, init=None, value=0):
        """Deploys a file of source and runs its `init`, by a transaction. Returns the Address."""
        beside = self._folder / source
        path = beside if beside.exists() else pathlib.Path(source)
        program = testing.load(path)
        options = ["--salt", f"{self._salt}{len(self._programs):08x}", "--fund", str(value)]
        if init is not None:
            options += ["--init-payload", "0x" + encoded(init, program.format("init")).hex()]
        made = self._cowboy("actor", "deploy", str(path.resolve()), *options, sender=sender or testing.ALICE)
        address = Address(made["address"])
        self._programs[bytes(address)] = program
        self._deployers[bytes(address)] = sender or testing.ALICE
        return address

    def execute(self, actor, method, payload=None, *, sender=None, value=0):
        """A transaction: runs a handler and returns its decoded result. Raises what the handler raises."""
        raw, form = self._payload(actor, method, payload)
        done = self._cowboy("actor", "execute", _hex(actor), method, *raw, "--value", str(value), sender=sender or testing.ALICE)
        return decoded(bytes.fromhex(done["receipt"]["return_data"][2:]), form)

    def query(self, actor, method, payload=None, *, sender=None):
        """Asks a handler, without a transaction."""
        raw, form = self._payload(actor, method, payload)
        sent = bytes.fromhex(raw[1][2:]) if raw else b""
        question = {"selector": method, "payload": base64.b64encode(sent).decode()}
        return decoded(base64.b64decode(self._post(f"/actor/{_hex(actor)}/read_handler", question)["result"]), form)

    # The web

    def visit(self, actor, method, path, *, body=None, headers=None, query=None, host=None):
        """A web request through the devnet's gateway, to a name that is registered for the actor; `host` is that name. Returns the
        response as {status, headers, body, request_id}, for a command the one that it stored."""
        site = self._site(to_address_bytes(actor))
        if query:
            path += "?" + urllib.parse.urlencode(query)
        response = _request(site, method, path, body, headers or {})
        if response["status"] != 202 or method in ("GET", "HEAD"):
            return response
        # The gateway has accepted the command; its response follows with a block.
        location = json.loads(response["body"])["result"]
        done = _until(lambda: _request(site, "GET", location, None, {}), lambda answer: answer["status"] != 202)
        return {**done, "request_id": location.rpartition("/")[2]}

    def _site(self, actor):
        """Where the gateway serves the actor: (host, port) of a name that is made at the first visit."""
        if actor not in self._sites:
            name = f"t{self._salt[:16]}{len(self._sites):x}"
            self._cowboy("name", "register", name, "--actor", _hex(actor), sender=self._deployers[actor])
            url = self._get(f"/names/{name}").get("url")
            if not url:
                pytest.skip("the devnet serves no names: start it without --no-gateway")
            place = urllib.parse.urlsplit(url)
            self._sites[actor] = place.hostname, place.port
            # The gateway learns of the name with its block.
            _until(lambda: _request(self._sites[actor], "GET", "/_cowboy/info", None, {}), lambda answer: answer["status"] == 200)
        return self._sites[actor]

    def storage(self, actor):
        """The actor's storage as {key: value}, keys as text where possible."""
        found, cursor = {}, ""
        while cursor is not None:
            page = self._get(f"/actors/{_hex(actor)}/storage?limit=500{cursor}")
            for entry in page["entries"]:
                key = bytes.fromhex(entry["key_bytes"][2:]).decode("utf-8", "replace")
                found[key] = decoded(bytes.fromhex(entry["value_bytes"][2:]))
            cursor = f"&cursor={page['next_cursor']}" if page.get("next_cursor") else None
        return found

    def events(self, actor=None):
        """(name, payload) of all events so far, of one actor if given."""
        found = []
        for address in self._programs if actor is None else [to_address_bytes(actor)]:
            logs = self._cowboy("actor", "logs", _hex(address), "--limit", "1000")["logs"]
            found += [(log["name"], decoded(bytes.fromhex(log["data"][2:]))) for log in logs]
        return found

    # Time

    def mine(self, blocks=1):
        """Makes blocks: messages are delivered, timers fire; then the test's runners answer."""
        for _ in range(blocks):
            waiting = self.jobs() if self._runners else []
            self._post("/dev/mine", {"blocks": 1})
            self._run_jobs(waiting)

    # Jobs

    def _waiting(self):
        own = {address for address, _ in _DEVNET.values()}
        if any(runner["address"] not in own for runner in self._get("/runners?limit=100")["runners"]):
            pytest.skip("the devnet's own runners do the jobs: start it with --runners 0")
        found = []
        for row in reversed(self._get("/jobs?limit=100")["jobs"]):
            name, submitter = bytes.fromhex(row["job_id"][2:]), bytes.fromhex(row["submitter"][2:])
            if row["status"] in _WAITS and submitter in self._programs and name not in self._answered:
                request = self._get(f"/job/{row['job_id']}")["request"]
                found.append(Job({"id": name, "actor": submitter, "payload": bytes.fromhex(request[2:])}))
        return found

    def _bring(self, job, answer):
        self._answered.add(job.id)
        verifier, payload = _hex(Address.RESULT_VERIFIER), "0x" + answer.hex()
        done = self._cowboy("chain", "impersonate", verifier, "execute", _hex(job.target), job.handler, "--payload", payload)
        return bytes.fromhex(done["return_data"][2:])

    def _failed(self, job, problem):
        self._unanswered.append((job.actor, job.handler, problem))

    @property
    def failures(self):
        """(actor, handler, exception) of every delivery to the test's actors that failed, but transactions."""
        found = list(self._unanswered)
        for address in self._programs:
            receipts = self._cowboy("actor", "failures", _hex(address))
            later = [receipt for receipt in receipts if receipt["kind"] != "transaction"]
            found += [(Address(address), receipt["handler"], _exception(receipt["error"])) for receipt in later]
        return found

    def _payload(self, actor, method, payload):
        program = self._programs.get(to_address_bytes(actor))
        form = "cbor" if program is None else program.format(method)
        raw = encoded(payload, form)
        return (["--payload", "0x" + raw.hex()] if raw else []), form

    def _cowboy(self, *arguments, sender=None):
        key = [] if sender is None else ["--private-key", self._keys[to_address_bytes(sender)]]
        command = ["cowboy", "--json", "--rpc-url", self._url, *key, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self._elsewhere.name)
        if done.returncode == 0:
            return json.loads(done.stdout)
        raise _exception(json.loads(done.stderr.strip().splitlines()[-1])["error"])

    def _get(self, path):
        return _answer(urllib.request.Request(self._url + path))

    def _post(self, path, body):
        data = json.dumps(body).encode()
        return _answer(urllib.request.Request(self._url + path, data, {"content-type": "application/json"}))


def _request(site, method, path, body, headers):
    """One request to a name below localhost, whatever the system's resolver says of such names."""
    name, port = site
    connection = http.client.HTTPConnection("localhost", port, timeout=_GATEWAY_SECONDS)
    try:
        connection.request(method, path, body, {**headers, "Host": f"{name}:{port}"})
        answer = connection.getresponse()
        found = {}
        for header, value in answer.getheaders():
            found.setdefault(header.lower(), []).append(value)
        return {"status": answer.status, "headers": found, "body": answer.read(), "request_id": answer.getheader("x-cowboy-request-id", "")}
    finally:
        connection.close()


def _until(ask, is_done):
    """Asks until the answer is as wanted, or time is up; the last answer."""
    deadline = time.monotonic() + _GATEWAY_SECONDS
    while not is_done(answer := ask()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return answer


def _answer(request):
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as problem:
        raise _exception(json.load(problem)) from None


def _exception(error):
    """What an actor raised, by the last line of its traceback; an ActorFailed for a class of its own, RuntimeError for what the node says otherwise."""
    lines = [line for line in (error.get("context") or {}).get("trace", "").splitlines() if line and not line.startswith(" ")]
    name, _, message = (lines[-1] if lines else "").partition(": ")
    short = name.rpartition(".")[2]
    kind = getattr(builtins, short, None) or getattr(errors, short, None)
    if kind is None and short.isidentifier() and short != "HostError":
        return type(short, (testing.ActorFailed,), {})(message)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        return RuntimeError(f"{error.get('slug', '')}: {error['what']} {lines[-1] if lines else ''}".strip())
    problem = kind.__new__(kind)
    problem.args = (message,)
    return problem


def _hex(address):
    return Address(to_address_bytes(address)).to_hex(checksum=False)
