"""What other actors call: setters that return nothing, handlers that fail, one that nobody may reach."""

from cowboy_sdk import Actor, actor, public


@actor
class Callee(Actor):
    @public
    def init(self) -> None:
        self.storage["value"] = 0

    @public
    def set(self, value: int) -> None:
        self.storage["value"] = value

    @public
    def nothing(self) -> None:
        return None

    @public(decode="json")
    def nothing_as_json(self, payload: object) -> None:
        return None

    @public(decode="raw")
    def nothing_as_bytes(self, payload: bytes) -> None:
        return None

    @public
    def value(self) -> int:
        return self.storage.get("value", 0)

    @public
    def fails(self) -> None:
        raise ValueError("on purpose")

    def _hidden(self) -> None:
        pass
