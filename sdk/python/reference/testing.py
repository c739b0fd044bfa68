from cowboy_sdk import Actor, CowboyModel, actor, public, runner


class Opinion(CowboyModel):
    action: str


class NoQuestion(Exception):
    """An exception of the actor's own."""


@actor
class Example(Actor):
    @public
    @runner.continuation
    async def judge(self, question: str) -> str:
        if not question:
            raise NoQuestion("ask something")
        answer = await runner.llm(question, response_model=Opinion)
        return answer.value.action if answer.value else str(answer.failure)

# Test
from cowboy_sdk.testing import ALICE, ActorFailed, Chain, Job, llm_failure, llm_value


def test(chain, example):
    assert isinstance(chain, Chain) and chain.balance(ALICE) > 0
    chain.execute(example, "judge", "Up?")
    (job,) = chain.jobs()
    assert isinstance(job, Job) and job.kind == "llm"
    assert chain.answer(llm_value({"action": "buy"})) == "buy"
    chain.execute(example, "judge", "Down?")
    assert chain.answer(llm_failure("provider_refusal")) == "provider_refusal"
    try:
        chain.execute(example, "judge", "")
    except ActorFailed as problem:
        assert type(problem).__name__ == "NoQuestion" and "ask something" in str(problem)
