from cowboy_sdk import Actor, actor, deferred, public, codec


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        assert codec.decode(codec.encode({"a": [1, "two", b"three", None]})) == {"a": [1, "two", b"three", None]}
        assert codec.encode({"b": 1, "a": 2}) == codec.encode({"a": 2, "b": 1})
