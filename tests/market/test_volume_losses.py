"""What is lost in volumes, and who answers for it: the relay that lost a page, and the writer whose shards are no code word."""

import hashlib
import random

import pytest
from coincurve import PrivateKey
from hostile_relay import from_hex, keccak256
from hostile_writer import File, commit
from test_volumes import CBY, Storage
from world import Refused, until


def number_of(world, address):
    return next(number for number, (account, _) in enumerate(world.accounts) if account == address)


def record(world, address):
    return next(relay for relay in world.run("relay", "list") if relay["address"] == address)


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
