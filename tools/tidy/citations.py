"""How code, tests and docs cite: `003 §6.4, §6.5`, `decision 171`, `decisions 4 to 6`, `A-12`, `A-120..A-125`."""

import dataclasses
import re
from collections.abc import Iterator

DOCUMENTS = ("000", "001", "002", "003", "004")

# Between two parts of a list, lines may break inside a comment.
BREAK = r"(?:\s|\n[ \t]*(?://[/!]?|#|\*|>)[ \t]*)"
SECTION_ID = r"\d+(?:\.\d+)*[a-z]?"
SECTION = re.compile(rf"§§?[ ]?({SECTION_ID})")
SOURCE = re.compile(r"(?<![\w.])(?:(00[0-4])(?!\w)|(?:RFC|CIP|EIP|SP|WP)[ -]?[\w-]*)(?:'s|’s)?")
# What may stand between the document's number and a section sign: sections before it, and separators.
LIST = re.compile(rf"(?:{BREAK}|[,;:/–(\[\]`\"]|and|to|or|r\d[.\d]*|\]\([^)]*\)|§§?[ ]?{SECTION_ID}|\.(?=\d))*")

# Not the end of an amount, as in 10,000 CBY.
WORD = r"(?!A-\d)[A-Z][\w-]*"
NAMED = re.compile(rf"(?<![\w,.])(00[0-4])(?:'s|’s)?(?:{BREAK}*§§?[ ]?{SECTION_ID},?)*{BREAK}+\(?({WORD}(?:{BREAK}+(?:{WORD}|and|vs\.))*)")
DECISION = re.compile(rf"\b[Dd]ecisions?{BREAK}+(\d{{1,4}}(?:(?:,{BREAK}+and|,|{BREAK}+and|{BREAK}+to|–){BREAK}*\d{{1,4}}\b(?![,.]\d))*)\b(?![,.]\d)")
ACCEPTANCE = re.compile(r"(?<![\w-])A-(\d{1,3})(?:\.\.=?A?-?(\d{1,3}))?(?![\w-])")


@dataclasses.dataclass(frozen=True)
class Citation:
    """One citation: what it names, and where it stands."""

    offset: int
    # A document's number for sections, None where the text names no document; "" for documents that are not kept here.
    document: str | None
    target: str


def sections(text: str) -> Iterator[Citation]:
    """Every section sign with a number, and the document that holds for it."""
    sources = [(m.start(), m.end(), m[1] or "") for m in SOURCE.finditer(text)]
    at = 0
    last = None
    for found in SECTION.finditer(text):
        while at < len(sources) and sources[at][1] <= found.start():
            last = sources[at]
            at += 1
        document = None
        if last and LIST.fullmatch(text, last[1], found.start()):
            document = last[2]
        yield Citation(found.start(), document, found[1])


def named(text: str) -> Iterator[Citation]:
    """Sections without a number, which are cited by their title: `003 State Rent`. The target is every word that may belong to it."""
    for found in NAMED.finditer(text):
        yield Citation(found.start(), found[1], " ".join(re.split(rf"{BREAK}+", found[2])))


def decisions(text: str) -> Iterator[Citation]:
    """Every number of a decision. A range counts with all its members."""
    for found in DECISION.finditer(text):
        numbers = [int(n) for n in re.findall(r"\d+", found[1])]
        if re.search(r"\bto\b|–", found[1]) and len(numbers) == 2:
            numbers = list(range(numbers[0], numbers[1] + 1))
        for number in numbers:
            yield Citation(found.start(), None, str(number))


def acceptance(text: str) -> Iterator[Citation]:
    """Every number of an acceptance item. A range counts with all its members."""
    for found in ACCEPTANCE.finditer(text):
        for number in range(int(found[1]), int(found[2] or found[1]) + 1):
            yield Citation(found.start(), None, str(number))
