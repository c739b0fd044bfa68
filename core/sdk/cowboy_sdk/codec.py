"""Canonical CBOR: one value, one encoding (RFC 8949 §4.2, the profile of CIP-6 §11.5).

None, bool, int of up to 4,096 bits, finite float, bytes, str, list, tuple and dict; shortest heads; integers past 64 bits
as bignums; floats always binary64 with one zero (minus zero is written and read as zero); map keys unique, ordered by
encoded length, then bytes, and neither lists nor tuples nor dicts; nothing of indefinite length; at most 256 levels. All
else is a CodecError: sets, frozensets and `...` as well. An object may offer `__cbor_reduce__()`, which returns the plain value to encode in its place.

Inside the VM both directions run natively; `_cbor` is the reference and what tests outside the VM use.
"""

from ._cbor import decode as _decode
from ._cbor import encode as _encode
from ._host import pvm_host
from .errors import CodecError

_native_encode = getattr(pvm_host, "cbor_encode", None)
_native_decode = getattr(pvm_host, "cbor_decode", None)
# What the native codec raises when a value has no encoding or bytes are not canonical.
_native_error = getattr(pvm_host, "CborError", pvm_host.HostError)


def encode(value):
    """The canonical bytes of `value`. CodecError when it has none."""
    if _native_encode is None:
        return _encode(value)
    try:
        return _native_encode(value)
    except _native_error as problem:
        fault = _fault(problem)
    raise CodecError(fault)


def decode(data):
    """The value that `data` encodes. CodecError unless the bytes are canonical and used up."""
    if _native_decode is None:
        return _decode(data)
    try:
        return _native_decode(data)
    except _native_error as problem:
        fault = _fault(problem)
    raise CodecError(fault)


def _fault(problem):
    return problem.args[0] if problem.args else "CBOR: refused"
