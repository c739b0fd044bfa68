"""The smallest useful actor: it greets, and remembers how often."""

from cowboy_sdk import Actor, actor, public


@actor
class Hello(Actor):
    @public
    def greet(self, name: str = "world") -> str:
        """Greets `name` and counts the greeting."""
        self.storage["greetings"] = self.storage.get("greetings", 0) + 1
        return f"Hello, {name}!"

    @public
    def greetings(self) -> int:
        """How many greetings there have been."""
        return self.storage.get("greetings", 0)
