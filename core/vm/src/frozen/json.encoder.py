"""JSON: from values to text. The native writer does the work; what needs Python code, such as `default`, is done here."""
import _json

_INFINITY = float("inf")
_CONSTANT_TEXTS = {None: "null", True: "true", False: "false"}


def encode_basestring(s, /):
    """A text between quotes, with control characters escaped."""
    return _json.quote(s, False)


def encode_basestring_ascii(s, /):
    """A text between quotes, in ASCII."""
    return _json.quote(s, True)


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
        """The text of a value."""
        return "".join(self.iterencode(o, _one_shot=True))

    def iterencode(self, o, _one_shot=False):
        """The text of a value, in pieces."""
        indent = self.indent
        if indent is not None and not isinstance(indent, str):
            indent = " " * indent
        text = _json.encode(
            o, bool(self.skipkeys), bool(self.ensure_ascii), bool(self.allow_nan), bool(self.sort_keys), indent,
            self.item_separator, self.key_separator,
        )
        if text is not NotImplemented:
            return iter([text])
        parts = []
        self._write(o, parts, None if indent is None else "\n", indent, [])
        return iter(parts)

    def _write(self, value, parts, newline, indent, replaced):
        """Appends the text of `value`. `newline` is the line break and indentation of its level, None for one line.

        One frame a level, so that the interpreter's limit on frames is the limit on nesting.
        """
        if isinstance(value, str):
            parts.append(_json.quote(value, bool(self.ensure_ascii)))
        elif value is None or value is True or value is False:
            parts.append(_CONSTANT_TEXTS[value])
        elif isinstance(value, int):
            parts.append(int.__repr__(value))
        elif isinstance(value, float):
            parts.append(self._float(value))
        elif isinstance(value, (list, tuple, dict)):
            is_dict = isinstance(value, dict)
            if indent is None and not is_dict and type(value) is not list and type(value) is not tuple:
                # CPython's writer of one line copies what iterates in its own way; the one that indents asks for the truth as well.
                value = list(value)
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
                self._write(item, parts, inner, indent, replaced)
                separator = self.item_separator if inner is None else self.item_separator + inner
            parts.append(closing if newline is None else newline + closing)
        else:
            if self.check_circular:
                for other in replaced:
                    if other is value:
                        raise ValueError("Circular reference detected")
            replaced.append(value)
            self._write(self.default(value), parts, newline, indent, replaced)
            replaced.pop()

    def _pairs(self, table):
        """The dict's entries as (text up to the value, value)."""
        pairs = []
        for key, value in sorted(table.items()) if self.sort_keys else table.items():
            text = self._key(key)
            if text is not None:
                pairs.append((_json.quote(text, bool(self.ensure_ascii)) + self.key_separator, value))
        return pairs

    def _float(self, value):
        if value == value and value not in (_INFINITY, -_INFINITY):
            return float.__repr__(value)
        if not self.allow_nan:
            named = "" if self.indent is None else ": " + float.__repr__(value)
            raise ValueError("Out of range float values are not JSON compliant" + named)
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
