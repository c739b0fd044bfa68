from typing import Any

from cowboy_sdk import Actor, actor, deferred, public
from cowboy_sdk.patterns import Handle, forget, handle_from, once, reply, request, take_answer, take_timeout


@actor
class Example(Actor):
    @public
    def pay(self, order: str) -> str:
        return "paid" if once(order) else "paid before"

    @public
    def again(self, order: str) -> None:
        forget(order)

    # A request to an actor (here to itself), with a deadline.
    @public
    @deferred
    def ask(self, question: str) -> None:
        request(self.address, question, answer="answered", timeout_blocks=5, on_timeout="too_late", context="first")

    @public
    @deferred
    def handle_message(self, message: Any) -> None:
        reply(self.sender, message, message["body"] + "!")

    @public
    def answered(self, message: Any) -> None:
        body, context = take_answer(message)
        self.storage["answer"] = [body, context]

    def too_late(self, message: Any) -> None:
        self.storage["answer"] = take_timeout(message)

    @public
    def answer(self) -> Any:
        return self.storage["answer"]

    # A handle that allows some methods only, and can be stored.
    @public
    def narrow(self) -> Any:
        handle = Handle(self.address, ["answer", "pay"])
        self.storage["handle"] = handle.narrowed(["answer"])
        return handle_from(self.storage["handle"]).call("answer")

# Test
def test(chain, example):
    assert chain.execute(example, "pay", "order-1") == "paid"
    assert chain.execute(example, "pay", "order-1") == "paid before"
    chain.execute(example, "again", "order-1")
    assert chain.execute(example, "pay", "order-1") == "paid"
    chain.execute(example, "ask", "hello")
    chain.mine(2)
    assert chain.query(example, "answer") == ["hello!", "first"]
    assert chain.execute(example, "narrow") == ["hello!", "first"]
