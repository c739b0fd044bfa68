"""Containers as runners execute them: images of one program that the tests build, in boxes of a real runner (003 §9; A-234, A-238)."""

import json
import os
import pathlib
import subprocess
import threading
from http.server import BaseHTTPRequestHandler

import pytest
from nitro import encode
from oci import Layout, RealRegistry, Registry, Serving, program
from world import Refused, World, result, until

GOVERNANCE, CONTAINERS = (f"0x{number:040x}" for number in (0x09, 0x11))
CAPACITY = "cpu_millicores = 1000\nmemory_mib = 160\nscratch_mib = 64\n"
SMALL = {"cpu_millicores": 400, "memory_mib": 64, "scratch_mib": 16, "max_duration_sec": 20}


def missing():
    """Why there are no boxes here; nothing where there are."""
    if os.geteuid() != 0:
        return "boxes need root"
    mounts = [line.split(" - ")[1].split() for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    has = {option for kind, *_, options in mounts if kind == "cgroup" for option in options.split(",")}
    roots = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines() if " - cgroup2 " in line]
    for root in roots:
        has.update((pathlib.Path(root) / "cgroup.controllers").read_text().split())
    lacks = {"cpu", "memory", "pids"} - has
    return f"no control groups for {', '.join(sorted(lacks))}" if lacks else None


pytestmark = pytest.mark.skipif(missing() is not None, reason=f"left out: {missing()}")


class Hosts(Serving):
    """A web server that knows what it was asked, and lets those who ask for /meet wait for each other, and for /held until they are released."""

    def __init__(self):
        self.asked, self.meeting, self.release = [], threading.Barrier(2, timeout=60), threading.Event()
        hosts = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                hosts.asked.append((self.headers["host"], self.path))
                if self.path == "/meet":
                    hosts.meeting.wait()
                if self.path == "/held":
                    hosts.release.wait(60)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"served")

        super().__init__(Handler)


class Market(World):
    """A devnet without runners, and an image whose program does what its arguments say."""

    def __init__(self, folder):
        super().__init__(folder, "--block-time", "200ms", "--runners", "0", "--balance", "20000")
        self.layout = Layout(self.folder / "layout")
        self.digest = self.layout.image({"app": program(self.folder)}, ["/app"], ["FROM=image", "COWBOY_SEED=1"])
        self.hosts = Hosts()

    def __exit__(self, *problem):
        super().__exit__(*problem)
        self.hosts.end()

    def allow(self, digest, allowed=True):
        argument = {"digest": bytes.fromhex(digest.removeprefix("sha256:")), "allowed": allowed, "name": "program"}
        self.run("chain", "impersonate", GOVERNANCE, "execute", CONTAINERS, "set_image", "--payload", "0x" + encode(argument).hex())

    def settings(self, *sources):
        """The tables of a runner's file."""
        sources = sources or (f"layouts = [{json.dumps(str(self.layout.folder))}]",)
        http = f'[http]\nhosts = {{ "allowed.test" = "{self.hosts.address}", "other.test" = "{self.hosts.address}" }}\n'
        return http + "[container]\n" + CAPACITY + "\n".join(sources) + "\n"

    def container(self, command, resources=SMALL, digest=None, **more):
        """A job of the image. What is not of the container is of the job."""
        fields = {name: more.pop(name) for name in ("source", "env", "network", "stdin", "output", "platform") if name in more}
        image = f"program@{digest or self.digest}"
        return {
            "job_type": {"type": "Container", "image": image, "command": command, "resources": resources, **fields},
            "bounds": {},
            "result_schema": {"max_return_bytes": 4096, "expected_execution_ms": 1000, "data_format": ""},
            "verification": {"mode": "none"},
            "max_price": 10_000_000,
            "timeout_blocks": 400,
            **more,
        }

    def locally(self, job, *sources):
        """What a runner with these sources answers, without a chain."""
        path = self.folder / "local.toml"
        path.write_text('[runner]\nstate = "local"\n' + self.settings(*sources))
        try:
            return self.run("job", "run", "--local", json.dumps(job), "--config", path)
        except Refused as refused:
            return json.loads(refused.printed)

    def ended(self, id):
        """The job once it is over, and its only member."""
        done = self.over(id)
        (member,) = done["members"]
        return done, member


@pytest.fixture(scope="module")
def market(tmp_path_factory):
    with Market(tmp_path_factory.mktemp("market")) as market:
        yield market


def boxes(state):
    """What is left of a runner's boxes: their folders, and their control groups."""
    state = pathlib.Path(state) / "boxes"
    found = state.stat()
    name = f"cowboy-{found.st_dev:x}-{found.st_ino:x}-"
    trees = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines() if " - cgroup" in line]
    groups = [path.name for tree in trees for path in pathlib.Path(tree).iterdir() if path.name.startswith(name)]
    return [path.name for path in state.iterdir() if path.name != "lock"], groups


def test_results_of_a_runner(tmp_path):
    """A-234, A-238, C.5: a runner declares what it gives, runs the program of an allowed image, and says how it ended; the chain pays for what it used."""
    with Market(tmp_path) as market:
        refused = market.container(["echo"])
        market.allow(market.digest)
        market.runner(0, market.settings())
        market.runners_are(1)
        given = market.get("/runners")["runners"][0]["capabilities"]
        assert given["job_types"] == ["http", "container"]
        assert {name: given["containers"][name] for name in SMALL if name in given["containers"]} == {
            "cpu_millicores": 1000,
            "memory_mib": 160,
            "scratch_mib": 64,
        }
        done, member = market.ended(market.submit(market.container(["echo"], stdin="what it reads"), account=5))
        assert (done["status"], result(done), member["fault"]) == ("settled", "what it reads", 0)
        assert 0 < member["paid"] <= 10_000_000
        done, member = market.ended(market.submit(market.container(["file", "in a file"], output="file"), account=5))
        assert (result(done), member["fault"]) == ("in a file", 0)
        ends = [(["fail", "3", "no"], 1), (["memory"], 3), (["print", "5000"], 3)]
        for command, fault in ends:
            _, member = market.ended(market.submit(market.container(command), account=5))
            assert (member["fault"], member["result"]) == (fault, None), command
        market.allow(market.digest, False)
        with pytest.raises(Refused, match="image_not_allowed"):
            market.submit(refused, account=5)
        assert boxes(tmp_path / "runner0/runner-state") == ([], [])


@pytest.mark.parametrize(
    "command, more, expected",
    [
        (["hello"], {}, "hello\n"),
        (["echo"], {"stdin": "in"}, "in"),
        (["file", "x"], {"output": "file"}, "x"),
        (["hello"], {"output": "file"}, "cannot be done by anybody: the program left no file /workspace/output"),
        (["fail", "7", "it is broken"], {}, "cannot be done by anybody: the program ended with 7: it is broken"),
        (["memory"], {}, "bounds are too tight: the program needs more memory than the job gives it"),
        (["disk"], {}, "bounds are too tight: the program writes more files than the job gives room for"),
        (["spin"], {"resources": {**SMALL, "max_duration_sec": 2}}, "bounds are too tight: the program was not done in the job's time"),
        (["print", "5000"], {}, "bounds are too tight: the result has 5000 bytes"),
        (["errors", "3000000"], {}, "bounds are too tight: the program prints more than the runner keeps"),
        (["errors", "3000000"], {"output": "file"}, "bounds are too tight: the program prints more than the runner keeps"),
        (["direct", "127.0.0.1:80"], {}, "connection refused\n"),
        (["direct", "192.0.2.1:80"], {}, "network unreachable\n"),
        (["hello"], {"platform": "linux/" + ("arm64" if os.uname().machine == "x86_64" else "amd64")}, "outside is missing: this runner runs programs for"),
        (["hello"], {"resources": {**SMALL, "memory_mib": 400}}, "outside is missing: the container needs 400 millicores and 416 MiB"),
        (["hello"], {"source": "oci://registry.test/program"}, "outside is missing: this runner takes no images from registry.test"),
        (["hello"], {"digest": "sha256:" + "b" * 64}, "outside is missing: blob sha256:bbb"),
    ],
)
def test_ends(market, command, more, expected):
    """C.5, decision 165: the result of a program that ended with 0, and the fault of every other end."""
    answer = market.locally(market.container(command, **more))
    assert expected in (answer["result"] if answer["fault"] is None else answer["fault"]), answer
    if answer["result"] is not None:
        assert answer["result"] == expected and answer["usage"]["memory_mb"] > 0


def test_the_environment(market, monkeypatch):
    """C.6: the program knows its job and its image, and nothing of the computer."""
    monkeypatch.setenv("OF_THE_COMPUTER", "secret")
    answer = market.locally(market.container(["env"], env={"FROM": "job"}))
    found = dict(line.split("=", 1) for line in answer["result"].splitlines())
    own = {name for name in found if name.startswith("COWBOY_")}
    names = ("TASK_ID", "RUNNER_ADDRESS", "ACCOUNT_ADDRESS", "TIMEOUT_BLOCK", "VOLUME_MOUNTS", "NETWORK_POLICY", "SEED")
    assert own == {f"COWBOY_{name}" for name in names}
    assert set(found) - own == {"FROM", "PATH", "HOME"} and found["FROM"] == "job"
    assert (found["COWBOY_NETWORK_POLICY"], found["COWBOY_VOLUME_MOUNTS"]) == ("none", "")
    assert int(found["COWBOY_SEED"]) > 1, "it is not the image's"


def test_hosts(market):
    """C.4, decision 164: the hosts that a job names are reached through the runner's proxy, and nothing else."""
    network = {"allow": ["allowed.test"]}
    direct, proxied = (market.locally(market.container(command, network=network)) for command in (["direct", market.hosts.address], ["get", "/", "allowed.test", "other.test"]))
    assert direct["result"] == "connection refused\n", "there is nothing but the box"
    assert proxied["result"].splitlines() == [
        "allowed.test: 200 served",
        'other.test: 403 this container may not reach "other.test": name it in network.allow.hosts',
    ]
    assert {host for host, _ in market.hosts.asked} == {"allowed.test"}
    assert (direct["usage"]["requests"], proxied["usage"]["requests"]) == (0, 1)
    environment = market.locally(market.container(["env"], network=network))["result"].splitlines()
    assert "COWBOY_NETWORK_POLICY=allow:allowed.test" in environment and "https_proxy=http://127.0.0.1:3128" in environment


def test_an_image_is_what_its_digest_names(market, tmp_path):
    """The right name, and another image: the digest decides, wherever the bytes come from."""
    other = Layout(tmp_path / "other")
    digest = other.image({"app": program(tmp_path)}, ["/app", "hello"])
    registry = Registry(other)
    sources = (f'registries = ["http://{registry.address}"]\ncache = {json.dumps(str(tmp_path / "cache"))}',)
    try:
        assert market.locally(market.container([], digest=digest), *sources)["result"] == "hello\n"
        asked = len(registry.asked)
        assert market.locally(market.container([], digest=digest), *sources)["result"] == "hello\n"
        assert len(registry.asked) == asked, "it is kept"
        wanted = market.digest
        registry.lies[wanted] = other.blob(digest).read_bytes()
        answer = market.locally(market.container(["hello"], digest=wanted), *sources)
        assert answer["result"] is None and f"blob {wanted} was changed" in answer["fault"], answer
        registry.lies = {wanted: market.layout.blob(wanted).read_bytes()}
        layer = market.layout.blobs_of(wanted)[1]
        registry.lies |= {blob: market.layout.blob(blob).read_bytes() for blob in market.layout.blobs_of(wanted)}
        registry.lies[layer] = registry.lies[layer].replace(b"hello", b"HELLO")
        answer = market.locally(market.container(["hello"], digest=wanted), *sources)
        assert answer["result"] is None and f"blob {layer} was changed" in answer["fault"], answer
    finally:
        registry.end()


@pytest.mark.skipif(RealRegistry.PROGRAM is None, reason="left out: no docker-registry here (Debian package: docker-registry)")
def test_a_real_registry(market, tmp_path):
    """An image that was pushed to a registry is pulled from it: by its name, and from the source that a job names."""
    registry = RealRegistry(tmp_path)
    sources = (f'registries = ["http://{registry.address}"]\ncache = {json.dumps(str(tmp_path / "cache"))}',)
    try:
        registry.push(market.layout, "program", market.digest)
        assert market.locally(market.container(["hello"]), *sources)["result"] == "hello\n"
    finally:
        registry.end()
    assert market.locally(market.container(["hello"]), *sources)["result"] == "hello\n", "it is kept"
    registry = RealRegistry(tmp_path / "registry")
    sources = (f'registries = ["http://{registry.address}"]\ncache = {json.dumps(str(tmp_path / "other"))}',)
    try:
        registry.push(market.layout, "team/tools", market.digest)
        named = market.container(["hello"], source=f"oci://{registry.address}/team/tools")
        assert market.locally(named, *sources)["result"] == "hello\n"
    finally:
        registry.end()
    gone = market.locally(named, sources[0].replace("/other", "/fresh"))
    assert gone["result"] is None and gone["fault"].startswith("something outside is missing: registry 127.0.0.1"), gone


def test_a_killed_runner_leaves_no_box(tmp_path):
    """C.5: SIGKILL while a program runs. No box is left behind, and the runner does the job after its restart."""
    with Market(tmp_path) as market:
        market.allow(market.digest)
        runner = market.runner(0, market.settings())
        market.runners_are(1)
        job = market.submit(market.container(["get", "/held", "allowed.test"], network={"allow": ["allowed.test"]}), account=5)
        until("the program", lambda: len(market.hosts.asked) == 1)
        state = tmp_path / "runner0/runner-state"
        (box,), groups = boxes(state)
        assert groups, "it runs"
        runner.kill()
        runner = market.runner(0, market.settings())
        until("the second run", lambda: len(market.hosts.asked) == 2)
        (_,), again = boxes(state)
        assert sorted(again) == sorted(groups), "the box of the first run is gone, and the second has its number"
        assert "an earlier run of this runner left containers" in runner.errors.read_text()
        market.hosts.release.set()
        done, member = market.ended(job)
        assert (result(done), member["fault"]) == ("allowed.test: 200 served\n", 0)
        until("the end of the box", lambda: boxes(state) == ([], []))


def test_two_at_once_and_no_third(tmp_path):
    """Boxes run at the same time as long as their sum is within what the runner gives; the next one waits."""
    with Market(tmp_path) as market:
        market.allow(market.digest)
        market.runner(0, market.settings())
        market.runners_are(1)
        meet = market.container(["get", "/meet", "allowed.test"], network={"allow": ["allowed.test"]})
        jobs = [market.submit(meet, account=account) for account in (5, 6)]
        for job in jobs:
            assert result(market.ended(job)[0]) == "allowed.test: 200 served\n", "each waited for the other"
        # Two have 160 of 224 MiB, which leaves no room for a third. Of the processors there is enough.
        held = market.container(["get", "/held", "allowed.test"], {**SMALL, "cpu_millicores": 100}, network={"allow": ["allowed.test"]})
        jobs = [market.submit(held, account=account) for account in (5, 6, 7)]
        runs = lambda: [path for _, path in market.hosts.asked].count("/held")
        until("two programs", lambda: runs() == 2)
        height = market.get("/height")["height"]
        until("some blocks", lambda: market.get("/height")["height"] > height + 10)
        assert (runs(), len(boxes(tmp_path / "runner0/runner-state")[0])) == (2, 2), "the third waits"
        market.hosts.release.set()
        for job in jobs:
            assert result(market.ended(job)[0]) == "allowed.test: 200 served\n"


def test_doctor_names_the_limits(market):
    """Decision 163: the kind is offered where every limit holds, and the doctor tests each."""
    folder = market.folder / "doctor"
    folder.mkdir()
    (folder / "runner.key").write_text(market.accounts[8][1])
    path = folder / "runner.toml"

    path.write_text(f'[node]\nurl = "{market.url}"\n' + market.settings())
    said = examined(market, path)
    assert said["is_right"], said
    for limit in ("capabilities", "network", "size of files", "number of processes", "processor time", "memory"):
        assert limit in said["says"]
    path.write_text(f'[node]\nurl = "{market.url}"\n' + market.settings().replace("memory_mib = 160", "memory_mib = 999999"))
    said = examined(market, path)
    assert not said["is_right"] and "lower them" in said["says"], said


def examined(market, path):
    """What `cowboy-runner doctor` says of containers."""
    done = subprocess.run(["cowboy-runner", "--json", "--config", path, "doctor"], executable=market.bin / "cowboyd", capture_output=True, text=True)
    return next(row for row in json.loads(done.stdout) if row["what"] == "container")
