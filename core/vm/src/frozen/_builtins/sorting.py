"""Sorting where items compare in Python: the algorithm of CPython 3.11's `list.sort`, with the same comparisons in the same order."""

# How often in a row one run must win before whole stretches of it are looked for.
_MIN_GALLOP = 7


def sorted_slow(iterable, key=None, reverse=False):
    items = _each(_measured(iterable))
    _sort(items, key, reverse)
    return items


def list_sort(self, key=None, reverse=False):
    items = _each(self)
    # Nobody sees the list while it is sorted, and nobody may change it.
    _vm.fill_list(self, [])
    changed = False
    try:
        _sort(items, key, reverse)
    finally:
        changed = len(self) > 0
        _vm.fill_list(self, items)
    if changed:
        raise ValueError("list modified during sort")


def _native_order(keys):
    """Whether keys have a total order that a native sort knows: NaN is in none."""
    kind = type(keys[0]) if keys else int
    if kind is not int and kind is not str:
        if kind is float:
            for each in keys:
                if each != each:
                    return False
        elif kind is tuple:
            return _native_tuples(keys)
        else:
            return False
    for each in keys:
        if type(each) is not kind:
            return False
    return True


def _native_tuples(keys):
    for each in keys:
        if type(each) is not tuple:
            return False
        for part in each:
            kind = type(part)
            if kind is not int and kind is not str and (kind is not float or part != part):
                return False
    return True


def _sort(items, key, reverse):
    if key is None:
        keys = items
    else:
        keys = [key(item) for item in items]
    reverse = bool(reverse)
    if _native_order(keys):
        order = sorted(zip(keys, range(len(keys)) if not reverse else range(len(keys) - 1, -1, -1)))
        if reverse:
            order.reverse()
            last = len(items) - 1
            items[:] = [items[last - position] for _, position in order]
        else:
            items[:] = [items[position] for _, position in order]
        return
    pairs = list(zip(keys, items))
    if reverse:
        pairs.reverse()
    _merge_runs(pairs)
    if reverse:
        pairs.reverse()
    items[:] = [item for _, item in pairs]


def _merge_runs(pairs):
    """Sorts pairs by their first parts, in place. `objects/sorting.rs` does the same for items that compare natively."""
    length = len(pairs)
    shortest, odd = length, 0
    while shortest >= 64:
        odd |= shortest & 1
        shortest >>= 1
    shortest += odd
    # Each pending run is its start, its length, and the power of the boundary after it.
    pending, gallop, start = [], [_MIN_GALLOP], 0
    while start < length:
        count = _count_run(pairs, start, length)
        if count < shortest:
            forced = min(shortest, length - start)
            _insert_each(pairs, start, start + count, start + forced)
            count = forced
        if pending:
            power = _power_between(pending[-1][0], pending[-1][1], count, length)
            while len(pending) > 1 and pending[-2][2] > power:
                _merge_at(pairs, pending, len(pending) - 2, gallop)
            pending[-1][2] = power
        pending.append([start, count, 0])
        start += count
    while len(pending) > 1:
        at = len(pending) - 2
        if at > 0 and pending[at - 1][1] < pending[at + 1][1]:
            at -= 1
        _merge_at(pairs, pending, at, gallop)


def _count_run(pairs, start, end):
    """How many pairs from `start` on are in order. A run that descends strictly is reversed."""
    at = start + 1
    if at == end:
        return 1
    if pairs[at][0] < pairs[start][0]:
        at += 1
        while at < end and pairs[at][0] < pairs[at - 1][0]:
            at += 1
        pairs[start:at] = pairs[start:at][::-1]
    else:
        at += 1
        while at < end and not pairs[at][0] < pairs[at - 1][0]:
            at += 1
    return at - start


def _insert_each(pairs, start, middle, end):
    """Puts the pairs from `middle` to `end` where they belong among those from `start` on, by bisection."""
    for at in range(middle, end):
        pair = pairs[at]
        pivot = pair[0]
        low, high = start, at
        while low < high:
            half = low + (high - low >> 1)
            if pivot < pairs[half][0]:
                high = half
            else:
                low = half + 1
        if low < at:
            pairs[low + 1 : at + 1] = pairs[low:at]
            pairs[low] = pair


def _power_between(start, count, after, length):
    """The power of the boundary between two runs that follow one another (Munro and Wild's powersort)."""
    low = 2 * start + count
    high = low + count + after
    power = 1
    while low >= length or high < length:
        if low >= length:
            low -= length
            high -= length
        low *= 2
        high *= 2
        power += 1
    return power


def _merge_at(pairs, pending, at, gallop):
    a, in_a, _ = pending[at]
    b, in_b, _ = pending.pop(at + 1)
    pending[at][1] = in_a + in_b
    # What begins the first run and what ends the second one is in its place already.
    skipped = _gallop_right(pairs[b][0], pairs, a, in_a, 0)
    a += skipped
    in_a -= skipped
    if in_a == 0:
        return
    in_b = _gallop_left(pairs[b - 1][0], pairs, b, in_b, in_b - 1)
    if in_b == 0:
        return
    if in_a <= in_b:
        left, end = pairs[a:b], b + in_b
        dest, a, b = _merge_low(pairs, left, a, b, end, gallop)
        pairs[dest:end] = pairs[b:end] + left[a:]
    else:
        right, start = pairs[b : b + in_b], a
        a, b = _merge_high(pairs, start, b - 1, right, gallop)
        pairs[start : a + b + 2] = right[: b + 1] + pairs[start : a + 1]


def _merge_low(pairs, left, dest, b, end, gallop):
    """Merges a copied first run with a second one, from the front, until one of them is nearly used up: where all three are then."""
    a, last, least = 0, len(left) - 1, gallop[0]
    pairs[dest] = pairs[b]
    dest += 1
    b += 1
    if b == end or a == last:
        return dest, a, b
    while True:
        in_a = in_b = 0
        while in_a < least and in_b < least:
            if pairs[b][0] < left[a][0]:
                pairs[dest] = pairs[b]
                dest += 1
                b += 1
                in_a, in_b = 0, in_b + 1
            else:
                pairs[dest] = left[a]
                dest += 1
                a += 1
                in_a, in_b = in_a + 1, 0
            if b == end or a == last:
                return dest, a, b
        least += 1
        while True:
            least = max(least - 1, 1)
            gallop[0] = least
            in_a = _gallop_right(pairs[b][0], left, a, last + 1 - a, 0)
            pairs[dest : dest + in_a] = left[a : a + in_a]
            dest += in_a
            a += in_a
            if a >= last and in_a:
                return dest, a, b
            pairs[dest] = pairs[b]
            dest += 1
            b += 1
            if b == end:
                return dest, a, b
            in_b = _gallop_left(left[a][0], pairs, b, end - b, 0)
            pairs[dest : dest + in_b] = pairs[b : b + in_b]
            dest += in_b
            b += in_b
            if b == end:
                return dest, a, b
            pairs[dest] = left[a]
            dest += 1
            a += 1
            if a == last:
                return dest, a, b
            if in_a < _MIN_GALLOP and in_b < _MIN_GALLOP:
                break
        least += 1
        gallop[0] = least


def _merge_high(pairs, start, a, right, gallop):
    """Merges a first run with a copied second one, from the end, until one of them is nearly used up: where both are then."""
    b, least = len(right) - 1, gallop[0]
    pairs[a + b + 1] = pairs[a]
    a -= 1
    if a < start or b == 0:
        return a, b
    while True:
        in_a = in_b = 0
        while in_a < least and in_b < least:
            if right[b][0] < pairs[a][0]:
                pairs[a + b + 1] = pairs[a]
                a -= 1
                in_a, in_b = in_a + 1, 0
            else:
                pairs[a + b + 1] = right[b]
                b -= 1
                in_a, in_b = 0, in_b + 1
            if a < start or b == 0:
                return a, b
        least += 1
        while True:
            least = max(least - 1, 1)
            gallop[0] = least
            count = a + 1 - start
            in_a = count - _gallop_right(right[b][0], pairs, start, count, count - 1)
            pairs[a + b + 2 - in_a : a + b + 2] = pairs[a + 1 - in_a : a + 1]
            a -= in_a
            if a < start:
                return a, b
            pairs[a + b + 1] = right[b]
            b -= 1
            if b == 0:
                return a, b
            in_b = b + 1 - _gallop_left(pairs[a][0], right, 0, b + 1, b)
            pairs[a + b + 2 - in_b : a + b + 2] = right[b + 1 - in_b : b + 1]
            b -= in_b
            if b <= 0 and in_b:
                return a, b
            pairs[a + b + 1] = pairs[a]
            a -= 1
            if a < start:
                return a, b
            if in_a < _MIN_GALLOP and in_b < _MIN_GALLOP:
                break
        least += 1
        gallop[0] = least


def _gallop_left(key, pairs, start, count, hint):
    """Where a key belongs in a run, before those equal to it; looked for from `hint` outwards."""
    before, offset = 0, 1
    if pairs[start + hint][0] < key:
        most = count - hint
        while offset < most and pairs[start + hint + offset][0] < key:
            before, offset = offset, 2 * offset + 1
        low, high = hint + before + 1, hint + min(offset, most)
    else:
        most = hint + 1
        while offset < most and not pairs[start + hint - offset][0] < key:
            before, offset = offset, 2 * offset + 1
        low, high = hint - min(offset, most) + 1, hint - before
    while low < high:
        half = low + (high - low >> 1)
        if pairs[start + half][0] < key:
            low = half + 1
        else:
            high = half
    return high


def _gallop_right(key, pairs, start, count, hint):
    """Where a key belongs in a run, after those equal to it; looked for from `hint` outwards."""
    before, offset = 0, 1
    if key < pairs[start + hint][0]:
        most = hint + 1
        while offset < most and key < pairs[start + hint - offset][0]:
            before, offset = offset, 2 * offset + 1
        low, high = hint - min(offset, most) + 1, hint - before
    else:
        most = count - hint
        while offset < most and not key < pairs[start + hint + offset][0]:
            before, offset = offset, 2 * offset + 1
        low, high = hint + before + 1, hint + min(offset, most)
    while low < high:
        half = low + (high - low >> 1)
        if key < pairs[start + half][0]:
            high = half
        else:
            low = half + 1
    return high
