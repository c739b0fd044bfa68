#!/usr/bin/env python3
"""Writes the constants and tables of src/math: constants.rs and wide_tables.rs.

usage: python3 tools/math_tables.py src/math     (needs mpmath)
"""
import pathlib
import sys

import mpmath

mpmath.mp.prec = 4000
folder = pathlib.Path(sys.argv[1])


def grouped(value, digits):
    text = f"{value:0{digits}x}"
    return "0x" + "_".join(text[i : i + 4] for i in range(0, digits, 4))


def array(doc, name, kind, values, digits, per_line):
    """A Rust constant; a negative entry is written as one."""
    shown = [("-" if value < 0 else "") + grouped(abs(value), digits) for value in values]
    lines = [", ".join(shown[i : i + per_line]) + "," for i in range(0, len(shown), per_line)]
    body = "\n".join("    " + line for line in lines)
    return f"/// {doc}\npub(super) const {name}: [{kind}; {len(values)}] = [\n{body}\n];\n"


def words(doc, name, value, places):
    """A number below 4 cut off after a number of binary places, as 64-bit words, the least first."""
    whole, out = int(mpmath.floor(value * mpmath.mpf(2) ** places)), []
    while whole:
        out.append(whole & (2**64 - 1))
        whole >>= 64
    return array(doc, name, "u64", out, 16, 4)


def fixed(value, places):
    return int(mpmath.nint(value * mpmath.mpf(2) ** places))


PLACES = 64 * 40 - 2
parts = [
    "//! Constants to 2,558 binary places, cut off, and a few to 62 that only start an iteration.\n"
    "//! Made by tools/math_tables.py: do not edit.\n",
    "/// 64-bit words in a constant.\npub(super) const WORDS: usize = 40;\n",
    "/// Binary places in a constant: it is its words, the least first, times two to minus this.\n"
    "pub(super) const PLACES: i64 = 64 * 40 - 2;\n",
    words("Pi, the ratio of a circumference to its diameter.", "PI", mpmath.pi, PLACES).replace("u64; 40", "u64; WORDS"),
    words("The natural logarithm of two.", "LN_2", mpmath.log(2), PLACES).replace("u64; 40", "u64; WORDS"),
    words("The natural logarithm of ten.", "LN_10", mpmath.log(10), PLACES).replace("u64; 40", "u64; WORDS"),
    array(
        "`atan(i / 8)` to 62 binary places, for `i` from 0 to 8.", "ATAN_EIGHTHS", "i128",
        [fixed(mpmath.atan(mpmath.mpf(i) / 8), 62) for i in range(9)], 16, 1,
    ),
]
(folder / "constants.rs").write_text("\n".join(parts))

# The reciprocals that bring a mantissa near one: of 128 steps in 9 bits, then of 2^-13 in 16.
first = [512] + [round(512 / (1 + (i + 0.5) / 128)) for i in range(1, 127)] + [256]
second = [round(65536 / (1 + j / 8192)) for j in range(-72, 73)]
two_over_pi = int(mpmath.floor(2 / mpmath.pi * mpmath.mpf(2) ** (64 * 20)))
parts = [
    "//! Tables of the 128-bit functions. Made by tools/math_tables.py: do not edit.\n",
    array("`e^(i / 64)` to 127 binary places.", "EXP_64THS", "u128", [fixed(mpmath.exp(mpmath.mpf(i) / 64), 127) for i in range(46)], 32, 2),
    array("`e^(i / 4096)` to 127 binary places.", "EXP_4096THS", "u128", [fixed(mpmath.exp(mpmath.mpf(i) / 4096), 127) for i in range(64)], 32, 2),
    array("`1 / i!` to 128 binary places, from `i` = 2 on.", "INVERSE_FACTORIALS", "u128", [fixed(1 / mpmath.factorial(i), 128) for i in range(2, 18)], 32, 2),
    array("`1 / i` to 128 binary places, from `i` = 2 on.", "INVERSES", "u128", [fixed(mpmath.mpf(1) / i, 128) for i in range(2, 10)], 32, 2),
    array("512 times a reciprocal of `1 + i / 128` and a bit more.", "RECIPROCALS", "u64", first, 4, 12),
    array("Minus the logarithms of those reciprocals, to 127 binary places.", "LOGARITHMS", "i128", [fixed(-mpmath.log(mpmath.mpf(c) / 512), 127) for c in first], 32, 2),
    array("65,536 times a reciprocal of `1 + j / 8192`, from `j` = -72 on.", "FINE_RECIPROCALS", "u64", second, 8, 8),
    array("Minus the logarithms of those reciprocals, to 127 binary places.", "FINE_LOGARITHMS", "i128", [fixed(-mpmath.log(mpmath.mpf(c) / 65536), 127) for c in second], 32, 2),
    array("`sin(i / 64)` to 127 binary places.", "SINES", "u128", [fixed(mpmath.sin(mpmath.mpf(i) / 64), 127) for i in range(52)], 32, 2),
    array("`cos(i / 64)` to 127 binary places.", "COSINES", "u128", [fixed(mpmath.cos(mpmath.mpf(i) / 64), 127) for i in range(52)], 32, 2),
    array("The binary places of `2 / pi`, 64 a word, the first word first.", "TWO_OVER_PI", "u64", [(two_over_pi >> (64 * (19 - i))) & (2**64 - 1) for i in range(20)], 16, 4),
]
(folder / "wide_tables.rs").write_text("\n".join(parts))
