"""The `random` module's functions over the chain's beacon: equal on every validator, fresh in every block.

`cowboy_sdk.vrf` says what such numbers may decide. `seed` starts another sequence within the block.
"""

from ._host import pvm_host


class _Stream:
    """Bytes drawn from the beacon, 32 at a time, under a prefix."""

    def __init__(self):
        self.prefix = b"N"
        self.counter = 0
        self.rest = b""

    def take(self, count):
        while len(self.rest) < count:
            self.rest += pvm_host.randomness(b"random" + self.prefix + self.counter.to_bytes(8, "little"))
            self.counter += 1
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken


_stream = _Stream()


def seed(a=None, version=2):
    """Starts the sequence that belongs to `a`: None, int, str or bytes."""
    if a is None:
        prefix = b"N"
    elif isinstance(a, (bytes, bytearray)):
        prefix = b"B" + bytes(a)
    elif isinstance(a, str):
        prefix = b"S" + a.encode("utf-8")
    elif isinstance(a, int):
        bits = max(a.bit_length() + (a < 0), 1)
        prefix = b"I" + a.to_bytes((bits + 7) // 8, "big", signed=a < 0)
    else:
        raise TypeError("seed must be int, bytes, bytearray, str, or None")
    _stream.prefix = prefix
    _stream.counter = 0
    _stream.rest = b""


def getstate():
    return (1, _stream.prefix, _stream.counter, _stream.rest, 0)


def setstate(state):
    if not isinstance(state, tuple) or len(state) != 5:
        raise ValueError("state must be a 5-item tuple from getstate()")
    if state[0] != 1:
        raise ValueError("unsupported state version")
    _stream.prefix = bytes(state[1])
    _stream.counter = state[2]
    _stream.rest = bytes(state[3])[state[4] :]


def randbytes(n):
    return _stream.take(n) if n > 0 else b""


def getrandbits(k):
    if k < 0:
        raise ValueError("number of bits must be non-negative")
    count = (k + 7) // 8
    return int.from_bytes(_stream.take(count), "big") >> (count * 8 - k)


def random():
    """A float from 0 up to, not including, 1."""
    return getrandbits(53) / (1 << 53)


def uniform(a, b):
    return a + (b - a) * random()


def randrange(start, stop=None, step=1):
    choices = range(start) if stop is None else range(start, stop, step)
    if not choices:
        raise ValueError("empty range for randrange()")
    return choices[_below(len(choices))]


def randint(a, b):
    if a > b:
        raise ValueError("empty range for randint()")
    return a + _below(b - a + 1)


def choice(seq):
    if not seq:
        raise IndexError("cannot choose from an empty sequence")
    return seq[_below(len(seq))]


def shuffle(x):
    for i in range(len(x) - 1, 0, -1):
        j = _below(i + 1)
        x[i], x[j] = x[j], x[i]


def sample(population, k):
    pool = list(population)
    count = len(pool)
    if k < 0:
        raise ValueError("sample size must be non-negative")
    if k > count:
        raise ValueError("sample larger than population")
    result = []
    for taken in range(k):
        j = _below(count - taken)
        result.append(pool[j])
        pool[j] = pool[count - taken - 1]
    return result


def _below(n):
    # Drawing again past the end keeps every answer equally likely.
    bits = n.bit_length()
    number = getrandbits(bits)
    while number >= n:
        number = getrandbits(bits)
    return number
