"""What the builtin functions and types leave to Python: everything that runs a program's own code.

Trusted code. A native function whose arguments need such code gives up before it has changed anything, and the function
named in its row does the work here. Frames of this module stay out of tracebacks.
"""

import _vm

__all__ = ["globals", "ascii"]


def identity(value):
    return value


_Union = type(int | str)
_Alias = type(list[int])
_Function = type(identity)

# classes


def build_class(body, name, /, *bases, metaclass=None, **kwargs):
    resolved = bases
    for base in bases:
        if not isinstance(base, type):
            resolved = _resolve_bases(bases)
            break
    meta = metaclass
    if meta is None:
        meta = type(resolved[0]) if resolved else type
    if isinstance(meta, type):
        for base in resolved:
            other = type(base)
            if _vm.is_subclass(meta, other):
                continue
            if _vm.is_subclass(other, meta):
                meta = other
                continue
            raise TypeError("metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the metaclasses of all its bases")
    namespace = {} if meta is type else meta.__prepare__(name, resolved, **kwargs) if hasattr(meta, "__prepare__") else {}
    if resolved is not bases:
        namespace["__orig_bases__"] = bases
    cell = _vm.run_body(body, namespace)
    if cell is not None:
        namespace["__classcell__"] = cell
    if meta is type:
        return type_new(meta, name, resolved, namespace, kwargs)
    cls = meta(name, resolved, namespace, **kwargs)
    if cell is not None and isinstance(cls, type):
        inside = _vm.cell_content(cell)
        if inside is None:
            raise RuntimeError(f"__class__ not set defining {name!r} as {cls!r}. Was __classcell__ propagated to type.__new__?")
        if inside is not cls:
            raise TypeError(f"__class__ set to {inside!r} defining {name!r} as {cls!r}")
    return cls


def _resolve_bases(bases):
    result = []
    for base in bases:
        if isinstance(base, type):
            result.append(base)
        elif hasattr(base, "__mro_entries__"):
            result.extend(base.__mro_entries__(bases))
        elif hasattr(base, "__origin__"):
            result.append(base.__origin__)
        else:
            result.append(base)
    return tuple(result)


def type_new(meta, name, bases, namespace, kwargs):
    if type(namespace) is not dict:
        namespace = dict(namespace)
    if "__module__" not in namespace:
        module = _vm.module_name()
        if module is not None:
            namespace = {**namespace, "__module__": module}
    best = meta
    for base in bases:
        other = type(base)
        if not _vm.is_subclass(best, other):
            if _vm.is_subclass(other, best):
                best = other
            else:
                raise TypeError("metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the metaclasses of all its bases")
    if best is not meta and _vm.type_lookup(best, "__new__") is not _vm.type_lookup(meta, "__new__"):
        return best.__new__(best, name, bases, namespace, **kwargs)
    cls = _vm.create_class(best, name, bases, namespace)
    if best is not type:
        order = _vm.type_lookup(best, "mro")
        if order is not _plain_mro:
            _use_mro(cls, order(cls))
    for key, value in namespace.items():
        hook = _vm.own(value, "__set_name__")
        if hook is not None:
            try:
                hook(value, cls, key)
            except Exception as error:
                raise RuntimeError(f"Error calling __set_name__ on {type(value).__name__!r} instance {key!r} in {name!r}") from error
    super(cls, cls).__init_subclass__(**kwargs)
    return cls


_plain_mro = _vm.type_lookup(type, "mro")


def _use_mro(cls, order):
    """Takes what a metaclass's own `mro()` says."""
    order = tuple(order)
    for base in order:
        if isinstance(base, type) and not _vm.is_subclass(cls, base):
            raise TypeError(f"mro() returned base with unsuitable layout ({base.__name__!r})")
    _vm.set_mro(cls, order)


def make_class(name, bases, namespace):
    """A class as a `class` statement makes it, from a namespace that is there already."""
    resolved = _resolve_bases(bases)
    meta = type(resolved[0]) if resolved else type
    for base in resolved:
        if not _vm.is_subclass(meta, type(base)):
            meta = type(base)
    made = meta.__prepare__(name, resolved) if hasattr(meta, "__prepare__") else {}
    made.update(namespace)
    if resolved != bases:
        made["__orig_bases__"] = bases
    return meta(name, resolved, made)


def type_call(meta, /, *args, **kwargs):
    cls = meta.__new__(meta, *args, **kwargs)
    if isinstance(cls, meta):
        type(cls).__init__(cls, *args, **kwargs)
    return cls


def instantiate(cls, /, *args, **kwargs):
    if isinstance(cls, type) and type(cls) is type:
        return cls(*args, **kwargs)
    instance = cls.__new__(cls, *args, **kwargs)
    if isinstance(instance, cls):
        type(instance).__init__(instance, *args, **kwargs)
    return instance


def isinstance_slow(value, classes):
    if type(classes) is tuple:
        for each in classes:
            if isinstance(value, each):
                return True
        return False
    if type(classes) is _Union:
        for each in classes.__args__:
            if isinstance(value, each):
                return True
        return False
    if isinstance(classes, _Alias):
        raise TypeError("isinstance() argument 2 cannot be a parameterized generic")
    if type(value) is classes:
        return True
    if type(type(classes)) is type and _vm.type_lookup(type(classes), "__instancecheck__") is _plain_check:
        if _vm.is_subclass(type(value), classes):
            return True
        said = getattr(value, "__class__", None)
        return isinstance(said, type) and _vm.is_subclass(said, classes)
    return bool(type(classes).__instancecheck__(classes, value))


_plain_check = _vm.type_lookup(type, "__instancecheck__")


def issubclass_slow(cls, classes):
    if type(classes) is tuple:
        for each in classes:
            if issubclass(cls, each):
                return True
        return False
    if type(classes) is _Union:
        for each in classes.__args__:
            if issubclass(cls, each):
                return True
        return False
    if isinstance(classes, _Alias):
        raise TypeError("issubclass() argument 2 cannot be a parameterized generic")
    return bool(type(classes).__subclasscheck__(classes, cls))


def retry_index(native, first, *args):
    """Calls a native function again with integers for what has an `__index__`."""
    return native(first, *[index(each) if _vm.own(each, "__index__") is not None else each for each in args])


def retry_items(native, first, *args):
    """Calls a native function again with lists for iterables that are written in Python."""
    return native(first, *[each if type(each) in (list, tuple, dict, set, frozenset, str, bytes) else _each(each) for each in args])


def retry_real(native, *args):
    """Calls a function of math again with floats for what has a `__float__`, or else an `__index__`."""
    return native(*[_real(each) for each in args])


def retry_close(native, a, b, rel_tol=None, abs_tol=None):
    """Calls math.isclose again with floats."""
    relative = 1e-09 if rel_tol is None else _real(rel_tol)
    return native(_real(a), _real(b), rel_tol=relative, abs_tol=0.0 if abs_tol is None else _real(abs_tol))


def retry_integer(native, *args):
    """Calls a function of math again with integers for what has an `__index__`."""
    return native(*[index(each) if _vm.own(each, "__index__") is not None else each for each in args])


def _real(value):
    if _vm.own(value, "__float__") is not None:
        return float(value)
    return value if _vm.own(value, "__index__") is None else float(index(value))


def index(value):
    result = _vm.own(value, "__index__")(value)
    if not isinstance(result, int):
        raise TypeError(f"__index__ returned non-int (type {type(result).__name__})")
    return int(result)


def object_repr(self):
    return repr(self)


def object_ne(self, other):
    result = self.__eq__(other)
    return result if result is NotImplemented else not result


def getattr_default(value, name, default):
    try:
        return getattr(value, name)
    except AttributeError:
        return default


def hasattr_slow(value, name):
    try:
        getattr(value, name)
    except AttributeError:
        return False
    return True


def dir_slow(value):
    return sorted(type(value).__dir__(value))


def alias_parameters(arguments):
    """Type variables among the arguments of a generic alias, in their order."""
    found = []
    for each in arguments:
        if isinstance(each, (type, _Function)):
            continue
        if isinstance(each, (list, tuple)):
            parameters = alias_parameters(each)
        elif hasattr(each, "__typing_subst__"):
            parameters = (each,)
        else:
            parameters = getattr(each, "__parameters__", ())
        for parameter in parameters if isinstance(parameters, tuple) else ():
            if not _among(found, parameter):
                found.append(parameter)
    return tuple(found)


def _among(items, value):
    for each in items:
        if each is value:
            return True
    return False


def alias_getitem(alias, items):
    """Types in the place of the type variables of an alias."""
    arguments = tuple(alias_filled(alias, items))
    if type(alias) is _Union:
        whole = arguments[0]
        for each in arguments[1:]:
            whole = whole | each
        return whole
    return _vm.alias(alias.__origin__, arguments, alias.__unpacked__)


def alias_filled(alias, items):
    """The arguments of an alias after types have taken the place of its type variables."""
    parameters = alias_parameters(alias.__args__)
    if not parameters:
        raise TypeError(f"{alias!r} is not a generic class")
    given = []
    for item in items if isinstance(items, tuple) else (items,):
        inner = None if isinstance(item, type) else getattr(item, "__typing_unpacked_tuple_args__", None)
        if inner is not None and not (inner and inner[-1] is ...):
            given.extend(inner)
        else:
            given.append(item)
    given = tuple(given)
    for parameter in parameters:
        prepare = getattr(parameter, "__typing_prepare_subst__", None)
        if prepare is not None:
            given = prepare(alias, given)
    if len(given) != len(parameters):
        much = "many" if len(given) > len(parameters) else "few"
        raise TypeError(f"Too {much} arguments for {alias!r}; actual {len(given)}, expected {len(parameters)}")

    def chosen(parameter):
        for known, item in zip(parameters, given):
            if known is parameter:
                return item

    result = []
    for each in alias.__args__:
        if isinstance(each, type):
            result.append(each)
            continue
        put = getattr(each, "__typing_subst__", None)
        if put is not None:
            result.append(put(chosen(each)))
            continue
        new = each
        inner = alias_parameters((each,))
        if inner:
            values = []
            for parameter in inner:
                value = chosen(parameter)
                if isinstance(value, tuple) and hasattr(type(parameter), "__iter__"):
                    values.extend(value)
                else:
                    values.append(value)
            new = each[tuple(values)]
        if getattr(each, "__typing_is_unpacked_typevartuple__", False):
            result.extend(new)
        else:
            result.append(new)
    return result


def alias_call(alias, keywords, *args):
    """An instance of an alias's class, which remembers the alias where it can."""
    made = alias.__origin__(*args, **keywords)
    try:
        made.__orig_class__ = alias
    except (AttributeError, TypeError):
        pass
    return made


def alias_iter(alias):
    """`*alias`: the alias with a star before it."""
    yield _vm.alias(alias.__origin__, alias.__args__, True)


# exceptions


def raise_class(cls, cause):
    exception = cls()
    if not isinstance(exception, BaseException):
        raise TypeError(f"calling {cls!r} should have returned an instance of BaseException, not {type(exception)}")
    if cause is not ...:
        _vm.set_cause(exception, cause)
    raise exception


def exception_str(self):
    args = self.args
    if len(args) == 1:
        return repr(args[0]) if isinstance(self, KeyError) else str(args[0])
    return repr(args) if args else ""


def exception_repr(self):
    inner = ", ".join([repr(each) for each in self.args])
    return f"{type(self).__name__}({inner})"


def exception_group_new(cls, args):
    if len(args) != 2:
        raise TypeError(f"BaseExceptionGroup.__new__() takes exactly 2 arguments ({len(args)} given)")
    message, exceptions = args
    if not isinstance(message, str):
        raise TypeError(f"argument 1 must be str, not {type(message).__name__}")
    if isinstance(exceptions, (dict, set, frozenset)) or not hasattr(type(exceptions), "__getitem__"):
        raise TypeError("second argument (exceptions) must be a sequence")
    items = tuple(exceptions)
    if not items:
        raise ValueError("second argument (exceptions) must be a non-empty sequence")
    plain = True
    for position, each in enumerate(items):
        if not isinstance(each, BaseException):
            raise ValueError(f"Item {position} of second argument (exceptions) is not an exception")
        plain = plain and isinstance(each, Exception)
    if cls is BaseExceptionGroup:
        cls = ExceptionGroup if plain else cls
    elif not plain:
        if cls is ExceptionGroup:
            raise TypeError("Cannot nest BaseExceptions in an ExceptionGroup")
        if issubclass(cls, Exception):
            raise TypeError(f"Cannot nest BaseExceptions in '{cls.__name__}'")
    group = _vm.new(cls)
    group.args = (message, exceptions if isinstance(exceptions, (list, tuple)) else items)
    return group


def exception_group_derive(self, exceptions):
    return BaseExceptionGroup(self.message, exceptions)


def _matches(exception, condition):
    if isinstance(condition, (type, tuple)):
        return isinstance(exception, condition)
    return condition(exception)


def _check_condition(condition):
    if isinstance(condition, type):
        fine = issubclass(condition, BaseException)
    elif isinstance(condition, tuple):
        fine = all([isinstance(each, type) and issubclass(each, BaseException) for each in condition])
    else:
        fine = callable(condition)
    if not fine:
        raise TypeError("expected a function, exception type or tuple of exception types")


def exception_group_split(group, condition):
    _check_condition(condition)
    return _split(group, condition)


def _split(group, condition):
    if _matches(group, condition):
        return group, None
    yes, no = [], []
    for each in group.exceptions:
        if isinstance(each, BaseExceptionGroup):
            a, b = _split(each, condition)
            if a is not None:
                yes.append(a)
            if b is not None:
                no.append(b)
        elif _matches(each, condition):
            yes.append(each)
        else:
            no.append(each)
    return _derived(group, yes), _derived(group, no)


def _derived(group, exceptions):
    if not exceptions:
        return None
    result = group.derive(exceptions)
    if not isinstance(result, BaseExceptionGroup):
        raise TypeError("derive must return an instance of BaseExceptionGroup")
    _vm.copy_trace(group, result)
    result.__cause__ = group.__cause__
    result.__context__ = group.__context__
    result.__suppress_context__ = group.__suppress_context__
    if hasattr(group, "__notes__"):
        notes = group.__notes__
        if isinstance(notes, (list, tuple)):
            result.__notes__ = list(notes)
    return result


def exception_group_subgroup(group, condition):
    return exception_group_split(group, condition)[0]


def match_group(exception, classes):
    if exception is None:
        return None, None
    if isinstance(exception, BaseExceptionGroup):
        return exception_group_split(exception, classes)
    if isinstance(exception, classes):
        return ExceptionGroup("", (exception,)), None
    return None, exception


def prepare_reraise_star(original, raised):
    raised = [each for each in raised if each is not None]
    if not raised:
        return None
    if len(raised) == 1:
        return raised[0]
    return ExceptionGroup("", raised)


# iteration


def iter_by_index(sequence):
    return _vm.dress(_by_index(sequence), "iterator")


def _by_index(sequence):
    index = 0
    while True:
        try:
            item = sequence[index]
        except (IndexError, StopIteration):
            return
        yield item
        index += 1


def reversed_by_index(sequence):
    return _vm.dress(_backwards(sequence, len(sequence)), "reversed")


def _backwards(sequence, index):
    while index > 0:
        index -= 1
        try:
            item = sequence[index]
        except (IndexError, StopIteration):
            return
        yield item


def iter_sentinel(function, sentinel):
    return _vm.dress(_until(function, sentinel), "callable_iterator")


def _until(function, sentinel):
    while True:
        try:
            value = function()
        except StopIteration:
            return
        if value == sentinel:
            return
        yield value


def next_of_iterator(iterator):
    parts = _vm.inner(iterator)
    return next(iter(parts[0]))


def next_slow(iterator, default=None):
    return next(iterator)


def as_tuple(iterable):
    return tuple([*_each(iterable)])


def _each(iterable):
    result = []
    for item in iterable:
        result.append(item)
    return result


def unpack(iterable, count):
    result = []
    for item in iterable:
        result.append(item)
        if len(result) > count:
            break
    return tuple(result)


def list_init(self, iterable=()):
    items = []
    for item in iterable:
        items.append(item)
    _vm.fill_list(self, items)


def list_extend(self, iterable):
    for item in iterable:
        self.append(item)


def list_iadd(self, iterable):
    for item in iterable:
        self.append(item)
    return self


def list_remove(self, value):
    for index in range(len(self)):
        item = self[index]
        if item is value or item == value:
            del self[index]
            return
    raise ValueError("list.remove(x): x not in list")


def sequence_count(self, value):
    count = 0
    for item in self:
        if item is value or item == value:
            count += 1
    return count


def sequence_index(self, value, start=0, stop=None):
    length = len(self)
    start = max(start + length, 0) if start < 0 else start
    stop = length if stop is None else stop + length if stop < 0 else min(stop, length)
    for index in range(start, stop):
        item = self[index]
        if item is value or item == value:
            return index
    if isinstance(self, tuple):
        raise ValueError("tuple.index(x): x not in tuple")
    raise ValueError(f"{value!r} is not in list")


def tuple_new(cls, iterable=()):
    items = []
    for item in iterable:
        items.append(item)
    return cls.__new__(cls, items) if cls is tuple else tuple.__new__(cls, items)


def bytes_new(cls, source, *rest):
    method = _vm.own(source, "__bytes__")
    if method is not None:
        result = method(source)
        if not isinstance(result, bytes):
            raise TypeError(f"__bytes__ returned non-bytes (type {type(result).__name__})")
        return bytes.__new__(cls, result)
    return bytes.__new__(cls, _byte_source(source))


def bytearray_init(self, source, *rest):
    bytearray.__init__(self, _byte_source(source))


def bytearray_extend(self, source):
    bytearray.extend(self, [_whole(each) for each in source])


def bytearray_setitem(self, key, value):
    if isinstance(key, slice):
        bytearray.__setitem__(self, slice(_whole(key.start), _whole(key.stop), _whole(key.step)), [_whole(each) for each in value])
    else:
        bytearray.__setitem__(self, _whole(key), _whole(value))


def _whole(value):
    return value if _vm.own(value, "__index__") is None else index(value)


def _byte_source(source):
    if _vm.own(source, "__index__") is not None:
        try:
            return index(source)
        except TypeError:
            if not hasattr(source, "__iter__"):
                raise
    return [_whole(each) for each in source]


def range_slow(start, stop, step):
    def whole(value):
        return value if value is None or isinstance(value, int) else value.__index__()

    start, stop, step = whole(start), whole(stop), whole(step)
    if stop is None:
        start, stop = 0, start
    if step is None:
        step = 1
    for number in (start, stop, step):
        if not -_SMALLEST <= number < _SMALLEST:
            if step == 0:
                raise ValueError("range() arg 3 must not be zero")
            from ranges import LongRange

            return LongRange(start, stop, step)
    return range(start, stop, step)


_SMALLEST = 1 << 63


def range_index(self, value):
    for place, each in enumerate(self):
        if each == value:
            return place
    raise ValueError(f"{value!r} is not in range")


def range_count(self, value):
    return sum([1 for each in self if each == value])


def slice_bounds(key, length):
    """start, stop and step of a slice of a sequence so long."""
    def whole(value):
        if value is None or isinstance(value, int):
            return value
        if not hasattr(type(value), "__index__"):
            raise TypeError("slice indices must be integers or None or have an __index__ method")
        return value.__index__()

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
    return sequence[key.__index__()]


def setitem_slow(target, key, value):
    if isinstance(key, slice):
        target[key] = _each(value)
        return
    if isinstance(target, bytearray) and not isinstance(key, int) and _vm.own(key, "__index__") is not None:
        target[index(key)] = value
        return
    raise TypeError(f"'{type(target).__name__}' object does not support item assignment")


def in_base(value, base):
    value = value.__index__()
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


def max_slow(key, default, *args):
    return _extreme("max", _greater, args, key, default, default is not None)


def min_slow(key, default, *args):
    return _extreme("min", _less, args, key, default, default is not None)


def max_list(items):
    return _extreme("max", _greater, (items,), None, None, False)


def min_list(items):
    return _extreme("min", _less, (items,), None, None, False)


def sorted_slow(iterable, key=None, reverse=False):
    items = _each(iterable)
    _sort(items, key, reverse)
    return items


def list_sort(self, key=None, reverse=False):
    items = _each(self)
    # Nobody sees the list while it is sorted, and nobody may change it.
    _vm.fill_list(self, [])
    changed = False
    try:
        _sort(items, key, reverse)
    finally:
        changed = len(self) > 0
        _vm.fill_list(self, items)
    if changed:
        raise ValueError("list modified during sort")


def _native_order(keys):
    kind = type(keys[0]) if keys else int
    if kind is not int and kind is not str and kind is not float:
        if kind is not tuple:
            return False
        for each in keys:
            if type(each) is not tuple:
                return False
            for part in each:
                part = type(part)
                if part is not int and part is not str and part is not float:
                    return False
        return True
    for each in keys:
        if type(each) is not kind:
            return False
    return True


def _sort(items, key, reverse):
    if key is None:
        keys = items
    else:
        keys = [key(item) for item in items]
    reverse = bool(reverse)
    if _native_order(keys):
        order = sorted(zip(keys, range(len(keys)) if not reverse else range(len(keys) - 1, -1, -1)))
        if reverse:
            order.reverse()
            last = len(items) - 1
            items[:] = [items[last - position] for _, position in order]
        else:
            items[:] = [items[position] for _, position in order]
        return
    pairs = list(zip(keys, items))
    if reverse:
        pairs.reverse()
    width = 1
    length = len(pairs)
    while width < length:
        merged = []
        for start in range(0, length, 2 * width):
            left, middle = start, min(start + width, length)
            right, end = middle, min(start + 2 * width, length)
            while left < middle and right < end:
                if pairs[right][0] < pairs[left][0]:
                    merged.append(pairs[right])
                    right += 1
                else:
                    merged.append(pairs[left])
                    left += 1
            merged.extend(pairs[left:middle])
            merged.extend(pairs[right:end])
        pairs = merged
        width *= 2
    if reverse:
        pairs.reverse()
    items[:] = [item for _, item in pairs]


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
    return _vm.dress(map_generator(function, [iter(each) for each in iterables]), cls)


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
    return _vm.dress(filter_generator(function, iter(iterable)), cls)


def zip_generator(iterables, strict):
    return _vm.dress(_zip([_iterator_of(each, position) for position, each in enumerate(iterables)], strict), "zip")


def _iterator_of(iterable, position):
    try:
        return iter(iterable)
    except TypeError:
        if hasattr(type(iterable), "__iter__") or hasattr(type(iterable), "__getitem__"):
            raise
        raise TypeError(f"'{type(iterable).__name__}' object is not iterable") from None


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
    return _vm.dress(_enumerate(iter(iterable), start), "enumerate")


def _enumerate(iterator, count):
    for item in iterator:
        yield count, item
        count += 1


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


async def async_generator_close(generator):
    try:
        _vm.close(generator)
    except (GeneratorExit, StopAsyncIteration, StopIteration):
        return None


# comparison


def compare_eq(a, b):
    if type(a) is tuple or isinstance(a, (list, tuple)):
        if not isinstance(b, (list, tuple)) or len(a) != len(b) or isinstance(a, list) is not isinstance(b, list):
            return False
        for x, y in zip(a, b):
            if x is not y and not (x == y):
                return False
        return True
    if isinstance(a, dict):
        if not isinstance(b, dict) or len(a) != len(b):
            return False
        for key, value in a.items():
            if key not in b:
                return False
            other = b[key]
            if value is not other and not (value == other):
                return False
        return True
    if isinstance(a, (set, frozenset)):
        if not isinstance(b, (set, frozenset)) or len(a) != len(b):
            return False
        for item in a:
            if item not in b:
                return False
        return True
    if isinstance(a, _Alias):
        same = isinstance(b, _Alias) and a.__unpacked__ is b.__unpacked__
        return same and a.__origin__ == b.__origin__ and a.__args__ == b.__args__
    if type(a) is _Union:
        return type(b) is _Union and set(a.__args__) == set(b.__args__)
    return a is b


def compare_ne(a, b):
    return not compare_eq(a, b)


def _first_difference(a, b):
    for x, y in zip(a, b):
        if x is not y and not (x == y):
            return x, y
    return len(a), len(b)


def _is_set(value):
    return isinstance(value, (set, frozenset)) or type(value).__name__ in ("dict_keys", "dict_items")


def compare_lt(a, b):
    if _is_set(a):
        return len(a) < len(b) and set_issubset(a, b)
    x, y = _first_difference(a, b)
    return x < y


def compare_le(a, b):
    if _is_set(a):
        return len(a) <= len(b) and set_issubset(a, b)
    x, y = _first_difference(a, b)
    return x <= y


def compare_gt(a, b):
    if _is_set(a):
        return len(a) > len(b) and set_issuperset(a, b)
    x, y = _first_difference(a, b)
    return x > y


def compare_ge(a, b):
    if _is_set(a):
        return len(a) >= len(b) and set_issuperset(a, b)
    x, y = _first_difference(a, b)
    return x >= y


def contains(container, item):
    if isinstance(container, (bytes, bytearray)) and _vm.own(item, "__index__") is not None:
        return index(item) in container
    if isinstance(container, dict):
        return _find(container, item) >= 0
    if isinstance(container, (set, frozenset)):
        return _find(container, _as_key(item)) >= 0
    for each in container:
        if each is item or each == item:
            return True
    return False


def contains_items(container, item):
    for each in container:
        if each is item or each == item:
            return True
    return False


def hash_slow(value):
    if type(value) is tuple or isinstance(value, tuple):
        return _vm.tuple_hash([hash(item) for item in value])
    if isinstance(value, frozenset):
        result = 0
        for item in value:
            result ^= hash(item)
        return result
    if isinstance(value, _Alias):
        return hash(value.__origin__) ^ hash(value.__args__)
    if type(value) is _Union:
        return hash(frozenset(value.__args__))
    return hash(value)


def tuple_hash(value):
    return _vm.tuple_hash([hash(item) for item in value])


# dicts and sets


def _find(table, key):
    code = hash(key)
    position = _vm.dict_find(table, key, code, 0)
    while position >= 0:
        known = _vm.dict_key(table, position)
        if known is key or known == key:
            return position
        position = _vm.dict_find(table, key, code, position + 1)
    return -1


def dict_getitem(self, key):
    position = _find(self, key)
    if position >= 0:
        return _vm.dict_value(self, position)
    if type(self) is not dict:
        missing = _vm.own(self, "__missing__")
        if missing is not None:
            return missing(self, key)
    raise KeyError(key)


def dict_setitem(self, key, value):
    if isinstance(self, list):
        self[key] = _each(value)
        return
    position = _find(self, key)
    if position >= 0:
        _vm.dict_replace(self, position, value)
    else:
        _vm.dict_add(self, key, hash(key), value)


def dict_delitem(self, key):
    position = _find(self, key)
    if position < 0:
        raise KeyError(key)
    _vm.dict_delete(self, position)


def dict_contains(self, key):
    return _find(self, key) >= 0


def dict_get(self, key, default=None):
    position = _find(self, key)
    return default if position < 0 else _vm.dict_value(self, position)


def dict_setdefault(self, key, default=None):
    position = _find(self, key)
    if position >= 0:
        return _vm.dict_value(self, position)
    _vm.dict_add(self, key, hash(key), default)
    return default


def dict_pop(self, key, *default):
    position = _find(self, key)
    if position < 0:
        if default:
            return default[0]
        raise KeyError(key)
    value = _vm.dict_value(self, position)
    _vm.dict_delete(self, position)
    return value


def dict_update(self, other):
    if hasattr(other, "keys"):
        for key in other.keys():
            dict_setitem(self, key, other[key])
    else:
        for index, pair in enumerate(other):
            pair = tuple(pair)
            if len(pair) != 2:
                raise ValueError(f"dictionary update sequence element #{index} has length {len(pair)}; 2 is required")
            dict_setitem(self, pair[0], pair[1])


def dict_init(self, kwargs, *args):
    if args:
        source = args[0]
        if not hasattr(source, "keys") and not hasattr(source, "__iter__") and not hasattr(source, "__getitem__"):
            raise TypeError(f"'{type(source).__name__}' object is not iterable")
        dict_update(self, source)
    for key, value in kwargs.items():
        dict_setitem(self, key, value)


def dict_fromkeys(cls, iterable, value=None):
    result = cls()
    if type(result) is dict:
        for key, code in _hashed(iterable):
            if _position(result, key, code) < 0:
                _vm.dict_add(result, key, code, value)
        return result
    for key in iterable:
        result[key] = value
    return result


def dict_ior(self, other):
    dict_update(self, other)
    return self


def pow_three(base, exponent, modulus):
    method = _vm.own(base, "__pow__")
    result = NotImplemented if method is None else method(base, exponent, modulus)
    if result is NotImplemented:
        if isinstance(base, complex) or isinstance(exponent, complex) or isinstance(modulus, complex):
            raise ValueError("complex modulo")
        for each in (base, exponent, modulus):
            if not isinstance(each, (int, float)):
                names = "', '".join([type(each).__name__ for each in (base, exponent, modulus)])
                raise TypeError(f"unsupported operand type(s) for ** or pow(): '{names}'")
        raise TypeError("pow() 3rd argument not allowed unless all arguments are integers")
    return result


def complex_new(cls, real=None, imag=None):
    def number(value, first):
        method = _vm.own(value, "__complex__")
        if first and method is not None:
            value = method(value)
            if not isinstance(value, complex):
                raise TypeError(f"__complex__ returned non-complex (type {type(value).__name__})")
            return complex(value.real, value.imag)
        if isinstance(value, (int, float, complex)) and _vm.own(value, "__float__") is None:
            return value
        return float(value)

    if imag is None:
        return complex.__new__(cls, number(real, True))
    return complex.__new__(cls, 0 if real is None else number(real, True), number(imag, False))


def getitem_slice(sequence, key):
    def whole(value):
        return value if value is None or isinstance(value, int) else value.__index__()

    return sequence[slice(whole(key.start), whole(key.stop), whole(key.step))]


def keyword_merge(self, other):
    for key in other.keys():
        if not isinstance(key, str):
            raise TypeError("keywords must be strings")
        if key in self:
            raise TypeError(f"function got multiple values for keyword argument '{key}'")
        self[key] = other[key]


def build_dict(result, *rest):
    for index in range(0, len(rest), 2):
        dict_setitem(result, rest[index], rest[index + 1])
    return result


def build_set(result, *rest):
    for index in range(0, len(rest), 2):
        set_add(result, rest[index])
    return result


def _hashed(source):
    """Items with their hashes; those of a dict or set are not asked again."""
    entries = _vm.entries(source)
    return [(item, hash(item)) for item in source] if entries is None else entries


def _position(table, key, code):
    position = _vm.dict_find(table, key, code, 0)
    while position >= 0:
        known = _vm.dict_key(table, position)
        if known is key or known == key:
            return position
        position = _vm.dict_find(table, key, code, position + 1)
    return -1


def _put(table, key, code):
    if _position(table, key, code) < 0:
        _vm.dict_add(table, key, code, None)


def _set_of(pairs):
    result = set()
    for item, code in pairs:
        _put(result, item, code)
    return result


def _like(self, pairs):
    result = _set_of(pairs)
    return _vm.wrap(frozenset, result) if isinstance(self, frozenset) else result


def _as_key(value):
    """A set looked for in a set stands for its frozen twin."""
    return frozenset(value) if isinstance(value, set) and type(value).__hash__ is None else value


def set_add(self, value):
    _put(self, value, hash(value))


def set_contains(self, value):
    return _find(self, _as_key(value)) >= 0


def set_discard(self, value):
    position = _find(self, _as_key(value))
    if position >= 0:
        _vm.dict_delete(self, position)


def set_remove(self, value):
    position = _find(self, _as_key(value))
    if position < 0:
        raise KeyError(value)
    _vm.dict_delete(self, position)


def set_init(self, iterable=()):
    items = _hashed(iterable)
    set.clear(self)
    for item, code in items:
        _put(self, item, code)


def set_update(self, iterable):
    entries = _vm.entries(iterable)
    if entries is None:
        for item in iterable:
            _put(self, item, hash(item))
    else:
        for item, code in entries:
            _put(self, item, code)


def set_update_all(self, *others):
    for other in others:
        set_update(self, other)


def frozenset_new(cls, iterable=()):
    plain = _set_of(_hashed(iterable))
    if cls is frozenset:
        return _vm.wrap(frozenset, plain)
    result = _vm.new(cls)
    for item, code in _vm.entries(plain):
        _put(result, item, code)
    return result


def set_union(self, *others):
    pairs = _hashed(self)
    for other in others:
        pairs = pairs + _hashed(other)
    return _like(self, pairs)


def _common(pairs, other):
    kept = other if isinstance(other, (set, frozenset, dict)) else _set_of(_hashed(other))
    return [pair for pair in pairs if _position(kept, pair[0], pair[1]) >= 0]


def _apart(pairs, other):
    kept = other if isinstance(other, (set, frozenset, dict)) else _set_of(_hashed(other))
    return [pair for pair in pairs if _position(kept, pair[0], pair[1]) < 0]


def set_intersection(self, *others):
    pairs = _hashed(self)
    for other in others:
        pairs = _common(pairs, other)
    return _like(self, pairs)


def set_difference(self, *others):
    pairs = _hashed(self)
    for other in others:
        pairs = _apart(pairs, other)
    return _like(self, pairs)


def set_symmetric_difference(self, other):
    other = other if isinstance(other, (set, frozenset, dict)) else _set_of(_hashed(other))
    return _like(self, _apart(_hashed(self), other) + _apart(_hashed(other), self))


def _refill(self, source):
    entries = _vm.entries(source)
    set.clear(self)
    for item, code in entries:
        _put(self, item, code)


def set_intersection_update(self, *others):
    _refill(self, set_intersection(self, *others))


def set_difference_update(self, *others):
    for other in others:
        for item, code in _hashed(other):
            position = _position(self, item, code)
            if position >= 0:
                _vm.dict_delete(self, position)


def set_symmetric_difference_update(self, other):
    _refill(self, set_symmetric_difference(self, other))


def set_issubset(self, other):
    return not _apart(_hashed(self), other)


def set_issuperset(self, other):
    for item, code in _hashed(other):
        if _position(self, item, code) < 0:
            return False
    return True


def set_isdisjoint(self, other):
    for item, code in _hashed(other):
        if _position(self, item, code) >= 0:
            return False
    return True


def or_slow(a, b):
    if isinstance(a, dict):
        if not isinstance(b, dict):
            return NotImplemented
        result = dict(a)
        result.update(b)
        return result
    return set_union(a, b)


def and_slow(a, b):
    return set_intersection(a, b)


def sub_slow(a, b):
    return set_difference(a, b)


def xor_slow(a, b):
    return set_symmetric_difference(a, b)


def set_ior(self, other):
    set_update(self, other)
    return self


def set_iand(self, other):
    set_intersection_update(self, other)
    return self


def set_isub(self, other):
    set_difference_update(self, other)
    return self


def set_ixor(self, other):
    set_symmetric_difference_update(self, other)
    return self


# text


def _repr_items(items):
    return ", ".join([repr(item) for item in items])


_active = []


def repr_slow(value):
    method = _vm.own(value, "__repr__")
    for each in _active:
        if each is value:
            return "[...]" if isinstance(value, list) else "{...}" if isinstance(value, dict) else "(...)"
    _active.append(value)
    try:
        if isinstance(value, list):
            return f"[{_repr_items(value)}]"
        if isinstance(value, tuple):
            return f"({_repr_items(value)}{',' if len(value) == 1 else ''})"
        if isinstance(value, dict):
            return "{" + ", ".join([f"{key!r}: {item!r}" for key, item in dict.items(value)]) + "}"
        if isinstance(value, (set, frozenset)):
            name = type(value).__name__
            if not value:
                return f"{name}()"
            return "{" + _repr_items(value) + "}" if type(value) is set else name + "({" + _repr_items(value) + "})"
        if isinstance(value, BaseException):
            return f"{type(value).__name__}({_repr_items(value.args)})"
        kind = type(value).__name__
        if kind in ("dict_keys", "dict_values", "dict_items"):
            return f"{kind}([{_repr_items(value)}])"
        if hasattr(value, "__func__"):
            return f"<bound method {value.__func__.__qualname__} of {value.__self__!r}>"
        if kind == "GenericAlias":
            return f"{value.__origin__.__name__}[{', '.join([_type_name(each) for each in value.__args__])}]"
        if kind == "UnionType":
            return " | ".join([_type_name(each) for each in value.__args__])
        if kind == "slice":
            return f"slice({value.start!r}, {value.stop!r}, {value.step!r})"
        return method(value) if method is not None else object.__repr__(value)
    finally:
        _active.pop()


def _type_name(value):
    return value.__qualname__ if isinstance(value, type) and value.__module__ == "builtins" else repr(value)


def ascii(value):
    """Like repr, with every character beyond ASCII escaped."""
    return _vm.ascii(repr(value))


def format_converted(value, conversion, spec):
    text = str(value) if conversion == 1 else repr(value) if conversion == 2 else ascii(value)
    return format(text, spec)


def print_slow(sep, end, file, flush, *values):
    sep = " " if sep is None else sep
    end = "\n" if end is None else end
    _vm.output(sep.join([str(value) for value in values]) + end)


def str_join(separator, iterable):
    return separator.join(_each(iterable))


def str_subclass(cls, value):
    return _vm.wrap(cls, str(value))


def maketrans(x, y=None, z=None):
    if y is None:
        if not isinstance(x, dict):
            raise TypeError("if you give only one argument to maketrans it must be a dict")
        table = {}
        for key, value in x.items():
            if isinstance(key, str):
                if len(key) != 1:
                    raise ValueError("string keys in translate table must be of length 1")
                key = ord(key)
            elif not isinstance(key, int):
                raise TypeError("keys in translate table must be strings or integers")
            table[key] = value
        return table
    if len(x) != len(y):
        raise ValueError("the first two maketrans arguments must have equal length")
    table = {ord(a): ord(b) for a, b in zip(x, y)}
    if z is not None:
        for character in z:
            table[ord(character)] = None
    return table


def translate(text, table):
    parts = []
    for character in text:
        try:
            value = table[ord(character)]
        except LookupError:
            parts.append(character)
            continue
        if value is None:
            continue
        parts.append(chr(value) if isinstance(value, int) else value)
    return "".join(parts)


def _field_parts(name):
    """First part of a replacement field, and the attributes and items after it."""
    end = len(name)
    for index, character in enumerate(name):
        if character in ".[":
            end = index
            break
    first, rest, steps = name[:end], name[end:], []
    while rest:
        if rest[0] == ".":
            end = 1
            while end < len(rest) and rest[end] not in ".[":
                end += 1
            if end == 1:
                raise ValueError("Empty attribute in format string")
            steps.append((True, rest[1:end]))
            rest = rest[end:]
        elif rest[0] == "[":
            end = rest.find("]")
            if end < 0:
                raise ValueError("Missing ']' in format string")
            key = rest[1:end]
            steps.append((False, int(key) if key.isdigit() else key))
            rest = rest[end + 1 :]
        else:
            raise ValueError("Only '.' or '[' may follow ']' in format field specifier")
    return first, steps


def str_format(text, args, kwargs):
    return _format(text, args, kwargs, [0], 2)


def _format(text, args, kwargs, counter, depth):
    if depth < 0:
        raise ValueError("Max string recursion exceeded")
    out = []
    index, length = 0, len(text)
    while index < length:
        character = text[index]
        index += 1
        if character == "{":
            if index < length and text[index] == "{":
                out.append("{")
                index += 1
                continue
            if index >= length:
                raise ValueError("Single '{' encountered in format string")
            start, nesting = index, 1
            while index < length and nesting:
                if text[index] == "{":
                    nesting += 1
                elif text[index] == "}":
                    nesting -= 1
                index += 1
            if nesting:
                raise ValueError("expected '}' before end of string")
            out.append(_field(text[start : index - 1], args, kwargs, counter, depth))
        elif character == "}":
            if index < length and text[index] == "}":
                out.append("}")
                index += 1
                continue
            raise ValueError("Single '}' encountered in format string")
        else:
            end = index
            while end < length and text[end] not in "{}":
                end += 1
            out.append(text[index - 1 : end])
            index = end
    return "".join(out)


def _field(field, args, kwargs, counter, depth):
    conversion, spec = "", ""
    bracket = False
    for index, character in enumerate(field):
        if character == "[":
            bracket = True
        elif character == "]":
            bracket = False
        elif character in "!:" and not bracket:
            name, rest = field[:index], field[index:]
            break
    else:
        name, rest = field, ""
    if rest[:1] == "!":
        conversion = rest[1:2]
        if not conversion:
            raise ValueError("end of string while looking for conversion specifier")
        rest = rest[2:]
        if rest and rest[0] != ":":
            raise ValueError("expected ':' after conversion specifier")
    if rest:
        spec = _format(rest[1:], args, kwargs, counter, depth - 1) if "{" in rest else rest[1:]
    first, steps = _field_parts(name)
    if not first:
        if counter[0] is None:
            raise ValueError("cannot switch from manual field specification to automatic field numbering")
        position = counter[0]
        counter[0] += 1
    elif first.isdigit():
        if counter[0]:
            raise ValueError("cannot switch from automatic field numbering to manual field specification")
        counter[0] = None
        position = int(first)
    else:
        position = None
    if position is None:
        value = kwargs[first]
    elif position < len(args):
        value = args[position]
    else:
        raise IndexError(f"Replacement index {position} out of range for positional args tuple")
    for is_attribute, step in steps:
        if is_attribute:
            if step.startswith("_"):
                raise AttributeError(f"format strings may not reach the private attribute '{step}'")
            value = getattr(value, step)
        else:
            value = value[step]
    if conversion == "r":
        value = repr(value)
    elif conversion == "s":
        value = str(value)
    elif conversion == "a":
        value = ascii(value)
    elif conversion:
        raise ValueError(f"Unknown conversion specifier '{conversion}'")
    return format(value, spec)


def percent_slow(text, values):
    mapping = not isinstance(values, (tuple, str)) and hasattr(type(values), "__getitem__")
    return _percent(text, values, mapping, False)


def percent_bytes(text, values):
    mapping = not isinstance(values, (tuple, str, bytes, bytearray)) and hasattr(type(values), "__getitem__")
    result = _percent(text.decode("latin-1"), values, mapping, True).encode("latin-1")
    return bytearray(result) if isinstance(text, bytearray) else result


def _percent(text, values, mapping, as_bytes):
    items = values if isinstance(values, tuple) else (values,)
    used, out, index, length = 0, [], 0, len(text)
    while index < length:
        end = text.find("%", index)
        if end < 0:
            out.append(text[index:])
            break
        out.append(text[index:end])
        index = end + 1
        if index < length and text[index] == "(":
            if not mapping:
                raise TypeError("format requires a mapping")
            start, depth = index + 1, 1
            while depth and index + 1 < length:
                index += 1
                depth += (text[index] == "(") - (text[index] == ")")
            if depth:
                raise ValueError("incomplete format key")
            key = text[start:index]
            index += 1
            items, used = (values[key.encode("latin-1") if as_bytes else key],), 0
        flags, width, precision = "", None, None
        while index < length and text[index] in "-+ #0":
            flags += text[index]
            index += 1
        if index < length and text[index] == "*":
            width = _percent_star(items, used)
            if width < 0:
                flags, width = flags + "-", -width
            used += 1
            index += 1
        else:
            width, index = _percent_digits(text, index, "width too big")
        if index < length and text[index] == ".":
            index += 1
            if index < length and text[index] == "*":
                precision = max(_percent_star(items, used), 0)
                used += 1
                index += 1
            else:
                precision, index = _percent_digits(text, index, "precision too big")
                precision = precision or 0
        if index < length and text[index] in "hlL":
            index += 1
        if index >= length:
            raise ValueError("incomplete format")
        kind = text[index]
        index += 1
        if kind == "%":
            out.append("%")
            continue
        if used >= len(items):
            raise TypeError("not enough arguments for format string")
        value = items[used]
        used += 1
        if kind in "sra" or as_bytes and kind == "b":
            part = _percent_bytes(value) if as_bytes and kind in "sb" else str(value) if kind == "s" else repr(value)
            if kind == "a" or as_bytes and kind == "r":
                part = _vm.ascii(part)
            out.append(_pad(part if precision is None else part[:precision], width, flags))
        elif kind == "c":
            out.append(_pad(_percent_character(value, as_bytes), width, flags))
        elif kind in "diuoxXeEfFgG":
            out.append(_percent_number(kind, flags, width, precision, value))
        else:
            raise ValueError(f"unsupported format character '{kind}' ({hex(ord(kind))}) at index {index - 1}")
    if used < len(items) and not mapping:
        raise TypeError(f"not all arguments converted during {'bytes' if as_bytes else 'string'} formatting")
    return "".join(out)


def _percent_star(items, used):
    if used >= len(items):
        raise TypeError("not enough arguments for format string")
    if not isinstance(items[used], int):
        raise TypeError("* wants int")
    return int(items[used])


def _percent_digits(text, index, problem):
    start = index
    while index < len(text) and text[index] in "0123456789":
        index += 1
    if index == start:
        return None, index
    if index - start > 18:
        raise ValueError(problem)
    return int(text[start:index]), index


def _percent_bytes(value):
    if not isinstance(value, (bytes, bytearray)):
        method = _vm.own(value, "__bytes__")
        if method is None:
            name = type(value).__name__
            raise TypeError(f"%b requires a bytes-like object, or an object that implements __bytes__, not '{name}'")
        value = method(value)
        if not isinstance(value, bytes):
            raise TypeError(f"__bytes__ returned non-bytes (type {type(value).__name__})")
    return value.decode("latin-1")


def _percent_character(value, as_bytes):
    limit = 256 if as_bytes else 0x110000
    if isinstance(value, (bytes, bytearray) if as_bytes else str):
        if len(value) == 1:
            return value.decode("latin-1") if as_bytes else value
    elif isinstance(value, int) or _vm.own(value, "__index__") is not None:
        code = value if isinstance(value, int) else index(value)
        if not 0 <= code < limit:
            raise OverflowError(f"%c arg not in range({'256' if as_bytes else '0x110000'})")
        return chr(code)
    if as_bytes:
        raise TypeError(f"%c requires an integer in range(256) or a single byte, not {type(value).__name__}")
    raise TypeError("%c requires int or char")


def _percent_number(kind, flags, width, precision, value):
    if kind in "eEfFgG":
        number = value if isinstance(value, float) and _vm.own(value, "__float__") is None else _percent_float(value)
        spec = f"{'#' if '#' in flags else ''}.{6 if precision is None else precision}{kind}"
        part = _vm.raw_format(number, spec)
        sign = "-" if part.startswith("-") else ""
        return _numeric(sign, "", part[len(sign) :], flags, width)
    number = value if isinstance(value, int) else _percent_int(kind, value)
    number = int(number) if type(number) is not int else number
    size = number if number >= 0 else -number
    if kind in "oxX":
        digits = _vm.raw_format(size, "o" if kind == "o" else "x")
        prefix = ("0o" if kind == "o" else "0x") if "#" in flags else ""
        if kind == "X":
            digits, prefix = digits.upper(), prefix.upper()
    else:
        digits, prefix = str(size), ""
    if precision is not None:
        digits = digits.rjust(precision, "0")
    return _numeric("-" if number < 0 else "", prefix, digits, flags, width)


def _percent_float(value):
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    try:
        return float(value)
    except TypeError:
        if _vm.own(value, "__float__") is not None or _vm.own(value, "__index__") is not None:
            raise
        raise TypeError(f"must be real number, not {type(value).__name__}") from None


def _percent_int(kind, value):
    whole = kind in "oxX"
    if whole:
        if _vm.own(value, "__index__") is not None:
            return index(value)
    elif isinstance(value, float) or not isinstance(value, (str, bytes, bytearray, complex)):
        if isinstance(value, float) or _vm.own(value, "__int__") is not None or _vm.own(value, "__index__") is not None:
            return int(value)
    raise TypeError(f"%{kind} format: {'an integer' if whole else 'a real number'} is required, not {type(value).__name__}")


def _numeric(sign, prefix, digits, flags, width):
    if not sign:
        sign = "+" if "+" in flags else " " if " " in flags else ""
    if "0" in flags and "-" not in flags and width:
        digits = digits.rjust(width - len(sign) - len(prefix), "0")
    return _pad(sign + prefix + digits, width, flags)


def _pad(part, width, flags):
    if not width:
        return part
    return part.ljust(width) if "-" in flags else part.rjust(width)


# match


def match_keys(subject, keys):
    values = []
    missing = [None]
    seen = []
    for key in keys:
        if key in seen:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        seen.append(key)
        value = subject.get(key, missing)
        if value is missing:
            return None
        values.append(value)
    return tuple(values)


def match_rest(subject, keys):
    return {key: value for key, value in subject.items() if key not in keys}


def match_class(subject, cls, count, names):
    if not isinstance(subject, cls):
        return None
    values = []
    if count:
        match_args = getattr(cls, "__match_args__", None)
        if match_args is None:
            for base in (int, float, str, bytes, bytearray, list, tuple, dict, set, frozenset):
                if issubclass(cls, base):
                    if count > 1:
                        raise TypeError(f"{cls.__name__}() accepts 1 positional sub-pattern ({count} given)")
                    values.append(subject)
                    break
            else:
                raise TypeError(f"{cls.__name__}() accepts 0 positional sub-patterns ({count} given)")
        else:
            if len(match_args) < count:
                plural = "" if len(match_args) == 1 else "s"
                raise TypeError(f"{cls.__name__}() accepts {len(match_args)} positional sub-pattern{plural} ({count} given)")
            if type(match_args) is not tuple:
                raise TypeError(f"{cls.__name__}.__match_args__ must be a tuple (got {type(match_args).__name__})")
            names = match_args[:count] + names
    for place, name in enumerate(names):
        if type(name) is not str:
            raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
        if name in names[:place]:
            raise TypeError(f"{cls.__name__}() got multiple sub-patterns for attribute {name!r}")
        try:
            values.append(getattr(subject, name))
        except AttributeError:
            return None
    return tuple(values)


def globals():
    """The namespace of the module, for modules that come with the VM."""
    return _vm.globals()


def _reduced(value):
    reduce = getattr(value, "__cbor_reduce__", None)
    if reduce is not None and not isinstance(value, type):
        return _reduced(reduce())
    if isinstance(value, dict):
        return {_reduced(key): _reduced(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_reduced(item) for item in value]
    return value


def cbor_encode(value):
    import pvm_host

    return pvm_host.cbor_encode(_reduced(value))


def _bound(value, name):
    """A special method of a value, bound; None when its class has none."""
    found = _vm.own(value, name)
    if found is None:
        return None
    bind = getattr(type(found), "__get__", None)
    return found if bind is None else bind(found, value, type(value))


def math_trunc(x):
    method = _bound(x, "__trunc__")
    if method is None:
        raise TypeError(f"type {type(x).__name__} doesn't define __trunc__ method")
    return method()


def math_floor(x):
    method = _bound(x, "__floor__")
    return method() if method is not None else float(x).__floor__()


def math_ceil(x):
    method = _bound(x, "__ceil__")
    return method() if method is not None else float(x).__ceil__()


def math_fsum(values):
    import math

    return math.fsum(_each(values))


def math_dist(p, q):
    import math

    return math.dist(tuple(_each(p)), tuple(_each(q)))


def handler_entry(method, payload):
    import cowboy_sdk

    return cowboy_sdk._dispatch(method, payload)


def generator_abandoned(generator):
    # What a generator raises while it is closed behind everybody's back reaches nobody.
    try:
        generator.close()
    except BaseException:
        pass
