"""Checks that citations and links resolve, that ARCHITECTURE.md holds, that nothing over a limit grows, and that generated pages are current.

    python3 tools/tidy             check; exit code 1 and one line for each problem
    python3 tools/tidy --write     write the generated pages and lower ratchet.txt, then check
    python3 tools/tidy --record    write ratchet.txt as the tree is, growth included, then check; the commit says why
    python3 tools/tidy --protocol  write the lists of what every node needs alike (protocol.py), then check; the commit says why

Only the standard library of Python 3.11.
"""

import pathlib
import sys

import protocol
import ratchet
from checks import problems
from pages import generated
from tree import Tree


def main() -> int:
    root = pathlib.Path(__file__).resolve().parents[2]
    tree = Tree.of_repository(root)
    if "--record" in sys.argv[1:]:
        (root / ratchet.PATH).write_text(ratchet.page(tree, record=True))
        tree = Tree.of_repository(root)
    if "--protocol" in sys.argv[1:]:
        for path, text in protocol.record(tree).items():
            (root / path).write_text(text)
        tree = Tree.of_repository(root)
    if "--write" in sys.argv[1:]:
        # Twice: the index counts citations in the pages that the first pass writes.
        for _ in range(2):
            for path, text in generated(tree).items():
                if tree.texts.get(path) != text:
                    (root / path).write_text(text)
            tree = Tree.of_repository(root)
    found = problems(tree)
    for problem in found:
        print(problem)
    if found:
        print(f"{len(found)} problems. `python3 tools/tidy --write` writes the generated pages.", file=sys.stderr)
    return 1 if found else 0


sys.exit(main())
