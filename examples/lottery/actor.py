"""A lottery that cannot be rigged: tickets first, the random number later.

Tickets are sold until a height is reached. The winner is drawn some blocks after that, from a seed that did not exist
while tickets could still be bought.
"""

from cowboy_sdk import OWNER, Address, actor, callable_by, deferred, emit, public, runtime, set_timer, vrf
from cowboy_sdk.collections import StoredMap

TICKET_PRICE = 100
# Blocks between the last ticket and the draw: long enough that no block holds both.
DRAW_DELAY = 3

TICKETS = StoredMap("ticket:")


@actor
class Lottery:
    @callable_by(OWNER)
    def start(self, blocks: int) -> int:
        """Sells tickets for `blocks` blocks. Returns the height of the draw."""
        if self.storage.get("closes", 0):
            raise ValueError("a round is running already")
        if blocks < 1:
            raise ValueError("a round lasts at least one block")
        closes = runtime.current_block() + blocks
        self.storage["closes"] = closes
        self.storage["sold"] = 0
        # The moment of the draw is fixed now, so that nobody can wait for a number that suits.
        set_timer(closes + DRAW_DELAY, "draw")
        return closes + DRAW_DELAY

    @public
    def buy(self) -> int:
        """Buys one ticket for exactly TICKET_PRICE. Returns its number."""
        if runtime.current_block() > self.storage.get("closes", 0):
            raise ValueError("no tickets are sold now")
        if runtime.get_value() != TICKET_PRICE:
            raise ValueError(f"a ticket costs {TICKET_PRICE}")
        number = self.storage["sold"]
        TICKETS[str(number)] = self.sender
        self.storage["sold"] = number + 1
        return number

    @deferred
    def draw(self) -> None:
        """Picks the winner and pays. Undecorated otherwise: only the actor's own timer gets here."""
        sold = self.storage["sold"]
        self.storage["closes"] = 0
        if sold == 0:
            emit("drawn", {"winner": None, "prize": 0})
            return
        # The actor's address in the label keeps two lotteries in one block apart.
        ticket = vrf.random_int(b"lottery" + bytes(self.address), sold)
        winner = Address(TICKETS[str(ticket)])
        prize = sold * TICKET_PRICE
        self.storage["winner"] = winner
        runtime.transfer_balance(winner, prize)
        emit("drawn", {"ticket": ticket, "winner": winner, "prize": prize})

    @public
    def status(self) -> dict:
        """When the sale closes (0: none is on), how many tickets are sold, and who won last."""
        return {
            "closes": self.storage.get("closes", 0),
            "sold": self.storage.get("sold", 0),
            "winner": self.storage["winner"],
        }
