"""Lets models judge open questions: the verdict is what most of them mean, in whatever words."""

from typing import Any

from cowboy_sdk import Actor, JobFailed, Verify, actor, emit, public, runner
from cowboy_sdk.collections import StoredMap

CASES = StoredMap("case:")
JURY = Verify.builder().mode("semantic_similarity").runners(3).threshold(2).check(Verify.semantic_similarity(threshold=0.85)).build()


@actor
class Jury(Actor):
    @public
    @runner.continuation
    async def judge(self, question: str) -> str:
        """Puts a question to three models. Two must mean the same; a hung jury is tried once more."""
        number = self.storage.get("cases", 0) + 1
        self.storage["cases"] = number
        CASES[str(number)] = {"question": question, "verdict": None}
        prompt = f"Answer in one sentence: {question}"
        try:
            answer = await runner.llm(prompt, verify=JURY, max_input_tokens=500, max_tokens=80, max_price=300_000)
        except JobFailed:
            emit("hung", {"case": number})
            answer = await runner.llm(prompt, verify=JURY, max_input_tokens=500, max_tokens=80, max_price=300_000)
        CASES[str(number)] = {"question": question, "verdict": answer.text}
        emit("verdict", {"case": number, "verdict": answer.text})
        return answer.text

    @public
    def case(self, number: int) -> Any:
        """A question and its verdict, None until it is in."""
        return CASES[str(number)]
