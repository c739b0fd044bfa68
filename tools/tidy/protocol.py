"""What a release could change without saying so, although every node needs it alike (decision 757).

Actors read texts of the protocol's code as `str(error)`, and every message counts in what a delivery costs. So TEXTS lists each text of that code, each
row of the table of errors, each module of the library by its hash, and rows of the pages of parameters, costs and methods. Results of other crates
become state as well: those that core/ uses have one version, and CRATES lists them with everything that they use.

`python3 tools/tidy --protocol` writes both lists. Since genesis it adds lines to TEXTS and takes none away.
"""

import collections
import hashlib
import re
import tomllib
from collections.abc import Iterator

import modules
import rust
from tree import TEST_FILE, Tree, line_of

TEXTS = "tests/vectors/texts.txt"
CRATES = "tests/vectors/crates.txt"
STAGES = ("before genesis", "since genesis")
STAGE = re.compile(rf"^# Stage: ({'|'.join(STAGES)})$", re.M)

CODE = re.compile(r"core/(cbor|chain|compiler|num|secrets|state|system|types|vm|volumes)/src/.*\.rs")
# What no delivery runs or shows to actors: invariants that tests check, why a transaction or a query is refused, and what pages and listings are made of.
APART = re.compile(
    r"core/(?:.*/invariants|chain/src/(?:admit|genesis|input|order|query)|compiler/src/(?:disassemble|opcode)|"
    r"system/src/(?:records|page|stubs|interface|sdk)|types/src/entitlement/(?:page|registry)|vm/src/costs/.*)\.rs"
)
# Actors read the names that it makes, and no word about a source that it refuses: a receipt has a number, and the trace has the words.
NAMES_ONLY = "compiler"
LIBRARY = re.compile(r"core/(?:vm/src/frozen|sdk/cowboy_sdk)/.*\.py")
ERRORS = "core/types/src/error.rs"
# Tests of core/ compare these pages with the code.
PAGES = ("docs/costs.md", "docs/methods.md", "docs/parameters.md")
# Columns in words.
PROSE = {"meaning", "source", "what it keeps", "work"}

LITERAL = re.compile(
    r"""//[^\n]*|/\*.*?\*/|(?P<raw>\bb?r(?P<marks>\#*)".*?"(?P=marks))|(?P<text>(?:\bb)?"(?:\\.|[^"\\])*")|(?P<letter>'(?:\\[^\n']+|\\'|[^\\'\n])')""", re.S
)
# Attributes, except the words of an error, and assertions: their words end the node.
QUIET = re.compile(r"#!?\[(?!error\()|\b(?:panic|unreachable|(?:debug_)?assert(?:_eq|_ne)?)!\s*\(|\.expect\(")
TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;")
ROW = re.compile(r'^    (\d{4}) \w+ (\w+ \w+ "(?:\\.|[^"\\])*"(?:, "(?:\\.|[^"\\])*"){3});$', re.M)

HEADER = (
    "# What actors can read of the protocol's code, what they run of it, and by what it counts: rows of tables, modules of the library, and texts.\n"
    "# `python3 tools/tidy --protocol` writes this page (decision 757).\n"
    "# Stage: %s\n"
)
CRATES_HEADER = (
    "# The crates whose results become state: those that core/ uses, and those that they use. `python3 tools/tidy --protocol` writes this page\n"
    "# (decision 757). A commit that changes a line says how it was found out that no result differs, or which version of the protocol has the new ones.\n"
)
ADVICE = {
    STAGES[0]: "Actors and prices see it, so all nodes need it alike: record it with `python3 tools/tidy --protocol`.",
    STAGES[1]: "A change of it is a change of the protocol (A-283): keep what older versions have, give the new text to a new version, and record it with "
    "`python3 tools/tidy --protocol`.",
}
# So many differences are printed; the page's own diff shows all.
SHOWN = 12

TOOLCHAIN = "rust-toolchain.toml"
# Values for tests, which a feature adds.
UNPINNED = {"arbitrary"}


def problems(tree: Tree) -> Iterator[str]:
    """Texts, modules and crates that differ from the lists, and crates that have no exact version."""
    for page in (TEXTS, CRATES):
        if TOOLCHAIN in tree.texts and page not in tree.texts:
            yield f"{page}:1: is not there. Take it from the version before, and then run `python3 tools/tidy --protocol`."
    if TEXTS in tree.texts:
        yield from changes(tree)
    if "Cargo.toml" in tree.texts:
        yield from unpinned(tree)
    if CRATES in tree.texts and crates_page(tree) != tree.texts[CRATES]:
        yield f"{CRATES}:1: Cargo.lock has other versions. Find out whether a result of these crates differs, and record them with `python3 tools/tidy --protocol`."


def changes(tree: Tree) -> Iterator[str]:
    """What is new in the code, and what is gone from it, line by line."""
    places, page = texts(tree), tree.texts[TEXTS]
    present, recorded = collections.Counter({line: len(found) for line, found in places.items()}), recorded_lines(page)
    new = [f"{places[line][-1]}: {TEXTS} does not list {line}" for line in (present - recorded).elements()]
    gone = [f"{TEXTS}:{line_of(page, page.find(chr(10) + line + chr(10)) + 1)}: the code has no longer {line}" for line in (recorded - present).elements()]
    found = sorted(gone) + sorted(new)
    yield from (f"{problem}. {ADVICE[stage(page)]}" for problem in found[:SHOWN])
    if len(found) > SHOWN:
        yield f"{TEXTS}:1: {len(found) - SHOWN} more lines differ. {ADVICE[stage(page)]}"


def texts(tree: Tree) -> dict[str, list[str]]:
    """The lines of TEXTS that the code has, each with its places: a line stands there once for each."""
    found: dict[str, list[str]] = {}
    tests = test_modules(tree)
    for path, text in sorted(tree.texts.items()):
        if LIBRARY.fullmatch(path):
            found[f"module {path} {hashlib.sha256(text.encode()).hexdigest()}"] = [f"{path}:1"]
        if path in PAGES:
            for row, line in rows_of_page(text):
                found.setdefault(f"table {path} {row}", []).append(f"{path}:{line}")
        crate = CODE.fullmatch(path)
        if not crate or APART.fullmatch(path) or TEST_FILE.search(path) or path in tests:
            continue
        text = text[: len(rust.without_tests(text))]
        rows = list(ROW.finditer(text)) if path == ERRORS else []
        for row in rows:
            found.setdefault(f"error {row[1]} {row[2]}", []).append(f"{path}:{line_of(text, row.start())}")
        for literal, offset in literals(text, [row.span() for row in rows]):
            if crate[1] == NAMES_ONLY and " " in literal:
                continue
            found.setdefault(f"text {crate[1]} {literal}", []).append(f"{path}:{line_of(text, offset)}")
    return found


def rows_of_page(text: str) -> Iterator[tuple[str, int]]:
    """Rows of the tables and results of methods, with the headings above them and without columns in words; each with its line."""
    headings, columns = ["", "", ""], []
    for number, line in enumerate(text.split("\n"), 1):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if heading := re.match(r"(##|###|Fields of) (.*)", line):
            depth = ("##", "###", "Fields of").index(heading[1])
            headings[depth:] = [heading[2], "", ""][: 3 - depth]
        kept = [cell for cell, column in zip(cells, columns) if column not in PROSE]
        if line.startswith("Returns: "):
            headings[2], kept = "", [line]
        if kept and not re.fullmatch(r"[-:]*", "".join(kept)):
            yield f"{' '.join(filter(None, headings))} | {' | '.join(kept)}".rstrip(), number
        columns = (columns or cells) if line.startswith("|") else []


def test_modules(tree: Tree) -> set[str]:
    """Files of modules that only tests have."""
    found = set()
    for path, text in tree.texts.items():
        if CODE.fullmatch(path) and "cfg(test)" in text:
            folder = re.sub(r"/(?:lib|mod)\.rs$|\.rs$", "", path)
            for name in TEST_MODULE.findall(text):
                found |= {f"{folder}/{name}.rs", f"{folder}/{name}/mod.rs"}
    return found


def literals(text: str, apart: list[tuple[int, int]]) -> Iterator[tuple[str, int]]:
    """The texts and the appended characters of Rust code, each in one line, outside of what ends a node and of the spans."""
    bare = rust.plain(text)
    spans = sorted(apart + [(found.start(), closing(bare, found.end() - 1)) for found in QUIET.finditer(bare)])
    begin = end = 0
    for found in LITERAL.finditer(text):
        while spans and spans[0][0] <= found.start():
            begin, end = spans[0][0], max(end, spans.pop(0)[1])
        is_written = found["letter"] and text.endswith(".push(", 0, found.start())
        literal = found["raw"] or found["text"] or (found["letter"] if is_written else None)
        if literal and literal != '""' and not begin <= found.start() < end:
            literal = literal if found["raw"] else re.sub(r"\\\n\s*", "", literal)
            yield literal.replace("\n", "\\n"), found.start()


def closing(bare: str, begin: int) -> int:
    """Where the bracket at `begin` closes, or the end of the text."""
    depth = 0
    for found in re.compile(r"[()\[\]]").finditer(bare, begin):
        depth += 1 if found[0] in "([" else -1
        if depth == 0:
            return found.start()
    return len(bare)


def stage(page: str) -> str:
    """Whether a network has a genesis whose blocks have to stay executable."""
    found = STAGE.search(page)
    return found[1] if found else STAGES[0]


def recorded_lines(page: str) -> collections.Counter[str]:
    """The lines of a page, each as often as it stands there."""
    return collections.Counter(line for line in page.split("\n") if line and not line.startswith("#"))


def texts_page(tree: Tree) -> str:
    """TEXTS as the code is. Since genesis, with the lines that the code no longer has."""
    page = tree.texts.get(TEXTS, "")
    present = collections.Counter({line: len(found) for line, found in texts(tree).items()})
    if stage(page) == STAGES[1]:
        present |= recorded_lines(page)
    return HEADER % stage(page) + "".join(f"{line}\n" for line in sorted(present.elements()))


def external(tree: Tree) -> Iterator[tuple[str, str, str]]:
    """What crates of core/ use from elsewhere, except for tests: manifest, name, and version as the workspace wants it."""
    workspace = tomllib.loads(tree.texts["Cargo.toml"]).get("workspace", {}).get("dependencies", {})
    for crate in modules.crates(tree):
        if not crate.startswith("core/") or crate == "core/testkit":
            continue
        manifest = tomllib.loads(tree.texts[f"{crate}/Cargo.toml"])
        tables = [manifest, *manifest.get("target", {}).values()]
        for name in sorted({name for table in tables for name in table.get("dependencies", {})} - UNPINNED):
            wanted = workspace.get(name, {})
            wanted = {"version": wanted} if isinstance(wanted, str) else wanted
            if "path" not in wanted:
                yield f"{crate}/Cargo.toml", wanted.get("package", name), wanted.get("version", "")


def unpinned(tree: Tree) -> Iterator[str]:
    """Crates that core/ uses in more than one version."""
    for manifest, name, version in external(tree):
        if not re.fullmatch(r"=\d+\.\d+\.\d+", version):
            yield f"{manifest}:1: {name} has the version {version!r}. Name one in Cargo.toml, like \"=1.2.3\": its results become state."


def crates_page(tree: Tree) -> str:
    """CRATES as Cargo.lock is: the compiler, whose library writes numbers and addresses, and a line for each crate, with its version."""
    locked: dict[str, dict[str, dict]] = {}
    for package in tomllib.loads(tree.texts["Cargo.lock"])["package"]:
        locked.setdefault(package["name"], {})[package["version"]] = package
    open_ones = {(name, version.removeprefix("=")) for _, name, version in external(tree)}
    seen: set[tuple[str, str]] = set()
    while open_ones:
        name, version = open_ones.pop()
        seen.add((name, version))
        for used in locked[name][version].get("dependencies", []):
            of, _, exact = used.partition(" ")
            exact = exact.split(" ")[0] or next(iter(locked[of]))
            if (of, exact) not in seen:
                open_ones.add((of, exact))
    compiler = tomllib.loads(tree.texts[TOOLCHAIN])["toolchain"]["channel"]
    return CRATES_HEADER + "".join(f"{name} {version}\n" for name, version in [("rust", compiler), *sorted(seen)])


def record(tree: Tree) -> dict[str, str]:
    """Both lists as the tree is."""
    return {TEXTS: texts_page(tree), CRATES: crates_page(tree)}
