"""A client of relays that does what no honest one does: QUIC by aioquic, messages by hand."""

import asyncio
import socket
import ssl
import struct
import time
from contextlib import asynccontextmanager

from aioquic import tls
from aioquic.asyncio import connect
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from coincurve import PrivateKey
from Crypto.Hash import keccak

DONE, BODY, REFUSED = 0, 1, 2


def keccak256(*parts):
    state = keccak.new(digest_bits=256)
    for part in parts:
        state.update(part)
    return state.digest()


def from_hex(text):
    return bytes.fromhex(text.removeprefix("0x"))


def address_of(key):
    return keccak256(key.public_key.format(False)[1:])[12:]


def frame(content):
    return struct.pack(">I", len(content)) + content


class Secrets(tls.KeySchedule):
    """A key schedule that keeps the exporter's secret, which aioquic throws away."""

    def extract(self, key_material=None):
        super().extract(key_material)
        if self.generation == 3:
            self.exporter = self.derive_secret(b"exp master")


tls.KeySchedule = Secrets


def exported(schedule, label):
    def expand(secret, name, length):
        return tls.hkdf_expand_label(
            algorithm=schedule.algorithm,
            secret=secret,
            label=name,
            hash_value=schedule.hash_empty_value,
            length=length,
        )

    return expand(expand(schedule.exporter, label, schedule.algorithm.digest_size), b"exporter", 32)


def settings(window=None):
    found = QuicConfiguration(is_client=True, alpn_protocols=["cowboy-relay/1"], verify_mode=ssl.CERT_NONE, server_name="relay", idle_timeout=60)
    if window is not None:
        found.max_stream_data = window
    return found


class Stranger:
    """A connection to a relay, for one volume."""

    def __init__(self, protocol, relay, genesis, volume, key):
        self.protocol, self.relay, self.genesis, self.volume, self.key = protocol, relay, genesis, volume, key
        # A stream ends with its writer.
        self.writers = []

    async def send(self, request, *bodies, ends=True):
        """Begins a request, and answers its stream."""
        reader, writer = await self.protocol.create_stream()
        self.writers.append(writer)
        for content in (request, *bodies):
            writer.write(frame(content))
        if ends:
            writer.write_eof()
        return reader

    async def answer(self, reader, seconds=30):
        """The number of the answer, and what it says."""
        length = struct.unpack(">I", await asyncio.wait_for(reader.readexactly(4), seconds))[0]
        said = await asyncio.wait_for(reader.readexactly(length), seconds)
        return said[0], said[1:]

    def token(self, capability=bytes(16), holder=None):
        return b"\x01" + self.genesis + self.volume + capability + (holder or address_of(self.key))

    def signature(self, token):
        """Of this session and no other."""
        bound = exported(self.protocol._quic.tls.key_schedule, b"EXPORTER-cowboy-relay")
        digest = keccak256(b"cowboy-cap-session:", token, bound, from_hex(self.relay["address"]))
        return self.key.sign_recoverable(digest, hasher=None)

    async def show(self, token, signature):
        return await self.answer(await self.send(b"\x01" + token + signature))

    async def hello(self, capability=bytes(16)):
        token = self.token(capability)
        return await self.show(token, self.signature(token))


@asynccontextmanager
async def connected(relay, genesis, volume, key=None, window=None):
    async with connect("127.0.0.1", relay["port"], configuration=settings(window)) as protocol:
        yield Stranger(protocol, relay, genesis, volume, key or PrivateKey())


@asynccontextmanager
async def opened(relay, genesis, volume, key=None, window=None, capability=bytes(16)):
    async with connected(relay, genesis, volume, key, window) as stranger:
        kind, said = await stranger.hello(capability)
        assert kind == DONE, said
        yield stranger


def get_tree(partition, root):
    return b"\x06" + partition + root


def get_shard(shard, length):
    return b"\x03" + shard + struct.pack(">QQ", 0, length)


def put_shard(length):
    return b"\x02" + struct.pack(">Q", length)


def never_read(monkeypatch):
    """Whoever asks from now on gives no credit for answers: the relay can send eight bytes of each."""
    monkeypatch.setattr(QuicConnection, "_write_stream_limits", lambda *_, **__: None)


def begin_handshakes(port, count):
    """Sends the first packets of handshakes from addresses that never answer, as a forger of senders does. Answers the sockets."""
    sockets = []
    for number in range(count):
        quic = QuicConnection(configuration=settings())
        quic.connect(("127.0.0.1", port), now=time.time())
        forged = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        forged.bind((f"127.9.{number // 250}.{1 + number % 250}", 0))
        for packet, _ in quic.datagrams_to_send(now=time.time()):
            forged.sendto(packet, ("127.0.0.1", port))
        sockets.append(forged)
    return sockets
