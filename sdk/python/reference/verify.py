from cowboy_sdk import Actor, actor, deferred, public, Verify
from cowboy_sdk.verify import VerifyBuilder


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        builder = Verify.builder().mode("consensus").runners(3).threshold(2)
        assert isinstance(builder, VerifyBuilder)
        agreed = builder.check(Verify.majority_vote("action")).check(Verify.numeric_range("confidence", 0, 100)).build()
        assert (agreed["mode"], agreed["runners"], agreed["threshold"]) == ("consensus", 3, 2)
