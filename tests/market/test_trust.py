"""What stands behind results, by the programs that people use: environments that are proven, stake that others put down, tokens."""

import json
import sys

import pytest
from nitro import MEASUREMENT, encode, root
from world import HERE, Refused, World, a_job, result, until

CBY = 10**9
GOVERNANCE, VERIFIER = (f"0x{number:040x}" for number in (0x09, 0x05))


def govern(world, method, argument):
    """What governance decides, on a chain for development."""
    payload = "0x" + encode(argument).hex()
    world.run("chain", "impersonate", GOVERNANCE, "execute", VERIFIER, method, "--payload", payload)


def test_a_proven_environment(tmp_path):
    """A-227, A-228: a runner whose configuration names the hardware's program proves it, signs what it says of results, and is drawn for jobs that
    ask for it; the one that only says so is not."""
    with World(tmp_path, "--block-time", "200ms", "--runners", "0", "--balance", "20000") as world:
        web = world.server("web")
        http = "[http]\nallow_private = true\n"
        command = json.dumps([sys.executable, str(HERE / "nitro.py")])
        govern(world, "set_roots", {"environment": "nitro", "roots": [root()]})
        govern(world, "set_policy", {"environment": "nitro", "measurement": MEASUREMENT, "accepted": False, "name": "not yet"})
        world.runner(0, f'{http}[tee]\nenvironment = "nitro"\ncommand = {command}\n')
        world.runner(1, http)
        world.runners_are(2)
        job = a_job("Http", {"url": f"{web}/price"}, verification={"tee_required": True})
        with pytest.raises(Refused, match="candidates"):
            world.submit(job, account=5)

        govern(world, "set_policy", {"environment": "nitro", "measurement": MEASUREMENT, "accepted": True, "name": "a web reader"})
        proven = lambda: world.run("runner", "get", world.accounts[0][0]).get("attestation")
        assert until("the proof", proven)["environment"] == "nitro"
        done = world.over(world.submit(job, account=5))
        assert (done["status"], result(done)) == ("settled", '{"price": "42.10", "currency": "USD"}')
        (member,) = done["members"]
        assert (member["runner"].lower(), member["attested"]) == (world.accounts[0][0].lower(), True)


def test_stake_of_others_and_tokens(tmp_path):
    """What the client asks and shows of delegated stake and of tokens."""
    with World(tmp_path, "--block-time", "instant", "--runners", "1") as world:
        runner = until("the runner", lambda: world.get("/runners")["runners"])[0]["address"]
        who = world.accounts[6][0]
        world.run("runner", "delegate", runner, "500cby", account=6)
        world.run("runner", "undelegate", runner, "100cby", account=6)
        standing = world.run("runner", "delegation", runner, account=6)
        assert (standing["amount"], [one["amount"] for one in standing["leaving"]]) == (400 * CBY, [100 * CBY])
        shown = world.run("runner", "get", runner)
        assert shown["delegated"] == shown["delegated_counted"] == 400 * CBY, "all of it counts: the runner has enough of its own"
        with pytest.raises(Refused, match="unbonding"):
            world.run("runner", "withdraw-delegation", runner, account=6)
        assert world.run("runner", "delegation", runner, world.accounts[7][0])["amount"] == 0

        most = 2**100
        made = world.run("token", "create", "--name", "Hats", "--symbol", "HAT", "--supply", 1000, "--max-supply", most, account=6)
        token = made["token_id"]
        world.run("token", "transfer", token, world.accounts[7][0], 300, account=6)
        world.run("token", "approve", token, world.accounts[8][0], 50, account=7)
        world.run("token", "transfer", token, who, 20, "--from", world.accounts[7][0], account=8)
        world.run("token", "mint", token, who, most - 1000, account=6)
        world.run("token", "burn", token, 5, account=7)
        shown = world.run("token", "info", token)
        assert (shown["symbol"], shown["supply"], shown["max_supply"], shown["owner"].lower()) == ("HAT", str(most - 5), str(most), who.lower())
        balances = [world.run("token", "balance", token, world.accounts[number][0])["amount"] for number in (6, 7, 8)]
        assert balances == [str(most - 1000 + 720), "275", "0"]
        assert world.run("token", "allowance", token, world.accounts[7][0], world.accounts[8][0])["amount"] == "30"
        assert [one["token_id"] for one in world.run("token", "list")["tokens"]] == [token]
        with pytest.raises(Refused, match="supply"):
            world.run("token", "mint", token, who, 6, account=6)
