"""That every Rust file belongs to a program, and that a crate's tests are one program: each one more links the crate anew."""

import posixpath
import re
import tomllib
from collections.abc import Iterator

import modules
import rust
from tree import Tree

MODULE = re.compile(r"\bmod\s+(\w+)\s*;")
PATH = re.compile(r'#\[path\s*=\s*"([^"]+)"\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;')


def problems(tree: Tree) -> Iterator[str]:
    """A file that no module names is never compiled, so its tests never run; a second program of tests needs a reason."""
    for crate in modules.crates(tree):
        manifest = tree.texts[f"{crate}/Cargo.toml"]
        tests = list(test_programs(tree, crate))
        for name, path in tests:
            if len(tests) > 1 and path != f"{crate}/tests/main.rs" and not re.search(rf'^# .*\n\[\[test\]\]\nname = "{name}"', manifest, re.M):
                yield f"{path}:1: a second program of tests. Make it a module of tests/main.rs, or say in {crate}/Cargo.toml why it stands apart."
        files = {path for path in tree.texts if path.startswith(f"{crate}/") and path.endswith(".rs")}
        compiled: set[str] = set()
        for root in [*roots(crate, files), *(path for _, path in tests)]:
            compiled |= reachable(tree, root)
        for path in sorted(files - compiled):
            yield f"{path}:1: no module names this file, so it is not compiled. Add `mod` to the file above it, or delete it."


def test_programs(tree: Tree, crate: str) -> Iterator[tuple[str, str]]:
    """Names and paths of a crate's test programs: those that its manifest names, and those that Cargo finds by their place."""
    manifest = tomllib.loads(tree.texts[f"{crate}/Cargo.toml"])
    named = {row["name"]: f"{crate}/{row.get('path', 'tests/' + row['name'] + '.rs')}" for row in manifest.get("test", [])}
    yield from named.items()
    if manifest.get("package", {}).get("autotests", True):
        for path in sorted(tree.texts):
            found = re.fullmatch(rf"{re.escape(crate)}/tests/(\w+)(?:/main)?\.rs", path)
            if found and path not in named.values():
                yield found[1], path


def roots(crate: str, files: set[str]) -> Iterator[str]:
    """The library, the programs, the examples and the build script, by their places."""
    for path in sorted(files):
        if re.fullmatch(r"build\.rs|src/(lib|main)\.rs|(src/bin|examples|benches)/[\w-]+(/main)?\.rs", path.removeprefix(f"{crate}/")):
            yield path


def reachable(tree: Tree, root: str) -> set[str]:
    """The files that a program compiles, from the root of it."""
    seen, open_ = set(), [root]
    while open_:
        path = open_.pop()
        if path in seen or path not in tree.texts:
            continue
        seen.add(path)
        open_ += children(tree, path, path == root)
    return seen


def children(tree: Tree, path: str, is_root: bool) -> Iterator[str]:
    """The files of the modules that a file declares."""
    folder, name = posixpath.split(path.removesuffix(".rs"))
    below = folder if is_root or name == "mod" else f"{folder}/{name}"
    text = tree.texts[path]
    placed = {found[2]: posixpath.normpath(f"{folder}/{found[1]}") for found in PATH.finditer(text)}
    for found in MODULE.finditer(rust.plain(text)):
        if found[1] in placed:
            yield placed[found[1]]
        else:
            yield from (f"{below}/{found[1]}.rs", f"{below}/{found[1]}/mod.rs")
