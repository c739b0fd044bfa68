"""Runs the actors on whichever SDK is on the path and prints every observable as JSON: results, state, timers, messages."""

import json
import sys

from cowboy_sdk import mock_host

sys.modules["pvm_host"] = mock_host
PUBLISHED = hasattr(mock_host, "_storage")
EVENTS = []


def emit_event(name, data, schema=None):
    EVENTS.append([name, bytes(data).hex()])
    return {"emit_id": len(EVENTS), "sync_outcomes": [], "deferred_subs": []}


mock_host.emit_event = emit_event

import actors
import codecs_actor
import waiting
from cowboy_sdk import codec
from cowboy_sdk import types as codec_types

OWNER = b"\x01" * 20
STRANGER = b"\x44" * 20


def respond(target, method, payload, cycles, access):
    if target == b"\x66" * 20:
        raise mock_host.HostError("nobody", code=3, name="not_found") if PUBLISHED else mock_host.HostError("nobody", 3, "actor_not_found")
    if method == "none":
        return None
    if method == "raw":
        return bytes(payload)[::-1]
    return codec.encode([method, bytes(payload), cycles, access])


def state():
    store = mock_host._storage if PUBLISHED else mock_host.world.own.storage
    # What our SDK notes beside the published record: which jobs a continuation waits for.
    return {key.hex(): value.hex() for key, value in sorted(store.items()) if not key.startswith(b"__await:")}


def timers():
    rows = [
        [t["height"], t["payload"].hex(), t["fee_payer"] and t["fee_payer"].hex(), t["gas_limit"], t["expires_at"]]
        for t in mock_host.get_timers().values()
    ]
    return sorted(rows, key=repr)


def messages():
    sent = [[m["target"].hex(), m["payload"].hex()] for m in mock_host.get_send_log()]
    if not PUBLISHED:
        # Our SDK hands jobs to the Dispatcher at once, the published one as messages: the same bytes to the same address.
        sent += [[bytes(codec_types.Address.JOB_DISPATCHER).hex(), job["payload"].hex()] for job in mock_host.world.jobs]
    return sent


def attempt(action):
    EVENTS.clear()
    try:
        result = action()
        shown = result.hex() if isinstance(result, bytes) else repr(result)
    except Exception as problem:
        shown = f"{type(problem).__name__} {getattr(problem, 'ERROR_SLUG', '')} {getattr(problem, 'HOST_ERROR_CODE', '')}"
    return {"result": shown, "events": list(EVENTS), "state": state(), "timers": timers(), "messages": messages()}


def fresh(sender):
    mock_host.reset()
    mock_host.set_call_handler(respond)
    mock_host.seed_actor_owner(OWNER)
    mock_host.set_context(sender=sender)


STEPS = [
    ("init", b"{}", STRANGER),
    ("put", codec.encode({"key": "k", "value": {"b": [1, -1, 2**70, -(2**70), 1.5, None, True, b"x", "ü"], "a": {}}}), STRANGER),
    ("get", codec.encode("k"), STRANGER),
    ("get", codec.encode("zz"), STRANGER),
    ("has", codec.encode("k"), STRANGER),
    ("put", codec.encode({"key": "n", "value": None}), STRANGER),
    ("get", codec.encode("n"), STRANGER),
    ("erase", codec.encode("k"), STRANGER),
    ("erase", codec.encode("k"), STRANGER),
    ("raw", b"\x00\xff\x01", STRANGER),
    ("as_json", b'{"z": [1, "\\u00e9"], "a": 2}', STRANGER),
    ("as_json", b'{"a": NaN}', STRANGER),
    ("as_json", b'{"a": 1e400}', STRANGER),
    ("as_json", b"", STRANGER),
    ("as_json", b"\xff", STRANGER),
    ("put", b"\xff", STRANGER),
    ("put", b"\x18\x01", STRANGER),
    ("put", b"", STRANGER),
    ("owner_only", b"", STRANGER),
    ("owner_only", b"", OWNER),
    ("listed", b"", STRANGER),
    ("listed", b"", b"\x11" * 20),
    ("listed", b"", b"\x33" * 20),
    ("self_only", b"", STRANGER),
    ("self_only", b"", b"\x22" * 20),
    ("undecorated", b"", STRANGER),
    ("undecorated", b"", b"\x22" * 20),
    ("compute", codec.encode(21), STRANGER),
    ("impure", b"", STRANGER),
    ("messages", b"", STRANGER),
    ("timers", b"", STRANGER),
    ("on_tick", codec.encode({"t": 1}), b"\x22" * 20),
    ("on_tick", codec.encode({"t": 1}), STRANGER),
    ("events", b"", STRANGER),
    ("bad_event", b"", STRANGER),
    ("guarded", b"", STRANGER),
    ("reenter", codec.encode("lock"), STRANGER),
    ("watch", b"", STRANGER),
    ("bounded", codec.encode(3), STRANGER),
    ("bounded", codec.encode(4), STRANGER),
    ("types", codec.encode(b"\x12" * 20), STRANGER),
    ("calls", b"", STRANGER),
    ("failing_call", b"", STRANGER),
    ("reserved", b"", STRANGER),
    ("context", b"", STRANGER),
]


def tell(story):
    """Calls and replies in turn, in one world."""
    fresh(STRANGER)
    seen = []
    for name, given in story:
        own = b"\x22" * 20
        if name == "late":
            mock_host.set_block_height(mock_host.current_block() + given)
            continue
        if name == "touch":
            mock_host.set_state(given, b"1")
            continue
        mock_host.set_context(sender=STRANGER)
        if name in (None, "failure"):
            job = codec.decode(bytes.fromhex(messages()[-1][1]))
            answer = {"cid": job["cid"].hex(), "reply_handler": job["reply_handler"], "correlation_id": None}
            answer["result" if name is None else "failure"] = given
            name, given = job["reply_handler"], codec.encode(answer)
            mock_host.set_context(sender=own)
        elif name.endswith("__resume"):
            mock_host.set_context(sender=own)
        seen.append([name, attempt(lambda: getattr(waiting.Waiter(), name)(given))])
    return seen


def main():
    report = []
    for cls in (actors.Vault, actors.Child):
        for name, payload, sender in STEPS:
            fresh(sender)
            mock_host.set_state(b"k", codec.encode({"old": 1}))
            report.append([cls.__name__, name, attempt(lambda: getattr(cls(), name)(payload))])
    fresh(STRANGER)
    report.append(["Child", "extra", attempt(lambda: actors.Child().extra(b""))])
    report.append(["definitions", actors.definitions()])
    for story in waiting.STORIES:
        report.append(["story", [name for name, _ in story], tell(story)])
    fresh(STRANGER)
    report += [[name, fact] for name, fact in waiting.facts().items()]
    for method in ("encodes", "decodes", "others"):
        fresh(STRANGER)
        found = getattr(codecs_actor.Codecs(), method)(b"")
        report += [[method, row] for row in (codec.decode(found) if isinstance(found, bytes) else found)]
    print(json.dumps(report, indent=1))


main()
