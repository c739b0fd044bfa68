"""A program: shortest paths, topological order, components, spanning tree, flood fill, with a heap of its own."""


class Heap:
    def __init__(self):
        self.items = []

    def push(self, item):
        items = self.items
        items.append(item)
        at = len(items) - 1
        while at and items[at] < items[(at - 1) // 2]:
            items[at], items[(at - 1) // 2] = items[(at - 1) // 2], items[at]
            at = (at - 1) // 2

    def pop(self):
        items = self.items
        top, last = items[0], items.pop()
        if items:
            items[0], at = last, 0
            while (child := 2 * at + 1) < len(items):
                if child + 1 < len(items) and items[child + 1] < items[child]:
                    child += 1
                if items[at] <= items[child]:
                    break
                items[at], items[child] = items[child], items[at]
                at = child
        return top

    def __bool__(self):
        return bool(self.items)


roads = {"a": {"b": 7, "c": 9, "f": 14}, "b": {"c": 10, "d": 15}, "c": {"d": 11, "f": 2}, "d": {"e": 6}, "f": {"e": 9}, "e": {}}


def shortest(start):
    distances, previous, heap = {start: 0}, {}, Heap()
    heap.push((0, start))
    while heap:
        distance, here = heap.pop()
        if distance > distances[here]:
            continue
        for there, length in roads[here].items():
            candidate = distance + length
            if candidate < distances.get(there, float("inf")):
                distances[there], previous[there] = candidate, here
                heap.push((candidate, there))
    return distances, previous


def path(previous, target):
    steps = [target]
    while steps[-1] in previous:
        steps.append(previous[steps[-1]])
    return "->".join(reversed(steps))


def topological(graph):
    incoming = {node: 0 for node in graph}
    for targets in graph.values():
        for target in targets:
            incoming[target] += 1
    ready, order = sorted(node for node, count in incoming.items() if count == 0), []
    while ready:
        node = ready.pop(0)
        order.append(node)
        for target in graph[node]:
            incoming[target] -= 1
            if incoming[target] == 0:
                ready.append(target)
    return order


def components(size, links):
    parent = list(range(size))

    def find(node):
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for left, right in links:
        parent[find(left)] = find(right)
    groups = {}
    for node in range(size):
        groups.setdefault(find(node), []).append(node)
    return sorted(groups.values())


def fill(picture, row, column, paint):
    grid = [list(line) for line in picture]
    old, todo = grid[row][column], [(row, column)]
    while todo:
        r, c = todo.pop()
        if 0 <= r < len(grid) and 0 <= c < len(grid[r]) and grid[r][c] == old:
            grid[r][c] = paint
            todo += [(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)]
    return ["".join(line) for line in grid]


def life(cells, generations):
    for _ in range(generations):
        neighbours = {}
        for x, y in cells:
            for dx in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    if dx or dy:
                        neighbours[x + dx, y + dy] = neighbours.get((x + dx, y + dy), 0) + 1
        cells = {cell for cell, count in neighbours.items() if count == 3 or count == 2 and cell in cells}
    return sorted(cells)


distances, previous = shortest("a")
print(distances, [path(previous, node) for node in roads], topological(roads), components(8, [(0, 1), (2, 3), (1, 4), (6, 7)]))
print(*fill(["..#..", ".##..", "#...#"], 0, 0, "o"), sep="\n")
print(life({(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}, 8))
heap = Heap()
for number in range(200):
    heap.push((number * 7919) % 211)
drained = []
while heap:
    drained.append(heap.pop())
print(drained == sorted(drained), drained[:8])
