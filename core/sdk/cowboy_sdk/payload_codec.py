"""How a payload becomes a handler's argument and a handler's result becomes bytes.

A handler declares its format (`@public(decode="json")`); undeclared means canonical CBOR. The caller picks the same
format with `codec=`: it does not travel with the message, so it is part of the handler's signature.

* `"cbor"`, `"json"`: an empty payload is None; bytes and None returned go out as they are, any other value is encoded.
* `"raw"`: bytes in, bytes out.
"""

from . import codec, json_codec
from .errors import CodecError

CODECS = ("raw", "cbor", "json")
DEFAULT_CODEC = "cbor"


class _Encoded:
    """A result to be encoded even though it is bytes or None."""

    def __init__(self, value):
        self.value = value


def ok(value):
    """Marks a handler's result to be encoded even when it is bytes or None, which otherwise go out unchanged."""
    return _Encoded(value)


def normalize_codec(name):
    """`name` itself. ValueError when it is not one of CODECS."""
    if name not in CODECS:
        raise ValueError(f"codec must be one of {CODECS!r}, got {name!r}")
    return name


def decode_payload(payload, name):
    """The argument that a handler declaring format `name` receives for `payload`."""
    if name == "raw":
        return payload
    if name not in CODECS:
        raise ValueError(f"unknown decode codec {name!r}")
    if not isinstance(payload, (bytes, bytearray)):
        raise CodecError(f"{name} payload must be bytes-like, got {type(payload).__name__}")
    if len(payload) == 0:
        return None
    return codec.decode(payload) if name == "cbor" else json_codec.decode(payload)


def encode_return(result, name):
    """The bytes that leave a handler declaring format `name`, or None for no output."""
    if isinstance(result, _Encoded):
        result = result.value
    elif result is None:
        return None
    elif isinstance(result, (bytes, bytearray)):
        return bytes(result)
    return encode_value(result, name)


def encode_value(value, name):
    """`value` in format `name`; whatever goes wrong is a CodecError."""
    if name == "json":
        return json_codec.encode(value)
    try:
        return codec.encode(value)
    except (OverflowError, RecursionError, UnicodeEncodeError) as problem:
        raise CodecError(f"cbor encode failed: {problem}") from problem


def encode_args(value, name):
    """The payload that a caller sends. None sends no bytes at all; `"raw"` takes bytes only (TypeError)."""
    if name == "raw":
        if not isinstance(value, (bytes, bytearray)):
            raise TypeError(f"codec='raw' requires a bytes payload, got {type(value).__name__}")
        return bytes(value)
    if value is None:
        return b""
    return codec.encode(value) if name == "cbor" else json_codec.encode(value)


def decode_return(result, name):
    """What a caller gets back. No output (the host gives b"") is None in the formats that encode."""
    if name == "raw":
        return result
    if not result:
        return None
    return codec.decode(result) if name == "cbor" else json_codec.decode(result)
