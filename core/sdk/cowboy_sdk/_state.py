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


def blob_commit(data):
    """Stores up to 65,536 bytes under their multihash, and returns it: 0x12 0x20 and the SHA-256 of the data.

    A blob is an entry of the actor's storage: it counts for quota and rent, and `delete_state(multihash)` removes it. Costs
    40 cycles a KiB beside the price of the entry. Needs the entitlement storage.blob, whose `max_bytes` bounds each blob.
    """
    return pvm_host.blob_commit(bytes(data))


def blob_read(multihash):
    """The bytes of this actor's blob with that multihash. None where they are not stored, or their entry was overwritten."""
    return pvm_host.blob_read(bytes(multihash))


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
