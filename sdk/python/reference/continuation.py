from cowboy_sdk import Actor, actor, deferred, public
from cowboy_sdk.continuation import Capture, capture, delete_cont, load_cont, load_cont_raw, save_cont


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        kept = capture()
        kept.price = 12
        assert isinstance(kept, Capture) and kept.to_dict() == {"price": 12}
        assert Capture.from_dict({"price": 12}).get("price") == 12
        # By hand, what @runner.continuation does by itself: keep a state under an id, and load it when the answer comes.
        cid = bytes(32)
        save_cont(cid, 1, kept, "resume")
        assert load_cont_raw(cid) is not None
        assert load_cont(cid) is not None
        delete_cont(cid)
