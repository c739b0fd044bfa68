from cowboy_sdk import Actor, actor, call, deferred, public, spawn
from cowboy_sdk.spawn import encode_manifest, upgrade_self

CHILD = """
from cowboy_sdk import actor, public

@actor
class Child:
    @public
    def answer(self):
        return 42
"""


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        child = spawn(CHILD, salt=b"1", manifest={"entitlements": []})
        assert call(child, "answer") == 42
        assert isinstance(encode_manifest({"entitlements": []}), bytes)
        # Code never changes in place: a router points to a new version instead (examples/router).
        try:
            upgrade_self(CHILD)
        except Exception as problem:
            assert "does not offer" in str(problem)
