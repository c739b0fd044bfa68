"""Raw access to the actor's storage: bytes under bytes. `self.storage` is the friendly form."""

from ._host import pvm_host

INITIALIZED_KEY = b"__INITIALIZED__"

# Keys that the SDK keeps for itself.
RESERVED_KEYS = frozenset([INITIALIZED_KEY])
_UNWRITABLE_KEYS = (INITIALIZED_KEY, b"cowboy.offchain.image.v1")


def get_state(key):
    """The bytes under `key`, or None."""
    return pvm_host.get_state(key)


def set_state(key, value):
    """Writes bytes under `key`. ValueError for a reserved key."""
    _refuse_reserved(key)
    pvm_host.set_state(key, value)


def delete_state(key):
    """Removes `key` if it is there. ValueError for a reserved key."""
    _refuse_reserved(key)
    pvm_host.delete_state(key)


def scan_state_prefix(prefix, limit=100):
    """Up to `limit` (at most 1,000) pairs whose key starts with `prefix`, as (key, value) in key order.

    Costs 500 + 50 × limit cycles and a cell per byte returned. Keys longer than 64 bytes are not found.
    """
    return [(key, value) for key, value in pvm_host.scan_state_prefix(bytes(prefix), int(limit))]


def is_initialized():
    """Whether `init` has run."""
    return pvm_host.get_state(INITIALIZED_KEY) is not None


def mark_initialized():
    """Records that `init` has run. Called by the SDK when it returns."""
    if not is_initialized():
        pvm_host.set_reserved_state(INITIALIZED_KEY, b"\x01")


def _refuse_reserved(key):
    if key in _UNWRITABLE_KEYS:
        raise ValueError(f"storage key {key!r} is kept by the SDK; choose another key")
