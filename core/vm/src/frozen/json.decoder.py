"""JSON: from text to values. The native reader does the work; with hooks it is done here."""
import _json


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


_BLANKS = " \t\n\r"
_MOST = 9223372036854775807
_CONSTANTS = {"-Infinity": float("-inf"), "Infinity": float("inf"), "NaN": float("nan")}
_DIGITS = "0123456789"


def scanstring(s, end, strict=True, /):
    """The text whose opening quote stands before `end`, and the place behind its closing quote."""
    found = _json.scan_string(s, end, strict)
    if len(found) == 3:
        raise JSONDecodeError(found[0], s, found[1])
    return found


class JSONDecoder:
    """Reads values from JSON."""

    def __init__(self, *, object_hook=None, parse_float=None, parse_int=None, parse_constant=None, strict=True, object_pairs_hook=None):
        self.object_hook = object_hook
        self.parse_float = parse_float or float
        self.parse_int = parse_int or int
        self.parse_constant = parse_constant or _CONSTANTS.__getitem__
        self.strict = strict
        self.object_pairs_hook = object_pairs_hook
        self._plain = (
            object_hook is None and object_pairs_hook is None and self.parse_float is float and self.parse_int is int
            and parse_constant is None
        )

    def decode(self, s):
        """The value of a text."""
        if self._plain:
            found = _json.decode(s, None, bool(self.strict))
            if len(found) == 3:
                raise JSONDecodeError(found[0], s, found[1])
            return found[0]
        value, end = self.raw_decode(s, _skip(s, 0))
        end = _skip(s, end)
        if end != len(s):
            raise JSONDecodeError("Extra data", s, end)
        return value

    def raw_decode(self, s, idx=0):
        """The value that starts at `idx` and the place behind it."""
        if not isinstance(s, str):
            raise TypeError(f"first argument must be a string, not {type(s).__name__}")
        if type(idx) is not int:
            idx = range(idx).stop
        if not -_MOST <= idx <= _MOST:
            raise OverflowError("Python int too large to convert to C ssize_t")
        if idx < 0:
            raise ValueError("idx cannot be negative")
        if idx > len(s):
            raise JSONDecodeError("Expecting value", s, idx)
        if self._plain:
            found = _json.decode(s, idx, bool(self.strict))
            if len(found) == 3:
                raise JSONDecodeError(found[0], s, found[1])
            return found
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
        container[1], place = scanstring(s, place + 1, self.strict)
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
            return scanstring(s, place + 1, self.strict)
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
