"""The ratchet: ratchet.txt lists what is over a limit today, with amounts. They only go down.

More than a line allows is a problem. Less is written down by `python3 tools/tidy --write`. `python3 tools/tidy --record` writes
today's amounts even where they grew; a commit that does so says why.
"""

from collections.abc import Iterator

from measure import Measure, measures
from tree import Tree

PATH = "tools/tidy/ratchet.txt"
HEADER = (
    "# What is over a limit of tools/tidy today: kind, amount, and where. Amounts only go down: `python3 tools/tidy --write` lowers them.\n"
    "# file and function: lines. cycle: the first module uses the second, and the second leads back to the first. name and phrase: how often the term stands there.\n"
)


def allowed(tree: Tree) -> dict[tuple[str, str], int]:
    """The amounts that ratchet.txt allows, by kind and key."""
    lines = (line for line in tree.texts.get(PATH, "").split("\n") if line and not line.startswith("#"))
    return {(kind, key): int(amount) for kind, amount, key in (line.split(" ", 2) for line in lines)}


def growth(tree: Tree) -> Iterator[str]:
    """Each measure that is over what the ratchet allows."""
    limits = allowed(tree)
    for measure in measures(tree):
        limit = limits.get((measure.kind, measure.key), 0)
        if measure.amount > limit:
            yield f"{measure.place}: {measure.kind} {measure.key}: {measure.amount}, and {limit} allowed: {measure.advice}"


def page(tree: Tree, record: bool = False) -> str:
    """ratchet.txt with amounts lowered to today's; with `record`, raised as well."""
    limits = allowed(tree)
    lines = []
    for measure in measures(tree):
        amount = measure.amount if record else min(measure.amount, limits.get((measure.kind, measure.key), 0))
        if amount:
            lines.append(f"{measure.kind} {amount} {measure.key}")
    return HEADER + "\n".join(lines) + "\n"
