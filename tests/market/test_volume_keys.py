"""Partitions that get new keys, and files that no folder can have, as people meet them: relays in processes of their own."""

import hashlib
import json
import signal
import subprocess

import pytest
from test_volumes import Storage, contents
from world import Refused, until

FIRST = (1 << 16) + 1
SILENT = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Keys(Storage):
    """Three relays, and a volume with files."""

    def __init__(self, folder, sizes, *options):
        super().__init__(folder)
        for number in range(1, 4):
            self.relay(number)
        self.relays_are(3)
        self.volume = self.run("volume", "create", "memory", "--quota", "200MiB", *options)["volume"]
        self.contents = self.files("local", sizes, seed=21)
        self.run("volume", "put", "memory", folder / "local", "notes/", *(options if "--key" in options else ()))

    def are_readable(self, *more, account=0):
        for path, expected in self.contents.items():
            assert self.fetched(self.volume, path, *more, account=account) == expected

    def standing(self):
        partition = self.run("volume", "info", "memory")["partitions"][0]["partition"]
        return self.run("call", "storage-manager", "get_partition", "--volume", self.volume, "--partition", partition)

    def kept(self):
        """The leaves of files that were sent and are not committed."""
        return list((self.folder / ".cowboy" / "uploads").glob("*/*.leaf"))

    def begin(self, *arguments, **streams):
        command = ["cowboy", "--json", "--rpc-url", self.url, "--private-key", self.accounts[0][1], *map(str, arguments)]
        return subprocess.Popen(command, executable=self.bin / "cowboyd", cwd=self.folder, **streams)


def test_a_partition_gets_its_next_key(tmp_path):
    """Decision 603: the owner rewrites a partition in one commit, readers get the new key, revert brings the old one back, and no version is used twice."""
    with Keys(tmp_path, [0, 1, 200_000]) as world:
        folder = tmp_path / ".cowboy" / "partitions"
        assert [path.name.split("-")[-1] for path in folder.glob("*.key")] == [f"{FIRST}.key"]
        with pytest.raises(Refused, match="may not give new keys"):
            world.run("volume", "rekey", world.volume, "notes", account=5)
        (done,) = world.run("volume", "rekey", "memory", "notes")
        assert (done["files"], done["key_version"], done["resumed"], done["left_behind"]) == (3, FIRST + 1, 0, [])
        found = world.standing()
        assert (found["root"]["key_version"], found["previous"]["key_version"], found["sequence"]) == (FIRST + 1, FIRST, 2)
        world.are_readable()
        exported = world.run("volume", "key", "export", "memory", "keys.json")
        assert exported["keys"] == 2, "that of the root before, too"
        assert {key["version"] for key in json.loads((tmp_path / "keys.json").read_text())["keys"]} == {FIRST, FIRST + 1}

        # A dry run pays for no key, and says so; a reader has the one that stands.
        for path in folder.glob("*.key"):
            path.unlink()
        with pytest.raises(Refused, match="a dry run pays nothing"):
            world.run("volume", "sync", "memory", tmp_path / "local", "notes/", "--dry-run")
        reads = world.run("volume", "grant", "memory", "notes", world.accounts[5][0], "--mode", "r")["capability"]
        world.are_readable("--capability", reads, account=5)
        assert [path.name.split("-")[-1] for path in folder.glob("*.key")] == [f"{FIRST + 1}.key"]
        assert world.run("volume", "sync", "memory", tmp_path / "local", "notes/", "--dry-run")["unchanged"] == 3

        world.run("volume", "revert", "memory", "notes")
        world.are_readable()
        assert world.standing()["root"]["key_version"] == FIRST
        (done,) = world.run("volume", "rekey", "memory")
        assert (done["partition"], done["key_version"]) == ("notes", FIRST + 2), "its readers know the one before"
        world.are_readable("--capability", reads, account=5)


def test_an_owner_changes_the_key_that_it_keeps(tmp_path):
    """A rekey that was killed continues; the old file opens nothing any more, until revert."""
    with Keys(tmp_path, [100_000, 200_000, 30_000_000], "--key", "old.key") as world:
        with pytest.raises(Refused, match="volume_exists"):
            world.run("volume", "create", "memory", "--quota", "1MiB", "--key", "second.key")
        assert not (tmp_path / "second.key").exists(), "no key is made where no volume is"
        for wrong, reason in [
            (["--key", "old.key"], "name that file with --new-key"),
            (["--key", "old.key", "--new-key", "old.key"], "names the key that the partition has"),
            (["--key", "other.key", "--new-key", "new.key"], "other.key"),
        ]:
            with pytest.raises(Refused, match=reason):
                world.run("volume", "rekey", "memory", "notes", *wrong)
        rekey = ["volume", "rekey", "memory", "notes", "--key", "old.key", "--new-key", "new.key"]
        killed = world.begin(*rekey, **SILENT)
        until("two files are sent", lambda: len(world.kept()) >= 2 or killed.poll() is not None)
        killed.kill()
        killed.wait()
        assert len(world.kept()) == 2, "the third one is on its way"
        world.are_readable("--key", "old.key")

        (done,) = world.run(*rekey)
        assert (done["files"], done["resumed"], done["key_version"]) == (3, 2, FIRST + 1)
        assert world.kept() == []
        world.are_readable("--key", "new.key")
        with pytest.raises(Refused, match="does not open what partition notes has"):
            world.run("volume", "ls", "memory", "notes", "--key", "old.key")
        world.run("volume", "revert", "memory", "notes")
        world.are_readable("--key", "old.key")


def test_a_writer_that_comes_too_late_commits_nothing(tmp_path):
    """What was encrypted with the key before is not committed beside files under the new one."""
    with Keys(tmp_path, [10], "--key", "old.key") as world:
        late = tmp_path / "late"
        late.mkdir()
        (late / "a.bin").write_bytes(b"a" * 100_000)
        (late / "b.bin").write_bytes(b"b" * 30_000_000)
        put = ["volume", "put", "memory", late, "notes/late", "--key"]
        writer = world.begin(*put, "old.key", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until("its first file is sent", lambda: world.kept() or writer.poll() is not None)
        # It stands still while the partition gets its new key.
        writer.send_signal(signal.SIGSTOP)
        assert len(world.kept()) == 1
        world.run("volume", "rekey", "memory", "notes", "--key", "old.key", "--new-key", "new.key")
        writer.send_signal(signal.SIGCONT)
        _, said = writer.communicate()
        assert writer.returncode == 1 and "another key by now" in said, said
        world.are_readable("--key", "new.key")
        assert len(world.run("volume", "ls", "memory", "notes", "--key", "new.key")) == 1
        assert world.run(*put, "new.key")["files"] == 2, "once more, with the key that stands"


def test_one_bad_file_stops_no_other(tmp_path):
    """Decision 604: a path is a file or a directory. What cannot go stays where it is and is named; the rest goes, and the command fails at its end."""
    with Keys(tmp_path, [5], "--public") as world:

        def write(folder, **files):
            for path, content in files.items():
                place = tmp_path / folder / path.replace("_", "/")
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(content)
            return tmp_path / folder

        def paths():
            return [row["path"].removeprefix("data/") for row in world.run("volume", "ls", "memory", "data")]

        first = write("first", a="a", d_e="e")
        (first / "b c").write_text("no volume takes the name")
        with pytest.raises(Refused, match="1 file left in place: .*b c"):
            world.run("volume", "put", "memory", first, "data/")
        assert paths() == ["a", "d/e"]

        # `a` is a file and `d` a directory, and neither becomes the other beside what is there.
        second = write("second", a_x="x", d="d", f="f")
        for command in (["put"], ["sync"]):
            with pytest.raises(Refused, match="2 files left in place: .*one would be a directory of the other"):
                world.run("volume", *command, "memory", second, "data/")
            assert paths() == ["a", "d/e", "f"]
        done = world.run("volume", "sync", "memory", second, "data/", "--delete")
        assert (sorted(done["removed"]), done["refused"]) == (["data/a", "data/d/e"], [])
        assert paths() == ["a/x", "d", "f"]

        # The same into a folder.
        copy = write("copy", a="mine", d_e="mine")
        with pytest.raises(Refused, match="2 files left in place: .*without --delete"):
            world.run("volume", "sync", "memory", "data/", copy)
        assert contents(copy) == {"a": "mine", "d/e": "mine", "f": "f"}
        (copy / "d" / "link").symlink_to("/etc/hostname")
        with pytest.raises(Refused, match="1 file left in place: .*never removed"):
            world.run("volume", "sync", "memory", "data/", copy, "--delete")
        assert (copy / "d" / "link").is_symlink() and contents(copy)["a/x"] == "x"
        (copy / "d" / "link").unlink()
        world.run("volume", "sync", "memory", "data/", copy, "--delete")
        assert contents(copy) == {"a/x": "x", "d": "d", "f": "f"}
        fetched = world.run("volume", "get", "memory", "data", tmp_path / "fetched-data")
        assert fetched["refused"] == [] and contents(tmp_path / "fetched-data") == contents(copy)
        assert hashlib.sha256((tmp_path / "local" / "file-0.bin").read_bytes()).hexdigest() == world.contents["notes/file-0.bin"]
