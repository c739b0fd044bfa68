"""async def, await, async for, async with and async comprehensions, driven by hand."""


class Suspend:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        answer = yield self.value
        return answer


def run(coroutine, *answers):
    yielded, answers = [], list(answers)
    try:
        value = coroutine.send(None)
        while True:
            yielded.append(value)
            value = coroutine.send(answers.pop(0) if answers else None)
    except StopIteration as stop:
        return yielded, stop.value


async def simple():
    return 5


async def ask(question):
    answer = await Suspend(question)
    print("answered", answer)
    return answer * 2


async def several(n):
    total = 0
    for number in range(n):
        total += await ask(number)
    return total + await simple()


print(run(simple()), run(ask("q"), 21), run(several(3), 1, 2, 3))


class Managed:
    async def __aenter__(self):
        print("aenter", await Suspend("entering"))
        return self

    async def __aexit__(self, kind, error, trace):
        print("aexit", kind and kind.__name__)
        await Suspend("leaving")
        return kind is ValueError


class Ticker:
    def __init__(self, limit):
        self.limit, self.now = limit, 0

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.now >= self.limit:
            raise StopAsyncIteration
        self.now += 1
        await Suspend(f"tick {self.now}")
        return self.now


async def use():
    async with Managed() as managed:
        print(type(managed).__name__)
        raise ValueError("suppressed")
    result = []
    async for tick in Ticker(3):
        if tick == 2:
            continue
        result.append(tick)
    else:
        result.append("else")
    result.append([t * 10 async for t in Ticker(2)])
    result.append({t: await simple() async for t in Ticker(1)})
    return result


async def agen(n):
    try:
        for number in range(n):
            sent = yield number
            await Suspend(f"in agen {sent}")
    finally:
        print("agen done")


async def use_agen():
    collected = [v async for v in agen(3) if v != 1]
    gen = agen(2)
    first = await gen.__anext__()
    second = await gen.asend("sent")
    await gen.aclose()
    return collected, first, second


print(run(use()))
print(run(use_agen()))


async def failing():
    try:
        await Suspend("before")
        raise KeyError("inside")
    except KeyError as error:
        return f"caught {error}"
    finally:
        await Suspend("finally")


print(run(failing()))


def attempt(function):
    try:
        print(function())
    except BaseException as error:
        print(type(error).__name__, error)


thrown = failing()
thrown.send(None)
attempt(lambda: thrown.throw(KeyError("thrown in")))
attempt(lambda: thrown.send(None))
attempt(lambda: thrown.send(None))
closing = ask("close me")
closing.send(None)
attempt(closing.close)


async def bad_await():
    await 5


async def bad_for():
    async for x in [1]:
        pass


async def bad_with():
    async with Suspend(1):
        pass


for function in (bad_await, bad_for, bad_with):
    attempt(lambda: run(function()))


async def compose():
    async def inner(x):
        await Suspend(x)
        return x + 1
    values = [await inner(v) for v in (1, 2)]
    return values, (lambda c: c)(await inner(10)), f"{await inner(5)}"


print(run(compose()), type(closing).__name__, type(agen(1)).__name__)


# A coroutine that is awaited step by step, again after its end, and while another one awaits it.
class Pause:
    def __await__(self):
        got = yield "pause"
        return got


async def inner(count):
    total = 0
    for _ in range(count):
        total += (await Pause()) or 1
    return total


async def outer(shared):
    try:
        return [await inner(2), await shared]
    except RuntimeError as error:
        return str(error)
    finally:
        print("outer ends")


def steps(coroutine, *values):
    try:
        for value in (None, *values):
            print(coroutine.send(value), end=" ")
        coroutine.close()
    except StopIteration as stop:
        print("returned", stop.value)
    except BaseException as error:
        print(type(error).__name__, error)


shared = inner(1)
steps(outer(shared), 5, 6, 7)
steps(outer(shared), 5, 6, 7)
steps(outer(inner(3)), 5)


async def raising():
    await Pause()
    raise StopIteration("inside")


async def over():
    return [x for x in [await inner(1), await raising()]]


steps(over(), 1, 2)
steps(over(), 1)
