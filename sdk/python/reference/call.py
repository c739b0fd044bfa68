from cowboy_sdk import Actor, actor, deferred, public, ActorCallError, call
from cowboy_sdk.call import ActorCallBuilder, call_builder


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        assert call(self.address, "double", [4]) == 8
        builder = call_builder(self.address).method("double").args([5]).cycles(1_000_000)
        assert isinstance(builder, ActorCallBuilder) and builder.execute() == 10
        try:
            call(self.address, "nothing")
        except ActorCallError as problem:
            assert "nothing" in str(problem)

    @public
    def double(self, number: int) -> int:
        return 2 * number
