"""Text: repr, str and bytes methods, format and percent."""


def _repr_items(items):
    return ", ".join([repr(item) for item in items])


_active = []
_Proxy = type(type.__dict__)


def repr_slow(value):
    method = _bound(value, "__repr__")
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
            if not _vm.entries(value):
                return f"{name}()"
            return "{" + _repr_items(value) + "}" if type(value) is set else name + "({" + _repr_items(value) + "})"
        if isinstance(value, BaseException):
            return f"{type(value).__name__}({_repr_items(value.args)})"
        kind = type(value).__name__
        if kind in ("dict_keys", "dict_values", "dict_items"):
            return f"{kind}([{_repr_items(value)}])"
        if hasattr(value, "__func__"):
            return f"<bound method {value.__func__.__qualname__} of {value.__self__!r}>"
        if isinstance(value, _Alias):
            return object_repr(value)
        if kind == "UnionType":
            return " | ".join([_type_name(each) for each in value.__args__])
        if type(value) is _Proxy:
            return f"mappingproxy({dict(value.items())!r})"
        if kind == "slice":
            return f"slice({value.start!r}, {value.stop!r}, {value.step!r})"
        return method() if method is not None else object.__repr__(value)
    finally:
        _active.pop()


def _type_name(value):
    return value.__qualname__ if isinstance(value, type) and value.__module__ == "builtins" else repr(value)


def _kind_name(value):
    """The name of a value's class, as messages have it: with its module where CPython has the class in C."""
    kind = type(value)
    return kind.__dict__.get("_name_in_messages", kind.__name__)


def ascii(value, /):
    """Like repr, with every character beyond ASCII escaped."""
    return _vm.ascii(repr(value))


def format_converted(value, conversion, spec):
    text = str(value) if conversion == 1 else repr(value) if conversion == 2 else ascii(value)
    return format(text, spec)


def print_slow(sep, end, file, flush=None, *values):
    for word, given in (("sep", sep), ("end", end)):
        if given is not None and not isinstance(given, str):
            raise TypeError(f"{word} must be None or a string, not {_kind_name(given)}")
    sep = " " if sep is None else sep
    end = "\n" if end is None else end
    if file is None:
        _vm.output(sep.join([str(value) for value in values]) + end)
        return
    write = file.write
    for position, value in enumerate(values):
        if position:
            write(sep)
        write(str(value))
    write(end)
    if flush:
        file.flush()


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
    for place, argument in (2, y), (3, "" if z is None else z):
        if not isinstance(argument, str):
            raise TypeError(f"maketrans() argument {place} must be str, not {_kind_name(argument)}")
    if not isinstance(x, str):
        raise TypeError("first maketrans argument must be a string if there is a second argument")
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


def _number_of(text):
    """The index that a part of a field is, None where it is a name."""
    if not text.isdecimal():
        return None
    number = int(text)
    if number > _LARGEST_INDEX:
        raise ValueError("Too many decimal digits in format string")
    return number


_LARGEST_INDEX = (1 << 63) - 1


def _followed(value, rest):
    """What the attributes and items after the first part of a field name lead to, one by one."""
    at, length = 0, len(rest)
    while at < length:
        is_attribute = rest[at] == "."
        if not is_attribute and rest[at] != "[":
            raise ValueError("Only '.' or '[' may follow ']' in format field specifier")
        end = at = at + 1
        if is_attribute:
            while end < length and rest[end] not in ".[":
                end += 1
        else:
            end = rest.find("]", at)
            if end < 0:
                raise ValueError("Missing ']' in format string")
        step = rest[at:end]
        number = None if is_attribute else _number_of(step)
        if not step:
            raise ValueError("Empty attribute in format string")
        if is_attribute:
            if step.startswith("_"):
                raise AttributeError(f"format strings may not reach the private attribute '{step}'")
            value = getattr(value, step)
        else:
            value = value[step if number is None else number]
        at = end if is_attribute else end + 1
    return value


def str_format(text, args, kwargs):
    """`text.format(*args, **kwargs)`, and `text.format_map(kwargs)` where `args` is None."""
    return _format(text, args, kwargs, [0], 2)


def _format(text, args, kwargs, counter, depth):
    if depth <= 0:
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
            name, conversion, spec, index = _field_at(text, index)
            out.append(_field(name, conversion, spec, args, kwargs, counter, depth))
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


def _field_at(text, start):
    """The name, the conversion and the specification of the field that begins there, and where it ends."""
    index, length = start, len(text)
    while index < length and text[index] not in "}:!":
        if text[index] == "{":
            raise ValueError("unexpected '{' in field name")
        if text[index] == "[":
            index = text.find("]", index)
            if index < 0:
                break
        else:
            index += 1
    if not 0 <= index < length:
        raise ValueError("expected '}' before end of string")
    name, conversion = text[start:index], ""
    if text[index] == "!":
        if index + 1 >= length:
            raise ValueError("end of string while looking for conversion specifier")
        conversion = text[index + 1]
        index += 2
        if index < length and text[index] not in "}:":
            raise ValueError("expected ':' after conversion specifier")
    if index < length and text[index] == "}":
        return name, conversion, "", index + 1
    start = index + 1
    index, nesting = start, 1
    while index < length:
        if text[index] == "{":
            nesting += 1
        elif text[index] == "}":
            nesting -= 1
            if nesting == 0:
                return name, conversion, text[start:index], index + 1
        index += 1
    raise ValueError("unmatched '{' in format spec")


def _field(name, conversion, spec, args, kwargs, counter, depth):
    end = 0
    while end < len(name) and name[end] not in ".[":
        end += 1
    first = name[:end]
    position = _number_of(first)
    if not first:
        if counter[0] is None:
            raise ValueError("cannot switch from manual field specification to automatic field numbering")
        position = counter[0]
        counter[0] += 1
    elif position is not None:
        if counter[0]:
            raise ValueError("cannot switch from automatic field numbering to manual field specification")
        counter[0] = None
    if position is None:
        value = kwargs[first]
    elif args is None:
        raise ValueError("Format string contains positional fields")
    elif position < len(args):
        value = args[position]
    else:
        raise IndexError(f"Replacement index {position} out of range for positional args tuple")
    value = _followed(value, name[end:])
    if conversion == "r":
        value = repr(value)
    elif conversion == "s":
        value = str(value)
    elif conversion == "a":
        value = ascii(value)
    elif conversion:
        raise ValueError(f"Unknown conversion specifier {conversion if ' ' < conversion < chr(127) else chr(92) + hex(ord(conversion))[1:]}")
    if "{" in spec:
        spec = _format(spec, args, kwargs, counter, depth - 1)
    return format(value, spec)


def _has_items(kind):
    """Whether instances of a class have __getitem__. That of a metaclass is the class's alone."""
    if type(kind) is type:
        return hasattr(kind, "__getitem__")
    return any("__getitem__" in base.__dict__ for base in kind.__mro__)


def percent_slow(text, values):
    mapping = not isinstance(values, (tuple, str)) and _has_items(type(values))
    return _percent(text, values, mapping, False)


def percent_bytes(text, values):
    mapping = not isinstance(values, (tuple, str, bytes, bytearray, memoryview)) and _has_items(type(values))
    result = _percent(text.decode("latin-1"), values, mapping, True).encode("latin-1")
    return bytearray(result) if isinstance(text, bytearray) else result


def _percent(text, values, mapping, as_bytes):
    # What a tuple holds, whatever its class says.
    items = tuple.__getitem__(values, slice(None)) if isinstance(values, tuple) else (values,)
    used, out, index, length = 0, [], 0, len(text)
    while index < length:
        end = text.find("%", index)
        if end < 0:
            out.append(text[index:])
            break
        out.append(text[index:end])
        index = end + 1
        if index < length and text[index] == "%":
            out.append("%")
            index += 1
            continue
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
    if isinstance(value, memoryview):
        value = bytes(value)
    if not isinstance(value, (bytes, bytearray)):
        method = _bound(value, "__bytes__")
        if method is None:
            name = type(value).__name__
            raise TypeError(f"%b requires a bytes-like object, or an object that implements __bytes__, not '{name}'")
        value = method()
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
        raise TypeError("%c requires an integer in range(256) or a single byte")
    raise TypeError("%c requires int or char")


def _percent_number(kind, flags, width, precision, value):
    if kind in "eEfFgG":
        number = value if isinstance(value, float) and _vm.own(value, "__float__") is None else _real_number(value)
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


def _real_number(value):
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"must be real number, not {_kind_name(value)}")
    try:
        return float(value)
    except TypeError:
        if _vm.own(value, "__float__") is not None or _vm.own(value, "__index__") is not None:
            raise
        raise TypeError(f"must be real number, not {_kind_name(value)}") from None


def _percent_int(kind, value):
    whole = kind in "oxX"
    if whole:
        if _vm.own(value, "__index__") is not None:
            return index(value)
    elif isinstance(value, float) or not isinstance(value, (str, bytes, bytearray, complex)):
        if isinstance(value, float) or _vm.own(value, "__int__") is not None or _vm.own(value, "__index__") is not None:
            return int(value)
    raise TypeError(f"%{kind} format: {'an integer' if whole else 'a real number'} is required, not {_kind_name(value)}")


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
