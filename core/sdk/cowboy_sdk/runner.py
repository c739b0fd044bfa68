"""Off-chain work from inside a method: models, web pages, tools.

    @runner.continuation
    async def ask(self, url):
        page = await runner.http(url)
        answer = await runner.llm("Summarise: " + page.text, max_tokens=500)
        self.storage["summary"] = answer.text

Each await sends a job to the Job Dispatcher and ends the transaction's part of the method; the rest runs in the block in
which the answer arrives. Keyword arguments that the chain reads: max_price, tip, timeout_blocks, verify, verification,
result_schema, max_tokens, resume_cycles, resume_cells, draw; the others are the runner's. See docs/sdk.md.
"""

from . import codec
from ._bounds import BONDED_MODES, CALLBACK_MAX, CALLBACK_MIN
from ._host import pvm_host
from .bounded_loop import bounded_loop
from .continuation import LEAVES, WAITING, begin
from .continuation import resume as _resume
from .errors import CodecError, ContinuationLimitError, JobFailed, RunnerTimeoutError, RunnerValidationError
from .handler_mode import DEFERRED, check_deferred_allowed
from .models import LlmFailure, find_model, is_model, model_name
from .results import RunnerResult, StructuredResult, extract_text
from .structured import structured_payload, with_schema
from .types import Address

RUNNER_ADDRESS = Address.JOB_DISPATCHER.as_ref()

# Arguments of the published SDK that this chain refuses by name.
_UNSERVED = ("hire", "retry")


class _RunnerAwaitable:
    """A job that has not been sent. `await` sends it; a TaskGroup sends several at once."""

    def __init__(self, job_type, *args, **kwargs):
        self.job_type = job_type
        self.args = args
        model = kwargs.get("response_model") if job_type == "llm" else None
        self._model = model if is_model(model) else None
        self.kwargs = with_schema(kwargs) if model is not None else kwargs

    def send(self, cid, reply_handler, **more):
        """Hands the job to the Dispatcher. Returns the job's 32-byte id. PurityViolationError in a @pure handler."""
        check_deferred_allowed(f"runner.{self.job_type}()")
        message = {
            "kind": "runner_job",
            "job_type": self.job_type,
            "payload": _job_payload(self.job_type, list(self.args), self.kwargs),
            "cid": cid,
            "reply_handler": reply_handler,
        }
        message.update(more)
        return pvm_host.submit_job(codec.encode(message))

    def __await__(self):
        raise ContinuationLimitError(
            f"Cannot await runner.{self.job_type}() directly: the method must be an `async def` under @runner.continuation, "
            "or a helper that one of these awaits."
        )

    def __cbor_reduce__(self):
        raise CodecError(f"runner.{self.job_type}() is a job that was not sent: write `await runner.{self.job_type}(...)`")

    def __getattr__(self, name):
        raise AttributeError(
            f"runner.{self.job_type}() has no {name!r} before it is awaited: write `(await runner.{self.job_type}(...)).{name}`"
        )

    # What a continuation asks of what it awaits

    def _is_done(self):
        return False

    def _begin(self, cid, handler):
        pending = {"kind": "job", "for": [self.send(cid, handler)]}
        if self._model is not None:
            pending["model"] = model_name(self._model)
        return pending


def llm(prompt, /, *args, **kwargs):
    """A language model's answer to a prompt.

    `model`, `system_prompt`, `temperature`, `max_tokens` shape it. `response_model=M` asks for a CowboyModel and gives
    its instance as `.value`; `response_schema=` takes JSON Schema text instead.
    """
    return _RunnerAwaitable("llm", prompt, *args, **kwargs)


def http(url, /, *args, **kwargs):
    """What a web address answers. `method`, `headers`, `body` and `selector` shape the request; the domain must be granted."""
    return _RunnerAwaitable("http", url, *args, **kwargs)


def mcp(server, tool, /, *args, **kwargs):
    """What a tool of an MCP server answers: `runner.mcp(server, tool, {"name": "value"})`, or `name="value"`."""
    return _RunnerAwaitable("mcp", server, tool, *args, **kwargs)


def agent(model, query, /, *args, **kwargs):
    """The answer of a model that works with tools at the runner: `runner.agent(model, query)`."""
    return _RunnerAwaitable("agent", model, query, *args, **kwargs)


def custom(tool, *args, **kwargs):
    """What a tool that runners have registered answers."""
    return _RunnerAwaitable("custom", tool, *args, **kwargs)


def container(image, command, /, *args, **kwargs):
    """What a command in a container prints: `runner.container(image, ["python3", "-c", "..."])`."""
    return _RunnerAwaitable("container", image, command, *args, **kwargs)


def send_message(job_type, cid, reply_handler, args=None, kwargs=None):
    """Sends a job by its parts; its answer goes to `reply_handler`. Returns the job's id."""
    return _RunnerAwaitable(job_type, *(args or ()), **(kwargs or {})).send(cid, reply_handler)


def _job_payload(job_type, args, kwargs):
    for key in ("resume_cycles", "resume_cells"):
        if key in kwargs:
            _check_budget(job_type, key, kwargs[key])
    for key in _UNSERVED:
        # What a tool's call names beside the chain's own words are the tool's arguments.
        if key in kwargs and job_type != "mcp":
            raise TypeError(f"runner.{job_type}(): this chain serves no {key}, and refuses jobs that name it; leave it out")
    terms = {key: value for key, value in kwargs.items() if key != "draw"}
    payload = {"args": args, "kwargs": terms}
    if job_type == "llm" and "response_schema" in kwargs:
        payload = structured_payload(args, terms)
    draw = kwargs.get("draw", _draw_of(kwargs))
    if draw is not None:
        payload["kwargs"]["draw"] = draw
    return payload


def _draw_of(kwargs):
    """How the runner is drawn where the author does not say: behind a bond by a seed that nobody knows yet (decision 176)."""
    for rule in (kwargs.get("verify"), kwargs.get("verification")):
        if isinstance(rule, dict) and rule.get("mode") in BONDED_MODES:
            return "delayed"
    return None


def _check_budget(job_type, key, value):
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"runner.{job_type}(): {key} must be int, got {type(value).__name__}")
    # The published SDK has the range of cycles for cells too.
    if not CALLBACK_MIN <= value <= CALLBACK_MAX:
        raise ValueError(f"runner.{job_type}(): {key} must be between {CALLBACK_MIN} and {CALLBACK_MAX}, got {value!r}")


# Waiting for time


class _Sleep:
    """A pause of some blocks, counted by a timer."""

    def __init__(self, blocks):
        if int(blocks) < 1:
            raise ValueError("runner.sleep() takes a positive number of blocks")
        self._blocks = int(blocks)

    def _is_done(self):
        return False

    def _begin(self, cid, handler):
        token = _token(b"sleep", cid)
        return {"kind": "sleep", "for": [token], "timer": _wake(cid, handler, token, self._blocks)}


def sleep(blocks):
    """Goes on with the method after so many blocks."""
    return _Sleep(blocks)


class _Within:
    """A job with a deadline of the actor's own."""

    def __init__(self, blocks, awaited):
        if int(blocks) < 1:
            raise ValueError("runner.within() takes a positive number of blocks")
        self._blocks = int(blocks)
        self._awaited = awaited

    def _is_done(self):
        return self._awaited._is_done()

    def _outcome(self, pending):
        return self._awaited._outcome(pending)

    def _begin(self, cid, handler):
        pending = self._awaited._begin(cid, handler)
        token = _token(b"deadline", cid)
        pending["deadline"] = token
        pending["timer"] = _wake(cid, handler, token, self._blocks)
        return pending


def within(blocks, awaited):
    """`await within(20, runner.http(url))`: RunnerTimeoutError at the await when nothing came in so many blocks.

    An answer that comes later finds nobody. A job ends by itself, too, when its `timeout_blocks` and its retries are used up.
    """
    return _Within(blocks, awaited)


def _token(what, cid):
    return pvm_host.keccak256(what + cid + pvm_host.current_block().to_bytes(8, "big"))


def _wake(cid, handler, token, blocks):
    payload = codec.encode({"_handler": handler, "_payload": codec.encode({"cid": cid, "token": token})})
    return pvm_host.schedule_timer(pvm_host.current_block() + blocks, payload)


# Answers


def _job_outcome(answer, token, pending):
    if token is not None and token == pending.get("deadline"):
        return _too_late()
    failure = _failure_of(answer)
    if failure is not None:
        return failure
    return _result(answer.get("result"), pending.get("model"))


def _group_outcome(answer, token, pending):
    if token is not None and token == pending.get("deadline"):
        return _too_late()
    place = answer.get("task_index") if token is None else pending["for"].index(token)
    got = pending.setdefault("got", {})
    name = str(place)
    if name not in got:
        failure = _failure_of(answer)
        got[name] = [0, answer.get("result")] if failure is None else [1, [failure.reason, failure.job_id, failure.attempts]]
    if len(got) < len(pending["for"]):
        return WAITING
    results = []
    for place, model in enumerate(pending["models"]):
        failed, value = got[str(place)]
        results.append(JobFailed(value[0], value[1], value[2]) if failed else _result(value, model))
    return results


def _sleep_outcome(answer, token, pending):
    return None


LEAVES["job"] = _job_outcome
LEAVES["group"] = _group_outcome
LEAVES["sleep"] = _sleep_outcome


def _too_late():
    return RunnerTimeoutError("no answer before the deadline that runner.within() set")


def _result(raw, model):
    found = find_model(model)
    return RunnerResult(raw) if found is None else StructuredResult(raw, found)


def _failure_of(answer):
    """JobFailed where the chain says that it gave the job up; None for a result."""
    if "failure" in answer:
        body = answer["failure"]
        if not isinstance(body, dict) or set(body) != {"kind", "v", "job_id", "reason", "attempts"} or body["kind"] != "failure":
            raise CodecError("runner reply 'failure' is not a well-formed JobFailure")
        return JobFailed(body["reason"], job_id=body["job_id"], attempts=body["attempts"])
    if answer.get("status") != "failed":
        return None
    body = answer["result"]
    return JobFailed(body["reason"], job_id="0x" + body["job_id"].hex(), attempts=body["attempts"])


def _decode_reply(message):
    if isinstance(message, (bytes, bytearray)):
        return codec.decode(bytes(message)) if message else {}
    return message


def handle_runner_result(actor, message):
    """Hands an answer to the method that waits for it, by the answer's `reply_handler`."""
    message = _decode_reply(message)
    name = message.get("reply_handler") if isinstance(message, dict) else None
    if name is None:
        raise ValueError("Runner result message missing 'reply_handler' field.")
    handler = getattr(actor, name, None)
    if handler is None:
        raise AttributeError(
            f"Actor {type(actor).__name__} has no handler '{name}'. Did you forget @runner.continuation on the method?"
        )
    return handler(codec.encode(message))


# The decorator


class _Continuation:
    """`@runner.continuation`, bare or with `timeout_blocks` and `guard_keys`."""

    def __call__(self, function=None, *, timeout_blocks=0, guard_keys=None):
        if isinstance(timeout_blocks, bool) or not isinstance(timeout_blocks, int):
            raise ContinuationLimitError(f"continuation timeout_blocks must be an integer, got {timeout_blocks!r}")
        if guard_keys is not None and not (
            isinstance(guard_keys, (list, tuple)) and all([isinstance(key, (str, bytes)) for key in guard_keys])
        ):
            raise ContinuationLimitError(
                f"continuation guard_keys must be None or a list/tuple of str or bytes, got {guard_keys!r}"
            )
        if function is None:
            return lambda method: self._apply(method, timeout_blocks, guard_keys)
        if not callable(function):
            raise TypeError(
                f"@runner.continuation: unexpected positional argument {function!r}. "
                "Use @runner.continuation or @runner.continuation(timeout_blocks=N)."
            )
        return self._apply(function, timeout_blocks, guard_keys)

    def _apply(self, function, timeout_blocks, guard_keys):
        row = getattr(function, "_row", None)
        if row is None:
            function = _lowered(function)
            row = function._row
        row.timeout_blocks = timeout_blocks
        row.guard_keys = tuple(guard_keys or ())
        bound = function.__dict__.get("_bounded_loop_max")
        if bound is not None:
            row.limit = bound

        def method(*args, **kwargs):
            return begin(row, args, kwargs)

        method.__dict__.update(function.__dict__)
        method.__name__ = function.__name__
        method.__qualname__ = function.__qualname__
        method.__doc__ = function.__doc__
        method.__annotations__ = function.__annotations__
        method.__module__ = function.__module__
        method._positional = row.positional
        method._defaults = row.function.__defaults__
        method._handler_mode = DEFERRED
        method._is_continuation = True
        return method


continuation = _Continuation()

_COROUTINE, _ASYNC_GENERATOR = 0x80, 0x200


def _lowered(function):
    """In plain Python: the compiled form of an `async def`. On a chain the VM's compiler has made it already."""
    code = getattr(function, "__code__", None)
    if code is None or not code.co_flags & (_COROUTINE | _ASYNC_GENERATOR):
        raise ContinuationLimitError(
            f"@runner.continuation requires an async function, but '{function.__name__}' is not async. "
            f"Add 'async' keyword: async def {function.__name__}(...)."
        )
    from ._lowering import lower
    from .continuation import frame

    return lower(function, frame)


def resume_of(method):
    """The handler that goes on with a continuation: `<name>__resume`."""
    row = method._row

    def resume(actor, answer):
        return _resume(row, actor, _decode_reply(answer))

    resume.__name__ = row.handler
    resume._handler_mode = DEFERRED
    resume._is_continuation_resume = True
    return resume
