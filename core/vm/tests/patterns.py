#!/usr/bin/env python3
"""Writes a program that matches random patterns against random texts and prints everything that comes of it.

    patterns.py SEED COUNT > program.py
"""
import random
import sys

TEXT = "aabbccA1 éßÉ_\n"
SETS = ["a", "b-d", "A-C", "1", "é", "\\d", "\\w", " ", "à-ÿ"]
CLASSES = [r"\d", r"\w", r"\s", r"\W", r"\D", r"\b", r"\B", "^", "$", r"\A", r"\Z"]
REPEATS = ["*", "+", "?", "*?", "+?", "??", "{1,2}", "{2}", "{0,2}?", "*+", "++", "?+", "{1,3}+"]
FLAGS = [0, 0, 2, 8, 16, 10, 256, 258]
PROGRAM = '''
for pattern, text, flags in ROWS:
    try:
        compiled = re.compile(pattern, flags)
    except Exception as error:
        print(repr(pattern), type(error).__name__, error)
        continue
    found = [(match.span(), match.groups(), match.lastindex) for match in compiled.finditer(text)]
    print(repr(pattern), repr(text), flags, found, compiled.split(text), compiled.subn("<\\\\g<0>>", text), compiled.fullmatch(text))
    print(compiled.match(text, 1), compiled.search(text, 1, 6), compiled.findall(text))
'''


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def atom(self, depth):
        choose = self.random.choice
        kind = self.random.random()
        if kind < 0.35 or depth <= 0 and kind >= 0.68:
            return choose("abcA1 éß_\n")
        if kind < 0.45:
            return "."
        if kind < 0.55:
            return choose(CLASSES)
        if kind < 0.68:
            return "[" + choose(["", "^"]) + "".join([choose(SETS) for _ in range(self.random.randint(1, 3))]) + "]"
        if kind < 0.80:
            return "(" + self.alternatives(depth - 1) + ")"
        if kind < 0.89:
            return choose(["(?:", "(?=", "(?!"]) + self.alternatives(depth - 1) + ")"
        if kind < 0.91:
            return choose(["(?<=", "(?<!"]) + "".join([choose("abcé") for _ in range(self.random.randint(1, 2))]) + ")"
        if kind < 0.93:
            return "(?>" + self.alternatives(depth - 1) + ")"
        if kind < 0.96:
            return choose([r"\1", r"\2"])
        if kind < 0.98:
            return "(?(1)" + self.sequence(depth - 1) + "|" + self.sequence(depth - 1) + ")"
        return choose(["(?i:", "(?s:", "(?-i:", "(?m:", "(?a:"]) + self.alternatives(depth - 1) + ")"

    def sequence(self, depth):
        parts = []
        for _ in range(self.random.randint(1, 3)):
            parts.append(self.atom(depth))
            if self.random.random() < 0.4:
                parts.append(self.random.choice(REPEATS))
        return "".join(parts)

    def alternatives(self, depth):
        return "|".join([self.sequence(depth) for _ in range(self.random.choice([1, 1, 1, 2, 3]))])

    def row(self):
        text = "".join([self.random.choice(TEXT) for _ in range(self.random.randint(0, 14))])
        return (self.alternatives(3), text, self.random.choice(FLAGS))


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    maker = Maker(seed)
    print("import re\n\nROWS =", repr([maker.row() for _ in range(count)]))
    print(PROGRAM)


if __name__ == "__main__":
    main()
