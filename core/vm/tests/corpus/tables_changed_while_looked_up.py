# A key whose `__eq__` or `__hash__` changes the dict or set in which it is looked for.
def t(name, f, *a, **k):
    try:
        print(name, repr(f(*a, **k)))
    except BaseException as e:
        print(name, type(e).__name__, e)
class K:
    def __init__(self, n, f=None): self.n = n; self.f = f
    def __hash__(self): return 1
    def __eq__(self, o):
        if self.f: f, self.f = self.f, None; f()
        return self.n == o.n
    def __repr__(self): return f"K{self.n}"
def lookup(act):
    d = {}
    ks = [K(i) for i in range(4)]
    for k in ks: d[k] = k.n
    n = [0]
    ks[0].f = lambda: act(d, ks)
    return d, K(3)
def a1(d, ks): del d[ks[1]]
def a2(d, ks): d.clear(); d[K(3)] = 33
def a3(d, ks):
    for i in range(10, 30): d[K(i)] = i
def a4(d, ks): d.clear()
def a5(d, ks): del d[ks[0]]
def a6(d, ks): del d[ks[3]]; d[ks[3]] = 44
for a in (a1, a2, a3, a4, a5, a6):
    d, k = lookup(a); t("get", d.get, k); print(d)
    d, k = lookup(a); t("in", lambda: k in d)
    d, k = lookup(a); t("item", lambda: d[k])
    d, k = lookup(a); t("pop", d.pop, k, "none"); print(d)
    d, k = lookup(a); t("set", d.__setitem__, k, 5); print(d)
    d, k = lookup(a); t("setdefault", d.setdefault, k, 5); print(d)
    d, k = lookup(a); t("del", d.__delitem__, k); print(d)
def slookup(act):
    s = set()
    ks = [K(i) for i in range(4)]
    for k in ks: s.add(k)
    ks[0].f = lambda: act(s, ks)
    return s, K(3)
def s1(d, ks): d.discard(ks[1])
def s2(d, ks): d.clear(); d.add(K(3))
def s3(d, ks):
    for i in range(10, 30): d.add(K(i))
def s4(d, ks): d.clear()
def s5(d, ks): d.discard(ks[0])
def s6(d, ks): d.discard(ks[3]); d.add(ks[3])
for a in (s1, s2, s3, s4, s5, s6):
    s, k = slookup(a); t("in", lambda: k in s)
    s, k = slookup(a); t("add", s.add, k); print(sorted(x.n for x in s))
    s, k = slookup(a); t("discard", s.discard, k); print(sorted(x.n for x in s))
    s, k = slookup(a); t("remove", s.remove, k); print(sorted(x.n for x in s))
# the key asked for has the eq
class Q:
    def __init__(self, f): self.f = f
    def __hash__(self): return hash(1)
    def __eq__(self, o):
        if self.f: f, self.f = self.f, None; f()
        return False
d = {1: 1, 2: 2}
t("clear while asked", lambda: d.get(Q(d.clear), "no")); print(d)
d = {1: 1}
q = Q(lambda: d.update({1: 5}))
t("update", lambda: d.setdefault(q, 7)); print(len(d))
# hash evaluated once
class H:
    n = 0
    def __hash__(self): H.n += 1; return 5
    def __eq__(self, o): return True
d = {}; d[H()] = 1; print(H.n); d.setdefault(H(), 2); print(H.n); d[H()] = 4; print(H.n, d.pop(H()), H.n); d.setdefault(H(), 3); print(H.n)
class HC:
    def __init__(self, d): self.d = d
    def __hash__(self): self.d.clear(); self.d[3] = 3; return 3
    def __eq__(self, o): return o == 3
d = {i: i for i in range(8)}
t("hash clears", lambda: d[HC(d)]); print(d)
d = {i: i for i in range(8)}
t("hash clears", lambda: d.pop(HC(d))); print(d)
s = set(range(5))
class HS:
    def __hash__(self): s.clear(); return 3
t("set hash clears", lambda: s.add(HS())); print(len(s))
