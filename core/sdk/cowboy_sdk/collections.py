"""Collections that live in storage, one key per entry, so that a call touches only what it needs."""

from . import codec
from ._host import pvm_host
from .storage import STORAGE, typed_key


class StoredMap:
    """A mapping in storage: `StoredMap("balance:")[address] = 5` writes one key.

    Keys are str, bytes, Address or TokenId; missing ones read as `default`. An Address is stored as its 20 bytes, so
    that it, its bytes and what the caller's `self.sender` is are one key. Reading the whole map is deliberately not
    offered: list a page with `items`.
    """

    def __init__(self, prefix, default=None):
        self._prefix = prefix.encode("utf-8")
        self._default = default

    def __getitem__(self, key):
        raw = pvm_host.get_state(self._key(key))
        return self._default if raw is None else codec.decode(raw)

    def __setitem__(self, key, value):
        pvm_host.set_state(self._key(key), codec.encode(value))

    def __delitem__(self, key):
        pvm_host.delete_state(self._key(key))

    def __contains__(self, key):
        return pvm_host.get_state(self._key(key)) is not None

    def get(self, key, default=None):
        raw = pvm_host.get_state(self._key(key))
        return default if raw is None else codec.decode(raw)

    def items(self, limit=100):
        """The first `limit` pairs in key order; keys are bytes, without the prefix: `Address(key)` makes an Address again."""
        start = len(self._prefix)
        return [(key[start:], value) for key, value in STORAGE.items(self._prefix, limit)]

    def _key(self, key):
        if isinstance(key, bytes):
            return self._prefix + key
        return self._prefix + (key.encode("utf-8") if isinstance(key, str) else typed_key(key))


class StoredLog:
    """The last `limit` entries of an endless log. Appending costs the same however long it has run."""

    def __init__(self, name, limit):
        self._name = name
        self._limit = limit

    def append(self, entry):
        count = self.total()
        STORAGE[self._slot(count)] = entry
        STORAGE[self._name + ":total"] = count + 1

    def total(self):
        """How many entries were ever appended."""
        return STORAGE.get(self._name + ":total", 0)

    def entries(self):
        """What is kept, oldest first."""
        total = self.total()
        return [STORAGE[self._slot(number)] for number in range(max(0, total - self._limit), total)]

    def _slot(self, number):
        return f"{self._name}:{number % self._limit}"
