# Arguments of builtin methods that count something or are a position: integers, objects with `__index__`, and others.
class I:
    def __init__(self, n): self.n = n
    def __index__(self): return self.n
    def __repr__(self): return f"I({self.n})"
def t(f, *a, **k):
    try:
        r = f(*a, **k)
        if not isinstance(r, (int, str, bytes, list, tuple, bytearray, type(None), dict)):
            r = list(r)
        print(repr(r))
    except Exception as e:
        print(type(e).__name__, e)
for x in (I(1), I(-1), I(2), 1.5, "a", None, True):
    print("##", x)
    l = [1, 2, 3, 2]
    t(l.insert, x, I(7)); print(l)
    t(l.pop, x); print(l)
    t(l.index, 2, x); t(l.index, 2, 0, x)
    t((1,2,3,2).index, 2, x); t((1,2,3,2).index, 2, 0, x)
    t(lambda: [1,2]*x); t(lambda: x*[1,2]); t(lambda: (1,2)*x); t(lambda: "ab"*x); t(lambda: x*b"ab")
    t(lambda: [1,2,3][x]); t(lambda: (1,2,3)[x]); t(lambda: "abc"[x]); t(lambda: b"abc"[x]); t(lambda: bytearray(b"abc")[x])
    t(lambda: [1,2,3][x:]); t(lambda: (1,2,3)[:x]); t(lambda: "abc"[x:]); t(lambda: b"abc"[::x]); t(lambda: range(5)[x]); t(lambda: range(5)[x:])
    for s, sub in (("abcbcb", "b"), (b"abcbcb", b"b"), (bytearray(b"abcbcb"), b"b")):
        for m in ("find", "rfind", "index", "rindex", "count", "startswith", "endswith"):
            t(getattr(s, m), sub, x); t(getattr(s, m), sub, 0, x)
        for m in ("center", "ljust", "rjust"):
            t(getattr(s, m), x); t(getattr(s, m), 8 if not isinstance(x, I) else x)
        t(s.zfill, x); t(s.expandtabs, x); t(s.split, sub, x); t(s.rsplit, sub, x); t(s.replace, sub, sub+sub, x); t(s.splitlines, x)
        t(s.split, sub, maxsplit=x)
        t(s.expandtabs, tabsize=x)
    t(range, x); t(range, x, 4); t(range, 0, 4, x)
    t(chr, x); t(hex, x); t(bin, x); t(oct, x); t(round, 2.567, x); t(round, 25, x); t(divmod, 7, x)
    t(bytes, x); t(bytearray, x); t(int, x); t(float, x); t(complex, x)
    t(int, "11", x); t((5).to_bytes, x, "big"); t(pow, 2, x); t(pow, 2, x, 5)
    t(enumerate, "ab", x); t(sum, [1], 0); t(slice(x, x, x).indices, 5); t(slice(0, 3).indices, x)
    t(range(5).index, x); t(range(5).count, x); t(lambda: x in range(5))
    t("%d".__mod__, x); t("%x".__mod__, x); t("%*d".__mod__, (x, 3)); t("%c".__mod__, x); t(format, x, "d")
    t(lambda: f"{3:{x!r}}" if False else 0)
    import itertools, collections, math
    t(lambda: list(itertools.islice("abcdef", x))); t(lambda: list(itertools.islice("abcdef", x, None))); t(lambda: list(itertools.islice("abcdef", 0, 5, x)))
    t(lambda: list(itertools.islice(itertools.repeat(1, x), 3))); t(lambda: list(itertools.permutations("abc", x))); t(lambda: list(itertools.combinations("abc", x)))
    t(lambda: list(itertools.combinations_with_replacement("ab", x))); t(lambda: list(itertools.product("ab", repeat=x))); t(lambda: [len(list(e)) for e in itertools.tee("ab", x)])
    d = collections.deque([1,2,3,2])
    t(d.insert, x, 9); print(d)
    t(d.rotate, x); print(d)
    t(lambda: d[x]); t(d.index, 2, x); t(d.index, 2, 0, x) if x is not None else 0; t(lambda: collections.deque([1,2,3], x)); t(lambda: collections.deque([1,2])*x)
    def sd(): d[x] = 5; return list(d)
    t(sd)
    def dd():
        del d[x]; return list(d)
    t(dd)
    def ds():
        l = [1,2,3]; l[x] = 9; return l
    t(ds)
    def ddl():
        l = [1,2,3]; del l[x]; return l
    t(ddl)
    def dsl():
        l = [1,2,3]; l[x:] = [8]; return l
    t(dsl)
    b = bytearray(b"abc")
    t(b.insert, x, x); print(b); t(b.append, x); print(b); t(b.pop, x); print(b); t(b.remove, x); t(b.extend, [x]); print(b)
    t(math.factorial, x); t(math.gcd, x, 4); t(math.comb, 5, x); t(math.perm, 5, x); t(math.isqrt, x); t(math.ldexp, 1.0, x); t(math.lcm, x, 3)
    t(math.fsum, [x]); t(math.prod, [x] if not isinstance(x, I) else [1]); t(math.dist, [1], [x]); t(math.hypot, x, 1)
    t(memoryview(b"abc").__getitem__, x)
    t("abc".__getitem__, x); t([1,2].__getitem__, x); 
    t("a-b".translate, {45: "x"}); t(collections.Counter, a=2); 
    t(b"ab".hex, "-", x); t(bytes.fromhex, "00"); t("abc".encode().center, 9, b"*")
    t(print, end="" if isinstance(x, I) else "\n")
    t(collections.namedtuple("P", "x")(1).index, 1, x)
    t(sorted, [3,1], reverse=x); t([3,1].sort, reverse=x)
    import re
    t(re.sub, "b", "x", "abcbcb", x); t(re.split, "b", "abcbcb", x); t(re.compile("b").sub, "x", "abcbcb", x); t(re.compile("b").search, "abcbcb", x); t(re.subn, "b", "x", "abcbcb", x); t(re.compile("b").findall, "abcbcb", x)
    t(re.match("(a)(b)", "ab").group, x); t(re.match("(a)(b)", "ab").start, x); t(re.match("(a)(b)", "ab").__getitem__, x); t(re.match("(a)(b)", "ab").span, x)
