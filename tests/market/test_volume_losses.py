"""What is lost in volumes, and who answers for it: relays that go while a file is written, one that lost a page, and a writer whose shards are no code
word."""

import hashlib
import random
import subprocess

import pytest
from botocore.exceptions import BotoCoreError
from coincurve import PrivateKey
from hostile_relay import from_hex, keccak256
from hostile_writer import File, commit
from test_volume_access import Served
from test_volume_access import pytestmark as needs_access
from test_volumes import CBY, Storage
from world import Refused, until


def number_of(world, address):
    return next(number for number, (account, _) in enumerate(world.accounts) if account == address)


def record(world, address):
    return next(relay for relay in world.run("relay", "list") if relay["address"] == address)


@pytest.mark.parametrize("slots", [(0, 1), (3, 5)], ids=["data", "data and parity"])
def test_a_volume_survives_losses_while_it_is_written(tmp_path, slots):
    """A-184: with 4+2, any two relays go while files are sent. What was committed is there, nothing of the rest is seen, and once others have the slots the
    same command writes it; then any two more may go."""
    with Storage(tmp_path) as world:
        for number in range(1, 9):
            world.relay(number)
        world.relays_are(8)
        volume = world.run("volume", "create", "memory", "--quota", "200MiB", "--public")["volume"]
        # Short shards are rows of an index; these are files.
        files = world.files("local", [300_000, 400_000], seed=27)
        world.run("volume", "put", "memory", tmp_path / "local", "notes/")
        before = world.run("volume", "info", "memory")["partitions"]

        def shards():
            found = tmp_path.glob(f"relay*/state/volumes/{volume.removeprefix('0x')}/shard-*")
            return len([path for path in found if path.suffix != ".bao"])

        assert shards() == 2 * 6
        first = world.holders("memory")
        gone = [first[slot] for slot in slots]
        more = world.files("more", [500_000, 600_000, 40_000_000], seed=28)
        put = ["volume", "put", "memory", tmp_path / "more", "notes/more/"]
        command = ["cowboy", "--rpc-url", world.url, "--private-key", world.accounts[0][1], *map(str, put)]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        writer = subprocess.Popen(command, executable=world.bin / "cowboyd", cwd=tmp_path, **silent)
        until("two files are sent", lambda: shards() >= 4 * 6 or writer.poll() is not None)
        for address in gone:
            world.relays[address].kill()
        assert writer.wait() != 0, "four relays are too few to say that they have it"

        assert world.run("volume", "info", "memory")["partitions"] == before, "nothing half is seen"
        assert {path: world.fetched("memory", path) for path in files} == files

        def is_whole():
            now = world.holders("memory")
            return None not in now and not set(now) & set(gone) and now

        second = until("the slots are rebuilt by others", is_whole)
        assert len(world.run(*put)["commits"]) == 1
        files |= {path.replace("notes/", "notes/more/"): found for path, found in more.items()}
        for slot in slots:
            world.relays[second[slot]].kill()
        assert {path: world.fetched("memory", path) for path in files} == files, "the successors are gone, too"


def test_a_relay_that_loses_a_page_is_replaced(tmp_path):
    """A-184: a relay has every shard and not the page that names them: readers ask others, it proves nothing, loses what that costs, and another one gets
    its slot."""
    with Storage(tmp_path) as world:
        for number in range(1, 5):
            world.relay(number)
        world.relays_are(4)
        world.run("volume", "create", "memory", "--quota", "20MiB", "--public", "--code", "2+1")
        # As many files as make a page too long for the index.
        files = world.files("local", [1_000] * 100, seed=23)
        world.run("volume", "put", "memory", tmp_path / "local", "notes/")
        holders = world.holders("memory")
        loser = holders[0]
        (page,) = (tmp_path / f"relay{number_of(world, loser)}" / "state" / "volumes").glob("*/page-*")
        page.unlink()
        path = "notes/file-7.bin"
        assert world.fetched("memory", path) == files[path], "another relay has the page"

        until("it misses three rounds", lambda: record(world, loser)["left_at"] is not None)
        lost = record(world, loser)
        assert (lost["misses"], lost["stake"]) == (3, (5_100 - 3 * 50 - 2_000) * CBY)

        def is_whole():
            now = world.holders("memory")
            return None not in now and loser not in now and now

        now = until("another relay has the slot", is_whole)
        assert now[1:] == holders[1:]
        # The successor and one of the others are enough.
        world.relays[now[1]].kill()
        assert {path: world.fetched("memory", path) for path in list(files)[::33]} == {path: files[path] for path in list(files)[::33]}
        assert all(record(world, address)["misses"] == 0 for address in (now[0], now[2])), "who has everything loses nothing"


def test_whoever_writes_no_code_word_is_blamed(tmp_path):
    """Decision 623: a reader that decodes finds the file damaged, and no relay loses anything: those that signed show what they have, and the one that
    cannot rebuild its shard does not answer for it until the file is replaced."""
    source = random.Random(24)
    content = source.randbytes(100)
    with Storage(tmp_path) as world:
        for number in range(1, 5):
            world.relay(number)
        world.relays_are(4)
        volume = from_hex(world.run("volume", "create", "memory", "--quota", "20MiB", "--public", "--code", "2+1")["volume"])
        files = world.files("local", [1_000], seed=25)
        world.run("volume", "put", "memory", tmp_path / "local", "notes/")
        # The data as it should be, and in the place of the parity whatever came to mind.
        shards = [content[:64], content[64:].ljust(64, b"\0"), source.randbytes(64)]
        commit(world, volume, "bad", File("bad/file.txt", content, shards), PrivateKey(from_hex(world.accounts[0][1])))
        assert world.fetched("memory", "bad/file.txt") == hashlib.sha256(content).hexdigest(), "its data shards are there"

        first = world.holders("memory")
        world.relays[first[0]].kill()
        with pytest.raises(Refused, match="bad/file.txt does not decrypt: .* or its writer made it so"):
            world.fetched("memory", "bad/file.txt")
        assert world.fetched("memory", "notes/file-0.bin") == files["notes/file-0.bin"], "a file beside it is whole"

        def behind(name):
            named = ("--volume", "0x" + volume.hex(), "--partition", "0x" + keccak256(b"cowboy-partition:" + name.encode()).hex())
            return world.run("call", "storage-manager", "get_partition", *named)["root"]["behind"]

        def is_taken():
            now = world.holders("memory")
            return now[0] not in (None, first[0]) and now

        now = until("another relay has the slot", is_taken)
        assert (behind("notes"), behind("bad")) == (0, 1), "it answers for what it could rebuild"
        before = world.events().count("proof.given")
        until("rounds of all three", lambda: world.events().count("proof.given") >= before + 6)
        assert all(record(world, address)["misses"] == 0 for address in now)
        assert all(record(world, address)["stake"] == 5_100 * CBY for address in now)

        # Whoever owns the volume has the file replaced.
        (tmp_path / "file.txt").write_bytes(content)
        world.run("volume", "put", "memory", tmp_path / "file.txt", "bad/")
        until("the successor has everything", lambda: behind("bad") == 0)
        world.relays[now[1]].kill()
        assert world.fetched("memory", "bad/file.txt") == hashlib.sha256(content).hexdigest()


@needs_access
def test_a_part_of_a_public_file_is_of_the_file(tmp_path):
    """Decision 649: nothing is encrypted in a public volume. A part that has to be computed is one of the file that its record names, or there is none."""
    content = random.Random(29).randbytes(100 << 10)
    half = len(content) // 2
    with Served(tmp_path, "--public") as world:
        files = world.files("local", [200_000], seed=30)
        world.run("volume", "put", "memory", tmp_path / "local", "notes/")
        shards = [content[:half], content[half:], random.Random(31).randbytes(half)]
        commit(world, from_hex(world.volume), "bad", File("bad/file.txt", content, shards), PrivateKey(from_hex(world.accounts[0][1])))
        _, s3 = world.s3()

        def part(bucket, key, start, end):
            return s3.get_object(Bucket=bucket, Key=key, Range=f"bytes={start}-{end - 1}")["Body"].read()

        good = (tmp_path / "local" / "file-0.bin").read_bytes()
        parts = [(0, 10), (half - 5, half + 5), (70_000, 70_100)]
        assert [part("bad", "file.txt", *of) for of in parts] == [content[start:end] for start, end in parts], "its data shards are there"
        world.relays[world.holders("memory")[0]].kill()
        for of in parts:
            with pytest.raises(BotoCoreError):
                pytest.fail(f"other bytes are given for {of}: {part('bad', 'file.txt', *of)}")
        for start, end in [*parts, (131_070, 131_080), (199_000, 200_000)]:
            assert part("notes", "file-0.bin", start, end) == good[start:end], "a file that is a code word is read without one of its relays"
        assert {path: world.fetched("memory", path) for path in files} == files
