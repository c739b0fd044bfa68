# Sequences whose items change them while they are compared, and sequences repeated by what has an index.
changing = []


class Emptying:
    def __init__(self, keep=0):
        self.keep = keep

    def __eq__(self, other):
        del changing[self.keep:]
        return False


class Index:
    def __init__(self, value=2):
        self.value = value

    def __index__(self):
        return self.value


class Reflected(Index):
    def __rmul__(self, other):
        return "reflected"


class Counted(list):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return "own"


def outcome(function, *args):
    try:
        return function(*args)
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        return f"{type(error).__name__}: {error}"


for keep in (0, 1, 2):
    for ask in ("x.count(1)", "x.index(1)", "x.remove(1)", "1 in x"):
        changing[:] = [Emptying(keep), Emptying(keep), Emptying(keep)]
        x = changing
        if ask == "x.count(1)":
            print(ask, x.count(1), len(x))
        elif ask == "1 in x":
            print(ask, 1 in x, len(x))
        else:
            print(ask, outcome(x.index if ask == "x.index(1)" else x.remove, 1), len(x))


class Same:
    def __eq__(self, other):
        return True


own = Counted([1, Same(), 2])
print(own.index("z"), own.count("z"), list.__len__(own))
own.remove("z")
print(list.__len__(own), outcome([1, Same()].index, 5), outcome((3, Same()).index, 5), outcome((3,).index, Same()))

for sequence in ([1], "ab", (1,), b"a", bytearray(b"a")):
    print(sequence * Index(), Index() * sequence, sequence * Index(-1), sequence * Reflected(), outcome(lambda: sequence * 1.5), outcome(lambda: Index() * None))
x = y = [1]
x *= Index()
print(x, y is x)
x = y = (1,)
x *= Index(3)
print(x, y)
data = held = bytearray(b"xy")
data *= Index()
print(data, held is data)
x = Index()
try:
    x *= [0]
except TypeError as error:
    print(error)
x = 1.5
try:
    x *= [0]
except TypeError as error:
    print(error)
print(outcome(lambda: [1] * "a"), outcome(lambda: "a" * []))
for call in (lambda: [].pop("a"), lambda: [].pop(1.5), lambda: [].pop(), lambda: [1].pop(4), lambda: bytearray().pop("a")):
    print(outcome(call))
for data in (b"it's", b'"', b"'\"", b"\\'", b"plain"):
    print(repr(bytearray(data)), repr(data), str(bytearray(data)))
