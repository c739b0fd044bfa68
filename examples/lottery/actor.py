"""A lottery that cannot be rigged: tickets first, the random number later.

When the sale closes, the actor names a round of consensus that is still to come. Its seed decides, and nobody knew it
while tickets could be bought.
"""

from typing import Any

from cowboy_sdk import OWNER, Actor, Address, actor, callable_by, deferred, emit, public, runtime, set_timer, vrf
from cowboy_sdk.collections import StoredMap

TICKET_PRICE = 100
# Blocks from the end of the sale to the draw: by then the named round has happened.
DRAW_DELAY = 3

# The most that closing and drawing may use. The actor pays for both, so it must own a little beside the prize.
STEP_CYCLES = 200_000
STEP_CELLS = 20_000

TICKETS = StoredMap("ticket:")


@actor
class Lottery(Actor):
    @callable_by(OWNER)
    def start(self, blocks: int) -> int:
        """Sells tickets for `blocks` blocks. Returns the last height of the sale."""
        if self.storage.get("running", False):
            raise ValueError("a lottery is running already")
        if blocks < 1:
            raise ValueError("a sale lasts at least one block")
        last = runtime.current_block() + blocks
        self.storage["running"] = True
        self.storage["last"] = last
        self.storage["sold"] = 0
        set_timer(last + 1, "close", gas_limit=STEP_CYCLES, cells_limit=STEP_CELLS)
        return last

    @public
    def buy(self) -> int:
        """Buys one ticket for exactly TICKET_PRICE. Returns its number."""
        if runtime.current_block() > self.storage.get("last", 0):
            raise ValueError("no tickets are sold now")
        if runtime.get_value() != TICKET_PRICE:
            raise ValueError(f"a ticket costs {TICKET_PRICE}")
        number = self.storage.get("sold", 0)
        TICKETS[str(number)] = self.sender
        self.storage["sold"] = number + 1
        return number

    # No decorator admits anybody to the next two: only the actor's own timers get there.

    def close(self) -> None:
        """Commits to the round that will decide, now that no ticket can be bought any more."""
        self.storage["round"] = vrf.commit()
        set_timer(runtime.current_block() + DRAW_DELAY, "draw", gas_limit=STEP_CYCLES, cells_limit=STEP_CELLS)

    @deferred
    def draw(self) -> None:
        """Picks the winner with the seed of the named round, and pays."""
        # The actor's address in the label keeps two lotteries apart that close in the same block.
        seed = vrf.reveal_at(self.storage["round"], b"lottery" + bytes(self.address))
        if seed is None:
            # The epoch ended before the named round came: name another.
            self.close()
            return
        self.storage["running"] = False
        sold = self.storage["sold"]
        if sold == 0:
            emit("drawn", {"winner": None, "prize": 0})
            return
        ticket = vrf.to_int(seed, sold)
        winner = Address(TICKETS[str(ticket)])
        prize = sold * TICKET_PRICE
        self.storage["winner"] = winner
        runtime.transfer_balance(winner, prize)
        emit("drawn", {"round": self.storage["round"], "ticket": ticket, "winner": winner, "prize": prize})

    @public
    def status(self) -> dict[str, Any]:
        """Whether a lottery is running, its last height of sale, how many tickets are sold, and who won last."""
        return {
            "running": self.storage.get("running", False),
            "last": self.storage.get("last", 0),
            "sold": self.storage.get("sold", 0),
            "winner": self.storage["winner"],
        }
