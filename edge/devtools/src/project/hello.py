from cowboy_sdk import Actor, actor, emit, public


@actor
class NAME(Actor):
    @public
    def init(self) -> None:
        """Runs once, in the transaction that deploys the actor."""
        self.storage["greetings"] = 0

    @public
    def greet(self, name: str = "world") -> str:
        """Greets `name`, counts the greeting and emits an event."""
        count = self.storage.get("greetings", 0) + 1
        self.storage["greetings"] = count
        emit("greeted", {"name": name, "count": count})
        return f"Hello, {name}!"

    @public
    def greetings(self) -> int:
        """How many greetings there have been."""
        return self.storage.get("greetings", 0)
