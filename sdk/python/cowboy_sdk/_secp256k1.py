"""secp256k1 signatures in plain Python, for tests outside the VM. It handles no secret keys."""

from ._keccak import keccak256

_P = 2**256 - 2**32 - 977
_N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_G = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)


def _add(a, b):
    if a is None or b is None:
        return a or b
    if a[0] == b[0]:
        if (a[1] + b[1]) % _P == 0:
            return None
        slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, _P) % _P
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, _P) % _P
    x = (slope * slope - a[0] - b[0]) % _P
    return x, (slope * (a[0] - x) - a[1]) % _P


def _multiply(point, scalar):
    total = None
    while scalar:
        if scalar & 1:
            total = _add(total, point)
        point = _add(point, point)
        scalar >>= 1
    return total


def _lifted(x, parity):
    """The point of an x coordinate whose y is even (0) or odd (1), None where there is none."""
    squared = (pow(x, 3, _P) + 7) % _P
    y = pow(squared, (_P + 1) // 4, _P)
    if x >= _P or y * y % _P != squared:
        return None
    return x, y if y % 2 == parity else _P - y


def holds(key, message, signature):
    """Whether r ‖ s of a message's Keccak-256 holds for a compressed key; s is in the lower half."""
    point = _lifted(int.from_bytes(key[1:], "big"), key[0] - 2) if key[0] in (2, 3) else None
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if point is None or not 0 < r < _N or not 0 < s <= _N // 2:
        return False
    z, inverse = int.from_bytes(keccak256(message), "big"), pow(s, -1, _N)
    found = _add(_multiply(_G, z * inverse % _N), _multiply(point, r * inverse % _N))
    return found is not None and found[0] % _N == r


def recover(digest, signature):
    """The 20-byte address whose key made `signature` (r ‖ s ‖ v) of the 32-byte digest, or None."""
    if len(digest) != 32 or len(signature) != 65:
        return None
    r = int.from_bytes(signature[:32], "big")
    s = int.from_bytes(signature[32:64], "big")
    parity = signature[64] - 27 if signature[64] >= 27 else signature[64]
    # Only the lower half of s is accepted, so that nobody can turn one signature into a second one.
    if parity not in (0, 1) or not 0 < r < _N or not 0 < s <= _N // 2:
        return None
    point = _lifted(r, parity)
    if point is None:
        return None
    inverse = pow(r, -1, _N)
    z = int.from_bytes(digest, "big")
    key = _add(_multiply(point, s * inverse % _N), _multiply(_G, -z * inverse % _N))
    if key is None:
        return None
    return keccak256(key[0].to_bytes(32, "big") + key[1].to_bytes(32, "big"))[12:]
