"""`emit`: events in the receipt, for people and programs that watch the chain."""

from ._effects import emit_event
from ._wrapping import look_like

_NOTHING = object()


def emit(topic, payload=_NOTHING):
    """Emits an event at once, or decorates a method so that it emits what it returns.

        emit("Transfer", {"to": to, "amount": amount})

        @emit("price")
        def _update(self, price): ...

    A payload of bytes goes out as it is, anything else as canonical CBOR of at most 4,096 bytes.
    """
    if not isinstance(topic, str):
        raise TypeError("emit: the topic must be a str")
    if payload is not _NOTHING:
        return emit_event(topic, payload)

    def decorate(function):
        @look_like(function)
        def emitting(*args, **kwargs):
            result = function(*args, **kwargs)
            emit_event(topic, result)
            return result

        return emitting

    return decorate
