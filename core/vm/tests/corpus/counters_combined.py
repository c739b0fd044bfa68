# What counters give when they are added, subtracted and joined: the order of their items, negative counts, classes below.
from collections import Counter


class Below(Counter):
    def __setitem__(self, item, count):
        print("set", item, count)
        super().__setitem__(item, count)


class Key:
    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return len(self.name)

    def __eq__(self, other):
        return isinstance(other, Key) and self.name == other.name

    def __repr__(self):
        return self.name


cases = [
    (Counter("abbb"), Counter("bcc")), (Counter(a=3, b=-2, c=0), Counter(a=-3, b=5, d=-1, e=2)), (Counter(), Counter("ab")), (Counter("ab"), Counter()),
    (Counter(a=1.5, b=2), Counter(a=1, c=0.5)), (Below(a=2, z=1), Counter(b=1)), (Counter(b=1), Below(a=2, z=-1)), (Counter({1: 2, "1": 3}), Counter({1.0: 4, None: 1})),
    (Counter([Key("x"), Key("yy"), Key("x")]), Counter([Key("yy"), Key("z")])),
]
for left, right in cases:
    for name, result in ("+", left + right), ("-", left - right), ("|", left | right), ("&", left & right), ("pos", +left), ("neg", -left):
        print(name, type(result).__name__, list(result.items()))
for other in 1, {"a": 1}, None:
    try:
        Counter() + other
    except TypeError as error:
        print(error)
try:
    Counter(a="x") + Counter(a=1)
except TypeError as error:
    print(error)
plain = {"a": 1, "b": [2]}
copy = {**plain}
copy["c"] = 3
print({**plain, **copy, "b": 4}, {**{}, **{}}, {**plain} == plain, plain, {**{1: 2}, 1: 3, **{1.0: 4}})
for divisor in 7, 2**63, 2**64 - 1, 2**64 + 1, -3:
    print((2**200 + 1) / divisor, -(10**40) / divisor, float(2**127 + 2**74) / divisor, float(-(2**64) + 1), (2**53 + 1) / divisor)
