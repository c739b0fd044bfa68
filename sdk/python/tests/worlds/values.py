"""Values that go through the codec, signatures, and a handler that uses the actor's own handlers."""

from typing import Any

from cowboy_sdk import Actor, CodecError, PermissionDeniedError, actor, callable_by, codec, emit, public, runtime


class Odd:
    pass


class Reduced:
    def __cbor_reduce__(self) -> list:
        return [1]


@actor
class Values(Actor):
    @public
    def refused(self) -> list:
        """What each value without an encoding raises where it is stored, emitted and encoded."""
        deep: list = []
        for _ in range(300):
            deep = [deep]
        found = []
        for value in ({1}, frozenset(), ..., [{2}], {"a": ...}, Odd(), Odd, len, float("nan"), {(1,): 1}, deep):
            for attempt in (lambda: codec.encode(value), lambda: self.storage.__setitem__("v", value), lambda: emit("v", {"v": value})):
                try:
                    attempt()
                    found.append(f"{type(value).__name__} has an encoding")
                except CodecError:
                    pass
        return found

    @public
    def zero(self) -> list:
        """Minus zero, written and read."""
        return [codec.encode(-0.0) == codec.encode(0.0), str(codec.decode(b"\xfb\x80" + bytes(7)))]

    @public
    def ends(self) -> list:
        return [max([], key=len, default=None), min((), default=None), codec.decode(codec.encode(Reduced()))]

    @public
    def signed(self, scheme: int, key: bytes, message: bytes, signature: bytes) -> bool:
        return runtime.verify_signature(scheme, key, message, signature)

    # The actor's own handlers, called as methods.

    @public
    def price(self) -> int:
        return 7

    @public
    def named(self, name: str, count: int = 1) -> dict:
        return {"name": name, "count": count}

    @public
    def nothing(self) -> None:
        self.storage["called"] = True

    @public
    def raw(self, data: bytes) -> bytes:
        return data + b"!"

    @public(decode="cbor")
    def whole(self, payload: Any) -> Any:
        return ["whole", payload]

    @callable_by(b"\x77" * 20)
    def closed(self) -> int:
        return 1

    @public
    def own(self) -> list:
        """What each of them gives."""
        found = [self.price() + 1, self.named("Ada"), self.named("Ada", count=2), self.nothing(), self.storage["called"], self.raw(b"x")]
        found.append(self.whole({"a": 1}))
        # Bytes are the payload of a handler that decodes one: what a router passes on.
        found.append(codec.decode(self.whole(codec.encode(5))))
        try:
            self.closed()
        except PermissionDeniedError:
            found.append("closed")
        return found
