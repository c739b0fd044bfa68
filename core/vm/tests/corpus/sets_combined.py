# Sets of integers and text, and sets whose keys need more than a look: what they have in common, and which is a part of which.
class Odd:
    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return hash(self.number)

    def __eq__(self, other):
        return self.number == (other.number if isinstance(other, Odd) else other)

    def __repr__(self):
        return f"Odd({self.number})"


class Named(frozenset):
    pass


def shown(value):
    return sorted(map(repr, value)) if isinstance(value, (set, frozenset)) else value


sets = [
    set(), {1, 2, 3}, {3, 2}, frozenset({1, 9}), {"a", "b"}, frozenset("abc"), {1, "a", 4.5}, {None, "b"}, {(1, 2), 3}, {2.5, 3},
    {Odd(111), Odd(112)}, {None, -1}, Named([1, 2, 3]), set(range(100)), {2**70, 1}, frozenset([frozenset([1]), 1]), {"x" * 100, "y" * 100},
]
for one in sets:
    for other in sets:
        print([shown(one & other), shown(one | other), shown(one - other), shown(one ^ other)], end=" ")
        print([one <= other, one < other, one == other, one != other, one >= other, one > other, one.isdisjoint(other)])
print([type(one & other).__name__ for one in ({1}, frozenset([1]), Named([1])) for other in ({1}, frozenset([1]), Named([1]))])
changed = {1, 2, 3, 4}
changed -= {2}
changed |= frozenset([7])
changed ^= {1, 8}
changed &= set(range(8))
print(sorted(changed), sorted(changed.union([1], (2,))))
print(shown({1, 2}.intersection([2, 3], {2: 0})), shown({1, 2}.difference(iter([1]))), {1, 2}.issubset([1, 2, 3]), {1, 2}.issuperset(""))
# Far from where they should be: keys with the same low bits.
far = {number << 40 for number in range(40)}
near = {number << 40 for number in range(0, 60, 3)}
print(len(far & near), len(far | near), len(far - near), len(far ^ near), far <= near, near <= (far | near))
