"""What strangers do to proxies: nobody who waits for a release is kept from it, and what a stranger gets of one opens nothing."""

import contextlib
import http.client
import json
import resource
import socket
import ssl

import pytest
from test_secrets import VALUE, keep
from world import Refused, World

# Connections that a proxy has at once, and more than one address may have of them.
MANY = 300


def untrusted():
    """Its certificate is its own: the chain has the hash of its key."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@contextlib.contextmanager
def kept(folder):
    """Four proxies that hold a key, a secret, and where the proxies listen."""
    with World(folder, "--block-time", "100ms", "--runners", "0", "--no-gateway") as world:
        keep(world, "KEY", VALUE, "--any-runner")
        members = world.run("secret", "committee")["key"]["members"]
        world.ports = [world.run("call", "secrets-manager", "get_proxy", "--address", member["address"])["port"] for member in members]
        yield world


def ask(port, body, kind="application/json", path="/v1/release"):
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=untrusted())
    with contextlib.closing(connection):
        connection.request("POST", path, body, {"content-type": kind})
        answer = connection.getresponse()
        return answer.status, answer.read()


def value(world):
    return world.run("secret", "get", "KEY")["value"]


def test_a_release_is_of_use_to_its_recipient_only(tmp_path):
    """A-240: whoever repeats the question of a recipient gets what the recipient's key alone decrypts; and no proxy says where its node is."""
    with kept(tmp_path) as world:
        assert value(world) == VALUE
        (receipt,) = world.run("secret", "receipts")
        for port in world.ports:
            status, said = ask(port, json.dumps({"release_id": receipt["release_id"]}))
            assert VALUE.encode() not in said and VALUE.encode().hex().encode() not in said
            if status == 200:
                answered = json.loads(said)
                # Three points and a signature, and never the member's part of the key.
                assert sorted(answered) == ["answer", "epoch", "index", "signature"] and len(answered["answer"]) == 2 + 2 * 192
            else:
                # The recipient has its answers, and the release is closed as soon as a proxy sees that.
                assert status == 404 and b"it was closed" in said, said
            node = world.url.removeprefix("http://").encode()
            for body in ({"release_id": "0x" + "11" * 32}, {"release_id": "0x11"}, {"release_id": 1}, {}, [], {"release_id": "0x" + "11" * 32, "more": 1}):
                status, said = ask(port, json.dumps(body))
                assert 400 <= status < 500 and node not in said, (body, status, said)


def test_bad_requests_are_refused(tmp_path):
    """Bodies that are too long, are no JSON or have no end, and other paths."""
    with kept(tmp_path) as world:
        port = world.ports[0]
        long = json.dumps({"release_id": "0x" + "11" * 32, "more": "x" * 2_000})
        assert ask(port, long)[0] == 413
        assert ask(port, "[" * 1_000)[0] in (400, 422)
        assert ask(port, b"\xff" * 100)[0] in (400, 422)
        assert ask(port, "{}", kind="text/plain")[0] == 415
        assert ask(port, "{}", path="/v1/other")[0] == 404
        with pytest.raises((http.client.HTTPException, OSError)):
            # It says that it has a gigabyte.
            connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=untrusted())
            connection.putrequest("POST", "/v1/release")
            connection.putheader("content-type", "application/json")
            connection.putheader("content-length", str(1 << 30))
            connection.endheaders()
            while True:
                connection.send(b" " * 65_536)
        assert value(world) == VALUE


def test_strangers_keep_nobody_from_a_release(tmp_path):
    """Connections that say nothing, stop within TLS or within a request: the owner reads its secret meanwhile, from all proxies."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(4096, hard)), hard))
    with kept(tmp_path) as world, contextlib.ExitStack() as stack:

        def connection(port, host):
            """From another loopback address: an address has a part of what a proxy takes."""
            opened = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(f"127.8.0.{host}", 0)))
            return opened

        context = untrusted()
        for port in world.ports:
            for number in range(MANY):
                opened = connection(port, 1 + number % 3)
                try:
                    if number % 3 == 1:
                        opened.sendall(b"\x16\x03\x01\x02\x00")
                    elif number % 3 == 2 and number < 60:
                        secure = stack.enter_context(context.wrap_socket(opened))
                        secure.sendall(b"POST /v1/release HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n{")
                except OSError:
                    # It has as many already.
                    continue
        assert value(world) == VALUE
        with pytest.raises(Refused, match="secret_not_found"):
            world.run("secret", "get", "KEY", account=1)
