"""Iterators, sequences, numbers, and what is folded from them."""


def iter_by_index(sequence):
    return _vm.dress(_by_index(sequence, [0]), "iterator", True)


def _by_index(sequence, place):
    """Items by ascending index. The index lies in a list, -1 at the end: see `_vm.dress`."""
    while place[0] >= 0:
        try:
            item = sequence[place[0]]
        except (IndexError, StopIteration):
            place[0] = -1
            return
        place[0] += 1
        yield item


def reversed_by_index(sequence):
    return _vm.dress(_backwards(sequence, [len(sequence) - 1]), "reversed", True)


def _backwards(sequence, place):
    while place[0] >= 0:
        try:
            item = sequence[place[0]]
        except BaseException as error:
            place[0] = -1
            if isinstance(error, (IndexError, StopIteration)):
                return
            raise
        place[0] -= 1
        yield item


def iter_sentinel(function, sentinel):
    return _vm.dress(_until(function, sentinel, []), "callable_iterator", True)


def _until(function, sentinel, ended):
    while not ended:
        try:
            value = function()
        except StopIteration:
            ended.append(True)
            return
        if value == sentinel:
            ended.append(True)
            return
        yield value


def next_slow(iterator, default=None):
    return next(iterator)


def as_tuple(iterable):
    return tuple([*_each(iterable)])


def _each(iterable):
    result = []
    for item in iterable:
        result.append(item)
    return result


def _measured(iterable):
    """Its iterator. As where CPython makes room for the items first, it is asked how many there are: what it answers with is checked."""
    items = iter(iterable)
    for name in ("__len__", "__length_hint__"):
        method = _bound(iterable, name)
        if method is None:
            continue
        try:
            size = len(iterable) if name == "__len__" else method()
        except TypeError:
            continue
        if size is NotImplemented:
            continue
        if not isinstance(size, int):
            raise TypeError(f"__length_hint__ must be an integer, not {_kind_name(size)}")
        if size < 0:
            raise ValueError("__length_hint__() should return >= 0")
        break
    return items


def unpack(iterable, count):
    result = []
    for item in iterable:
        result.append(item)
        if len(result) > count:
            break
    return tuple(result)


def list_init(self, iterable=()):
    items = []
    for item in _measured(iterable):
        items.append(item)
    _vm.fill_list(self, items)


def list_extend(self, iterable):
    for item in _measured(iterable):
        self.append(item)


def list_iadd(self, iterable):
    for item in _measured(iterable):
        self.append(item)
    return self


def list_remove(self, value):
    # The comparison may change the list: it ends where the list ends then.
    for index, item in enumerate(list.__iter__(self)):
        if item is value or item == value:
            list.__delitem__(self, slice(index, index + 1))
            return
    raise ValueError("list.remove(x): x not in list")


def sequence_count(self, value):
    count = 0
    for item in tuple.__iter__(self) if isinstance(self, tuple) else list.__iter__(self):
        if item is value or item == value:
            count += 1
    return count


def sequence_index(self, value, start=0, stop=None):
    kind = tuple if isinstance(self, tuple) else list
    length = kind.__len__(self)
    start, stop = _whole(start), _whole(stop)
    index = max(start + length, 0) if start < 0 else start
    stop = length if stop is None else stop + length if stop < 0 else min(stop, length)
    while index < stop and index < kind.__len__(self):
        item = kind.__getitem__(self, index)
        if item is value or item == value:
            return index
        index += 1
    if kind is tuple:
        raise ValueError("tuple.index(x): x not in tuple")
    raise ValueError(f"{value!r} is not in list")


def repeated(sequence, count):
    return sequence * index(count)


def repeat_in_place(sequence, count):
    sequence *= index(count)
    return sequence


def tuple_new(cls, iterable=()):
    items = []
    for item in _measured(iterable):
        items.append(item)
    return cls.__new__(cls, items) if cls is tuple else tuple.__new__(cls, items)


def bytes_new(cls, source, *rest):
    method = _bound(source, "__bytes__")
    if method is not None:
        result = method()
        if not isinstance(result, bytes):
            raise TypeError(f"__bytes__ returned non-bytes (type {_kind_name(result)})")
        return bytes.__new__(cls, result)
    return bytes.__new__(cls, _byte_source(source, _measured))


def bytearray_init(self, source, *rest):
    bytearray.__init__(self, _byte_source(source, iter))


def bytearray_extend(self, source):
    bytearray.extend(self, [_whole(each) for each in _measured(source)])


def bytearray_setitem(self, key, value):
    if isinstance(key, slice):
        bytearray.__setitem__(self, slice(_whole(key.start), _whole(key.stop), _whole(key.step)), [_whole(each) for each in value])
    else:
        bytearray.__setitem__(self, _whole(key), _whole(value))


def _whole(value):
    return value if _vm.own(value, "__index__") is None else index(value)


def _byte_source(source, items_of):
    if _vm.own(source, "__index__") is not None:
        try:
            return index(source)
        except TypeError:
            if not hasattr(source, "__iter__"):
                raise
    return [_whole(each) for each in items_of(source)]


def range_index(self, value):
    for place, each in enumerate(self):
        if each == value:
            return place
    raise ValueError("sequence.index(x): x not in sequence")


def range_count(self, value):
    return sum([1 for each in self if each == value])


def slice_bounds(key, length):
    """start, stop and step of a slice of a sequence so long."""
    def whole(value):
        if value is None or isinstance(value, int):
            return value
        if not hasattr(type(value), "__index__"):
            raise TypeError("slice indices must be integers or None or have an __index__ method")
        return index(value)

    if not hasattr(type(length), "__index__"):
        raise TypeError(f"'{_kind_name(length)}' object cannot be interpreted as an integer")
    length = whole(length)
    if length < 0:
        raise ValueError("length should not be negative")
    step = whole(key.step)
    step = 1 if step is None else step
    if step == 0:
        raise ValueError("slice step cannot be zero")
    low, high = (0, length) if step > 0 else (-1, length - 1)

    def bound(value, default):
        value = whole(value)
        if value is None:
            return default
        return max(value + length, low) if value < 0 else min(value, high)

    return bound(key.start, high if step < 0 else low), bound(key.stop, low if step < 0 else high), step


def getitem_index(sequence, key):
    return sequence[index(key)]


def int_to_bytes(value, length, byteorder="big", signed=False):
    return int.to_bytes(value, index(length), byteorder, signed=signed)


def int_from_bytes(cls, source, byteorder="big", signed=False):
    source = bytes(source if hasattr(type(source), "__bytes__") else iter(source))
    value = int.from_bytes(source, byteorder, signed=signed)
    return value if cls is int else cls(value)


def in_base(value, base):
    value = index(value)
    return bin(value) if base == 2 else oct(value) if base == 8 else hex(value)


def all_slow(iterable):
    for item in iterable:
        if not item:
            return False
    return True


def any_slow(iterable):
    for item in iterable:
        if item:
            return True
    return False


def sum_slow(iterable, start=0):
    total = start
    for item in iterable:
        total = total + item
    return total


def _extreme(name, better, args, key, default, has_default):
    if len(args) == 1:
        items = args[0]
    else:
        items = args
    found = False
    best = best_key = None
    for item in items:
        item_key = item if key is None else key(item)
        if not found:
            best, best_key, found = item, item_key, True
        elif better(item_key, best_key):
            best, best_key = item, item_key
    if not found:
        if has_default:
            return default
        raise ValueError(f"{name}() arg is an empty sequence")
    return best


def _greater(a, b):
    return a > b


def _less(a, b):
    return a < b


def max_slow(key, default, has_default, *args):
    return _extreme("max", _greater, args, key, default, has_default)


def min_slow(key, default, has_default, *args):
    return _extreme("min", _less, args, key, default, has_default)


def max_list(items):
    return _extreme("max", _greater, (items,), None, None, False)


def min_list(items):
    return _extreme("min", _less, (items,), None, None, False)


def map_generator(function, iterators):
    if len(iterators) == 1:
        for item in iterators[0]:
            yield function(item)
        return
    while True:
        values = []
        for each in iterators:
            try:
                values.append(next(each))
            except StopIteration:
                return
        yield function(*values)


def map_new(cls, function, iterables):
    return _vm.dress(map_generator(function, [iter(each) for each in iterables]), cls, True)


def filter_generator(function, iterator):
    if function is None:
        for item in iterator:
            if item:
                yield item
        return
    for item in iterator:
        if function(item):
            yield item


def filter_new(cls, function, iterable):
    return _vm.dress(filter_generator(function, iter(iterable)), cls, True)


def zip_generator(iterables, strict):
    return _vm.dress(_zip([_iterator_of(each, position) for position, each in enumerate(iterables)], strict), "zip", True)


def _iterator_of(iterable, position):
    try:
        return iter(iterable)
    except TypeError:
        if hasattr(type(iterable), "__iter__") or hasattr(type(iterable), "__getitem__"):
            raise
        raise TypeError(f"'{_kind_name(iterable)}' object is not iterable") from None


def _zip(iterators, strict):
    while True:
        values = []
        for index, each in enumerate(iterators):
            try:
                values.append(next(each))
            except StopIteration:
                if not strict:
                    return
                if index:
                    plural = " " if index == 1 else "s 1-"
                    raise ValueError(f"zip() argument {index + 1} is shorter than argument{plural}{index}") from None
                for other in range(1, len(iterators)):
                    try:
                        next(iterators[other])
                    except StopIteration:
                        continue
                    plural = " " if other == 1 else "s 1-"
                    raise ValueError(f"zip() argument {other + 1} is longer than argument{plural}{other}") from None
                return
        yield tuple(values)


def enumerate_generator(iterable, start):
    return _vm.dress(_enumerate(iter(iterable), [+start]), "enumerate", True)


def _enumerate(iterator, count):
    for item in iterator:
        number = count[0]
        count[0] = number + 1
        yield number, item


def coroutine_await(coroutine):
    return _vm.dress(_steps(coroutine), "coroutine_wrapper")


def _steps(coroutine):
    """What a coroutine gives step by step, and what it returns."""
    step, value = coroutine.send, None
    while True:
        try:
            given = step(value)
        except StopIteration as end:
            return end.value
        try:
            step, value = coroutine.send, (yield given)
        except GeneratorExit:
            coroutine.close()
            raise
        except BaseException as error:
            step, value = coroutine.throw, error


def delegate_close(iterator, exception):
    """`yield from` is left by GeneratorExit: the iterator is closed first."""
    close = getattr(iterator, "close", None)
    if close is not None:
        close()
    raise exception


def delegate_throw(iterator, thrown):
    """What is thrown into a `yield from` goes to the iterator, when that has a `throw`."""
    throw = getattr(iterator, "throw", None)
    if throw is not None:
        return throw(thrown)
    if not isinstance(thrown, BaseException) and not (isinstance(thrown, type) and issubclass(thrown, BaseException)):
        raise TypeError(f"exceptions must be classes or instances deriving from BaseException, not {_kind_name(thrown)}")
    raise thrown


def generator_throw(generator, kind, value=None):
    if value is None:
        exception = kind()
    elif isinstance(value, tuple):
        exception = kind(*value)
    elif isinstance(value, kind):
        exception = value
    else:
        exception = kind(value)
    if not isinstance(exception, BaseException):
        exception = TypeError(f"calling {kind!r} should have returned an instance of BaseException, not {type(exception)!r}")
    return generator.throw(exception)


def generator_close(generator):
    try:
        _vm.close(generator)
    except (GeneratorExit, StopIteration):
        return None
    word = "coroutine" if type(generator).__name__ == "coroutine" else "generator"
    raise RuntimeError(f"{word} ignored GeneratorExit")


def async_generator_throw(generator, kind, value=None, traceback=None):
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise TypeError(f"exceptions must be classes or instances deriving from BaseException, not {_kind_name(kind)}")
    if value is None:
        value = kind()
    elif not isinstance(value, BaseException):
        value = kind(*value) if isinstance(value, tuple) else kind(value)
    return generator.athrow(value)


async def anext_default(iterator, default):
    try:
        return await anext(iterator)
    except StopAsyncIteration:
        return default


async def async_generator_close(generator):
    try:
        _vm.close(generator)
    except (GeneratorExit, StopAsyncIteration, StopIteration):
        return None
