"""Mistakes of a first day, each told by the same rule: what is wrong, with the word that the user wrote, and what to do instead."""

import json
import os
import re
import subprocess

import pytest
from devnet import ROOT, STARTUP_SECONDS, programs

pytestmark = pytest.mark.skipif(programs() is None, reason="cowboyd is not built")

ACTOR = """\
from cowboy_sdk import OWNER, Actor, actor, call, callable_by, public


@actor
class Shop(Actor):
    @public
    def init(self, owner_name: str, price: int = 3):
        self.storage["price"] = price

    @public
    def price(self) -> int:
        return self.storage["price"]

    @public
    def order(self, item: str, count: int) -> str:
        if count > 5:
            raise ValueError(f"the shop has no {count} of {item}")
        self.storage[item] = count
        return item

    @callable_by(OWNER)
    def close(self) -> None:
        self.storage["price"] = 0

    @public
    def big(self) -> None:
        self.storage["big"] = "x" * 300_000

    @public
    def forever(self) -> None:
        while True:
            pass

    @public
    def deep(self) -> int:
        return self._down(0)

    def _down(self, depth):
        return self._down(depth + 1)

    @public
    def keep(self, kind: str) -> None:
        values = {"object": object(), "function": print, "class": ValueError}
        self.storage["kept"] = values[kind]

    @public
    def missing(self) -> None:
        return self.storage.undefined_name()

    @public
    def far(self) -> None:
        call("0x0900000000000000000000000000000000000009", "price")
"""

# A source that the chain or the lint refuses: what is in it, and the word that the message must have.
SOURCES = [
    ("import time\n", "time"),
    ("import os\n", "os"),
    ("import random\n", "random"),
    ("import socket\n", "socket"),
    ("import threading\n", "threading"),
    ("import requests\n", "requests"),
    ("from datetime import datetime\n", "datetime"),
    ("import numpy as np\n", "numpy"),
    ("def f(:\n    pass\n", "parameter"),
    ("def f():\nreturn 1\n", "indent"),
    ("x = (1, 2\n", "`)`"),
    ("print 'x'\n", "print"),
    ("open('file')\n", "open"),
    ("eval('1')\n", "eval"),
    ("exec('1')\n", "exec"),
    ("input()\n", "input"),
    ("__import__('os')\n", "__import__"),
    ("global_name = undefined_name\n", "undefined_name"),
    ("raise ValueError('at import')\n", "at import"),
    ("1 / 0\n", "division by zero"),
]

# Arguments of `cowboy`, and the word of them that the message must have.
COMMANDS = [
    ("actr deploy shop.py", "actr"),
    ("actor deplo shop.py", "deplo"),
    ("actor deploy nosuch.py", "nosuch.py"),
    ("actor deploy .", "."),
    ("actor deploy shop.py --fund 5xyz", "5xyz"),
    ("actor deploy shop.py --fund -1cby", "-1"),
    ("actor deploy shop.py --fund 99999999cby", "99"),
    ("actor deploy shop.py --salt xyz", "salt"),
    ("actor deploy shop.py --salt " + "00" * 40, "salt"),
    ("actor deploy shop.py --manifest-json nosuch.json", "nosuch.json"),
    ("actor deploy shop.py --manifest-json broken.json", "broken.json"),
    ("actor deploy shop.py --manifest-json unknown.json", "no.such"),
    ("actor deploy shop.py --manifest-json empty.json --init-payload [\"Ada\"]", "storage.kv"),
    ("actor deploy shop.py --manifest-json storage.json --fund 1cby --init-payload [\"Ada\"]", "econ.hold_balance"),
    ("actor deploy shop.py --salt 07", "owner_name"),
    ("actor deploy shop.py --salt 07 --init-payload 5", "owner_name"),
    ("actor deploy shop.py --salt 07 --init-payload {", "{"),
    ("actor deploy shop.py --salt 09 --init-handler nosuch", "nosuch"),
    ("actor deploy shop.py --no-init --init-payload 1", "--init-payload"),
    ("actor deploy shop.py --init-payload [\"Ada\"]", "--salt"),
    ("actor execute", "ACTOR"),
    ("actor execute shop", "HANDLER"),
    ("actor execute nosuch price", "nosuch"),
    ("actor execute shop nosuch", "nosuch"),
    ("actor execute shop _down", "_down"),
    ("actor execute shop order", "item"),
    ("actor execute shop order hat", "count"),
    ("actor execute shop order [5,3]", "item"),
    ("actor execute shop order [\"hat\"]", "count"),
    ("actor execute shop order [\"hat\",\"three\"]", "count"),
    ("actor execute shop order [\"hat\",3,4]", "order"),
    ("actor execute shop order {\"item\":\"hat\"}", "count"),
    ("actor execute shop order {\"item\":\"hat\",\"size\":3}", "size"),
    ("actor execute shop order {\"item\":", "{\"item\":"),
    ("actor execute shop order [\"hat\",9]", "9 of hat"),
    ("actor execute shop order [\"hat\",true]", "count"),
    ("actor execute shop order [\"hat\",1.5]", "count"),
    ("actor execute shop order 0xzz", "0xzz"),
    ("actor execute shop order @nosuch.json", "nosuch.json"),
    ("actor execute shop price --payload 1 2", "--payload"),
    ("actor execute shop price --value 1.0000000001cby", "1.0000000001cby"),
    ("actor execute shop price --value abc", "abc"),
    ("actor execute shop price --value 999999cby", "CBY"),
    ("actor execute shop price --cycles-limit many", "many"),
    ("actor execute shop price --cycles-limit 1 --force", "cycles"),
    ("actor execute shop price --nonce 99999", "nonce"),
    ("actor execute shop price --private-key 0x12", "private-key"),
    ("actor execute shop price --private-key nosuch.pem", "private-key"),
    ("actor execute shop price --rpc-url localhost", "localhost"),
    ("actor execute shop price --rpc-url http://127.0.0.1:1", "127.0.0.1:1"),
    ("actor execute shop price --rpc-url ftp://example.com", "ftp"),
    ("actor execute shop price --network nosuch", "nosuch"),
    ("actor execute shop big", "300"),
    ("actor execute shop forever", "cycles"),
    ("actor execute shop deep", "recursion"),
    ("actor execute shop keep object", "object"),
    ("actor execute shop keep function", "function"),
    ("actor execute shop keep class", "type"),
    ("actor execute shop missing", "undefined_name"),
    ("actor execute shop far", "0x0900000000000000000000000000000000000009"),
    ("actor execute 0x12 price", "0x12"),
    ("actor execute 0xzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz price", "0xzz"),
    ("actor execute 0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045 price", "EIP-55"),
    ("actor execute 0x0900000000000000000000000000000000000009 price", "0x0900000000000000000000000000000000000009"),
    ("actor query shop nosuch", "nosuch"),
    ("actor query shop order [\"hat\",1]", "set_state"),
    ("actor query nosuch price", "nosuch"),
    ("query shop price --max-cycles few", "few"),
    ("actor get nosuch", "nosuch"),
    ("actor logs nosuch", "nosuch"),
    ("actor rent nosuch", "nosuch"),
    ("actor timers nosuch", "nosuch"),
    ("actor watch nosuch", "nosuch"),
    ("actor messages nosuch", "nosuch"),
    ("actor new shop", "shop"),
    ("actor redeploy shop --manifest-json nosuch.json", "nosuch.json"),
    ("transfer", "TO"),
    ("transfer 0x12 1cby", "0x12"),
    ("transfer 0x70997970c51812dc3a010c7d01b50e0d17dc79c8", "AMOUNT"),
    ("transfer 0x70997970c51812dc3a010c7d01b50e0d17dc79c8 lots", "lots"),
    ("transfer 0x70997970c51812dc3a010c7d01b50e0d17dc79c8 9999999cby", "CBY"),
    ("transfer 0x70997970C51812dc3a010c7d01b50e0d17dc79c8 1cby", "EIP-55"),
    ("account balance nosuch", "nosuch"),
    ("wallet import nosuch", "nosuch"),
    ("wallet import --mnemonic hello", "word count: 1"),
    ("wallet create", ".cowboy/key"),
    ("wallet export --format der", "der"),
    ("transaction get 0x12", "0x12"),
    ("transaction status 0x" + "00" * 32, "0x00"),
    ("transaction trace nothash", "nothash"),
    ("transaction trace 0x" + "11" * 32, "0x11"),
    ("block get nosuch", "nosuch"),
    ("block get 99999999", "99999999"),
    ("job status 0x12", "0x12"),
    ("job status 0x" + "00" * 32, "0x00"),
    ("job submit {", "JSON"),
    ("job submit {}", "job_type"),
    ("job submit {\"jobtype\":1}", "job_type"),
    ("job submit @nosuch.json", "nosuch.json"),
    ("name register x --actor shop", "x"),
    ("name register Shöp --actor shop", "a to z"),
    ("name register good --actor nosuch", "nosuch"),
    ("name register shopname --actor shop", "ingress.http"),
    ("name get nosuchname", "nosuchname"),
    ("timer schedule shop price", "--at"),
    ("timer schedule shop price --at 1", "1"),
    ("timer cancel 0x12", "0x12"),
    ("timer cancel 0x" + "22" * 32, "0x2222"),
    ("token nosuch", "nosuch"),
    ("runner get 0x12", "0x12"),
    ("runner nosuch", "nosuch"),
    ("gov nosuch", "nosuch"),
    ("gov vote 99 yes", "99"),
    ("gov vote 0 maybe", "maybe"),
    ("gov count 99", "99"),
    ("gov execute 99", "99"),
    ("wallet nosuch", "nosuch"),
    ("job watch 0x12", "0x12"),
    ("proof account 0x12", "0x12"),
    ("proof storage shop nosuch", "nosuch"),
    ("proof account 0x2200000000000000000000000000000000000022", "0x22"),
    ("test nosuch.py", "nosuch.py"),
    ("test broken_test.py", "broken_test.py"),
    ("test --cycles-snapshot nosuch/cycles.json shop_test.py", "nosuch/cycles.json"),
    ("lint nosuch.py", "nosuch.py"),
    ("lint broken_test.py", "broken_test.py"),
    ("vm run nosuch.py", "nosuch.py"),
    ("vm run broken_test.py", "broken_test.py"),
    ("vm run raises.py", "from raises"),
    ("dev --code nosuch.py --handler x", "nosuch.py"),
    ("dev --code shop.py --handler nosuch", "nosuch"),
    ("wallet create --encrypt --out encrypted.json", "COWBOY_PASSPHRASE"),
    ("wallet import sealed.json --out opened.pem", "sealed.json"),
    ("config use nosuch", "nosuch"),
    ("config add test localhost", "localhost"),
    ("config remove nosuch", "nosuch"),
    ("completions tcsh", "tcsh"),
    ("init 2x", "2x"),
    ("init dev", "address"),
    ("chain mine many", "many"),
    ("chain warp yesterday", "yesterday"),
    ("faucet 0x12", "0x12"),
    ("--no-such-option status", "--no-such-option"),
    ("", "Usage"),
]


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    command = [programs() / "cowboyd", "dev", "--port", "0", "--block-time", "instant", "--runners", "0", "--quiet"]
    node = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder)
    url = next(found[1] for found in map(re.compile(r"ready: (\S+)").match, node.stdout) if found)
    environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}

    def run(*arguments):
        # The node's address stands in the folder, so that mistakes about it can be made.
        command = [programs() / "cowboy", *arguments]
        # Without a terminal, on which a passphrase would be asked for.
        options = {"stdin": subprocess.DEVNULL, "start_new_session": True, "timeout": 60}
        return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, **options)

    files = {
        "shop.py": ACTOR,
        "broken.json": "{",
        "unknown.json": '{"entitlements": [{"id": "no.such"}]}',
        "empty.json": '{"entitlements": []}',
        "storage.json": '{"entitlements": [{"id": "storage.kv"}]}',
        "broken_test.py": "def test_x(:\n    pass\n",
        "shop_test.py": "def test_x(chain):\n    pass\n",
        "raises.py": "raise ValueError('from raises')\n",
        "sealed.json": '{"version": 3, "crypto": {}}',
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    for step in (["init", "dev", "--rpc-url", url], ["wallet", "create"], ["faucet"], ["actor", "deploy", "shop.py", "--init-payload", '["Ada"]'], ["actor", "new", "shop"]):
        done = run(*step)
        assert done.returncode == 0, f"{step}: {done.stdout}{done.stderr}"
    yield folder, run
    node.terminate()
    node.wait(STARTUP_SECONDS)
    node.stdout.close()


def judged(done, word):
    """Why a message is no good one, by the rule; nothing where it is."""
    said = done.stdout + done.stderr
    faults = []
    if done.returncode == 0:
        faults.append("it succeeds")
    if word not in said:
        faults.append(f"it has not the word {word!r}")
    if "panicked" in said or "RUST_BACKTRACE" in said:
        faults.append("it panics")
    if not re.search(r"^(error|FAILED|____|Traceback|\S+: )|Usage|cannot", said, re.MULTILINE):
        faults.append("it does not say what is wrong")
    if not re.search(r"fix: |tip: |Usage: |try '--help'|possible values|line \d|^Traceback|\[possible|---> |--> ", said, re.MULTILINE):
        faults.append("it does not say what to do, or where")
    if len(said) < 40:
        faults.append("it is too short")
    return faults


@pytest.mark.parametrize("arguments, word", COMMANDS, ids=[row[0][:60] or "nothing" for row in COMMANDS])
def test_a_mistake_of_a_command(shell, arguments, word):
    _, run = shell
    done = run(*arguments.split())
    assert judged(done, word) == [], done.stdout + done.stderr


@pytest.mark.parametrize("source, word", SOURCES, ids=[row[0].strip()[:40] for row in SOURCES])
def test_a_mistake_of_a_source(shell, source, word):
    folder, run = shell
    body = "\n\n@actor\nclass A:\n    @public\n    def f(self):\n        return 1\n"
    (folder / "wrong.py").write_text("from cowboy_sdk import actor, public\n" + source + body)
    done = run("actor", "deploy", "wrong.py")
    assert judged(done, word) == [], done.stdout + done.stderr


def test_there_are_many(shell):
    assert len(COMMANDS) + len(SOURCES) >= 150


def test_failures_as_json(shell):
    """Programs get the same: what and fix apart."""
    _, run = shell
    for arguments, _ in COMMANDS:
        words = arguments.split()
        if words[:2] not in (["actor", "execute"], ["actor", "query"]) or "http" in arguments or "--network" in words:
            continue
        done = run("--json", *words)
        if done.returncode == 2 and "Usage" in done.stderr or "tip:" in done.stderr or "For more information" in done.stderr:
            continue
        error = json.loads(done.stderr.strip().splitlines()[-1])["error"]
        assert error["what"] and "\n" not in error["what"] and (error.get("fix") or error.get("context")), (arguments, error)
