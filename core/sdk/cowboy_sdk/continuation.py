"""Methods that wait for off-chain work: what is kept while they do, and how they continue.

    @runner.continuation
    async def ask(self, question):
        answer = await runner.llm(question)
        self.storage["answer"] = answer.text

The compiler makes such a method a function that can be left at an await and entered again there. Whatever is read after
the await lies in storage meanwhile, under `__continuation:` and the continuation's id, as canonical CBOR in the published
SDK's form: state, ctx, handler, timeout_at_block, guard_hashes, created_at_block. What `capture()` holds is `ctx`; names
and helpers that wait with the method stand in `ctx` under `__locals__` and `__frames__`. Under `__await:` and the id stands
what is awaited, so that an answer that comes twice finds nobody.
"""

from . import codec
from ._capture import Capture, capture
from ._host import pvm_host
from ._keep import MAKERS, keep_names, make_names
from ._records import (
    AWAIT_PREFIX,
    PREFIX,
    check_guards,
    check_time,
    delete_cont,
    free_on_failure,
    load_cont,
    load_cont_raw,
    new_cid,
    read_record,
    save_cont,
)
from .errors import CodecError, ContinuationCorruptedError, ContinuationLimitError, LoopBoundExceeded, RunnerTimeoutError

RESUME_SUFFIX = "__resume"
_LOCALS, _FRAMES, _TURNS = "__locals__", "__frames__", "__turns__"


# Functions that can be left


class Row:
    """A function that can be left at an await: its compiled form and what the compiler knows of it."""

    def __init__(self, name, function, positional, by_name, is_method, capture_name):
        self.name = name
        self.function = function
        self.positional = positional
        self.by_name = by_name
        self.is_method = is_method
        self.capture = capture_name
        self.module = function.__module__
        self.limit = getattr(function, "_bounded_loop_max", None)
        self.timeout_blocks = 0
        self.guard_keys = ()

    @property
    def handler(self):
        return self.name.rpartition(".")[2] + RESUME_SUFFIX


class Call:
    """A call of such a function that has not begun: what `await self._helper(...)` waits for."""

    def __init__(self, row, args, kwargs):
        self.row = row
        self.args = args
        self.kwargs = kwargs


# {(module, name): row}, so that a helper that waits is found again.
_ROWS = {}


def frame(name, positional, by_name, is_method, capture_name):
    """The decorator that the compiler puts on a function it made leavable: calling it gives a `Call`."""

    def decorate(function):
        row = Row(name, function, positional, by_name, is_method, capture_name)
        _ROWS[(row.module, name)] = row

        def start(*args, **kwargs):
            return Call(row, args, kwargs)

        start.__name__ = function.__name__
        start.__qualname__ = function.__qualname__
        start.__doc__ = function.__doc__
        start.__annotations__ = function.__annotations__
        start.__module__ = function.__module__
        start._row = row
        return start

    return decorate


class Frame:
    """One function under way. `at` is the await to go back to, -1 while it runs; `left` says that it waits."""

    def __init__(self, row, actor):
        self.row = row
        self.actor = actor
        self.at = -1
        self.values = {}
        self.turns = 0
        self.left = False
        # What it waits for: another frame, or a leaf such as a job; and the leaf's outcome.
        self.child = None
        self.leaf = None
        self.outcome = None

    # What compiled functions ask

    def wait(self, awaited):
        """Begins what is awaited. Its result, or this frame itself when that takes until a later block."""
        if type(awaited) is not Call and hasattr(awaited, "cr_code"):
            awaited = _native(awaited)
        if type(awaited) is Call:
            child = Frame(awaited.row, self.actor)
            return self._after(child, awaited.row.function(child, *awaited.args, **awaited.kwargs))
        if not hasattr(awaited, "_begin"):
            raise ContinuationLimitError(f"await must produce a runner job awaitable; got {type(awaited).__name__}")
        if awaited._is_done():
            return awaited._outcome({})
        self.leaf = awaited
        return self

    def resume(self):
        """The result of the await at which the function was left, or this frame when it must wait on."""
        if self.child is not None:
            child, self.child = self.child, None
            return self._after(child, child.enter_again())
        outcome, self.outcome = self.outcome, None
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def leave(self, number, names, values):
        """Notes where the function is left and what its names hold."""
        self.left = True
        self.at = number
        self.values = {name: values[name] for name in names if name in values and values[name] is not self}
        return self

    def turn(self):
        """Counts a turn of a loop that awaits against @bounded_loop."""
        self.turns += 1
        if self.row.limit is not None and self.turns > self.row.limit:
            raise LoopBoundExceeded(
                f"Loop exceeded maximum iterations: {self.row.limit}. "
                "Increase max_iterations in @bounded_loop or reduce loop body complexity."
            )

    def iterate(self, items):
        return Cursor.over(items)

    def enter(self, manager):
        return type(manager).__enter__(manager)

    def exit(self, manager, error):
        kind = None if error is None else type(error)
        return type(manager).__exit__(manager, kind, error, None)

    def bare(self, result):
        """What a method returns whose last statement awaits: the raw result, as the published SDK has it."""
        return getattr(result, "raw", None)

    # Leaving and entering

    def _after(self, child, result):
        if not child.left:
            return result
        self.child = child
        return self

    def enter_again(self):
        """Runs the function from where it was left."""
        row = self.row
        places = [None] * len(row.positional)
        if row.is_method and places:
            places[0] = self.actor
        return row.function(self, *places, **{name: None for name in row.by_name})

    def chain(self):
        """This frame and those it waits for, outermost first."""
        found, inner = [self], self.child
        while inner is not None:
            found.append(inner)
            inner = inner.child
        return found


class Cursor:
    """A loop's place in what it goes through: a list, or a range by its bounds."""

    def __init__(self, items, place=0):
        self.items = items
        self.place = place

    @classmethod
    def over(cls, items):
        return cls(items if isinstance(items, range) else list(items))

    def more(self):
        return self.place < len(self.items)

    def take(self):
        item = self.items[self.place]
        self.place += 1
        return item

    def __keep__(self):
        if isinstance(self.items, range):
            return "range_cursor", [self.items.start, self.items.stop, self.items.step, self.place]
        return "cursor", [self.items, self.place]


MAKERS["cursor"] = lambda kept: Cursor(kept[0], kept[1])
MAKERS["range_cursor"] = lambda kept: Cursor(range(kept[0], kept[1], kept[2]), kept[3])


def _native(coroutine):
    """The call that a native coroutine stands for: only in plain Python, where the VM's compiler has not been."""
    from ._lowering import lower_code

    code, scope = coroutine.cr_code, coroutine.cr_frame
    row = _ROWS.get((scope.f_globals.get("__name__"), coroutine.__qualname__))
    if row is None:
        row = lower_code(code, coroutine.__qualname__, scope.f_globals, frame)._row
    given = scope.f_locals
    count = code.co_argcount
    args = [given[name] for name in code.co_varnames[:count]]
    kwargs = {name: given[name] for name in code.co_varnames[count : count + code.co_kwonlyargcount]}
    rest = code.co_varnames[count + code.co_kwonlyargcount :]
    if code.co_flags & 0x04:
        args += given[rest[0]]
        rest = rest[1:]
    if code.co_flags & 0x08:
        kwargs.update(given[rest[0]])
    coroutine.close()
    return Call(row, args, kwargs)


# From one block to a later one


def begin(row, args, kwargs):
    """Runs a method up to its first await of something off-chain, or to its end."""
    top = Frame(row, args[0] if row.is_method and args else None)
    result = row.function(top, *args, **kwargs)
    if not top.left:
        return result
    cid = new_cid(top.actor, row.name.rpartition(".")[2])
    while pvm_host.get_state(PREFIX + cid) is not None:
        # The same method begun twice in one transaction.
        cid = pvm_host.keccak256(cid)
    _suspend(top, cid)
    return None


def resume(row, actor, answer):
    """Goes on with the method whose answer this is: the message of the Result Verifier, of a timer, or of a test."""
    cid = _cid(answer)
    raw = pvm_host.get_state(AWAIT_PREFIX + cid)
    pending = None if raw is None else codec.decode(raw)
    token = answer.get("job_id", answer.get("token"))
    if token is not None and (pending is None or token not in pending["for"] and token != pending.get("deadline")):
        # Delivered before, or no longer waited for.
        return None
    free_on_failure(cid)
    record = read_record(cid)
    awaited = LEAVES[pending["kind"] if pending else "job"]
    outcome = awaited(answer, token, pending or {"for": []})
    if outcome is WAITING:
        pvm_host.set_state(AWAIT_PREFIX + cid, codec.encode(pending))
        return None
    is_failure = isinstance(outcome, BaseException)
    if not is_failure:
        check_guards(record)
        try:
            check_time(record)
        except RunnerTimeoutError as late:
            outcome = late
    if pending is not None:
        pvm_host.delete_state(AWAIT_PREFIX + cid)
        if pending.get("timer") and token != pending.get("deadline"):
            pvm_host.cancel_timer(pending["timer"])
    top = _restored(row, actor, record)
    leaf = top.chain()[-1]
    leaf.outcome = outcome
    if not is_failure and pending and pending["kind"] == "group":
        _hand_out(top, outcome)
    try:
        result = top.enter_again()
    except Exception as problem:
        if is_failure and problem is outcome:
            # Nobody catches it: the method ends here, and its place is free again.
            delete_cont(cid)
            return None
        raise
    if top.left:
        _suspend(top, cid)
        return None
    delete_cont(cid)
    return result


# What a leaf's answer means: {kind: function(answer, token, pending) -> outcome, an exception, or WAITING}.
LEAVES = {}
WAITING = ("waiting",)


def _cid(answer):
    cid = answer.get("cid") if isinstance(answer, dict) else None
    if isinstance(cid, str):
        try:
            cid = bytes.fromhex(cid)
        except ValueError as problem:
            raise CodecError(f"runner reply cid is not valid hex: {problem}") from problem
    if cid is None:
        raise ValueError("Runner callback message is missing 'cid' field. Expected format: {'cid': bytes, 'result': any}")
    return cid


def _suspend(top, cid):
    """Writes what the frames hold, then begins what they wait for."""
    row, frames = top.row, top.chain()
    values = dict(top.values)
    held = values.get(row.capture)
    ctx = {}
    if isinstance(held, Capture):
        del values[row.capture]
        ctx = held.to_dict()
    if values:
        ctx[_LOCALS] = keep_names(values, top.actor)
    if top.turns:
        ctx[_TURNS] = top.turns
    if len(frames) > 1:
        ctx[_FRAMES] = [
            [inner.row.name, inner.at, keep_names(inner.values, top.actor), inner.turns] for inner in frames[1:]
        ]
    save_cont(cid, top.at, Capture.from_dict(ctx), row.handler, row.timeout_blocks, row.guard_keys)
    pending = frames[-1].leaf._begin(cid, row.handler)
    pvm_host.set_state(AWAIT_PREFIX + cid, codec.encode(pending))


def _restored(row, actor, record):
    """The frames of a record, outermost first linked to the next."""
    ctx = record["ctx"] or {}
    top = Frame(row, actor)
    top.at = record["state"]
    top.turns = ctx.pop(_TURNS, 0)
    kept = ctx.pop(_LOCALS, {})
    inner_frames = ctx.pop(_FRAMES, [])
    top.values = make_names(kept, actor)
    if row.capture is not None and row.capture not in top.values:
        top.values[row.capture] = Capture.from_dict(ctx)
    # Linked from the inside out: a frame is complete before another one holds it.
    child = None
    for name, at, values, turns in reversed(inner_frames):
        found = _ROWS.get((row.module, name))
        if found is None:
            raise ContinuationCorruptedError(f"the helper {name!r} that this continuation waits in does not exist")
        inner = Frame(found, actor)
        inner.at, inner.values, inner.turns, inner.child = at, make_names(values, actor), turns, child
        child = inner
    top.child = child
    return top


def _hand_out(top, results):
    """Gives the results of a group to the handles that the frames hold."""
    for inner in top.chain():
        for value in inner.values.values():
            _give(value, results)


def _give(value, results):
    take = getattr(value, "_take", None)
    if take is not None:
        take(results)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _give(item, results)
    elif isinstance(value, dict):
        for item in value.values():
            _give(item, results)
