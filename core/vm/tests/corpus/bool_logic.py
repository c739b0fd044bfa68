"""Truth: bool, `and`, `or`, `not`, conditional expressions, chained comparisons."""

for value in [0, 1, -1, 0.0, 0.1, "", "a", b"", b"a", [], [0], (), (0,), {}, {0: 0}, set(), {0}, None, True, False, range(0), range(1), float("nan"), frozenset(), bytearray()]:
    print(repr(value), bool(value), not value, "yes" if value else "no")


class Flag:
    def __init__(self, name, truth):
        self.name, self.truth = name, truth

    def __bool__(self):
        print("bool of", self.name)
        return self.truth

    def __repr__(self):
        return self.name


class Sized:
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size


yes, no = Flag("yes", True), Flag("no", False)
print(yes and no, no and yes, yes or no, no or yes, not yes, not no)
print(yes and yes and no or yes, no or no or no)
print(bool(Sized(0)), bool(Sized(3)), "full" if Sized(1) else "empty", not Sized(0))
if yes and not no:
    print("both")
while no:
    print("never")
print([1 if flag else 2 if other else 3 for flag in (yes, no) for other in (yes, no)])


def tell(value):
    print("told", value)
    return value


print(tell(1) < tell(2) < tell(3), tell(3) < tell(2) < tell(1), tell(1) < tell(2) > tell(0) == tell(0) != tell(5))
print(1 < 2 < 3 < 4, 1 < 2 > 1, 1 == 1.0 == True, 1 in [1] == True, (1 in [1]) == True, not 1 == 2, None is None, None is not None)
first, second = [], []
third = first
print(first is third, first is second, first == second, first is not second, first is not third)
print(True == 1, True is True, False < True, True + 1, True / 2, str(True), repr(False), int(True), float(True), bool("False"), bool([False]))
print(0 or "" or [] or "last", 1 and "a" and [0], 0 and 1 / 0, 1 or 1 / 0, None or 0, (not []) is True)
print(any([0, "", None]), any([0, 1]), all([]), all([1, 0]), all([1, "a"]), any([]))
print(any(tell(value) for value in (0, 2, 3)), all(tell(value) for value in (1, 0, 3)))
print(bool.__name__, type(True), isinstance(False, int), True.bit_length(), True.__and__(False), bool(), bool(None))


class Bad:
    def __bool__(self):
        return 3


class Negative:
    def __len__(self):
        return -1


for bad in (Bad(), Negative()):
    try:
        print(bool(bad))
    except Exception as error:
        print(type(error).__name__, error)

print([(left, right, left and right, left or right) for left in (0, "l") for right in ((), "r")])
x = 5
print("big" if x > 10 else "middle" if x > 3 else "small", (x > 3) + (x > 4) + (x > 5), x > 3 and x < 10, 3 < x < 10, not x > 3 or x == 5)
