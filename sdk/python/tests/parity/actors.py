"""Actors written for the published SDK 0.1.6, unchanged, in the styles that its documents teach."""

from cowboy_sdk import (
    OWNER,
    SELF,
    ActorRef,
    Address,
    BlockHeight,
    BoundedRange,
    GuardSet,
    SortedMap,
    TokenId,
    actor,
    bounded_loop,
    callable_by,
    codec,
    decode_payload,
    deferred,
    emit,
    errors,
    ok,
    ordered_set,
    public,
    pure,
    reentrancy_guard,
    runtime,
    send,
    storage_guard,
    timer,
    to_address_bytes,
)
from cowboy_sdk import call as call_actor


@actor
class Vault:
    VERSION = 3

    def __init__(self):
        self.cached = []

    @public
    def init(self, payload):
        self.storage["seed"] = payload
        self.storage["log"] = []
        self.storage["__name__"] = "vault"
        return b"ok"

    @public
    def put(self, payload):
        self.storage[payload["key"]] = payload["value"]
        return {"stored": payload["key"], "sender": self.sender, "address": self.address.as_ref()}

    @public
    def get(self, payload):
        return ok(self.storage.get(payload, "missing"))

    @public
    def has(self, payload):
        return [payload in self.storage, "nope" in self.storage]

    @public
    def erase(self, payload):
        del self.storage[payload]

    @public(decode="raw")
    def raw(self, payload):
        self.storage.set_raw("raw", payload)
        return payload[::-1]

    @public(decode="json")
    def as_json(self, payload):
        return {"b": payload, "a": [1, 2.5, None, True]}

    @callable_by(OWNER)
    def owner_only(self, payload):
        return "owner"

    @callable_by(b"\x11" * 20, "0x" + "33" * 20)
    def listed(self, payload):
        return "listed"

    @callable_by(SELF)
    def self_only(self, payload):
        return "self"

    def undecorated(self, payload):
        return "undecorated"

    def _helper(self, x):
        return x * 2

    @public
    @pure
    def compute(self, payload):
        return self._helper(payload)

    @public
    def impure(self, payload):
        send(b"\x77" * 20, {"x": 1})

    @public
    @deferred
    def messages(self, payload):
        send(b"\x77" * 20, {"x": 1})
        send("0x" + "77" * 20, b"raw bytes", raw=True)
        send(Address(b"\x77" * 20), {"j": 1}, codec="json")
        send(b"\x77" * 20)
        ActorRef(b"\x88" * 20).send([1, 2])
        runtime.send_message(b"\x99" * 20, b"low")
        return None

    @deferred
    @public
    def timers(self, payload):
        a = timer.schedule(runtime.get_block_height() + 5, b"plain")
        b = timer.schedule(runtime.get_block_height() + 6, b"routed", handler="on_tick")
        c = timer.schedule(runtime.get_block_height() + 7, b"x", handler=Vault.on_fire, gas_limit=1000, expires_at=99999)
        d = runtime.schedule_timer(runtime.get_block_height() + 8, b"low")
        e = runtime.schedule_after(9, "on_tick", b"later")
        runtime.extend_timer(a, 123456)
        runtime.cancel_timer(d)
        return len({a, b, c, d, e})

    @timer
    def on_tick(self, payload):
        self.storage["tick"] = payload

    @timer(name="on_fire", deferred=False)
    def on_fire(self, payload):
        return b""

    @public
    def events(self, payload):
        runtime.emit_event("Plain", {"b": 1, "a": [1, "x"]})
        runtime.emit_event("Raw", b"\x00\x01")
        runtime.emit_event("None", None)
        runtime.emit_event("Text", "hello")
        self._emitting()
        return None

    @emit("decorated")
    def _emitting(self):
        return {"n": 5}

    @public
    def bad_event(self, payload):
        runtime.emit_event("Bad", '{"a": 1}')

    @public
    @reentrancy_guard
    def guarded(self, payload):
        return [k.decode() for k, v in runtime.scan_state_prefix(b"__reentrancy:", 5)]

    @public
    @reentrancy_guard(key=lambda self, payload: payload)
    def reenter(self, payload):
        return self.reenter(codec.encode(payload))

    @public
    def watch(self, payload):
        runtime.set_state(b"w", b"1")
        guard = storage_guard("w")
        before = guard.compute_hash()
        runtime.set_state(b"w", b"2")
        fresh = self.storage.guard("w")
        try:
            fresh.verify(before)
        except errors.StateConflictError as problem:
            return [before, fresh.key_repr, str(problem)[:30], GuardSet("a", b"b").keys]

    @public
    @bounded_loop(max_iterations=3)
    def bounded(self, payload):
        return sum(1 for _ in BoundedRange(payload))

    @public
    def types(self, payload):
        s = ordered_set([3, 1, 3, 2])
        s.add(5)
        m = SortedMap([(3, "c"), (1, "a")])
        m[2] = "b"
        return {
            "set": s.to_list(),
            "union": (s | [9]).to_list(),
            "address": Address("0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826").to_hex(),
            "lower": Address(payload).to_hex(checksum=False),
            "eq": Address(payload) == payload,
            "zero": [Address.ZERO.is_zero(), Address.JOB_DISPATCHER.is_system(), Address(payload).is_system()],
            "height": BlockHeight(5) + 2,
            "shown": str(BlockHeight(7)),
            "token": TokenId(b"\x05" * 32).to_hex(),
            "bytes": to_address_bytes("0x" + "12" * 20),
            "sorted": m.items(),
            "peek": list(m.peekitem(0)),
            "nested": {"address": Address(payload), "keys": {Address(payload): 1}},
        }

    @public
    def calls(self, payload):
        ref = ActorRef(b"\x88" * 20)
        return [
            call_actor(b"\x88" * 20, "echo", {"a": 1}),
            ref.echo(1, 2),
            ref.ping(),
            ref.call("none"),
            ref.with_cycles(5).call("raw", b"xyz", codec="raw"),
        ]

    @public
    def failing_call(self, payload):
        try:
            ActorRef(b"\x66" * 20).anything(1)
        except errors.ActorCallError as problem:
            return [type(problem).__name__, isinstance(problem, errors.ActorNotFoundError)]

    @public
    def reserved(self, payload):
        seen = []
        for action in (
            lambda: self.storage["__INITIALIZED__"],
            lambda: runtime.set_state(b"__INITIALIZED__", b"x"),
            lambda: self.storage.delete("__INITIALIZED__"),
        ):
            try:
                action()
                seen.append("allowed")
            except ValueError:
                seen.append("refused")
        return seen

    @public
    def context(self, payload):
        return {
            "sender": runtime.get_sender(),
            "typed": runtime.sender(),
            "own": runtime.get_actor_address(),
            "height": runtime.get_block_height(),
            "time": runtime.get_timestamp_ms(),
            "chain": runtime.get_chain_id(),
            "tx": runtime.get_tx_hash(),
            "initialized": runtime.is_initialized(),
            "decoded": decode_payload(codec.encode([1]), "cbor"),
        }


@actor
class Child(Vault):
    @public
    def compute(self, payload):
        return self._helper(payload) + 1

    @public
    def extra(self, payload):
        return "extra"


def refused(name, body):
    """What a class definition raises."""
    try:
        actor(type(name, (), body))
        return "accepted"
    except (ValueError, TypeError) as problem:
        return type(problem).__name__


def definitions():
    return [
        refused("Clash", {"sender": public(lambda self, p: 1)}),
        refused("Property", {"address": 5}),
        refused("Static", {"f": staticmethod(len)}),
        refused("Fine", {"data": 5, "_private": staticmethod(len)}),
        refused("Callable", {"f": len}),
    ]
