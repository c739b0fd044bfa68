# Views of dicts with any iterable, and views of pairs whose values have no hash.
def outcome(function):
    try:
        result = function()
    except TypeError as error:
        return f"TypeError: {error}"
    return f"{type(result).__name__} {sorted(result)}" if isinstance(result, (set, frozenset)) else result


class Numbers:
    def __iter__(self):
        return iter([1, 3])


class Listing(list):
    pass


class Mine(set):
    pass


class Equal:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Equal) and self.value == other.value

    def __hash__(self):
        return 1

    def __lt__(self, other):
        return self.value < other.value

    def __repr__(self):
        return f"E{self.value}"


keys, pairs = {1: 2, 5: 6}.keys(), {1: 2}.items()
for other in ([1, 3], (1, 3), "ab", {1, 3}, frozenset([1, 3]), {1: 0, 3: 0}, {1: 0, 3: 0}.keys(), {7: 1, 8: 3}.values(), range(1, 4), Numbers(),
              Listing([1, 3]), Mine([1, 3]), 5, None, [[]]):
    if other != "ab":
        print(outcome(lambda: keys | other), outcome(lambda: other | keys), outcome(lambda: keys ^ other), outcome(lambda: other ^ keys))
    print(outcome(lambda: keys & other), outcome(lambda: other & keys), outcome(lambda: keys - other), outcome(lambda: other - keys))
print(outcome(lambda: keys & iter([1, 5])), outcome(lambda: iter([1, 9]) - keys), outcome(lambda: (n for n in (1, 2)) | keys))
print(outcome(lambda: pairs | [(3, 4)]), outcome(lambda: pairs & [(1, 2)]), outcome(lambda: [(1, 2), (1, 3)] - pairs), outcome(lambda: pairs ^ pairs))
print(outcome(lambda: {1} | [1]), outcome(lambda: {}.values() | [1]), outcome(lambda: {}.values() | {}.values()), outcome(lambda: [1] + keys))
changed = {1: 2}.keys()
changed |= [4]
print(type(changed).__name__, changed)
one = {Equal(1): 0, Equal(2): 0}.keys()
print(outcome(lambda: one & [Equal(1)]), outcome(lambda: [Equal(1), Equal(3)] - one), outcome(lambda: one | iter([Equal(2), Equal(4)])))
print(outcome(lambda: one ^ (Equal(2),)), outcome(lambda: frozenset([Equal(1)]) | one))

lists = {"a": [1], "b": [2]}
print(lists.items() == {"b": [2], "a": [1]}.items(), lists.items() != {"b": [2], "a": [1]}.items(), lists.items() == {"a": [1], "b": [3]}.items())
print(lists.items() <= {"b": [2], "a": [1], "c": 0}.items(), lists.items() < {"b": [2], "a": [1], "c": 0}.items(), lists.items() > {"a": [1]}.items())
print(lists.items() >= {"a": [1]}.items(), lists.items() >= {("a", 1)}, {("a", 1)} <= lists.items(), lists.items() > {"x", ("a", "b", "c")}, {3} < lists.items())
print(lists.items() == {"a": 1}.keys(), {("a", 1): 0}.keys() <= {"a": 1}.items(), {("a", 1): 0}.keys() == {"a": 1}.items(), lists.items() == [("a", [1])])
for compared in (lambda: lists.items() == {("a", 1), ("b", 2)}, lambda: lists.items() <= {1, 2, 3}, lambda: {("a", 1): 0, 2: 3}.keys() == lists.items(),
                 lambda: lists.items() < [1]):
    print(outcome(compared))
deep = {Equal(1): [Equal(2)], Equal(3): Equal(4)}
same = {Equal(3): Equal(4), Equal(1): [Equal(2)]}
print(deep.items() == same.items(), deep.items() <= same.items(), deep.items() < same.items(), deep.keys() == same.keys(), deep.keys() == set(same))
print(set(same) == deep.keys(), deep.items() != {**same, Equal(1): 0}.items(), deep.keys() >= {Equal(1)}, deep.items() > {Equal(3): Equal(4)}.items())
nan = float("nan")
print({1: 2}.items() == {(1, 2)}, {(1, 2)} == {1: 2}.items(), {1: 2}.items() == {(1, 3)}, frozenset([(1, 2)]) >= {1: 2}.items())
