from cowboy_sdk import Actor, actor, deferred, public, runtime, system
from cowboy_sdk.system import SystemActor

LEDGER = system.dual_basefee_and_token_registry
# The same by its number, for methods that these types do not know yet.
SAME = SystemActor(0x06)


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
    def pay(self, to: bytes, amount: int) -> list[object]:
        token: bytes = self.storage["token"]
        LEDGER.token_transfer(token_id=token, to=to, amount=amount)
        return [runtime.token_balance_of(token, to), SAME.address == LEDGER.address]

# Test
from cowboy_sdk.testing import BOB, Chain


def test(chain: Chain, mint: object) -> None:
    chain.execute(mint, "found", 100)
    assert chain.execute(mint, "pay", [bytes(BOB), 30]) == [30, True]
