"""String and bytes literals: escapes, prefixes, concatenation, and how repr writes them back."""

literals = ["\\ \' \" \a \b \f \n \r \t \v \0 \1 \12 \123 \x41 \xff", "\u00e9 \u4e2d \U0001F600 \N{BULLET} \N{LATIN SMALL LETTER E WITH ACUTE}", r"raw \n \x41 \\", "line \
continued", 'single "double" inside', "double 'single' inside", 'both \' and "', """triple
line "with" quotes""", '''other ' triple''', "tab	inside", "a" "b" 'c', "", "\377", "\378"]
for literal in literals:
    print(repr(literal), ascii(literal), len(literal), [ord(character) for character in literal[:8]])
    print(literal)

blobs = [b"\x00\x01\xff", b"abc\n\t\r", b"\\ \' \"", rb"raw \x41", Rb"\n", bR"\t", b"it's", b'say "hi"', b"both ' and \"", b"\101\x42", b"a" b"b", b""]
for blob in blobs:
    print(blob, len(blob), list(blob)[:8])

print(repr("\x7f\x80\xa0\xad\u0378\u200b\u2028\ue000\ufeff\ud7ff\U000e0001\U0001F600é"), ascii("é日🎉\x7f"))
print(u"unicode prefix", R"\d", f"{1}" "plain" f"{2}", F"{'nested'}", fr"\n{3}", rf"{4}\t")
print("a\
b", 'x' 'y'
      'z', ("joined "
            "over "
            "lines"))
print(repr("'"), repr('"'), repr("'\""), repr("\\"), repr("\n"), str("\n") == "\n", repr(repr("'")), [["'", '"']], {"k'": "v\""})
print("\N{GREEK SMALL LETTER ALPHA}\N{DIGIT ONE}", "\u0041\u0301", len("\u0041\u0301"), "\U00010000" > "\uffff", len("🎉"), "🎉"[0])
print("%s" % "\x41", "{}".format("\t|"), f"{chr(10)!r}", "\\n", r"\\n", "\\\\")
print("no newline", end="")
print("", "sep", "arated", sep="\n", end="!\n")
print(1, 2, 3, sep="", end="\n\n")
print()
print("a", None, 1.5, [], sep=" | ")
print(*"abc", sep="-")
print("é", "日本", "🎉", "\x00".encode(), end=" end\n", flush=True)
for arguments in [{"sep": 1}, {"end": 2}, {"nothing": 1}]:
    try:
        print("x", **arguments)
    except Exception as error:
        print(type(error).__name__, error)
