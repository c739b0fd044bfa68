from typing import Any

from cowboy_sdk import Actor, actor, public
from cowboy_sdk.actor import Context


@actor
class Counter(Actor):
    @public
    def init(self) -> None:
        self.storage["count"] = 0

    @public
    def count(self) -> Any:
        self.storage["count"] = self.storage["count"] + 1
        return self.storage["count"]


# A plain function gets a Context in the place of `self`.
@actor.handler("where")
def where(ctx: Context, payload: Any) -> int:
    return ctx.block_height

# Test
def test(chain, example):
    assert chain.execute(example, "count") == 1
    assert chain.execute(example, "count") == 2
