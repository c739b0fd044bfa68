"""Regular expressions: the syntax, results and errors of CPython's re module. The matcher is native: one cycle a step."""
import _re
import _vm
from enum import KEEP, IntFlag

__all__ = [
    "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer", "compile", "purge", "template", "escape", "error",
    "Pattern", "Match", "A", "I", "L", "M", "S", "X", "U", "ASCII", "IGNORECASE", "LOCALE", "MULTILINE", "DOTALL", "VERBOSE",
    "UNICODE", "NOFLAG", "RegexFlag",
]

_MOST = 9223372036854775807
_CACHE_SIZE = 512


class RegexFlag(IntFlag, boundary=KEEP):
    """How a pattern is read."""

    NOFLAG = 0
    ASCII = A = 256
    IGNORECASE = I = 2
    LOCALE = L = 4
    UNICODE = U = 32
    MULTILINE = M = 8
    DOTALL = S = 16
    VERBOSE = X = 64
    TEMPLATE = T = 1
    DEBUG = 128

    def __repr__(self):
        name = self._name_
        if name is None:
            return f"re.RegexFlag({self._value_!r})"
        return "|".join([part if part[0].isdigit() else "re." + part for part in name.split("|")])

    def __str__(self):
        return self.__repr__()

    _numeric_repr_ = hex


NOFLAG = RegexFlag.NOFLAG
A = ASCII = RegexFlag.ASCII
I = IGNORECASE = RegexFlag.IGNORECASE
L = LOCALE = RegexFlag.LOCALE
U = UNICODE = RegexFlag.UNICODE
M = MULTILINE = RegexFlag.MULTILINE
S = DOTALL = RegexFlag.DOTALL
X = VERBOSE = RegexFlag.VERBOSE
T = TEMPLATE = RegexFlag.TEMPLATE
DEBUG = RegexFlag.DEBUG


class error(Exception):
    """A text that is no pattern: `msg` says why, `pos`, `lineno` and `colno` where in `pattern`."""

    def __init__(self, msg, pattern=None, pos=None):
        self.msg = msg
        self.pattern = pattern
        self.pos = pos
        self.lineno = self.colno = None
        if pattern is not None and pos is not None:
            msg = f"{msg} at position {pos}"
            text = pattern if isinstance(pattern, str) else str(pattern, "latin1")
            self.lineno = text.count("\n", 0, pos) + 1
            self.colno = pos - text.rfind("\n", 0, pos)
            if "\n" in text:
                msg = f"{msg} (line {self.lineno}, column {self.colno})"
        super().__init__(msg)


class Match:
    """What a pattern found."""

    _name_in_messages, __iter__ = "re.Match", None
    __slots__ = ("re", "string", "_marks", "_pos", "_endpos")

    def __init_subclass__(cls):
        raise TypeError("type 're.Match' is not an acceptable base type")

    def __new__(cls, *args):
        raise TypeError("cannot create 're.Match' instances")

    @property
    def pos(self):
        """Where the search began."""
        return min(max(self._pos, 0), len(self.string))

    @property
    def endpos(self):
        """Where the search had to end."""
        return min(max(self._endpos, 0), len(self.string))

    @property
    def lastindex(self):
        """The group closed last, or None."""
        return self._marks[-1] or None

    @property
    def lastgroup(self):
        """The name of the group closed last, or None."""
        last = self._marks[-1]
        for name, group in self.re.groupindex.items():
            if group == last:
                return name
        return None

    @property
    def regs(self):
        """Begin and end of every group."""
        marks = self._marks
        return tuple([(marks[i], marks[i + 1]) for i in range(0, len(marks) - 1, 2)])

    def _number(self, group):
        if isinstance(group, int):
            number = group
        elif isinstance(group, (str, bytes)) or not hasattr(type(group), "__index__"):
            number = self.re._groupindex.get(group, -1) if self.re._groupindex else -1
        else:
            number = range(group).stop
        if 0 <= number <= self.re.groups:
            return number
        raise IndexError("no such group")

    def _slice(self, number, default=None):
        begin = self._marks[2 * number]
        if begin < 0:
            return default
        part = self.string[begin : self._marks[2 * number + 1]]
        return bytes(part) if isinstance(part, (bytearray, memoryview)) else part

    def group(self, *groups):
        """The text of one group, or a tuple of several ones'."""
        if not groups:
            return self._slice(0)
        if len(groups) == 1:
            return self._slice(self._number(groups[0]))
        return tuple([self._slice(self._number(group)) for group in groups])

    def __getitem__(self, group):
        return self._slice(self._number(group))

    def groups(self, default=None):
        """The texts of all groups."""
        return tuple([self._slice(number, default) for number in range(1, self.re.groups + 1)])

    def groupdict(self, default=None):
        """The texts of all named groups."""
        return {name: self._slice(number, default) for name, number in self.re.groupindex.items()}

    def start(self, group=0, /):
        """Where a group begins, -1 if it did not match."""
        return self._marks[2 * self._number(group)]

    def end(self, group=0, /):
        """Where a group ends, -1 if it did not match."""
        return self._marks[2 * self._number(group) + 1]

    def span(self, group=0, /):
        """Where a group begins and ends."""
        number = self._number(group)
        return (self._marks[2 * number], self._marks[2 * number + 1])

    def expand(self, template):
        """A replacement template filled in."""
        return self._filled(_template(self.re, template))

    def _filled(self, parts):
        empty = "" if isinstance(self.re.pattern, str) else b""
        return empty.join([self._slice(part, empty) if isinstance(part, int) else part for part in parts])

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"<re.Match object; span=({self._marks[0]}, {self._marks[1]}), match={self._slice(0)!r}>"

    def __class_getitem__(cls, item):
        return _alias(cls, item)


def _alias(cls, item):
    return type(list[int])(cls, item)


class _Names(dict):
    """A dict that cannot be changed."""

    _name_in_messages = "mappingproxy"

    def _refuse(self, *args):
        raise TypeError("'mappingproxy' object does not support item assignment")

    __setitem__ = _refuse
    __delitem__ = _refuse
    __ior__ = _refuse

    def __repr__(self):
        return f"mappingproxy({dict(self)!r})"


_vm.read_only(Match, Match.__slots__)


def _found(pattern, string, pos, endpos, marks):
    return _vm.filled(Match, Match.__slots__, (pattern, string, marks, pos, endpos))


def _place(value):
    if isinstance(value, int):
        return max(0, min(value, _MOST))
    if hasattr(value, "__index__"):
        return max(0, min(value.__index__(), _MOST))
    raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")


class Pattern:
    """A compiled pattern."""

    _name_in_messages = "re.Pattern"
    __slots__ = ("pattern", "flags", "groups", "_groupindex", "_program")

    def __init_subclass__(cls):
        raise TypeError("type 're.Pattern' is not an acceptable base type")

    def __new__(cls, *args):
        raise TypeError("cannot create 're.Pattern' instances")

    @property
    def groupindex(self):
        """Group numbers by name."""
        return _Names(self._groupindex) if self._groupindex else {}

    def _match(self, string, pos, endpos, mode):
        pos = _place(pos)
        endpos = _place(endpos)
        marks = _re.match(self._program, string, pos, endpos, mode, False)
        return None if marks is None else _found(self, string, pos, endpos, marks)

    def search(self, string, pos=0, endpos=_MOST):
        """The first match anywhere, or None."""
        return self._match(string, pos, endpos, 0)

    def match(self, string, pos=0, endpos=_MOST):
        """The match at the beginning, or None."""
        return self._match(string, pos, endpos, 1)

    def fullmatch(self, string, pos=0, endpos=_MOST):
        """The match of the whole, or None."""
        return self._match(string, pos, endpos, 2)

    def findall(self, string, pos=0, endpos=_MOST):
        """The texts of all matches, or of their groups."""
        return _re.findall(self._program, string, _place(pos), _place(endpos))

    def finditer(self, string, pos=0, endpos=_MOST):
        """All matches, one after the other."""
        return _each(self, string, _place(pos), _place(endpos))

    def scanner(self, string, pos=0, endpos=_MOST):
        """A position in a text from which to match or search on."""
        return _Scanner(self, string, _place(pos), _place(endpos))

    def split(self, string, maxsplit=0):
        """The texts between matches, with the texts of their groups."""
        return _re.split(self._program, string, maxsplit)

    def sub(self, repl, string, count=0):
        """The text with matches replaced."""
        return self._replaced(repl, string, count)[0]

    def subn(self, repl, string, count=0):
        """The text with matches replaced, and how many were."""
        return self._replaced(repl, string, count)

    def _replaced(self, repl, string, count):
        if not callable(repl):
            return _re.sub(self._program, string, _template(self, repl), count)
        found = _re.spans(self._program, string, 0, _MOST, count)
        parts = []
        last = 0
        for marks in found:
            parts.append(string[last : marks[0]])
            part = repl(_found(self, string, 0, _MOST, marks))
            if part is not None:
                parts.append(part)
            last = marks[1]
        if not found:
            return (string, 0)
        parts.append(string[last:])
        empty = "" if isinstance(self.pattern, str) else b""
        return (empty.join(parts), len(found))

    def __eq__(self, other):
        if not isinstance(other, Pattern):
            return NotImplemented
        return self.flags == other.flags and type(self.pattern) is type(other.pattern) and self.pattern == other.pattern

    def __hash__(self):
        return hash((self.flags, self.pattern))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        flags = self.flags
        if isinstance(self.pattern, str) and flags & 0x124 == 32:
            flags &= ~32
        names = []
        for name, value in _SHOWN:
            if flags & value:
                names.append("re." + name)
                flags &= ~value
        if flags:
            names.append(hex(flags))
        shown = repr(self.pattern)[:200]
        return f"re.compile({shown}, {'|'.join(names)})" if names else f"re.compile({shown})"

    def __class_getitem__(cls, item):
        return _alias(cls, item)


_vm.read_only(Pattern, Pattern.__slots__)

_SHOWN = (
    ("TEMPLATE", 1), ("IGNORECASE", 2), ("LOCALE", 4), ("MULTILINE", 8), ("DOTALL", 16), ("UNICODE", 32), ("VERBOSE", 64),
    ("DEBUG", 128), ("ASCII", 256),
)


def _each(pattern, string, pos, endpos):
    """The matches from a place on. The first step checks the arguments."""
    _re.match(pattern._program, string, 0, 0, 1, False)
    return _matches(pattern, string, pos, endpos)


def _matches(pattern, string, pos, endpos):
    start = pos
    moving = False
    while True:
        marks = _re.match(pattern._program, string, start, endpos, 0, moving)
        if marks is None:
            return
        start = marks[1]
        moving = marks[0] == start
        yield _found(pattern, string, pos, endpos, marks)


class _Scanner:
    """A position in a text from which to match or search on."""

    _name_in_messages = "_sre.SRE_Scanner"
    __slots__ = ("_pattern", "_string", "_pos", "_endpos", "_start", "_moving")

    @property
    def pattern(self):
        """The pattern that is looked for."""
        return self._pattern

    def __init__(self, pattern, string, pos, endpos):
        self._pattern = pattern
        self._string = string
        self._pos = pos
        self._endpos = endpos
        self._start = pos
        self._moving = False

    def _step(self, mode):
        if self._start is None:
            return None
        marks = _re.match(self._pattern._program, self._string, self._start, self._endpos, mode, self._moving)
        if marks is None:
            self._start = None
            return None
        self._start = marks[1]
        self._moving = marks[0] == marks[1]
        return _found(self._pattern, self._string, self._pos, self._endpos, marks)

    def match(self):
        """The match right here, or None."""
        return self._step(1)

    def search(self):
        """The next match, or None."""
        return self._step(0)


# Replacement templates

_templates = {}
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_OCTAL = "01234567"
_DIGITS = "0123456789"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _template(pattern, template):
    """The parts of a template: texts and group numbers."""
    text = template if isinstance(template, str) else str(template, "latin-1")
    if "\\" not in text:
        return (template,)
    key = (pattern, template)
    known = _templates.get(key)
    if known is None:
        known = _parse_template(pattern, template, text)
        if text is not template:
            known = tuple([part if isinstance(part, int) else part.encode("latin-1") for part in known])
        if len(_templates) >= _CACHE_SIZE:
            del _templates[next(iter(_templates))]
        _templates[key] = known
    return known


def _parse_template(pattern, source, text):
    parts = []
    literal = []
    place = 0
    length = len(text)

    def group(number, at):
        if number > pattern.groups:
            raise error(f"invalid group reference {number}", source, at)
        if literal:
            parts.append("".join(literal))
            literal.clear()
        parts.append(number)

    while place < length:
        slash = text.find("\\", place)
        if slash < 0:
            literal.append(text[place:])
            break
        literal.append(text[place:slash])
        place = slash + 1
        if place >= length:
            raise error("bad escape (end of pattern)", source, length - 1)
        character = text[place]
        place += 1
        if character == "g":
            if text[place : place + 1] != "<":
                raise error("missing <", source, place)
            place += 1
            end = text.find(">", place)
            if end < 0:
                if place == length:
                    raise error("missing group name", source, place)
                raise error("missing >, unterminated name", source, place)
            name = text[place:end]
            if not name:
                raise error("missing group name", source, place)
            if _re.is_identifier(name):
                if name not in pattern._groupindex:
                    raise IndexError(f"unknown group name {name!r}")
                number = pattern._groupindex[name]
            else:
                try:
                    number = int(name)
                except ValueError:
                    number = -1
                if number < 0:
                    raise error(f"bad character in group name {name!r}", source, place) from None
            group(number, place)
            place = end + 1
        elif character == "0":
            end = place
            while end < place + 2 and text[end : end + 1] in _OCTAL and end < length:
                end += 1
            literal.append(chr(int(text[place - 1 : end], 8) & 0xFF))
            place = end
        elif character in _DIGITS:
            second = text[place : place + 1]
            third = text[place + 1 : place + 2]
            if second and second in _DIGITS:
                if character in _OCTAL and second in _OCTAL and third and third in _OCTAL:
                    code = int(character + second + third, 8)
                    if code > 0o377:
                        raise error(f"octal escape value \\{character}{second}{third} outside of range 0-0o377", source, slash)
                    literal.append(chr(code))
                    place += 2
                    continue
                group(int(character + second), slash + 1)
                place += 1
            else:
                group(int(character), slash + 1)
        elif character in _ESCAPES:
            literal.append(_ESCAPES[character])
        elif character in _LETTERS:
            raise error(f"bad escape \\{character}", source, slash)
        else:
            literal.append("\\" + character)
    if literal:
        parts.append("".join(literal))
    return tuple(parts)


# Functions

_cache = {}


def _compile(pattern, flags):
    if isinstance(flags, RegexFlag):
        flags = flags._value_
    key = (type(pattern), pattern, flags)
    known = _cache.get(key)
    if known is not None:
        return known
    if isinstance(pattern, Pattern):
        if flags:
            raise ValueError("cannot process flags argument with a compiled pattern")
        return pattern
    if not isinstance(flags, int):
        raise TypeError(f"unsupported operand type(s) for &: '{type(flags).__name__}' and 'RegexFlag'")
    found = _re.compile(pattern, flags)
    if len(found) == 2:
        raise error(found[0], None if found[1] is None else pattern, found[1])
    program, seen, groups, names = found
    compiled = _vm.filled(Pattern, Pattern.__slots__, (pattern, seen, groups, dict(names), program))
    if len(_cache) >= _CACHE_SIZE:
        del _cache[next(iter(_cache))]
    _cache[key] = compiled
    return compiled


def compile(pattern, flags=0):
    """The compiled pattern."""
    return _compile(pattern, flags)


def match(pattern, string, flags=0):
    """The match at the beginning, or None."""
    return _compile(pattern, flags).match(string)


def fullmatch(pattern, string, flags=0):
    """The match of the whole, or None."""
    return _compile(pattern, flags).fullmatch(string)


def search(pattern, string, flags=0):
    """The first match anywhere, or None."""
    return _compile(pattern, flags).search(string)


def sub(pattern, repl, string, count=0, flags=0):
    """The text with matches replaced."""
    return _compile(pattern, flags).sub(repl, string, count)


def subn(pattern, repl, string, count=0, flags=0):
    """The text with matches replaced, and how many were."""
    return _compile(pattern, flags).subn(repl, string, count)


def split(pattern, string, maxsplit=0, flags=0):
    """The texts between matches, with the texts of their groups."""
    return _compile(pattern, flags).split(string, maxsplit)


def findall(pattern, string, flags=0):
    """The texts of all matches, or of their groups."""
    return _compile(pattern, flags).findall(string)


def finditer(pattern, string, flags=0):
    """All matches, one after the other."""
    return _compile(pattern, flags).finditer(string)


def purge():
    """Forgets compiled patterns and templates."""
    _cache.clear()
    _templates.clear()


def template(pattern, flags=0):
    """The compiled pattern."""
    return _compile(pattern, flags)


_SPECIAL = "()[]{}?*+-|^$\\.&~# \t\n\r\v\f"


def escape(pattern):
    """The pattern that matches exactly this text."""
    if isinstance(pattern, str):
        return "".join(["\\" + character if character in _SPECIAL else character for character in pattern])
    text = str(pattern, "latin1")
    return "".join(["\\" + character if character in _SPECIAL else character for character in text]).encode("latin1")


class Scanner:
    """Splits a text into tokens: pairs of a pattern and what to do with its text."""

    def __init__(self, lexicon, flags=0):
        self.lexicon = lexicon
        self._compiled = [(_compile(phrase, flags), action) for phrase, action in lexicon]

    def scan(self, string):
        """What the actions made of the tokens, and the rest that no pattern matches."""
        result = []
        place = 0
        while True:
            for pattern, action in self._compiled:
                found = pattern.match(string, place)
                if found is not None:
                    break
            else:
                break
            end = found.end()
            if place == end:
                break
            if callable(action):
                self.match = found
                action = action(self, found.group())
            if action is not None:
                result.append(action)
            place = end
        return result, string[place:]
