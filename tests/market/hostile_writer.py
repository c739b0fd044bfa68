"""A writer of volumes that does what no honest one does: files by hand, with any shards, as the page of formats in docs/volumes.md has them."""

import asyncio
import contextlib
import json
import struct

from blake3 import blake3
from hostile_relay import BODY, DONE, frame, from_hex, keccak256, opened

ACKED = 3
# Blocks for which relays are asked to sign.
SIGNED_FOR = 300


def length_of(content):
    """A length before what it is of: seven bits a byte, the lowest first."""
    rest, found = len(content), b""
    while rest > 127:
        found, rest = found + bytes([rest & 127 | 128]), rest >> 7
    return found + bytes([rest]) + content


def tag(path):
    """Of a public volume, whose key is zeros."""
    directory, name = path.rsplit("/", 1)
    return b"".join(blake3(bytes([kind]) + text.encode(), key=bytes(32)).digest(16) for kind, text in ((0, directory), (1, name)))


class File:
    """A short file in a public volume: its shards are what the writer says."""

    def __init__(self, path, content, shards):
        assert len({len(shard) for shard in shards}) == 1
        self.shards = shards
        self.hashes = [blake3(shard).digest() for shard in shards]
        meta = length_of(path.encode()) + struct.pack(">Q", len(content)) + blake3(content).digest() + struct.pack(">Q", 0) + length_of(b"text/plain")
        self.sizes = struct.pack(">QQ", len(content), len(shards[0]))
        self.leaf = tag(path) + bytes(range(16)) + self.sizes + bytes([len(shards)]) + b"".join(self.hashes) + length_of(meta)
        self.page = b"\x01" + self.leaf
        # A file counts a KiB at least, and one leaf is its own page and tree.
        self.sum = max(len(shards[0]), 1024)
        self.node = blake3(b"\x00" + self.leaf).digest()
        self.top = struct.pack(">BI", 0, 1) + self.node + struct.pack(">Q", self.sum)
        self.root = blake3(b"\x02" + self.top).digest()


async def sent_to(world, relay, volume, partition, file, slot, owner, until):
    """Has a relay keep its shard, the page, and sign the root. Answers its signature."""
    async with opened(relay, from_hex(world.get("/genesis")["hash"]), volume, owner) as writer:
        shard = b"\x02" + struct.pack(">Q", len(file.shards[slot]))
        put_page = b"\x04" + partition + struct.pack(">BH", 0, 0)
        first = b"\x07" + partition + struct.pack(">QQ", 1, 1) + bytes(32) + file.top + struct.pack(">Q", until)
        for request in ((shard, file.shards[slot], b"", file.hashes[slot]), (put_page, file.page, b"")):
            kind, said = await writer.answer(await writer.send(*request))
            assert kind == DONE, said
        kind, said = await writer.answer(await writer.send(first, file.node + struct.pack(">Q", file.sum), b""))
        assert (kind, said[0]) == (ACKED, slot), said
        return said[1:]


def commit(world, volume, name, file, owner):
    """The first root of a partition, which has this file alone, acknowledged by every relay."""
    partition = keccak256(b"cowboy-partition:" + name.encode())
    holders, relays = world.holders("0x" + volume.hex()), {relay["address"]: relay for relay in world.run("relay", "list")}
    until = world.get("/height")["height"] + SIGNED_FOR

    async def signatures():
        return [
            await sent_to(world, relays[address], volume, partition, file, slot, owner, until) for slot, address in enumerate(holders)
        ]

    acks = [{"signature": "0x" + signed.hex(), "slot": slot} for slot, signed in enumerate(asyncio.run(signatures()))]
    arguments = {"volume": volume, "partition": partition, "old": bytes(32), "node": file.node}
    named = [part for key, value in arguments.items() for part in (f"--{key}", "0x" + value.hex())]
    numbers = {"depth": 0, "leaves": 1, "sum": file.sum, "until": until, "key-version": (1 << 16) + 1}
    named += [part for key, value in numbers.items() for part in (f"--{key}", value)]
    world.run("call", "storage-manager", "commit", *named, "--acks", json.dumps(acks))
