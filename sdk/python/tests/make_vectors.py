"""Writes tests/vectors/sdk.json: what actors leave behind, call by call, on the in-process chain under CPython.

    python sdk/python/tests/make_vectors.py        # `-` prints them instead

The VM's tests run the same calls over a host of their own and must come to the same bytes.
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parent), str(HERE / "parity"), str(HERE)]

from cowboy_sdk import codec, mock_host  # noqa: E402
from cowboy_sdk._registry import registry  # noqa: E402
from cowboy_sdk.dispatch import dispatch  # noqa: E402
from cowboy_sdk.testing import Job  # noqa: E402
from cowboy_sdk.types import Address  # noqa: E402
from flows import FAILS, FLOWS  # noqa: E402

sys.modules["pvm_host"] = mock_host
OWNER = b"\x01" * 20
STRANGER = b"\x44" * 20
SELF = b"\x22" * 20
OTHER = b"\x33" * 20
DISPATCHER = Address.JOB_DISPATCHER.to_bytes()
VERIFIER = Address.RESULT_VERIFIER.to_bytes()


def load(path):
    """The module of an actor's source, and its class."""
    registry.actor_class = None
    module = type(sys)("__main__")
    exec(compile((ROOT / path).read_text(), str(ROOT / path), "exec"), module.__dict__)
    return module, registry.actor_class


def answer(target, method, payload, cycles, access):
    """The other actors of the test's world: 0x66… does not exist, the rest answer with what they were asked."""
    if target == b"\x66" * 20:
        raise mock_host.HostError("no actor at the target", 3, "actor_not_found")
    return codec.encode([method, bytes(payload), cycles, access])


def observe(module, actor_class, method, payload, sender, value, height):
    world = mock_host.world
    world.height = height
    world.frames[0].update(sender=sender, value=value, actor_addr=SELF)
    world.outbox, world.events = [], []
    jobs = len(world.jobs)
    registry.actor_class = actor_class
    saved = world.checkpoint()
    step = {"method": method, "payload": payload.hex(), "sender": sender.hex(), "value": value, "height": height}
    try:
        step["returns"] = dispatch(method, payload, module).hex()
    except Exception as problem:
        world.rollback(saved)
        world.outbox, world.events = [], []
        step["raises"] = [type(problem).__name__, getattr(problem, "ERROR_SLUG", None)]
    step["state"] = {key.hex(): item.hex() for key, item in sorted(world.own.storage.items())}
    step["events"] = [[name, data.hex()] for _, name, data in world.events]
    step["messages"] = [[m["target"].hex(), m["handler"], m["payload"].hex(), m["value"]] for m in world.outbox]
    step["messages"] += [[DISPATCHER.hex(), "", job["payload"].hex(), 0] for job in world.jobs[jobs:]]
    step["timers"] = sorted([t["height"], t["payload"].hex()] for t in world.timers.values())
    step["balance"] = world.own.balance
    return step


def case(path, calls):
    """One actor and its calls: (method, payload value or bytes, sender, value, height)."""
    mock_host.reset()
    world = mock_host.world
    world.frames[0].update(actor_addr=SELF)
    world.own.owner = OWNER
    world.own.balance = 1_000_000
    world.call_handler = answer
    module, actor_class = load(path)
    steps = []
    for call in calls:
        method, payload, sender, value, height = (*call, *(None, STRANGER, 0, 1000)[len(call) - 1 :])
        payload = payload() if callable(payload) else payload
        raw = payload if isinstance(payload, bytes) else b"" if payload is None else codec.encode(payload)
        steps.append(observe(module, actor_class, method, raw, sender, value, height))
    return {"actor": path, "steps": steps}


def flow_calls():
    """Each continuation of actors/flows.py from its beginning to its end, with every answer delivered twice."""
    calls = []
    for name, answers, _ in FLOWS:
        calls.append((name, 7))
        for given in answers:
            answered = []

            def deliver(given=given, answered=answered):
                waiting = [entry for entry in mock_host.world.jobs if not entry["is_done"]]
                job = Job(answered[0] if answered else waiting[0])
                answered.append(job._entry)
                job._entry["is_done"] = True
                result = given
                if given is FAILS:
                    result = {"kind": "job_failed", "v": 1, "job_id": job.id, "reason": "nobody", "attempts": 1}
                return codec.encode(
                    {
                        "cid": job.correlation,
                        "result": result,
                        "reply_handler": job.handler,
                        "job_id": job.id,
                        "status": "failed" if given is FAILS else "ok",
                        "context": b"",
                    }
                )

            calls += [(name + "__resume", deliver, VERIFIER)] * 2
    return calls


def parity_calls():
    """The calls of the comparison with the published SDK, without those that a dispatcher answers differently."""
    source = (HERE / "parity/driver.py").read_text()
    start = source.index("STEPS = [")
    names = {"codec": codec, "STRANGER": STRANGER, "OWNER": OWNER}
    exec(source[start : source.index("]\n", start) + 2], names)
    return [(method, payload, sender) for method, payload, sender in names["STEPS"]]


def cases():
    return [
        case("sdk/python/tests/parity/actors.py", parity_calls()),
        case("sdk/python/tests/parity/codecs_actor.py", [("encodes",), ("decodes",), ("others",)]),
        case(
            "examples/hello/actor.py",
            [("greetings",), ("greet", "Ada"), ("greet",), ("greet", ["é🤠"]), ("greetings",), ("farewell",), ("__init__",)],
        ),
        case(
            "examples/counter/actor.py",
            [
                ("init", b"{}"), ("increment",), ("add", 41), ("add", -1), ("add", "x"), ("reset",), ("get",),
                ("reset", None, OWNER), ("get",), ("_change", 5), ("init", b"{}"),
            ],
        ),
        case(
            "examples/heartbeat/actor.py",
            [("init", b"{}"), ("beats",), ("beat",), ("beat", None, SELF, 0, 1005), ("diary",), ("stop",), ("stop", None, OWNER)],
        ),
        case(
            "examples/token/actor.py",
            [
                ("init", b'{"name": "T", "symbol": "TT", "supply": 1000}'), ("info",), ("balance_of", STRANGER),
                ("balance_of", codec.encode(STRANGER)), ("transfer", [OTHER, 100]), ("transfer", {"to": "0x" + "33" * 20, "amount": 1}),
                ("transfer", [OTHER, 10**30]), ("transfer", ["0x12", 1]), ("approve", [OTHER, 50]),
                ("transfer_from", [STRANGER, OTHER, 20], OTHER), ("allowance", [STRANGER, OTHER]), ("mint", [OTHER, 5]),
                ("mint", [OTHER, 2**100], OWNER), ("burn", 10), ("info",),
            ],
        ),
        case(
            "examples/escrow/actor.py",
            [
                ("open", [OTHER, 10]), ("open", [OTHER, 10], STRANGER, 500), ("get", 1), ("release", 1, OTHER), ("release", 1),
                ("get", 1), ("open", {"seller": OTHER, "blocks": 2}, STRANGER, 7), ("refund", 2, OTHER), ("open", [OTHER, 2], STRANGER, 9),
                ("expire", 3), ("expire", 3, SELF, 0, 1002),
            ],
        ),
        case("sdk/python/tests/actors/flows.py", flow_calls()),
    ]


if __name__ == "__main__":
    text = json.dumps(cases(), indent=1) + "\n"
    if sys.argv[1:] == ["-"]:
        print(text)
    else:
        (ROOT / "tests/vectors/sdk.json").write_text(text)
