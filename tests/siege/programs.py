"""Programs that ask the VM for as much as a source can: builtins nested in themselves and in each other, operations at growing
sizes, and sources nested as deep as a transaction holds. The same random state gives the same programs."""

MAX_SOURCE_BYTES = 120_000

# A value `x` inside another of its kind or of another kind.
WRAP = """
zip(x) | zip(x, x) | enumerate(x) | map(str, x) | map(None, x) | filter(None, x) | iter(x) | reversed([x]) | (y for y in x) | chain(x) | chain([x], x)
| islice(x, 3) | takewhile(bool, x) | starmap(max, x) | accumulate(x) | cycle(x) | tee(x)[0] | zip_longest(x, x) | product(x) | pairwise(x)
| [x] | (x,) | {0: x} | {x} | frozenset([x]) | [x, x] | (x, x) | {'a': x, 'b': x} | deque([x]) | defaultdict(int, {0: x}) | OrderedDict(a=x) | ChainMap({0: x})
| ValueError(x) | KeyError(x) | OSError(1, x) | StopIteration(x) | SystemExit(x) | ExceptionGroup('g', [x])
| (lambda: x) | partial(max, x) | slice(x) | property(x) | staticmethod(x) | classmethod(x) | type('T', (), {'a': x}) | type('T', (x,), {})
| str(x) | repr(x) | f'{x}' | f'{x!r}' | x + x | x * 3 | -x | not x | x | x | list(x) | tuple(x) | dict(x) | set(x) | sorted(x) | bytes(x) | memoryview(x)
| x.__iter__() | x.__class__ | x.__repr__ | getattr(x, '__str__') | list[x] | dict[str, x] | int | x | Decimal(x) | Counter(x) | object() | (x if x else x)
""".replace("\n", " ")
# One that ends in a value whose depth is spent, in a piece of text.
USE = """
next(x) | list(x) | tuple(x) | str(x) | repr(x) | f'{x}' | f'{x!r}' | '%s' % x | '{}'.format(x) | hash(x) | x == y | x < y | x != y | x in [y] | x is y | bool(x) | len(x)
| sorted(x) | sum(x) | max(x) | any(x) | all(x) | print(x) | isinstance(1, x) | issubclass(int, x) | json.dumps(x) | json.loads(json.dumps(x)) | cbor(x) | copy(x)
| x() | x[0] | dict(x) | set(x) | {x: 1} | bytes(x) | ''.join(x) | int(x) | float(x) | sum(len(str(z)) for z in x) | raise_(x) | raise_from(x, y) | storage(x) | del_(x)
""".replace("\n", " ")
START = ["()", "[]", "[1]", "iter([1])", "{}", "''", "'é'", "b'a'", "1", "1.5", "None", "int", "object", "range(9)", "ValueError()", "iter('ab')", "(lambda: 1)", "set()", "{1: 2}"]
SIZED = """
'é' * n | ('é' * n)[n // 2 : n // 2 + 3] | ('ab ' * n).split() | ('ab ' * n).rsplit(' ') | ('a\\n' * n).splitlines(True) | ('{0}' * n).format('a' * n) | ('{:>9}' * n).format(*range(n))
| ('%s' * n) % (('a' * n,) * n) | ('a' * n).replace('a', 'b' * n) | ('b' * n).join('a' * n) | ('é' * n).encode('ascii', 'xmlcharrefreplace') | (b'\\xff' * n).decode('ascii', 'backslashreplace')
| ('\\t' * n).expandtabs(n) | ('é' * n).upper() | ascii('é' * n) | repr('\\0' * n) | json.dumps(['a'] * n, indent=n) | json.dumps({str(k): k for k in range(n)}) | json.loads('[' * n)
| (1 << n) ** 3 | pow(3, (1 << min(n, 3500)) - 3, 1000007) | round((1 << min(n, 3500)) - 3, -512) | int('9' * n) | str((1 << min(n, 4000)) - 1) | float('1' * n) | Decimal('1' * n) ** 9
| sorted(range(n), key=str) | list(range(n)) * 9 | bytearray(n) | set('字' * n) | dict.fromkeys(range(n)).copy() | list(zip(*[range(n)] * 9)) | sum([[1]] * n, []) | max(range(n), key=lambda k: -k)
| re.findall('(a|aa)+$', 'a' * n + 'b') | re.split('', 'é' * n) | re.sub('(.)', r'\\1\\1', 'ab' * n) | re.compile('(' * n + ')' * n) | re.compile('a?' * n + 'a' * n).match('a' * n)
| re.search('α', 'Α' * n, re.IGNORECASE) | print(*range(n), sep='a' * n) | hashlib.sha3_512(b'a' * n).digest() | bytes.fromhex('00' * n) | cbor([[[1] * n] * n] * n)
| deque(range(n), n) | list(product('ab', repeat=min(n, 60))) | list(combinations(range(n), 3)) | functools.reduce(lambda a, b: [a, b], range(n)) | eval_chain(n) | type.mro(deep_class(n))
| storage(b'a' * n) | storage({k: k for k in range(n)}) | [pvm_host.set_state(cbor(k), b'v' * 9) for k in range(n)] | [pvm_host.emit_event('e', b'v' * 99) for k in range(n)]
| pvm_host.keccak256(b'a' * n) | pvm_host.verify_signature(b'a' * n, b'b' * 65, b'c' * 20) | list(pvm_host.scan_state_prefix(b'')) * n | [pvm_host.randomness(b'%d' % k) for k in range(n)]
| ('a' * n).translate({97: 'b' * n}) | ('ab' * n).partition('b' * n) | ('a' * n).count('a' * 9)
""".replace("\n", " ")
SOURCES = ["(", "[", "{", "not ", "-", "~", "lambda: ", "lambda a=", "(yield ", "await ", "[x for x in ", "f'{", "f'{1:{", "f'{(lambda: ", "f(", "a[", "a.b", "x if x else ", "1 + ", "1 ** ", "x < ",
           "x and ", "*", "'a' ", "if 1:\n", "for x in y:\n", "while x:\n", "try:\n", "with x:\n", "def f():\n", "class A:\n", "@a\n", "elif x:\n    pass\n", "match x:\n case [", "global x\n", "x = ",
           "x: ", "del ", "{**", "(*", "a := (", "import a\n", "\\\n", "#\n", ";", "'''", "0x", "\t", "é", "\0", "assert ", "raise ", "print(f\"{'"]

PRELUDE = """
import json, re, math, hashlib, functools, pvm_host
from itertools import *
from functools import partial
from collections import deque, defaultdict, OrderedDict, ChainMap, Counter
from decimal import Decimal
"""
HELPERS = """
cbor = pvm_host.cbor_encode
def storage(x):
    pvm_host.set_state(b'x', cbor(x))
    return pvm_host.cbor_decode(pvm_host.get_state(b'x'))
def raise_(x): raise x
def raise_from(x, y): raise x from y
def copy(x): return x.copy()
def del_(x): return [x].pop()
def deep_class(n):
    c = object
    for k in range(n): c = type('C', (c,), {})
    return c
def eval_chain(n):
    f = lambda: 1
    for k in range(n): f = (lambda g: lambda: g())(f)
    return f()
"""


def choices(text):
    """The alternatives of a table above: a bar between spaces divides, but for the union of types."""
    return [part.strip() for part in text.split(" | ") if part.strip()]


WRAPS, USES, SIZES = choices(WRAP), choices(USE), choices(SIZED)


def nested(random):
    """One to three wrappers in turns around a start, then one to three uses."""
    depth = random.choice([30, 300, 3_000, 30_000, 100_000])
    wraps = random.sample(WRAPS, random.randint(1, 3))
    turn = "\n".join(f"    try: x = {wrap}\n    except Exception as e: pass" for wrap in wraps)
    uses = "\n".join(f"try: {use}\nexcept Exception as e: pass" for use in random.sample(USES, random.randint(1, 3)))
    start = random.choice(START)
    return f"{PRELUDE}{HELPERS}\nx = y = {start}\nfor k in range({depth}):\n{turn}\n    if k == {depth // 2}: y = x\n{uses}\n"


def sized(random):
    """An operation at sizes that double until something refuses."""
    use = random.choice(SIZES)
    first = random.choice([1, 10, 1_000, 100_000])
    return f"{PRELUDE}{HELPERS}\nn = {first}\nwhile n < 10**8:\n    r = {use}\n    n = n * 2\n"


def source(random):
    """A source that repeats one to three pieces, closed or not."""
    pieces = random.sample(SOURCES, random.randint(1, 3))
    size = random.choice([100, 3_000, MAX_SOURCE_BYTES])
    text, depth = ["x = " if random.random() < 0.6 else ""], 0
    while sum(map(len, pieces)) * (depth + 1) < size:
        for piece in pieces:
            text.append(" " * depth + piece if piece.endswith(":\n") and depth < 300 else piece)
        depth += 1
    if random.random() < 0.5:
        text.append("1" + "".join({"(": ")", "[": "]", "{": "}"}.get(piece[-1], "}'") for piece in reversed(pieces)) * depth)
    return "".join(text)[:MAX_SOURCE_BYTES]


def program(random):
    """A source of any of the three kinds, as bytes."""
    make = random.choices([nested, sized, source], [5, 3, 2])[0]
    return make(random).encode()[:MAX_SOURCE_BYTES]
