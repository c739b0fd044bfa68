"""Money held between two people: the buyer pays in, the seller gets it when the buyer is content.

If neither does anything, the money goes back when time is up: anybody may ask for it.
"""

from typing import Any

from cowboy_sdk import Actor, Address, PermissionDeniedError, actor, deferred, emit, public, runtime
from cowboy_sdk.collections import StoredMap

DEALS = StoredMap("deal:")


@actor
class Escrow(Actor):
    @public
    def open(self, seller: Address, blocks: int) -> int:
        """Pays the value sent along into a new deal with `seller`. Returns its number.

        The buyer may `release` it, the seller may `refund` it; after `blocks` blocks anybody may `expire` it.
        """
        amount = runtime.get_value()
        if amount == 0:
            raise ValueError("send the price along as the message's value")
        if blocks < 1:
            raise ValueError("a deal lasts at least one block")
        number: int = self.storage.get("deals", 0) + 1
        self.storage["deals"] = number
        deadline = runtime.current_block() + blocks
        # No timer here: the actor would pay for its fire, and what it holds belongs to its customers. Who wants the deal to
        # expire by itself schedules a call of `expire` from an own account.
        DEALS[str(number)] = {"buyer": self.sender, "seller": seller, "amount": amount, "deadline": deadline}
        emit("opened", {"deal": number, "buyer": self.sender, "seller": seller, "amount": amount})
        return number

    @public
    @deferred
    def release(self, number: int) -> None:
        """The buyer is content: the seller gets the money."""
        deal = self._deal(number)
        self._only(deal["buyer"])
        self._settle(number, deal, deal["seller"], "released")

    @public
    @deferred
    def refund(self, number: int) -> None:
        """The seller gives up: the buyer gets the money back."""
        deal = self._deal(number)
        self._only(deal["seller"])
        self._settle(number, deal, deal["buyer"], "refunded")

    @public
    @deferred
    def expire(self, number: int) -> None:
        """Gives the money of an overdue deal back to the buyer. Anybody may ask for it."""
        deal = self._deal(number)
        if runtime.current_block() < deal["deadline"]:
            raise ValueError(f"deal {number} runs until block {deal['deadline']}")
        self._settle(number, deal, deal["buyer"], "expired")

    @public
    def get(self, number: int) -> Any:
        """What is agreed in a deal; None when there is none or it is settled."""
        return DEALS[str(number)]

    def _deal(self, number: int) -> dict[str, Any]:
        deal: dict[str, Any] | None = DEALS[str(number)]
        if deal is None:
            raise ValueError(f"there is no open deal {number}")
        return deal

    def _only(self, party: bytes) -> None:
        if self.sender != party:
            raise PermissionDeniedError("only the other party of this deal may do this")

    def _settle(self, number: int, deal: dict[str, Any], winner: bytes, how: str) -> None:
        # Forget the deal before the money leaves: whatever happens next, it cannot be paid twice.
        del DEALS[str(number)]
        runtime.transfer_balance(winner, deal["amount"])
        emit(how, {"deal": number, "to": winner, "amount": deal["amount"]})
