from cowboy_sdk import Actor, actor, deferred, public, storage
from cowboy_sdk.storage import ActorStorage


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        self.storage["greeting"] = "hello"
        assert self.storage["greeting"] == storage.get("greeting") == "hello"
        assert self.storage["missing"] is None and storage.get("missing", 7) == 7
        storage.set("list", [1, 2])
        assert "list" in self.storage
        storage.delete("list")
        assert "list" not in self.storage
        assert isinstance(self.storage, ActorStorage)
