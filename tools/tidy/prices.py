"""That prices and modelled times of the protocol stand in the tables of core/params, not in the code that charges them (decision 435)."""

import re
from collections.abc import Iterator

import rust
from tree import TEST_FILE, Tree, line_of

# The VM has tables of its own, and core/params is the other table.
CHARGING = re.compile(r"core/(?:system|chain|state)/src/.*\.rs")
CONSTANT = re.compile(r"\bconst\s+(\w*(?:WEIGHT|CYCLES|CELLS|PRICE|COST|NANOSECONDS)\w*)\s*:\s*u(?:32|64|128|size)\b")
# A number of its own as an argument; zero says that there is no such part.
LITERAL = re.compile(r"\bcontext\.(?:spend|charge|charge_cells)\([^;]*?\b([1-9][\d_]*)\b[^;]*?;")


def problems(tree: Tree) -> Iterator[str]:
    """A constant or a literal that prices work."""
    for path, text in sorted(tree.texts.items()):
        if not CHARGING.fullmatch(path) or TEST_FILE.search(path):
            continue
        bare = rust.plain(rust.without_tests(text))
        for found in CONSTANT.finditer(bare):
            yield f"{path}:{line_of(bare, found.start())}: {found[1]} prices work. Make it a row of core/params/src/rows/, which docs/parameters.md shows."
        for found in LITERAL.finditer(bare):
            yield f"{path}:{line_of(bare, found.start(1))}: {found[1]} is charged as a literal. Name a row of core/params/src/rows/ instead."
