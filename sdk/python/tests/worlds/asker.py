from typing import Any

from cowboy_sdk import Actor, CowboyModel, JobFailed, TaskGroup, actor, public, runner, runtime


class Opinion(CowboyModel):
    action: str
    confidence: int


@actor
class Asker(Actor):
    @public
    @runner.continuation
    async def read(self, url: str) -> str:
        page = await runner.http(url)
        answer = await runner.llm("Shorten: " + page.text, max_tokens=50)
        self.storage["short"] = answer.text
        return answer.text

    @public
    @runner.continuation
    async def judge(self, question: str) -> str:
        try:
            answer = await runner.llm(question, response_model=Opinion, max_tokens=50)
        except JobFailed as problem:
            self.storage["opinion"] = problem.reason
            return problem.reason
        self.storage["opinion"] = answer.value.action
        return answer.value.action

    @public
    @runner.continuation
    async def compare(self, urls: list[str]) -> list[int]:
        async with TaskGroup() as group:
            tasks = [group.create_task(runner.http(url)) for url in urls]
        lengths = [len(task.result().text) for task in tasks]
        self.storage["lengths"] = lengths
        return lengths

    @public
    @runner.continuation
    async def fragile(self, url: str) -> None:
        page = await runner.http(url)
        raise ValueError(page.text)

    @public
    def waiting(self) -> int:
        return len(runtime.scan_state_prefix(b"__continuation:", 100) + runtime.scan_state_prefix(b"__await:", 100))

    @public
    def kept(self, key: str) -> Any:
        return self.storage.get(key)
