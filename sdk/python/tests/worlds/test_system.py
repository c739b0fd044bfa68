"""Calls of system actors by name, through `cowboy_sdk.system`."""

import pytest
from cowboy_sdk import ActorCallError


@pytest.fixture
def mint(chain):
    return chain.deploy("mint.py")


def test_arguments_go_by_name(chain, mint, bob):
    chain.execute(mint, "found", 100)
    assert chain.execute(mint, "pay", [bytes(bob), 30]) == 30
    assert chain.execute(mint, "pay", [bytes(bob), 30]) == 60


def test_a_refusal_is_the_error_of_a_call(chain, mint, bob):
    chain.execute(mint, "found", 100)
    with pytest.raises(ActorCallError):
        chain.execute(mint, "pay", [bytes(bob), 101])
