"""Off-chain jobs, answered by the test: the same under pytest and in the VM."""

import pytest
from cowboy_sdk.testing import llm_value

HELD = 500 * 10**9


@pytest.fixture
def asker(chain, alice):
    # A devnet holds CBY for each job.
    chain.fund(alice, 1_000 * 10**9)
    return chain.deploy("asker.py", value=HELD)


def test_answers_resume_a_method(chain, asker, jobs):
    assert jobs() == []
    assert chain.execute(asker, "read", "https://example.com") is None
    (job,) = jobs()
    assert (job.kind, job.args, job.actor) == ("http", ["https://example.com"], asker)
    chain.answer("A long page.")
    (job,) = jobs()
    assert (job.kind, job.kwargs) == ("llm", {"max_tokens": 50})
    assert chain.answer("Short.") == "Short."
    assert jobs() == [] and chain.query(asker, "kept", "short") == "Short."


def test_what_was_held_comes_back(chain, asker):
    chain.execute(asker, "read", "https://example.com")
    chain.answer("A long page.")
    chain.answer("Short.")
    assert chain.balance(asker) == HELD


def test_models_answer_with_values(chain, asker):
    chain.execute(asker, "judge", "Up or down?")
    chain.answer(llm_value({"action": "buy", "confidence": 90}))
    assert chain.query(asker, "kept", "opinion") == "buy"


def test_failed_jobs_raise(chain, asker):
    chain.execute(asker, "judge", "Up or down?")
    assert chain.fail("no_replacement_available") == "no_replacement_available"
    assert chain.query(asker, "kept", "opinion") == "no_replacement_available"


def test_a_group_waits_for_all(chain, asker, jobs):
    chain.execute(asker, "compare", {"urls": ["https://a.example.com", "https://b.example.com"]})
    pages = {"https://a.example.com": "xy", "https://b.example.com": "z"}
    for job in jobs(asker):
        chain.answer(pages.pop(job.args[0]), job)
    assert chain.query(asker, "kept", "lengths") == [2, 1]


def test_what_a_resumed_method_raises_is_raised(chain, asker, jobs):
    chain.execute(asker, "fragile", "https://example.com")
    with pytest.raises(ValueError, match="no page"):
        chain.answer("no page")
    assert jobs() == [] and chain.failures == []
    # Nothing would resume it: what waited is freed although the part is undone.
    assert chain.execute(asker, "waiting") == 0


def test_jobs_wait_as_long_as_the_test_does(chain, asker, jobs):
    chain.execute(asker, "read", "https://example.com")
    chain.mine(200)
    assert len(jobs()) == 1
    chain.answer("A page.")
    assert chain.answer("Short.") == "Short."


def test_runners_by_the_block(chain, asker):
    chain.runner("http", lambda job: "A page of " + job.args[0])
    chain.runner("llm", lambda job: "Short.")
    chain.execute(asker, "read", "https://example.com")
    chain.mine(2)
    assert chain.query(asker, "kept", "short") == "Short."
    chain.execute(asker, "fragile", "https://example.com")
    chain.mine()
    (failed,) = chain.failures
    assert (failed[0], str(failed[2])) == (asker, "A page of https://example.com")
