"""Iterators over other iterators.

What is a generator keeps all that it knows in its arguments (`_renewed`): so it goes on after an exception, and where a function that it
calls asks it for its next item.
"""
import _vm

_MISSING = object()


def _renewed(generator):
    return _vm.dress(generator, None, True)


def _whole(value):
    """An argument that counts something, as an int."""
    if type(value) is int:
        return value
    if not isinstance(value, int) and not hasattr(type(value), "__index__"):
        raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
    return value.__index__()


class count:
    """start, start + step, start + 2 * step, ..."""

    _name_in_messages = "itertools.count"
    __slots__ = ("_next", "_step")

    def __init__(self, start=0, step=1):
        for number in (start, step):
            if not (hasattr(number, "__int__") or hasattr(number, "__index__") or hasattr(number, "__float__") or isinstance(number, complex)):
                raise TypeError("a number is required")
        self._next = int(start) if isinstance(start, int) and isinstance(step, int) and step == 1 else start  # of whatever class
        self._step = step

    def __iter__(self):
        return self

    def __next__(self):
        value = self._next
        self._next = value + self._step
        return value

    def __repr__(self):
        if self._step == 1 and isinstance(self._step, int):
            return f"count({self._next!r})"
        return f"count({self._next!r}, {self._step!r})"


class repeat:
    """The same object again and again, for ever or `times` times."""

    _name_in_messages = "itertools.repeat"
    __slots__ = ("_object", "_times")

    def __init__(self, object, times=_MISSING):
        self._object = object
        self._times = None if times is _MISSING else max(_whole(times), 0)

    def __iter__(self):
        return self

    def __next__(self):
        if self._times is not None:
            if self._times == 0:
                raise StopIteration
            self._times -= 1
        return self._object

    def __length_hint__(self):
        if self._times is None:
            raise TypeError("len() of unsized object")
        return self._times

    def __repr__(self):
        return f"repeat({self._object!r})" if self._times is None else f"repeat({self._object!r}, {self._times})"


class chain:
    """The items of the first iterable, then those of the next."""

    _name_in_messages = "itertools.chain"
    __slots__ = ("_items",)

    __class_getitem__ = classmethod(type(list[int]))

    def __init__(self, *iterables):
        self._items = _renewed(_chained(iter(iterables), []))

    @classmethod
    def from_iterable(cls, iterable, /):
        made = cls()
        made._items = _renewed(_chained(iter(iterable), []))
        return made

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._items)


def _chained(iterables, active):
    while True:
        if active:
            yield from active[0]
            active.clear()
        for iterable in iterables:
            active[:] = [iter(iterable)]
            break
        else:
            return


def cycle(iterable, /):
    """The items, and again from the start, for ever."""
    return _renewed(_cycle(iter(iterable), []))


def _cycle(items, saved):
    for item in items:
        saved.append(item)
        yield item
    while saved:
        yield from saved


def accumulate(iterable, func=None, *, initial=None):
    """Running totals, or the running results of a function of two arguments."""
    return _renewed(_accumulate(iter(iterable), func, [] if initial is None else [initial], []))


def _accumulate(items, func, initial, total):
    if initial:
        total.append(initial.pop())
        yield total[0]
    for item in items:
        if not total:
            total.append(item)
        elif func is None:
            total[0] = total[0] + item
        else:
            total[0] = func(total[0], item)
        yield total[0]


def compress(data, selectors):
    """The items whose selector is true."""
    return _renewed(_compress(zip(data, selectors)))


def _compress(pairs):
    for item, selected in pairs:
        if selected:
            yield item


def dropwhile(predicate, iterable, /):
    """The items from the first one that the predicate does not hold for."""
    return _renewed(_dropwhile(predicate, iter(iterable), []))


def _dropwhile(predicate, items, begun):
    while not begun:
        for item in items:
            if begun or not predicate(item):
                begun.append(True)
                yield item
                break
        else:
            return
    yield from items


def takewhile(predicate, iterable, /):
    """The items before the first one that the predicate does not hold for."""
    return _renewed(_takewhile(predicate, iter(iterable), []))


def _takewhile(predicate, items, ended):
    if ended:
        return
    for item in items:
        if not predicate(item):
            ended.append(True)
            return
        yield item
        if ended:
            return


def filterfalse(function, iterable, /):
    """The items that the function is false for; None stands for the truth of the item itself."""
    return _renewed(_filterfalse(function, iter(iterable)))


def _filterfalse(function, items):
    for item in items:
        if not (item if function is None else function(item)):
            yield item


def starmap(function, iterable, /):
    """function(*item) for each item."""
    return _renewed(_starmap(function, iter(iterable)))


def _starmap(function, items):
    for item in items:
        yield function(*tuple(item))


class pairwise:
    """Each item with the one after it."""

    __slots__ = ("_items", "_previous")

    def __init__(self, iterable, /):
        self._items = iter(iterable)
        self._previous = _MISSING

    def __iter__(self):
        return self

    def __next__(self):
        if self._items is None:
            raise StopIteration
        previous = self._previous
        try:
            if previous is _MISSING:
                previous = self._previous = next(self._items)
                if self._items is None:
                    raise StopIteration
            item = next(self._items)
        except StopIteration:
            self._items = None
            self._previous = _MISSING
            raise
        self._previous = item
        return previous, item


def islice(iterable, *bounds):
    """The items that range(...) with the same bounds would index."""
    if not 1 <= len(bounds) <= 3:
        raise TypeError(f"islice expected {'at least 2' if not bounds else 'at most 4'} arguments, got {len(bounds) + 1}")
    most = (1 << 63) - 1
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    start = 0 if start is None else start
    step = 1 if step is None else step
    if type(start) is not int or type(step) is not int or stop is not None and type(stop) is not int:
        start, stop, step = [each.__index__() if hasattr(type(each), "__index__") else each for each in (start, stop, step)]
    if stop is not None and (not isinstance(stop, int) or stop == -1 or not ~most <= stop <= most):
        raise ValueError("Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if not isinstance(start, int) or not 0 <= start <= most or (stop is not None and stop < 0):
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if not isinstance(step, int) or not 1 <= step <= most:
        raise ValueError("Step for islice() must be a positive integer or None.")
    # What lies before the first item is taken even where no item is wanted.
    stop = stop if stop is None or stop > start else start
    return _renewed(_islice(iter(iterable), stop, step, [0, start]))


def _islice(items, stop, step, place):
    """`place` is how many items were taken, and the index of the next one that is wanted. What lies behind the slice stays in the iterator."""
    while stop is None or place[0] < stop:
        is_wanted = place[0] >= place[1]
        for item in items:
            break
        else:
            return
        place[0] += 1
        if is_wanted:
            place[1] += step
            yield item


def zip_longest(*iterables, fillvalue=None, **others):
    """Tuples of one item of each, as long as the longest goes."""
    if others:
        raise TypeError("zip_longest() got an unexpected keyword argument")
    return _renewed(_zip_longest([iter(iterable) for iterable in iterables], fillvalue, [len(iterables)]))


def _zip_longest(iterators, fillvalue, left):
    while left[0]:
        row = []
        for index, items in enumerate(iterators):
            item = fillvalue if items is None else next(items, _MISSING)
            if item is _MISSING:
                left[0] -= 1
                if left[0] == 0:
                    return
                iterators[index] = None
                item = fillvalue
            row.append(item)
        yield tuple(row)


class groupby:
    """Runs of neighbours with the same key, as (key, iterator over the run)."""

    _name_in_messages = "itertools.groupby"
    __slots__ = ("_items", "_key", "_wanted", "_current_key", "_current", "_group")

    def __init__(self, iterable, key=None):
        self._items = iter(iterable)
        self._key = key
        self._wanted = _MISSING
        self._current_key = _MISSING
        self._current = None
        self._group = 0

    def __iter__(self):
        return self

    def __next__(self):
        self._group += 1
        while self._current_key is _MISSING or self._current_key == self._wanted:
            self._advance()
        self._wanted = self._current_key
        return self._current_key, self._run(self._wanted, self._group)

    def _advance(self):
        self._current = next(self._items)
        self._current_key = self._current if self._key is None else self._key(self._current)

    def _run(self, wanted, group):
        while self._group == group and self._current_key == wanted:
            yield self._current
            try:
                self._advance()
            except StopIteration:
                self._current_key = _MISSING
                self._items = iter(())
                return


class _TeeSource:
    """What the copies that tee() makes share: the iterator, what it gave, and whether it is being asked."""

    __slots__ = ("_items", "_seen", "_asked")

    def __init__(self, items):
        self._items = items
        self._seen = []
        self._asked = False

    def item(self, place):
        if place == len(self._seen):
            if self._asked:
                raise RuntimeError("cannot re-enter the tee iterator")
            self._asked = True
            try:
                self._seen.append(next(self._items))
            finally:
                self._asked = False
        return self._seen[place]


class _Tee:
    """One of the copies that tee() makes: a place in what was read."""

    _name_in_messages = "itertools._tee"
    __slots__ = ("_source", "_place")

    def __init__(self, source, place):
        self._source = source
        self._place = place

    def __iter__(self):
        return self

    def __next__(self):
        item = self._source.item(self._place)
        self._place += 1
        return item

    def __copy__(self):
        return _Tee(self._source, self._place)


def tee(iterable, n=2, /):
    """`n` independent iterators over the same items."""
    n = _whole(n)
    if n < 0:
        raise ValueError("n must be >= 0")
    items = iter(iterable)
    if isinstance(items, _Tee):
        return tuple([items.__copy__() for _ in range(n)])
    source = _TeeSource(items)
    return tuple([_Tee(source, 0) for _ in range(n)])


# Combinations


def product(*iterables, repeat=1):
    """Every way to take one item of each, the last changing fastest."""
    repeat = _whole(repeat)
    if repeat < 0:
        raise ValueError("repeat argument cannot be negative")
    return _product([tuple(iterable) for iterable in iterables] * repeat)


def _product(pools):
    if not all(pools):
        return
    places = [0] * len(pools)
    while True:
        yield tuple([pool[place] for pool, place in zip(pools, places)])
        position = len(pools) - 1
        while position >= 0 and places[position] == len(pools[position]) - 1:
            places[position] = 0
            position -= 1
        if position < 0:
            return
        places[position] += 1


def permutations(iterable, r=None):
    """Every ordered choice of `r` items."""
    pool = tuple(iterable)
    r = len(pool) if r is None else r
    if not isinstance(r, int):
        raise TypeError("Expected int as r")
    if r < 0:
        raise ValueError("r must be non-negative")
    return _permutations(pool, r)


def _permutations(pool, r):
    n = len(pool)
    if r > n:
        return
    indices = list(range(n))
    cycles = list(range(n, n - r, -1))
    yield tuple([pool[i] for i in indices[:r]])
    while n:
        for i in range(r - 1, -1, -1):
            cycles[i] -= 1
            if cycles[i] == 0:
                indices[i:] = indices[i + 1 :] + indices[i : i + 1]
                cycles[i] = n - i
            else:
                j = n - cycles[i]
                indices[i], indices[j] = indices[j], indices[i]
                yield tuple([pool[i] for i in indices[:r]])
                break
        else:
            return


def combinations(iterable, r):
    """Every choice of `r` items, in their order."""
    r = _whole(r)
    if r < 0:
        raise ValueError("r must be non-negative")
    return _combinations(tuple(iterable), r)


def _combinations(pool, r):
    n = len(pool)
    if r > n:
        return
    indices = list(range(r))
    while True:
        yield tuple([pool[i] for i in indices])
        position = r - 1
        while position >= 0 and indices[position] == position + n - r:
            position -= 1
        if position < 0:
            return
        indices[position] += 1
        for j in range(position + 1, r):
            indices[j] = indices[j - 1] + 1


def combinations_with_replacement(iterable, r):
    """Every choice of `r` items, in their order, each as often as you like."""
    r = _whole(r)
    if r < 0:
        raise ValueError("r must be non-negative")
    return _combinations_with_replacement(tuple(iterable), r)


def _combinations_with_replacement(pool, r):
    n = len(pool)
    if r and not n:
        return
    indices = [0] * r
    while True:
        yield tuple([pool[i] for i in indices])
        position = r - 1
        while position >= 0 and indices[position] == n - 1:
            position -= 1
        if position < 0:
            return
        indices[position:] = [indices[position] + 1] * (r - position)
