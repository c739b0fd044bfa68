"""Lists of small integers: pancake flips over every permutation."""


def fannkuch(size):
    permutation, counts = list(range(size)), [0] * size
    best, checksum, turn, sign = 0, 0, size, 1
    while True:
        first = permutation[0]
        if first:
            work, flips = permutation[:], 0
            while first:
                work[:first + 1] = work[first::-1]
                flips += 1
                first = work[0]
            if flips > best:
                best = flips
            checksum += sign * flips
        if sign == 1:
            permutation[0], permutation[1] = permutation[1], permutation[0]
            sign = -1
        else:
            permutation[1], permutation[2] = permutation[2], permutation[1]
            sign = 1
            for index in range(2, size):
                if counts[index] < index:
                    counts[index] += 1
                    break
                if index == size - 1:
                    return checksum, best
                counts[index] = 0
                permutation.insert(index + 1, permutation.pop(0))
        turn += 1


print([fannkuch(8) for _ in range(3)])
