"""Hostile clients. Each takes a node's addresses and a random state, does one bounded thing, and says how much of it there was.
None of them may end the node, delay its health check, or keep others out for good."""

import base64
import selectors
import socket
import struct
import time

TIMEOUT_SECONDS = 10


class Finding(Exception):
    """What must not happen has happened."""


class Target:
    """Where a node listens: its API and its port for validators."""

    def __init__(self, host, api_port, quic_port):
        self.api, self.quic = (host, api_port), (host, quic_port)

    def connect(self):
        return socket.create_connection(self.api, timeout=TIMEOUT_SECONDS)


def hold(target, count, first, later=b"", repeats=0):
    """Opens connections that send these bytes first, then these in turns so often, and holds them all before it lets go."""
    held = []
    try:
        for _ in range(count):
            try:
                connection = target.connect()
                held.append(connection)
                connection.sendall(first() if callable(first) else first)
            except OSError:
                break
        for _ in range(repeats):
            for connection in held:
                try:
                    connection.sendall(later)
                except OSError:
                    pass
        return {"connections": len(held)}
    finally:
        for connection in held:
            connection.close()


def idle_connections(target, random, count=1_500):
    """Connections that say nothing."""
    return hold(target, count, b"")


def half_heads(target, random, count=400):
    """The first half of a request's head on many connections, then single bytes of the rest in turns."""
    return hold(target, count, b"POST /submit HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", b"a", 3)


def half_bodies(target, random, count=100):
    """The head of a request with a body of a megabyte, and a little of the body."""
    return hold(target, count, b"POST /submit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{")


def deaf_websockets(target, random, count=40):
    """Subscribes to everything over WebSockets, and never reads."""
    head = "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {}\r\n\r\n"
    return hold(target, count, lambda: head.format(base64.b64encode(random.randbytes(16)).decode()).encode())


def garbage_requests(target, random, count=60):
    """Requests with damaged heads, lengths that contradict each other, deep and broken JSON, long paths, and plain noise."""
    kinds = [
        lambda: random.randbytes(random.randint(1, 5_000)),
        lambda: b"GET /" + b"a" * random.choice([10, 10_000, 100_000]) + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        lambda: b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * random.choice([10, 1_000, 20_000]) + b"\r\n",
        lambda: b"POST /submit HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\n\r\n",
        lambda: b"POST /submit HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"ffffffffffffffff\r\n",
        lambda: post("/submit", b"application/json", b"[" * random.choice([10, 1_000, 100_000])),
        lambda: post("/simulate", b"application/json", b'{"transaction":"0x' + random.randbytes(500).hex().encode() + b'"}'),
        lambda: post("/simulate", b"application/octet-stream", random.randbytes(random.randint(0, 2_000))),
        lambda: post("/submit", b"application/octet-stream", random.randbytes(random.randint(0, 200_000))),
        lambda: f"GET /proof/storage/0x{'00' * 20}/{'ff' * random.choice([10, 60_000])} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode(),
        lambda: f"GET /blocks?limit={random.choice([-1, 0, 10**30, 'x'])}&offset={random.choice([-1, 2**64, '%00'])} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode(),
        lambda: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + random.randbytes(300),
    ]
    answered = 0
    for _ in range(count):
        with_answer = exchange_for(target, random.choice(kinds)(), 0.5)
        if with_answer.startswith(b"HTTP/1.1 500"):
            raise Finding(f"a request of noise is answered with 500: {with_answer[:300]!r}")
        answered += bool(with_answer)
    return {"requests": count, "answered": answered}


def exchange_for(target, data, seconds):
    """Sends bytes and reads what comes until the end, or for so long: some requests have no answer. A reset is an answer too."""
    received = b""
    try:
        with target.connect() as connection:
            connection.settimeout(seconds)
            connection.sendall(data)
            while len(received) < 4_096 and (part := connection.recv(4_096)):
                received += part
    except OSError:
        pass
    return received


def post(path, kind, body):
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {kind.decode()}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def simulations(target, random, sources, simulate):
    """Many clients ask for expensive simulations at once, and none waits for the others."""
    selector, sent, answered = selectors.DefaultSelector(), 0, 0
    try:
        for source in sources:
            try:
                connection = target.connect()
                connection.sendall(post("/simulate", b"application/octet-stream", simulate(source)))
            except OSError:
                continue
            connection.setblocking(False)
            selector.register(connection, selectors.EVENT_READ)
            sent += 1
        end = time.monotonic() + TIMEOUT_SECONDS
        while selector.get_map() and time.monotonic() < end:
            for key, _ in selector.select(1):
                try:
                    answered += key.fileobj.recv(65_536).startswith(b"HTTP/1.1")
                except OSError:
                    pass
                selector.unregister(key.fileobj)
                key.fileobj.close()
        return {"simulations": sent, "answered in time": answered}
    finally:
        for key in list(selector.get_map().values()):
            key.fileobj.close()
        selector.close()


def garbage_datagrams(target, random, count=5_000):
    """Noise, and packets that look like the first one of a QUIC connection, at the port for validators."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        for _ in range(count):
            body = random.randbytes(random.choice([1, 20, 1_200]))
            if random.random() < 0.5:
                # A long header, version 1, with connection ids of eight bytes.
                body = bytes([0xC3]) + struct.pack(">I", 1) + b"\x08" + random.randbytes(8) + b"\x08" + random.randbytes(8) + b"\0" + b"\x44\xb0" + body
                body = body.ljust(1_200, b"\0")
            try:
                udp.sendto(body, target.quic)
            except OSError:
                pass
        return {"datagrams": count}


ATTACKS = [idle_connections, half_heads, half_bodies, garbage_requests, deaf_websockets, garbage_datagrams]
