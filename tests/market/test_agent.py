"""A web site that asks a model: a visitor's POST, a real runner with a model of OpenAI's interface, and the answer fetched (004 §8.5)."""

import json
import re
import urllib.error
import urllib.request

from world import ROOT, World, until

AGENT = ROOT / "examples" / "agent"


def visit(port, path, body=None):
    """Status and JSON, or text, of what the gateway of the devnet answers for the name `sage`."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=body, headers={"Host": "sage.localhost"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def test_a_visitor_asks_a_model(tmp_path):
    with World(tmp_path, "--runners", "0", "--block-time", "200ms", "--balance", "20000") as world:
        port = next(found[1] for found in map(re.compile(r".*<name>\.localhost:(\d+)").match, world.node.said) if found)
        world.runner(1, f'[llm]\nurl = "{world.server("llm")}/v1"\nmodel = "stub"\n')
        world.runners_are(1)
        world.run("actor", "deploy", "--code", AGENT / "actor.py", "--manifest-json", AGENT / "manifest.json", "--fund", "500cby")
        world.run("name", "register", "sage", "--actor", "agent")
        status, page = until("the page", lambda: (found := visit(port, "/"))[0] == 200 and found)
        assert "Ask the chain" in page
        status, accepted = visit(port, "/api/ask", b'{"question": "say: hello, visitor"}')
        assert status == 202, accepted
        place = json.loads(accepted)["result"]
        status, answer = until("the answer", lambda: (found := visit(port, place))[0] != 202 and found)
        assert (status, json.loads(answer)) == (200, {"answer": "hello, visitor"})
        assert json.loads(visit(port, "/api/asked")[1]) == {"asked": 1, "answered": 1}
