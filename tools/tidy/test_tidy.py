"""Each check on a small tree: silent where all is well, one problem for each fault.

    python3 tools/tidy/test_tidy.py
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import citations
import drawing
import protocol
import ratchet
import rust
from checks import problems
from measure import FILE_LINES, FUNCTION_LINES
from pages import generated
from tree import Tree

PARTS = "**Question.** How high. **Decision.** So high. **Reason.** It is enough.\n"
SOUND = {
    "docs/spec/entitlements.md": '# Entitlements\n\n<a id="s9"></a>\n## 9. Registry\n\nAs §9 says.\n\n<a id="s9.11"></a>\n### 9.11 Removal\n',
    "docs/spec/whitepaper/06-lanes.md": '<a id="s6.4"></a>\n\n## 6.4 Gossip\n\n**Gossip rules.** Text.\n',
    "docs/decisions/fees.md": '# Fees\n\n<a id="decision-4"></a>\n## 4. Lanes\n\n*003 §6.4*\n\n**Question.** §6.4 says two things. **Decision.** One. **Reason.** Newer.\n',
    "docs/decisions/0201-prices.md": "# 201. Prices\n\n" + PARTS,
    "docs/decisions/README.md": "# Decisions\n\n<!-- generated: decisions -->\n<!-- end -->\n",
    "docs/acceptance.md": '# List\n\n<!-- generated: groups -->\n<!-- end -->\n\n## A. Lanes\n\n| <a id="A-1"></a>A-1 | must | Order | 003 §6.4 | – |\n',
    "docs/parameters.md": "| 0x0101 | `lanes.size` | 1 | bytes | 1 – 2 | 0 | 003 §6.4 | Size. |\n",
    "core/lanes.rs": "//! Lanes (003 §6.4; 000 §9,\n//! §9.11; decisions 4 and 201; RFC 8949 §4.2).\n",
    "core/tests/lanes.rs": "/// A-1: order.\n",
    "docs/page.md": "# Page\n\nSee [lanes](../core/lanes.rs), [gossip](spec/whitepaper/06-lanes.md#64-gossip) and [above](#page).\n",
}


def tree(**changes: str) -> Tree:
    """The sound tree with its generated pages, then with changes: a path is written with `__` for `/`, and `_dot_` for `.`."""
    texts = dict(SOUND)
    for _ in range(2):
        texts.update(generated(Tree(frozenset(texts), texts)))
    for path, text in changes.items():
        texts[path.replace("__", "/").replace("_dot_", ".")] = text
    return Tree(frozenset(texts), texts)


class Checks(unittest.TestCase):
    def finds(self, expected: str, **changes: str) -> None:
        """The change leads to a problem with these words, besides pages that are no longer current."""
        found = [problem for problem in problems(tree(**changes)) if "not current" not in problem]
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def test_a_sound_tree_has_no_problems(self):
        self.assertEqual(problems(tree()), [])

    def test_a_file_that_no_module_names(self):
        crate = {"core__types__Cargo_dot_toml": TYPES, "core__types__src__lib_dot_rs": "mod a;\n#[path = \"../tests/z.rs\"]\nmod b;\n// mod c;\n", "core__types__src__a_dot_rs": "mod d;\n", "core__types__src__a__d_dot_rs": ""}
        self.finds("core/types/src/c.rs:1: no module names this file", **crate, core__types__src__c_dot_rs="")
        self.finds("core/types/tests/help/x.rs:1: no module", **crate, core__types__tests__t_dot_rs="mod help;\n", core__types__tests__help__mod_dot_rs="", core__types__tests__help__x_dot_rs="")

    def test_a_test_that_does_not_exist(self):
        page = "# Page\n\n| adversary | test | what holds |\n|---|---|---|\n| a liar | `lanes::%s` | all |\n"
        self.finds("docs/list.md:5: there is no test `lanes::gone`.", docs__list_dot_md=page % "gone", core__tests__lanes_dot_rs="/// A-1: order.\nfn order() {}\n")
        whole = tree(docs__list_dot_md=page % "order", core__tests__lanes_dot_rs="/// A-1: order.\nfn order() {}\n")
        self.assertEqual([p for p in problems(whole) if "not current" not in p], [])

    def test_a_second_program_of_tests(self):
        crate = {"core__types__tests__a_dot_rs": "", "core__types__tests__main_dot_rs": ""}
        self.finds("core/types/tests/a.rs:1: a second program of tests", **crate, core__types__Cargo_dot_toml=TYPES)
        own = '\n[[test]]\nname = "types"\npath = "tests/main.rs"\n\n# It counts what it allocates.\n[[test]]\nname = "a"\n'
        named = TYPES.replace("[package]\n", "[package]\nautotests = false\n") + own
        self.assertEqual([p for p in problems(tree(**crate, core__types__Cargo_dot_toml=named)) if "not current" not in p], [])
        self.finds("core/types/tests/b.rs:1: no module names this file", **crate, core__types__Cargo_dot_toml=named, core__types__tests__b_dot_rs="")

    def test_a_price_outside_the_tables(self):
        self.finds("core/system/src/draw.rs:1: DRAW_WEIGHT prices work.", core__system__src__draw_dot_rs="const DRAW_WEIGHT: u64 = 500;\n")
        literal = "fn f(context: &mut Context) {\n    context.spend(0, count * 2_000)?;\n}\n"
        self.finds("core/chain/src/draw.rs:2: 2_000 is charged as a literal.", core__chain__src__draw_dot_rs=literal)
        row = "fn f(context: &mut Context) {\n    context.spend(0, context.params.weights.draw)?;\n}\n"
        tables = tree(core__system__src__draw_dot_rs=row, core__vm__src__native_dot_rs="const CALL_WEIGHT: u32 = 200;\n")
        self.assertEqual([problem for problem in problems(tables) if "not current" not in problem], [])

    def test_a_section_that_does_not_exist(self):
        self.finds("core/a.rs:2: 003 §6.9 does not exist", core__a_dot_rs="// one\n// 003 §6.9\n")

    def test_a_section_without_a_document(self):
        self.finds("§6.4 names no document", core__a_dot_rs="// the auction of §6.4\n")

    def test_a_title_that_does_not_exist(self):
        self.finds("003 has no section 'Fees'", core__a_dot_rs="// 003 Gossip, not 003 Fees; 1,000 CBY\n")

    def test_a_section_of_another_document_is_not_the_list_s(self):
        self.finds("004 §6.4 does not exist", core__a_dot_rs="// 003 §6.4; 004 §6.4\n")

    def test_a_decision_that_does_not_exist(self):
        self.finds("decision 202 does not exist", core__a_dot_rs="// decisions 201,\n// 202\n")

    def test_two_decisions_of_one_number(self):
        self.finds("decision 201 stands in", **{"docs__decisions__0201-again_dot_md": "# 201. Again\n" + PARTS})

    def test_a_heading_without_its_number(self):
        self.finds("does not begin with `# 202. `", **{"docs__decisions__0202-more_dot_md": "# More\n" + PARTS})

    def test_a_decision_without_a_reason(self):
        self.finds("has no paragraph", **{"docs__decisions__0202-more_dot_md": "# 202. More\n" + PARTS.split("**Reason")[0]})

    def test_an_item_that_does_not_exist(self):
        self.finds("A-2 does not exist", core__a_dot_rs="// A-1..A-2\n")

    def test_a_label_of_another_list(self):
        self.finds("core/a.rs:1: '/// A-1, B7:' is a label", core__a_dot_rs="/// A-1, B7: so.\n/// A key in G1, C3 order.\n")
        self.finds("core/a.rs:2: '(B8)' is a label", core__a_dot_rs="//\nname: \"a veto (B8)\"\n")

    def test_a_comment_that_says_nothing(self):
        self.finds("core/a.rs:2: '/// Which.' says nothing", core__a_dot_rs="\n    /// Which.\n/// Which file it is.\n")

    def test_a_link_to_no_file(self):
        self.finds("gone.md leads to no file", docs__other_dot_md="[x](gone.md) but `[y](not-a-link.md)`\n")

    def test_a_link_to_no_anchor(self):
        self.finds("has no anchor #nowhere", docs__other_dot_md="[x](page.md#nowhere)\n")

    def test_a_page_that_is_not_current(self):
        found = problems(tree(core__b_dot_rs="// 003 §6.4\n"))
        self.assertEqual(found, ["docs/spec/index.md:1: not current. Run `python3 tools/tidy --write`."])

    def test_a_test_moves_an_item(self):
        found = problems(tree(core__tests__b_dot_rs="// A-1\n"))
        self.assertEqual(found, ["docs/acceptance.md:1: not current. Run `python3 tools/tidy --write`."])


ARCHITECTURE = """# Architecture

There are 2 crates; see `core/types/src/lib.rs`.

<!-- checked: layout -->
```
core/       the protocol
  types/    types
  tests/    tests
edge/       services
  rpc/      a server
```

<!-- checked: dependencies -->
| crate | uses |
|---|---|
| `core/types` | – |
| `edge/rpc` | `types` |

<!-- checked: places -->
| text in code | only in |
|---|---|
| `quinn::` | `edge/rpc/src/` |
"""
TYPES, RPC = '[package]\nname = "cowboy-types"\n', '[package]\nname = "cowboy-rpc"\n[dependencies]\ncowboy-types.workspace = true\n'
HOUSE = {
    "ARCHITECTURE_dot_md": ARCHITECTURE,
    "core__types__Cargo_dot_toml": TYPES,
    "core__types__src__lib_dot_rs": "pub mod a;\nmod b;\n",
    "core__types__src__a_dot_rs": "// quinn::x, and the old code\nuse crate::b::{self, c};\n",
    "core__types__src__b_dot_rs": "fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n",
    "edge__rpc__Cargo_dot_toml": RPC,
    "edge__rpc__src__lib_dot_rs": "quinn::x();\n",
}


class Architecture(unittest.TestCase):
    """Claims of ARCHITECTURE.md against a tree of two crates."""

    def finds(self, *expected: str, **changes: str) -> None:
        found = [problem for problem in problems(tree(**{**HOUSE, **changes})) if "not current" not in problem]
        self.assertEqual(len(found), len(expected), found)
        for words, problem in zip(expected, found):
            self.assertIn(words, problem)

    def test_a_sound_house(self):
        self.finds()

    def test_the_diagram_follows_the_manifests(self):
        drawn = "\n<!-- generated: diagram -->\n<!-- end -->\n"
        changed = tree(**{**HOUSE, "ARCHITECTURE_dot_md": ARCHITECTURE + drawn})
        self.assertIn("ARCHITECTURE.md:1: not current. Run `python3 tools/tidy --write`.", problems(changed))
        self.assertIn("    rpc --> types\n", generated(changed)["ARCHITECTURE.md"])

    def test_a_folder_that_is_gone(self):
        self.finds("there is no folder core/gone/", ARCHITECTURE_dot_md=ARCHITECTURE.replace("edge/       services", "  gone/     no\nedge/       services"))

    def test_a_crate_that_the_page_lacks(self):
        self.finds("the layout lacks edge/new/", "there are 3 crates, not 2", **{"edge__new__Cargo_dot_toml": '[package]\nname = "cowboy-new"\n'})

    def test_a_dependency_that_no_row_allows(self):
        self.finds("core/types/Cargo.toml:1: uses edge/rpc, which the table", "core uses edge/rpc", core__types__Cargo_dot_toml=TYPES + "[dependencies]\ncowboy-rpc.workspace = true\n")

    def test_a_test_of_core_that_uses_edge(self):
        self.finds("core uses edge/rpc", core__types__Cargo_dot_toml=TYPES + "[dev-dependencies]\ncowboy-rpc.workspace = true\n")

    def test_a_dependency_that_is_gone(self):
        self.finds("edge/rpc does not use types", edge__rpc__Cargo_dot_toml='[package]\nname = "cowboy-rpc"\n')

    def test_a_row_without_a_crate(self):
        self.finds("there is no crate edge/old", "there is no edge/old", ARCHITECTURE_dot_md=ARCHITECTURE.replace("| `edge/rpc` | `types` |", "| `edge/rpc` | `types` |\n| `edge/old` | – |"))

    def test_a_wrong_count(self):
        self.finds("there are 2 crates, not 3", ARCHITECTURE_dot_md=ARCHITECTURE.replace("2 crates", "3 crates"))

    def test_a_text_in_another_place(self):
        self.finds("core/types/src/b.rs:1: `quinn::` may stand only", core__types__src__b_dot_rs="fn f() { quinn::y() }\n")

    def test_a_text_that_is_nowhere(self):
        self.finds("`quinn::` does not stand in edge/rpc/src/", edge__rpc__src__lib_dot_rs="// quinn::x\n")

    def test_a_second_clippy_toml(self):
        self.finds("replaces the bans", core__types__clippy_dot_toml="")

    def test_a_path_that_is_gone(self):
        self.finds("docs/more.md:1: there is no core/gone.rs.", docs__more_dot_md="See `core/gone.rs`, `core/types`, `core/{a,b}`.\n")


class Ratchet(unittest.TestCase):
    """What is over a limit: nothing may grow, and what shrinks is written down."""

    def grows(self, expected: str, **changes: str) -> None:
        found = [problem for problem in problems(tree(**changes)) if "not current" not in problem]
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])
        recorded = tree(**changes, tools__tidy__ratchet_dot_txt=ratchet.page(tree(**changes), record=True))
        self.assertEqual([problem for problem in problems(recorded) if "docs/spec" not in problem], [])

    def test_a_long_file(self):
        self.grows("file core/long.rs: 501, and 0 allowed", core__long_dot_rs="//\n" * (FILE_LINES + 1))

    def test_long_functions(self):
        body = "    x\n" * FUNCTION_LINES
        self.grows("core/a.rs:2: function core/a.rs f: 72, and 0 allowed", core__a_dot_rs="// fn g() {\nfn f(x: [u8; 2]) -> char {\n" + body + "    '}'}\nfn h();\n")
        self.grows("core/a.py:1: function core/a.py f: 71", core__a_dot_py="def f():\n" + body)

    def test_a_cycle(self):
        files = {"core__types__Cargo_dot_toml": TYPES, "core__types__src__lib_dot_rs": "mod a;\nmod b;\nmod z;\n", "core__types__src__a_dot_rs": "use crate::{b::{c}, z};\n", "core__types__src__z_dot_rs": "// crate::a\n"}
        self.assertEqual([p for p in problems(tree(**files, core__types__src__b_dot_rs="fn f() {}\n")) if "not current" not in p], [])
        found = problems(tree(**files, **{"core__types__src__b__mod_dot_rs": "use super::a::x;\n"}))
        self.assertEqual([p.split(":")[0] for p in found if "cycle" in p], ["core/types/src/a.rs", "core/types/src/b/mod.rs"])

    def test_a_cycle_below_a_folder(self):
        def cycles(crate: str, **files: str) -> list[str]:
            texts = {f"{crate}__{path}": text for path, text in files.items()}
            found = problems(tree(**texts, **{f"{crate}__Cargo_dot_toml": TYPES}))
            return [problem.split(":")[0] for problem in found if "cycle" in problem]

        one = {"src__f__a_dot_rs": "use super::{b::{c, d}, mod_};\n", "src__f__b__x_dot_rs": "use crate::{f::{e, a::y}, z};\n"}
        self.assertEqual(cycles("core__types", **one), ["core/types/src/f/a.rs", "core/types/src/f/b/x.rs"])
        self.assertEqual(cycles("edge__types", **one), [], "edge is looked at from above")
        self.assertEqual(cycles("core__types", **one | {"src__f__b__x_dot_rs": "use super::a;\nuse self::super::super::e::a;\n"}), [])
        self.assertEqual(cycles("core__types", **one | {"src__f__b__x_dot_rs": "fn f() { crate::f::a::g(); }\n"}), ["core/types/src/f/a.rs", "core/types/src/f/b/x.rs"])
        inner = {"src__f__b__x_dot_rs": "use super::super::b::y::z;\n", "src__f__b__y_dot_rs": "use crate::f::b::x;\n"}
        self.assertEqual(cycles("core__types", **inner), ["core/types/src/f/b/x.rs", "core/types/src/f/b/y.rs"])

    def test_a_cycle_in_the_sdk(self):
        def cycles(init: str, **files: str) -> list[str]:
            texts = {f"core__sdk__cowboy_sdk__{name}_dot_py": text for name, text in files.items()}
            # The file is `__init__.py`, whose name has what `tree` takes for slashes.
            sdk = tree(**texts)
            sdk = Tree(sdk.paths | {"core/sdk/cowboy_sdk/__init__.py"}, {**sdk.texts, "core/sdk/cowboy_sdk/__init__.py": init})
            return [problem.split(": ")[0] for problem in problems(sdk) if "cycle" in problem]

        package = "core/sdk/cowboy_sdk"
        layers = {"actor": "from .runner import job\n", "runner": "from . import models\n", "models": "import json\n"}
        self.assertEqual(cycles("from .actor import actor\n", **layers), [])
        both = [f"{package}/actor.py:1", f"{package}/models.py:2", f"{package}/runner.py:1"]
        for back in ("from .actor import registry", "from . import actor", "import cowboy_sdk.actor", "from cowboy_sdk.actor import registry"):
            self.assertEqual(cycles("", **layers | {"models": f"def find():\n    {back}\n"}), both, "an import in a function counts")
        self.assertEqual(cycles("from .actor import actor\nX = 1\n", actor="from . import X\n"), [f"{package}/__init__.py:1", f"{package}/actor.py:1"])
        self.assertEqual(cycles("", mock__a="from ..b import c\n", b="from .mock import a\n"), [f"{package}/b.py:1", f"{package}/mock/a.py:1"])

    def test_a_cycle_across_the_halves_of_the_sdk(self):
        def cycles(back: str) -> list[str]:
            core = {"codec": "from ._host import host\n", "_host": "from . import mock_host\n", "_cbor": "import json\n"}
            texts = {f"core__sdk__cowboy_sdk__{name}_dot_py": text for name, text in core.items()}
            texts |= {"sdk__python__cowboy_sdk__mock_host_dot_py": "from .mock import world\n", "sdk__python__cowboy_sdk__mock__world_dot_py": back}
            return [problem.split(": ")[0] for problem in problems(tree(**texts)) if "cycle" in problem]

        self.assertEqual(cycles("from .. import _cbor\n"), [])
        halves = {"core/sdk/cowboy_sdk": ("_host.py:1", "codec.py:1"), "sdk/python/cowboy_sdk": ("mock/world.py:2", "mock_host.py:1")}
        places = [f"{half}/{place}" for half, found in halves.items() for place in found]
        self.assertEqual(sorted(cycles("def encode():\n    from .. import codec\n")), places, "an import in a function counts")

    def test_avoided_names(self):
        self.grows("core/a.rs:1: name core desk: 1, and 0 allowed: 'desk' is an avoided term. Write: job manager", core__a_dot_rs="struct RunnerDesk;\nlet desktop = 1;\n")
        self.grows("core/a.rs:3: name core desk", core__a_dot_rs="#[derive(Debug, Subcommand)]\npub(crate) enum Run {\n    OpenDesk { wide: bool },\n    List,\n}\n")
        self.grows("name core told", core__a_dot_py="    async def told(self):\n        pass\n")
        self.grows("name core outbox", core__a_dot_js='const x = "<th>Outbox</th>"\n')

    def test_avoided_phrases(self):
        self.grows("docs/more.md:2: phrase docs/more.md the law: 1", docs__more_dot_md="A house.\nIt is The\nlaw of the lawn.\n")
        self.grows("phrase core the law", core__a_dot_rs="/// It is the\n/// law.\n")
        self.grows("core/a.rs:2: phrase core door: 1", core__a_dot_rs="self.door.open();\nfail(\"no door\");\n")
        self.grows("core/a.py:3: phrase core door: 2", core__a_dot_py='door()\n""\n"""A\ndoor."""  # a door\n'.replace("A\n", "A "))

    def test_what_grows_and_what_shrinks(self):
        held = tree(core__a_dot_rs="// the law\n", tools__tidy__ratchet_dot_txt=ratchet.HEADER + "phrase 1 core the law\n")
        self.assertEqual([p for p in problems(held) if "ratchet" in p or "law" in p], [])
        less = tree(core__a_dot_rs="// a rule\n", tools__tidy__ratchet_dot_txt=ratchet.HEADER + "phrase 1 core the law\n")
        self.assertEqual(problems(less), ["tools/tidy/ratchet.txt:1: not current. Run `python3 tools/tidy --write`."])
        more = tree(core__a_dot_rs="// the law, the law\n", tools__tidy__ratchet_dot_txt=ratchet.HEADER + "phrase 1 core the law\n")
        self.assertIn("2, and 1 allowed", problems(more)[0])

    def test_literals_hide_no_brace(self):
        text = "fn f<'a>() { let _ = ('{', b'}', \"{\", r#\"{\"{\"#, 'a'); }\nfn g() {\n}\n"
        self.assertEqual(list(rust.functions(text)), [("f", 1, 1), ("g", 2, 2)])


class Grammar(unittest.TestCase):
    def test_sections(self):
        for text, expected in [
            ("003 §6.4, §6.5", [("003", "6.4"), ("003", "6.5")]),
            ("002 §2 to §6; 003 §5.1a", [("002", "2"), ("002", "6"), ("003", "5.1a")]),
            ("(RFC 8949 §4.2, the profile of CIP-6 §11.5)", [("", "4.2"), ("", "11.5")]),
            ("003 §8.2 also inflates; §9", [("003", "8.2"), (None, "9")]),
            ("[003 §6.4](a.md#s6.4), §6.5", [("003", "6.4"), ("003", "6.5")]),
        ]:
            self.assertEqual([(c.document, c.target) for c in citations.sections(text)], expected, text)

    def test_decisions(self):
        for text, expected in [
            ("decisions 4 to 6", ["4", "5", "6"]),
            ("Decisions 46 and 82:", ["46", "82"]),
            ("decisions 117,\n/// 118", ["117", "118"]),
            ("decision 0088", ["88"]),
            ("a decision 2,592,000 blocks later", []),
        ]:
            self.assertEqual([c.target for c in citations.decisions(text)], expected, text)

    def test_items(self):
        self.assertEqual([c.target for c in citations.acceptance("A-1, A-3..A-5; SHA-256, AES-256, X-A-1")], ["1", "3", "4", "5"])


VM = "core__vm__src__words_dot_rs"
WORDS = """//! "A comment" is none.
const VERSION: &str = "3.11.8";
#[doc = "Neither is an attribute."]
#[error("{name} is taken")]
struct Taken;
fn f(vm: &mut Vm) {
    assert!(vm.is_sound(), "a {}", "bug");
    vm.last().expect("a frame");
    vm.raise("no room, \\
        none", 'c', b"ab", r#"say "x""#, "");
    out.push('=');
}
#[cfg(test)]
mod tests {
    const T: &str = "of a test";
}
"""
TEXTS = ['text vm "3.11.8"', 'text vm "no room, none"', 'text vm "{name} is taken"', "text vm '='", 'text vm b"ab"', 'text vm r#"say "x""#']
LOCKED = {
    "Cargo_dot_toml": '[workspace.dependencies]\nsha = "=1.2.3"\ncowboy-vm = { path = "core/vm" }\n',
    "core__types__Cargo_dot_toml": '[package]\nname = "cowboy-types"\n[dependencies]\nsha.workspace = true\ncowboy-vm.workspace = true\n',
    "Cargo_dot_lock": '[[package]]\nname = "sha"\nversion = "1.2.3"\ndependencies = ["block"]\n[[package]]\nname = "block"\nversion = "0.4.0"\n'
    '[[package]]\nname = "other"\nversion = "9.0.0"\n',
    "rust-toolchain_dot_toml": '[toolchain]\nchannel = "1.95.0"\n',
}


class Protocol(unittest.TestCase):
    def found(self, **changes: str) -> list[str]:
        return list(protocol.problems(tree(**changes)))

    def page(self, stage: str, **changes: str) -> str:
        old = tree(tests__vectors__texts_dot_txt=protocol.HEADER % stage, **changes)
        return protocol.texts_page(old)

    def test_texts_that_nodes_need_alike(self):
        lines = self.page("before genesis", **{VM: WORDS}).splitlines()
        self.assertEqual([line for line in lines if not line.startswith("#")], TEXTS)
        parted = tree(**{VM: "#[cfg(test)]\nmod of_tests;\n", "core__vm__src__words__of_tests_dot_rs": 'const T: &str = "of a test";\n'})
        self.assertEqual(protocol.texts(parted), {})
        names = protocol.texts(tree(core__compiler__src__a_dot_rs='const T: [&str; 2] = ["<lambda>", "more than one word"];\n'))
        self.assertEqual(list(names), ['text compiler "<lambda>"'])

    def test_a_row_of_an_error_is_one_line(self):
        row = '    1000 GONE Other Input "gone", "It is gone.", "It was \\"taken\\".", "Ask {all}.";\n'
        found = protocol.texts(tree(core__types__src__error_dot_rs="errors! {\n" + row + '}\nconst T: &str = "apart";\n'))
        self.assertEqual(list(found), ['error 1000 Other Input "gone", "It is gone.", "It was \\"taken\\".", "Ask {all}."', 'text types "apart"'])

    def test_a_text_that_changes(self):
        page = self.page("before genesis", **{VM: WORDS})
        self.assertEqual(self.found(tests__vectors__texts_dot_txt=page, **{VM: WORDS}), [])
        gone, new = self.found(tests__vectors__texts_dot_txt=page, **{VM: WORDS.replace("no room", "little room")})
        self.assertIn('tests/vectors/texts.txt:5: the code has no longer text vm "no room, none". Actors and prices see it', gone)
        self.assertIn('core/vm/src/words.rs:9: tests/vectors/texts.txt does not list text vm "little room, none".', new)
        twice = self.found(tests__vectors__texts_dot_txt=page, **{VM: WORDS, "core__vm__src__b_dot_rs": 'const T: &[u8] = b"ab";\n'})
        self.assertEqual(len(twice), 1, "a text that stands once more")

    def test_since_genesis_lines_are_added_and_none_goes(self):
        page = self.page("since genesis", **{VM: WORDS})
        changed = {VM: WORDS.replace("no room", "little room"), "tests__vectors__texts_dot_txt": page}
        self.assertTrue(all("change of the protocol (A-283)" in problem for problem in self.found(**changed)))
        recorded = protocol.texts_page(tree(**changed))
        self.assertTrue("# Stage: since genesis" in recorded and "no room" in recorded and "little room" in recorded)
        gone = self.found(**{**changed, "tests__vectors__texts_dot_txt": recorded})
        self.assertEqual([problem.split(": ")[1] for problem in gone], ['the code has no longer text vm "no room, none". A change of it is a change of the protocol (A-283)'])
        both = {VM: WORDS.replace("fn f(", 'const OLD: &str = "little room, none";\nfn f('), "tests__vectors__texts_dot_txt": recorded}
        self.assertEqual(self.found(**both), [], "the old text stays for older versions")

    def test_a_module_of_the_library_that_changes(self):
        page = self.page("before genesis", core__sdk__cowboy_sdk__vrf_dot_py="x = 1\n")
        changed = self.found(tests__vectors__texts_dot_txt=page, core__sdk__cowboy_sdk__vrf_dot_py="x = 2\n")
        self.assertEqual(len(changed), 2, changed)
        self.assertIn("core/sdk/cowboy_sdk/vrf.py:1: tests/vectors/texts.txt does not list module core/sdk/cowboy_sdk/vrf.py", changed[1])

    def test_a_row_of_a_generated_page_that_changes(self):
        rows = "## lanes\n\n| number | name | at genesis | meaning |\n|---|---|---|---|\n| 0x0101 | `lanes.size` | %s | %s |\n"
        page = self.page("before genesis", docs__parameters_dot_md=rows % (7, "Size."))
        self.assertIn("table docs/parameters.md lanes | 0x0101 | `lanes.size` | 7\n", page)
        self.assertEqual(self.found(tests__vectors__texts_dot_txt=page, docs__parameters_dot_md=rows % (7, "In words.")), [])
        changed = self.found(tests__vectors__texts_dot_txt=page, docs__parameters_dot_md=rows % (8, "Size."))
        self.assertEqual(len(changed), 2, changed)
        self.assertIn("docs/parameters.md:5: tests/vectors/texts.txt does not list table docs/parameters.md lanes | 0x0101 | `lanes.size` | 8.", changed[1])
        method = "## 0x01 A\n\n### `act` (payable)\n\n| argument | form | default | meaning |\n|---|---|---|---|\n| `of` | a \\| b | `None` | Of. |\n\nFields of `of`:\n\n| field | meaning |\n|---|---|\n| `x` | X. |\n\nReturns: null.\n"
        self.assertEqual(
            [row for row, _ in protocol.rows_of_page(method)],
            ["0x01 A `act` (payable) | `of` | a \\| b | `None`", "0x01 A `act` (payable) `of`: | `x`", "0x01 A `act` (payable) | Returns: null."],
        )

    def test_crates_have_one_version(self):
        page = protocol.crates_page(tree(**LOCKED))
        self.assertEqual(page.removeprefix(protocol.CRATES_HEADER), "rust 1.95.0\nblock 0.4.0\nsha 1.2.3\n")
        whole = {**LOCKED, "tests__vectors__crates_dot_txt": page, "tests__vectors__texts_dot_txt": protocol.HEADER % "before genesis"}
        self.assertEqual(self.found(**whole), [])
        self.assertEqual([problem.split(". ")[0] for problem in self.found(**LOCKED)], [f"tests/vectors/{name}.txt:1: is not there" for name in ("texts", "crates")])
        (wide,) = self.found(**{**whole, "Cargo_dot_toml": LOCKED["Cargo_dot_toml"].replace("=1.2.3", "1.2.3")})
        self.assertIn("core/types/Cargo.toml:1: sha has the version '1.2.3'. Name one in Cargo.toml", wide)
        (moved,) = self.found(**{**whole, "Cargo_dot_lock": LOCKED["Cargo_dot_lock"].replace("0.4.0", "0.4.1")})
        self.assertIn("tests/vectors/crates.txt:1: Cargo.lock has other versions.", moved)


class Pictures(unittest.TestCase):
    def test_each_box_is_above_what_it_uses(self):
        graph = {"chain": {"system", "vm"}, "ingress": {"chain", "light"}, "light": set(), "system": set(), "vm": {"num"}, "num": set()}
        self.assertEqual(drawing.layers(graph), [["light", "num", "system"], ["vm"], ["chain"], ["ingress"]])
        drawn = drawing.svg("core & edge", graph)
        self.assertEqual((drawn.count("<rect"), drawn.count("marker-end")), (6, 5))
        self.assertIn("core &amp; edge", drawn)


if __name__ == "__main__":
    unittest.main()
