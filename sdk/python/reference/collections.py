from cowboy_sdk import Actor, actor, deferred, public
from cowboy_sdk.collections import StoredLog, StoredMap


# One storage key for each entry: a change writes one key.
BALANCES = StoredMap("balance:", default=0)
# The newest three of all that were appended.
DIARY = StoredLog("diary", limit=3)


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        BALANCES["ada"] = 5
        assert BALANCES["ada"] == 5 and BALANCES["bob"] == 0
        assert BALANCES.items() == [(b"ada", 5)]
        for number in range(4):
            DIARY.append(number)
        assert DIARY.entries() == [1, 2, 3] and DIARY.total() == 4
