"""The five examples that use the market, as they are printed, from their deployment to their storage: a devnet, five runners in processes of
their own, web sites over TLS, a model server, and a real MCP server."""

import json
import sys
from urllib.parse import urlsplit

import pytest
from servers import CHAT, CONTRARY, SITES, TURNED
from world import HERE, ROOT, World, until

RUNNERS = 5
# Who deploys, and who sells: accounts that are no runners.
OWNER, SELLER = 5, 6


@pytest.fixture(scope="module")
def market(tmp_path_factory):
    with World(tmp_path_factory.mktemp("market"), "--block-time", "200ms", "--runners", "0", "--balance", "20000") as world:
        sites = urlsplit(world.server("sites", world.folder)).netloc
        model = world.server("llm")
        hosts = "".join(f'"{site}" = "{sites}"\n' for site in SITES)
        shop = [sys.executable, str(HERE / "shop_server.py")]
        for number in range(RUNNERS):
            # One model in five is contrary: committees of three have to bear it.
            chat = {0: CONTRARY, 1: TURNED}.get(number, CHAT)
            world.runner(
                number,
                f'[http]\nextra_ca = {json.dumps(str(world.folder / "ca.pem"))}\n[http.hosts]\n{hosts}'
                f'[llm]\nurl = "{model}/v1"\nmodel = "{chat}"\nembedding_model = "words-64"\n'
                f'[mcp.shop]\ncommand = {json.dumps(shop)}\nenv = {{ SHOP_SELLER = "{world.accounts[SELLER][0]}" }}\n',
            )
        world.runners_are(RUNNERS)
        yield world


def deploy(world, code, manifest):
    options = ("--code", code, "--manifest-json", manifest, "--fund", "500cby")
    return world.run("actor", "deploy", *options, account=OWNER)["address"]


def example(world, name):
    folder = ROOT / "examples" / name
    return deploy(world, folder / "actor.py", folder / "manifest.json")


def execute(world, actor, handler, argument):
    world.run("actor", "execute", actor, handler, "--payload", json.dumps(argument), account=OWNER)


def query(world, actor, handler, *argument):
    payload = ["--payload", json.dumps(argument[0])] if argument else []
    return world.run("actor", "query", actor, handler, *payload)["result"]


def over(world, actor, count):
    """Watches the actor's jobs until they are over, as a person would. Answers them, the oldest first."""

    def asked():
        jobs = [job for job in world.get("/jobs?limit=1000")["jobs"] if job["submitter"] == actor]
        return len(jobs) >= count and jobs

    jobs = until(f"{count} jobs of {actor}", asked)
    return [world.run("job", "status", job["job_id"], "--watch") for job in sorted(jobs, key=lambda job: job["submitted_at"])]


def stored(world, actor):
    return world.get(f"/actor/{actor}")["storage"]


def test_keeper_and_oracle(market):
    """A-217, A-358: a timer asks for ever while five sources are asked once; the median bears a source that is down and one that lies."""
    keeper = example(market, "keeper")
    oracle = example(market, "oracle")
    execute(market, oracle, "ask", "ETH")
    jobs = over(market, oracle, 5)
    assert sorted(job["status"] for job in jobs) == ["failed"] + ["settled"] * 4, "the exchange that is down gives no result"
    price = until("the price", lambda: query(market, oracle, "price", "ETH"))
    assert (price["cents"], price["answers"]) == (301_310, 4)
    assert any("price:ETH" in key for key in stored(market, oracle)), "it stands in the actor's storage"

    looked = lambda: (report := query(market, keeper, "report"))["state"] == "down" and report
    report = until("the change", looked)
    assert report["looks"] >= 2 and report["misses"] == 0
    changes = [event["name"] for event in market.get(f"/actor/{keeper}/logs")["logs"] if event["name"] == "changed"]
    assert len(changes) == 2, "up, then down, and nothing between"
    market.run("actor", "execute", keeper, "stop", account=OWNER)


def test_analyst(market):
    """A-213, A-358: a page, then a model's structured answer that two of three runners gave."""
    analyst = example(market, "analyst")
    execute(market, analyst, "study", "https://news.example.com/today")
    page, opinion = over(market, analyst, 2)
    assert (page["mode"], opinion["mode"], opinion["committee"]) == ("none", "majority_vote", 3)
    last = until("the verdict", lambda: query(market, analyst, "position") and query(market, analyst, "last"))
    assert (last["verdict"]["action"], last["verdict"]["confidence"]) == ("buy", 85)
    verdicts = {member["verdict"] for member in opinion["members"]}
    assert verdicts <= {"accepted", "differs"} and opinion["agreeing"] >= 2


def test_jury(market):
    """A-216: answers of other words mean the same; one that means something else does not spoil it."""
    jury = example(market, "jury")
    execute(market, jury, "judge", "Is it late? say: It is late by two days.")
    (job,) = over(market, jury, 1)
    assert (job["mode"], job["status"]) == ("semantic_similarity", "verified")
    case = until("the verdict", lambda: (case := query(market, jury, "case", 1))["verdict"] and case)
    assert sorted(case["verdict"].split()) == sorted("It is late by two days.".split())


def test_shopper(market):
    """A-106, A-233: tools of a real MCP server; what the manifest does not allow to spend is not spent, whatever a tool quotes."""
    seller = lambda: int(market.get(f"/account/{market.accounts[SELLER][0]}")["balance"])
    shopper = example(market, "shopper")
    before = seller()
    execute(market, shopper, "buy", ["hat", 4000])
    over(market, shopper, 2)
    until("the order", lambda: query(market, shopper, "orders") == 1)
    assert seller() - before == 3000
    assert any("order of 1 hat, paid by" in str(value) for value in stored(market, shopper).values()), stored(market, shopper)

    # 8,000 are within what the caller allows, and beyond what the manifest does.
    execute(market, shopper, "buy", ["boots", 10_000])
    over(market, shopper, 3)
    execute(market, shopper, "buy", ["hat", 4000])
    over(market, shopper, 5)
    until("the next order", lambda: query(market, shopper, "orders") == 2)
    assert seller() - before == 6000, "the boots were never paid"


def test_the_published_message(market):
    """A-217: the message of the published SDK, sent as a message to 0x02, with arguments by place and by name."""
    actor = deploy(market, HERE / "messenger.py", HERE / "messenger.json")
    rows = [
        ("http", [f"https://{next(iter(SITES))}/price/ETH"], {}, '{"price": "3012.50"}'),
        ("llm", ["say: howdy"], {"max_tokens": 20, "verify": {"mode": "consensus", "runners": 3, "threshold": 2}}, None),
        ("mcp", ["shop", "price"], {"item": "hat"}, '{"cents":3000}'),
        ("mcp", ["shop", "price", {"item": "boots"}], {"tip": 5}, '{"cents":8000}'),
        ("mcp", [], {"server": "shop", "tool": "find", "arguments": {"query": "oo"}}, '{"result":"boots"}'),
    ]
    for job_type, args, kwargs, _ in rows:
        execute(market, actor, "ask", [job_type, args, kwargs])
    execute(market, actor, "look", "addl")
    for number, (job_type, args, _, expected) in enumerate(rows, 1):
        answer = until(f"the answer to {args}", lambda: query(market, actor, "kept", f"answer:{number}"))
        assert answer == expected or expected is None and answer == "howdy", job_type
    assert until("what was found", lambda: query(market, actor, "kept", "found")) == "saddle"
