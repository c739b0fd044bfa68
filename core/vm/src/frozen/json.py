"""JSON: values to text and back, with the text and the errors of CPython's json module."""
from json.decoder import JSONDecodeError, JSONDecoder
from json.encoder import JSONEncoder

__all__ = ["dump", "dumps", "load", "loads", "JSONDecoder", "JSONDecodeError", "JSONEncoder"]

_default_encoder = JSONEncoder()
_default_decoder = JSONDecoder()


def dumps(
    obj, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, cls=None, indent=None, separators=None,
    default=None, sort_keys=False, **kw,
):
    """The JSON text of a value."""
    if (
        not skipkeys and ensure_ascii and check_circular and allow_nan and cls is None and indent is None and separators is None
        and default is None and not sort_keys and not kw
    ):
        return _default_encoder.encode(obj)
    return (cls or JSONEncoder)(
        skipkeys=skipkeys, ensure_ascii=ensure_ascii, check_circular=check_circular, allow_nan=allow_nan, indent=indent,
        separators=separators, default=default, sort_keys=sort_keys, **kw,
    ).encode(obj)


def dump(obj, fp, *, cls=None, **kw):
    """Writes the JSON text of a value to something with `write`."""
    for chunk in (cls or JSONEncoder)(**kw).iterencode(obj):
        fp.write(chunk)


def detect_encoding(b):
    """The encoding of JSON bytes: by their mark, or else by where zeros stand, since JSON begins with an ASCII character."""
    if b.startswith((b"\x00\x00\xfe\xff", b"\xff\xfe\x00\x00")):
        return "utf-32"
    if b.startswith((b"\xfe\xff", b"\xff\xfe")):
        return "utf-16"
    if b.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    if len(b) >= 4:
        if not b[0]:
            return "utf-16-be" if b[1] else "utf-32-be"
        if not b[1]:
            return "utf-16-le" if b[2] or b[3] else "utf-32-le"
    elif len(b) == 2:
        if not b[0]:
            return "utf-16-be"
        if not b[1]:
            return "utf-16-le"
    return "utf-8"


def loads(s, *, cls=None, object_hook=None, parse_float=None, parse_int=None, parse_constant=None, object_pairs_hook=None, **kw):
    """The value of JSON text, which may also be bytes in UTF-8, UTF-16 or UTF-32."""
    if isinstance(s, str):
        if s.startswith("\ufeff"):
            raise JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", s, 0)
    elif isinstance(s, (bytes, bytearray)):
        s = bytes(s).decode(detect_encoding(s))
    else:
        raise TypeError(f"the JSON object must be str, bytes or bytearray, not {s.__class__.__name__}")
    if (
        cls is None and object_hook is None and parse_int is None and parse_float is None and parse_constant is None
        and object_pairs_hook is None and not kw
    ):
        return _default_decoder.decode(s)
    if cls is None:
        cls = JSONDecoder
    if object_hook is not None:
        kw["object_hook"] = object_hook
    if object_pairs_hook is not None:
        kw["object_pairs_hook"] = object_pairs_hook
    if parse_float is not None:
        kw["parse_float"] = parse_float
    if parse_int is not None:
        kw["parse_int"] = parse_int
    if parse_constant is not None:
        kw["parse_constant"] = parse_constant
    return cls(**kw).decode(s)


def load(fp, **kw):
    """The value of the JSON text of something with `read`."""
    return loads(fp.read(), **kw)
