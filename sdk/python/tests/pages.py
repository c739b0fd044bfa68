"""The fenced blocks of README and the pages in docs, and how each is run."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[3]
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]

# The actor of docs/tools.md, and a test of it that fails.
COUNTER = """\
from cowboy_sdk import actor, emit, public


@actor
class Counter:
    @public
    def increment(self):
        return self._change(1)

    @public
    def add(self, amount):
        if amount <= 0:
            raise ValueError("amounts are positive")
        return self._change(amount)

    def _change(self, amount):
        count = self.storage.get("count", 0) + amount
        self.storage["count"] = count
        emit("changed", {"count": count, "amount": amount})
        return count
"""
WRONG_TEST = """\
import pytest


@pytest.fixture
def counter(chain):
    return chain.deploy("actor.py")









@pytest.mark.parametrize("amount, expected", [(2, 3)])
def test_add(chain, counter, amount, expected):
    assert chain.execute(counter, "add", amount) == expected, "the sum"
"""


class Block:
    """A fenced block: its page, its place among the page's blocks from 0, its language, the heading it stands under, and its text."""

    def __init__(self, page, number, language, heading, text):
        self.page = page
        self.number = number
        self.language = language
        self.heading = heading
        self.text = text
        self.id = f"{page}:{number}"

    def commands(self):
        """Shell commands, without comments; a line that a quote leaves open ends in a later one."""
        found = []
        for line in self.text.splitlines():
            if found and found[-1].count("'") % 2:
                found[-1] += "\n" + line
                continue
            line = re.split(r"\s+#\s", line)[0].strip()
            if line and not line.startswith("#"):
                found.append(line)
        return found


def blocks(page):
    """The blocks of a page, in their order."""
    found, heading, inside = [], "", None
    for line in (ROOT / page).read_text().splitlines():
        if inside is None and line.startswith("#"):
            heading = line.lstrip("# ")
        if line.startswith("```"):
            if inside is None:
                inside = (line[3:].strip(), [])
            else:
                found.append(Block(page, len(found), inside[0], heading, "\n".join(inside[1]) + "\n"))
                inside = None
        elif inside is not None:
            inside[1].append(line)
    assert inside is None, f"{page} ends inside of a block"
    return found


def block(page, number, language):
    """One block; its language says that the page has not moved under the test."""
    found = blocks(page)[number]
    assert found.language == language, f"{found.id} is {found.language!r}"
    return found


def shows(shown, printed):
    """Fails unless what a page shows is in what was printed: each line, in this order. `…` stands for any text."""
    lines = iter(line.rstrip() for line in printed.splitlines())
    for wanted in filter(None, (line.rstrip() for line in shown.splitlines())):
        pattern = re.compile(r"\s*" + re.escape(wanted.strip()).replace("…", ".*").replace(r"\ ", r"\s+"))
        assert any(pattern.fullmatch(line) for line in lines), f"not printed, or not in this order: {wanted}\n{printed}"
