"""Continuations on the in-process chain: control flow around awaits, what is kept, what is refused, and answers twice."""

import pathlib

import pytest
from cowboy_sdk import codec, errors
from cowboy_sdk.testing import ALICE, BOB, Chain, llm_failure, llm_value
from cowboy_sdk.types import Address
from flows import FAILS, FLOWS

FILE = pathlib.Path(__file__).parent / "actors/flows.py"
HEAD = """from cowboy_sdk import (
    Address, CowboyModel, JobFailed, RunnerTimeoutError, TaskGroup, Verify, actor, bounded_loop, capture, public, runner, runtime,
)
from cowboy_sdk.tee import tee_call


@actor
class A:
"""


def deploy(tmp_path, body):
    """A chain with an actor whose methods are `body`, indented by four."""
    path = tmp_path / "actor.py"
    path.write_text(HEAD + "\n".join("    " + line if line else "" for line in body.strip("\n").split("\n")) + "\n")
    chain = Chain()
    return chain, chain.deploy(path)


def method(body, decorators=""):
    lines = "\n".join("    " + line for line in body.strip("\n").split("\n"))
    return f"@public\n@runner.continuation\n{decorators}async def go(self, payload):\n{lines}"


def waiting(chain, actor):
    return [key for key in chain.storage(actor) if key.startswith(("__continuation:", "__await:"))]


@pytest.mark.parametrize("name, answers, expected", FLOWS, ids=[row[0] for row in FLOWS])
def test_flow(name, answers, expected):
    chain = Chain()
    actor = chain.deploy(FILE)
    result = chain.execute(actor, name, 7)
    for given in answers:
        job = chain.jobs()[0]
        result = chain.fail("nobody", job) if given is FAILS else chain.answer(given, job)
    assert result == expected
    assert not waiting(chain, actor), "nothing is left of a continuation that ended"


def test_timers():
    """A-359: a pause and a deadline are timers; what comes too late finds nobody."""
    chain = Chain()
    actor = chain.deploy(FILE)
    chain.execute(actor, "sleeps", 7)
    assert waiting(chain, actor)
    chain.mine(3)
    assert not waiting(chain, actor) and not chain.failures
    chain.execute(actor, "within_its_time", 7)
    (job,) = chain.jobs()
    chain.mine(5)
    assert not waiting(chain, actor) and not chain.failures
    assert chain.answer("a", job) is None, "too late"
    chain.execute(actor, "within_its_time", 7)
    assert chain.answer("a") == "a"
    assert not chain.world.timers, "the deadline is called off"


def test_a_second_delivery_does_nothing():
    """A-217: an answer resumes its method once. The second finds nobody, even where another answer is awaited since."""
    chain = Chain()
    actor = chain.deploy(FILE)
    chain.execute(actor, "two", 7)
    (first,) = chain.jobs()
    chain.answer("a", first)
    before = chain.storage(actor)
    assert chain.answer("x", first) is None
    assert chain.storage(actor) == before
    assert chain.answer("b") == "ab"
    assert chain.answer("x", first) is None


def test_who_may_resume():
    """Only the Result Verifier and the actor itself reach a `__resume`."""
    chain = Chain()
    actor = chain.deploy(FILE)
    chain.execute(actor, "one", 7)
    (job,) = chain.jobs()
    answer = {"cid": job.correlation, "result": "forged", "job_id": job.id, "status": "ok"}
    with pytest.raises(errors.PermissionDeniedError):
        chain.execute(actor, "one__resume", answer, sender=BOB)
    assert chain.execute(actor, "one__resume", answer, sender=Address.RESULT_VERIFIER) == "forged"
    with pytest.raises(errors.ContinuationNotFoundError):
        chain.execute(actor, "one__resume", {"cid": job.correlation, "result": "a"}, sender=Address.RESULT_VERIFIER)


def test_messages():
    """A job leaves in the published form, with its continuation's id and its method's `__resume`."""
    chain = Chain()
    actor = chain.deploy(FILE)
    chain.execute(actor, "one", 7)
    (job,) = chain.jobs(actor)
    assert job.request == {
        "kind": "runner_job",
        "job_type": "http",
        "payload": {"args": ["u"], "kwargs": {}},
        "cid": bytes.fromhex(job.correlation),
        "reply_handler": "one__resume",
    }
    record = chain.storage(actor)[f"__continuation:{bytes.fromhex(job.correlation).decode('utf-8', 'replace')}"]
    assert list(record) == sorted(record, key=lambda name: (len(name), name))
    assert set(record) == {"state", "ctx", "handler", "timeout_at_block", "guard_hashes", "created_at_block"}


def test_a_failure_nobody_catches_ends_the_method():
    chain = Chain()
    actor = chain.deploy(FILE)
    chain.execute(actor, "two", 7)
    assert chain.fail() is None
    assert not waiting(chain, actor)


def test_a_runner_for_every_job():
    """`chain.runner` answers all jobs of a kind as blocks pass."""
    chain = Chain()
    actor = chain.deploy(FILE)
    chain.runner("http", lambda job: job.args[0].upper())
    chain.execute(actor, "for_", 7)
    chain.mine(3)
    assert not waiting(chain, actor) and not chain.failures

    def fails(job):
        raise errors.JobFailed("nobody")

    chain.runner("http", fails)
    chain.execute(actor, "try_", 7)
    chain.mine()
    assert not waiting(chain, actor) and not chain.failures


def test_structured_answers():
    """`.value` is the model, from plain JSON and from the published envelope; a failure has its code."""
    chain = Chain()
    actor = chain.deploy(FILE)
    from cowboy_sdk import CowboyModel, RunnerResult

    class Order(CowboyModel):
        id: str
        amount: int

    chain.execute(actor, "response_model", 7)
    kwargs = chain.jobs()[0].kwargs
    assert kwargs["response_schema"].startswith('{"additionalProperties":false,"properties":{"note":{"type":["string","null"]}')
    chain.answer(llm_value({"symbol": "ETH", "price": 1, "note": "x"}))
    assert chain.answer("b") == ["ETH", 1, "x", "b"]
    assert RunnerResult(llm_value(Order("a", 1))).parse(Order) == Order("a", 1)
    assert RunnerResult(llm_failure("provider_refusal")).failure == "provider_refusal"
    assert RunnerResult(llm_failure("provider_refusal")).parse(Order) is None
    for bad in ('{"id":"a"}', '{"id":"a","amount":"1"}', '{"id":"a","amount":true}', "no json", '{"id":"a","amount":1,"more":1}'):
        with pytest.raises(errors.RunnerValidationError):
            RunnerResult(bad).parse(Order)


LIMITS = [
    ("await runner.http('u')\nfor i in range(3):\n    await runner.http('v')", "@bounded_loop(max_iterations=2)\n", ["a", "b", "c"], errors.LoopBoundExceeded),
    ("big = 'x' * 70_000\nawait runner.http('u')\nreturn big", "", [], errors.ContinuationSizeLimitError),
    ("await 5", "", [], errors.ContinuationLimitError),
    ("it = iter([1])\nawait runner.http('u')\nreturn list(it)", "", ["a"], errors.UncarriedNameError),
    ("await runner.http('u', resume_cycles=5)", "", [], ValueError),
    ("await runner.llm('p', response_schema='{}', max_tokens=0)", "", [], ValueError),
    ("await runner.http('u', hire={})", "", [], TypeError),
    ("await runner.llm('p', response_schema='{}', retry={})", "", [], TypeError),
    ("await tee_call({'type': 'llm', 'prompt': 'p'}, retry=3)", "", [], TypeError),
    ("ctx = capture()\nctx.a = Address('0x' + '11' * 20)", "", [], errors.CaptureTypeError),
    ("ctx = capture()\nctx.f = capture", "", [], errors.CaptureTypeError),
    ("async with TaskGroup() as g:\n    for i in range(9):\n        g.create_task(runner.http('u'))", "", [], errors.ContinuationLimitError),
]


@pytest.mark.parametrize("body, decorators, answers, problem", LIMITS)
def test_limits(tmp_path, body, decorators, answers, problem):
    chain, actor = deploy(tmp_path, method(body, decorators))
    with pytest.raises(problem):
        chain.execute(actor, "go", 7)
        for given in answers:
            chain.answer(given)


@pytest.mark.parametrize("options, draw", [
    ("verify=Verify.builder().mode('optimistic').build()", "delayed"),
    ("verification={'mode': 'economic_bond'}", "delayed"),
    ("verification={'mode': 'economic_bond'}, draw='immediate'", "immediate"),
    ("verify=Verify.builder().mode('consensus').runners(3).threshold(2).build()", None),
    ("response_schema='{}', verification={'mode': 'economic_bond'}", "delayed"),
    ("response_schema='{}', draw='delayed'", "delayed"),
    ("", None),
])
def test_draws_behind_a_bond_are_delayed(tmp_path, options, draw):
    """Decision 176: a job whose runner answers with its stake is drawn by a seed that nobody knows yet, unless its author says otherwise."""
    chain, actor = deploy(tmp_path, method(f"await runner.llm('p', {options})"))
    chain.execute(actor, "go", 7)
    assert chain.jobs()[0].kwargs.get("draw") == draw


def test_a_tool_has_its_own_names(tmp_path):
    chain, actor = deploy(tmp_path, method("await runner.mcp('shop', 'find', retry=3)"))
    chain.execute(actor, "go", 7)
    assert chain.jobs()[0].kwargs["retry"] == 3


def test_a_hundred_wait():
    chain = Chain()
    actor = chain.deploy(FILE)
    chain.execute(actor, "one", 1)
    account = chain.world.account(actor.to_bytes())
    assert account.storage[b"__continuation_count"] == (1).to_bytes(4, "big")
    for other in range(99):
        account.storage[b"__continuation:%032d" % other] = b""
    account.storage[b"__continuation_count"] = (100).to_bytes(4, "big")
    with pytest.raises(errors.ContinuationCountLimitError):
        chain.execute(actor, "two", 2)
    chain.answer("a")
    chain.execute(actor, "two", 2)


def test_the_count_forgets_parts_that_failed():
    """Decision 530: a failed part frees its record but not its place in the count, which is made anew where it reaches the limit."""
    chain = Chain()
    actor = chain.deploy(FILE)
    account = chain.world.account(actor.to_bytes())
    account.storage[b"__continuation_count"] = (100).to_bytes(4, "big")
    chain.execute(actor, "one", 1)
    assert account.storage[b"__continuation_count"] == (1).to_bytes(4, "big")


def test_guards_and_time(tmp_path):
    """The decorator's options: watched keys, and a height after which the method no longer resumes."""
    body = """
@public
@runner.continuation(guard_keys=["price"], timeout_blocks=2)
async def go(self, payload):
    try:
        return (await runner.http("u")).text
    except RunnerTimeoutError:
        return "late"

@public
def price(self, payload):
    self.storage["price"] = payload
"""
    chain, actor = deploy(tmp_path, body)
    chain.execute(actor, "go")
    chain.execute(actor, "price", 1)
    with pytest.raises(errors.StateConflictError):
        chain.answer("a")
    chain.execute(actor, "go")
    chain.mine(2)
    assert chain.answer("a") == "a"
    chain.execute(actor, "go")
    chain.mine(3)
    assert chain.answer("a") == "late"


# What is refused when the actor is deployed, with the place. core/vm/tests/continuations.rs refuses the same.
REFUSALS = [
    ("for i in [1]:\n    await runner.http('u')", "needs a bound: add @bounded_loop"),
    ("yield 1\nawait runner.http('u')", "a continuation cannot yield"),
    ("x = [await runner.http(u) for u in 'ab']", "a comprehension cannot await"),
    ("x = payload and await runner.http('u')", "use an if statement"),
    ("x = await runner.http('u') if payload else 1", "use an if statement"),
    ("x = 1 < 2 < await runner.http('u')", "name the result first"),
    ("x = str(payload) + (await runner.http('u')).text", "give its result a name first"),
    ("try:\n    pass\nfinally:\n    await runner.http('u')", "finally cannot await"),
    ("try:\n    pass\nexcept KeyError:\n    await runner.http('u')\n    raise", "cannot raise again"),
    ("match payload:\n    case 1:\n        await runner.http('u')", "a case cannot await"),
    ("async for x in payload:\n    pass", "use for"),
    ("async with TaskGroup() as g:\n    await runner.http('u')", "cannot await inside"),
    ("self.storage['a'] += await runner.http('u')", "await first, then add"),
    ("\n".join(["await runner.http('u')"] * 9), "9 awaits, at most 8"),
    ("x: (await runner.http('u')) = 1", "an await cannot stand here"),
    ("match payload:\n    case 1 if await runner.http('u'):\n        pass", "a case cannot await"),
    ("try:\n    pass\nexcept (await runner.http('u')):\n    pass", "an await cannot stand here"),
    ("def f(a=await runner.http('u')):\n    pass", "an await cannot stand here"),
    ("f = lambda a=await runner.http('u'): a", "an await cannot stand here"),
    ("async def inner():\n    await runner.http('u')\nawait runner.http('u')", "make it a method"),
    ("f = lambda: 1\nawait runner.http('u')\nreturn f()", "'f' is a function, which cannot be kept"),
    ("g = (i for i in 'ab')\nawait runner.http('u')\nreturn list(g)", "'g' is a generator, which cannot be kept"),
    ("import json\nawait runner.http('u')\nreturn json.dumps(1)", "'json' is a module, which cannot be kept"),
    ("try:\n    pass\nexcept KeyError as e:\n    await runner.http('u')\n    return str(e)", "'e' is an exception, which cannot be kept"),
]
LOOPS = "@bounded_loop(max_iterations=2)\n"
LOOP_REFUSALS = [
    ("while (await runner.http('u')).text:\n    pass", "a loop's condition cannot await"),
    ("for i in 'a':\n    pass\nelse:\n    await runner.http('u')", "a loop's else cannot await"),
]


@pytest.mark.parametrize("body, message", REFUSALS)
def test_refusals(tmp_path, body, message):
    with pytest.raises(errors.ContinuationLimitError, match=r"line \d+, column \d+: go\(\): ") as caught:
        deploy(tmp_path, method(body))
    assert message in str(caught.value)


@pytest.mark.parametrize("body, message", LOOP_REFUSALS)
def test_refusals_of_loops(tmp_path, body, message):
    with pytest.raises(errors.ContinuationLimitError) as caught:
        deploy(tmp_path, method(body, LOOPS))
    assert message in str(caught.value)


def test_not_async(tmp_path):
    with pytest.raises(errors.ContinuationLimitError, match="is not async"):
        deploy(tmp_path, "@runner.continuation\ndef go(self, payload):\n    pass")


def test_parameters(tmp_path):
    """A continuation takes several parameters like any handler."""
    body = "@public\n@runner.continuation\nasync def go(self, to: Address, amount: int = 3):\n    r = await runner.http('u')\n    return [to.to_hex(), amount, r.text]"
    chain, actor = deploy(tmp_path, body)
    chain.execute(actor, "go", [ALICE.to_bytes()])
    assert chain.answer("a") == [ALICE.to_hex(), 3, "a"]
    chain.execute(actor, "go", {"to": ALICE.to_bytes(), "amount": 4})
    assert chain.answer("a") == [ALICE.to_hex(), 4, "a"]
    assert codec.decode(codec.encode([1])) == [1]
