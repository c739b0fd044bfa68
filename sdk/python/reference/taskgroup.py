from typing import Any

from cowboy_sdk import Actor, TaskGroup, actor, public, runner
from cowboy_sdk.taskgroup import TaskHandle


@actor
class Example(Actor):
    @public
    @runner.continuation
    async def lengths(self, urls: list[str]) -> list[int]:
        async with TaskGroup() as group:
            tasks: list[TaskHandle[Any]] = [group.create_task(runner.http(url)) for url in urls]
        return [len(task.result().text) for task in tasks]

# Test
def test(chain, example):
    chain.execute(example, "lengths", {"urls": ["https://a.example.com", "https://b.example.com"]})
    first, second = chain.jobs()
    chain.answer("xy", first)
    assert chain.answer("z", second) == [2, 1]
