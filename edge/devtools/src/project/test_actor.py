"""Run by `cowboy test` in the chain's virtual machine, or by pytest in plain Python."""

import pytest
from cowboy_sdk.testing import ALICE, BOB, Chain
from cowboy_sdk.types import Address


@pytest.fixture
def agent(chain: Chain) -> Address:
    chain.fund(ALICE, 100 * 10**9)
    return chain.deploy("actor.py", value=100 * 10**9)  # 100 CBY: on a devnet it pays for its timer


def test_it_greets_and_counts(chain: Chain, agent: Address) -> None:
    assert chain.execute(agent, "greet", "Ada", sender=BOB) == "Hello, Ada!"
    assert chain.execute(agent, "greet") == "Hello, world!"
    assert chain.query(agent, "greetings") == 2
    assert ("greeted", {"name": "Ada", "count": 1}) in chain.events(agent)


def test_its_timer_fires(chain: Chain, agent: Address) -> None:
    chain.mine(10)
    assert chain.query(agent, "ticks") == 2
    assert not chain.failures


def test_a_name_is_text(chain: Chain, agent: Address) -> None:
    with pytest.raises(TypeError, match="'name' has to be str"):
        chain.execute(agent, "greet", 5)
