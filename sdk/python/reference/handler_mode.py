from typing import Any

from cowboy_sdk import Actor, PurityViolationError, actor, deferred, public, pure, send
from cowboy_sdk.handler_mode import check_deferred_allowed


@actor
class Example(Actor):
    @public
    @pure
    def quiet(self) -> str:
        try:
            check_deferred_allowed("send")
        except PurityViolationError:
            return "refused"
        return "allowed"

    @public
    @deferred
    def loud(self) -> str:
        send(self.address, {"note": "later"})
        return "sent"

    @public
    def handle_message(self, payload: Any) -> None:
        self.storage["note"] = payload["note"]

# Test
def test(chain, example):
    assert chain.execute(example, "quiet") == "refused"
    assert chain.execute(example, "loud") == "sent"
