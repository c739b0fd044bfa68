"""Continuations at rest: a record each under `__continuation:` and its id, in the published SDK's form, and how many there are."""

from . import codec
from ._capture import Capture, check_captured
from ._context import get_block_height
from ._host import pvm_host
from ._keep import fingerprint
from .errors import (
    CodecError,
    ContinuationCorruptedError,
    ContinuationCountLimitError,
    ContinuationNotFoundError,
    ContinuationSizeLimitError,
    RunnerTimeoutError,
    StateConflictError,
)

MAX_BYTES = 64 * 1024
MAX_ACTIVE = 100
PREFIX = b"__continuation:"
AWAIT_PREFIX = b"__await:"
_COUNT_KEY = b"__continuation_count"
_FIELDS = ("state", "ctx", "handler", "timeout_at_block", "guard_hashes", "created_at_block")


def new_cid(actor, name):
    """The 32-byte id of a continuation of the method `name` that begins in this delivery."""
    facts = pvm_host.context()
    return pvm_host.keccak256(facts["tx_hash"] + facts["sender"] + facts["actor_addr"] + str(name).encode("utf-8"))


def save_cont(cid, state, ctx, handler, timeout_blocks=0, guard_keys=None):
    """Writes a continuation's record. ContinuationSizeLimitError above 64 KiB, ContinuationCountLimitError at 100."""
    if isinstance(ctx, Capture):
        ctx = ctx.to_dict()
    else:
        check_captured(ctx, "ctx")
    now = get_block_height()
    record = {
        "state": int(state),
        "ctx": ctx,
        "handler": str(handler),
        "timeout_at_block": now + timeout_blocks if timeout_blocks > 0 else 0,
        "guard_hashes": {_key(key).hex(): fingerprint(pvm_host.get_state(_key(key))) for key in guard_keys or ()},
        "created_at_block": now,
    }
    encoded = codec.encode(record)
    if len(encoded) > MAX_BYTES:
        raise ContinuationSizeLimitError(
            f"Continuation state exceeds {MAX_BYTES // 1024} KiB limit (current: {len(encoded)} bytes). "
            "Reduce the amount of data in capture()."
        )
    if pvm_host.get_state(PREFIX + cid) is None:
        count = _count()
        if count >= MAX_ACTIVE:
            # A part that failed took its continuation with it, but the count was undone with the part.
            count = len(pvm_host.scan_state_prefix(PREFIX, MAX_ACTIVE))
        if count >= MAX_ACTIVE:
            raise ContinuationCountLimitError(
                f"Actor has {count} active continuations (limit: {MAX_ACTIVE}). "
                "Ensure completed continuations are deleted with delete_cont()."
            )
        pvm_host.set_state(_COUNT_KEY, (count + 1).to_bytes(4, "big"))
    pvm_host.set_state(PREFIX + cid, encoded)


def load_cont(cid):
    """A continuation's record with its `ctx` as a Capture, after its guards and its time limit are checked."""
    record = read_record(cid)
    check_guards(record)
    check_time(record)
    record["ctx"] = Capture.from_dict(record["ctx"] or {})
    return record


def load_cont_raw(cid):
    """The record's bytes. ContinuationNotFoundError when there is none."""
    raw = pvm_host.get_state(PREFIX + cid)
    if raw is None:
        raise ContinuationNotFoundError(f"Continuation not found for CID: {cid.hex()}")
    return raw


def delete_cont(cid):
    """Forgets a continuation: nothing continues when its answer comes. One that is gone is left alone."""
    if pvm_host.get_state(PREFIX + cid) is None:
        return
    pvm_host.delete_state(PREFIX + cid)
    if pvm_host.get_state(AWAIT_PREFIX + cid) is not None:
        pvm_host.delete_state(AWAIT_PREFIX + cid)
    pvm_host.set_state(_COUNT_KEY, max(0, _count() - 1).to_bytes(4, "big"))


def free_on_failure(cid):
    """Frees a continuation even if this delivery fails: nothing would resume it later."""
    pvm_host.delete_on_failure(PREFIX + cid)
    pvm_host.delete_on_failure(AWAIT_PREFIX + cid)


def _count():
    raw = pvm_host.get_state(_COUNT_KEY)
    return int.from_bytes(raw, "big") if raw else 0


def _key(key):
    return key.encode("utf-8") if isinstance(key, str) else bytes(key)


def read_record(cid):
    raw = load_cont_raw(cid)
    try:
        record = codec.decode(raw)
    except CodecError as problem:
        raise ContinuationCorruptedError(f"Failed to decode continuation state: {problem}") from problem
    if not isinstance(record, dict) or not all([field in record for field in _FIELDS]):
        raise ContinuationCorruptedError("Continuation state is not cowboy_sdk schema")
    return record


def check_guards(record):
    for name, expected in (record["guard_hashes"] or {}).items():
        try:
            key = bytes.fromhex(name)
        except ValueError:
            raise ContinuationCorruptedError(f"guard key {name!r} is not hex") from None
        actual = fingerprint(pvm_host.get_state(key))
        if actual != expected:
            raise StateConflictError(
                f"Guard violation: storage key {key!r} was modified during continuation. "
                f"Expected hash: {expected}, current hash: {actual}."
            )


def check_time(record):
    limit, now = record["timeout_at_block"], get_block_height()
    if 0 < limit < now:
        raise RunnerTimeoutError(
            f"Continuation timed out: timeout_at_block={limit}, current_block={now}. "
            "Increase timeout_blocks or handle the timeout in your actor."
        )
