"""Backtracking: queens on a board, and a small knight's tour of tuples and sets."""


def queens(size, row=0, columns=0, left=0, right=0):
    if row == size:
        return 1
    count, free = 0, ~(columns | left | right) & ((1 << size) - 1)
    while free:
        bit = free & -free
        free ^= bit
        count += queens(size, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1)
    return count


def solve(size, placed):
    if len(placed) == size:
        return [placed]
    row, found = len(placed), []
    for column in range(size):
        if all(column != other and abs(column - other) != row - at for at, other in enumerate(placed)):
            found += solve(size, placed + (column,))
    return found


def reach(size, steps):
    cells = {(0, 0)}
    for _ in range(steps):
        following = set()
        for x, y in cells:
            for dx, dy in ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)):
                if 0 <= x + dx < size and 0 <= y + dy < size:
                    following.add((x + dx, y + dy))
        cells = following
    return len(cells)


print(queens(10), len(solve(7, ())), solve(7, ())[-1], reach(40, 36))
