"""What a test gives to a handler and gets from it: shared by `cowboy_sdk.testing` on CPython and by the one of `cowboy test`.

It is no part of the SDK of actors: on a chain, a transaction carries bytes.
"""

from . import codec, json_codec
from .errors import CodecError


def encoded(payload, form):
    """The bytes of a payload for a handler whose format is "cbor", "json" or "raw".

    Bytes are the payload itself, None is an empty one. A raw handler reads text as UTF-8, and `{}` as the two bytes that tools send.
    """
    if payload is None:
        return b""
    if isinstance(payload, (bytes, bytearray)):
        return bytes(payload)
    if form == "json":
        return json_codec.encode(payload)
    if form == "raw" and isinstance(payload, str):
        return payload.encode("utf-8")
    if form == "raw" and payload == {}:
        return b"{}"
    return codec.encode(payload)


def decoded(raw, form="cbor"):
    """What a handler of this format returned, or an event carries: None for nothing, the bytes where they are no value."""
    if raw is None or raw == b"":
        return None
    try:
        return json_codec.decode(raw) if form == "json" else codec.decode(raw)
    except CodecError:
        return raw
