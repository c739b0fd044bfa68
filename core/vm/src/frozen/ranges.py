"""Ranges whose numbers do not fit in 64 bits. `range` makes one where it has to; it behaves as any other range."""

import _vm

_LARGEST = (1 << 63) - 1


class LongRange(range):
    """A range of integers of any size."""

    __slots__ = ("_start", "_stop", "_step", "_length")
    __module__ = "builtins"

    def __new__(cls, start, stop, step):
        self = object.__new__(cls)
        self._start, self._stop, self._step = start, stop, step
        self._length = max((stop - start + step - (1 if step > 0 else -1)) // step, 0)
        return self

    @property
    def start(self):
        """The first number."""
        return self._start

    @property
    def stop(self):
        """The number before which it ends."""
        return self._stop

    @property
    def step(self):
        """From one number to the next."""
        return self._step

    def __len__(self):
        if self._length > _LARGEST:
            raise OverflowError("Python int too large to convert to C ssize_t")
        return self._length

    def __bool__(self):
        return self._length > 0

    def __getitem__(self, key):
        if isinstance(key, slice):
            start, stop, step = _vm.slice_bounds(key, self._length)
            first = self._start
            return range(first + start * self._step, first + stop * self._step, step * self._step)
        place = _index(key)
        if place < 0:
            place += self._length
        if not 0 <= place < self._length:
            raise IndexError("range object index out of range")
        return self._start + place * self._step

    def __iter__(self):
        return _vm.dress(_numbers(self._start, self._step, self._length), "range_iterator")

    def __reversed__(self):
        last = self._start + (self._length - 1) * self._step
        return _vm.dress(_numbers(last, -self._step, self._length), "range_iterator")

    def __contains__(self, value):
        if type(value) is not int and type(value) is not bool:
            return any([value == each for each in self])
        if self._step > 0:
            inside = self._start <= value < self._stop
        else:
            inside = self._stop < value <= self._start
        return inside and (value - self._start) % self._step == 0

    def index(self, value):
        """The place of a number."""
        if type(value) is not int and type(value) is not bool:
            for place, each in enumerate(self):
                if each == value:
                    return place
        elif value in self:
            return (value - self._start) // self._step
        raise ValueError(f"{value!r} is not in range")

    def count(self, value):
        """How often a number is in it."""
        if type(value) is int or type(value) is bool:
            return int(value in self)
        return sum([1 for each in self if each == value])

    def _key(self):
        first = self._start if self._length else None
        return self._length, first, self._step if self._length > 1 else None

    def __eq__(self, other):
        if not isinstance(other, range):
            return NotImplemented
        if not isinstance(other, LongRange):
            other = LongRange(other.start, other.stop, other.step)
        return self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        step = "" if self._step == 1 else f", {self._step}"
        return f"range({self._start}, {self._stop}{step})"


LongRange.__name__ = LongRange.__qualname__ = "range"


def _index(value):
    if isinstance(value, int):
        return value
    if not hasattr(type(value), "__index__"):
        raise TypeError(f"range indices must be integers or slices, not {type(value).__name__}")
    return range(value).stop


def _numbers(number, step, count):
    while count > 0:
        yield number
        number += step
        count -= 1
