"""The smallest useful actor: it greets, and remembers how often."""

from cowboy_sdk import actor, public


@actor
class Hello:
    @public
    def greet(self, name: str) -> str:
        """Greets `name` and counts the greeting."""
        self.storage["greetings"] = self.storage.get("greetings", 0) + 1
        return f"Hello, {name or 'world'}!"

    @public
    def greetings(self) -> int:
        """How many greetings there have been."""
        return self.storage.get("greetings", 0)
