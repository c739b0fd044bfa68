"""What can be cited: sections, decisions, acceptance items, anchors of pages."""

import dataclasses
import re

from tree import Tree

PAGES = {
    "000": "docs/spec/entitlements.md",
    "001": "docs/spec/first-whitepaper.md",
    "002": "docs/spec/off-chain-compute.md",
    "003": "docs/spec/whitepaper/",
    "004": "docs/spec/gateways.md",
}
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
HEADING = re.compile(r"^(#{1,6}) (.+?)\s*$")
ENTRY = re.compile(r'<a id="decision-(\d+)"></a>\n## \d+\. (.+)')
FILE = re.compile(r"^docs/decisions/(\d{4})-[\w-]+\.md$")
ITEM = re.compile(r'^\| <a id="A-(\d+)"></a>A-\d+ \| ([^|]*?) \| (.*) \| ([^|]*?) \| ([^|]*?) \|$')


@dataclasses.dataclass(frozen=True)
class Section:
    """A section of a document: the page and anchor where it stands, and its title ("" where it has none of its own)."""

    document: str
    number: str
    page: str
    title: str


@dataclasses.dataclass(frozen=True)
class Decision:
    """A decision: where it stands, its title, and its text."""

    number: int
    page: str
    anchor: str
    title: str
    text: str


def prose(text: str) -> str:
    """The text without fenced code; lines keep their numbers."""
    lines, fenced = [], False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            lines.append("")
        else:
            lines.append("" if fenced else line)
    return "\n".join(lines)


def sections(tree: Tree) -> dict[tuple[str, str], Section]:
    """Every section by document and number, in the order of the pages."""
    found = {}
    for document, place in PAGES.items():
        for path in sorted(tree.texts):
            if path == place or (place.endswith("/") and path.startswith(place)):
                lines = tree.texts[path].split("\n")
                for at, line in enumerate(lines):
                    for anchor in ANCHOR.findall(line):
                        if not re.fullmatch(r"s\d[\d.]*[a-z]?", anchor):
                            continue
                        heading = next((m[2] for l in lines[at + 1 : at + 3] if (m := HEADING.match(l))), "")
                        title = re.sub(r"^[\d.]+[ab]?\s+", "", heading)
                        found[document, anchor[1:]] = Section(document, anchor[1:], path, title)
    return found


def titles(tree: Tree) -> dict[str, list[Section]]:
    """For each document the sections that have a title and no number, and the bold words that open a paragraph. The number is the anchor."""
    found: dict[str, list[Section]] = {}
    for document, place in PAGES.items():
        for path in sorted(tree.texts):
            if path == place or (place.endswith("/") and path.startswith(place)):
                for line in prose(tree.texts[path]).split("\n"):
                    if heading := HEADING.match(line):
                        if not re.match(r"\d", heading[2]):
                            found.setdefault(document, []).append(Section(document, slug(heading[2]), path, heading[2]))
                    elif label := re.match(r"(?:\d\. )?\*\*(.+?)[.:]?\*\*", line):
                        found.setdefault(document, []).append(Section(document, "", path, label[1]))
    return found


ALIASES = {"STF": "State Transition Function", "GBA": "Scheduler", "DoS": "DoS Prevention", "Rent": "State Rent"}


def by_title(sections: list[Section], words: str) -> Section | None:
    """The section whose title contains the longest beginning of the words."""
    parts = words.split(" ")
    for length in range(len(parts), 0, -1):
        wanted = " ".join(parts[:length])
        wanted = ALIASES.get(wanted, wanted).lower()
        for fits in (lambda title: title == wanted, lambda title: wanted in title):
            if section := next((s for s in sections if fits(s.title.lower())), None):
                return section
    return None


def decisions(tree: Tree) -> dict[int, list[Decision]]:
    """Every decision by number: one each, if the series is sound."""
    found: dict[int, list[Decision]] = {}
    for path, text in sorted(tree.texts.items()):
        if not path.startswith("docs/decisions/") or path.endswith("README.md"):
            continue
        if named := FILE.match(path):
            number = int(named[1])
            heading = re.match(r"# (?:\d+\. )?(.+)", text)
            found.setdefault(number, []).append(Decision(number, path, "", heading[1] if heading else "", text))
            continue
        for at, part in enumerate(parts := re.split(r'(?=<a id="decision-)', text)):
            if entry := ENTRY.match(part):
                number = int(entry[1])
                found.setdefault(number, []).append(Decision(number, path, f"decision-{number}", entry[2], parts[at]))
    return found


def items(tree: Tree) -> dict[int, re.Match]:
    """Every acceptance item: the match of its row."""
    return {int(m[1]): m for line in tree.texts.get("docs/acceptance.md", "").split("\n") if (m := ITEM.match(line))}


def anchors(text: str) -> set[str]:
    """Anchors of a page: explicit ones, and those that GitHub makes of headings."""
    found = set(ANCHOR.findall(text))
    seen: dict[str, int] = {}
    for line in prose(text).split("\n"):
        if heading := HEADING.match(line):
            name = slug(heading[2])
            count = seen.get(name, 0)
            seen[name] = count + 1
            found.add(f"{name}-{count}" if count else name)
    return found


def slug(heading: str) -> str:
    """The anchor that GitHub makes of a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
