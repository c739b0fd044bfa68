"""Strings: appending in a loop, joining, formatting, replacing, slicing."""


def escape(text):
    out = ""
    for character in text:
        if character == "<":
            out += "&lt;"
        elif character == "&":
            out += "&amp;"
        else:
            out += character
    return out


def number_words(count):
    parts = []
    for number in range(count):
        parts.append(f"{number:05d}:{number * 7 % 13:x};")
        parts.append("%s-%d" % ("even" if number % 2 == 0 else "odd", number))
        parts.append("{:>6}|".format(number * 3))
    return "".join(parts)


total = 0
for turn in range(5):
    text = number_words(6000)
    escaped = escape("<p>a & b</p>" * 2500)
    replaced = escaped.replace("amp", "AND").upper()
    total += len(text) + len(escaped) + len(replaced) + replaced.count("AND") + text.count("odd")
    reversed_text = text[::-1]
    total += reversed_text.find("0000") + sum(1 for part in text.split(";") if part.startswith("even"))
    line = ""
    for number in range(30000):
        line += str(number % 10)
    total += len(line)
print(total)
