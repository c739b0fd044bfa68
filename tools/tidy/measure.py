"""What is measured against a limit: lengths of files and functions, cycles between modules, avoided terms."""

import ast
import dataclasses
import functools
import re
from collections.abc import Iterator

import modules
import rust
import terms
from tree import DATA, Tree

FILE_LINES = 500
FUNCTION_LINES = 70
CODE = (".rs", ".py", ".js", ".mjs")
# Tables that a program wrote, and tests of other projects.
EXEMPT = re.compile(r"_tables\.rs$|/unicode/src/tables\.rs$|^tools/tidy/test_tidy\.py$")

# Crates of which every folder is looked at for cycles.
CHECKED_BELOW = re.compile(r"core/")
CYCLE = "modules of a folder depend on each other in one direction. Move what both use below them."


@dataclasses.dataclass(frozen=True)
class Measure:
    """One thing over its limit. Kind and key name it in ratchet.txt."""

    kind: str
    key: str
    amount: int
    # Where it stands, and what to do about it.
    place: str
    advice: str


@functools.lru_cache(maxsize=2)
def measures(tree: Tree) -> list[Measure]:
    """Everything that is over its limit, each kind and key once."""
    return [*file_lengths(tree), *function_lengths(tree), *cycles(tree), *terms.measures(tree, Measure)]


def code(tree: Tree) -> Iterator[tuple[str, str]]:
    """Code files by path."""
    for path, text in sorted(tree.texts.items()):
        if path.endswith(CODE) and not DATA.search(path) and not EXEMPT.search(path):
            yield path, text


def file_lengths(tree: Tree) -> Iterator[Measure]:
    """Code files longer than FILE_LINES."""
    for path, text in code(tree):
        if (lines := text.count("\n")) > FILE_LINES:
            yield Measure("file", path, lines, f"{path}:1", f"a file has at most {FILE_LINES} lines. Split it by meaning.")


def function_lengths(tree: Tree) -> Iterator[Measure]:
    """Functions of Rust and Python longer than FUNCTION_LINES. Of several with one name in a file, the longest."""
    for path, text in code(tree):
        longest: dict[str, tuple[int, int]] = {}
        for name, line, lines in functions(path, text):
            if lines > FUNCTION_LINES:
                longest[name] = max(longest.get(name, (0, 0)), (lines, line))
        for name, (lines, line) in sorted(longest.items()):
            yield Measure("function", f"{path} {name}", lines, f"{path}:{line}", f"a function has at most {FUNCTION_LINES} lines. Split it.")


def functions(path: str, text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and number of lines of every function. A file that Python 3.11 does not parse has none."""
    if path.endswith(".rs"):
        yield from rust.functions(text)
    elif path.endswith(".py"):
        try:
            parsed = ast.parse(text)
        except SyntaxError:
            return
        for node in ast.walk(parsed):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def cycles(tree: Tree) -> Iterator[Measure]:
    """Uses between modules of one folder that lie on a cycle, each once: of every crate's top folder, of the folders below it in CHECKED_BELOW, and of
    the SDK, whose halves are one package."""
    for place, uses in folders(tree):
        parts = modules.components({of: set(to) for of, to in uses.items()})
        for of, to in sorted((of, to) for of, targets in uses.items() for to in targets):
            if parts[of] == parts.get(to):
                yield Measure("cycle", f"{place} {of} -> {to}", 1, uses[of][to][0], CYCLE)


def folders(tree: Tree) -> Iterator[tuple[str, dict[str, dict[str, list[str]]]]]:
    """Every folder that is looked at for cycles, and which of its modules use which."""
    for crate in modules.crates(tree):
        for folder, uses in sorted(modules.uses(tree, crate).items()):
            if not folder or CHECKED_BELOW.match(crate):
                yield f"{crate}/src/{folder}" if folder else crate, uses
    yield modules.PACKAGE, modules.package_uses(tree)
