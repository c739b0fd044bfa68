"""A counter, as little as it can be: what the load calls."""

from cowboy_sdk import actor, public


@actor
class Counter:
    @public
    def init(self) -> None:
        """Starts at zero."""
        self.storage["count"] = 0

    @public
    def increment(self) -> None:
        """Adds one."""
        self.storage["count"] += 1

    @public
    def get(self) -> int:
        """The count."""
        return self.storage["count"]
