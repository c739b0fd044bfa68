"""What a name holds while its method waits: values as plain data that CBOR carries, and back with their types.

Numbers, texts, bytes, lists and dicts go as they are. Whatever else can be kept is a map with one tag:

    {"__cowboy__": kind, "value": plain}

A class takes part by a method `__keep__()` that returns (kind, plain), and an entry in `MAKERS`.
"""

from ._host import pvm_host
from .errors import CaptureTypeError, CodecError, UncarriedNameError
from .types import Address, BlockHeight, TokenId, ordered_set

TAG = "__cowboy__"
_PLAIN = (bool, int, float, str, bytes)

# How a kept value is made again: {kind: function(plain)}.
MAKERS = {
    "tuple": tuple,
    "bytearray": bytearray,
    "address": Address,
    "token": TokenId,
    "height": BlockHeight,
    "ordered_set": ordered_set,
    "set": set,
    "pairs": dict,
    "dict": dict,
}


def keep(value, actor=None):
    """`value` as plain data. CaptureTypeError for what cannot be kept; `actor` stands for itself."""
    kind = type(value)
    if value is None or kind in _PLAIN:
        return value
    if kind is list:
        return [keep(item, actor) for item in value]
    if kind is dict:
        return _keep_dict(value, actor)
    if value is actor:
        return {TAG: "actor", "value": None}
    hook = getattr(value, "__keep__", None)
    if hook is not None and not isinstance(value, type):
        name, plain = hook()
        return {TAG: name, "value": keep(plain, actor)}
    if kind in (tuple, set, ordered_set):
        name = "tuple" if kind is tuple else "ordered_set" if kind is ordered_set else "set"
        return {TAG: name, "value": [keep(item, actor) for item in value]}
    if kind is bytearray:
        return {TAG: "bytearray", "value": bytes(value)}
    if kind in (Address, TokenId):
        return {TAG: "address" if kind is Address else "token", "value": value.to_bytes()}
    if kind is BlockHeight:
        return {TAG: "height", "value": int(value)}
    raise CaptureTypeError(
        f"a {kind.__name__} cannot be kept across an await. Keep numbers, texts, bytes, lists and dicts, and make the object "
        "again when the method goes on."
    )


def _keep_dict(value, actor):
    if all([type(key) is str for key in value]):
        kept = {key: keep(item, actor) for key, item in value.items()}
        return {TAG: "dict", "value": [list(pair) for pair in kept.items()]} if TAG in value else kept
    pairs = [[keep(key, actor), keep(item, actor)] for key, item in value.items()]
    return {TAG: "pairs", "value": pairs}


def make(kept, actor=None):
    """The value that `keep` made `kept` of."""
    if type(kept) is list:
        return [make(item, actor) for item in kept]
    if type(kept) is not dict:
        return kept
    if TAG not in kept:
        return {key: make(item, actor) for key, item in kept.items()}
    kind = kept[TAG]
    if kind == "actor":
        return actor
    return MAKERS[kind](make(kept["value"], actor))


def keep_names(values, actor):
    """Names and what they hold, as plain data. One value under two names stays one value.

    What cannot be kept leaves a mark: a read of it, after the await, is an UncarriedNameError.
    """
    kept, known = {}, []
    for name, value in values.items():
        same = [other for other, seen in known if seen is value]
        if same:
            kept[name] = {TAG: "same", "value": same[0]}
            continue
        try:
            kept[name] = keep(value, actor)
        except (CaptureTypeError, CodecError):
            kept[name] = {TAG: "uncarried", "value": type(value).__name__}
        if type(value) not in _PLAIN and value is not None:
            known.append((name, value))
    return kept


def make_names(kept, actor):
    """What `keep_names` kept."""
    values, later = {}, []
    for name, plain in kept.items():
        kind = plain.get(TAG) if type(plain) is dict else None
        if kind == "same":
            later.append((name, plain["value"]))
        elif kind == "uncarried":
            values[name] = Uncarried(name, plain["value"])
        else:
            values[name] = make(plain, actor)
    for name, other in later:
        values[name] = values[other]
    return values


def fingerprint(raw):
    """The Keccak-256 of stored bytes as hex; None of what is absent."""
    return None if raw is None else pvm_host.keccak256(raw).hex()


class Uncarried:
    """Stands for a value that could not be kept: every use of it is an UncarriedNameError."""

    def __init__(self, name, kind):
        self.__dict__["_lost"] = (name, kind)

    def __getattr__(self, name):
        _lost(self)


def _lost(self, *arguments):
    name, kind = self.__dict__["_lost"]
    raise UncarriedNameError(
        f"`{name}` could not be carried across the await: `{kind}` is not storable; "
        "store what you need on the capture (`ctx`) explicitly, or make it again after the await"
    )


for _name in (
    "call iter next len bool getitem setitem delitem contains str repr eq ne lt le gt ge hash add radd sub rsub mul rmul "
    "truediv floordiv mod pow and or xor neg pos invert int float index bytes enter exit setattr"
).split():
    setattr(Uncarried, f"__{_name}__", _lost)
