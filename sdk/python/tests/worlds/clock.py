"""An actor of timers and intervals, which notes when they fire."""

from cowboy_sdk import Actor, actor, public, runtime, set_interval, set_timer


@actor
class Clock(Actor):
    @public
    def once(self, height: int) -> None:
        set_timer(height, "tick", None)

    @public
    def every(self, blocks: int) -> int:
        set_interval(blocks, "tick", None)
        return runtime.current_block()

    def tick(self) -> None:
        self.storage["ticks"] = (self.storage["ticks"] or []) + [runtime.current_block()]

    @public
    def ticks(self) -> list[int]:
        return self.storage["ticks"] or []
