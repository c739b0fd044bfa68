"""Timers and intervals (A-108, A-114, A-120; decisions 9 to 11)."""

import json
import sys

import pytest
from cowboy_sdk import Address, actor, cancel_timer, codec, public, resume_interval, runtime, set_interval, set_timer, timer
from cowboy_sdk.testing import Chain


@actor
class Clock:
    @public
    def once(self, height, data):
        return set_timer(height, "tick", data)

    @public
    def every(self, blocks, data):
        return set_interval(blocks, Clock.tick, data)

    @public
    def every_failing(self, blocks: int):
        return set_interval(blocks, "fail", max_failures=3)

    @public
    def every_flaky(self, blocks: int):
        return set_interval(blocks, "flaky", max_failures=0)

    @public
    def resume(self, timer_id):
        resume_interval(timer_id)

    @public
    def cancel(self, timer_id):
        cancel_timer(timer_id)

    @public
    def extend(self, timer_id, height):
        runtime.extend_timer(timer_id, height)

    @timer
    def tick(self, payload):
        ticks = self.storage.get("ticks", [])
        self.storage["ticks"] = ticks + [[runtime.current_block(), payload]]

    def fail(self):
        self.storage["never"] = True
        raise ValueError("this handler fails")

    def flaky(self):
        if runtime.current_block() % 4 == 0:
            raise ValueError("every other time")
        self.storage["flaky"] = self.storage.get("flaky", 0) + 1


def clock():
    chain = Chain(height=100)
    return chain, chain.deploy(Clock)


def ticks(chain, address):
    return chain.storage(address).get("ticks", [])


@pytest.mark.parametrize("data, delivered", [(b"raw", b"raw"), (b"", b""), ({"a": 1}, codec.encode({"a": 1})), (None, b"")])
def test_set_timer_fires_once_at_its_height(data, delivered):
    chain, address = clock()
    timer_id = chain.execute(address, "once", [103, data])
    assert len(timer_id) == 32
    chain.mine(2)
    assert ticks(chain, address) == []
    chain.mine(5)
    assert ticks(chain, address) == [[103, delivered]]


@pytest.mark.parametrize("height", [0, 99, 100])
def test_a_timer_lies_ahead(height):
    chain, address = clock()
    with pytest.raises(Exception, match="not after block 100"):
        chain.execute(address, "once", [height, b""])


def test_an_interval_keeps_one_id_while_it_fires():
    chain, address = clock()
    interval = chain.execute(address, "every", [3, "x"])
    chain.mine(10)
    assert ticks(chain, address) == [[height, codec.encode("x")] for height in (103, 106, 109)]
    assert list(chain.world.timers) == [interval]
    chain.execute(address, "extend", [interval, 9999])
    assert [t["expires_at"] for t in chain.world.timers.values()] == [9999]
    chain.execute(address, "cancel", codec.encode(interval))
    chain.mine(10)
    assert len(ticks(chain, address)) == 3 and not chain.world.timers
    chain.execute(address, "cancel", codec.encode(interval))


def test_bids_reach_the_host(monkeypatch):
    """A-130: a bid, or a hint for the default agent, and nothing where there is neither."""
    given = []
    for name in ("schedule_timer", "schedule_timer_ex", "set_interval"):
        monkeypatch.setattr(sys.modules["cowboy_sdk.timer"].pvm_host, name, lambda *arguments: given.append(arguments) or b"")
    set_timer(9, "tick")
    set_timer(9, "tick", priority_tier_hint="standard")
    set_timer(9, "tick", priority_tier_hint="economy")
    set_timer(9, "tick", priority_tier_hint="fast", gas_limit=5)
    set_timer(9, "tick", max_fee_per_cycle=30, max_priority_fee_per_cycle=4)
    set_interval(9, "tick", priority_tier_hint="urgent")
    set_interval(9, "tick")
    agent = Address(b"\x07" * 20)
    set_timer(9, "tick", bidding_agent=agent)
    set_interval(9, "tick", bidding_agent=agent)
    numbers = [arguments[2:] for arguments in given]
    assert numbers == [
        (),
        (b"", 0, 0, 0, 0, 0, 0),
        (b"", 0, 0, 0, 0, 0, 1),
        (b"", 5, 0, 0, 0, 0, 2),
        (b"", 0, 0, 0, 30, 4, 0),
        (0, 0, 10, 0, 0, 3),
        (0, 0, 10),
        (b"", 0, 0, 0, 0, 0, 0, b"\x07" * 20),
        (0, 0, 10, 0, 0, 0, b"\x07" * 20),
    ]
    twice = {"bidding_agent": agent, "max_fee_per_cycle": 5}
    for wrong in ({"priority_tier_hint": "slow"}, {"max_priority_fee_per_cycle": 1}, {"max_fee_per_cycle": 0}, twice):
        with pytest.raises(ValueError):
            set_timer(9, "tick", **wrong)
    with pytest.raises(ValueError):
        set_timer(9, "tick", max_fee_per_cycle=5, priority_tier_hint="fast")


def test_an_interval_keeps_its_limits():
    """A-110."""

    @actor
    class Modest:
        @public
        def start(self):
            set_interval(2, "tick", b"d", gas_limit=100_000, cells_limit=5_000)

        def tick(self, data):
            self.storage["data"] = data

    chain = Chain()
    address = chain.deploy(Modest)
    chain.execute(address, "start")
    chain.mine(5)
    assert chain.storage(address)["data"] == b"d"
    assert [(t["gas_limit"], t["cells_limit"]) for t in chain.world.timers.values()] == [(100_000, 5_000)]


def test_two_intervals_are_told_apart():
    chain, address = clock()
    first = chain.execute(address, "every", [2, "a"])
    second = chain.execute(address, "every", [2, "a"])
    assert first != second
    chain.execute(address, "cancel", codec.encode(first))
    chain.mine(2)
    assert len(ticks(chain, address)) == 1


def test_an_interval_survives_an_exception():
    """Decision 170: what a fire does, failing included, does not end its interval."""
    chain, address = clock()
    interval = chain.execute(address, "every_flaky", 2)
    chain.mine(12)
    assert len(chain.failures) == 3 and chain.storage(address)["flaky"] == 3
    assert list(chain.world.timers) == [interval]


def test_an_interval_that_fails_too_often_is_paused_until_it_is_resumed():
    chain, address = clock()
    interval = chain.execute(address, "every_failing", 2)
    chain.mine(20)
    assert len(chain.failures) == 3 and "never" not in chain.storage(address)
    chain.execute(address, "resume", codec.encode(interval))
    chain.execute(address, "resume", codec.encode(interval))
    chain.mine(2)
    assert len(chain.failures) == 4
    chain.execute(address, "cancel", codec.encode(interval))
    assert not chain.world.timers
    timer_id = chain.execute(address, "once", [chain.world.height + 5, b""])
    with pytest.raises(Exception, match="no interval"):
        chain.execute(address, "resume", codec.encode(timer_id))


def test_an_actor_pays_for_its_own_timers_only():
    @actor
    class Leech:
        @public
        def leech(self):
            runtime.schedule_timer_ex(runtime.current_block() + 5, b"", runtime.get_sender())

    chain = Chain()
    address = chain.deploy(Leech)
    with pytest.raises(Exception, match="paid by the actor"):
        chain.execute(address, "leech")
    assert not chain.world.timers


@pytest.mark.parametrize("blocks", [0, -1])
def test_an_interval_has_a_length(blocks):
    chain, address = clock()
    with pytest.raises(ValueError, match="positive number of blocks"):
        chain.execute(address, "every", [blocks, b""])


def test_handler_names_are_bounded():
    for name in ("", "x" * 257):
        with pytest.raises(ValueError, match="1..256"):
            timer.schedule(10, b"", handler=name)


# Routing


@actor
class Default:
    @public(decode="raw")
    def plain(self, payload):
        return runtime.schedule_timer(runtime.current_block() + 1, payload)

    @public
    def every(self, blocks: int):
        return runtime.set_interval(blocks, "tick", b"data")

    def handle_timer(self, payload):
        if not runtime.dispatch_interval(payload, {"tick": self._tick}):
            self.storage["default"] = payload

    def named(self, payload):
        self.storage["named"] = payload

    def _tick(self, data):
        self.storage["ticked"] = self.storage.get("ticked", 0) + 1
        self.storage["data"] = data


@actor
class Fallback:
    @public(decode="raw")
    def plain(self, payload):
        return runtime.schedule_timer(runtime.current_block() + 1, payload)

    def on_timer(self, payload: bytes):
        self.storage["fallback"] = payload


ENVELOPE = codec.encode({"_handler": "named", "_payload": b"inner"})
ROUTES = [
    # payload, where it arrives, as what
    (b"plain", "default", b"plain"),
    (b"", "default", b""),
    (ENVELOPE, "named", b"inner"),
    (codec.encode({"_handler": "named"}), "default", codec.encode({"_handler": "named"})),
    (codec.encode({"_handler": "named", "_payload": 5}), "default", codec.encode({"_handler": "named", "_payload": 5})),
    (codec.encode({"_handler": "", "_payload": b""}), "default", codec.encode({"_handler": "", "_payload": b""})),
    (codec.encode({"_handler": "x" * 257, "_payload": b""}), "default", codec.encode({"_handler": "x" * 257, "_payload": b""})),
    (b"\xa2", "default", b"\xa2"),
    (b"\x00CINT", "default", b"\x00CINT"),
    (json.dumps({"_handler": "named", "_payload": {"b": 1, "a": "é"}}).encode(), "named", '{"a":"é","b":1}'.encode()),
    (json.dumps({"_handler": "named", "x": 1}).encode(), "named", b'{"x":1}'),
    (b'{"x":1}', "default", b'{"x":1}'),
    (b"{broken", "default", b"{broken"),
]


@pytest.mark.parametrize("payload, key, value", ROUTES)
def test_routing(payload, key, value):
    chain = Chain()
    address = chain.deploy(Default)
    chain.execute(address, "plain", payload)
    chain.mine()
    assert not chain.failures
    assert chain.storage(address) == {key: value}


def test_on_timer_stands_in_for_handle_timer():
    """Decision 11."""
    chain = Chain()
    address = chain.deploy(Fallback)
    chain.execute(address, "plain", b"x")
    chain.mine()
    assert chain.storage(address) == {"fallback": b"x"}


def test_an_actor_with_handle_timer_dispatches_its_intervals_itself():
    chain = Chain()
    address = chain.deploy(Default)
    chain.execute(address, "every", 2)
    chain.mine(7)
    stored = chain.storage(address)
    assert (stored["ticked"], stored["data"]) == (3, b"data")
    assert runtime.decode_interval(next(iter(chain.world.timers.values()))["payload"]) == ("tick", 2, b"data")
    assert runtime.decode_interval(b"other") is None and runtime.reschedule_interval(b"other") is None


def test_an_envelope_from_outside_opens_no_door():
    chain = Chain()
    address = chain.deploy(Default)
    with pytest.raises(Exception, match="deny-by-default"):
        chain.execute(address, "handle_timer", ENVELOPE)
