from typing import Any

from cowboy_sdk import Actor, actor, deferred, public, send
from cowboy_sdk.send import send_raw


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        send(self.address, {"text": "one"})
        send_raw(self.address, b"\xa1dtextctwo")

    # Messages arrive in a later block.
    @public
    def handle_message(self, payload: Any) -> None:
        self.storage["heard"] = self.storage.get("heard", []) + [payload["text"]]

    @public
    def heard(self) -> Any:
        return self.storage["heard"]

# Test
def test(chain, example):
    chain.execute(example, "run")
    chain.mine()
    assert chain.query(example, "heard") == ["one", "two"]
