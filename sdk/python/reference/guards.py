from cowboy_sdk import Actor, StateConflictError, actor, deferred, public, storage_guard
from cowboy_sdk.guards import GuardedValue, GuardSet, reentrancy_guard


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        guard = storage_guard("price")
        assert isinstance(guard, GuardedValue)
        self.storage["price"] = 1
        before = guard.compute_hash()
        guard.verify(before)
        prices = GuardSet("price", "fee")
        hashes = prices.hashes()
        prices.verify_all(hashes)
        self.storage["price"] = 2
        try:
            storage_guard("price").verify(before)
        except StateConflictError:
            self.storage["changed"] = True
        assert self.storage["changed"] is True

    # A call that comes back to this handler while it runs is refused.
    @public
    @reentrancy_guard
    def once(self) -> str:
        return "inside"

# Test
def test(chain, example):
    chain.execute(example, "run")
    assert chain.execute(example, "once") == "inside"
