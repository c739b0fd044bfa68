"""A generator that is let go while it waits inside try or with closes at once."""


def numbers(name):
    try:
        for number in range(10):
            yield number
    finally:
        print("closed", name)


for number in numbers("loop"):
    if number == 2:
        break
print("after the loop")


def hold():
    kept = numbers("local")
    print(next(kept), next(kept))


hold()
print("after the function")

kept = numbers("variable")
print(next(kept))
kept = None
print("after the variable")

kept = numbers("never begun")
del kept
print("after one that had not begun")


class Guard:
    def __enter__(self):
        print("enter")
        return self

    def __exit__(self, *details):
        print("exit", details[0] and details[0].__name__)


def guarded():
    with Guard():
        yield 1
        yield 2


print(next(guarded()))
print("after the guard")


def outer(name):
    try:
        yield from numbers(name)
    finally:
        print("outer closed", name)


for number in outer("nested"):
    break
print("after the nested one")

pending = [numbers("first"), numbers("second")]
for each in pending:
    next(each)
each = None
pending.clear()
print("after the list")

kept = numbers("twice")
next(kept)
kept.close()
kept.close()
kept = None
print("end")
