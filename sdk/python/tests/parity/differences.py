"""What each difference that docs/sdk.md names does with whichever SDK is on the path: the row's first code to the outcome, as JSON."""

import importlib
import json
import sys
from typing import Optional

from cowboy_sdk import mock_host

sys.modules["pvm_host"] = mock_host
# The modules of these are on the page by their names only.
PARTS = {
    "pvm_time": ("localtime", "strftime"),
    "runtime": ("require_fsm", "is_checkpoint_mode"),
    "bounded_loop": ("BoundedIterator",),
    "runner": ("decode_reply", "dispatch", "cowchat_room"),
    "continuation": ("carry", "carried"),
    "pvm_sys": ("stdlib_hash",),
    "testing": ("SimulatedChain", "CallMock"),
}
MODULES = ("recipes", "offchain", "delegation", "per_call", "routes", "runner_routes", "fork", "events_v0", "on_stream", "watchtower")


def module(name):
    return importlib.import_module("cowboy_sdk." + name)


class Answer(module("models").CowboyModel):
    note: Optional[str] = None


def failure(reason):
    runner = module("runner")
    job = {"kind": "failure", "v": 1, "job_id": "0x" + "00" * 32, "reason": reason, "attempts": 1}
    return runner._failure_of({"failure": job}).reason


ROWS = {
    "set_interval": lambda: len(importlib.import_module("cowboy_sdk").set_interval(2, "beat", "text")),
    "emit_event": lambda: module("runtime").emit_event("name", b"", schema=bytes(31)),
    "reason": lambda: failure("no such reason"),
    "BlockHeight": lambda: module("types").BlockHeight(5) + "x",
    "response_schema": lambda: sorted(json.loads(Answer.response_schema())["properties"]),
}


def outcome(check):
    try:
        return repr(check())
    except Exception as problem:
        return type(problem).__name__


def has(name, part):
    try:
        return hasattr(module(name), part)
    except ImportError:
        return False


def there(name):
    try:
        module(name)
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    missing = [part for name, parts in PARTS.items() for part in parts if not has(name, part)]
    missing += [name for name in MODULES if not there(name)]
    print(json.dumps({"rows": {row: outcome(check) for row, check in ROWS.items()}, "missing": missing}))
