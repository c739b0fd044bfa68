from typing import Any

from cowboy_sdk import Actor, actor, deferred, public, cancel_timer, runtime, set_interval, set_timer, timer
from cowboy_sdk.timer import (
    decode_interval,
    dispatch_interval,
    extend_timer,
    reschedule_interval,
    resume_interval,
    schedule,
    schedule_after,
    schedule_timer,
    schedule_timer_ex,
)


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        height = runtime.current_block()
        set_timer(height + 1, "wake", b"set_timer")
        schedule_after(1, "wake", b"schedule_after")
        set_interval(2, "tick", b"beat")
        never = set_timer(height + 100, "wake")
        extend_timer(never, height + 200)
        cancel_timer(never)
        # The published forms: their payloads reach handle_timer.
        for timer_id in (schedule(height + 50), schedule_timer(height + 50, b""), schedule_timer_ex(height + 50, b"")):
            cancel_timer(timer_id)
        assert decode_interval(b"no interval") is None and reschedule_interval(b"no interval") is None
        assert dispatch_interval(b"no interval", {}) is False
        try:
            resume_interval(never)
        except Exception as problem:
            self.storage["refused"] = type(problem).__name__

    # Undecorated handlers are reached by the actor's own timers only.
    def wake(self, payload: bytes) -> None:
        self.storage["log"] = self.storage.get("log", []) + [payload.decode()]

    @timer
    def tick(self, payload: bytes) -> None:
        self.wake(payload)

    @public
    def log(self) -> Any:
        return self.storage["log"]

# Test
def test(chain, example):
    chain.execute(example, "run")
    chain.mine(4)
    assert sorted(chain.query(example, "log")) == ["beat", "beat", "schedule_after", "set_timer"]
