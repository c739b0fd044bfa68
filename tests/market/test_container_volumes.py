"""Volumes and secrets of containers: what a runner fetches, what it keeps of what a program wrote, and what never leaves it (decisions 166, 550 to 552)."""

import json

import pytest
from oci import Layout, program
from test_containers import SMALL, Market, missing
from test_containers_page import block
from world import Refused, result, until

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"left out: {missing()}")

VALUE = "sk-very-secret-value"
OWNER, RUNNER, OTHER = 0, 1, 5


def mount(mode, partition="notes", max_bytes=1 << 20, **more):
    return {"volume": "memory", "partition": partition, "mode": mode, **({} if mode == "r" else {"max_bytes": max_bytes}), **more}


class Storage(Market):
    """A market with relays and proxies, a runner that mounts volumes, and a volume with a file in it."""

    def __init__(self, folder, *keys, volumes_mib=64):
        super().__init__(folder)
        self.allow(self.digest)
        self.run("volume", "create", "memory", "--quota", "20MiB", *keys)
        self.put("one.txt", "one", "notes/a/")
        self.process = self.runner(RUNNER, self.settings() + f"volumes_mib = {volumes_mib}\n")
        self.runners_are(1)

    def put(self, name, text, to):
        (self.folder / name).write_text(text)
        self.run("volume", "put", "memory", self.folder / name, to)

    def content(self, path):
        self.run("volume", "get", "memory", path, self.folder / "fetched")
        return (self.folder / "fetched").read_text()

    def paths(self, partition="notes"):
        return [row["path"] for row in self.run("volume", "ls", "memory", partition)]

    def job_of(self, command, *mounts, secrets=None, **more):
        job = self.container(command, **more)
        job["job_type"]["volumes"] = list(mounts)
        return {**job, **({"secrets": secrets} if secrets else {})}

    def done(self, command, *mounts, **more):
        """The result of a job, or the number of its fault."""
        job, member = self.ended(self.submit(self.job_of(command, *mounts, **more), account=OWNER))
        return result(job) if member["fault"] == 0 else member["fault"]

    def left(self):
        return list((self.folder / f"runner{RUNNER}/runner-state/volumes").iterdir())


@pytest.mark.parametrize("keys", [["--public"], []], ids=["public", "private"])
def test_a_program_reads_and_writes_a_volume(tmp_path, keys):
    """C.7: files are fetched before the program starts, and kept before its result is given; a program that fails keeps nothing."""
    with Storage(tmp_path, *keys) as market:
        memory = "/mnt/volumes/memory"
        assert market.done(["list", memory], mount("r")) == f"{memory}/a/one.txt 3\n"
        assert market.done(["write", f"{memory}/a/one.txt", "two"], mount("r")) == "read-only filesystem or storage medium\n"
        assert market.done(["env"], mount("r"), output="stdout").find(f"COWBOY_VOLUME_MOUNTS={memory}:r\n") >= 0
        # Writing: a new file in a new folder, and a file that was there.
        wrote = market.done(["write", f"{memory}/b/c/two.txt", "two", f"{memory}/a/one.txt", "changed"], mount("rw"))
        assert wrote == "written\nwritten\n"
        assert market.paths() == ["notes/a/one.txt", "notes/b/c/two.txt"]
        assert (market.content("notes/b/c/two.txt"), market.content("notes/a/one.txt")) == ("two", "changed")
        # The right to write shows nothing, here of a partition that is not there yet.
        wrote = market.done(["read", f"{memory}/a/one.txt"], mount("w"))
        assert wrote == "entity not found\n"
        assert market.done(["write", "/mnt/volumes/box/x", "in it"], mount("w", "drop", **{"as": "box"})) == "written\n"
        assert market.content("drop/x") == "in it"
        # As the page has it.
        job = json.loads(block("json", 0, "Volumes").replace("words@sha256:DIGEST", f"program@{market.digest}"))
        del job["job_type"]["class"]
        job["job_type"] |= {"resources": SMALL, "command": ["write", "/mnt/volumes/reports/today", "a report"]}
        done, member = market.ended(market.submit(job, account=OWNER))
        assert (result(done), member["fault"], market.content("reports/today")) == ("written\n", 0, "a report")
        # What does not fit, and what no volume takes, is a fault; nothing of it is kept.
        assert market.done(["fill", f"{memory}/large", str(2 << 20)], mount("rw", max_bytes=1 << 20)) == 3
        assert market.done(["write", f"{memory}/a b", "x", f"{memory}/fine", "x"], mount("rw")) == 1
        assert market.paths() == ["notes/a/one.txt", "notes/b/c/two.txt"]
        until("nothing is left", lambda: market.left() == [])


def test_two_writers_meet(tmp_path):
    """What somebody else commits while the program runs stays, and so does what the program wrote."""
    with Storage(tmp_path, "--public") as market:
        held = market.job_of(["fetched", "/held", "allowed.test", "/mnt/volumes/memory/page"], mount("rw"), network={"allow": ["allowed.test"]})
        job = market.submit(held, account=OWNER)
        until("the program", lambda: len(market.hosts.asked) == 1)
        market.put("meanwhile.txt", "meanwhile", "notes/")
        market.hosts.release.set()
        done, member = market.ended(job)
        assert (result(done), member["fault"]) == ("written\n", 0)
        assert market.paths() == ["notes/a/one.txt", "notes/meanwhile.txt", "notes/page"]
        assert (market.content("notes/page"), market.content("notes/meanwhile.txt")) == ("200 served", "meanwhile")


def test_secrets_of_containers(tmp_path):
    """A-234, A-241: a program finds a secret in its environment or in a file, and neither its result nor the runner's log has it."""
    with Storage(tmp_path, "--public") as market:
        (tmp_path / "value.txt").write_text(VALUE)
        keep = lambda name, *jobs: market.run("secret", "set", name, "--value-file", "value.txt", "--jobs", *jobs, "--any-runner")
        keep("KEY", "container")
        keep("WEB_KEY", "http", "--hosts", "example.com")
        keep("API_KEY", "container")
        keep("SIGNING_KEY", "container")
        of_page = json.loads(block("json", 0, "Secrets"))["secrets"]
        assert market.done(["same", "/run/secrets/SIGNING_KEY", "API_KEY"], secrets=of_page) == "true\n"
        both = [{"name": "KEY"}, {"name": "KEY", "as": "FILE", "in": "file"}]
        assert market.done(["same", "/run/secrets/FILE", "KEY"], secrets=both) == "true\n", "one release, in two places"
        assert market.done(["env"], secrets=["KEY"]) == 1, "the result has the value"
        assert market.done(["read", "/run/secrets/KEY"], secrets=[{"name": "KEY", "in": "file"}]) == 1
        assert market.done(["tell", "KEY"], secrets=["KEY"]) == 1, "its message has the value"
        assert VALUE not in market.process.errors.read_text()
        with pytest.raises(Refused, match="release_refused"):
            market.done(["env"], secrets=["WEB_KEY"])
        with pytest.raises(Refused, match="secret_not_found"):
            market.submit(market.job_of(["env"], secrets=["KEY"]), account=OTHER)


def test_what_is_no_result_keeps_nothing(tmp_path):
    """Decision 551: who writes files and gives no result has written none, whatever the result lacks; and no part of a secret is in the log."""
    with Storage(tmp_path, "--public") as market:
        long = "".join(f"{number:04}-" for number in range(160))
        (tmp_path / "value.txt").write_text(long)
        market.run("secret", "set", "KEY", "--value-file", "value.txt", "--jobs", "container", "--any-runner")
        file = "/mnt/volumes/memory/file"
        assert market.done(["leak", file, "KEY"], mount("rw"), secrets=["KEY"]) == 1, "the result has the value"
        assert market.done(["long", file, "5000"], mount("rw")) == 3, "it is too long"
        # Five thousand bytes take a few more as shards.
        second = mount("w", "other", max_bytes=5_000, **{"as": "second"})
        assert market.done(["write", file, "x", "/mnt/volumes/second/file", "x" * 5_000], mount("rw"), second) == 3, "the second does not fit"
        assert market.done(["tell", "KEY"], secrets=["KEY"]) == 1
        log = market.process.errors.read_text()
        assert "contains the value of the secret KEY" in log and long[-100:] not in log
        assert market.paths() == ["notes/a/one.txt"]


def test_empty_files_take_room(tmp_path):
    """A path of 512 bytes has 250 folders, and each takes a block of the runner's disk, whoever wrote the volume."""
    with Storage(tmp_path, "--public", volumes_mib=1) as market:
        for number in range(8):
            deep = tmp_path / "deep" / str(number) / "/".join("d" * 240)
            deep.mkdir(parents=True)
            (deep / "empty").touch()
        assert market.done(["hello"], mount("r")) == "hello\n"
        market.run("volume", "put", "memory", tmp_path / "deep", "notes/deep")
        assert market.done(["hello"], mount("r")) == 2
        assert "more than the 1048576 bytes that this runner has for them" in market.process.errors.read_text()
        until("nothing is left", lambda: market.left() == [])


def test_an_image_in_a_volume(tmp_path):
    """C.2: an image of a public volume, whoever owns it; its digest decides."""
    with Storage(tmp_path, "--public") as market:
        other = Layout(tmp_path / "other")
        digest = other.image({"app": program(tmp_path)}, ["/app", "hello"])
        market.allow(digest)
        market.run("volume", "put", "memory", tmp_path / "other", "images/tools")
        volume = market.run("volume", "info", "memory")["volume_id"].removeprefix("0x")
        stored = lambda **more: market.container([], digest=digest, **more)
        done, member = market.ended(market.submit(stored(source=f"volume:{volume}/images/tools"), account=OTHER))
        assert (result(done), member["fault"]) == ("hello\n", 0)
        missing = Layout(tmp_path / "missing").image({"app": program(tmp_path)}, ["/app", "env"])
        market.allow(missing)
        job = market.container([], digest=missing, source=f"volume:{volume}/images/tools")
        done, member = market.ended(market.submit(job, account=OTHER))
        assert (done["status"], member["fault"]) == ("failed", 2), "it is not there"
        log = market.process.errors.read_text()
        assert json.dumps(f"blob {missing} is missing")[1:-1] in log, log[-2000:]
