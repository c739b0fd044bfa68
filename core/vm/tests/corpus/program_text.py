"""A program: words counted, text wrapped, a table laid out, Huffman codes, ciphers, run lengths, a template."""

TEXT = """It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness, it was the epoch of belief, it was the epoch of incredulity,
it was the season of Light, it was the season of Darkness."""


def words(text):
    return ["".join(c for c in word if c.isalpha()).lower() for word in text.split()]


def wrap(text, width):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return lines + [line]


def justify(line, width):
    gaps = line.count(" ")
    if not gaps:
        return line
    extra, parts = width - len(line), line.split(" ")
    return "".join(part + " " * (1 + extra // gaps + (index < extra % gaps)) for index, part in enumerate(parts[:-1])) + parts[-1]


def table(rows):
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(rows[0]))]
    for index, row in enumerate(rows):
        yield " | ".join(str(cell).rjust(width) if isinstance(cell, (int, float)) else str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip()
        if index == 0:
            yield "-+-".join("-" * width for width in widths)


def huffman(text):
    counts = {}
    for character in text:
        counts[character] = counts.get(character, 0) + 1
    forest = sorted((count, character, character) for character, count in counts.items())
    while len(forest) > 1:
        (n1, k1, t1), (n2, k2, t2), *rest = forest
        forest = sorted(rest + [(n1 + n2, min(k1, k2), (t1, t2))], key=lambda item: item[:2])
    codes = {}

    def assign(tree, prefix):
        if isinstance(tree, str):
            codes[tree] = prefix or "0"
        else:
            assign(tree[0], prefix + "0")
            assign(tree[1], prefix + "1")

    assign(forest[0][2], "")
    return codes


def caesar(text, shift):
    return "".join(chr((ord(c) - ord(base) + shift) % 26 + ord(base)) if c.isalpha() and c.isascii() and (base := "a" if c.islower() else "A") else c for c in text)


def runs(text):
    result, index = [], 0
    while index < len(text):
        end = index
        while end < len(text) and text[end] == text[index]:
            end += 1
        result.append(f"{end - index}{text[index]}" if end - index > 1 else text[index])
        index = end
    return "".join(result)


def roman(number):
    result = ""
    for value, letters in ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        while number >= value:
            result += letters
            number -= value
    return result


def fill(template, **values):
    result, rest = "", template
    while "${" in rest:
        before, _, rest = rest.partition("${")
        name, closed, rest = rest.partition("}")
        if not closed:
            raise ValueError("unclosed field")
        name, _, default = name.partition("|")
        result += before + str(values.get(name, default or f"<{name}?>"))
    return result + rest


counts = {}
for word in words(TEXT):
    counts[word] = counts.get(word, 0) + 1
top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
print(top[:6], len(counts), sum(counts.values()), max(counts, key=len))
for line in wrap(TEXT, 40):
    print(f"|{justify(line, 40)}|")
print(*table([("word", "count", "share")] + [(word, count, round(count / len(words(TEXT)), 3)) for word, count in top[:4]]), sep="\n")
codes = huffman(TEXT)
encoded = "".join(codes[c] for c in TEXT)
print(len(encoded), len(TEXT) * 8, sorted(codes.items(), key=lambda item: (len(item[1]), item[1]))[:6])
decode, current, decoded = {code: c for c, code in codes.items()}, "", []
for bit in encoded:
    current += bit
    if current in decode:
        decoded.append(decode[current])
        current = ""
print("".join(decoded) == TEXT, caesar("Hello, World!", 3), caesar(caesar("Round trip", 13), 13), runs("aaabccdddd"), [roman(n) for n in (1, 4, 9, 14, 40, 90, 400, 1994, 2024)])
print(fill("Dear ${name}, you owe ${amount|nothing} to ${who}.", name="Ann"), [w for w in ("level", "noon", "word") if w == w[::-1]], " ".join(w[::-1] for w in "never odd or even".split()), "".join(sorted(set("the quick brown fox jumps over a lazy dog") - {" "})) == "abcdefghijklmnopqrstuvwxyz")
vigenere = "".join(chr((ord(c) + ord(k) - 2 * 65) % 26 + 65) for c, k in zip("ATTACKATDAWN", "LEMONLEMONLE"))
print(vigenere, bytes(b ^ k for b, k in zip(b"secret", b"key" * 2)).hex(), [f"{n:>4}" for n in (1, 22, 333)], "\n".join("*" * n for n in (1, 3, 2)))
