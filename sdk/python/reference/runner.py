from typing import Any

from cowboy_sdk import Actor, RunnerTimeoutError, actor, deferred, public, runner
from cowboy_sdk.runner import send_message


@actor
class Example(Actor):
    @public
    @runner.continuation
    async def read(self, url: str) -> str:
        page = await runner.http(url)
        answer = await runner.llm("Shorten: " + page.text, max_tokens=50)
        return answer.text

    @public
    @runner.continuation
    async def tools(self) -> str:
        found = await runner.mcp("shop", "find", {"query": "hat"})
        made = await runner.custom("wordcount", found.text)
        thought = await runner.agent("planner", made.text)
        ran = await runner.container("tool:1", ["run", thought.text])
        return ran.text

    @public
    @runner.continuation
    async def patient(self, url: str) -> None:
        await runner.sleep(2)
        try:
            page = await runner.within(3, runner.http(url))
        except RunnerTimeoutError:
            self.storage["end"] = "late"
            return
        self.storage["end"] = page.text

    @public
    def end(self) -> Any:
        return self.storage["end"]

    # Without await: the answer comes to a handler of your own.
    @public
    @deferred
    def ask(self) -> None:
        send_message("http", bytes(32), "on_page", args=["https://example.com"])

    @public
    def on_page(self, message: dict[str, Any]) -> None:
        self.storage["end"] = runner.handle_runner_result(self, message) if "handler" in message else message["result"]

# Test
def test(chain, example):
    chain.execute(example, "read", "https://example.com")
    chain.answer("A long page.")
    assert chain.answer("Short.") == "Short."

    chain.execute(example, "tools")
    for word in ("hat", "one", "plan"):
        chain.answer(word)
    assert [job.kind for job in chain.jobs()] == ["container"]
    assert chain.answer("done") == "done"

    chain.execute(example, "patient", "https://example.com")
    chain.mine(6)
    assert chain.query(example, "end") == "late"

    chain.execute(example, "ask")
    chain.answer("A page.")
    assert chain.query(example, "end") == "A page."
