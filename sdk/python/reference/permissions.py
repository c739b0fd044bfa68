from cowboy_sdk import OWNER, Actor, actor, callable_by, public


@actor
class Example(Actor):
    @public
    def anybody(self) -> str:
        return "welcome"

    @callable_by(OWNER)
    def owner_only(self) -> str:
        return "done"

# Test
from cowboy_sdk import PermissionDeniedError
from cowboy_sdk.testing import BOB


def test(chain, example):
    assert chain.execute(example, "anybody", sender=BOB) == "welcome"
    assert chain.execute(example, "owner_only") == "done"
    try:
        chain.execute(example, "owner_only", sender=BOB)
    except PermissionDeniedError:
        return
    raise AssertionError("bob is not the owner")
