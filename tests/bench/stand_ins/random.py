"""Instead of `random`: the same numbers in CPython and in our VM, from one linear congruential generator."""


class Random:
    def __init__(self, seed=0):
        self.seed(seed)

    def seed(self, seed=0):
        self.state = seed

    def random(self):
        self.state = (self.state * 1103515245 + 12345) & 0x7FFFFFFF
        return self.state / 0x80000000

    def randrange(self, start, stop=None):
        if stop is None:
            start, stop = 0, start
        return start + int(self.random() * (stop - start))

    def randint(self, start, stop):
        return self.randrange(start, stop + 1)

    def choice(self, items):
        return items[self.randrange(len(items))]

    def shuffle(self, items):
        for index in range(len(items) - 1, 0, -1):
            other = self.randrange(index + 1)
            items[index], items[other] = items[other], items[index]


shared = Random()
seed = shared.seed
random = shared.random
randrange = shared.randrange
randint = shared.randint
choice = shared.choice
shuffle = shared.shuffle
