"""A counter: state, permissions, events and errors in one screen."""

from cowboy_sdk import OWNER, Actor, actor, callable_by, emit, public


@actor
class Counter(Actor):
    @public
    def init(self) -> None:
        """Runs once, in the transaction that deploys the actor."""
        self.storage["count"] = 0

    @public
    def increment(self) -> int:
        """Adds one and returns the new count."""
        return self._change(1)

    @public
    def add(self, amount: int) -> int:
        """Adds `amount`, which must be positive, and returns the new count."""
        if not isinstance(amount, int) or amount <= 0:
            raise ValueError("amount must be a positive integer")
        return self._change(amount)

    @callable_by(OWNER)
    def reset(self) -> None:
        """Back to zero. Only the account that deployed the actor may do this."""
        self.storage["count"] = 0
        emit("reset", {"by": self.sender})

    @public
    def get(self) -> int:
        """The current count."""
        return self.storage.get("count", 0)

    def _change(self, amount: int) -> int:
        # A leading underscore makes a helper: shared code that no message can reach.
        count = self.storage.get("count", 0) + amount
        self.storage["count"] = count
        emit("changed", {"count": count, "amount": amount})
        return count
