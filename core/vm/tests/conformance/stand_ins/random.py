"""Numbers that look drawn by lot: the same in every run."""


class Random:
    def __init__(self, seed=None):
        self.seed(seed)

    def seed(self, seed=None):
        self.state = (hash(seed) & (1 << 64) - 1) or 0x9E3779B97F4A7C15

    def getrandbits(self, bits):
        value = 0
        for _ in range(0, bits, 32):
            self.state = (self.state * 6364136223846793005 + 1442695040888963407) & (1 << 64) - 1
            value = value << 32 | self.state >> 32
        return value & (1 << bits) - 1

    def random(self):
        return self.getrandbits(53) / (1 << 53)

    def randrange(self, start, stop=None, step=1):
        if stop is None:
            start, stop = 0, start
        count = len(range(start, stop, step)) if stop - start < 1 << 62 else (stop - start) // step
        return start + step * (self.getrandbits(count.bit_length() + 32) % count)

    def randint(self, low, high):
        return self.randrange(low, high + 1)

    def uniform(self, low, high):
        return low + (high - low) * self.random()

    def choice(self, items):
        return items[self.randrange(len(items))]

    def choices(self, items, *, k=1):
        return [self.choice(items) for _ in range(k)]

    def shuffle(self, items):
        for index in range(len(items) - 1, 0, -1):
            other = self.randrange(index + 1)
            items[index], items[other] = items[other], items[index]

    def sample(self, items, k):
        items = list(items)
        self.shuffle(items)
        return items[:k]

    def randbytes(self, count):
        return bytes([self.getrandbits(8) for _ in range(count)])


_shared = Random(0)
seed, random, randrange, randint, uniform = _shared.seed, _shared.random, _shared.randrange, _shared.randint, _shared.uniform
choice, choices, shuffle, sample, getrandbits, randbytes = (
    _shared.choice, _shared.choices, _shared.shuffle, _shared.sample, _shared.getrandbits, _shared.randbytes
)
