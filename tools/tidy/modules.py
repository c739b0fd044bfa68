"""The modules of Rust crates and Python packages, and which of them use which."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

import rust
from tree import TEST_FILE, Tree, line_of

BEGIN = re.compile(r"(?<!::)\b(?=(?:crate|super|self)\s*::)")
PIECE = re.compile(r"\s*(?:(\w+)\s*(::)?|(\{))")

# The SDK, and the folders of its halves. The package has the files of both, and of those that both have the last one's.
PACKAGE = "cowboy_sdk"
HALVES = ("sdk/python/cowboy_sdk", "core/sdk/cowboy_sdk")


def crates(tree: Tree) -> list[str]:
    """Folders of the crates of the workspace."""
    return sorted(path.removesuffix("/Cargo.toml") for path in tree.texts if re.fullmatch(r"(core|edge|web)/[\w-]+/Cargo\.toml", path))


def uses(tree: Tree, crate: str) -> dict[str, dict[str, dict[str, list[str]]]]:
    """For each folder below `src`, and each module in it, the modules of the same folder that it names, with the places. Tests are left out."""
    files = {}
    for path, text in tree.texts.items():
        if path.startswith(f"{crate}/src/") and path.endswith(".rs") and not TEST_FILE.search(path):
            parts = tuple(path.removeprefix(f"{crate}/src/").removesuffix(".rs").split("/"))
            if parts[0] not in ("lib", "main", "bin", "tests"):
                files[path] = (parts[:-1] if parts[-1] == "mod" else parts, rust.without_tests(text))
    known = {parts[:depth] for parts, _ in files.values() for depth in range(1, len(parts) + 1)}
    found: dict[str, dict[str, dict[str, list[str]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for path, (own, bare) in sorted(files.items()):
        for named, offset in paths(bare):
            depth = shared(own, target := absolute(own, named))
            if depth < min(len(own), len(target)) and target[: depth + 1] in known:
                folder = found["/".join(own[:depth])]
                folder[own[depth]][target[depth]].append(f"{path}:{line_of(bare, offset)}")
    return found


def shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many parts two paths of modules begin with together."""
    return next((depth for depth, (left, right) in enumerate(zip(one, other)) if left != right), min(len(one), len(other)))


def paths(bare: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Every path that begins with `crate`, `super` or `self`, with its place. Of a group, one path for each of its parts."""
    for found in BEGIN.finditer(bare):
        yield from ((path, found.start()) for path in expanded(bare, found.start(), ()))


def expanded(bare: str, at: int, before: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paths that continue `before` at an offset."""
    while piece := PIECE.match(bare, at):
        if piece[3]:
            end, depth = rust.closing(bare, piece.start(3)), 0
            for offset in range(piece.start(3), end):
                depth += {"{": 1, "}": -1}.get(bare[offset], 0)
                if depth == 1 and bare[offset] in "{,":
                    yield from expanded(bare, offset + 1, before)
            return
        before, at = (*before, piece[1]), piece.end()
        if not piece[2]:
            break
    yield before


def absolute(own: tuple[str, ...], named: tuple[str, ...]) -> tuple[str, ...]:
    """A path that a module names, from the root of the crate."""
    base = () if named[0] == "crate" else own
    for at, part in enumerate(named):
        if part not in ("crate", "self", "super"):
            return base + named[at:]
        base = base[:-1] if part == "super" else base
    return base


def package_uses(tree: Tree) -> dict[str, dict[str, list[str]]]:
    """For each module of the SDK, the modules of both halves that it imports, in functions too, with the places."""
    files = {}
    for folder in HALVES:
        for path, text in tree.texts.items():
            if path.startswith(f"{folder}/") and path.endswith(".py"):
                files[tuple(path.removeprefix(f"{folder}/").removesuffix(".py").split("/"))] = path, ast.parse(text, path)
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for own, (path, parsed) in sorted(files.items()):
        for node in ast.walk(parsed):
            for target in imported(node, own, PACKAGE, files):
                if target != own:
                    found[".".join(own)][".".join(target)].append(f"{path}:{node.lineno}")
    return found


def imported(node: ast.AST, own: tuple[str, ...], package: str, files: dict[tuple[str, ...], tuple]) -> Iterator[tuple[str, ...]]:
    """The modules among `files` that a statement of the module `own` imports."""
    if isinstance(node, ast.Import):
        named = [(*alias.name.split("."), "") for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        base = (package, *own[: len(own) - node.level]) if node.level else ()
        named = [(*base, *(node.module or "").split("."), alias.name) for alias in node.names]
    else:
        return
    for parts in named:
        first, *inner = [part for part in parts if part]
        *within, last = inner or ("",)
        if first != package:
            continue
        # A module, a name of a module, or a name that the package itself binds.
        if (*within, last) in files:
            yield *within, last
        elif tuple(within) in files:
            yield tuple(within)
        elif (holder := (*within, "__init__")) in files and last in bound(files[holder][1]):
            yield holder


def bound(parsed: ast.Module) -> set[str]:
    """The names that a module's body binds."""
    names = {""}
    for node in ast.walk(parsed):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


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
