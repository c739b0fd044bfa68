"""An agent: it greets whoever calls, and wakes itself up every few blocks to count."""

from cowboy_sdk import Actor, actor, emit, public, set_interval

EVERY = 5


@actor
class NAME(Actor):
    @public
    def init(self) -> None:
        """Runs once, in the transaction that deploys the actor: starts the timer."""
        self.storage["greetings"] = 0
        self.storage["ticks"] = 0
        set_interval(EVERY, "tick")

    @public
    def greet(self, name: str = "world") -> str:
        """Greets `name`, counts the greeting and emits an event."""
        count = self.storage.get("greetings", 0) + 1
        self.storage["greetings"] = count
        emit("greeted", {"name": name, "count": count})
        return f"Hello, {name}!"

    def tick(self) -> None:
        """Runs every EVERY blocks, paid from the actor's own balance. Without @public nobody else can call it."""
        self.storage["ticks"] = self.storage.get("ticks", 0) + 1

    @public
    def greetings(self) -> int:
        """How many greetings there have been."""
        return self.storage.get("greetings", 0)

    @public
    def ticks(self) -> int:
        """How often the timer has fired."""
        return self.storage.get("ticks", 0)
