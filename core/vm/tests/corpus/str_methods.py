"""Strings: every method, with ordinary and odd arguments."""


def attempt(function, *arguments, **named):
    try:
        print(repr(function(*arguments, **named)))
    except Exception as error:
        print(type(error).__name__, error)


texts = ["", "a", "Hello World", "hello world", "HELLO", "  padded  ", "tab\tand\nline", "123", "12.5", "abc123", "Ünïcödé", "ßeta", "ΑΣΣ", "ﬁne", "title Case Here", "they're bill's", "\u2168½", "日本語", "🎉x", "_id", "1id"]
for text in texts:
    print([text.upper(), text.lower(), text.title(), text.capitalize(), text.swapcase(), text.casefold(), text.strip(), text.lstrip(), text.rstrip()])
    print([name for name, check in [("alpha", text.isalpha), ("digit", text.isdigit), ("decimal", text.isdecimal), ("numeric", text.isnumeric), ("alnum", text.isalnum), ("space", text.isspace),
                                    ("upper", text.isupper), ("lower", text.islower), ("title", text.istitle), ("identifier", text.isidentifier), ("printable", text.isprintable), ("ascii", text.isascii)] if check()])
    print(len(text), text[::-1], ascii(text), text.encode(), text.center(15, "*"), text.ljust(10, "."), text.rjust(10), text.zfill(8))

sentence = "the cat sat on the mat"
print(sentence.find("the"), sentence.find("the", 1), sentence.find("dog"), sentence.rfind("the"), sentence.rfind("at", 0, 10), sentence.index("cat"), sentence.rindex("a"))
print(sentence.count("at"), sentence.count("the", 3), sentence.count(""), "".count(""), "aaaa".count("aa"), sentence.find(""), sentence.find("", 100), sentence.rfind(""), sentence.find("t", -3), sentence.find("t", -300, 300))
attempt(sentence.index, "dog")
attempt(sentence.rindex, "dog", 3)
print(sentence.replace("the", "a"), sentence.replace("at", "og", 2), sentence.replace("", "-", 4), "aaa".replace("aa", "b"), "".replace("", "x"), "abc".replace("b", "", -1), "abc".replace("z", "y"))
print(sentence.startswith("the"), sentence.startswith("cat", 4), sentence.startswith(("a", "t")), sentence.endswith("mat"), sentence.endswith(("x", "at"), 0, 7), sentence.startswith(""), sentence.startswith("the", 100), sentence.startswith(()))
attempt(sentence.startswith, 5)
attempt(sentence.endswith, ["a"])
attempt(sentence.startswith, ("a", 5))

for text in ["a,b,,c", "", ",", "abc", " a  b c ", "x--y--z--"]:
    print(text.split(), text.split(","), text.split(",", 1), text.rsplit(",", 1), text.split(None, 1), text.rsplit(None, 1), text.split("--"), text.partition(","), text.rpartition(","))
print("a b c d".split(maxsplit=2), "a b c d".rsplit(maxsplit=2), "a b".split(sep=" "), "a\u2003b\x1cc".split(), "1<>2<>3".split("<>"))
attempt("abc".split, "")
attempt("abc".split, 5)
attempt("abc".partition, "")
print("one\ntwo\r\nthree\rfour\x0bfive\x85six\u2028seven\n".splitlines(), "one\ntwo\r\n".splitlines(True), "".splitlines(), "\n".splitlines(), "a\n\nb".splitlines(keepends=True))
print(", ".join(["a", "b"]), "".join("abc"), "-".join([]), "-".join(("x",)), "ab".join({"k": 1, "l": 2}), " ".join(str(number) for number in range(4)))
attempt("".join, [1])
attempt("".join, ["a", None])
attempt("".join, 5)
print("xxabcxx".strip("x"), "xyabcyx".strip("xy"), "xxabc".lstrip("x"), "abcxx".rstrip("x"), "abc".strip(""), "  a".lstrip(None), "\u3000a\x00".strip(), "\x1fa\x1f".strip())
print("prefix-body".removeprefix("prefix-"), "body.txt".removesuffix(".txt"), "body".removeprefix("x"), "aa".removesuffix(""), "aaa".removeprefix("a"))
print("a\tb\tc".expandtabs(), "a\tb".expandtabs(4), "\t|\n1\t2".expandtabs(3), "a\tb".expandtabs(0))
print("+5".zfill(4), "-5".zfill(4), "--5".zfill(6), "abc".zfill(2), "".zfill(2), "ab".center(5), "ab".center(6, "é"), "a".center(4), "abc".center(2), "ab".ljust(1))
attempt("a".center, 5, "xy")
attempt("a".ljust, "5")
table = str.maketrans({"a": "1", "b": None, ord("c"): "three", "d": 0x44})
print("abcde".translate(table), "abcabc".translate(str.maketrans("ab", "xy", "c")), "abc".translate({97: "ä"}), str.maketrans("ab", "cd"))
attempt(str.maketrans, "a", "bc")
attempt(str.maketrans, {"ab": 1})
print("abc" < "abd", "abc" < "ab", "Z" < "a", "é" > "z", "" < "a", "a" == "a", "a" != "b", "10" < "9", "abc" >= "abc", "\U0001F600" > "\uffff")
print("ab" * 3, 3 * "ab", "ab" * 0, "ab" * -1, "a" + "b" "c", "b" in "abc", "" in "abc", "ac" in "abc", "x" not in "abc")
attempt(lambda: 1 in "abc")
attempt(lambda: "a" * "b")
attempt(lambda: "a" + 1)
attempt(sentence.__getitem__, "a")
attempt(lambda: sentence[None])
attempt(lambda: "abc"[5])
attempt(lambda: "abc"[-4])
print("{} {}".format(1, "two"), "{1} {0} {1}".format("a", "b"), "{name:>5}|{value:.2f}".format(name="n", value=1.5), "{{}} {0[1]} {0[0]!r}".format(["a", "b"]), "{0.real} {d[key]}".format(5, d={"key": "v"}), "{:{}}".format("x", 5))
print("{a}-{b}".format_map({"a": 1, "b": 2}), "{:>{width}.{precision}f}".format(3.14159, width=10, precision=3))
attempt("{} {}".format, 1)
attempt("{a}".format, 1)
attempt("{0} {}".format, 1, 2)
attempt("{".format, 1)
attempt("}".format, 1)
attempt("{0[x]}".format, [1])
attempt("{0.nothing}".format, 1)
attempt("{!x}".format, 1)
print(str(5), str(1.5), str(None), str([1, "a"]), str(b"a"), str(b"caf\xc3\xa9", "utf-8"), str(), str("x"), str(object=7))
print("é".encode("utf-8"), "é".encode("latin-1"), "abc".encode("ascii"), "é".encode("ascii", "ignore"), "é".encode("ascii", "replace"), "é€".encode("ascii", "xmlcharrefreplace"), "é".encode("ascii", "backslashreplace"))
attempt("é".encode, "ascii")
attempt("a".encode, "no-such")
attempt(lambda: "abc".nothing)
print(hash(""), hash("a"), hash("hello"), hash("日本"), hash("x" * 100), hash("\xe9"))
print("".join(sorted("hello")), max("hello"), min("hello"), list("héy"), tuple("ab"), [*"xyz"], set("a"), dict(zip("ab", "cd")), list(enumerate("ab", 1)), list(reversed("abc")))
