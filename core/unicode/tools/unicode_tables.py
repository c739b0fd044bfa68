#!/usr/bin/env python3
"""Writes src/tables.rs from CPython 3.11's own character database (Unicode 14.0.0).

usage: python3.11 tools/unicode_tables.py > src/tables.rs
Everything is asked of `str` itself, so that the tables say what CPython's string methods do.
"""
import sys
import unicodedata

assert sys.version_info[:2] == (3, 11) and unicodedata.unidata_version == "14.0.0"
CHARACTERS = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def final(before):
    """Whether a capital sigma after this text lowers to the final form: how casing sees the text."""
    return (before + "\u03a3").lower().endswith("\u03c2")


# In the order of the bits.
PROPERTIES = [
    ("ALPHA", "`str.isalpha`", str.isalpha),
    ("DECIMAL", "`str.isdecimal`", str.isdecimal),
    ("DIGIT", "`str.isdigit`", str.isdigit),
    ("NUMERIC", "`str.isnumeric`", str.isnumeric),
    ("SPACE", "`str.isspace`", str.isspace),
    ("PRINTABLE", "`str.isprintable`", str.isprintable),
    ("LOWER", "`str.islower`", str.islower),
    ("UPPER", "`str.isupper`", str.isupper),
    ("TITLE", "A title-case letter: neither upper nor lower", lambda c: unicodedata.category(c) == "Lt"),
    ("CASE_IGNORABLE", "Casing looks past it for a word's end", lambda c: final("a" + c) and not final("1" + c)),
    ("START", "An identifier may start with it", str.isidentifier),
    ("CONTINUE", "An identifier may continue with it", lambda c: ("a" + c).isidentifier()),
]

out = ["//! Character tables of Unicode 14.0.0 as CPython 3.11 has them. Made by tools/unicode_tables.py: do not edit.", ""]
for bit, (name, text, _) in enumerate(PROPERTIES):
    out += [f"/// {text}.", f"pub(super) const {name}: u16 = 1 << {bit};"]


def rows(values, per_line):
    return ["    " + " ".join(f"{value}," for value in values[i : i + per_line]) for i in range(0, len(values), per_line)]


def properties(c):
    return sum(1 << bit for bit, (_, _, has) in enumerate(PROPERTIES) if has(c))


classes, runs, last = [], [], None
for c in CHARACTERS:
    flags = properties(c)
    if flags not in classes:
        classes.append(flags)
    if flags != last:
        runs.append((ord(c), classes.index(flags)))
        last = flags
assert len(classes) < 256
out += ["", "/// The properties that characters have together.", f"pub(super) const CLASSES: [u16; {len(classes)}] = ["]
out += rows([f"{flags:#x}" for flags in classes], 12) + ["];"]
out += ["", "/// Where a class of characters starts: the code point times 256 plus its place in `CLASSES`."]
out += [f"pub(super) const RUNS: [u32; {len(runs)}] = ["] + rows([f"{start * 256 + index:#x}" for start, index in runs], 10) + ["];"]

zeros = [c for c in CHARACTERS if c.isdecimal() and unicodedata.decimal(c) == 0]
for zero in zeros:
    assert all(unicodedata.decimal(chr(ord(zero) + i)) == i for i in range(10))
assert 10 * len(zeros) == sum(c.isdecimal() for c in CHARACTERS)
out += ["", "/// The zeros of the decimal digits, each followed by its nine."]
out += [f"pub(super) const ZEROS: [u32; {len(zeros)}] = ["] + rows([f"{ord(c):#x}" for c in zeros], 12) + ["];"]


def mapping(name, text, method):
    """Runs of characters whose images lie at one distance, and the images that are not one other character."""
    ranges, special = [], []
    for c in CHARACTERS:
        image = method(c)
        if image == c:
            continue
        if len(image) != 1:
            special.append((ord(c), image))
            continue
        code, delta = ord(c), ord(image) - ord(c)
        if ranges:
            first, end, step, before = ranges[-1]
            gap = code - end
            if before == delta and gap in (1, 2) and (step == gap or first == end):
                ranges[-1] = (first, code, gap, delta)
                continue
        ranges.append((code, code, 1, delta))
    out.extend(["", f"/// {text}: first and last code point, step, distance of the image."])
    out.append(f"pub(super) const {name}: [(u32, u32, u32, i32); {len(ranges)}] = [")
    out.extend(rows([f"({a:#x}, {b:#x}, {s}, {d})" for a, b, s, d in ranges], 5))
    out.extend(["];", "", f"/// {text}, where the image is several characters."])
    out.append(f"pub(super) const {name}_SPECIAL: [(u32, &str); {len(special)}] = [")
    escaped = lambda image: "".join(f"\\u{{{ord(c):x}}}" for c in image)
    out.extend(rows([f'({code:#x}, "{escaped(image)}")' for code, image in special], 4))
    out.append("];")


mapping("LOWER_CASE", "Lower case", str.lower)
mapping("UPPER_CASE", "Upper case", str.upper)
mapping("TITLE_CASE", "Title case", str.title)
mapping("FOLDED_CASE", "Folded case", str.casefold)
print("\n".join(out))
