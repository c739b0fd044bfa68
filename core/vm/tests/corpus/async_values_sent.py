# What the driver of a coroutine sends or throws reaches what an asynchronous generator below it awaits.
class Awaited:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        try:
            return (yield self.value)
        except KeyError as error:
            return repr(error)


async def items():
    for i in range(3):
        received = await Awaited(i)
        given = yield (i, received)
        print("given", given)


async def all_of_them():
    return [each async for each in items()], {key: value async for key, value in items()}


async def by_hand():
    made = items()
    print(await made.asend(None))
    print(await made.asend("given by hand"))
    try:
        await made.athrow(ValueError("thrown by hand"))
    except ValueError as error:
        print("caught", error)
    await made.aclose()


def drive(coroutine, answer):
    try:
        asked = coroutine.send(None)
        while True:
            asked = answer(coroutine, asked)
    except StopIteration as stop:
        return stop.value


print(drive(all_of_them(), lambda coroutine, asked: coroutine.send(asked * 10)))
print(drive(all_of_them(), lambda coroutine, asked: coroutine.throw(KeyError(asked))))
print(drive(by_hand(), lambda coroutine, asked: coroutine.send(f"answer {asked}")))
try:
    print(drive(all_of_them(), lambda coroutine, asked: coroutine.throw(OSError("not caught"))))
except OSError as error:
    print("out", error)
