from cowboy_sdk import Actor, actor, emit, public


@actor
class Example(Actor):
    @public
    def run(self) -> None:
        emit("greeted", {"name": "Ada"})

# Test
def test(chain, example):
    chain.execute(example, "run")
    assert chain.events(example) == [("greeted", {"name": "Ada"})]
