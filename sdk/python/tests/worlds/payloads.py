"""One rule for the payloads of every handler, init included."""

from cowboy_sdk import Actor, Address, actor, public


@actor
class Payloads(Actor):
    @public
    def init(self, token: Address, price: int, period: int = 30) -> None:
        self.storage["terms"] = [token, price, period]

    @public
    def terms(self) -> list:
        return self.storage["terms"]

    @public
    def greet(self, name: str = "world") -> str:
        return f"Hello, {name}!"

    @public
    def one(self, name: str) -> str:
        return name

    @public
    def ids(self, ids: list) -> list:
        return ids

    @public
    def options(self, options: dict) -> dict:
        return options

    @public
    def pay(self, to: Address, amount: int, note: str = "") -> list:
        return [to, amount, note]

    @public(decode="json")
    def as_json(self, price: float, paid: bool = False) -> list:
        return [price, paid]

    @public
    def whole(self, payload):
        return payload
