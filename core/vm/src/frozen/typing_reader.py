"""Hints that were written as text: what they stand for. A part of `typing`."""

import re

_TOKENS = re.compile(r"\.\.\.|[\w]+|'[^']*'|\"[^\"]*\"|[^\w\s]")
_WORDS = {"None": None, "True": True, "False": False}
BUILTINS = {
    cls.__name__: cls
    for cls in (
        int, str, float, bool, bytes, bytearray, memoryview, list, dict, tuple, set, frozenset, type, object, range, slice, property, BaseException,
        Exception, ValueError, TypeError, KeyError,
    )
}


_OPENING = {")": "(", "]": "["}


def check_syntax(text):
    """Whether a text may be an expression: it has words, its brackets match, and nothing stands at its ends that cannot."""
    open_brackets = []
    tokens = _TOKENS.findall(text)
    for token in tokens:
        if token in ("(", "["):
            open_brackets.append(token)
        elif token in _OPENING and (not open_brackets or open_brackets.pop() != _OPENING[token]):
            return False
    return bool(tokens) and not open_brackets and tokens[0] not in (",", ".", "|", "/") and tokens[-1] not in (",", ".", "|", "*", "-")


class Reader:
    """Reads a hint that was written as text: names, attributes, brackets, lists, texts, numbers and `|`."""

    def __init__(self, text, names):
        self._tokens = _TOKENS.findall(text)
        self._names = names
        self._place = 0
        if "".join(self._tokens).replace(" ", "") != text.replace(" ", ""):
            raise SyntaxError(f"Forward reference must be an expression -- got {text!r}")

    def _next(self):
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _take(self):
        token = self._next()
        self._place += 1
        return token

    def whole(self):
        """The whole text's value; `*Ts` is what the star gives."""
        starred = self._next() == "*"
        if starred:
            self._take()
        value = self._union()
        if starred:
            (value,) = value
        if self._next():
            raise SyntaxError("invalid syntax")
        return value

    def _union(self):
        value = self._item()
        while self._next() == "|":
            self._take()
            value = value | self._item()
        return value

    def _many(self, closing):
        items = []
        while self._next() != closing:
            items.append(self._union())
            if self._next() != ",":
                break
            self._take()
        if self._take() != closing:
            raise SyntaxError("invalid syntax")
        return items

    def _item(self):
        token = self._take()
        if token == "[":
            value = self._many("]")
        elif token == "(":
            items = self._many(")")
            value = items[0] if len(items) == 1 else tuple(items)
        elif token == "...":
            value = ...
        elif token[:1] in ("'", '"'):
            value = token[1:-1]
        elif token[:1].isdigit() or token == "-":
            value = int(token) if token != "-" else -int(self._take())
        elif token in _WORDS:
            value = _WORDS[token]
        elif token.isidentifier():
            if token not in self._names:
                raise NameError(f"name {token!r} is not defined")
            value = self._names[token]
        else:
            raise SyntaxError("invalid syntax")
        while self._next() in (".", "["):
            if self._take() == ".":
                value = getattr(value, self._take())
            else:
                items = self._many("]")
                value = value[items[0] if len(items) == 1 else tuple(items)]
        return value
