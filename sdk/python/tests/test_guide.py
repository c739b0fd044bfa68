"""The guides' programs run as printed."""

import pathlib
import re

from cowboy_sdk.testing import Chain

DOCS = pathlib.Path(__file__).parents[3] / "docs"


def programs(page):
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def deployed(tmp_path, source):
    path = tmp_path / "actor.py"
    path.write_text(source)
    chain = Chain()
    return chain, chain.deploy(path)


def test_the_first_actor_passes_the_printed_test(tmp_path, monkeypatch):
    first, _, test = programs("actors.md")
    (tmp_path / "guestbook.py").write_text(first)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(test, names)
    names["test_sign"]()


def test_the_reader_passes_the_printed_tests(tmp_path, monkeypatch):
    (tmp_path / "reader.py").write_text(programs("sdk.md")[0])
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(programs("sdk.md")[1], names)
    names["test_summarise"]()
    names["test_runners_by_the_block"]()


def test_the_other_actors_do_what_the_page_says(tmp_path):
    trader, patient, comparer = programs("sdk.md")[2:]
    chain, actor = deployed(tmp_path, trader)
    chain.execute(actor, "decide", "Up or down?")
    chain.answer('{"action":"buy","confidence":90,"note":null}')
    assert chain.query(actor, "action") == "buy"
    chain.execute(actor, "decide", "Up or down?")
    chain.fail("nobody")
    assert chain.query(actor, "action") == "none: nobody"

    chain, actor = deployed(tmp_path, patient)
    chain.execute(actor, "fetch", "https://example.com")
    chain.fail()
    chain.mine()
    chain.fail()
    chain.mine(2)
    chain.answer("found")
    assert chain.query(actor, "page") == "found" and not chain.failures

    chain, actor = deployed(tmp_path, comparer)
    chain.execute(actor, "compare", ["a", "b"])
    for answer in ("xy", "z"):
        chain.answer(answer, chain.jobs()[0])
    assert chain.query(actor, "lengths") == [2, 1]


def test_the_code_that_the_pages_name_is_there():
    for page in ("sdk.md", "trust.md"):
        text = (DOCS / page).read_text()
        for path in re.findall(r"`((?:core|sdk|examples)/[^`\s]+)`", text) + re.findall(r"\]\(\.\./([^)]+)\)", text):
            assert (DOCS.parent / path).exists(), path
