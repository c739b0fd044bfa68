"""Just enough of Rust's grammar to find functions: text without comments and literals, and matching braces."""

import functools
import re
from collections.abc import Iterator

SKIPPED = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\bb?r(\#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\[^\n']+|\\'|[^\\'\n])'""",
    re.S,
)
FUNCTION = re.compile(r"\bfn\s+(\w+)")


@functools.lru_cache(maxsize=None)
def plain(text: str) -> str:
    """The text with comments and literals blanked. Lines and offsets stay."""
    return SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]) if "\n" in found[0] else " " * len(found[0]), text)


def functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and number of lines of every function with a body."""
    bare = plain(text)
    for found in FUNCTION.finditer(bare):
        if (begin := body(bare, found.end())) is None:
            continue
        first = bare.count("\n", 0, found.start()) + 1
        yield found[1], first, bare.count("\n", found.start(), closing(bare, begin)) + 1


def body(bare: str, at: int) -> int | None:
    """Where the body's brace stands, None for a declaration without a body."""
    depth = 0
    for offset in range(at, len(bare)):
        if bare[offset] in "([":
            depth += 1
        elif bare[offset] in ")]":
            depth -= 1
        elif depth == 0 and bare[offset] == "{":
            return offset
        elif depth == 0 and bare[offset] == ";":
            return None
    return None


def closing(bare: str, begin: int) -> int:
    """Where the brace that opens at `begin` closes, or the end of the text."""
    depth = 0
    for found in re.finditer(r"[{}]", bare[begin:]):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return begin + found.start()
    return len(bare)


def without_tests(text: str) -> str:
    """The plain text up to the first `#[cfg(test)]` module with a body."""
    bare = plain(text)
    found = re.search(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*\{", bare)
    return bare[: found.start()] if found else bare
