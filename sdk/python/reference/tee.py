from cowboy_sdk import Actor, actor, public, runner
from cowboy_sdk.tee import tee_call


@actor
class Example(Actor):
    @public
    @runner.continuation
    async def secret(self, url: str) -> str:
        page = await tee_call({"type": "http", "url": url})
        return page.text

# Test
def test(chain, example):
    chain.execute(example, "secret", "https://example.com")
    (job,) = chain.jobs()
    assert job.kind == "http"
    assert chain.answer("attested") == "attested"
