"""Strict JSON, for handlers that declare `decode="json"`: sorted keys, ASCII, no blanks, no NaN.

`json` is imported by those who need it, so that loading the SDK loads nothing else.
"""

from ._cbor import plain
from .errors import CodecError


def encode(value):
    """The JSON bytes of `value`. CodecError for what JSON cannot carry."""
    import json

    try:
        reduced = plain(value)
        _refuse_surrogates(reduced)
        text = json.dumps(reduced, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as problem:
        raise CodecError(f"json encode failed: {problem}") from problem
    return text.encode("ascii")


def decode(data):
    """The value of JSON bytes in UTF-8. CodecError for anything `encode` could not write again."""
    import json

    if not isinstance(data, (bytes, bytearray)):
        raise CodecError(f"json payload must be bytes-like, got {type(data).__name__}")
    try:
        value = json.loads(bytes(data).decode("utf-8"))
        _refuse_surrogates(value)
    except (ValueError, RecursionError) as problem:
        raise CodecError(f"json decode failed: {problem}") from problem
    return value


def _refuse_surrogates(value):
    """Walks `value` without recursion. ValueError for lone surrogates and for floats that are not finite."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            item.encode("utf-8")
        elif isinstance(item, float):
            if not float("-inf") < item < float("inf"):
                raise ValueError("number is not finite")
        elif isinstance(item, dict):
            pending.extend(item.keys())
            pending.extend(item.values())
        elif isinstance(item, (list, tuple)):
            pending.extend(item)
