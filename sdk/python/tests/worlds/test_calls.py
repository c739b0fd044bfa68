"""Calls between actors, in every world alike: what comes back, what fails, and with which words."""

import pytest


@pytest.fixture
def callee(chain):
    return chain.deploy("callee.py")


@pytest.fixture
def caller(chain):
    return chain.deploy("caller.py")


def test_a_handler_that_returns_nothing_gives_none(chain, caller, callee):
    found = chain.execute(caller, "silent", callee)
    assert found == [None, None, None, None, None, b"", None, None, None, None, None, 6]


def test_a_missing_handler_is_no_missing_actor(chain, caller, callee):
    assert chain.execute(caller, "missing", callee) == [False, False, False, False, True]


@pytest.mark.parametrize("kind", ["http", "message"])
def test_a_pure_handler_submits_no_job(chain, caller, kind):
    assert "@deferred" in chain.execute(caller, "submits", kind)


@pytest.mark.parametrize(
    "handler, payload, text",
    [
        ("forgotten", None, "write `await runner.llm(...)`"),
        ("early", None, "write `(await runner.http(...)).text`"),
        ("number_as_key", None, "storage keys are str, bytes, Address or TokenId, not int 5: write str(5)"),
        ("text_as_bytes", None, "set_raw() takes bytes, not str"),
        ("wrong_job", "llm", "missing 1 required positional argument: 'prompt'"),
        ("wrong_job", "http", "missing 1 required positional argument: 'url'"),
        ("wrong_job", "mcp", "missing 1 required positional argument: 'tool'"),
        ("wrong_job", "agent", "missing 1 required positional argument: 'query'"),
        ("wrong_job", "container", "missing 1 required positional argument: 'command'"),
    ],
)
def test_a_mistake_says_what_to_write(chain, caller, handler, payload, text):
    with pytest.raises(Exception) as caught:
        chain.execute(caller, handler, payload)
    assert text in str(caught.value)
