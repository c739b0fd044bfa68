"""Options of native functions × what is given for them: which have to be integers, and whose truth is asked."""
import hashlib


class Falsy:
    def __bool__(self):
        return False


class Truthy:
    def __bool__(self):
        return True


class Number(int):
    def __bool__(self):
        return False


class Plain:
    pass


def attempt(act):
    try:
        return repr(act())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


INTEGERS = {
    "splitlines": lambda option: "a\nb".splitlines(option), "keepends": lambda option: "\u5b57\nb".splitlines(keepends=option), "bytes": lambda option: b"a\nb".splitlines(option),
    "bytearray": lambda option: bytearray(b"a\nb").splitlines(keepends=option), "sorted": lambda option: sorted([1, 3, 2], reverse=option), "sort": lambda option: (lambda items: (items.sort(reverse=option), items))([1, 3, 2]),
}
TRUTHS = {
    "zip": lambda option: list(zip([1], [1, 2], strict=option)), "to_bytes": lambda option: (5).to_bytes(2, "big", signed=option), "from_bytes": lambda option: int.from_bytes(b"\xff", "big", signed=option),
    "blake2b": lambda option: hashlib.blake2b(b"", digest_size=4, last_node=option).hexdigest(),
}
for given in (False, True, 0, 1, -2, 2**70, Number(1), Number(0), 2.0, 0.0, "", "a", None, [], [0], (), {}, 1j, Plain(), Falsy(), Truthy()):
    for name, call in INTEGERS.items():
        print(type(given).__name__, name, attempt(lambda: call(given)))
    if type(given) not in (Falsy, Truthy, Number):
        for name, call in TRUTHS.items():
            print(type(given).__name__, name, attempt(lambda: call(given)))
