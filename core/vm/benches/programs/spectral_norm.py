"""Floats in comprehensions: the largest singular value of an infinite matrix."""


def entry(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def times(vector):
    size = len(vector)
    return [sum([entry(i, j) * vector[j] for j in range(size)]) for i in range(size)]


def times_transposed(vector):
    size = len(vector)
    return [sum([entry(j, i) * vector[j] for j in range(size)]) for i in range(size)]


size = 140
u = [1.0] * size
for _ in range(7):
    v = times_transposed(times(u))
    u = times_transposed(times(v))
print(f"{(sum(a * b for a, b in zip(u, v)) / sum(b * b for b in v)) ** 0.5:.9f}")
