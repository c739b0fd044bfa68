"""Each check on a small tree: silent where all is well, one problem for each fault.

    python3 tools/tidy/test_tidy.py
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import citations
from checks import problems
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


if __name__ == "__main__":
    unittest.main()
