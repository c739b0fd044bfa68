"""Keeps promises: whoever asks for a block some blocks ahead gets a timer that fires exactly there."""

from cowboy_sdk import actor, emit, public, runtime, set_timer


@actor
class Keeper:
    @public
    def init(self) -> None:
        self.storage["kept"] = 0

    @public
    def promise(self, blocks: int) -> None:
        """Sets a timer, which the actor pays."""
        height = runtime.current_block() + blocks
        set_timer(height, "keep", height, gas_limit=200_000, cells_limit=20_000)
        emit("promised", height)

    def keep(self, height: int) -> None:
        """Runs in the promised block."""
        assert runtime.current_block() == height
        self.storage["kept"] += 1
        emit("kept", height)

    @public
    def kept(self) -> int:
        """How many promises were kept."""
        return self.storage["kept"]
