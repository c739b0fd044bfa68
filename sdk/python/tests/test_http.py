"""Actors as web sites: routes, requests, responses, results (A-317, A-318, A-330, A-333)."""

import json
import pathlib

import pytest
from cowboy_sdk import codec, http
from cowboy_sdk._http_message import parse_form, unquote
from cowboy_sdk.testing import ALICE, Chain

ACTORS = pathlib.Path(__file__).parent / "actors"
EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"


@pytest.fixture
def chain():
    return Chain()


@pytest.fixture
def web(chain):
    return chain.deploy(ACTORS / "web.py", value=1_000)


@pytest.mark.parametrize(
    ("method", "path", "status", "body"),
    [
        ("GET", "/", 200, b"<h1>you</h1>"),
        ("HEAD", "/", 200, b"<h1>you</h1>"),
        ("GET", "/items/7", 200, b'{"id":7,"text":null}'),
        ("GET", "/items/-7", 200, b'{"id":-7,"text":null}'),
        ("GET", "/items/x", 404, b"id is a number"),
        ("GET", "/items/", 404, b"id is a number"),
        ("GET", "/items/1/2", 404, b"not found"),
        ("GET", "/files/a/b%2Fc", 200, b"a/b/c"),
        ("GET", "/old", 303, b"See other"),
        ("GET", "/nowhere", 404, b"not found"),
        ("POST", "/old", 405, b"method not allowed"),
        ("DELETE", "/items/9", 404, b"no such item"),
    ],
)
def test_routes(chain, web, method, path, status, body):
    response = chain.visit(web, method, path)
    assert (response["status"], response["body"]) == (status, body)


def test_pages_escape_what_visitors_say(chain, web):
    response = chain.visit(web, "GET", "/", query={"name": "<b>&'\""})
    assert response["body"] == b"<h1>&lt;b&gt;&amp;&#39;&quot;</h1>"
    assert response["headers"]["content-type"] == ["text/html; charset=utf-8"]


def test_a_query_changes_nothing_and_a_failure_is_raised(chain, web):
    before = chain.storage(web)
    chain.visit(web, "GET", "/items/1")
    assert chain.storage(web) == before
    with pytest.raises(ValueError):
        chain.visit(web, "GET", "/raise")


def test_a_command_changes_and_its_result_is_kept(chain, web):
    """A-333: stored at _http/results/{id}, cleaned up after its time, with a mark for as long again."""
    response = chain.visit(web, "POST", "/items", body='{"text": "one"}')
    assert (response["status"], json.loads(response["body"])) == (201, {"id": 1})
    assert chain.visit(web, "GET", "/items/1")["body"] == b'{"id":1,"text":"one"}'
    key = f"_http/results/{response['request_id']}".encode()
    stored = lambda: chain.world.account(web.to_bytes()).storage.get(key)
    assert codec.decode(stored())["status"] == 201
    chain.mine(63)
    assert codec.decode(stored())["status"] == 201, "64 blocks at least"
    chain.mine(3)
    assert stored() == b"\x00"
    chain.mine(67)
    assert stored() is None
    assert chain.failures == []
    assert [key for key in chain.storage(web) if key.startswith("_http")] == []
    assert chain.world.timers == {}


def test_many_results_share_timers(chain, web):
    for _ in range(70):
        chain.visit(web, "POST", "/items", body='{"text": "one"}')
    assert len(chain.world.timers) == 1
    chain.mine(200)
    assert [key for key in chain.storage(web) if key.startswith("_http")] == []
    assert chain.failures == []


def test_only_the_registry_brings_commands(chain, web):
    """A-330: a request that somebody sends directly gets 403 before any handler."""
    envelope = {"method": "POST", "path": "/items", "query": {}, "headers": {}, "body": b'{"text": "x"}', "host": "a"}
    response = chain.execute(web, "http.request", {**envelope, "request_id": "x"}, sender=ALICE)
    assert response["status"] == 403
    assert "count" not in chain.storage(web)
    with pytest.raises(Exception, match="own timer"):
        chain.execute(web, "http.cleanup", b"x", sender=ALICE)


def test_answers_may_follow(chain, web):
    """A-335: 202 now; `complete` stores the answer when it comes."""
    first = chain.visit(web, "POST", "/later")
    assert first["status"] == 202
    assert chain.visit(web, "POST", "/done")["status"] == 204
    stored = chain.world.account(web.to_bytes()).storage[f"_http/results/{first['request_id']}".encode()]
    assert codec.decode(stored)["body"] == b'{"answer":42}'


def test_etags_cookies_assets_and_forms(chain, web):
    page = chain.visit(web, "GET", "/files/x")
    etag = page["headers"]["etag"][0]
    for asked, status in [(etag, 304), ("*", 304), (f'"a", W/{etag}', 304), ('"a"', 200)]:
        assert chain.visit(web, "GET", "/files/x", headers={"If-None-Match": asked})["status"] == status, asked
    response = chain.visit(web, "GET", "/cookie", headers={"Cookie": "a=1; seen=no"})
    assert response["body"] == b"no"
    assert response["headers"]["set-cookie"] == ["seen=yes; Path=/; Max-Age=60; Secure; HttpOnly; SameSite=Lax"]
    with pytest.raises(ValueError, match="no cookie"):
        http.Response().set_cookie("a", "b; c")
    # All names of a zone are below one domain: a cookie is for the host that was asked.
    with pytest.raises(TypeError):
        http.Response().set_cookie("a", "b", domain="cowboy.network")
    posted = chain.visit(web, "POST", "/static", body="a=1&b=x+y%26&a=2&c")
    assert json.loads(posted["body"]) == {"a": ["1", "2"], "b": ["x y&"], "c": [""]}
    asset = chain.visit(web, "GET", "/static/a/b.css")
    assert (asset["body"], asset["headers"]["content-type"]) == (b"body{}", ["text/css"])
    assert chain.visit(web, "GET", "/static/none")["status"] == 404


def test_bodies_that_are_none(chain, web):
    for body, status in [(b"\xff", 400), ("{", 400), (None, 400)]:
        assert chain.visit(web, "POST", "/items", body=body)["status"] == status, body


def test_routes_are_described(chain, web):
    document = json.loads(chain.world.account(web.to_bytes()).program.run("http.openapi", b"mysite"))
    assert document["info"]["title"] == "mysite"
    assert sorted(document["paths"]["/items/{id}"]) == ["delete", "get"]
    assert document["paths"]["/items/{id}"]["get"]["parameters"][0]["schema"] == {"type": "integer"}
    assert document["paths"]["/"]["get"]["summary"] == "The page."
    body = document["paths"]["/items"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["properties"] == {"text": {"type": "string"}}


def test_the_specification_s_own_form(chain):
    """004 §8.5, with text bodies and without headers."""
    profile = chain.deploy(ACTORS / "functions_web.py")
    assert chain.visit(profile, "GET", "/api/profile")["body"] == "null"
    posted = chain.visit(profile, "POST", "/api/profile", body='{"name": "A"}')
    assert posted["status"] == 200
    assert json.loads(chain.visit(profile, "GET", "/api/profile")["body"]) == {"name": "A"}
    assert chain.visit(profile, "GET", "/x")["status"] == 404
    direct = chain.execute(profile, "http.request", {"method": "POST", "path": "/api/profile", "body": b"1"})
    assert direct["status"] == 403


@pytest.mark.parametrize(
    ("text", "plain"),
    [("a", "a"), ("a%20b", "a b"), ("%C3%BC", "\u00fc"), ("100%", "100%"), ("%zz", "%zz"), ("%", "%"), ("%ff", "?"), ("%2", "%2")],
)
def test_percent_signs(text, plain):
    assert unquote(text) == plain


def test_forms():
    assert parse_form("") == {}
    assert parse_form("a&&b=") == {"a": [""], "b": [""]}


@pytest.mark.parametrize("path", ["items", "/_cowboy", "/_cowboy/x"])
def test_paths_that_are_no_routes(path):
    with pytest.raises(ValueError, match="no route"):
        http.get(path)(lambda self, request: None)


def test_the_guest_book(chain):
    site = chain.deploy(EXAMPLES / "site" / "actor.py")
    assert b"0 entries" in chain.visit(site, "GET", "/")["body"]
    signed = chain.visit(site, "POST", "/sign", body="text=%3Cb%3E+hello")
    assert (signed["status"], json.loads(signed["body"])) == (201, {"number": 1, "text": "<b> hello"})
    assert chain.visit(site, "POST", "/sign", body='{"text": ""}', headers={"Content-Type": "application/json"})["status"] == 422
    page = chain.visit(site, "GET", "/")
    assert b"<li>&lt;b&gt; hello</li>" in page["body"] and b"1 entries" in page["body"]
    assert json.loads(chain.visit(site, "GET", "/entries/1")["body"])["text"] == "<b> hello"
    assert chain.visit(site, "GET", "/entries/2")["status"] == 404


def test_the_api(chain):
    api = chain.deploy(EXAMPLES / "api" / "actor.py")
    for number in range(1, 13):
        made = chain.visit(api, "POST", "/tasks", body=json.dumps({"title": f"task {number}"}))
        assert (made["status"], made["headers"]["location"]) == (201, [f"/tasks/{number}"])
    assert chain.visit(api, "DELETE", "/tasks/3")["status"] == 204
    assert json.loads(chain.visit(api, "PATCH", "/tasks/2", body='{"done": true}')["body"])["done"] is True
    first = json.loads(chain.visit(api, "GET", "/tasks")["body"])
    assert ([task["id"] for task in first["tasks"]], first["next"]) == ([1, 2, 4, 5, 6, 7, 8, 9, 10, 11], 11)
    second = json.loads(chain.visit(api, "GET", "/tasks", query={"after": "11"})["body"])
    assert ([task["id"] for task in second["tasks"]], second["next"]) == ([12], None)
    for method, path, body, status in [
        ("GET", "/tasks/3", None, 404),
        ("POST", "/tasks", '{"title": ""}', 422),
        ("POST", "/tasks", "[]", 422),
        ("PATCH", "/tasks/99", "{}", 404),
    ]:
        assert chain.visit(api, method, path, body=body)["status"] == status, (method, path)


def test_the_router(chain):
    """A-315: the name's actor stays, what stands behind it changes in one step."""
    router = chain.deploy(EXAMPLES / "router" / "actor.py")
    first = chain.deploy(EXAMPLES / "router" / "version.py", init=json.dumps({"router": router.to_hex()}).encode())
    second = chain.deploy(EXAMPLES / "router" / "version.py", init=json.dumps({"router": router.to_hex()}).encode())
    assert chain.visit(router, "POST", "/page", body=b"1234")["status"] == 503
    for implementation, count in [(first, 1), (first, 2), (second, 1)]:
        chain.execute(router, "set_implementation", [implementation])
        assert chain.visit(router, "POST", "/page", body=b"1234")["status"] == 200
        chain.mine(2)
        assert f"{count} commands".encode() in chain.visit(router, "GET", "/page")["body"]
    assert chain.failures == []
    with pytest.raises(Exception):
        chain.execute(router, "publish", ["page", "lies"])
    with pytest.raises(Exception):
        chain.execute(router, "set_implementation", [ALICE], sender=first)


def test_the_agent_asks_and_the_answer_is_fetched(chain):
    """004 §8.5: a task of a plain function, its context, and its answer where visitors look for it."""
    agent = chain.deploy(EXAMPLES / "agent" / "actor.py", value=1_000_000)
    assert "Ask the chain" in chain.visit(agent, "GET", "/")["body"]
    assert chain.visit(agent, "POST", "/api/ask", body="{}")["status"] == 400
    assert chain.execute(agent, "http.request", {"method": "POST", "path": "/api/ask", "body": b"{}"})["status"] == 403
    asked = chain.visit(agent, "POST", "/api/ask", body='{"question": "Why?"}')
    assert asked["status"] == 202
    place = "_http/results/" + json.loads(asked["body"])["request_id"]
    assert place not in chain.storage(agent)
    forged = {"reply_handler": "on_llm_result", "job_id": bytes(32), "status": "ok", "result": "Lies."}
    assert chain.execute(agent, "on_llm_result", forged) is None
    chain.answer("Because.")
    stored = json.loads(chain.storage(agent)[place])
    assert (stored["status"], json.loads(stored["body"])) == (200, {"answer": "Because."})
    assert json.loads(chain.visit(agent, "GET", "/api/asked")["body"]) == {"asked": 1, "answered": 1}
    assert not [key for key in chain.storage(agent) if key.startswith("_tasks/")], "the context is read once"


def test_a_task_that_fails_is_told_so(chain):
    agent = chain.deploy(EXAMPLES / "agent" / "actor.py", value=1_000_000)
    asked = chain.visit(agent, "POST", "/api/ask", body='{"question": "Why?"}')
    chain.fail("no_replacement_available")
    stored = json.loads(chain.storage(agent)["_http/results/" + json.loads(asked["body"])["request_id"]])
    assert stored["status"] == 502 and "no_replacement_available" in stored["body"]


@pytest.mark.parametrize(("kind", "request_"), [("paint", {"prompt": "x"}), ("llm_inference", {"question": "x"})])
def test_tasks_that_are_none(kind, request_):
    from cowboy_sdk._tasks import submit_task

    with pytest.raises(ValueError, match=kind):
        submit_task(kind, request_, "on_result")
