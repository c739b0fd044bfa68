"""The files of the repository, and what kind each is."""

import dataclasses
import pathlib
import re
import subprocess

SUFFIXES = {".rs", ".py", ".pyi", ".md", ".toml", ".ts", ".js", ".mjs", ".sh", ".txt", ".json", ".html", ".svg"}
TEST_FILE = re.compile(r"(^|/)tests/|(^|/)(test_[^/]*|[^/]*_test|tests|conftest)\.\w+$")
# Files whose text is data: random programs, captured answers, versions of crates.
DATA = re.compile(r"(^|/)(fixture|vectors|corpus)/|/recording\.txt$|^Cargo\.lock$")
# The tool's own files show citations that are no citations.
EXAMPLES = "tools/tidy/"


@dataclasses.dataclass(frozen=True, eq=False)
class Tree:
    """Paths below the root, with the text of every text file. Trees are equal only to themselves, so that results can be kept by tree."""

    paths: frozenset[str]
    texts: dict[str, str]

    @staticmethod
    def of_repository(root: pathlib.Path) -> "Tree":
        """What git tracks, and what it would track."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, check=True, capture_output=True, text=True
        ).stdout
        paths = sorted(path for path in listed.split("\0") if path and (root / path).is_file())
        texts = {}
        for path in paths:
            if pathlib.PurePosixPath(path).suffix in SUFFIXES or path in ("test", "Cargo.lock"):
                texts[path] = (root / path).read_text(encoding="utf-8")
        return Tree(frozenset(paths), texts)

    def sources(self) -> dict[str, str]:
        """Texts whose citations are checked and counted: no data, no examples."""
        return {path: text for path, text in self.texts.items() if not DATA.search(path) and not path.startswith(EXAMPLES)}


def is_test(path: str, text: str, offset: int) -> bool:
    """Whether the text at the offset is a test: by the file's place or name, or below Rust's `#[cfg(test)]`."""
    if TEST_FILE.search(path):
        return True
    return path.endswith(".rs") and 0 <= text.find("#[cfg(test)]") < offset


def line_of(text: str, offset: int) -> int:
    """The number of the line that holds the offset, from 1."""
    return text.count("\n", 0, offset) + 1
