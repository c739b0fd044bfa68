"""A node that lies: proxies, relays, runners and clients read the chain by the same proofs, and use no answer without one."""

import json
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler

import pytest
from oci import Serving
from test_volumes import Storage
from world import Refused, until

PROOFS = "/proof/multi"


class Liar(Serving):
    """Passes everything on to a node, and changes the proofs that it answers: `lie(asked, answer)` gives another answer."""

    def __init__(self, node):
        self.lie = None
        liar = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def pass_on(self, body=None):
                request = urllib.request.Request(node + self.path, body, {"content-type": "application/json"})
                try:
                    with urllib.request.urlopen(request, timeout=30) as answer:
                        status, said = answer.status, answer.read()
                except urllib.error.HTTPError as refusal:
                    status, said = refusal.code, refusal.read()
                if liar.lie is not None and self.path == PROOFS and status == 200:
                    said = json.dumps(liar.lie(body, json.loads(said))).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def do_GET(self):
                self.pass_on()

            def do_POST(self):
                self.pass_on(self.rfile.read(int(self.headers["content-length"])))

        super().__init__(Handler)


def with_item(answer, **changes):
    first, *others = answer["items"]
    return {**answer, "items": [{**first, **changes}, *others]}


def flipped(text):
    """Hex with another last byte."""
    return f"{text[:-2]}{int(text[-2:], 16) ^ 1:02x}"


# What the answer to a question that was proven rightly is changed to.
LIES = {
    "another record": lambda answer: with_item(answer, value=flipped(answer["items"][0]["value"])),
    "no record": lambda answer: with_item(answer, value=None),
    "another proof": lambda answer: with_item(answer, proof=flipped(answer["items"][0]["proof"])),
    "the record of another key": lambda answer: {**answer, "items": answer["items"][::-1]},
    "fewer records": lambda answer: {**answer, "items": answer["items"][1:]},
    "another header": lambda answer: {**answer, "headers": [*answer["headers"][:-1], flipped(answer["headers"][-1])]},
    "another certificate": lambda answer: {**answer, "finalization": flipped(answer["finalization"])},
}


def test_a_node_that_lies_is_found(tmp_path):
    """No record, proof, header or certificate can be changed; and a block that is older than one that was seen is none."""
    with Storage(tmp_path) as world:
        for number in range(1, 4):
            world.relay(number)
        world.relays_are(3)
        world.run("volume", "create", "memory", "--quota", "20MiB", "--public", "--code", "2+1")
        (tmp_path / "a.txt").write_text("a")
        world.run("volume", "put", "memory", tmp_path / "a.txt", "notes/")
        genesis = world.get("/genesis")
        trusted = ("--genesis", genesis["hash"], "--group-key", genesis["group_key"])
        liar = Liar(world.url)
        honest, world.url = world.url, f"http://{liar.address}"
        try:
            look = lambda: world.run("volume", "ls", "memory", "notes", *trusted)
            assert [row["path"] for row in look()] == ["notes/a.txt"]
            for name, lie in LIES.items():
                liar.lie = lambda _, answer, lie=lie: lie(answer)
                with pytest.raises(Refused, match="proof"):
                    pytest.fail(f"{name} is taken: {look()}")

            # The first question is answered rightly, and every other one as it was before.
            before, asked = {}, []

            def remember(question, answer):
                before.setdefault(question, answer)
                return answer

            def go_back(question, answer):
                asked.append(question)
                return answer if len(asked) == 1 else before.get(question, answer)

            liar.lie = remember
            look()
            seen = max(answer["height"] for answer in before.values())
            world.url = honest
            until("later blocks", lambda: world.get("/health/detailed")["height"] > seen + 5)
            world.url = f"http://{liar.address}"
            liar.lie = go_back
            with pytest.raises(Refused, match=r"proves the state of height \d+, and that of height \d+ was final before"):
                look()
        finally:
            world.url = honest
            liar.end()
