"""SortedMap: a mapping that iterates in the order of its keys, for auctions, queues and rankings."""


class SortedMap:
    """Unique keys in ascending order. Finding a key is a binary search; inserting moves the keys behind it."""

    def __init__(self, items=None):
        self._keys = []
        self._values = {}
        for key, value in items or ():
            self[key] = value

    def _place(self, key):
        """Index of the first key that is not smaller than `key`."""
        keys = self._keys
        low = 0
        high = len(keys)
        while low < high:
            middle = (low + high) // 2
            if keys[middle] < key:
                low = middle + 1
            else:
                high = middle
        return low

    def __setitem__(self, key, value):
        if key not in self._values:
            self._keys.insert(self._place(key), key)
        self._values[key] = value

    def __getitem__(self, key):
        return self._values[key]

    def __delitem__(self, key):
        del self._values[key]
        del self._keys[self._place(key)]

    def __contains__(self, key):
        return key in self._values

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def get(self, key, default=None):
        return self._values.get(key, default)

    def keys(self):
        return list(self._keys)

    def values(self):
        return [self._values[key] for key in self._keys]

    def items(self):
        return [(key, self._values[key]) for key in self._keys]

    def peekitem(self, index=-1):
        """The pair at a position in key order: 0 the smallest, -1 the largest. IndexError when there is none."""
        key = self._keys[index]
        return key, self._values[key]
