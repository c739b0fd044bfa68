"""What strangers, and owners of small volumes, do to relays: nobody else's files are out of reach, and no disk fills."""

import asyncio
import contextlib

from coincurve import PrivateKey
from hostile_relay import (
    BODY,
    DONE,
    REFUSED,
    address_of,
    begin_handshakes,
    connected,
    frame,
    from_hex,
    get_shard,
    get_tree,
    keccak256,
    never_read,
    opened,
    put_shard,
)
from test_volumes import Storage

MIB = 1 << 20


@contextlib.contextmanager
def kept(folder):
    """Three relays that have a public volume with a file; and what a stranger can see of it."""
    with Storage(folder) as world:
        for number in range(1, 4):
            world.relay(number)
        world.relays_are(3)
        world.run("volume", "create", "memory", "--quota", "20MiB", "--public", "--code", "2+1")
        files = world.files("local", [300_000], seed=9)
        world.run("volume", "put", "memory", folder / "local", "notes/")
        volume = world.run("volume", "info", "memory")["volume_id"]
        listed = world.run("call", "storage-manager", "get_volume", "--volume", volume)["partitions"][0]
        world.name = volume
        world.volume, world.partition, world.root = map(from_hex, (volume, listed["partition"], listed["root"]))
        world.genesis = from_hex(world.get("/genesis")["hash"])
        world.hash = files["notes/file-0.bin"]
        yield world


def get(world):
    """The file, as anybody gets it, in a process of its own."""
    return asyncio.to_thread(world.fetched, world.name, "notes/file-0.bin", account=5)


def test_strangers_that_do_not_read_hold_nobody_up(tmp_path, monkeypatch):
    """Forty connections of strangers ask each relay for more than all its turns, and read nothing."""
    never_read(monkeypatch)

    async def attack(world):
        async with contextlib.AsyncExitStack() as stack:
            for relay in world.run("relay", "list"):
                for _ in range(40):
                    stranger = await stack.enter_async_context(opened(relay, world.genesis, world.volume, window=8))
                    for _ in range(31):
                        await stranger.send(get_tree(world.partition, world.root))
            return await get(world)

    with kept(tmp_path) as world:
        assert asyncio.run(attack(world)) == world.hash


def test_first_packets_keep_nobody_out(tmp_path):
    """Seven hundred first packets of handshakes, from senders that answer nothing, cost a relay no place."""

    async def attack(world):
        relay = world.run("relay", "list")[0]
        forged = begin_handshakes(relay["port"], 700)
        async with opened(relay, world.genesis, world.volume) as stranger:
            kind, _ = await stranger.answer(await stranger.send(get_tree(world.partition, world.root)))
        for one in forged:
            one.close()
        return kind

    with kept(tmp_path) as world:
        assert asyncio.run(attack(world)) == BODY


def test_whoever_is_refused_leaves(tmp_path):
    """A connection that says wrongly who opens it ends, so that none keeps its place among those that are opened."""

    async def attack(world):
        relay = world.run("relay", "list")[0]
        async with connected(relay, bytes(32), world.volume) as stranger:
            kind, _ = await stranger.hello()
            await asyncio.wait_for(stranger.protocol.wait_closed(), 5)
        return kind

    with kept(tmp_path) as world:
        assert asyncio.run(attack(world)) == REFUSED


def test_shards_that_come_at_once_have_one_room(tmp_path):
    """The owner of 20 MiB begins eight shards of 10 MiB at once: each relay takes those for which the volume has room, and no other."""

    async def attack(world):
        relay, owner = world.run("relay", "list")[0], PrivateKey(from_hex(world.accounts[0][1]))
        async with opened(relay, world.genesis, world.volume, owner) as writer:
            begun = [await writer.send(put_shard(10 * MIB), bytes(1_000), ends=False) for _ in range(8)]

            async def refusal(reader):
                try:
                    return await writer.answer(reader, seconds=5)
                except TimeoutError:
                    return None

            answers = await asyncio.gather(*map(refusal, begun))
        # They were broken off: their room is there again.
        async with opened(relay, world.genesis, world.volume, owner) as writer:
            again = await refusal(await writer.send(put_shard(10 * MIB), bytes(1_000), ends=False))
        return answers, again

    with kept(tmp_path) as world:
        answers, again = asyncio.run(attack(world))
        refused = [answer for answer in answers if answer is not None]
        assert 0 < 8 - len(refused) <= 2 and all(kind == REFUSED and b"as much here" in said for kind, said in refused), answers
        assert again is None
        assert asyncio.run(get(world)) == world.hash


async def said_to(stranger, content):
    """The answer to raw bytes on a stream of their own; none where the stream ends without one."""
    reader, writer = await stranger.protocol.create_stream()
    stranger.writers.append(writer)
    writer.write(content)
    writer.write_eof()
    try:
        return await stranger.answer(reader, seconds=10)
    except asyncio.IncompleteReadError:
        return None


def test_what_is_no_request_gets_nothing(tmp_path):
    """Lengths that nothing has, requests that are none or of somebody else, and half ones: each costs its stream, and the next request is answered."""

    async def attack(world):
        relay = world.run("relay", "list")[0]
        tree = get_tree(world.partition, world.root)
        raw = {
            "a length of four gigabytes": b"\xff" * 4,
            "a length of 64 KiB and one": (65_537).to_bytes(4, "big") + bytes(65_537),
            "a request longer than any": frame(tree + bytes(8_192)),
            "nothing": frame(b""),
            "an unknown request": frame(b"\x63"),
            "a byte too many": frame(tree + b"x"),
            "a byte too few": frame(tree[:-1]),
            "half a length": b"\x00\x00",
            "half a frame": frame(tree)[:20],
            "an answer": frame(bytes([BODY])),
        }
        refused = {
            "another hello": (b"\x01" + bytes(101 + 65), b"open already"),
            "a shard of a reader": (put_shard(64), b"may not write"),
            "no part": (get_shard(bytes(32), 0), b"1 to 65,536 bytes"),
            "a part that is too long": (get_shard(bytes(32), 65_537), b"1 to 65,536 bytes"),
            "a shard that is not here": (get_shard(bytes(32), 10), b"it is not here"),
        }
        async with opened(relay, world.genesis, world.volume) as stranger:
            for case, content in raw.items():
                assert await said_to(stranger, content) is None, case
                assert (await stranger.answer(await stranger.send(tree)))[0] == BODY, case
            for case, (request, why) in refused.items():
                assert is_refused(await stranger.answer(await stranger.send(request)), why), case
            assert (await stranger.answer(await stranger.send(tree)))[0] == BODY
        for first in (frame(tree), b"\xff" * 4, frame(b"\x01")):
            async with connected(relay, world.genesis, world.volume) as stranger:
                answer = await said_to(stranger, first)
                assert answer is None or is_refused(answer, b"say first who opens"), "nobody said who opens the connection"
        return await get(world)

    with kept(tmp_path) as world:
        assert asyncio.run(attack(world)) == world.hash


@contextlib.contextmanager
def granted(folder):
    """A volume that nobody reads without a right, three relays that have a file of it, and the keys of a holder and of a thief."""
    with Storage(folder) as world:
        for number in range(1, 4):
            world.relay(number)
        world.relays_are(3)
        volume = world.run("volume", "create", "memory", "--quota", "20MiB", "--key", "volume.key", "--code", "2+1")["volume"]
        (folder / "a.txt").write_text("a")
        for partition in ("notes/", "other/"):
            world.run("volume", "put", "memory", folder / "a.txt", partition, "--key", "volume.key")
        listed = world.run("call", "storage-manager", "get_volume", "--volume", volume)["partitions"]
        roots = {from_hex(row["partition"]): from_hex(row["root"]) for row in listed}
        notes, other = (keccak256(b"cowboy-partition:", name) for name in (b"notes", b"other"))
        world.name = volume
        world.to = (world.run("relay", "list")[0], from_hex(world.get("/genesis")["hash"]), from_hex(volume))
        world.tree, world.of_another, world.another = get_tree(notes, roots[notes]), get_tree(notes, roots[other]), get_tree(other, roots[other])
        world.holder, world.thief = (PrivateKey(from_hex(world.accounts[number][1])) for number in (5, 6))

        def grant(mode, *more):
            made = world.run("volume", "grant", "memory", "notes", world.accounts[5][0], "--mode", mode, "--max-bytes", "1MiB", *more)
            return from_hex(made["capability"])

        world.grant = grant
        yield world


def is_refused(answer, why):
    kind, said = answer
    return kind == REFUSED and why in said


def test_a_capability_is_its_holders(tmp_path):
    """A-182: a token that leaked opens nothing for another key, nor in another session; and what it does not allow is refused."""

    async def said(world, capability, *request):
        async with opened(*world.to, world.holder, capability=capability) as session:
            return await session.answer(await session.send(*request))

    async def attack(world, reads, writes):
        async with connected(*world.to, world.holder) as session:
            token = session.token(reads)
            signature = session.signature(token)
            assert (await session.show(token, signature))[0] == DONE
        async with connected(*world.to, world.thief) as session:
            assert session.token(reads, address_of(world.holder)) == token
            assert is_refused(await session.show(token, session.signature(token)), b"not signed by its account"), "the token of another account"
        async with connected(*world.to, world.thief) as session:
            assert is_refused(await session.show(token, signature), b"not signed by its account"), "the signature of another session"
        async with connected(*world.to, world.thief) as session:
            assert is_refused(await session.hello(reads), b"may not open"), "a capability of another holder"
        shard = get_shard(bytes(32), 10)
        assert is_refused(await said(world, reads, shard), b"it is not here"), "it may read, and there is no such shard"
        assert is_refused(await said(world, writes, shard), b"may not read files"), "w does not read"
        assert (await said(world, writes, world.tree))[0] == BODY, "but its changes have to fit the names that are there"
        assert is_refused(await said(world, reads, put_shard(64), bytes(64), b"", bytes(32)), b"may not write"), "r does not put"
        for capability in (reads, writes):
            assert is_refused(await said(world, capability, world.another), b"may not read the list"), "another partition"
            assert is_refused(await said(world, capability, world.of_another), b"may not read the list"), "its root, as one of the own partition"

    with granted(tmp_path) as world:
        asyncio.run(attack(world, world.grant("r"), world.grant("w")))


def test_a_capability_ends(tmp_path):
    """A-182: neither a session that was open already nor a new one gets anything by a right that was taken back, or whose time is over."""

    async def until_refused(world, capability, end):
        async with opened(*world.to, world.holder, capability=capability) as session:
            assert (await session.answer(await session.send(world.tree)))[0] == BODY
            await asyncio.to_thread(end)
            while (answer := await session.answer(await session.send(world.tree)))[0] == BODY:
                pass
            return answer

    async def opens(world, capability):
        async with connected(*world.to, world.holder) as session:
            return await session.hello(capability)

    with granted(tmp_path) as world:
        taken, short, stays = world.grant("r"), world.grant("r", "--blocks", "30"), world.grant("r")
        late = asyncio.run(until_refused(world, short, lambda: None))
        assert is_refused(late, b"may not ") and is_refused(asyncio.run(opens(world, short)), b"may not "), "its time is over"
        late = asyncio.run(until_refused(world, taken, lambda: world.run("volume", "revoke", "0x" + taken.hex())))
        assert is_refused(late, b"may not ") and is_refused(asyncio.run(opens(world, taken)), b"may not "), "it was taken back"
        assert asyncio.run(opens(world, stays))[0] == DONE


def test_what_replaces_a_file_adds_nothing(tmp_path):
    """Decision 777: the holder of a right to a mebibyte replaces a file of 300,000 bytes as often as it likes: what it committed counts once."""
    with granted(tmp_path) as world:
        right = ["--capability", "0x" + world.grant("rw").hex(), "--key", "volume.key"]
        for number in range(5):
            (tmp_path / "b.txt").write_bytes(bytes([number]) * 300_000)
            world.run("volume", "put", world.name, tmp_path / "b.txt", "notes/", *right, account=5)
