"""A gateway in a process of its own, as the internet sees it."""

import json
import pathlib
import subprocess
import sys

import httpx
from world import ROOT, World, fetch, until

ZONE = "cowboy.test"
EXAMPLES = ROOT / "examples"


class Gateway:
    """A gateway that follows the world's node, and where it listens."""

    def __init__(self, world, name, settings, account):
        (world.folder / f"{name}.key").write_text(world.accounts[account][1])
        registration = f'key_file = "{name}.key"\n[register]\nendpoint = "127.0.0.1"\nhttp_port = 80\nstake_cby = 10000\n'
        file = world.folder / f"{name}.toml"
        file.write_text(f'node = "{world.url}"\n{registration}{settings}')
        self.process = world.start("cowboy-gateway", [world.bin / "cowboyd", "--config", file])
        self.http = int(self.process.said[-1].rsplit(":", 1)[1])


def test_an_api_against_its_own_description(tmp_path):
    """A-348: a gateway that is neither validator nor runner; a fuzzer reads the OpenAPI of an actor's routes, and no answer breaks it."""
    with World(tmp_path, "--block-time", "instant", "--runners", "0", "--no-gateway", "--balance", "50000") as world:
        manifest = EXAMPLES / "api" / "manifest.json"
        api = world.run("actor", "deploy", "--code", EXAMPLES / "api" / "actor.py", "--manifest-json", manifest)["address"]
        world.run("name", "register", "tasks", "--actor", api)
        text = f'[http]\nlisten = "127.0.0.1:0"\nzones = ["{ZONE}"]\n[http.limits]\nrequests_per_second = 0\n'
        gateway = Gateway(world, "gateway", text, account=1)
        url, host = f"http://127.0.0.1:{gateway.http}", f"tasks.{ZONE}"
        described = lambda: httpx.get(f"{url}/_cowboy/openapi.json", headers={"Host": host})
        until("the description", lambda: described().status_code == 200)
        schema = world.folder / "openapi.json"
        schema.write_bytes(described().content)
        command = [pathlib.Path(sys.executable).parent / "schemathesis", "run", schema, "--url", url, "-H", f"Host: {host}", "--max-examples", "10"]
        command += ["--seed", "7", "--generation-database", "none", "--checks", "not_a_server_error,status_code_conformance,content_type_conformance"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=180, cwd=world.folder)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert json.loads(fetch(f"{url}/_cowboy/health"))["status"] == "ok"
        # The fuzzer's commands registered it; the node beside it is no gateway, and it is nothing else.
        registered = lambda: [found["address"].lower() for found in world.run("gateway", "list")["gateways"]]
        until("the gateway's registration", lambda: registered() == [world.accounts[1][0].lower()])
        assert world.get("/runners")["runners"] == []
        assert world.run("gateway", "unstake", account=1)
        assert world.run("transfer", world.accounts[2][0], "1cby"), "the chain goes on without it"
