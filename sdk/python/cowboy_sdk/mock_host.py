"""A stand-in for `pvm_host` in a plain Python process, with a small world behind it.

It keeps what the real host keeps (storage, balances, timers, messages, events) for any number of actors, follows the
same rules for rollback and refusals, and charges nothing. `cowboy_sdk.testing` drives it; actors never see it.
"""

import functools
import hashlib
import hmac

from . import _ed25519, _secp256k1
from ._keccak import keccak256 as _keccak256
from .mock.protocol import PARAMETERS, SCANNABLE_KEY_BYTES
from .mock.tokens import (
    token_allowance,
    token_approve,
    token_balance_of,
    token_burn,
    token_create,
    token_mint,
    token_total_supply,
    token_transfer,
    token_transfer_from,
)
from .mock.volume_calls import blob_ref, create_volume, delete_volume
from .mock.world import DEFAULT_ACTOR, HostError, call_actor, context, refusal, world

_RESERVED = (b"__INITIALIZED__",)
_UNWRITABLE = (b"__INITIALIZED__", b"cowboy.offchain.image.v1")


# For tests


def reset():
    """Starts over with an empty world."""
    world.__init__()


def set_block_height(height):
    world.height = int(height)


def set_context(**facts):
    """Overrides facts of `context()`, such as the sender."""
    world.overrides.update(facts)


def set_call_handler(function):
    world.call_handler = function


def seed_actor_owner(owner, actor=None):
    """Records the owner of an actor, by default of the one that runs."""
    world.account(actor or context()["actor_addr"]).owner = bytes(owner)


def get_timers():
    return dict(world.timers)


def get_send_log():
    return list(world.outbox)


# The host functions


def runtime_config():
    return {"continuation_mode": "local", "compile_time_fsm": False, "result_ttl": PARAMETERS["gateways.result_ttl"]}


def self_address():
    return bytes(context()["actor_addr"])


def current_block():
    return world.height


def balance(address=None):
    return world.account(address or context()["actor_addr"]).balance


def actor_owner():
    owner = world.own.owner
    if owner is None:
        raise refusal("unavailable", "missing protocol owner")
    return owner


def entitlement_params(entitlement_id):
    return {}


def charge_gas(amount):
    if amount < 0:
        raise refusal("invalid_argument", "amount is negative")


def get_state(key):
    return world.own.storage.get(_key(key))


def set_state(key, value):
    key = _key(key)
    if key in _UNWRITABLE:
        raise ValueError(f"set_state: key {key!r} is reserved")
    _store(key, value)


def delete_state(key):
    key = _key(key)
    if key in _UNWRITABLE:
        raise ValueError(f"delete_state: key {key!r} is reserved")
    world.own.storage.pop(key, None)


def delete_on_failure(key):
    key = _key(key)
    if key in _UNWRITABLE:
        raise ValueError(f"delete_on_failure: key {key!r} is reserved")
    world.frame.setdefault("deletions", []).append(key)


def set_reserved_state(key, value):
    key = _key(key)
    if key not in _RESERVED:
        raise ValueError(f"set_reserved_state: key {key!r} is not reserved")
    _store(key, value)


def delete_reserved_state(key):
    key = _key(key)
    if key not in _RESERVED:
        raise ValueError(f"delete_reserved_state: key {key!r} is not reserved")
    world.own.storage.pop(key, None)


def scan_state_prefix(prefix, limit=100):
    prefix = _key(prefix)
    found = [
        (key, value)
        for key, value in sorted(world.own.storage.items())
        if key.startswith(prefix) and len(key) <= SCANNABLE_KEY_BYTES
    ]
    return found[: min(int(limit), PARAMETERS["execution.scan_limit"])]


def _store(key, value):
    value = bytes(value)
    _require_length("key", key, "execution.storage_key_bytes")
    _require_length("value", value, "execution.return_bytes")
    world.own.storage[key] = value


def _require_length(part, data, limit):
    most = PARAMETERS[limit]
    if len(data) > most:
        raise refusal("storage_entry_too_large", f"The {part} has {len(data)} bytes; at most {most} are allowed.")


def blob_commit(data):
    _require_length("blob", data, "execution.return_bytes")
    multihash = _multihash(data)
    _store(multihash, data)
    return multihash


def blob_read(multihash):
    data = world.own.storage.get(bytes(multihash))
    return data if data is not None and _multihash(data) == multihash else None


def _multihash(data):
    return b"\x12\x20" + hashlib.sha256(data).digest()


def emit_event(name, data, schema=None):
    most = PARAMETERS["execution.event_bytes"]
    if len(data) > most:
        raise refusal("event_too_large", f"event payload has {len(data)} bytes, at most {most}")
    world.events.append((context()["actor_addr"], name, bytes(data)))
    return {"emit_id": len(world.events), "sync_outcomes": [], "deferred_subs": []}


def send_message(target, payload, value=0, handler=""):
    own = context()["actor_addr"]
    if value:
        # The money leaves with the message and waits in nobody's account until delivery.
        world.pay(own, b"in-flight", int(value))
    world.outbox.append(
        {"sender": own, "target": bytes(target), "handler": handler, "payload": bytes(payload), "value": int(value)}
    )


def spawn_actor(code, salt=b"", init_handler="", init_payload=b"", manifest=None, endowment=0):
    """A child whose code is loaded by `world.load_program`, which the harness of tests sets."""
    creator = context()["actor_addr"]
    padded = bytes(salt).ljust(32, b"\x00")
    born = _keccak256(creator + padded + _keccak256(bytes(code)))[12:]
    if world.account(born).program is not None:
        raise refusal("address_taken", "an actor lives at the address already")
    if world.load_program is None:
        raise refusal("unavailable", "no programs here")
    saved = world.checkpoint()
    try:
        account = world.account(born)
        account.program = world.load_program(bytes(code))
        account.owner = creator
        if init_handler:
            call_actor(born, init_handler, init_payload, 0, 0, endowment)
        elif endowment:
            world.pay(creator, born, int(endowment))
    except BaseException as problem:
        world.rollback(saved)
        world.account(born).program = None
        if isinstance(problem, HostError):
            raise
        raise refusal("handler_raised", f"{type(problem).__name__}: {problem}") from problem
    return born


def transfer_balance(to, amount):
    world.pay(context()["actor_addr"], to, int(amount))


def submit_job(payload):
    """Takes a job and returns its id. `testing.Chain` answers it."""
    own = context()["actor_addr"]
    job_id = hashlib.sha256(own + world.tx_hash + len(world.jobs).to_bytes(8, "big") + world.height.to_bytes(8, "big")).digest()
    world.jobs.append({"id": job_id, "actor": own, "payload": bytes(payload), "height": world.height, "is_done": False})
    return job_id


def schedule_timer(height, payload):
    return schedule_timer_ex(height, payload)


def schedule_timer_ex(
    height, payload, fee_payer=b"", gas_limit=0, cells_limit=0, expires_at=0, max_fee=0, max_priority_fee=0, tier=0, bidder=b""
):
    if height <= world.height:
        raise refusal("timer_in_past", f"timer height {height} is not after block {world.height}")
    own = context()["actor_addr"]
    if fee_payer and bytes(fee_payer) != bytes(own):
        raise refusal("bad_fee_payer", "a timer is paid by the actor that schedules it")
    account = world.account(own)
    account.timer_count += 1
    timer_id = _keccak256(
        own + height.to_bytes(8, "big") + bytes(payload) + account.timer_count.to_bytes(8, "big")
    )
    world.timers[timer_id] = {
        "actor": own,
        "height": int(height),
        "payload": bytes(payload),
        "fee_payer": bytes(fee_payer) or None,
        "gas_limit": gas_limit or None,
        "cells_limit": cells_limit or None,
        "expires_at": expires_at or None,
        "bid": (max_fee, max_priority_fee, tier, bytes(bidder)),
        "every": None,
    }
    return timer_id


def set_interval(
    every, payload, gas_limit=0, cells_limit=0, max_failures=0, max_fee=0, max_priority_fee=0, tier=0, bidder=b""
):
    bid = (max_fee, max_priority_fee, tier, bidder)
    timer_id = schedule_timer_ex(world.height + every, payload, b"", gas_limit, cells_limit, 0, *bid)
    world.timers[timer_id].update(every=every, max_failures=max_failures, failures=0, is_paused=False)
    return timer_id


def resume_interval(timer_id):
    timer = _own_timer(timer_id)
    if timer is None:
        raise refusal("timer_not_found", "there is no such timer")
    if timer["every"] is None:
        raise refusal("not_an_interval", "the timer is no interval")
    if timer["is_paused"]:
        timer.update(is_paused=False, failures=0, height=world.height + timer["every"])


def extend_timer(timer_id, new_expires_at):
    timer = world.timers.get(bytes(timer_id))
    if timer is not None and timer["actor"] == context()["actor_addr"]:
        timer["expires_at"] = new_expires_at


def cancel_timer(timer_id):
    _own_timer(timer_id)
    world.timers.pop(bytes(timer_id), None)


def _own_timer(timer_id):
    timer = world.timers.get(bytes(timer_id))
    if timer is not None and timer["actor"] != context()["actor_addr"]:
        raise refusal("timer_not_owned", "the timer belongs to another actor")
    return timer


def randomness(domain):
    return randomness_at(0, world.height, domain)


def randomness_at(epoch, view, domain):
    """HKDF-SHA256 of the round's seed. The fake's rounds are its heights, and a round's seed is known at its height."""
    if epoch != 0 or view > world.height or view + PARAMETERS["consensus.seed_history"] <= world.height:
        # As on chain: the code of what does not exist.
        raise refusal("invalid_argument", f"the seed of round ({epoch}, {view}) is not readable", code=3)
    seed = hashlib.sha384(b"fake beacon" + view.to_bytes(8, "big")).digest()
    key = hmac.new(bytes(32), seed, hashlib.sha256).digest()
    return hmac.new(key, bytes(domain) + b"\x01", hashlib.sha256).digest()


def keccak256(data):
    return _keccak256(bytes(data))


def recover(digest, signature):
    return _secp256k1.recover(bytes(digest), bytes(signature))


def verify_signature(algorithm, public_key, message, signature):
    holds = {1: _secp256k1.holds, 2: _ed25519.holds}.get(algorithm)
    if holds is None:
        raise refusal("unavailable", "plain Python has no BLS12-381: run this test with `cowboy test`, which has every scheme")
    return holds(bytes(public_key), bytes(message), bytes(signature))


def _refused(*arguments):
    raise refusal("unavailable", "this chain does not offer the function")


fork_actor = subscribe_event = unsubscribe_event = force_unsubscribe_event = _refused
update_bid = topup_subscription = upgrade_self = intent_deposit = intent_withdraw = _refused
intent_broadcast = intent_broadcast_ex = offchain_image_initialize = offchain_image_update = _refused


def _key(key):
    return key.encode("utf-8") if isinstance(key, str) else bytes(key)


# A query and a GET may call the functions that are not in this list (docs/actors.md "Queries").
_FOR_DELIVERIES = """
    blob_commit set_state delete_state delete_on_failure set_reserved_state delete_reserved_state scan_state_prefix actor_owner
    emit_event send_message call_actor
    spawn_actor transfer_balance balance schedule_timer schedule_timer_ex set_interval resume_interval extend_timer cancel_timer
    submit_job randomness randomness_at token_create token_transfer token_transfer_from token_approve token_mint token_burn
    token_balance_of token_allowance token_total_supply create_volume delete_volume blob_ref
""".split()


def _refuse_in_queries(function):
    @functools.wraps(function)
    def checked(*arguments, **options):
        if world.is_reading:
            raise refusal(
                "unavailable", f"the handler called {function.__name__}, which a query may not; send a transaction instead"
            )
        return function(*arguments, **options)

    return checked


for _name in _FOR_DELIVERIES:
    globals()[_name] = _refuse_in_queries(globals()[_name])
