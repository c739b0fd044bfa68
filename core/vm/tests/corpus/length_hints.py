"""`__length_hint__` and `__len__` of what a container is made of: what they answer × what asks."""
def attempt(call):
    try:
        return repr(call())
    except BaseException as error:
        return type(error).__name__ + ": " + str(error)


ASKED = []


def raising(error):
    def method(self):
        ASKED.append(type(error).__name__)
        raise error
    return method


def giving(value):
    def method(self):
        ASKED.append(value)
        return value
    return method


class Held:
    def __call__(self):
        ASKED.append("held")
        return 2


class Described:
    def __get__(self, instance, owner):
        return lambda: 3


ANSWERS = {
    "three": giving(3), "zero": giving(0), "negative": giving(-1), "text": giving("3"), "none": giving(None), "float": giving(1.5), "true": giving(True),
    "not implemented": giving(NotImplemented), "TypeError": raising(TypeError("t")), "ValueError": raising(ValueError("v")), "StopIteration": raising(StopIteration()),
    "None": None, "number": 5, "instance": Held(), "descriptor": Described(), "static": staticmethod(lambda: 4), "class": classmethod(lambda cls: 4),
}


def extend(x):
    items = [0]
    items.extend(x)
    return items


def add(x):
    items = [0]
    items += x
    return items


def put(x):
    items = [0, 1]
    items[:1] = x
    return items


def call(x):
    return (lambda *a: a)(*x)


def unpacked(x):
    first, *rest = x
    return first, rest


def extended(x):
    made = bytearray()
    made.extend(x)
    return made


USES = {
    "list": list, "tuple": tuple, "extend": extend, "add": add, "slice": put, "star": lambda x: [*x], "star tuple": lambda x: (*x,), "star call": call,
    "sorted": sorted, "join": lambda x: "".join(x), "bytearray": bytearray, "bytes": bytes, "bytearray.extend": extended, "set": set, "frozenset": frozenset,
    "sum": sum, "for": lambda x: [i for i in x], "max": max, "any": any, "dict": lambda x: dict.fromkeys(x), "unpacked": unpacked, "enumerate": lambda x: list(enumerate(x)),
    "zip": lambda x: list(zip(x, x)), "map": lambda x: list(map(str, x)), "in": lambda x: 9 in x,
}
for method in ("__length_hint__", "__len__"):
    for answer, function in ANSWERS.items():
        for how, extra in (("iterable", {"__iter__": lambda self: iter([1, 2])}), ("by index", {"__getitem__": lambda self, index: (1, 2)[index]})):
            made = type("Made", (), {method: function, **extra})
            for use, run in USES.items():
                # CPython asks the iterator over indices, which asks for the length; and `extend` leaves a byte unset where none is hinted.
                if how == "by index" and use in ("slice", "join", "unpacked") or answer == "zero" and use == "bytearray.extend":
                    continue
                ASKED.clear()
                line = attempt(lambda: run(made()))
                print(method, answer, how, use, line, ASKED)


class Both:
    def __iter__(self):
        return iter([1])

    def __len__(self):
        ASKED.append("len")
        raise TypeError

    def __length_hint__(self):
        ASKED.append("hint")
        return 1


for use, run in USES.items():
    ASKED.clear()
    print(use, attempt(lambda: run(Both())), ASKED)
