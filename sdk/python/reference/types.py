from cowboy_sdk import Actor, actor, deferred, public, Address, BlockHeight, TokenId, ordered_set
from cowboy_sdk.types import address_argument, to_address_bytes, token_argument


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        seller = Address("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
        assert to_address_bytes(seller) == address_argument(seller) == bytes(seller) and len(seller) == 20
        assert seller.to_hex(checksum=False) == "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"
        assert Address.RESULT_VERIFIER.is_system() and Address.ZERO.is_zero()
        token = TokenId(bytes(32))
        assert token_argument(token) == token.to_bytes()
        assert BlockHeight(5) + 2 == 7
        assert ordered_set([3, 1, 3, 2]).to_list() == [3, 1, 2]
