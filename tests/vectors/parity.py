"""Writes parity.txt: the parity of volumes' codes, made by another implementation than the crate that volumes use.

    python3 tests/vectors/parity.py > tests/vectors/parity.txt

The field has 65,536 elements, as polynomials modulo x^16 + x^5 + x^3 + x^2 + 1. An element is written by its coordinates in a basis of
Cantor. A cell is a sequence of 64 bytes, each of them 32 elements: first their low bytes, then their high ones. Cells are values of
polynomials at points that are numbered, and the point with a number is the element that is written so:

- With few data cells, k' is the next power of two from k. The data cells, and zeros after them, are the values of a polynomial of degree
  below k' at the points from 0 on. The parity cells are its values at the points from k' on.
- With many, m' is the next power of two from m. Each m' data cells in turn, and zeros after the last, are the values of a polynomial of
  degree below m' at the next m' points from m' on. The parity cells are the values of the sum of these polynomials at the points from 0 on.
"""

import hashlib

POLYNOMIAL = 0x1002D
BASIS = (
    0x0001, 0xACCA, 0x3C0E, 0x163E, 0xC582, 0xED2E, 0x914C, 0x4012, 0x6C98, 0x10D8, 0x6A72, 0xB900, 0xFDB8, 0xFB34, 0xFF38, 0x991E,
)
ORDER = 65_535


def field():
    """Logarithms and powers of elements as they are written."""
    power, state = {}, 1
    for exponent in range(ORDER):
        power[state] = exponent
        state = state << 1 ^ (POLYNOMIAL if state & 0x8000 else 0)
    logarithm, element = [0] * (ORDER + 1), [0] * ORDER
    for written in range(1, ORDER + 1):
        value = 0
        for bit, vector in enumerate(BASIS):
            if written >> bit & 1:
                value ^= vector
        logarithm[written] = power[value]
        element[power[value]] = written
    return logarithm, element


LOGARITHM, ELEMENT = field()


def product(left, right):
    return ELEMENT[(LOGARITHM[left] + LOGARITHM[right]) % ORDER] if left and right else 0


def quotient(left, right):
    return ELEMENT[(LOGARITHM[left] - LOGARITHM[right]) % ORDER] if left else 0


def share(points, own, at):
    """The value at a point of the polynomial that is 1 at one of the points and 0 at the others."""
    result = 1
    for point in points:
        if point != own:
            result = product(result, quotient(at ^ point, own ^ point))
    return result


def power_of_two(number):
    return 1 << (number - 1).bit_length()


def matrix(data, parity):
    """What each data cell counts in each parity cell."""
    wide, narrow = power_of_two(data), power_of_two(parity)
    if wide < narrow or wide == narrow and data > parity:
        points = range(wide)
        return [[share(points, place, wide + row) for place in range(data)] for row in range(parity)]
    rows = []
    for row in range(parity):
        starts = [narrow * (place // narrow + 1) for place in range(data)]
        rows.append([share(range(start, start + narrow), start + place % narrow, row) for place, start in enumerate(starts)])
    return rows


def elements(cell):
    return [cell[at + place] | cell[at + place + 32] << 8 for at in range(0, len(cell), 64) for place in range(32)]


def written(values):
    out = bytearray()
    for at in range(0, len(values), 32):
        out += bytes(value & 255 for value in values[at : at + 32]) + bytes(value >> 8 for value in values[at : at + 32])
    return bytes(out)


def parity_cells(cells, parity):
    """The parity cells of data cells."""
    words = [elements(cell) for cell in cells]
    result = []
    for row in matrix(len(cells), parity):
        values = [0] * len(words[0])
        for factor, cell in zip(row, words):
            values = [value ^ product(factor, word) for value, word in zip(values, cell)]
        result.append(written(values))
    return result


def sample(length):
    """Bytes that the test makes, too."""
    return bytes((number * 0x9E37_79B9_7F4A_7C15 & (1 << 64) - 1) >> 56 for number in range(length))


def main():
    print("# Parity cells of volumes' codes (decision 149): k, m, the length of a cell, and the SHA-256 of the m parity cells one after another.")
    print("# The data cells are the first k times as many bytes of the sequence whose byte n is the top byte of n * 0x9E3779B97F4A7C15 modulo 2^64.")
    print("# tests/vectors/parity.py writes this file.")
    for data in range(1, 17):
        for parity in range(1, 9):
            for cell in (64,) if (data, parity) != (4, 2) else (64, 128, 1_024):
                bytes_of = sample(data * cell)
                cells = [bytes_of[place * cell : (place + 1) * cell] for place in range(data)]
                print(data, parity, cell, hashlib.sha256(b"".join(parity_cells(cells, parity))).hexdigest())


if __name__ == "__main__":
    main()
