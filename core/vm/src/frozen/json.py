"""JSON: values to text and back, with the text and the errors of CPython's json module."""


class JSONDecodeError(ValueError):
    """Text that is not JSON: `msg` says what was expected, `pos`, `lineno` and `colno` where."""

    def __init__(self, msg, doc, pos):
        lineno = doc.count("\n", 0, pos) + 1
        colno = pos - doc.rfind("\n", 0, pos)
        super().__init__(f"{msg}: line {lineno} column {colno} (char {pos})")
        self.msg = msg
        self.doc = doc
        self.pos = pos
        self.lineno = lineno
        self.colno = colno


# Writing

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_INFINITY = float("inf")


def _quoted(text, ensure_ascii):
    plain = text.isascii() if ensure_ascii else True
    if plain and '"' not in text and "\\" not in text and text.isprintable():
        return '"' + text + '"'
    parts = ['"']
    for character in text:
        escape = _ESCAPES.get(character)
        if escape is not None:
            parts.append(escape)
            continue
        code = ord(character)
        if code < 32:
            parts.append(f"\\u{code:04x}")
        elif code < 127 or not ensure_ascii:
            parts.append(character)
        elif code < 0x10000:
            parts.append(f"\\u{code:04x}")
        else:
            code -= 0x10000
            parts.append(f"\\u{0xD800 | code >> 10:04x}\\u{0xDC00 | code & 0x3FF:04x}")
    parts.append('"')
    return "".join(parts)


class JSONEncoder:
    """Writes values as JSON. Subclasses may override `default` for other types."""

    item_separator = ", "
    key_separator = ": "

    def __init__(
        self, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, sort_keys=False, indent=None,
        separators=None, default=None,
    ):
        self.skipkeys = skipkeys
        self.ensure_ascii = ensure_ascii
        self.check_circular = check_circular
        self.allow_nan = allow_nan
        self.sort_keys = sort_keys
        self.indent = indent
        if separators is not None:
            self.item_separator, self.key_separator = separators
        elif indent is not None:
            self.item_separator = ","
        if default is not None:
            self.default = default

    def default(self, o):
        """The replacement for a value of an unknown type. TypeError unless overridden."""
        raise TypeError(f"Object of type {o.__class__.__name__} is not JSON serializable")

    def encode(self, o):
        parts = []
        indent = self.indent
        if isinstance(indent, int) and not isinstance(indent, bool):
            indent = " " * indent
        self._write(o, parts, None if indent is None else "\n", indent)
        return "".join(parts)

    def iterencode(self, o):
        yield self.encode(o)

    def _write(self, value, parts, newline, indent):
        """Appends the text of `value`. `newline` is the line break and indentation of its level, None for one line.

        One frame a level, so that the interpreter's limit on frames is the limit on nesting.
        """
        if isinstance(value, str):
            parts.append(_quoted(value, self.ensure_ascii))
        elif value is None or value is True or value is False:
            parts.append(_CONSTANT_TEXTS[value])
        elif isinstance(value, int):
            parts.append(int.__repr__(value))
        elif isinstance(value, float):
            parts.append(self._float(value))
        elif isinstance(value, (list, tuple, dict)):
            is_dict = isinstance(value, dict)
            opening, closing = "{}" if is_dict else "[]"
            if not value:
                parts.append(opening + closing)
                return
            inner = None if newline is None else newline + indent
            parts.append(opening if inner is None else opening + inner)
            separator = ""
            for item in (self._pairs(value) if is_dict else value):
                parts.append(separator)
                if is_dict:
                    parts.append(item[0])
                    item = item[1]
                self._write(item, parts, inner, indent)
                separator = self.item_separator if inner is None else self.item_separator + inner
            parts.append(closing if newline is None else newline + closing)
        else:
            self._write(self.default(value), parts, newline, indent)

    def _pairs(self, table):
        """The dict's entries as (text up to the value, value)."""
        pairs = []
        for key, value in sorted(table.items()) if self.sort_keys else table.items():
            text = self._key(key)
            if text is not None:
                pairs.append((_quoted(text, self.ensure_ascii) + self.key_separator, value))
        return pairs

    def _float(self, value):
        if value == value and value not in (_INFINITY, -_INFINITY):
            return float.__repr__(value)
        if not self.allow_nan:
            raise ValueError("Out of range float values are not JSON compliant")
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"

    def _key(self, key):
        """A key's text; None for one that is skipped."""
        if isinstance(key, str):
            return key
        if isinstance(key, float):
            return self._float(key)
        if key is True or key is False or key is None:
            return _CONSTANT_TEXTS[key]
        if isinstance(key, int):
            return int.__repr__(key)
        if self.skipkeys:
            return None
        raise TypeError(f"keys must be str, int, float, bool or None, not {key.__class__.__name__}")


_CONSTANT_TEXTS = {None: "null", True: "true", False: "false"}


def dumps(
    obj, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, cls=None, indent=None, separators=None,
    default=None, sort_keys=False, **kw,
):
    """The JSON text of a value."""
    encoder = (cls or JSONEncoder)(
        skipkeys=skipkeys, ensure_ascii=ensure_ascii, check_circular=check_circular, allow_nan=allow_nan, indent=indent,
        separators=separators, default=default, sort_keys=sort_keys, **kw,
    )
    return encoder.encode(obj)


def dump(obj, fp, **kw):
    """Writes the JSON text of a value to something with `write`."""
    fp.write(dumps(obj, **kw))


# Reading

_BLANKS = " \t\n\r"
_UNESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CONSTANTS = {"-Infinity": -_INFINITY, "Infinity": _INFINITY, "NaN": float("nan")}
_DIGITS = "0123456789"
_HEX = "0123456789abcdefABCDEF"


class JSONDecoder:
    """Reads values from JSON."""

    def __init__(self, *, object_hook=None, parse_float=None, parse_int=None, parse_constant=None, strict=True, object_pairs_hook=None):
        self.object_hook = object_hook
        self.parse_float = parse_float or float
        self.parse_int = parse_int or int
        self.parse_constant = parse_constant or _CONSTANTS.__getitem__
        self.strict = strict
        self.object_pairs_hook = object_pairs_hook

    def decode(self, s):
        value, end = self.raw_decode(s, _skip(s, 0))
        end = _skip(s, end)
        if end != len(s):
            raise JSONDecodeError("Extra data", s, end)
        return value

    def raw_decode(self, s, idx=0):
        """The value that starts at `idx` and the place behind it."""
        # Containers under construction, innermost last: [items, key, is it a dict].
        open_containers = []
        place = idx
        while True:
            opened = s[place : place + 1]
            if opened == "[" or opened == "{":
                place = _skip(s, place + 1)
                if s[place : place + 1] == ("]" if opened == "[" else "}"):
                    value = [] if opened == "[" else self._made([])
                    place += 1
                else:
                    open_containers.append([[], None, opened == "{"])
                    if opened == "{":
                        place = self._read_key(s, place, open_containers[-1])
                    continue
            else:
                value, place = self._scalar(s, place)
            # A value is complete: put it where it belongs, and close what it completes.
            while True:
                if not open_containers:
                    return value, place
                container = open_containers[-1]
                items, key, is_dict = container
                items.append((key, value) if is_dict else value)
                place = _skip(s, place)
                character = s[place : place + 1]
                if character == ("}" if is_dict else "]"):
                    open_containers.pop()
                    value = self._made(items) if is_dict else items
                    place += 1
                    continue
                if character != ",":
                    raise JSONDecodeError("Expecting ',' delimiter", s, place)
                place = _skip(s, place + 1)
                if is_dict:
                    place = self._read_key(s, place, container)
                break

    def _read_key(self, s, place, container):
        if s[place : place + 1] != '"':
            raise JSONDecodeError("Expecting property name enclosed in double quotes", s, place)
        container[1], place = _read_string(s, place + 1, self.strict)
        place = _skip(s, place)
        if s[place : place + 1] != ":":
            raise JSONDecodeError("Expecting ':' delimiter", s, place)
        return _skip(s, place + 1)

    def _made(self, pairs):
        if self.object_pairs_hook is not None:
            return self.object_pairs_hook(pairs)
        made = dict(pairs)
        return made if self.object_hook is None else self.object_hook(made)

    def _scalar(self, s, place):
        character = s[place : place + 1]
        if character == '"':
            return _read_string(s, place + 1, self.strict)
        if character == "n" and s[place : place + 4] == "null":
            return None, place + 4
        if character == "t" and s[place : place + 4] == "true":
            return True, place + 4
        if character == "f" and s[place : place + 5] == "false":
            return False, place + 5
        end, is_float = _number_end(s, place)
        if end > place:
            text = s[place:end]
            return (self.parse_float(text) if is_float else self.parse_int(text)), end
        for name in ("NaN", "Infinity", "-Infinity"):
            if s[place : place + len(name)] == name:
                return self.parse_constant(name), place + len(name)
        raise JSONDecodeError("Expecting value", s, place)


def _skip(s, place):
    while s[place : place + 1] in _BLANKS and place < len(s):
        place += 1
    return place


def _number_end(s, place):
    """(place behind the number at `place`, whether it is a float); `place` itself where none starts."""
    start = place
    if s[place : place + 1] == "-":
        place += 1
    first = s[place : place + 1]
    if first == "0":
        place += 1
    elif first != "" and first in _DIGITS:
        place = _digits_end(s, place)
    else:
        return start, False
    is_float = False
    if s[place : place + 1] == ".":
        end = _digits_end(s, place + 1)
        if end > place + 1:
            place = end
            is_float = True
    if s[place : place + 1] in ("e", "E"):
        exponent = place + 1
        if s[exponent : exponent + 1] in ("+", "-"):
            exponent += 1
        end = _digits_end(s, exponent)
        if end > exponent:
            place = end
            is_float = True
    return place, is_float


def _digits_end(s, place):
    while place < len(s) and s[place] in _DIGITS:
        place += 1
    return place


def _read_string(s, place, strict):
    """The string whose opening quote stands before `place`, and the place behind its closing quote."""
    begin = place - 1
    parts = []
    while True:
        start = place
        while place < len(s) and s[place] != '"' and s[place] != "\\" and s[place] >= " ":
            place += 1
        parts.append(s[start:place])
        if place >= len(s):
            raise JSONDecodeError("Unterminated string starting at", s, begin)
        character = s[place]
        if character == '"':
            return "".join(parts), place + 1
        if character != "\\":
            if strict:
                raise JSONDecodeError("Invalid control character at", s, place)
            parts.append(character)
            place += 1
            continue
        escape = s[place + 1 : place + 2]
        if escape == "":
            raise JSONDecodeError("Unterminated string starting at", s, begin)
        if escape != "u":
            if escape not in _UNESCAPED:
                raise JSONDecodeError("Invalid \\escape", s, place)
            parts.append(_UNESCAPED[escape])
            place += 2
            continue
        code = _read_hex(s, place + 1)
        place += 6
        if 0xD800 <= code <= 0xDBFF and s[place : place + 2] == "\\u":
            low = _read_hex(s, place + 1)
            if 0xDC00 <= low <= 0xDFFF:
                code = 0x10000 + ((code - 0xD800) << 10 | low - 0xDC00)
                place += 6
        parts.append(chr(code))


def _read_hex(s, place):
    digits = s[place + 1 : place + 5]
    if len(digits) == 4 and all([digit in _HEX for digit in digits]):
        return int(digits, 16)
    raise JSONDecodeError("Invalid \\uXXXX escape", s, place)


def loads(s, *, cls=None, object_hook=None, parse_float=None, parse_int=None, parse_constant=None, object_pairs_hook=None, **kw):
    """The value of JSON text, which may also be bytes in UTF-8."""
    if isinstance(s, str):
        if s.startswith("\ufeff"):
            raise JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", s, 0)
    elif isinstance(s, (bytes, bytearray)):
        s = bytes(s).decode("utf-8")
        if s.startswith("\ufeff"):
            s = s[1:]
    else:
        raise TypeError(f"the JSON object must be str, bytes or bytearray, not {s.__class__.__name__}")
    decoder = (cls or JSONDecoder)(
        object_hook=object_hook, parse_float=parse_float, parse_int=parse_int, parse_constant=parse_constant,
        object_pairs_hook=object_pairs_hook, **kw,
    )
    return decoder.decode(s)


def load(fp, **kw):
    """The value of the JSON text of something with `read`."""
    return loads(fp.read(), **kw)
