"""The checks. Each yields one line for a problem: `path:line: what, and what to do`."""

import posixpath
import re
from collections.abc import Iterator

import architecture
import citations
import named_tests
import prices
import programs
import protocol
import ratchet
import targets
from pages import generated
from tree import Tree, line_of

LINK = re.compile(r"(?<!\\)\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")


def problems(tree: Tree) -> list[str]:
    """Everything that is wrong, by file."""
    checks = (section_citations, title_citations, decision_citations, acceptance_citations, labels, riddles, series, links, architecture.problems, programs.problems, named_tests.problems, prices.problems, protocol.problems, ratchet.growth, current)
    return [problem for check in checks for problem in check(tree)]


def section_citations(tree: Tree) -> Iterator[str]:
    """Sections resolve to an anchor of their document."""
    known = targets.sections(tree)
    for path, text in tree.sources().items():
        own = own_documents(path, text)
        for cited in citations.sections(text):
            if cited.document == "":
                continue
            documents = [cited.document] if cited.document else own(cited.offset)
            where = f"{path}:{line_of(text, cited.offset)}"
            if not documents:
                yield f"{where}: §{cited.target} names no document. Write `003 §{cited.target}`, or the document that you mean."
            elif not any((document, number) in known for document in documents for number in (cited.target, cited.target.rstrip("abcdefgh"))):
                yield f"{where}: {' or '.join(documents)} §{cited.target} does not exist. docs/spec/README.md lists the sections."


def title_citations(tree: Tree) -> Iterator[str]:
    """Sections that are cited by title resolve to a heading, or to bold words that open a paragraph."""
    known = targets.titles(tree)
    for path, text in tree.sources().items():
        for cited in citations.named(text):
            if not targets.by_title(known.get(cited.document, []), cited.target):
                yield f"{path}:{line_of(text, cited.offset)}: {cited.document} has no section {cited.target!r}."


def own_documents(path: str, text: str):
    """Which documents a section sign without a number means: inside docs/spec its own, inside a decision those that the entry names."""
    for document, place in targets.PAGES.items():
        if path == place or (place.endswith("/") and path.startswith(place)):
            return lambda _: [document]
    if path.startswith("docs/decisions/"):
        def named(offset: int) -> list[str]:
            begin = max(text.rfind("\n# ", 0, offset), text.rfind("\n## ", 0, offset), 0)
            end = text.find("\n## ", offset)
            return sorted(set(re.findall(r"\b00[0-4]\b", text[begin : end if end >= 0 else None])))
        return named
    return lambda _: []


def decision_citations(tree: Tree) -> Iterator[str]:
    """Decisions resolve to an entry."""
    known = targets.decisions(tree)
    for path, text in tree.sources().items():
        for cited in citations.decisions(text):
            if int(cited.target) not in known:
                yield f"{path}:{line_of(text, cited.offset)}: decision {cited.target} does not exist. docs/decisions/README.md lists them."


def acceptance_citations(tree: Tree) -> Iterator[str]:
    """Acceptance items resolve to a row."""
    known = targets.items(tree)
    for path, text in tree.sources().items():
        for cited in citations.acceptance(text):
            if int(cited.target) not in known:
                yield f"{path}:{line_of(text, cited.offset)}: A-{cited.target} does not exist. docs/acceptance.md lists the items."


# At the head of a comment, in brackets at the end of a title, or before a decision or an item; not the groups G1 and G2.
LABEL = re.compile(r"^\s*(?://[/!]?|#) (?:A-\d+, )*(?!G[12]\b)[A-Z]\d{1,2}(?:, (?:[A-Z]\d{1,2}|A-\d+|[Dd]ecision \d+))*(?: \([^)]*\))?:|[(,] ?(?!F64|F32)[B-F]\d{1,2}(?:; decision \d+)?\)", re.M)


def labels(tree: Tree) -> Iterator[str]:
    """No comment or title begins or ends with the label of a list that is not kept here, such as B7."""
    for path, text in tree.sources().items():
        if path.endswith((".rs", ".py", ".md")) and not path.startswith("docs/spec/"):
            for found in LABEL.finditer(text):
                yield f"{path}:{line_of(text, found.end())}: {found[0].strip()!r} is a label that readers cannot look up. Say what is meant."


RIDDLE = re.compile(r"^\s*//[/!] (?:Who|Whose|Which|Which one|Why|When|Where|What|How|How many|How much|How long|In short|In words|Its most|It in a line)\.?$", re.M)


def riddles(tree: Tree) -> Iterator[str]:
    """No doc comment is a single question word."""
    for path, text in tree.sources().items():
        if path.endswith(".rs"):
            for found in RIDDLE.finditer(text):
                yield f"{path}:{line_of(text, found.end())}: {found[0].strip()!r} says nothing. Say what the item is, with its unit."


def series(tree: Tree) -> Iterator[str]:
    """One decision for each number, with question, decision and reason; a file's heading carries its number."""
    for number, entries in sorted(targets.decisions(tree).items()):
        if len(entries) > 1:
            yield f"{entries[1].page}:1: decision {number} stands in {entries[0].page} too. Take the next free number."
        for entry in entries:
            if not entry.anchor and not entry.text.startswith(f"# {number}. "):
                yield f"{entry.page}:1: the heading does not begin with `# {number}. `."
            for part in (r"\*\*Question\.\*\*", r"\*\*Decision\.\*\*", r"\*\*(Reason|Why)\.\*\*"):
                if not re.search(part, entry.text):
                    yield f"{entry.page}:1: decision {number} has no paragraph {part.replace(chr(92), '')}."


def links(tree: Tree) -> Iterator[str]:
    """Links of Markdown pages lead to files, folders and anchors of this repository; others are not followed."""
    folders = {parent for path in tree.paths for parent in parents(path)}
    known: dict[str, set[str]] = {}
    for path, text in tree.texts.items():
        if not path.endswith(".md"):
            continue
        plain = re.sub(r"`[^`\n]*`", lambda m: " " * len(m[0]), targets.prose(text))
        for link in LINK.finditer(plain):
            target = link[1]
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            file, _, anchor = target.partition("#")
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
            where = f"{path}:{line_of(plain, link.start())}"
            if place not in tree.paths and place not in folders:
                yield f"{where}: {target} leads to no file."
            elif anchor and place.endswith(".md"):
                if anchor not in known.setdefault(place, targets.anchors(tree.texts[place])):
                    yield f"{where}: {place} has no anchor #{anchor}."


def parents(path: str) -> Iterator[str]:
    """The folders that hold a path, the root as `.`."""
    while path:
        path = posixpath.dirname(path)
        yield path or "."


def current(tree: Tree) -> Iterator[str]:
    """Generated pages are what the generator writes."""
    for path, text in generated(tree).items():
        if tree.texts.get(path) != text:
            yield f"{path}:1: not current. Run `python3 tools/tidy --write`."
