"""Lists: filling, sorting with and without keys, slicing, merging."""


def values(count, seed):
    result = []
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) % 2147483648
        result.append(seed % 100000)
    return result


def insertion(items):
    for at in range(1, len(items)):
        item, before = items[at], at - 1
        while before >= 0 and items[before] > item:
            items[before + 1] = items[before]
            before -= 1
        items[before + 1] = item
    return items


def merge(left, right):
    merged, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged + left[i:] + right[j:]


checksum = 0
for turn in range(6):
    data = values(20000, turn)
    data.sort()
    checksum += data[100] + data[-100]
    by_key = sorted(data, key=lambda value: -value % 977)
    checksum += by_key[5000]
    both = merge(data, sorted(values(20000, turn + 50)))
    checksum += both[777] + len(both)
    checksum += sum(insertion(values(250, turn))[::10])
    checksum += sum(value for value in by_key if value % 3 == 0)
    data.reverse()
    checksum += data.index(both[-1]) if both[-1] in data else 0
print(checksum)
