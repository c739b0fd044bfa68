# Iterators over what steps in Python, asked by hand; and generators asked what they do.
def letters():
    yield "a"
    yield "b"


class Steps:
    def __init__(self):
        self.left = 3

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.left


class Text(str):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return f"item {index}"


def steps(iterator):
    taken = []
    while True:
        try:
            taken.append(iterator.__next__())
        except StopIteration as end:
            return taken, end.args


for make in (letters, Steps):
    print(steps(zip(make(), make())), steps(enumerate(make())), steps(enumerate(make(), 1 << 70)), steps(zip("xyz", make())))
    print(steps(zip(zip(make()), [1])), steps(enumerate(zip(make(), [5, 6]))), steps(map(str, zip(make()))), steps(filter(None, make())))
    bound = zip(make(), make()).__next__
    print(bound(), bound())
    print(list(iter(enumerate(make()).__next__, (1, "b")))[:1])
    print([pair for pair in zip(make(), enumerate(make()))], next(iter(zip())) if list(zip()) else None)
print(steps(reversed(Text("abc"))), steps(reversed("abc")), list(reversed(Text("abcd"))))
try:
    zip.__next__(enumerate([]))
except TypeError as error:
    print("TypeError")

items = [1, 2, 3, 4]
backwards = reversed(items)
print(next(backwards), items.pop(), items.pop(), list(backwards))
items.extend([7, 8, 9])
print(list(backwards), backwards.__length_hint__())
items = [1, 2, 3]
backwards = reversed(items)
items.pop()
print(next(backwards, "none"), items)
items = [1, 2, 3]
backwards = reversed(items)
print(next(backwards), items.pop(), list(backwards))
data = bytearray(b"abcd")
backwards = reversed(data)
print(next(backwards), data.pop(), data.pop(), list(backwards))


def asks():
    yield generator.gi_running


generator = asks()
print(generator.gi_running, next(generator), generator.gi_running, list(generator), generator.gi_running)


async def nothing():
    return None


coroutine = nothing()
print(coroutine.cr_running, hasattr(coroutine, "gi_running"), hasattr(map(str, []), "gi_running"), hasattr(generator, "cr_running"))
coroutine.close()
generator = letters()
for value in (2, "text", ValueError):
    try:
        generator.throw(KeyError("k"), value)
    except (TypeError, KeyError) as error:
        print(type(error).__name__, error)
print(next(generator))
try:
    generator.throw(KeyError("k"), None)
except KeyError as error:
    print("KeyError", error)
