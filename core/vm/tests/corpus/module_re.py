"""re: searching, groups, substitution, splitting, flags, lookaround, errors."""
import re


def attempt(function, *arguments, **named):
    try:
        result = function(*arguments, **named)
        print((result.span(), result.group(), result.groups()) if isinstance(result, re.Match) else repr(result))
    except Exception as error:
        print(type(error).__name__, error)


for pattern, text in [("a+", "caaat"), ("^b", "abc"), ("b$", "ab"), ("(a)(b)?", "a"), ("a|b|", "xb"), ("[a-c]+", "zabcd"), ("[^a-c]+", "abxyz"), (r"\d{2,3}", "1 12345"), (r"\w+\s\w+", "hello world"), (r"\bfoo\b", "a foo b"), (r"(?i)HELLO", "say hello"), (r"a.c", "a\nc"), (r"(?s)a.c", "a\nc"), (r"(\w)\1", "hello"),
                      (r"(?P<y>\d{4})-(?P<m>\d\d)", "on 2024-05-06"), (r"(?:ab)+", "ababx"), (r"a*?b", "aaab"), (r"<.+?>", "<a><b>"), (r"<.+>", "<a><b>"), (r"(?=b)b", "ab"), (r"a(?!b)", "abac"), (r"(?<=a)b", "bab"), (r"(?<!a)b", "abb"), (r"x*", "aaa"), (r"[\d\-.]+", "v1.2-3"), (r"\$\(\)", "$()"), (r"(a(b(c)))", "abc"), (r"é+", "caféé"),
                      (r"[]x]+", "]x"), (r"\Aab\Z", "ab"), (r"(?x) a  b # comment", "ab"), (r"(a)|(b)", "b"), (r"(?(1)x|y)", "y"), (r"(a)?(?(1)b|c)", "ab"), (r"a{,2}", "aaa"), (r"a{2}", "aaa"), (r"a{x}", "a{x}"), (r"\u00e9", "é"), (r"\x41", "A"), (r"(?P<q>['\"]).*?(?P=q)", "say 'hi'"), (r"a++b", "aab"), (r"(?>a+)b", "aab")]:
    attempt(re.search, pattern, text)
print(re.findall(r"\d+", "1 22 333"), re.findall(r"(\w)(\d)", "a1 b2"), re.findall(r"(x)?y", "xyy"), re.findall("", "ab"), re.split(r"[,;]\s*", "a, b;c"), re.split(r"(-)", "a-b-c", maxsplit=1), re.split("x*", "axbc"), re.sub(r"\d", "#", "a1b22"), re.sub(r"(\w+) (\w+)", r"\2 \1", "hello world"), re.sub("a", lambda m: m.group().upper() + str(m.start()), "banana", count=2), re.subn("b", "c", "abab"), re.sub(r"(?P<n>\d)", r"<\g<n>>", "a1"), re.sub("x*", "-", "abxd"), re.escape("a.b*c [1]"))
m = re.match(r"(?P<first>\w+) (?P<last>\w+)?", "Ann Bob rest")
print(m.group(), m.group(0), m.group(1, 2), m["first"], m.groups(), m.groupdict(), m.span("last"), m.start(1), m.end(), m.lastindex, m.lastgroup, m.pos, m.endpos, m.string, m.re.pattern, m.expand(r"\2-\g<first>"), bool(m), m)
p = re.compile(r"(\d+)", re.IGNORECASE | re.MULTILINE)
print(p.pattern, p.groups, p.groupindex, p.match("x1"), p.match("x1", 1).group(), p.fullmatch("123").group(), p.fullmatch("12a"), [x.group() for x in p.finditer("1 22")], p.search("a12", 2).group(), p, re.compile("a", re.I | re.S), re.compile(p) is p, p.sub("n", "1-2", 1))
print(re.findall(r"^\w", "ab\ncd", re.M), re.findall(r"\w$", "ab\ncd", re.MULTILINE), re.match("A", "a", re.I) is not None, re.findall(r"\w+", "é1_a", re.ASCII), re.match(b"a+", b"aab").group(), re.findall(rb"\d", b"1a2"), re.fullmatch("a|ab", "ab").group(), re.IGNORECASE, re.I | re.M, re.NOFLAG)
for bad in ("(", ")", "[", "a**", "*a", "(?P<1>x)", "(?P<a>x)(?P<a>y)", r"\1", "a{2,1}", "(?z)", "[z-a]", "(?<=a+)b", "\\", "(?P=nope)", "(?P<n", r"[\d-z]", "(?i", "x(?i)"):
    attempt(re.compile, bad)
attempt(re.sub, "a", r"\9", "a")
attempt(re.search, "a", b"a")
attempt(re.search, 5, "a")
attempt(lambda: m.group("nope"))
attempt(lambda: m.group(9))
tokens = [(t.lastgroup, t.group()) for t in re.finditer(r"(?P<num>\d+(?:\.\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<op>[-+*/=()])|(?P<skip>\s+)", "x1 = 3.14 * (y + 42)")]
print([t for t in tokens if t[0] != "skip"])
print([bool(re.fullmatch(r"[\w.+-]+@[\w-]+\.[\w.]+", a)) for a in ("a@b.co", "x.y+z@d-e.org", "no", "@x.y", "a@b")], re.sub(r"(?<=\d)(?=(\d{3})+$)", ",", "1234567"), re.findall(r"(?:^|,)([^,]*)", "a,,b"), re.split(r"\s+", " a  b "), re.sub(r"\s+", " ", "a \n\t b"), re.sub("(a)|b", r"[\1]", "ab"), len(re.findall("(?=aa)", "aaaa")))
