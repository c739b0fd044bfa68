# Dicts


class defaultdict(dict):
    """A dict that makes the value of a missing key with a function."""

    _name_in_messages = "collections.defaultdict"

    __slots__ = ("default_factory",)

    def __init__(self, default_factory=None, /, *args, **kwargs):
        if default_factory is not None and not callable(default_factory):
            raise TypeError("first argument must be callable or None")
        super().__init__(*args, **kwargs)
        self.default_factory = default_factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        value = self.default_factory()
        self[key] = value
        return value

    def copy(self):
        return self.__class__(self.default_factory, self)

    __copy__ = copy

    def __or__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        merged = self.__class__(self.default_factory, self)
        merged.update(other)
        return merged

    def __ror__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        merged = self.__class__(self.default_factory, other)
        merged.update(self)
        return merged

    def __repr__(self):
        return f"{self.__class__.__name__}({self.default_factory!r}, {dict.__repr__(self)})"


class OrderedDict(dict):
    """A dict with operations on its order; two of them are equal only in the same order."""

    _name_in_messages = "collections.OrderedDict"

    def move_to_end(self, key, last=True):
        value = self[key]
        if last:
            del self[key]
            self[key] = value
            return
        rest = [(k, v) for k, v in dict.items(self) if k != key]
        dict.clear(self)
        self[key] = value
        dict.update(self, rest)

    def popitem(self, last=True):
        if not self:
            raise KeyError("dictionary is empty")
        if last:
            return dict.popitem(self)
        for key in self:
            break
        value = self[key]
        del self[key]
        return key, value

    def copy(self):
        return self.__class__(self)

    __copy__ = copy

    @classmethod
    def fromkeys(cls, iterable, value=None):
        result = cls()
        for key in iterable:
            result[key] = value
        return result

    def __eq__(self, other):
        if isinstance(other, OrderedDict):
            return dict.__eq__(self, other) and list(self) == list(other)
        return dict.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    def __or__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        merged = self.__class__(self)
        merged.update(other)
        return merged

    def __ror__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        merged = self.__class__(other)
        merged.update(self)
        return merged

    def __repr__(self):
        shown = repr(list(self.items())) if self else ""
        return f"{self.__class__.__name__}({shown})"


def _count_elements(mapping, iterable):
    """Counts the items of an iterable in a mapping."""
    for item in iterable:
        mapping[item] = mapping.get(item, 0) + 1


class Counter(dict):
    """Counts of things: missing ones count zero."""

    def __init__(self, iterable=None, /, **kwds):
        super().__init__()
        self.update(iterable, **kwds)

    def __missing__(self, key):
        return 0

    def total(self):
        return sum(self.values())

    def most_common(self, n=None):
        """The `n` most common with their counts, first met first among equals."""
        ranked = sorted(self.items(), key=_second, reverse=True)
        return ranked if n is None else ranked[: max(n, 0)]

    def elements(self):
        """Each thing as often as it counts."""
        for item, count in self.items():
            for _ in range(count):
                yield item

    @classmethod
    def fromkeys(cls, iterable, v=None):
        raise NotImplementedError("Counter.fromkeys() is undefined.  Use Counter(iterable) instead.")

    def update(self, iterable=None, /, **kwds):
        if iterable is not None:
            if isinstance(iterable, _abc.Mapping):
                if not self:
                    super().update(iterable)
                else:
                    for item, count in iterable.items():
                        self[item] = count + self.get(item, 0)
            else:
                get = self.get
                for item in iterable:
                    self[item] = get(item, 0) + 1
        if kwds:
            self.update(kwds)

    def subtract(self, iterable=None, /, **kwds):
        if iterable is not None:
            if isinstance(iterable, _abc.Mapping):
                for item, count in iterable.items():
                    self[item] = self.get(item, 0) - count
            else:
                for item in iterable:
                    self[item] = self.get(item, 0) - 1
        if kwds:
            self.subtract(kwds)

    def copy(self):
        return self.__class__(self)

    def __delitem__(self, item):
        if item in self:
            super().__delitem__(item)

    def __eq__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return all([self[item] == other[item] for counts in (self, other) for item in counts])

    def __ne__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return not self == other

    def __le__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return all([self[item] <= other[item] for counts in (self, other) for item in counts])

    def __lt__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return self <= other and self != other

    def __ge__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return all([self[item] >= other[item] for counts in (self, other) for item in counts])

    def __gt__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return self >= other and self != other

    def __add__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        found = {}
        for item, count in self.items():
            count = count + other[item]
            if count > 0:
                found[item] = count
        return _counted(found, self, other)

    def __sub__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        found = {}
        for item, count in self.items():
            count = count - other[item]
            if count > 0:
                found[item] = count
        for item, count in other.items():
            if count < 0 and item not in self:
                found[item] = 0 - count
        return _counted(found)

    def __or__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return _counted(_chosen(self, other, True), self, other)

    def __and__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return _counted(_chosen(self, other, False))

    def __pos__(self):
        return _counted({item: count for item, count in self.items() if count > 0})

    def __neg__(self):
        return _counted({item: 0 - count for item, count in self.items() if count < 0})

    def __iadd__(self, other):
        for item, count in other.items():
            self[item] += count
        return self._keep_positive()

    def __isub__(self, other):
        for item, count in other.items():
            self[item] -= count
        return self._keep_positive()

    def __ior__(self, other):
        for item, count in other.items():
            self[item] = max(self[item], count)
        return self._keep_positive()

    def __iand__(self, other):
        for item in list(self):
            self[item] = min(self[item], other[item])
        return self._keep_positive()

    def _keep_positive(self):
        for item in [item for item, count in self.items() if not count > 0]:
            del self[item]
        return self

    def __repr__(self):
        if not self:
            return f"{self.__class__.__name__}()"
        try:
            shown = dict(self.most_common())
        except TypeError:
            shown = dict(self)
        return f"{self.__class__.__name__}({shown!r})"


def _second(pair):
    return pair[1]


def _chosen(left, right, is_larger):
    """Of the two counts of each item in the left one, the larger or the smaller, where it is above zero."""
    found = {}
    for item, count in left.items():
        other = right[item]
        if count < other:
            count, other = other, count
        chosen = count if is_larger else other
        if chosen > 0:
            found[item] = chosen
    return found


def _counted(found, left=None, right=None):
    """A counter of what was found, and of what counts in the right one alone."""
    if right is not None:
        for item, count in right.items():
            if count > 0 and item not in left:
                found[item] = count
    counter = Counter()
    dict.update(counter, found)
    return counter


class ChainMap(_abc.MutableMapping):
    """Several mappings seen as one: reads find the first that has the key, writes go to the first."""

    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __missing__(self, key):
        raise KeyError(key)

    def __getitem__(self, key):
        for mapping in self.maps:
            if key in mapping:
                return mapping[key]
        return self.__missing__(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __len__(self):
        return len(self._merged())

    def __iter__(self):
        return iter(self._merged())

    def _merged(self):
        merged = {}
        for mapping in reversed(self.maps):
            merged.update(dict.fromkeys(mapping))
        return merged

    def __contains__(self, key):
        return any([key in mapping for mapping in self.maps])

    def __bool__(self):
        return any([bool(mapping) for mapping in self.maps])

    def __repr__(self):
        return f"{self.__class__.__name__}({', '.join([repr(mapping) for mapping in self.maps])})"

    @classmethod
    def fromkeys(cls, iterable, *args):
        return cls(dict.fromkeys(iterable, *args))

    def copy(self):
        return self.__class__(self.maps[0].copy(), *self.maps[1:])

    __copy__ = copy

    def new_child(self, m=None, **kwargs):
        if m is None:
            m = kwargs
        elif kwargs:
            m.update(kwargs)
        return self.__class__(m, *self.maps)

    @property
    def parents(self):
        return self.__class__(*self.maps[1:])

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        try:
            del self.maps[0][key]
        except KeyError:
            raise KeyError(f"Key not found in the first mapping: {key!r}") from None

    def popitem(self):
        try:
            return self.maps[0].popitem()
        except KeyError:
            raise KeyError("No keys found in the first mapping.") from None

    def pop(self, key, *args):
        try:
            return self.maps[0].pop(key, *args)
        except KeyError:
            raise KeyError(f"Key not found in the first mapping: {key!r}") from None

    def clear(self):
        self.maps[0].clear()

    def __or__(self, other):
        if not isinstance(other, _abc.Mapping):
            return NotImplemented
        merged = self.copy()
        merged.maps[0].update(other)
        return merged

    def __ror__(self, other):
        if not isinstance(other, _abc.Mapping):
            return NotImplemented
        merged = dict(other)
        for each in reversed(self.maps):
            merged.update(each)
        return self.__class__(merged)

    def __ior__(self, other):
        self.maps[0].update(other)
        return self
