"""Results of commands: kept for visitors who ask later, and cleaned up (004 §8.4).

A result stands at `_http/results/{request_id}`, where any gateway finds it. Results that end at about the same time
share a bucket, and a bucket has one timer: it leaves one byte in a result's place, by which gateways know that it is
gone, and removes that too after as long again.
"""

from ._host import HostError, pvm_host
from .codec import encode

CLEANUP_HANDLER = "http.cleanup"

_RESULTS = b"_http/results/"
# Short, since a prefix scan finds keys of at most 64 bytes.
_BUCKETS = b"_http/x/"
_TOMBSTONE = b"\x00"

# Results that one fire of a bucket's timer cleans up.
_AT_ONCE = 32
# What one fire may use: a small balance pays it.
_CYCLES = 250_000
_CELLS = 10_000
# Buckets into which a time to live is cut.
_PARTS = 32


def can_keep():
    """Whether the manifest lets the actor store anything."""
    return pvm_host.entitlement_params("storage.kv") is not None


def keep(request_id, envelope, ttl=None):
    """Stores a command's result for `ttl` blocks, or as the chain says. Without the entitlement timer.schedule it stays."""
    if ttl is None:
        ttl = pvm_host.runtime_config()["result_ttl"]
    pvm_host.set_state(_RESULTS + request_id.encode(), encode(envelope))
    _expire(request_id.encode(), int(ttl))


def clean(payload):
    """The bucket's timer: ends what is due, and comes back for what is left."""
    bucket = payload
    found = pvm_host.scan_state_prefix(_BUCKETS + bucket + b"/", _AT_ONCE)
    for key, ttl in found:
        request_id = key[len(_BUCKETS) + len(bucket) + 1 :]
        pvm_host.delete_state(key)
        result = _RESULTS + request_id
        if pvm_host.get_state(result) == _TOMBSTONE:
            pvm_host.delete_state(result)
        else:
            pvm_host.set_state(result, _TOMBSTONE)
            _expire(request_id, int.from_bytes(ttl, "big"))
    if len(found) == _AT_ONCE:
        _arm(pvm_host.current_block() + 1, bucket)
    else:
        pvm_host.delete_state(_BUCKETS + bucket)


def _expire(request_id, ttl):
    if ttl < 1:
        raise ValueError("a result is kept for at least one block")
    if pvm_host.entitlement_params("timer.schedule") is None:
        return
    width = max(1, ttl // _PARTS)
    # The bucket's end, never before the result's.
    end = (pvm_host.current_block() + ttl + width - 1) // width * width
    bucket = f"{end:x}-{width:x}".encode()
    pvm_host.set_state(_BUCKETS + bucket + b"/" + request_id, ttl.to_bytes(8, "big"))
    if pvm_host.get_state(_BUCKETS + bucket) is None and _arm(end, bucket):
        pvm_host.set_state(_BUCKETS + bucket, b"\x01")


def _arm(height, bucket):
    """Sets the bucket's timer. An actor with too many timers keeps its results a little longer."""
    payload = encode({"_handler": CLEANUP_HANDLER, "_payload": bucket})
    try:
        pvm_host.schedule_timer_ex(height, payload, b"", _CYCLES, _CELLS, 0)
    except HostError:
        return False
    return True
