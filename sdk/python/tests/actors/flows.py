"""Continuations of every shape: one method a shape. `tests/flows.py` says what each gets as answers, and returns."""

from typing import Optional

from cowboy_sdk import (
    Address,
    BlockHeight,
    CowboyModel,
    JobFailed,
    Retry,
    RunnerTimeoutError,
    TaskGroup,
    actor,
    bounded_loop,
    capture,
    public,
    runner,
    runtime,
)


class Quote(CowboyModel):
    symbol: str
    price: int
    note: Optional[str] = None


class Guard(CowboyModel):
    log: list

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, kind, error, traceback):
        runtime.set_state(b"closed", b"\x01")
        return False


async def fetch(url, *, twice=False):
    found = (await runner.http(url)).text
    return found * 2 if twice else found


@actor
class Flows:
    async def _twice(self, url):
        first = await runner.http(url)
        second = await runner.http(url)
        return first.text + second.text

    async def _plain(self, n):
        return n + 1

    @public
    @runner.continuation
    async def one(self, payload):
        r = await runner.http("u")
        return r.text

    @public
    @runner.continuation
    async def kept_argument(self, payload):
        r = await runner.http("u")
        return [payload, r.text]

    @public
    @runner.continuation
    async def two(self, payload):
        a = await runner.http("u")
        b = await runner.http(a.text)
        return a.text + b.text

    @public
    @runner.continuation
    async def in_an_expression(self, payload):
        return {"v": int((await runner.http("u")).text) + 1}

    @public
    @runner.continuation
    async def two_in_one_statement(self, payload):
        x = [await runner.http("u"), await runner.http("v")]
        return [i.text for i in x]

    @public
    @runner.continuation
    async def f_string(self, payload):
        return f"<{(await runner.http('u')).text}>"

    @public
    @runner.continuation
    async def awaited_argument(self, payload):
        r = await runner.http((await runner.http("u")).text)
        return r.text

    @public
    @runner.continuation
    async def bare_last(self, payload):
        await runner.http("u")

    @public
    @runner.continuation
    async def if_(self, payload):
        x = 0
        if payload == 7:
            x = (await runner.http("u")).text
        else:
            x = "no"
        return x

    @public
    @runner.continuation
    async def else_(self, payload):
        if payload != 7:
            x = (await runner.http("u")).text
        elif payload == 8:
            x = 1
        else:
            x = (await runner.http("v")).text
        return x

    @public
    @runner.continuation
    async def test_awaits(self, payload):
        if (await runner.http("u")).text == "a":
            return 1
        return 2

    @public
    @runner.continuation
    @bounded_loop(max_iterations=9)
    async def for_(self, payload):
        found = []
        for u in ["x", "y", "z"]:
            r = await runner.http(u)
            found.append(u + r.text)
        return found

    @public
    @runner.continuation
    @bounded_loop(max_iterations=9)
    async def for_range_break(self, payload):
        n = 0
        for i in range(100):
            if (await runner.http("u")).text == "stop":
                break
            n += i
        else:
            n = -1
        return [n, i]

    @public
    @runner.continuation
    @bounded_loop(max_iterations=9)
    async def for_else(self, payload):
        for i in range(2):
            await runner.http("u")
        else:
            return "else"

    @public
    @runner.continuation
    @bounded_loop(max_iterations=9)
    async def continue_(self, payload):
        n = []
        for i in range(3):
            if i == 1:
                continue
            await runner.http("u")
            n.append(i)
        return n

    @public
    @runner.continuation
    @bounded_loop(max_iterations=9)
    async def while_(self, payload):
        n = 0
        while n < 2:
            n += int((await runner.http("u")).text)
        return n

    @public
    @runner.continuation
    @bounded_loop(max_iterations=9)
    async def nested_loops(self, payload):
        n = []
        for a in "ab":
            for b in (1, 2):
                r = await runner.http("u")
                n.append([a, b, r.text])
        return n

    @public
    @runner.continuation
    async def try_(self, payload):
        try:
            r = await runner.http("u")
            x = r.text
        except JobFailed as e:
            x = e.reason
        return x

    @public
    @runner.continuation
    async def try_else(self, payload):
        try:
            r = await runner.http("u")
        except JobFailed:
            return "failed"
        else:
            return r.text

    @public
    @runner.continuation
    async def finally_(self, payload):
        log = []
        try:
            r = await runner.http("u")
            log.append(r.text)
        finally:
            log.append("end")
        return log

    @public
    @runner.continuation
    async def handler_awaits(self, payload):
        try:
            r = await runner.http("u")
        except JobFailed as e:
            why = e.reason
            r = await runner.http("v")
            return [why, r.text]
        return "fine"

    @public
    @runner.continuation
    async def handler_does_not_run(self, payload):
        try:
            r = await runner.http("u")
        except JobFailed:
            r = await runner.http("v")
        except KeyError:
            return 1
        return r.text

    @public
    @runner.continuation
    async def inline_handler_beside(self, payload):
        try:
            r = await runner.http("u")
            {}[r.text]
        except JobFailed:
            r = await runner.http("v")
        except KeyError:
            return 1
        else:
            await runner.http("w")
        return 2

    @public
    @runner.continuation
    async def else_awaits(self, payload):
        try:
            r = await runner.http("u")
        except JobFailed:
            return 0
        else:
            s = await runner.http("w")
        return r.text + s.text

    @public
    @runner.continuation
    @bounded_loop(max_iterations=9)
    async def retry(self, payload):
        retry = Retry(max_attempts=2)
        while True:
            try:
                r = await runner.http("u")
                break
            except JobFailed:
                if not retry.has_next():
                    return "gave up"
                retry.next_delay()
        return [r.text, retry.current_attempt]

    @public
    @runner.continuation
    async def helper(self, payload):
        a = await self._twice("u")
        b = await self._twice("v")
        return a + b

    @public
    @runner.continuation
    async def helper_without_await(self, payload):
        return await self._plain(3)

    @public
    @runner.continuation
    async def group(self, payload):
        async with TaskGroup() as g:
            a = g.create_task(runner.http("u"))
            b = g.create_task(runner.llm("p"))
        return [a.result().text, b.result().text, len(g)]

    @public
    @runner.continuation
    async def group_in_a_list(self, payload):
        async with TaskGroup() as g:
            all = [g.create_task(runner.http(u)) for u in "abc"]
        more = await runner.http("d")
        return [t.result().text for t in all] + [more.text]

    @public
    @runner.continuation
    async def model(self, payload):
        q = Quote("ETH", 5)
        r = await runner.http("u")
        return [q.symbol, q.price, type(q).__name__, r.text]

    @public
    @runner.continuation
    async def response_model(self, payload):
        r = await runner.llm("p", response_model=Quote)
        s = await runner.http("u")
        return [r.value.symbol, r.value.price, r.value.note, s.text]

    @public
    @runner.continuation
    async def types(self, payload):
        t = (1, (2,))
        a = Address("0x" + "11" * 20)
        h = BlockHeight(5)
        d = {1: "x", "y": b"z"}
        r = await runner.http("u")
        return [isinstance(t, tuple) and isinstance(t[1], tuple), a.to_hex(), repr(h + 1), d[1], d["y"], r.text]

    @public
    @runner.continuation
    async def one_list_under_two_names(self, payload):
        a = []
        b = a
        r = await runner.http("u")
        a.append(r.text)
        return b

    @public
    @runner.continuation
    async def capture(self, payload):
        ctx = capture()
        ctx.n = 3
        ctx.r = await runner.http("u")
        return [ctx.n, ctx.r.text]

    @public
    @runner.continuation
    async def walrus_and_comprehension(self, payload):
        if (n := payload) and True:
            r = await runner.http("u")
        return [n + i for i in range(2)] + [r.text]

    @public
    @runner.continuation
    async def with_(self, payload):
        log = []
        with Guard(log) as g:
            r = await runner.http("u")
            log.append(r.text)
        return [log, self.storage["closed"]]

    @public
    @runner.continuation
    async def helper_of_the_module(self, payload):
        return await fetch("u", twice=True)

    @public
    @runner.continuation
    async def sleeps(self, payload):
        started = runtime.current_block()
        await runner.sleep(3)
        return [payload, runtime.current_block() - started]

    @public
    @runner.continuation
    async def within_its_time(self, payload):
        try:
            r = await runner.within(5, runner.http("u"))
        except RunnerTimeoutError:
            return "late"
        return r.text
