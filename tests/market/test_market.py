"""The off-chain market with real processes on the loopback: runners that earn, crash, start again, and lie."""

import json

import pytest
from world import World, a_job, fetch, result, until

HTTP = "[http]\nallow_private = true\n"


def test_runners_inside_a_devnet(tmp_path):
    """A-206, A-208, A-210, A-217, A-238: one runner, and a committee whose aggregator opens all commitments."""
    with World(tmp_path, "--block-time", "200ms", "--allow-private") as world:
        web = world.server("web")
        world.runners_are(5)
        alone = world.over(world.submit(a_job("Http", {"url": f"{web}/price"})))
        assert (alone["status"], result(alone)) == ("settled", '{"price": "42.10", "currency": "USD"}')
        rules = [{"name": "title", "type": "css", "rule": "title"}, {"name": "lead", "type": "xpath", "rule": "//p[@class='lead']"}]
        asked = a_job("Http", {"url": f"{web}/page", "extract": rules}, "majority_vote", 3, data_format="json")
        together = world.over(world.submit(asked))
        assert (together["status"], together["agreeing"]) == ("verified", 3)
        assert json.loads(result(together)) == {"title": "News", "lead": "Cowboys trade hats."}
        assert all(member["paid"] > 0 for member in together["members"])
        assert world.run("job", "verify-selection", together["job_id"])["valid"]
        refused = world.over(world.submit(a_job("Http", {"url": "http://169.254.1.1:1/"}, bounds={"max_wall_time_seconds": 1})))
        assert refused["status"] == "failed"


def test_a_private_address_is_refused(tmp_path):
    """Without being told otherwise, nobody asks what is on this machine: the job was written wrongly, and the submitter pays the least."""
    with World(tmp_path, "--block-time", "200ms") as world:
        web = world.server("web")
        world.runners_are(5)
        job = world.over(world.submit(a_job("Http", {"url": f"{web}/price"})))
        assert (job["status"], job["reason"]) == ("failed", "actor_fault")
        assert json.loads(fetch(f"{web}/asked?path=/price"))["asked"] == 0


def test_a_killed_runner_neither_works_twice_nor_misses_a_revelation(tmp_path):
    """A-238: SIGKILL after the commitment, and SIGKILL between result and commitment."""
    with World(tmp_path, "--block-time", "200ms", "--runners", "0", "--balance", "20000") as world:
        web = world.server("web")
        runners = [world.runner(number, HTTP) for number in range(3)]
        world.runners_are(3)
        addresses = [address.lower() for address, _ in world.accounts[:3]]

        # Two commit, the third waits for its page: whoever is killed now has a commitment that nobody else can open.
        job = world.submit(a_job("Http", {"url": f"{web}/held?free=2"}, "majority_vote", 3), account=5)
        committed = lambda: [m["runner"] for m in world.job(job)["members"] if int(m["commitment"], 16)]
        until("two commitments", lambda: len(committed()) == 2)
        killed = [addresses.index(runner.lower()) for runner in committed()]
        for number in killed:
            runners[number].kill()
        fetch(f"{web}/release")
        until("the revelations", lambda: world.job(job)["status"] == "revealing")
        for number in killed:
            runners[number] = world.runner(number, HTTP)
        done = world.over(job)
        assert [member["verdict"] for member in done["members"]] == ["accepted"] * 3, "nobody missed it"
        assert json.loads(fetch(f"{web}/asked?path=/held"))["asked"] == 3, "nobody worked twice"

        # The node stands still, so that the result is on the disk and the commitment nowhere.
        job = world.submit(a_job("Http", {"url": f"{web}/held2"}), account=5)
        done = world.over(job)
        assert done["status"] == "failed", "404 is no result"
        web = world.server("web")
        job = world.submit(a_job("Http", {"url": f"{web}/held"}), account=5)
        until("the request", lambda: json.loads(fetch(f"{web}/asked?path=/held"))["asked"] == 1)
        world.node.pause()
        fetch(f"{web}/release")
        number = addresses.index(done_by(runners))
        runners[number].kill()
        world.node.go_on()
        assert world.job(job)["status"] == "assigned", "it said nothing yet"
        runners[number] = world.runner(number, HTTP)
        assert result(world.over(job)) == '{"held": true}'
        assert json.loads(fetch(f"{web}/asked?path=/held"))["asked"] == 1, "nobody worked twice"
        del runners


def done_by(runners):
    """The address of the runner that has executed something that it could not say."""

    def find():
        for runner in runners:
            status = json.loads(fetch(f"{runner.listening}/status"))
            if any(job["status"] == "assigned" and job["step"] == "submit" for job in status["jobs"]):
                return status["runner"].lower()
        return None

    return until("the execution", find)


@pytest.mark.parametrize(
    "manner, verdicts",
    [
        ("--lie", {"accepted", "differs"}),
        ("--late", {"accepted", "timedout"}),
        ("--crash", {"accepted", "unrevealed", "differs"}),
        ("--copy", {"accepted", "unrevealed"}),
        ("--withhold", {"accepted", "unrevealed"}),
        ("--collude", {"accepted", "differs"}),
    ],
)
def test_misbehaving_runners(tmp_path, manner, verdicts):
    """Liars, latecomers, crashes, copies, colluders, and who never reveals: the truth is accepted or nothing is, unless most of a committee collude where too few runners
    are left for a further one (decision 309); every escrow is accounted for."""
    options = ["--block-time", "200ms", "--runners", "7", "--allow-private", manner, "0.25", "--seed", "7"]
    with World(tmp_path, *options) as world:
        web = world.server("web")
        world.runners_are(7)
        jobs = []
        for number in range(6):
            rules = [{"name": "price", "type": "jsonpath", "rule": "$.price"}]
            fields = {"url": f"{web}/price?{number}", "extract": rules}
            jobs.append(world.submit(a_job("Http", fields, "majority_vote", 5, timeout_blocks=15, bounds={"max_wall_time_seconds": 10}, data_format="json"), account=number))
        seen = set()
        for job in jobs:
            done = world.over(job)
            seen |= {member["verdict"] for member in done["members"]}
            if done["status"] == "failed":
                assert done["escrow"] == 0, "everything went back"
            elif result(done) != '{"price":"42.10"}':
                told = [member for member in done["earlier"] if member["verdict"] == "accepted"]
                assert manner == "--collude" and 2 * len(told) > len(done["earlier"]), f"a minority's lie passed: {done}"
        assert "accepted" in seen and seen <= verdicts | {"timedout", "pending"}, seen


def test_a_seed_repeats(tmp_path):
    """Another devnet with the same seed has the same jobs misdone by the same places of their committees, whoever is drawn."""

    def verdicts(folder):
        folder.mkdir()
        with World(folder, "--block-time", "200ms", "--runners", "9", "--allow-private", "--lie", "0.3", "--seed", "13") as world:
            web = world.server("web")
            world.runners_are(9)
            found = []
            for number in range(4):
                job = a_job("Http", {"url": f"{web}/price"}, "majority_vote", 7, data_format="json", verification={"threshold": 2})
                found.append([member["verdict"] for member in world.over(world.submit(job, account=number))["members"]])
            return found

    first = verdicts(tmp_path / "first")
    assert first == verdicts(tmp_path / "second")
    assert {verdict for verdicts in first for verdict in verdicts} == {"accepted", "differs"}


def test_a_job_without_a_chain(tmp_path):
    """`cowboy job run --local` does what a runner would."""
    with World(tmp_path, "--runners", "0") as world:
        web = world.server("web")
        spec = tmp_path / "spec.json"
        spec.write_text(json.dumps(a_job("Http", {"url": f"{web}/price", "selector": "$.price"})))
        answer = world.run("job", "run", "--local", spec, "--allow-private")
        assert (answer["result"], answer["is_valid"], answer["fault"]) == ("42.10", True, None)
