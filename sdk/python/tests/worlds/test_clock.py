"""Time that passes: blocks, timers and intervals. Heights at which nothing happens take no time."""

import pytest

DAY = 86_400


@pytest.fixture
def clock(chain):
    return chain.deploy("clock.py", value=500_000)


def test_a_month_of_blocks_fires_what_is_due_in_it(chain, clock):
    begun = chain.execute(clock, "every", 10 * DAY)
    chain.execute(clock, "once", begun + 25 * DAY)
    before = chain.height
    chain.mine(30 * DAY)
    assert chain.height == before + 30 * DAY
    assert chain.query(clock, "ticks") == [begun + days * DAY for days in (10, 20, 25, 30)] and chain.failures == []


def test_blocks_end_before_what_is_due_later(chain, clock):
    due = chain.height + 10
    chain.execute(clock, "once", due)
    chain.mine(due - 1 - chain.height)
    assert chain.height == due - 1 and chain.query(clock, "ticks") == []
    chain.mine()
    assert chain.height == due and chain.query(clock, "ticks") == [due]
    chain.mine(0)
    assert chain.height == due
