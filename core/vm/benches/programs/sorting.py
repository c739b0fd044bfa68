def numbers(count):
    state, result = 12345, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2147483648
        result.append(state)
    return result


total = 0
for _ in range(10):
    items = numbers(10000)
    items.sort()
    total += items[5000]
    total += sum([a - b for a, b in zip(items[1:], items)])
print(total)
