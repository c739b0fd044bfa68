"""Models and tools as runners reach them: a server with OpenAI's interface, and a real MCP server, each a process of its own."""

import json
import socket
import subprocess
import sys

import pytest
from world import HERE, Refused, World, a_job, until


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with World(tmp_path_factory.mktemp("world"), "--runners", "0") as world:
        yield world


@pytest.fixture(scope="module")
def configuration(world):
    """A runner's file with both, the MCP server once over its streams and once over HTTP."""
    model = world.server("llm")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = HERE / "shop_server.py"
    world.start("shop", [sys.executable, script, "http", port])
    until("the shop", lambda: reachable(port))
    path = world.folder / "models.toml"
    path.write_text(
        f'[llm]\nurl = "{model}/v1"\nmodel = "scripted-1"\nembedding_model = "words-64"\n'
        f"[mcp.shop]\ncommand = {json.dumps([sys.executable, str(script)])}\n"
        f"[mcp.alone]\ncommand = {json.dumps([sys.executable, str(script)])}\nisolated = true\n"
        f'[mcp.web]\nurl = "http://127.0.0.1:{port}/mcp"\ntools = ["price"]\n'
    )
    return path


def reachable(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def do(world, configuration, job):
    """What a runner with this configuration answers."""
    try:
        return world.run("job", "run", "--local", json.dumps(job), "--config", configuration)
    except Refused as refused:
        return json.loads(refused.printed)


MOOD = {"type": "object", "required": ["mood"], "properties": {"mood": {"enum": ["good", "bad"]}, "score": {"type": "integer"}}}


def test_a_schema_that_nobody_checks(world, configuration):
    """The chain refuses it at submission, and so does a local run, by the name of the field."""
    answer = do(world, configuration, a_job("Llm", {"prompt": "x", "response_model": {"$ref": "#"}}))
    assert (answer["error"]["slug"], "response_model" in json.dumps(answer["error"])) == ("job_invalid", True), answer


@pytest.mark.parametrize(
    "fields, format, expected, requests",
    [
        ({"prompt": "say: hello"}, "", "hello", 1),
        ({"prompt": "anything", "system_prompt": "be short"}, "json", '{"echo":"anything"}', 1),
        ({"prompt": "a bad day, 7", "response_model": MOOD}, "", '{"mood":"bad","score":7}', 1),
        ({"prompt": "a fenced good day", "response_model": json.dumps(MOOD)}, "json", '{"mood":"good","score":1}', 1),
        ({"prompt": "first badly, then good", "response_model": MOOD}, "", '{"mood":"good","score":1}', 2),
        ({"prompt": "busy twice, say: done"}, "", "done", 3),
        ({"prompt": "always broken"}, "", None, 3),
        ({"prompt": "stubborn", "response_model": MOOD}, "", None, 3),
        ({"prompt": "x", "model": "other"}, "", None, 0),
        ({"prompt": "x", "temperature": 5000}, "", None, 0),
        ({}, "", None, 0),
    ],
)
def test_models(world, configuration, fields, format, expected, requests):
    """A-206: chat, JSON, retries, tokens."""
    answer = do(world, configuration, a_job("Llm", fields, data_format=format))
    assert (answer["result"], answer["usage"]["requests"]) == (expected, requests), answer["fault"]
    assert answer["is_valid"] is (expected is not None)
    if expected is not None:
        assert answer["usage"]["input_tokens"] > 0 and answer["usage"]["output_tokens"] > 0


def test_embeddings(world, configuration):
    """A-216: in the mode that compares meanings the answer goes with its embedding."""
    answer = do(world, configuration, a_job("Llm", {"prompt": "say: hats are good"}, "semantic_similarity", 3))
    assert answer["is_valid"] and answer["usage"]["requests"] == 2
    alone = do(world, configuration, a_job("Llm", {"prompt": "hats", "task": "embedding"}))
    assert len(json.loads(alone["result"])) == 64


@pytest.mark.parametrize(
    "server, tool, arguments, expected",
    [
        ("shop", "find", {"query": "a"}, '{"result":"hat, saddle"}'),
        ("web", "price", {"item": "boots"}, '{"cents":8000}'),
        ("shop", "price", {"item": "boots"}, '{"cents":8000}'),
        ("shop", "price", {"item": "cow"}, None),
        ("web", "find", {"query": "a"}, None),
        ("shop", "steal", {}, None),
        ("other", "find", {}, None),
    ],
)
def test_tools(world, configuration, server, tool, arguments, expected):
    """A-233: a real MCP server, over streams and over HTTP."""
    answer = do(world, configuration, a_job("Mcp", {"server": server, "tool": tool, "arguments": arguments}))
    assert answer["result"] == expected, answer["fault"]


def test_isolated_tools(world, configuration):
    """A program that runs without a network reaches nothing; where the system allows no namespace, it does not begin."""
    port = int(world.url.rsplit(":", 1)[1].rstrip("/"))
    alone, free = (
        do(world, configuration, a_job("Mcp", {"server": server, "tool": "connect", "arguments": {"port": port}}))
        for server in ("alone", "shop")
    )
    may = subprocess.run(["unshare", "--user", "--map-current-user", "--net", "true"], capture_output=True).returncode == 0
    assert free["result"] == '{"result":true}', free["fault"]
    assert alone["result"] == ('{"result":false}' if may else None), alone["fault"]
    within = a_job("Mcp", {"server": "alone", "tool": "find", "arguments": {"query": "a"}, "reaches": []})
    assert do(world, configuration, within)["result"] == ('{"result":"hat, saddle"}' if may else None)
