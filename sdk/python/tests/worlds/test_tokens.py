"""Tokens of the protocol, and queries, in every world alike."""

import pytest
from cowboy_sdk.testing import BOB, ActorFailed

# An allowance puts down rent.record_deposit, 1 CBY.
DEPOSIT = 10**9


@pytest.fixture
def tokens(chain):
    return chain.deploy("tokens.py")


def test_a_token_is_minted_moved_and_burned(chain, tokens):
    assert chain.execute(tokens, "mint", [BOB, 20]) == 120
    assert chain.execute(tokens, "move", [BOB, 30]) == [70, 50]
    assert chain.execute(tokens, "burn", 70) == 50


def test_an_account_approves_an_actor(chain, tokens):
    chain.execute(tokens, "move", [BOB, 30])
    chain.fund(BOB, DEPOSIT)
    approval = {"token_id": chain.storage(tokens)["token"], "spender": tokens, "amount": 20}
    chain.execute("0x0000000000000000000000000000000000000006", "token_approve", approval, sender=BOB)
    chain.execute(tokens, "take", [BOB, 20])
    assert chain.execute(tokens, "shares") == 90


def test_an_allowance_shrinks(chain, tokens):
    chain.fund(tokens, DEPOSIT)
    assert chain.execute(tokens, "allow_itself", 5) == [4, 100]


@pytest.mark.parametrize(
    "handler, payload, text",
    [
        ("mint", [BOB, 51], "The supply would exceed its maximum"),
        ("move", [BOB, 101], "The account does not have enough tokens"),
        ("burn", 101, "The account does not have enough tokens"),
        ("take", [BOB, 1], "The allowance is too small"),
        ("unknown", None, "There is no such token"),
    ],
)
def test_what_the_registry_refuses_as_a_mistake(chain, tokens, handler, payload, text):
    with pytest.raises(Exception, match=text):
        chain.execute(tokens, handler, payload)
    assert chain.execute(tokens, "shares") == 100


def test_a_query_reads_storage_and_the_height(chain, tokens):
    assert chain.query(tokens, "height") >= 1


@pytest.mark.parametrize(
    "handler, function",
    [
        ("write", "set_state"),
        ("scan", "scan_state_prefix"),
        ("money", "balance"),
        ("shares", "token_balance_of"),
        ("ask", "call_actor"),
    ],
)
def test_what_a_query_may_not_is_a_mistake(chain, tokens, handler, function):
    with pytest.raises(Exception, match=f"the handler called {function}, which a query may not"):
        chain.query(tokens, handler)
    chain.execute(tokens, handler)


def test_a_page_may_not_scan_by_mistake(chain, tokens):
    with pytest.raises(Exception, match="the handler called scan_state_prefix, which a query may not"):
        chain.visit(tokens, "GET", "/scan")


def test_an_exception_of_the_actors_own_class(chain, tokens):
    with pytest.raises(ActorFailed, match="there is no share 7") as caught:
        chain.execute(tokens, "own_class")
    assert type(caught.value).__name__ == "NoSuchShare"
