"""Bound methods are equal and hash alike where functions and receivers are the same."""
def attempt(call):
    try:
        return repr(call()).split(" at 0x")[0]
    except BaseException as error:
        return type(error).__name__ + ": " + str(error).split(" at 0x")[0]
class A:
    def m(self): return 1
    def __eq__(self, o): return True
    __hash__ = None
class B:
    def m(self): return 1
a, b, c = A(), B(), B()
print(attempt(lambda: b.m.__eq__(b.m)), attempt(lambda: b.m.__eq__(c.m)), attempt(lambda: b.m.__eq__(5)), attempt(lambda: b.m.__ne__(b.m)), attempt(lambda: b.m.__ne__(5)), attempt(lambda: b.m.__lt__(5)))
print(b.m == b.m, b.m == c.m, b.m != c.m, a.m == A().m, attempt(lambda: hash(a.m) == hash(a.m)), attempt(lambda: b.m.__hash__() == hash(b.m)), attempt(lambda: type(hash(b.m))))
print(attempt(lambda: {b.m: 1}[b.m]), attempt(lambda: {a.m: 1}), attempt(lambda: b.m in [b.m]), [].append == [].append, attempt(lambda: hash([].append) is None), attempt(lambda: [].append.__eq__(1)), "a".join == "a".join, attempt(lambda: hash("a".join) == hash("a".join)))
l = []
print(l.append == l.append, attempt(lambda: hash(l.append) == hash(l.append)), l.append != l.pop, attempt(lambda: l.append.__eq__(l.append)), attempt(lambda: l.append.__hash__() == hash(l.append)), attempt(lambda: (5).__add__ == (5).__add__), attempt(lambda: (5).__add__.__eq__((5).__add__)), attempt(lambda: len.__eq__(len)), attempt(lambda: len.__hash__() == hash(len)))
print(attempt(lambda: B.m.__eq__(B.m)), attempt(lambda: B.m.__hash__() == hash(B.m)), attempt(lambda: type(b.m).__eq__(b.m, b.m)), attempt(lambda: type(b.m).__hash__(b.m) == hash(b.m)))
