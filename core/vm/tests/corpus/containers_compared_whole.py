# What a container holds is compared, whatever its class says of its length, its iterator and its items.
def t(name, f, *a, **k):
    try:
        print(name, repr(f(*a, **k)))
    except BaseException as e:
        print(name, type(e).__name__, e)
class L(list):
    def __len__(self): print("len"); return 99
    def __iter__(self): print("iter"); return iter([7])
    def __getitem__(self, i): print("getitem"); return 8
class T(tuple):
    def __len__(self): print("len"); return 99
    def __iter__(self): print("iter"); return iter([7])
class D(dict):
    def __len__(self): print("len"); return 99
    def __iter__(self): print("iter"); return iter([7])
    def __getitem__(self, k): print("getitem"); return 8
    def __contains__(self, k): print("contains"); return False
    def items(self): print("items"); return [(1, 1)]
    def keys(self): print("keys"); return [1]
class V:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return isinstance(o, V) and self.n == o.n
    def __lt__(self, o): return self.n < o.n
    def __hash__(self): return 4
    def __repr__(self): return f"V{self.n}"
for k, mk in ((L, lambda *a: L(a)), (T, lambda *a: T(a))):
    base = k.__mro__[1]
    for x, y in ((mk(V(1), V(2)), base((V(1), V(2)))), (mk(V(1)), mk(V(1), V(2))), (base([V(1)]), mk(V(2))), (mk(1, 2), mk(1, 2)), (mk(1), base([1]))):
        for op in ("__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__"):
            t(f"{k.__name__} {op}", getattr(base, op), x, y)
        t("==", lambda: x == y); t("<", lambda: x < y); t("!=", lambda: x != y)
        t("in", lambda: V(1) in base.__iter__(x)); t("base in", base.__contains__, x, V(1)); t("count", base.count, x, V(1)); t("index", base.index, x, V(1))
D1 = D(); dict.__setitem__(D1, 1, V(1)); dict.__setitem__(D1, V(3), V(2))
D2 = {1: V(1), V(3): V(2)}
t("dict", lambda: D1 == D2); t("dict", lambda: D2 == D1); t("dict", lambda: D1 != D2); t("dict", lambda: D2 != D1)
class S(set):
    def __len__(self): print("len"); return 99
    def __iter__(self): print("iter"); return iter([7])
    def __contains__(self, k): print("contains"); return False
S1 = S([V(1), V(2)]); S2 = {V(1), V(2)}
for op in ("__eq__", "__le__", "__lt__", "__ge__", "__gt__", "__ne__"):
    t(op, lambda: getattr(S1, op)(S2)); t(op, lambda: getattr(S2, op)(S1))
