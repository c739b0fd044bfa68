from cowboy_sdk import Actor, actor, deferred, public
from cowboy_sdk.results import RunnerResult, StructuredResult, extract_text


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        result = RunnerResult('{"price": "12.50"}')
        assert result.json() == {"price": "12.50"} and result.text == extract_text('{"price": "12.50"}')
        assert issubclass(StructuredResult, RunnerResult)
