from cowboy_sdk import Actor, actor, deferred, public, pvm_time, runtime


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        # Every clock is the block's: it stands still within a block.
        assert pvm_time.block_height() == pvm_time.block_height_obj() == runtime.current_block()
        assert pvm_time.time_ms() == runtime.get_timestamp_ms()
        assert pvm_time.time_ns() == pvm_time.time_ms() * 1_000_000
        assert pvm_time.time() >= 0 and pvm_time.monotonic_ns() >= 0 and pvm_time.monotonic() >= 0
