"""`self.storage`: the actor's persistent state as a dict of Python values.

    self.storage["count"] = self.storage.get("count", 0) + 1

Keys are str (stored as UTF-8), bytes, or an Address or TokenId (stored as its bytes); values are anything canonical CBOR
can carry. Reading what was never written gives None. A value read is a copy: change it, then assign it back.
"""

from ._host import pvm_host
from ._state import INITIALIZED_KEY
from .codec import decode, encode
from .guards import GuardedValue
from .types import Address, TokenId

_NO_VALUE = b"\xf6"
_RESERVED = INITIALIZED_KEY.decode()


class ActorStorage:
    """A dict-like view of the running actor's storage. It holds nothing itself."""

    # The commonest operations spell the common key out: a str, and not the reserved one.

    def __getitem__(self, key):
        raw = pvm_host.get_state(key.encode() if type(key) is str and key != _RESERVED else _key(key))
        return None if raw is None else decode(raw)

    def __setitem__(self, key, value):
        pvm_host.set_state(key.encode() if type(key) is str and key != _RESERVED else _key(key), encode(value))

    def __delitem__(self, key):
        pvm_host.delete_state(_key(key))

    def __contains__(self, key):
        return pvm_host.get_state(_key(key)) is not None

    def get(self, key, default=None):
        """The value under `key`; `default` when there is none or when it is None."""
        raw = pvm_host.get_state(key.encode() if type(key) is str and key != _RESERVED else _key(key))
        if raw is None or raw == _NO_VALUE:
            return default
        return decode(raw)

    def delete(self, key):
        """Removes `key` if it is there."""
        pvm_host.delete_state(_key(key))

    def get_raw(self, key):
        """The stored bytes, undecoded, or None."""
        return pvm_host.get_state(_key(key))

    def set_raw(self, key, data):
        """Stores bytes as they are. Read them with `get_raw`. TypeError for anything but bytes."""
        if not isinstance(data, (bytes, bytearray)):
            raise TypeError(f"set_raw() takes bytes, not {type(data).__name__}")
        pvm_host.set_state(_key(key), data)

    def guard(self, key):
        """A watch over `key` that notices when another message changes it."""
        return GuardedValue(_key(key))

    def items(self, prefix="", limit=100):
        """Up to `limit` (at most 1,000) pairs whose key starts with `prefix`, in key order: [(key, value), ...].

        Keys come back as bytes and in full. The price grows with `limit`, found or not. Values written with `set_raw`
        must be CBOR to be listed here.
        """
        pairs = pvm_host.scan_state_prefix(_key(prefix), int(limit))
        return [(key, decode(raw)) for key, raw in pairs if key != INITIALIZED_KEY]


def typed_key(key):
    """The bytes under which an Address or TokenId is stored. TypeError for anything else."""
    if isinstance(key, (Address, TokenId)):
        return key.to_bytes()
    raise TypeError(f"storage keys are str, bytes, Address or TokenId, not {type(key).__name__} {key!r}: write str({key!r})")


def _key(key):
    if not isinstance(key, (bytes, str)):
        key = typed_key(key)
    raw = key if isinstance(key, bytes) else key.encode("utf-8")
    if raw == INITIALIZED_KEY:
        raise ValueError(f"Storage key {raw!r} is SDK-reserved; choose another key")
    return raw


STORAGE = ActorStorage()


# The same for plain functions: `from cowboy_sdk import storage`, then `storage.get("key")`.


def get(key, default=None):
    """The value under `key`; `default` when there is none."""
    return STORAGE.get(key, default)


def set(key, value):
    """Stores `value` under `key`."""
    STORAGE[key] = value


def delete(key):
    """Removes `key` if it is there."""
    STORAGE.delete(key)
