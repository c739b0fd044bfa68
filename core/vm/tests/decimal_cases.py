#!/usr/bin/env python3
"""Writes the operands of the General Decimal Arithmetic test cases as programs, with what CPython prints under the chain's context.

    decimal_cases.py FOLDER

The cases come with CPython (Lib/test/decimaltestdata); they are read there and never kept. Each file sets contexts of its own, and the
chain has one: 28 digits, half to even. So the operands are theirs, and the answer is that of CPython's `decimal` under this context.
"""
import contextlib
import io
import os
import pathlib
import sys

PROGRAM = '''from decimal import Decimal, DecimalException

OPERATIONS = {
    "abs": lambda a: abs(a), "add": lambda a, b: a + b, "and": lambda a, b: a.logical_and(b), "apply": lambda a: +a,
    "class": lambda a: a.number_class(), "compare": lambda a, b: a.compare(b), "comparesig": lambda a, b: a.compare_signal(b),
    "comparetotal": lambda a, b: a.compare_total(b), "comparetotmag": lambda a, b: a.compare_total_mag(b), "copy": lambda a: a.__copy__(),
    "copyabs": lambda a: a.copy_abs(), "copynegate": lambda a: a.copy_negate(), "copysign": lambda a, b: a.copy_sign(b),
    "divide": lambda a, b: a / b, "divideint": lambda a, b: a // b, "exp": lambda a: a.exp(), "fma": lambda a, b, c: a.fma(b, c),
    "invert": lambda a: a.logical_invert(), "ln": lambda a: a.ln(), "log10": lambda a: a.log10(), "logb": lambda a: a.logb(),
    "max": lambda a, b: a.max(b), "maxmag": lambda a, b: a.max_mag(b), "min": lambda a, b: a.min(b), "minmag": lambda a, b: a.min_mag(b),
    "minus": lambda a: -a, "multiply": lambda a, b: a * b, "nextminus": lambda a: a.next_minus(), "nextplus": lambda a: a.next_plus(),
    "nexttoward": lambda a, b: a.next_toward(b), "or": lambda a, b: a.logical_or(b), "plus": lambda a: +a, "power": lambda a, b: a**b,
    "quantize": lambda a, b: a.quantize(b), "reduce": lambda a: a.normalize(), "remainder": lambda a, b: a % b,
    "remaindernear": lambda a, b: a.remainder_near(b), "rotate": lambda a, b: a.rotate(b), "samequantum": lambda a, b: a.same_quantum(b),
    "scaleb": lambda a, b: a.scaleb(b), "shift": lambda a, b: a.shift(b), "squareroot": lambda a: a.sqrt(),
    "subtract": lambda a, b: a - b, "toeng": lambda a: a.to_eng_string(), "tointegral": lambda a: a.to_integral_value(),
    "tointegralx": lambda a: a.to_integral_exact(), "tosci": lambda a: str(a), "xor": lambda a, b: a.logical_xor(b),
}
for name, operation, *operands in CASES:
    try:
        answer = OPERATIONS[operation](*[Decimal(text) for text in operands])
    except (DecimalException, OverflowError) as error:
        answer = type(error).__name__
    except (TypeError, ValueError) as error:
        answer = repr(error)
    print(name, answer)
'''


def cases(path):
    """(name, operation, operands) of every case that has operands in text."""
    for line in path.read_text(encoding="utf-8").splitlines():
        line = line.split("--")[0].strip() if "'" not in line else line.strip()
        if "->" not in line or line.startswith("--"):
            continue
        words = [word[1:-1].replace("''", "'") if word[:1] in "'\"" and word[:1] == word[-1:] and len(word) > 1 else word for word in line.split("->")[0].split()]
        if len(words) > 2 and not any("#" in word or len(word) > 60 for word in words):
            yield words[0], words[1].lower(), *words[2:]


def expectation(text):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(text, "program", "exec"), {"__name__": "__main__"})
    return output.getvalue()


def main():
    import test

    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    source = pathlib.Path(list(test.__path__)[0]) / "decimaltestdata"
    known = {word for word in PROGRAM.split('"') if word.isidentifier()}
    seen = set()
    for path in sorted(source.glob("*.decTest")):
        rows = [row for row in cases(path) if row[1] in known and row[1:] not in seen]
        seen.update(row[1:] for row in rows)
        for part in range(0, len(rows), 500):
            listed = ",\n".join([repr(row) for row in rows[part : part + 500]])
            text = f"CASES = [\n{listed},\n]\n{PROGRAM}"
            (folder / f"{path.stem}-{part}.py").write_text(text)
            (folder / f"{path.stem}-{part}.out").write_text(expectation(text))


if __name__ == "__main__":
    main()
