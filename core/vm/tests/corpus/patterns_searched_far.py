# Searches through long texts in which most places begin no match.
import re

DASHES = "-" * 300
TEXTS = [DASHES, DASHES + "Perl" + DASHES, DASHES + "Python" + "-" * 9, "é" * 150 + "Perl" + "é" * 150, DASHES + "\n" + DASHES + "Perlé"]
PATTERNS = [
    "Perl|Python", "(P)erl|(P)ython", "(?:P|p)erl", "(?i:perl)|x", "[a-z]+|Q", "x*Perl", "x*?P", "(?:xy)*Perl|z", "(?:xy)*?e", "|never",
    "(?=P)P|y", "^-|Perl", "Perl$|P(?=y)", r"\bP|\Bq", "(?:[A-Z]|[a-z])[a-z]+", "a|b|c|d|e", "é|P", "[éP]|z", r"\d+|\w\w", "(x)?(?(1)y|P)", "[^-]|$", ".P|q",
    "(?:a{0}P|b)", "(?:|b)P", "Q|",
]
for pattern in PATTERNS:
    compiled = re.compile(pattern)
    row = []
    for text in TEXTS:
        found = compiled.search(text)
        row.append(found and (found.span(), found.groups()))
        row.append(len(compiled.findall(text)))
    print(pattern, row, len(compiled.sub("", TEXTS[1])), compiled.search(TEXTS[1], 304), [found.start() for found in compiled.finditer(TEXTS[2], 295)])
for pattern in (b"Perl|Python", rb"[\x80-\xff]|z", b"(?i)perl|y"):
    compiled = re.compile(pattern)
    print(pattern, [found and found.span() for found in map(compiled.search, (DASHES.encode() + b"\xe9Perl", b"\xff" * 500 + b"perl", b"-" * 400))])
# A run before one character gives back, or takes, until that character is there.
for pattern in (".*P", ".*?P", ".*n.*P", "[^q]*l", "(.*)e(.*)", "-*?Py", "-{3,9}P", "-{3,9}?P", "(?s).*-P", r"\w*y", r"\W*?e", ".*é", ".*?é", "(?:-*P)+y", "x*y", "é*P", "é*?P", ".{2}P"):
    compiled = re.compile(pattern)
    print(pattern, [(found.span(), found.groups()) if found else None for found in map(compiled.search, TEXTS)], [compiled.fullmatch("-" * 5 + end) is not None for end in ("P", "Py", "")])
