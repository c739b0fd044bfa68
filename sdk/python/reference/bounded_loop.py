from cowboy_sdk import Actor, actor, deferred, public, LoopBoundExceeded, bounded_loop
from cowboy_sdk.bounded_loop import BoundedRange, check_iteration


@bounded_loop(max_iterations=3)
def endless() -> None:
    for _ in BoundedRange(2):
        pass
    while True:
        check_iteration()


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        try:
            endless()
        except LoopBoundExceeded:
            self.storage["stopped"] = True
        assert self.storage["stopped"] is True
