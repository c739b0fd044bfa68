"""What ARCHITECTURE.md claims, compared with the tree: its layout, dependencies, counts, and what stands in one place only."""

import posixpath
import re
import tomllib
from collections.abc import Iterator

import drawing
import modules
import rust
from tree import TEST_FILE, Tree, line_of

PAGE = "ARCHITECTURE.md"
# Folders whose children the layout lists one by one.
LISTED = ("core", "edge", "web", "tools")
# Folders whose crates docs/images shows.
PICTURED = ("core", "edge")
# What a page writes between backquotes and means as a path of the repository.
NAMED_PATH = re.compile(r"`((?:core|edge|sdk|web|examples|tests|tools|docs|fuzz)/[\w./{},*-]*)`")
COUNTED = re.compile(r"\b(\d+) (crates|system actors)\b")


def problems(tree: Tree) -> Iterator[str]:
    """Every claim that does not hold."""
    text = tree.texts.get(PAGE)
    if text is not None:
        yield from layout(tree, text)
        yield from dependencies(tree, text)
        yield from counts(tree, text)
        yield from places(tree, text)
        yield from clippy(tree)
    yield from paths(tree)


def part(text: str, name: str) -> tuple[list[str], int]:
    """The lines after `<!-- checked: name -->` up to the first empty line that follows a table or a block, and the first one's number."""
    begin = text.find(f"<!-- checked: {name} -->")
    if begin < 0:
        return [], 0
    rest = text[begin:].split("\n")[1:]
    fenced = rest and rest[0].startswith("```")
    end = rest.index("```", 1) if fenced else next((at for at, line in enumerate(rest) if not line.startswith("|")), len(rest))
    return rest[1:end] if fenced else rest[2:end], line_of(text, begin) + (2 if fenced else 3)


def layout(tree: Tree, text: str) -> Iterator[str]:
    """Every folder of the layout exists, and every crate and tool is in it."""
    lines, first = part(text, "layout")
    if not lines:
        yield f"{PAGE}:1: no layout after `<!-- checked: layout -->`."
    above, shown = "", set()
    folders = {parent for path in tree.paths for parent in ancestors(path)}
    for at, line in enumerate(lines):
        name = line.split()[0].rstrip("/")
        folder = posixpath.join(above, name) if line.startswith("  ") else name
        above = above if line.startswith("  ") else name
        shown.add(folder)
        if folder not in folders:
            yield f"{PAGE}:{first + at}: there is no folder {folder}/."
    for folder in sorted(folders):
        if folder.count("/") == 1 and folder.split("/")[0] in LISTED and folder not in shown:
            yield f"{PAGE}:{first}: the layout lacks {folder}/."


def ancestors(path: str) -> Iterator[str]:
    """The folders that hold a path."""
    while path := posixpath.dirname(path):
        yield path


def dependencies(tree: Tree, text: str) -> Iterator[str]:
    """Each crate uses what its row says, and core uses core only. Tests of a crate in core use core too."""
    lines, first = part(text, "dependencies")
    rows = {}
    for at, line in enumerate(lines):
        crate, *used = re.findall(r"`([\w/-]+)`", line)
        rows[crate] = (set(used), first + at)
    homes = {posixpath.basename(crate): crate for crate in modules.crates(tree)}
    for crate in modules.crates(tree):
        manifest = tomllib.loads(tree.texts[f"{crate}/Cargo.toml"])
        used, tested = own(manifest, homes, "dependencies", "build-dependencies"), own(manifest, homes, "dev-dependencies")
        allowed, line = rows.pop(crate, (set(), first))
        for name in sorted(used - allowed):
            yield f"{crate}/Cargo.toml:1: uses {homes[name]}, which the table of {PAGE} does not allow."
        for name in sorted(allowed - used):
            yield f"{PAGE}:{line}: {crate} does not use {name}."
        for name in sorted(used | tested):
            if crate.startswith("core/") and not homes[name].startswith("core/"):
                yield f"{crate}/Cargo.toml:1: core uses {homes[name]}. The protocol depends on nothing in edge or web."
    for crate, (_, line) in rows.items():
        yield f"{PAGE}:{line}: there is no crate {crate}."


DIAGRAM = re.compile(r"(<!-- generated: diagram -->\n).*?(<!-- end -->)", re.S)


def crates(tree: Tree) -> tuple[dict[str, str], dict[str, set[str]]]:
    """The folder of each crate, and the crates that it uses outside of its tests. A crate that others imply is left out."""
    homes = {posixpath.basename(crate): crate for crate in modules.crates(tree)}
    whole = {name: own(tomllib.loads(tree.texts[f"{crate}/Cargo.toml"]), homes, "dependencies", "build-dependencies") for name, crate in homes.items()}
    return homes, {name: used - {far for near in used for far in modules.reachable(whole, near)} for name, used in whole.items()}


def pictures(tree: Tree) -> dict[str, str]:
    """A picture of the crates of each layer, by path."""
    homes, graph = crates(tree)
    found = {}
    for layer in PICTURED:
        inside = {name for name, crate in homes.items() if crate.startswith(f"{layer}/")}
        if inside:
            title = f"{layer}/: what each crate uses"
            found[f"docs/images/{layer}.svg"] = drawing.svg(title, {name: graph[name] & inside for name in inside})
    return found


def page(tree: Tree) -> str:
    """ARCHITECTURE.md with the diagram of crates drawn from their manifests."""
    homes, graph = crates(tree)
    lines = ["```mermaid", "flowchart BT"]
    for layer in dict.fromkeys(crate.split("/")[0] for crate in homes.values()):
        inside = [name for name, crate in sorted(homes.items()) if crate.startswith(f"{layer}/")]
        lines += [f"    subgraph {layer}/", *(f"        {name}" for name in inside), "    end"]
    for name in sorted(graph):
        lines += [f"    {name} --> {used}" for used in sorted(graph[name])]
    drawn = "\n".join([*lines, "```"]) + "\n"
    return DIAGRAM.sub(lambda found: found[1] + drawn + found[2], tree.texts[PAGE])


def own(manifest: dict, homes: dict[str, str], *tables: str) -> set[str]:
    """The workspace's crates among the dependencies of these tables, for every target."""
    found = set()
    for section in [manifest, *manifest.get("target", {}).values()]:
        for table in tables:
            found |= {name.removeprefix("cowboy-") for name in section.get(table, {}) if name.startswith("cowboy-")}
    return found & homes.keys()


def counts(tree: Tree, text: str) -> Iterator[str]:
    """Numbers of crates and of system actors."""
    registry = re.search(r"ACTORS: &\[Actor\] = &\[(.*?)\];", tree.texts.get("core/system/src/registry.rs", ""), re.S)
    rows = re.sub(r"#\[cfg\(test\)\]\n.*", "", registry[1]) if registry else ""
    true = {"crates": len(modules.crates(tree)), "system actors": len(re.findall(r"^ +\w", rows, re.M))}
    for found in COUNTED.finditer(text):
        if int(found[1]) != true[found[2]]:
            yield f"{PAGE}:{line_of(text, found.start())}: there are {true[found[2]]} {found[2]}, not {found[1]}."


def places(tree: Tree, text: str) -> Iterator[str]:
    """The text of each row stands in its files only, and in each of them; tests, examples and programs of measurement are free."""
    lines, first = part(text, "places")
    code = list(shipped(tree))
    for at, line in enumerate(lines):
        wanted, *allowed = re.findall(r"`([^`]+)`", line)
        found = {path: bare.index(wanted) for path, bare in code if wanted in bare}
        for path, offset in sorted(found.items()):
            if not any(path == place or place.endswith("/") and path.startswith(place) for place in allowed):
                yield f"{path}:{line_of(tree.texts[path], offset)}: `{wanted}` may stand only where the table of {PAGE} says."
        for place in allowed:
            if not any(path == place or path.startswith(place) for path in found):
                yield f"{PAGE}:{first + at}: `{wanted}` does not stand in {place}."


def shipped(tree: Tree) -> Iterator[tuple[str, str]]:
    """The code of crates, without comments, literals and tests."""
    for path, text in sorted(tree.texts.items()):
        if re.match(r"(core|edge|web)/[\w-]+/src/.*\.rs$", path) and not TEST_FILE.search(path):
            yield path, rust.without_tests(text)


def clippy(tree: Tree) -> Iterator[str]:
    """One clippy.toml: one nearer to a crate of core would replace core's bans."""
    for path in sorted(tree.paths):
        if posixpath.basename(path) in ("clippy.toml", ".clippy.toml") and path != "core/clippy.toml":
            yield f"{path}:1: replaces the bans of core/clippy.toml for the crates below it. Move its rows there."


def paths(tree: Tree) -> Iterator[str]:
    """Paths between backquotes exist, from the root or from the page's folder, in pages outside the specification and the decisions."""
    known = tree.paths | {parent for path in tree.paths for parent in ancestors(path)}
    for page, text in sorted(tree.texts.items()):
        if not page.endswith(".md") or page.startswith(("docs/spec/", "docs/decisions/")) or page == "CHANGELOG.md":
            continue
        for found in NAMED_PATH.finditer(text):
            path = found[1].rstrip("/")
            beside = posixpath.join(posixpath.dirname(page), path)
            if not ({"{", "*"} & set(path)) and not ({path, beside} & known):
                yield f"{page}:{line_of(text, found.start())}: there is no {found[1]}."
