"""Volumes as people keep them: relays in processes of their own, files that survive the loss of some, rights that end."""

import hashlib
import json
import os
import random
import re
import subprocess

import pytest
from world import Refused, World, fetch, is_refused, until

CBY = 10**9
RELAY = "0x000000000000000000000000000000000000000b"


class Storage(World):
    """A devnet whose relays are processes of their own, each with the key of an account."""

    def __init__(self, folder, *parameters):
        usual = ["volumes.alive=60", "volumes.fill=300", "volumes.retry=5", "volumes.proof_period=40", "volumes.proof_window=20"]
        named = {row.split("=")[0] for row in parameters}
        rows = [row for row in usual if row.split("=")[0] not in named] + [*parameters]
        options = [option for row in rows for option in ("--parameter", row)]
        super().__init__(folder, "--block-time", "200ms", "--runners", "0", "--no-gateway", "--no-demo", "--relays", "0", *options)
        self.relays = {}

    def relay(self, number):
        """A relay with the key of an account. Its folder stays, so that it can be started again."""
        folder = self.folder / f"relay{number}"
        if not folder.exists():
            folder.mkdir()
            (folder / "relay.key").write_text(self.accounts[number][1])
            (folder / "relay.toml").write_text(
                f'node = "{self.url}"\ntrust_node = true\nkey_file = "{folder / "relay.key"}"\nstate = "{folder / "state"}"\n'
                f'listen = "127.0.0.1:0"\nendpoint = "localhost"\nstake_cby = 5100\nregion = "region-{number % 3}"\ncapacity_gib = 1\nmetrics = "127.0.0.1:0"\n'
            )
        command = [self.bin / "cowboyd", "--config", folder / "relay.toml"]
        process = self.start("cowboy-relay", command, RUST_LOG="info,cowboy_relay=debug")
        self.relays[self.accounts[number][0]] = process
        return process

    def relays_are(self, count):
        def up():
            return [relay["is_healthy"] for relay in self.run("relay", "list")].count(True) == count

        until(f"{count} relays that are up", up)

    def holders(self, volume):
        return [slot["relay"] if slot["is_serving"] else None for slot in self.run("volume", "info", volume)["slots"]]

    def events(self):
        return [log["name"] for log in self.get(f"/actor/{RELAY}/logs?order=desc&limit=100")["logs"]]

    def files(self, name, sizes, seed):
        """Local files with these lengths; answers their hashes by path."""
        folder = self.folder / name
        folder.mkdir()
        found, source = {}, random.Random(seed)
        for number, size in enumerate(sizes):
            content = source.randbytes(size)
            (folder / f"file-{number}.bin").write_bytes(content)
            found[f"notes/file-{number}.bin"] = hashlib.sha256(content).hexdigest()
        return found

    def fetched(self, volume, path, *more, account=0):
        target = self.folder / "fetched"
        self.run("volume", "get", volume, path, target, *more, account=account)
        return hashlib.sha256(target.read_bytes()).hexdigest()


def test_a_volume_survives_the_loss_of_relays(tmp_path):
    """A-181, A-184: with 4+2, any two relays may go; others rebuild what they had, and then two more may go. Relays prove what they keep."""
    sizes = [0, 1, 65_535, 65_536, 65_537, 4 * 65_536 - 1, 4 * 65_536 + 1, 1_500_000]
    with Storage(tmp_path) as world:
        for number in range(1, 9):
            world.relay(number)
        world.relays_are(8)
        made = world.run("volume", "create", "memory", "--quota", "100MiB", "--public")
        assert (made["data"], made["parity"], made["keys"]) == (4, 2, "public")
        files = world.files("local", sizes, seed=7)
        pages = re.findall(r"http://127\.0\.0\.1:\d+/metrics", (tmp_path / "cowboy-relay.err").read_text())
        assert len(pages) == 8
        put = world.run("volume", "put", "memory", tmp_path / "local", "notes/")
        assert (put["files"], [row["fee"] for row in put["commits"]]) == (len(sizes), [put["fee"]]) and put["fee"] > 0
        row = world.run("volume", "ls", "memory", "notes")[-1]
        expected = f"0x011e20{row['hash'][2:]}{row['size']:016x}{made['volume'][2:42]}01"
        assert world.run("volume", "ref", "memory", row["path"])["ref"] == expected
        for path, expected in files.items():
            assert world.fetched("memory", path) == expected
        tree = world.run("volume", "get", "memory", "notes", tmp_path / "tree")
        assert len(tree["files"]) == len(files)
        for path, expected in files.items():
            assert hashlib.sha256((tmp_path / "tree" / path.removeprefix("notes/")).read_bytes()).hexdigest() == expected

        first = world.holders("memory")
        assert len(set(first)) == 6 and None not in first
        counted = re.compile(r'^cowboy_relay_requests_total\{request="PutShard",outcome="done"\} (\d+)$', re.MULTILINE)
        counts = [sum(map(int, counted.findall(fetch(page).decode()))) for page in pages]
        assert sorted(counts) == [0, 0, *[len(sizes)] * 6], "each of six relays has a shard of each file"
        gone = first[:2]
        for address in gone:
            world.relays[address].kill()
        for path, expected in files.items():
            assert world.fetched("memory", path) == expected, "two relays are gone"

        def is_whole():
            holders = world.holders("memory")
            return None not in holders and not set(holders) & set(gone) and holders

        second = until("the slots are rebuilt by others", is_whole)
        assert "slot.filled" in world.events()
        for address in second[2:4]:
            world.relays[address].kill()
        for path, expected in files.items():
            assert world.fetched("memory", path) == expected, "four of eight relays are gone, two of them were replaced"
        until("a proof", lambda: "proof.given" in world.events())
        dead = set(gone) | set(second[2:4])
        there = [relay for relay in world.run("relay", "list") if relay["address"] not in dead]
        assert len(there) == 4 and all(relay["misses"] == 0 for relay in there), "who is there proves what it has"

        # One more is too many, and it is said by name.
        world.relays[second[4]].kill()
        with pytest.raises(Refused, match=r"needs 4 relays, and 3 gave it: .*slot"):
            world.fetched("memory", "notes/file-7.bin")


def test_a_relay_comes_back(tmp_path):
    """A relay that was killed has what it had, and fetches what was written meanwhile."""
    with Storage(tmp_path, "volumes.alive=2000") as world:
        for number in range(1, 4):
            world.relay(number)
        world.relays_are(3)
        world.run("volume", "create", "memory", "--quota", "20MiB", "--public", "--code", "1+2")
        files = world.files("local", [300_000, 5], seed=8)
        world.run("volume", "put", "memory", tmp_path / "local", "notes/")
        away = world.holders("memory")[2]
        world.relays[away].kill()
        (tmp_path / "more.bin").write_bytes(b"more" * 50_000)
        world.run("volume", "put", "memory", tmp_path / "more.bin", "notes/")
        partition = world.run("volume", "ls", "memory")[0]["partition"]

        def behind():
            volume = world.run("volume", "info", "memory")["volume_id"]
            view = world.run("call", "storage-manager", "get_partition", "--volume", volume, "--partition", partition)
            return view["root"]["behind"]

        assert behind() == 1 << 2
        number = next(number for number, (address, _) in enumerate(world.accounts) if address == away)
        world.relay(number)
        until("it has everything", lambda: behind() == 0)
        for address in world.holders("memory")[:2]:
            world.relays[address].kill()
        expected = hashlib.sha256(b"more" * 50_000).hexdigest()
        assert world.fetched("memory", "notes/more.bin") == expected, "from the one that was away"
        assert {world.fetched("memory", path) for path in files} == set(files.values())


def test_a_partition_has_its_readers_and_writers(tmp_path):
    """A-182, A-243: the committee makes the keys; another account reads and writes as far as its capability goes, and no longer than it holds."""
    with Storage(tmp_path) as world:
        for number in range(1, 4):
            world.relay(number)
        world.relays_are(3)
        made = world.run("volume", "create", "memory", "--quota", "20MiB")
        assert (made["keys"], made["data"], made["parity"]) == ("committee", 2, 1)
        volume = made["volume"]
        (tmp_path / "diary.txt").write_text("nobody else reads this\n")
        world.run("volume", "put", "memory", tmp_path / "diary.txt", "notes/")
        stored = b"".join(path.read_bytes() for path in tmp_path.glob("relay*/state/volumes/*/*") if path.is_file())
        assert b"nobody else" not in stored and b"diary" not in stored, "relays learn neither content nor names"
        expected = hashlib.sha256((tmp_path / "diary.txt").read_bytes()).hexdigest()
        assert world.fetched("memory", "notes/diary.txt") == expected

        with pytest.raises(Refused, match="may not open the volume: the volume belongs to"):
            world.fetched(volume, "notes/diary.txt", account=5)
        holder = world.accounts[5][0]

        def grant(mode, max_bytes):
            return world.run("volume", "grant", "memory", "notes", holder, "--mode", mode, "--max-bytes", max_bytes)["capability"]

        reads, writes = grant("r", "0"), grant("rw", "1MiB")
        assert world.fetched(volume, "notes/diary.txt", "--capability", reads, account=5) == expected
        (tmp_path / "reply.txt").write_text("a reply\n")
        with pytest.raises(Refused, match="may not write to the volume, which belongs to"):
            world.run("volume", "put", volume, tmp_path / "reply.txt", "notes/", "--capability", reads, account=5)
        world.run("volume", "put", volume, tmp_path / "reply.txt", "notes/", "--capability", writes, account=5)
        listed = world.run("volume", "ls", "memory", "notes")
        assert [row["path"] for row in listed] == ["notes/diary.txt", "notes/reply.txt"]
        with pytest.raises(Refused, match="may not delete files of the volume, which belongs to"):
            world.run("volume", "rm", volume, "notes/diary.txt", "--capability", writes, account=5)
        (tmp_path / "large.bin").write_bytes(bytes(2_000_000))
        with pytest.raises(Refused, match="does not cover as many bytes"):
            world.run("volume", "put", volume, tmp_path / "large.bin", "notes/", "--capability", writes, account=5)
        with pytest.raises(Refused, match="capability_refused"):
            world.run("volume", "put", volume, tmp_path / "reply.txt", "other/", "--capability", writes, account=5)

        world.run("volume", "revoke", reads)
        with pytest.raises(Refused, match="may not open the volume by capability"):
            world.fetched(volume, "notes/diary.txt", "--capability", reads, account=5)

        # Two writers at once: whoever is second merges.
        assert world.run("volume", "rm", "memory", "notes/reply.txt")["fee"] > 0
        assert [row["path"] for row in world.run("volume", "ls", "memory", "notes")] == ["notes/diary.txt"]
        world.run("volume", "revert", "memory", "notes")
        assert len(world.run("volume", "ls", "memory", "notes")) == 2
        world.run("volume", "delete", "memory")
        with pytest.raises(Refused, match="was deleted"):
            world.fetched("memory", "notes/diary.txt")
        world.run("volume", "undelete", "memory")
        assert world.fetched("memory", "notes/diary.txt") == expected


def contents(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()}


def test_a_folder_and_a_directory_are_synced(tmp_path):
    """`sync` copies what changed, in one commit; removes what the source lacks where that is said; and leaves links alone."""
    with Storage(tmp_path) as world:
        for number in range(1, 4):
            world.relay(number)
        world.relays_are(3)
        world.run("volume", "create", "memory", "--quota", "20MiB", "--public")
        notes, copy = tmp_path / "notes", tmp_path / "copy"
        (notes / "2026").mkdir(parents=True)
        for name, content in [("a.txt", "a"), ("b.txt", "b"), ("2026/c.txt", "c")]:
            (notes / name).write_text(content)
        (notes / "link").symlink_to("/etc/hostname")

        def sync(*arguments):
            done = world.run("volume", "sync", "memory", *arguments)
            return [row["path"] for row in done["copied"]], done["removed"], done["unchanged"], len(done["commits"])

        everything = ["notes/2026/c.txt", "notes/a.txt", "notes/b.txt"]
        assert sync(notes, "notes/", "--dry-run") == (everything, [], 0, 0)
        assert world.run("volume", "ls", "memory") == [], "a dry run does nothing"
        assert sync(notes, "notes/") == (everything, [], 0, 1)
        assert sync(notes, "notes/") == ([], [], 3, 0)
        (notes / "a.txt").write_text("A")
        (notes / "b.txt").unlink()
        assert sync(notes, "notes/") == (["notes/a.txt"], [], 1, 1)
        assert sync(notes, "notes/", "--delete", "--dry-run") == ([], ["notes/b.txt"], 2, 0)
        assert len(world.run("volume", "ls", "memory", "notes")) == 3
        assert sync(notes, "notes/", "--delete") == ([], ["notes/b.txt"], 2, 1)
        assert [row["path"] for row in world.run("volume", "ls", "memory", "notes")] == ["notes/2026/c.txt", "notes/a.txt"]

        # The other way. What is no file stays, with what would lie behind it.
        assert sync("notes/", copy) == (["notes/2026/c.txt", "notes/a.txt"], [], 0, 0)
        assert contents(copy) == {"2026/c.txt": "c", "a.txt": "A"}
        (copy / "a.txt").write_text("changed")
        (copy / "extra").write_text("e")
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "c.txt").write_text("kept")
        (copy / "2026" / "c.txt").unlink()
        (copy / "2026").rmdir()
        (copy / "2026").symlink_to(outside)
        done = world.run("volume", "sync", "memory", "notes/", copy)
        assert ([row["path"] for row in done["copied"]], done["removed"], done["left_out"]) == (["notes/a.txt"], [], [f"{copy}/2026/c.txt"])
        assert contents(copy) == {"a.txt": "A", "extra": "e"} and contents(outside) == {"c.txt": "kept"}
        assert sync("notes/", copy, "--delete")[1] == [f"{copy}/extra"]
        assert contents(copy) == {"a.txt": "A"} and contents(outside) == {"c.txt": "kept"}
        assert sync("notes/2026", copy / "of-2026")[0] == ["notes/2026/c.txt"]
        with pytest.raises(Refused, match="is not there"):
            sync("notes/2027", copy, "--delete")
        with pytest.raises(Refused, match="one of .* has to be a folder"):
            sync("notes/", "copy")
        assert contents(copy) == {"a.txt": "A", "of-2026/c.txt": "c"}


def test_a_put_that_was_killed_continues(tmp_path):
    """What relays have already is not sent again, as long as it did not change; every other file gets a write id of its own."""
    with Storage(tmp_path) as world:
        for number in range(1, 4):
            world.relay(number)
        world.relays_are(3)
        world.run("volume", "create", "memory", "--quota", "100MiB", "--key", "volume.key")
        files = world.files("local", [100_000, 200_000, 30_000_000], seed=11)
        journal = tmp_path / ".cowboy" / "uploads"

        def kept():
            return {path.name: path.read_bytes() for path in journal.glob("*/*.leaf")}

        arguments = ["--rpc-url", world.url, "--private-key", world.accounts[0][1]]
        put = ["volume", "put", "memory", tmp_path / "local", "notes/", "--key", "volume.key"]
        command = ["cowboy", *map(str, [*arguments, *put])]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        killed = subprocess.Popen(command, executable=world.bin / "cowboyd", cwd=tmp_path, **silent)
        until("two files are sent", lambda: len(kept()) >= 2 or killed.poll() is not None)
        killed.kill()
        killed.wait()
        before = kept()
        assert len(before) == 2, "the third one is on its way"
        assert all(path.stat().st_mode & 0o777 == 0o600 for path in journal.glob("*/*.leaf"))

        # One of the two changes, with its old time and length.
        changed = tmp_path / "local" / "file-1.bin"
        known, content = changed.stat(), random.Random(12).randbytes(200_000)
        changed.write_bytes(content)
        os.utime(changed, ns=(known.st_atime_ns, known.st_mtime_ns))
        files["notes/file-1.bin"] = hashlib.sha256(content).hexdigest()
        done = world.run(*put)
        assert (done["files"], done["resumed"], len(done["commits"])) == (3, 1, 1)
        assert kept() == {}, "what is committed is forgotten"
        for path, expected in files.items():
            assert world.fetched("memory", path, "--key", "volume.key") == expected

        # Leaves that come back: the one of the changed file does not stand for it.
        folder = next(iter(journal.glob("*")))
        for name, leaf in before.items():
            (folder / name).write_bytes(leaf)
        assert world.run(*put)["resumed"] == 1
        for path, expected in files.items():
            assert world.fetched("memory", path, "--key", "volume.key") == expected


def test_a_volume_is_backed_up_and_handed_over(tmp_path):
    """The keys of a committee are exported and taken over; the quota is raised; the new owner reads with keys of its own."""
    with Storage(tmp_path) as world:
        for number in range(1, 4):
            world.relay(number)
        world.relays_are(3)
        volume = world.run("volume", "create", "memory", "--quota", "20MiB")["volume"]
        (tmp_path / "a.txt").write_text("a")
        world.run("volume", "put", "memory", tmp_path / "a.txt", "notes/")
        exported = world.run("volume", "key", "export", "memory", "keys.json")
        assert (exported["keys"], exported["missing"]) == (1, [])
        backup = tmp_path / "keys.json"
        assert backup.stat().st_mode & 0o777 == 0o600
        with pytest.raises(Refused, match="keys.json"):
            world.run("volume", "key", "export", "memory", "keys.json")

        (kept,) = (tmp_path / ".cowboy" / "partitions").glob("*.key")
        key = kept.read_bytes()
        kept.unlink()
        with pytest.raises(Refused, match="has no key of the volume's partitions"):
            world.run("volume", "key", "export", "memory", "more.json")
        text = backup.read_text()
        flipped = json.loads(text)
        flipped["keys"][0]["version"] += 1
        (tmp_path / "wrong.json").write_text(json.dumps(flipped))
        with pytest.raises(Refused, match="has a wrong key of partition"):
            world.run("volume", "key", "import", "memory", "wrong.json")
        assert not kept.exists()
        assert world.run("volume", "key", "import", "memory", "keys.json")["keys"] == 1
        assert kept.read_bytes() == key

        with pytest.raises(Refused, match="volume_escrow|escrow"):
            world.run("volume", "set-quota", "memory", "900MiB")
        world.run("volume", "set-quota", "memory", "40MiB", "--amount", "1cby")
        assert world.run("volume", "info", "memory")["quota"] == 40 << 20
        heir = world.accounts[5][0]
        world.run("volume", "transfer", "memory", heir)
        assert world.run("volume", "info", volume)["owner"] == heir
        words = "may not open the volume: the volume belongs to"
        until("relays hear of it with a block", lambda: is_refused(words, lambda: world.fetched(volume, "notes/a.txt")))
        assert world.fetched(volume, "notes/a.txt", account=5) == hashlib.sha256(b"a").hexdigest()
        # Decision 615: what the heir writes into a new or a rewritten partition is under keys that the owner before could not have had released.
        later = (2 << 16) + 1
        world.run("volume", "put", volume, tmp_path / "a.txt", "diary/", account=5)
        assert [path for path in (tmp_path / ".cowboy" / "partitions").glob("*.key") if path.name.endswith(f"-{later}.key")]
        (done,) = world.run("volume", "rekey", volume, "notes", account=5)
        assert done["key_version"] == later
        assert {world.fetched(volume, path, account=5) for path in ("notes/a.txt", "diary/a.txt")} == {hashlib.sha256(b"a").hexdigest()}


def test_relays_that_lie_are_found(tmp_path):
    """A relay whose disk was changed serves nothing false, misses its proofs, and is made to answer on the chain or pays."""
    with Storage(tmp_path) as world:
        for number in range(1, 4):
            world.relay(number)
        world.relays_are(3)
        world.run("volume", "create", "memory", "--quota", "20MiB", "--public", "--code", "2+1")
        files = world.files("local", [600_000], seed=9)
        world.run("volume", "put", "memory", tmp_path / "local", "notes/")
        holders = world.holders("memory")
        number = next(number for number, (address, _) in enumerate(world.accounts) if address == holders[0])
        shards = [path for path in (tmp_path / f"relay{number}" / "state" / "volumes").glob("*/shard-*") if path.suffix != ".bao"]
        assert len(shards) == 1
        content = bytearray(shards[0].read_bytes())
        for place in range(0, len(content), 500):
            content[place] ^= 1
        shards[0].write_bytes(bytes(content))
        assert world.fetched("memory", "notes/file-0.bin") == files["notes/file-0.bin"], "what it sends does not hold, and another is asked"
        made = world.run("volume", "demand", "memory", "notes/file-0.bin", "--slot", "1", "--length", "2000")
        until("the honest one answers", lambda: "demand.answered" in world.events())
        assert made["demand"]

        def missed():
            relay = next(relay for relay in world.run("relay", "list") if relay["address"] == holders[0])
            return relay["misses"] > 0 and relay

        relay = until("it cannot prove what it lost", missed)
        assert relay["stake"] <= 5_050 * CBY
        assert all(row["misses"] == 0 for row in world.run("relay", "list") if row["address"] != holders[0])


def test_what_a_relay_is_sent_is_strict(tmp_path):
    """A stranger with no right, and bytes that are no request, get nothing, and the relay continues to serve."""
    with Storage(tmp_path) as world:
        process = world.relay(1)
        world.relay(2)
        world.relays_are(2)
        world.run("volume", "create", "memory", "--quota", "20MiB", "--key", "volume.key")
        (tmp_path / "a.txt").write_text("a")
        world.run("volume", "put", "memory", tmp_path / "a.txt", "notes/", "--key", "volume.key")
        volume = world.run("volume", "info", "memory")["volume_id"]
        with pytest.raises(Refused, match="may not open the volume: the volume belongs to"):
            world.fetched(volume, "notes/a.txt", "--key", "volume.key", account=5)
        (tmp_path / "other.key").write_text("0x" + "11" * 32)
        # A wrong key reads nothing, and spoils nothing.
        for wrong in (
            ("get", volume, "notes/a.txt", "-"),
            ("ls", volume, "notes"),
            ("put", volume, tmp_path / "a.txt", "notes/"),
        ):
            with pytest.raises(Refused, match="does not open what partition notes has"):
                world.run("volume", *wrong, "--key", "other.key")
        with pytest.raises(Refused, match="has no partition other"):
            world.run("volume", "ls", volume, "other", "--key", "volume.key")
        with pytest.raises(Refused, match=r"its quota is 20971520"):
            (tmp_path / "large.bin").write_bytes(bytes(21 << 20))
            world.run("volume", "put", volume, tmp_path / "large.bin", "notes/", "--key", "volume.key")
        assert world.fetched(volume, "notes/a.txt", "--key", "volume.key") == hashlib.sha256(b"a").hexdigest()
        port = int(re.search(r":(\d+)$", process.ready).group(1))
        import socket

        source = random.Random(3)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            for _ in range(200):
                out.sendto(source.randbytes(source.randrange(1, 1400)), ("127.0.0.1", port))
        assert world.fetched(volume, "notes/a.txt", "--key", "volume.key") == hashlib.sha256(b"a").hexdigest()


def test_what_no_root_names_is_pruned(tmp_path):
    """A-178: relays forget shards of an upload that was never committed, and of a volume that was deleted, after the term; what stands stays."""
    with Storage(tmp_path, "rent.orphan_shard_ttl=100", "volumes.undelete=20") as world:
        for number in range(1, 4):
            world.relay(number)
        world.relays_are(3)
        volumes = {name: world.run("volume", "create", name, "--quota", "100MiB", "--public", "--code", "2+1")["volume"] for name in ("memory", "scratch")}
        # Short shards are rows of an index; these are files.
        files = world.files("local", [100_000, 200_000], seed=13)
        for name in volumes:
            world.run("volume", "put", name, tmp_path / "local", "notes/")

        def shards(name):
            folder = volumes[name].removeprefix("0x")
            return len([path for path in tmp_path.glob(f"relay*/state/volumes/{folder}/shard-*") if path.suffix != ".bao"])

        assert (shards("memory"), shards("scratch")) == (6, 6), "a shard of each file at each of three relays"
        orphans = world.files("orphans", [150_000, 250_000, 30_000_000], seed=14)
        put = ["volume", "put", "memory", tmp_path / "orphans", "orphans/"]
        command = ["cowboy", "--rpc-url", world.url, "--private-key", world.accounts[0][1], *map(str, put)]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        killed = subprocess.Popen(command, executable=world.bin / "cowboyd", cwd=tmp_path, **silent)
        until("shards of two files", lambda: shards("memory") >= 12 or killed.poll() is not None)
        killed.kill()
        killed.wait()
        assert shards("memory") >= 12 and len(world.run("volume", "info", "memory")["partitions"]) == 1, "nothing was committed"
        world.run("volume", "delete", "scratch")

        until("the orphans are forgotten", lambda: shards("memory") == 6)
        until("the deleted volume is forgotten", lambda: shards("scratch") == 0)
        with pytest.raises(Refused, match="no such volume"):
            world.run("volume", "info", "scratch")
        for path, expected in files.items():
            assert world.fetched("memory", path) == expected
        assert len(orphans) == 3


def test_reads_beyond_the_price_are_slow_and_are_served(tmp_path):
    """Decision 608: whoever reads a volume over and over waits, and gets every byte; its owner reads in the price still."""
    with Storage(tmp_path) as world:
        for number in range(1, 4):
            world.relay(number)
        world.relays_are(3)
        made = world.run("volume", "create", "memory", "--quota", "100MiB", "--public", "--code", "2+1")
        files = world.files("local", [2_000_000], seed=15)
        world.run("volume", "put", "memory", tmp_path / "local", "notes/")
        pages = re.findall(r"http://127\.0\.0\.1:\d+/metrics", (tmp_path / "cowboy-relay.err").read_text())
        counted = re.compile(r"^cowboy_relay_throttled_bytes_total (\d+)$", re.MULTILINE)

        def throttled():
            return sum(int(counted.search(fetch(page).decode())[1]) for page in pages)

        (path, expected), = files.items()

        def read_on():
            assert world.fetched(made["volume"], path, account=5) == expected
            return throttled()

        assert throttled() == 0
        until("a stranger reads beyond the price", read_on)
        before = throttled()
        assert world.fetched("memory", path) == expected
        assert throttled() == before, "a quarter is the owner's"
        assert world.fetched(made["volume"], path, account=5) == expected
        assert throttled() > before, "the stranger is served, and waits"
