"""An actor that calls system actors by name."""

from cowboy_sdk import Actor, actor, deferred, public, runtime, system

LEDGER = system.dual_basefee_and_token_registry


@actor
class Mint(Actor):
    @public
    @deferred
    def found(self, supply: int) -> bytes:
        token = LEDGER.token_create(name="Hay", symbol="HAY", decimals=0, initial_supply=supply)
        self.storage["token"] = token
        return token

    @public
    @deferred
    def pay(self, to: bytes, amount: int) -> int:
        token: bytes = self.storage["token"]
        LEDGER.token_transfer(token_id=token, to=to, amount=amount)
        return runtime.token_balance_of(token, to)
