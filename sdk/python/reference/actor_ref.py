from cowboy_sdk import Actor, actor, deferred, public, ActorRef
from cowboy_sdk.actor_ref import derive_actor_address, derive_actor_address_cip6, derive_actor_address_grouped


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        me = ActorRef(self.address)
        assert me.double(4) == me.call("double", [4]) == 8
        assert me.with_cycles(1_000_000).double(5) == 10
        assert me.address_obj == self.address
        # The address of a deployment is known before it: deployer, salt and hash of the source.
        salt, code_hash = bytes(32), bytes(32)
        assert derive_actor_address(self.address, salt, code_hash) != self.address
        assert derive_actor_address_cip6(self.address, salt, code_hash) == derive_actor_address_cip6(self.address, salt, code_hash)
        assert derive_actor_address_grouped(self.address, salt, code_hash) != self.address

    @public
    def double(self, number: int) -> int:
        return 2 * number
