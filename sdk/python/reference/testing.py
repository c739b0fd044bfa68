from cowboy_sdk import Actor, CowboyModel, actor, public, runner


class Opinion(CowboyModel):
    action: str


@actor
class Example(Actor):
    @public
    @runner.continuation
    async def judge(self, question: str) -> str:
        answer = await runner.llm(question, response_model=Opinion)
        return answer.value.action if answer.value else str(answer.failure)

# Test
from cowboy_sdk.testing import ALICE, Chain, Job, llm_failure, llm_value


def test(chain, example):
    assert isinstance(chain, Chain) and chain.balance(ALICE) > 0
    chain.execute(example, "judge", "Up?")
    (job,) = chain.jobs()
    assert isinstance(job, Job) and job.kind == "llm"
    assert chain.answer(llm_value({"action": "buy"})) == "buy"
    chain.execute(example, "judge", "Down?")
    assert chain.answer(llm_failure("provider_refusal")) == "provider_refusal"
