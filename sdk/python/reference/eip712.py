from cowboy_sdk import Actor, actor, deferred, public, eip712


DOMAIN = {"name": "Market", "chainId": 1337}
TYPES = {"Order": [{"name": "seller", "type": "address"}, {"name": "price", "type": "uint256"}]}


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        assert eip712.find_primary_type(TYPES) == "Order"
        assert eip712.encode_type("Order", TYPES) == "Order(address seller,uint256 price)"
        message = {"seller": "0x70997970c51812dc3a010c7d01b50e0d17dc79c8", "price": 12}
        assert len(eip712.domain_separator(DOMAIN)) == len(eip712.hash_struct("Order", TYPES, message)) == 32
        assert len(eip712.digest(DOMAIN, TYPES, message)) == 32
        assert eip712.recover(DOMAIN, TYPES, message, bytes(64)) is None
        assert eip712.verify(self.address, DOMAIN, TYPES, message, bytes(64)) is False
