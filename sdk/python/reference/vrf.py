from cowboy_sdk import Actor, actor, deferred, public, vrf


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        assert len(vrf.randomness("draw")) == 32
        assert vrf.randomness("draw") == vrf.randomness("draw")
        assert 0 <= vrf.random_int("draw", 6) < 6
        assert vrf.to_int(bytes(32), 6) == 0
        epoch, view = vrf.current_round()
        # Name a round that nobody knows yet; read it in a later block.
        later = vrf.commit()
        assert later > [epoch, view]
        assert vrf.reveal_at(later, "draw") is None
