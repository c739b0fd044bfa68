from cowboy_sdk import Actor, actor, deferred, public, SortedMap


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        bids: SortedMap[int, str] = SortedMap([(30, "carol"), (10, "alice")])
        bids[20] = "bob"
        assert bids.keys() == [10, 20, 30] and bids.peekitem() == (30, "carol")
        del bids[30]
        assert bids.items() == [(10, "alice"), (20, "bob")] and bids.get(99) is None
