"""What iterators of `itertools` take from the one below, and what asks them for their next item while they give one."""
import itertools

for start, stop, step in ((0, 0, 1), (5, 3, 1), (3, 3, 2), (0, 5, 3), (2, 9, 4), (9, 20, 1), (20, 30, 1), (0, None, 4), (4, 0, 1), (1, 2, 100)):
    items = iter(range(12))
    print(start, stop, step, list(itertools.islice(items, start, stop, step)), next(items, "end"))
    items = iter(range(12))
    slice_ = itertools.islice(items, start, stop, step)
    print(next(slice_, "none"), next(items, "end"), next(slice_, "none"), next(slice_, "none"), next(items, "end"))


whom = None


class Asks:
    """Asks `whom` for an item before it gives one."""

    def __init__(self, times):
        self.left, self.told, self.next = times, [], 0

    def __iter__(self):
        return self

    def __next__(self):
        self.next += 1
        mine = self.next
        if mine > 12:
            raise StopIteration
        if self.left:
            self.left -= 1
            try:
                self.told.append(next(whom))
            except (StopIteration, RuntimeError) as error:
                self.told.append(f"{type(error).__name__} {error}")
        return mine


def entered(make, times=1):
    global whom
    asks = Asks(times)
    whom = made = make(asks)
    got = []
    for _ in range(6):
        try:
            got.append(next(made))
        except (StopIteration, RuntimeError) as error:
            got.append(f"{type(error).__name__} {error}")
    print(got, asks.told)


for times in (1, 2, 3):
    entered(lambda it: itertools.tee(it)[0], times)
    entered(lambda it: itertools.tee(it)[1], times)
    entered(lambda it: itertools.tee(itertools.tee(it)[0])[1], times)
    entered(lambda it: itertools.islice(it, 1, 9, 2), times)
    entered(lambda it: itertools.islice(it, 0, 4), times)
    entered(lambda it: itertools.islice(it, 2, None, 3), times)
one, other = itertools.tee(Asks(0))
asks = Asks(1)
one, other = itertools.tee(asks)
whom = other
print(next(one, None), asks.told, next(other), next(one), next(other))


def fails():
    yield 1
    raise ValueError("once")


one, other = itertools.tee(fails())
for side in (one, other, one, one, other):
    try:
        print(next(side))
    except (StopIteration, ValueError) as error:
        print(type(error).__name__, error)
