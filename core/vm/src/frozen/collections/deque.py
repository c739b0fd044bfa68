"""Container types beside the built-in ones."""

import _vm
import collections.abc as _abc
from collections_named import namedtuple
from collections_user import UserDict, UserList, UserString


# deque


class deque:
    """A list that grows and shrinks quickly at both ends, optionally of bounded length.

    The items are a slice of a list: what is popped from the left leaves a gap there, closed when it is half the list.
    """

    _name_in_messages = "collections.deque"

    __slots__ = ("_list", "_start", "_maxlen")

    __class_getitem__ = classmethod(type(list[int]))

    __hash__ = None

    def __init__(self, iterable=(), maxlen=None):
        if maxlen is not None:
            if not isinstance(maxlen, int):
                raise TypeError("an integer is required")
            if maxlen < 0:
                raise ValueError("maxlen must be non-negative")
            maxlen = int.__index__(maxlen)
        self._list = []
        self._start = 0
        self._maxlen = maxlen
        self.extend(iterable)

    @property
    def maxlen(self):
        return self._maxlen

    def append(self, x, /):
        self._list.append(x)
        if self._maxlen is not None and len(self._list) - self._start > self._maxlen:
            self._drop_left()

    def appendleft(self, x, /):
        if self._maxlen is not None and len(self) >= self._maxlen:
            if self._maxlen == 0:
                return
            self._list.pop()
        if self._start == 0:
            gap = len(self._list) + 8
            self._list[0:0] = [None] * gap
            self._start = gap
        self._start -= 1
        self._list[self._start] = x

    def pop(self):
        if self._start == len(self._list):
            raise IndexError("pop from an empty deque")
        return self._list.pop()

    def popleft(self):
        if self._start == len(self._list):
            raise IndexError("pop from an empty deque")
        item = self._list[self._start]
        self._drop_left()
        return item

    def _drop_left(self):
        self._list[self._start] = None
        self._start += 1
        if self._start > 16 and self._start * 2 > len(self._list):
            del self._list[: self._start]
            self._start = 0

    def extend(self, iterable, /):
        if iterable is self:
            iterable = list(iterable)
        if self._maxlen is None:
            self._list.extend(iterable)
        else:
            for item in iterable:
                self.append(item)

    def extendleft(self, iterable, /):
        if iterable is self:
            iterable = list(iterable)
        for item in iterable:
            self.appendleft(item)

    def clear(self):
        self._list = []
        self._start = 0

    def copy(self):
        return self.__class__(self, self._maxlen)

    __copy__ = copy

    def rotate(self, n=1, /):
        if not isinstance(n, int):
            n = range(n).stop
        items = self._items()
        if len(items) < 2:
            return
        n %= len(items)
        self._list = items[-n:] + items[:-n]
        self._start = 0

    def reverse(self):
        items = self._items()
        items.reverse()
        self._list = items
        self._start = 0

    def count(self, x, /):
        return self._items().count(x)

    def index(self, x, start=0, stop=None, /):
        items = self._items()
        try:
            return items.index(x, start, len(items) if stop is None else stop)
        except ValueError:
            pass
        raise ValueError(f"{x!r} is not in deque")

    def insert(self, i, x, /):
        if self._maxlen is not None and len(self) >= self._maxlen:
            raise IndexError("deque already at its maximum size")
        items = self._items()
        items.insert(i, x)
        self._list = items
        self._start = 0

    def remove(self, value, /):
        items = self._items()
        try:
            items.remove(value)
        except ValueError:
            raise ValueError(f"{value!r} is not in deque") from None
        self._list = items
        self._start = 0

    def _items(self):
        return self._list[self._start :]

    def _place(self, index):
        if not isinstance(index, int):
            if not hasattr(type(index), "__index__"):
                raise TypeError(f"sequence index must be integer, not '{type(index).__name__}'")
            index = range(index).stop
        length = len(self._list) - self._start
        if index < 0:
            index += length
        if not 0 <= index < length:
            raise IndexError("deque index out of range")
        return self._start + index

    def __getitem__(self, index):
        return self._list[self._place(index)]

    def __setitem__(self, index, value):
        self._list[self._place(index)] = value

    def __delitem__(self, index):
        del self._list[self._place(index)]

    def __len__(self):
        return len(self._list) - self._start

    def __contains__(self, x):
        return x in self._items()

    def __iter__(self):
        items = self._list
        index = self._start
        length = len(self)
        for position in range(index, len(items)):
            if items is not self._list or len(self) != length:
                raise RuntimeError("deque mutated during iteration")
            yield items[position]

    def __reversed__(self):
        length = len(self)
        for position in range(len(self._list) - 1, self._start - 1, -1):
            if len(self) != length:
                raise RuntimeError("deque mutated during iteration")
            yield self._list[position]

    # As in C, a reflected method of the other operand goes before what a sequence does.

    def __add__(self, other):
        if not isinstance(other, deque):
            if _vm.own(other, "__radd__") is not None:
                return NotImplemented
            raise TypeError(f'can only concatenate deque (not "{type(other).__name__}") to deque')
        return self.__class__([*self, *other], self._maxlen)

    def __iadd__(self, other):
        if _vm.own(other, "__radd__") is not None and not isinstance(other, deque):
            return NotImplemented
        self.extend(other)
        return self

    def __mul__(self, count):
        if _vm.own(count, "__rmul__") is not None:
            return NotImplemented
        return self.__class__(self._items() * count, self._maxlen)

    __rmul__ = __mul__

    def __imul__(self, count):
        if _vm.own(count, "__rmul__") is not None:
            return NotImplemented
        other = self * count
        self._list = other._list
        self._start = other._start
        return self

    def __eq__(self, other):
        return self._items() == other._items() if isinstance(other, deque) else NotImplemented

    def __lt__(self, other):
        return self._items() < other._items() if isinstance(other, deque) else NotImplemented

    def __le__(self, other):
        return self._items() <= other._items() if isinstance(other, deque) else NotImplemented

    def __gt__(self, other):
        return self._items() > other._items() if isinstance(other, deque) else NotImplemented

    def __ge__(self, other):
        return self._items() >= other._items() if isinstance(other, deque) else NotImplemented

    def __repr__(self):
        bound = "" if self._maxlen is None else f", maxlen={self._maxlen}"
        return f"{self.__class__.__name__}({self._items()!r}{bound})"


_abc.MutableSequence.register(deque)


