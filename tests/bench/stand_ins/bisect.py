"""Instead of `bisect`."""


def bisect_right(items, item, low=0, high=None):
    high = len(items) if high is None else high
    while low < high:
        middle = (low + high) // 2
        if item < items[middle]:
            high = middle
        else:
            low = middle + 1
    return low


bisect = bisect_right
