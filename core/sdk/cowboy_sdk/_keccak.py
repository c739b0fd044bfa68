"""Keccak-256 in plain Python, for tests outside the VM."""

_ROUND_CONSTANTS = []
_ROTATIONS = {}
_MASK = (1 << 64) - 1


def _prepare():
    register = 1
    for _ in range(24):
        constant = 0
        for j in range(7):
            if register & 1:
                constant |= 1 << ((1 << j) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        _ROUND_CONSTANTS.append(constant)
    x, y = 1, 0
    for t in range(24):
        _ROTATIONS[x, y] = (t + 1) * (t + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    _ROTATIONS[0, 0] = 0


_prepare()


def _rotate(word, count):
    return ((word << count) | (word >> (64 - count))) & _MASK


def _permute(lanes):
    for constant in _ROUND_CONSTANTS:
        parity = [lanes[x][0] ^ lanes[x][1] ^ lanes[x][2] ^ lanes[x][3] ^ lanes[x][4] for x in range(5)]
        for x in range(5):
            change = parity[(x - 1) % 5] ^ _rotate(parity[(x + 1) % 5], 1)
            lanes[x] = [lane ^ change for lane in lanes[x]]
        moved = [[0] * 5 for _ in range(5)]
        for x in range(5):
            for y in range(5):
                moved[y][(2 * x + 3 * y) % 5] = _rotate(lanes[x][y], _ROTATIONS[x, y])
        lanes = [
            [moved[x][y] ^ (~moved[(x + 1) % 5][y] & moved[(x + 2) % 5][y] & _MASK) for y in range(5)]
            for x in range(5)
        ]
        lanes[0][0] ^= constant
    return lanes


def keccak256(data):
    """The 32-byte Keccak-256 hash of `data` (the padding of Ethereum, not of SHA-3)."""
    rate = 136
    padded = bytearray(data)
    padded += bytes(rate - len(padded) % rate)
    padded[len(data)] ^= 0x01
    padded[-1] ^= 0x80
    lanes = [[0] * 5 for _ in range(5)]
    for start in range(0, len(padded), rate):
        for index in range(rate // 8):
            word = int.from_bytes(padded[start + 8 * index : start + 8 * index + 8], "little")
            lanes[index % 5][index // 5] ^= word
        lanes = _permute(lanes)
    return b"".join(lanes[index % 5][index // 5].to_bytes(8, "little") for index in range(4))
