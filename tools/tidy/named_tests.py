"""That the tests which tables of pages name exist."""

import re
from collections.abc import Iterator

from tree import Tree, line_of

HEADER = re.compile(r"^\|.*\| test \|.*\|\n\|[-|]+\|\n((?:\|.*\n)*)", re.M)
NAME = re.compile(r"`(\w+)::(\w+)`")


def problems(tree: Tree) -> Iterator[str]:
    """A table with a column `test` names tests as `file::name`: the file has a function of this name."""
    functions: set[tuple[str, str]] = set()
    for path, text in tree.texts.items():
        if path.endswith(".rs"):
            module = path.removesuffix(".rs").removesuffix("/mod").rsplit("/", 1)[-1]
            functions |= {(module, name) for name in re.findall(r"\bfn (\w+)\(", text)}
    for path, text in tree.texts.items():
        if path.startswith("docs/") and path.endswith(".md"):
            for table in HEADER.finditer(text):
                for named in NAME.finditer(table[1]):
                    if named.groups() not in functions:
                        yield f"{path}:{line_of(text, table.start(1) + named.start())}: there is no test {named[0]}. Name one as `file::function`."
