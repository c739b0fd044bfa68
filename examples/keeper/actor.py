"""Watches a page for ever: a timer wakes it, a job looks, and what changed is an event. Nobody calls it again."""

from typing import Any

from cowboy_sdk import OWNER, Actor, JobFailed, RunnerTimeoutError, actor, callable_by, cancel_timer, emit, public, runner, set_interval

EVERY_BLOCKS = 20
# Blocks after which it no longer waits: before the next look.
PATIENCE = 10
URL = "https://status.example.com/service"


@actor
class Keeper(Actor):
    @public
    def init(self) -> None:
        self.storage["interval"] = set_interval(EVERY_BLOCKS, "look", gas_limit=500_000, cells_limit=60_000)

    # Undecorated: only the actor's own timer gets here.
    @runner.continuation
    async def look(self, payload: bytes) -> None:
        """One look at the page. A look that comes to nothing is counted, and the next one comes by itself."""
        self.storage["looks"] = self.storage.get("looks", 0) + 1
        try:
            page = await runner.within(PATIENCE, runner.http(URL, resume_cycles=400_000, resume_cells=102_000))
        except (JobFailed, RunnerTimeoutError):
            self.storage["misses"] = self.storage.get("misses", 0) + 1
            return
        state = page.text.strip()
        if state != self.storage.get("state"):
            emit("changed", {"from": self.storage.get("state"), "to": state})
            self.storage["state"] = state

    @public
    def report(self) -> dict[str, Any]:
        """The last state seen, how often it looked, and how often in vain."""
        return {"state": self.storage.get("state"), "looks": self.storage.get("looks", 0), "misses": self.storage.get("misses", 0)}

    @callable_by(OWNER)
    def stop(self) -> None:
        """Ends the watch."""
        cancel_timer(self.storage["interval"])
