"""Buys with tools, within limits that neither a tool nor a model can lift: the manifest's."""

from cowboy_sdk import OWNER, Actor, Address, CowboyModel, JobFailed, actor, callable_by, emit, public, runner, runtime
from cowboy_sdk.collections import StoredLog

SERVER = "shop"
ORDERS = StoredLog("order", limit=32)


class Quote(CowboyModel):
    seller: str
    price: int


@actor
class Shopper(Actor):
    @callable_by(OWNER)
    @runner.continuation
    async def buy(self, item: str, most: int) -> int | None:
        """Asks the shop's tools for a quote, pays the seller if it is at most `most`, and orders."""
        offer = await runner.mcp(SERVER, "quote", {"item": item})
        try:
            quote = offer.parse(Quote)
            if quote is None:
                raise ValueError("the tool gave none")
            seller = Address(quote.seller)
        except Exception as problem:
            emit("refused", {"item": item, "why": f"bad quote: {type(problem).__name__}"})
            return None
        if not 0 < quote.price <= most:
            emit("refused", {"item": item, "why": "too dear", "price": quote.price})
            return None
        # The chain's own limits stand behind ours: econ.transfer in the manifest bounds one payment, and a block's.
        runtime.transfer_balance(seller, quote.price)
        paid = quote.price
        payment = runtime.get_tx_hash().hex()
        try:
            receipt = await runner.mcp(SERVER, "order", {"item": item, "payment": payment})
            words = receipt.text
        except JobFailed as problem:
            words = f"unconfirmed: {problem.reason}"
        ORDERS.append({"item": item, "paid": paid, "payment": payment, "receipt": words})
        emit("bought", {"item": item, "paid": paid})
        return paid

    @public
    def orders(self) -> int:
        """How much it has bought."""
        return ORDERS.total()
