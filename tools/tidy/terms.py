"""Avoided terms: words.toml lists them, as names in code and as phrases anywhere, each with what to write instead."""

import pathlib
import re
import tomllib
from collections.abc import Callable, Iterator

import citations
import rust
from tree import DATA, Tree, line_of

TABLE = tomllib.loads((pathlib.Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
# Declarations of types, functions, modules, constants and commands.
DECLARED = {
    ".rs": re.compile(r"\b(?:fn|struct|enum|trait|type|mod|const|static|union)\s+(?!mut\b|fn\b|unsafe\b)(\w+)"),
    ".py": re.compile(r"^[ \t]*(?:async[ ]+)?(?:def|class)\s+(\w+)", re.M),
    ".js": re.compile(r"\b(?:function\*?|class)\s+(\w+)"),
    ".mjs": re.compile(r"\b(?:function\*?|class)\s+(\w+)"),
}
QUOTES = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
PROSE = {
    ".rs": rust.SKIPPED,
    ".py": re.compile(r'"""(?:\\.|[^\\])*?"""|#[^\n]*|' + QUOTES, re.S),
    ".js": re.compile(r"//[^\n]*|/\*.*?\*/|`(?:\\.|[^`\\])*`|" + QUOTES, re.S),
}
PROSE[".mjs"] = PROSE[".js"]
LABEL = re.compile(r"""#\[(?:command|arg)\([^\]]*?\bname\s*=\s*"([^"]+)"|<(?:h[1-6]|th|button|label|legend)[^>]*>([^<]+)<""")
# A command is a variant of an enum that derives Subcommand.
COMMANDS = re.compile(r"#\[derive\([^)]*\bSubcommand\b[^)]*\)\](?:\s*#\[[^\n]*\])*\s*(?:pub(?:\([^)]*\))?\s+)?enum \w+ \{(.*?)\n\}", re.S)
VARIANT = re.compile(r"^    ([A-Z]\w*)", re.M)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# The specification's own words, and the list that names the terms.
QUOTED = re.compile(r"^docs/spec/(whitepaper/|first-whitepaper)|^tools/tidy/|(^|/)package-lock\.json$")


def measures(tree: Tree, measure: Callable) -> Iterator:
    """For each term and area, how often the term stands there."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for path, text in sorted(tree.texts.items()):
        if DATA.search(path) or QUOTED.search(path):
            continue
        for kind, term, offset in [*names(path, text), *phrases(prose(path, text))]:
            found.setdefault((kind, term, area(path)), []).append(f"{path}:{line_of(text, offset)}")
    for (kind, term, where), places in sorted(found.items()):
        instead = TABLE[f"{kind}s"][term]
        yield measure(kind, f"{where} {term}", len(places), places[0], f"{term!r} is an avoided term. Write: {instead}. All its places: {', '.join(places[:12])}")


def area(path: str) -> str:
    """Where a term is counted: a page of its own, else the first two folders."""
    folders = path.split("/")[:-1]
    return path if path.endswith(".md") and len(folders) < 2 else "/".join(folders[:2]) or path


def names(path: str, text: str) -> Iterator[tuple[str, str, int]]:
    """Avoided words in the names that a file of code declares, and in its commands and labels."""
    pattern = next((p for suffix, p in DECLARED.items() if path.endswith(suffix)), None)
    if not pattern:
        return
    commands = [(command[1], body.start(1) + command.start()) for body in COMMANDS.finditer(text) for command in VARIANT.finditer(body[1])]
    declared = [(next(group for group in found.groups() if group), found.start()) for found in [*pattern.finditer(text), *LABEL.finditer(text)]]
    for name, offset in [*declared, *commands]:
        for word in {word.lower() for word in WORD.findall(name)}:
            if word in TABLE["names"]:
                yield "name", word, offset


def prose(path: str, text: str) -> str:
    """Comments and literals of code, and the whole of other files. Offsets stay."""
    pattern = PROSE.get(path[path.rfind(".") :])
    if pattern is None:
        return text
    out, at = [], 0
    for found in pattern.finditer(text):
        out += [re.sub(r"[^\n]", " ", text[at : found.start()]), found[0]]
        at = found.end()
    return "".join(out)


def phrases(text: str) -> Iterator[tuple[str, str, int]]:
    """Avoided phrases, in either case; a line may break between their words."""
    for found in PHRASE.finditer(text.lower()):
        yield "phrase", " ".join(re.findall(r"[\w'-]+", found[0])), found.start()


PHRASE = re.compile(r"(?<![\w-])(?:" + "|".join(term.replace(" ", rf"{citations.BREAK}+") for term in TABLE["phrases"]) + r")(?![\w-])")
