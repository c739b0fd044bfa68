"""The examples that need runners, on a devnet that serves them pages, a model and a shop itself: nothing leaves this machine."""

import json
import os
import re
import subprocess

import pytest
from devnet import ROOT, STARTUP_SECONDS, programs

pytestmark = pytest.mark.skipif(programs() is None, reason="cowboyd is not built")


class Demo:
    """A devnet with its runners, and `cowboy` in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        command = [programs() / "cowboyd", "dev", "--port", "0", "--block-time", "500ms", "--quiet"]
        self.node = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder)
        self.said = []
        for line in self.node.stdout:
            self.said.append(line)
            ready = re.match(r"ready: (\S+)", line)
            if ready:
                self.environment = {**os.environ, "COWBOY_RPC_URL": ready[1], "HOME": str(folder)}
                return
        raise AssertionError("cowboyd ended before it was ready")

    def cowboy(self, *arguments, fails=False):
        command = [programs() / "cowboy", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, env=self.environment, timeout=120)
        assert (done.returncode != 0) == fails, f"{arguments}: {done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def deploy(self, name, fund="500cby"):
        return self.cowboy("actor", "deploy", ROOT / "examples" / name / "actor.py", "--fund", fund)

    def ask(self, *arguments):
        return json.loads(self.cowboy("actor", "query", *arguments, "--json"))["result"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    demo = Demo(tmp_path_factory.mktemp("demo"))
    for command in ("init local", "wallet create", "faucet"):
        demo.cowboy(*command.split())
    yield demo
    demo.node.terminate()
    demo.node.wait(STARTUP_SECONDS)
    demo.node.stdout.close()


def test_the_oracle_ends_with_a_price(demo):
    assert any(line.startswith("demo ") and "offline" in line for line in demo.said)
    demo.deploy("oracle")
    said = demo.cowboy("actor", "execute", "oracle", "ask", "ETH", "--wait")
    assert "Waits for jobs: 5\n" in said and "Result: 301275\n" in said, said
    assert said.count(" verified: ") + said.count(" settled: ") == 5 and '"price"' in said
    price = demo.ask("oracle", "price", "ETH")
    assert (price["cents"], price["answers"]) == (301_275, 5), "four sources agree, and the one that lies moves nothing"


def test_models_and_tools(demo):
    demo.deploy("analyst")
    assert 'Result: "buy"' in demo.cowboy("actor", "execute", "analyst", "study", "https://news.example.com/today", "--wait")
    assert demo.ask("analyst", "last")["verdict"] == {"action": "buy", "confidence": 85, "reason": "Cowboy Hats sells more than ever."}
    demo.deploy("jury")
    said = demo.cowboy("actor", "execute", "jury", "judge", "The cart came on Monday. When did the cart come?", "--wait")
    assert "The cart came on Monday." in demo.ask("jury", "case", "1")["verdict"], said
    demo.deploy("shopper")
    assert "Result: 900" in demo.cowboy("actor", "execute", "shopper", "buy", '["hat", 1000]', "--wait")
    assert demo.ask("shopper", "orders") == 1


def test_a_call_that_waits_for_nothing(demo):
    demo.deploy("hello", fund="0")
    assert 'Result: "Hello, Ada!"' in demo.cowboy("actor", "execute", "hello", "greet", "Ada", "--wait")


def test_a_failed_job_is_told_with_its_reason(demo):
    job = {
        "job_type": {"type": "Http", "url": "https://alpha.example.com/nothing"},
        "bounds": {"max_wall_time_seconds": 20},
        "result_schema": {"max_return_bytes": 4096, "expected_execution_ms": 1000, "data_format": ""},
        "verification": {"mode": "none"},
        "max_price": 1_000_000,
        "timeout_blocks": 100,
    }
    said = demo.cowboy("job", "run", json.dumps(job), fails=True)
    assert "an external service failed: the host, the page's status" in said, said
    (job_id,) = set(re.findall(r"^Job: +(0x\w+)", said, re.MULTILINE))
    said = demo.cowboy("job", "watch", job_id, fails=True)
    assert "failed: " in said and "reports that an external service failed" in said, said


def test_a_job_that_is_run_prints_one_object(demo):
    job = {
        "job_type": {"type": "Http", "url": "https://alpha.example.com/nothing"},
        "bounds": {"max_wall_time_seconds": 20},
        "result_schema": {"max_return_bytes": 4096, "expected_execution_ms": 1000, "data_format": ""},
        "verification": {"mode": "none"},
        "max_price": 1_000_000,
        "timeout_blocks": 100,
    }
    # Behind the object is why the command failed, from stderr.
    said, _ = json.JSONDecoder().raw_decode(demo.cowboy("job", "run", json.dumps(job), "--json", fails=True))
    assert said["submitted"]["job_id"] == said["job"]["job_id"] and said["job"]["status"] == "failed", said


def test_an_agent_is_watched(demo):
    demo.deploy("heartbeat")
    said = demo.cowboy("actor", "watch", "heartbeat", "--count", "2")
    assert len(re.findall(r"^ +\d+  timer \w+.*cycles$", said, re.MULTILINE)) == 2, said
    assert "no messages wait" in demo.cowboy("actor", "messages", "heartbeat")
