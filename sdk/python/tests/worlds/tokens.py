"""A token of the protocol, and what a query may not read."""

from cowboy_sdk import Actor, Address, actor, call, deferred, http, public, runtime


class NoSuchShare(Exception):
    """An exception of the actor's own."""


@actor
class Tokens(Actor):
    @public
    def init(self) -> None:
        self.storage["token"] = runtime.token_create("Share", "SHR", 9, 100, 150, None, "")

    @public
    def mint(self, to: Address, amount: int) -> int:
        runtime.token_mint(self.storage["token"], to, amount)
        return runtime.token_total_supply(self.storage["token"])

    @public
    @deferred
    def move(self, to: Address, amount: int) -> list[int]:
        token = self.storage["token"]
        runtime.token_transfer(token, to, amount)
        return [runtime.token_balance_of(token, self.address), runtime.token_balance_of(token, to)]

    @public
    def burn(self, amount: int) -> int:
        runtime.token_burn(self.storage["token"], amount)
        return runtime.token_total_supply(self.storage["token"])

    @public
    def take(self, owner: Address, amount: int) -> None:
        runtime.token_transfer_from(self.storage["token"], owner, self.address, amount)

    @public
    def allow_itself(self, amount: int) -> list[int]:
        token = self.storage["token"]
        runtime.token_approve(token, self.address, amount)
        runtime.token_transfer_from(token, self.address, self.address, 1)
        return [runtime.token_allowance(token, self.address, self.address), runtime.token_balance_of(token, self.address)]

    @public
    def unknown(self) -> int:
        return runtime.token_balance_of(bytes(32), self.address)

    @public
    def height(self) -> int:
        return runtime.get_block_height()

    @public
    def write(self) -> None:
        self.storage["note"] = "written"

    @public
    def scan(self) -> int:
        return len(self.storage.items("note"))

    @public
    def money(self) -> int:
        return runtime.get_balance()

    @public
    def shares(self) -> int:
        return runtime.token_balance_of(self.storage["token"], self.address)

    @public
    def ask(self) -> int:
        height: int = call(self.address, "height")
        return height

    @public
    def own_class(self) -> None:
        raise NoSuchShare("there is no share 7")

    @http.get("/scan")
    def page(self, request: http.Request) -> int:
        return self.scan()
