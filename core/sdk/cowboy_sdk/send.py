"""`send`: a message to another actor, delivered exactly once in a later block."""

from ._effects import send_message
from .handler_mode import check_deferred_allowed
from .payload_codec import DEFAULT_CODEC, encode_args, normalize_codec
from .types import to_address_bytes


def send(target, payload=None, *, raw=False, codec=None, value=0, handler=""):
    """Sends `payload` to the actor `target` and returns at once.

    The message leaves when this transaction commits, and only then; it cannot be called back. It arrives at the
    target's `handle_message`, or at `handler` when one is named, with this actor as the sender and `value` base units
    of CBY. `codec` is the payload's format, "cbor" unless given; `raw=True` is the older spelling of `codec="raw"`.

    PurityViolationError from a handler that is not @deferred.
    """
    check_deferred_allowed("send()")
    if raw and codec not in (None, "raw"):
        raise ValueError(f"send(raw=True) already selects codec='raw'; codec={codec!r} contradicts it")
    name = "raw" if raw else normalize_codec(DEFAULT_CODEC if codec is None else codec)
    if raw and not isinstance(payload, (bytes, bytearray)):
        raise TypeError(f"send(raw=True) requires bytes payload, got {type(payload).__name__}")
    send_message(to_address_bytes(target), encode_args(payload, name), value=value, handler=handler)


def send_raw(target, payload):
    """Sends bytes as they are."""
    send(target, payload, raw=True)
