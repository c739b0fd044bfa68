"""Locks against reentry and watches over stored values."""

from ._host import pvm_host
from ._state import delete_state, get_state, set_state
from ._wrapping import look_like
from .errors import ReentrancyError, StateConflictError


def reentrancy_guard(function=None, *, key=None):
    """Refuses to enter the method again before it has returned, even through other actors (ReentrancyError).

    The lock lies in storage under the method's name, or under `key`: a string, or a function of the method's arguments
    that names the resource, so that work on one token does not block work on another.
    """
    if function is None:
        return lambda method: reentrancy_guard(method, key=key)

    @look_like(function)
    def guarded(self, *args, **kwargs):
        name = function.__name__ if key is None else key
        if callable(name):
            name = name(self, *args, **kwargs)
        lock = b"__reentrancy:" + (name if isinstance(name, bytes) else str(name).encode("utf-8"))
        if get_state(lock) is not None:
            raise ReentrancyError(
                f"Reentrant call to '{function.__name__}' detected. This method is protected against reentrancy."
            )
        set_state(lock, b"\x01")
        try:
            return function(self, *args, **kwargs)
        finally:
            delete_state(lock)

    return guarded


class GuardedValue:
    """A stored value that is watched: `verify(hash)` tells whether it still is what it was."""

    def __init__(self, key):
        self._key = key.encode("utf-8") if isinstance(key, str) else bytes(key)
        self._given = key if isinstance(key, str) else self._key
        self._cache = None
        self._loaded = False

    @property
    def key(self):
        return self._key

    @property
    def key_repr(self):
        return self._key.hex()

    @property
    def value(self):
        """The raw bytes, read once and then remembered; None when absent. Assigning writes; None deletes."""
        if not self._loaded:
            self._cache = get_state(self._key)
            self._loaded = True
        return self._cache

    @value.setter
    def value(self, new_value):
        if new_value is None:
            delete_state(self._key)
        elif isinstance(new_value, (bytes, bytearray)):
            new_value = bytes(new_value)
            set_state(self._key, new_value)
        else:
            raise TypeError(
                f"GuardedValue.value must be bytes or None, got {type(new_value).__name__}. "
                "Use codec.encode() to serialize structured data."
            )
        self._cache = new_value
        self._loaded = True

    def compute_hash(self):
        """The Keccak-256 of the value as hex, or None when it is absent."""
        raw = self.value
        return None if raw is None else pvm_host.keccak256(raw).hex()

    def verify(self, expected_hash):
        """StateConflictError unless the value still has the hash recorded earlier."""
        actual = self.compute_hash()
        if actual != expected_hash:
            raise StateConflictError(
                f"Guard violation: storage key {self._key!r} was modified. "
                f"Expected hash: {expected_hash}, actual: {actual}"
            )

    def __repr__(self):
        return f"GuardedValue(key={self._given!r})"


def storage_guard(key):
    """A watch over one storage key."""
    return GuardedValue(key)


class GuardSet:
    """Watches over several keys, verified together."""

    def __init__(self, *keys):
        self._guards = [GuardedValue(key) for key in keys]

    @property
    def keys(self):
        return [guard._given for guard in self._guards]

    def hashes(self):
        """What `verify_all` compares with later: {hex key: hash}."""
        return {guard.key_repr: guard.compute_hash() for guard in self._guards}

    def verify_all(self, expected_hashes):
        for guard in self._guards:
            if guard.key_repr not in expected_hashes:
                raise StateConflictError(f"Guard violation: storage key {guard.key!r} has no recorded hash")
            guard.verify(expected_hashes[guard.key_repr])

    def __iter__(self):
        return iter(self._guards)

    def __repr__(self):
        return f"GuardSet({self.keys!r})"
