def run(n):
    table = {}
    for i in range(n):
        table[i] = i * 2
    total = 0
    for key, value in table.items():
        total += key ^ value
    for i in range(0, n, 3):
        del table[i]
    for i in range(n):
        if i in table:
            total += table[i]
    grouped = {}
    for i in range(n):
        grouped.setdefault(i % 97, []).append(i)
    return total, len(grouped), sum(len(items) for items in grouped.values())


print(run(200000))
