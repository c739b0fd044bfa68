"""Ed25519 signatures (ZIP 215) in plain Python, for tests outside the VM. It handles no secret keys."""

import hashlib

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)
_BASE = bytes.fromhex("58" + "66" * 31)


def _point(raw):
    """The point (extended coordinates) of 32 bytes, None where they are none. Coordinates beyond the field are taken modulo it."""
    number = int.from_bytes(raw, "little")
    y = (number & (2**255 - 1)) % _P
    squared = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(squared, (_P + 3) // 8, _P)
    if (x * x - squared) % _P:
        x = x * _ROOT % _P
    if (x * x - squared) % _P:
        return None
    if x & 1 != number >> 255:
        x = -x % _P
    return x, y, 1, x * y % _P


def _add(left, right):
    x1, y1, z1, t1 = left
    x2, y2, z2, t2 = right
    a, b = (y1 - x1) * (y2 - x2) % _P, (y1 + x1) * (y2 + x2) % _P
    c, d = 2 * _D * t1 * t2 % _P, 2 * z1 * z2 % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _multiply(point, scalar):
    total = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            total = _add(total, point)
        point = _add(point, point)
        scalar >>= 1
    return total


def holds(key, message, signature):
    """Whether a signature of 64 bytes holds for a key of 32: the cofactored equation, with s below the group's order."""
    s = int.from_bytes(signature[32:], "little")
    a, r = _point(key), _point(signature[:32])
    if a is None or r is None or s >= _ORDER:
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % _ORDER
    negative = (-a[0] % _P, a[1], a[2], -a[3] % _P)
    minus_r = (-r[0] % _P, r[1], r[2], -r[3] % _P)
    difference = _add(_add(_multiply(_point(_BASE), s), _multiply(negative, challenge)), minus_r)
    x, y, z, _ = _multiply(difference, 8)
    return x == 0 and y == z
