"""Timers: the actor wakes itself up, at a block height or every so many blocks.

A fire is an ordinary message from the actor to itself, so private handlers (no decorator) receive it too. The chain
itself re-arms intervals, so a fire that fails does not end them, and an interval keeps one id for its whole life.
"""

from . import codec
from ._bounds import HANDLER_BYTES as MAX_HANDLER_BYTES
from ._host import pvm_host
from .handler_mode import DEFERRED, PURE
from .types import address_argument, to_address_bytes

DEFAULT_HANDLER = "handle_timer"

# Failures in a row after which an interval is paused, unless the actor says otherwise.
MAX_FAILURES = 10

# How much the default bidding agent tips in an auction of timers, as a hint: the numbers that the host takes.
PRIORITY_TIERS = {"standard": 0, "economy": 1, "fast": 2, "urgent": 3}

# An interval's payload: tag ‖ 32 zero bytes ‖ every, cycles, cells (8 each) ‖ handler length (2) ‖ handler ‖ data.
_INTERVAL_TAG = b"\x00CINT"
_NUMBERS_START = len(_INTERVAL_TAG) + 32
_NAME_START = _NUMBERS_START + 3 * 8 + 2


# One-shot timers


def set_timer(height, handler, data=b"", **options):
    """Runs `handler` with `data` in block `height`, which must lie ahead. Returns the timer's id.

    `data` is bytes, delivered as they are, or a value, delivered as canonical CBOR; the handler decodes it like any
    payload. `handler` is a method's name or the method. `options` are those of `schedule`.
    """
    return schedule(height, _payload(data), handler=handler, **options)


def schedule(
    height,
    payload=b"",
    *,
    handler=None,
    fee_payer=None,
    gas_limit=None,
    cells_limit=None,
    access_limit=None,
    expires_at=None,
    max_fee_per_cycle=None,
    max_priority_fee_per_cycle=None,
    priority_tier_hint=None,
    bidding_agent=None,
):
    """Schedules one fire with all options of the protocol. Returns the timer's id.

    Without `handler` the payload goes to `handle_timer`. The actor itself pays the fire, and `fee_payer` may name nobody
    else. At the fire it must be able to pay for `gas_limit` cycles and `cells_limit` cells, of which the unused ones are
    given back: low limits let a small balance go far. The chain's parameters are the defaults.

    Where the chain auctions timers, `max_fee_per_cycle` and `max_priority_fee_per_cycle` are the bid, the tip being part of
    the maximum. Without them the default agent bids when the fire is due: twice the base fee, and the median tip of the
    block before, times 0.8, 1, 1.5 or 2.5 by `priority_tier_hint`: "economy", "standard", "fast" or "urgent".
    `bidding_agent` is the address of an actor, the actor's own included, whose public method `get_gas_bid` is asked instead
    while the fire is due. It gets a dict with the base fees and how long the fire waits, may read its own storage and
    change nothing, and returns a dict with `max_fee_per_cycle`, 0 to wait, and `max_priority_fee_per_cycle`. The actor
    that scheduled the fire pays for each question. An answer holds until the next question; without one the default agent
    bids.
    """
    payload = bytes(payload)
    if handler is not None:
        payload = codec.encode({"_handler": _handler_name(handler), "_payload": payload})
    bid = {
        "max_fee_per_cycle": max_fee_per_cycle,
        "max_priority_fee_per_cycle": max_priority_fee_per_cycle,
        "priority_tier_hint": priority_tier_hint,
        "bidding_agent": bidding_agent,
    }
    options = (fee_payer, gas_limit, cells_limit, access_limit, expires_at, *bid.values())
    if all(option is None for option in options):
        return pvm_host.schedule_timer(int(height), payload)
    if fee_payer:
        fee_payer = to_address_bytes(fee_payer)
    return schedule_timer_ex(
        height, payload, fee_payer, gas_limit, access_limit, expires_at, cells_limit=cells_limit, **bid
    )


def schedule_timer(height, payload):
    """Schedules one fire of `handle_timer` with raw bytes. Returns the timer's id."""
    return pvm_host.schedule_timer(int(height), bytes(payload))


def schedule_timer_ex(
    height,
    payload,
    fee_payer=None,
    gas_limit=None,
    access_limit=None,
    expires_at=None,
    *,
    cells_limit=None,
    max_fee_per_cycle=None,
    max_priority_fee_per_cycle=None,
    priority_tier_hint=None,
    bidding_agent=None,
):
    """`schedule_timer` with the protocol's options; None stands for each default.

    `access_limit` belongs to networks that count accesses; this chain meters them as cycles and lets it pass.
    """
    if access_limit is not None and int(access_limit) <= 0:
        raise ValueError("access_limit must be a positive number of accesses")
    return pvm_host.schedule_timer_ex(
        int(height),
        bytes(payload),
        b"" if fee_payer is None else address_argument(fee_payer),
        0 if gas_limit is None else int(gas_limit),
        0 if cells_limit is None else int(cells_limit),
        0 if expires_at is None else int(expires_at),
        *_bid(max_fee_per_cycle, max_priority_fee_per_cycle, priority_tier_hint, bidding_agent),
    )


def _bid(max_fee_per_cycle, max_priority_fee_per_cycle, priority_tier_hint, bidding_agent):
    """The host's last arguments: none where there is no bid, no hint and no agent."""
    bid = (max_fee_per_cycle, max_priority_fee_per_cycle, priority_tier_hint)
    if bidding_agent is not None:
        if bid != (None, None, None):
            raise ValueError("bidding_agent bids itself; it goes with no bid and no hint")
        return (0, 0, 0, address_argument(bidding_agent))
    if bid == (None, None, None):
        return ()
    if priority_tier_hint is not None:
        if max_fee_per_cycle is not None or max_priority_fee_per_cycle is not None:
            raise ValueError("priority_tier_hint is for the default agent; a bid of its own has no hint")
        if priority_tier_hint not in PRIORITY_TIERS:
            raise ValueError(f"priority_tier_hint must be one of {', '.join(sorted(PRIORITY_TIERS))}")
        return (0, 0, PRIORITY_TIERS[priority_tier_hint])
    if max_fee_per_cycle is None or int(max_fee_per_cycle) <= 0:
        raise ValueError("a bid needs max_fee_per_cycle, a positive number of base units")
    return (int(max_fee_per_cycle), int(max_priority_fee_per_cycle or 0), 0)


def schedule_after(delay_blocks, handler, payload=None, **options):
    """Like `schedule`, counted from the current block. `delay_blocks` is at least 1."""
    delay = int(delay_blocks)
    if delay < 1:
        raise ValueError("delay_blocks must be a positive number of blocks")
    return schedule(pvm_host.current_block() + delay, b"" if payload is None else payload, handler=handler, **options)


def extend_timer(timer_id, new_expires_at):
    """Moves a timer's expiry: the last block in which it, or an interval's next fire, may happen."""
    pvm_host.extend_timer(bytes(timer_id), int(new_expires_at))


def cancel_timer(timer_id):
    """Cancels a timer or an interval. One that is gone is left alone."""
    pvm_host.cancel_timer(bytes(timer_id))


# Intervals


def set_interval(
    every_n_blocks,
    handler,
    data=b"",
    *,
    gas_limit=0,
    cells_limit=0,
    max_failures=MAX_FAILURES,
    max_fee_per_cycle=None,
    max_priority_fee_per_cycle=None,
    priority_tier_hint=None,
    bidding_agent=None,
):
    """Runs `handler` with `data` every `every_n_blocks` blocks until cancelled. Returns the interval's id.

    The id stays the same however often the interval fires. `gas_limit` and `cells_limit` bound each fire (0: the
    chain's default), and the actor must be able to pay for them when it fires: an interval that cannot be paid is
    removed. A fire that fails is undone, charged and announced as the event `timer.failed`; the interval goes on. After
    `max_failures` in a row (0: no number) it is paused until `resume_interval`. Bids, hints and agents are those of
    `schedule`.

    An actor that defines `handle_timer` receives the fires there and passes them on with `dispatch_interval`; for any
    other actor the SDK does.
    """
    every = int(every_n_blocks)
    if every <= 0:
        raise ValueError("every_n_blocks must be a positive number of blocks")
    if int(max_failures) < 0:
        raise ValueError("max_failures must be a number of failures, or 0 for no number")
    name = _handler_name(handler).encode("utf-8")
    numbers = b"".join([number.to_bytes(8, "big") for number in (every, int(gas_limit), int(cells_limit))])
    payload = _INTERVAL_TAG + bytes(32) + numbers + len(name).to_bytes(2, "big") + name + _payload(data)
    bid = _bid(max_fee_per_cycle, max_priority_fee_per_cycle, priority_tier_hint, bidding_agent)
    return pvm_host.set_interval(every, payload, int(gas_limit), int(cells_limit), int(max_failures), *bid)


def resume_interval(interval_id):
    """Lets a paused interval fire again, one period from now. One that is not paused is left alone."""
    pvm_host.resume_interval(bytes(interval_id))


def decode_interval(payload):
    """(handler, every_n_blocks, data) of an interval's payload, or None for any other."""
    payload = bytes(payload)
    if not payload.startswith(_INTERVAL_TAG) or len(payload) < _NAME_START:
        return None
    name_end = _NAME_START + int.from_bytes(payload[_NAME_START - 2 : _NAME_START], "big")
    every = int.from_bytes(payload[_NUMBERS_START : _NUMBERS_START + 8], "big")
    return payload[_NAME_START:name_end].decode("utf-8"), every, payload[name_end:]


def reschedule_interval(payload):
    """(handler, data) of the interval that `payload` belongs to; None for any other payload.

    The chain has re-armed the interval before the fire, so there is nothing left to schedule.
    """
    fields = decode_interval(payload)
    return None if fields is None else (fields[0], fields[2])


def dispatch_interval(payload, handlers):
    """Calls `handlers[name](data)` for an interval's fire. False when `payload` is no interval's."""
    fired = reschedule_interval(payload)
    if fired is None:
        return False
    handler = handlers.get(fired[0])
    if handler is not None:
        handler(fired[1])
    return True


# Handlers


class _TimerDecorator:
    """`@timer` marks a method as a timer's handler; `timer.schedule` schedules one fire of it."""

    schedule = staticmethod(schedule)

    def __call__(self, function=None, *, deferred=True, name=None):
        def mark(method):
            method._timer_handler_name = name or method.__name__
            method._handler_mode = DEFERRED if deferred else PURE
            return method

        if function is None:
            return mark
        if not callable(function):
            raise TypeError(f"@timer: unexpected argument {function!r}. Use @timer or @timer(deferred=..., name=...).")
        return mark(function)


timer = _TimerDecorator()


def _handler_name(handler):
    """The name of a handler given as a str, a @timer method or any function. ValueError unless 1 to 256 bytes."""
    name = getattr(handler, "_timer_handler_name", None)
    if name is None:
        name = handler if isinstance(handler, str) else handler.__name__
    length = len(name.encode("utf-8"))
    if not 1 <= length <= MAX_HANDLER_BYTES:
        raise ValueError(f"timer handler name must be 1..256 UTF-8 bytes, got {length}")
    return name


def _payload(data):
    if data is None:
        return b""
    if isinstance(data, (bytes, bytearray)):
        return bytes(data)
    return codec.encode(data)
