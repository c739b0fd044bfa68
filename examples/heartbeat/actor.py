"""An actor that lives on its own: it wakes every few blocks, for ever, and keeps a short diary."""

from cowboy_sdk import OWNER, Actor, actor, callable_by, cancel_timer, emit, public, runtime, set_interval
from cowboy_sdk.collections import StoredLog

EVERY_BLOCKS = 5
DIARY = StoredLog("diary", limit=16)


@actor
class Heartbeat(Actor):
    @public
    def init(self) -> None:
        """Starts the heart. Nobody has to call the actor again."""
        # The actor pays for each beat. Limits near to what a beat needs let a small balance go a long way.
        self.storage["interval"] = set_interval(EVERY_BLOCKS, "beat", gas_limit=100_000, cells_limit=20_000)

    def beat(self) -> None:
        """Runs on every wake-up. Undecorated: only the actor itself can reach it."""
        entry = {
            "beat": DIARY.total() + 1,
            "height": runtime.current_block(),
            "time_ms": runtime.get_timestamp_ms(),
        }
        DIARY.append(entry)
        emit("beat", entry)

    @public
    def beats(self) -> int:
        """How often the heart has beaten."""
        return DIARY.total()

    @public
    def diary(self) -> list[dict[str, int]]:
        """The last sixteen beats, oldest first."""
        return DIARY.entries()

    @callable_by(OWNER)
    def stop(self) -> None:
        """Stops the heart. The interval's id still holds, however often it has fired."""
        cancel_timer(self.storage["interval"])
