"""The top-level modules of a Rust crate, and which of them use which."""

import re
from collections import defaultdict
from collections.abc import Iterator

import rust
from tree import TEST_FILE, Tree

PATH = re.compile(r"\b(crate|super(?:\s*::\s*super)*)\s*::\s*(?:(\w+)|\{)")


def crates(tree: Tree) -> list[str]:
    """Folders of the crates of the workspace."""
    return sorted(path.removesuffix("/Cargo.toml") for path in tree.texts if re.fullmatch(r"(core|edge|web)/[\w-]+/Cargo\.toml", path))


def uses(tree: Tree, crate: str) -> dict[str, dict[str, list[str]]]:
    """For each module the modules that it names, with the places. Tests are left out."""
    files = {}
    for path, text in tree.texts.items():
        if path.startswith(f"{crate}/src/") and path.endswith(".rs") and not TEST_FILE.search(path):
            parts = path.removeprefix(f"{crate}/src/").removesuffix(".rs").split("/")
            if parts[0] not in ("lib", "main", "bin", "tests"):
                files[path] = ([part for part in parts if part != "mod"], text)
    known = {parts[0] for parts, _ in files.values()}
    found: dict[str, dict[str, list[str]]] = {module: defaultdict(list) for module in known}
    for path, (parts, text) in sorted(files.items()):
        bare = rust.without_tests(text)
        for target, offset in targets(bare, len(parts)):
            if target in known and target != parts[0]:
                found[parts[0]][target].append(f"{path}:{bare.count(chr(10), 0, offset) + 1}")
    return found


def targets(bare: str, depth: int) -> Iterator[tuple[str, int]]:
    """Names below the crate's root that a module so deep mentions: `crate::name`, `crate::{a, b::c}`, or the same through `super`."""
    for found in PATH.finditer(bare):
        if found[1] != "crate" and found[1].count("super") != depth:
            continue
        if found[2]:
            yield found[2], found.start()
            continue
        group = bare[found.end() : rust.closing(bare, found.end() - 1)]
        while (flat := re.sub(r"\{[^{}]*\}", "", group)) != group:
            group = flat
        for part in group.split(","):
            if name := re.match(r"\s*(\w+)", part):
                yield name[1], found.start()


def components(graph: dict[str, set[str]]) -> dict[str, int]:
    """The number of the strongly connected component of each module: two with one number lie on a cycle."""
    reach = {of: reachable(graph, of) for of in graph}
    numbers: dict[str, int] = {}
    for number, of in enumerate(sorted(graph)):
        numbers[of] = next((numbers[to] for to in sorted(numbers) if to in reach[of] and of in reach[to]), number)
    return numbers


def reachable(graph: dict[str, set[str]], begin: str) -> set[str]:
    """Every module that a walk from `begin` meets."""
    seen, open_ = set(), [begin]
    while open_:
        for to in graph.get(open_.pop(), ()):
            if to not in seen:
                seen.add(to)
                open_.append(to)
    return seen
