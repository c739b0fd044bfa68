"""Actors of the published SDK 0.1.6 that wait for off-chain work, unchanged, and what they use beside it."""

from typing import List, Optional

from cowboy_sdk import Capture, CowboyModel, Retry, TaskGroup, Verify, actor, capture, codec, continuation, errors, public, runner, save_cont


RULE = (
    Verify.builder().mode("consensus").runners(3).threshold(2).check(Verify.numeric_range("price", 0.01, 10))
    .check(Verify.json_schema_valid({"type": "object"})).timeout_blocks(7).build()
)


@actor
class Waiter:
    @public
    def init(self, payload):
        self.storage["calls"] = 0
        return b"ok"

    @public
    @runner.continuation
    async def chat(self, msg):
        ctx = capture()
        ctx.prompt = msg.get("message", "Hello")
        result = await runner.llm(ctx.prompt, system_prompt="You are a helpful assistant", temperature=0.5, max_tokens=50)
        chat_id = self.storage.get("calls", 0)
        self.storage[f"reply:{chat_id}"] = result
        self.storage["text"] = result.text
        self.storage["calls"] = chat_id + 1
        return b"ok"

    @public
    @runner.continuation(timeout_blocks=5, guard_keys=["calls", b"\x00raw"])
    async def analyze(self, msg):
        ctx = capture()
        ctx.seen = [1, "a", b"b", None, True, 1.5, {"k": [2**70]}]
        ctx.files = await runner.mcp("filesystem", "read_file", path="/data/input.txt")
        ctx.count = len(ctx.seen)
        ctx.answer = await runner.llm(f"Analyze this: {ctx.files.data['data']}", verify=RULE)
        self.storage["last"] = ctx.answer.text
        ctx.more = await runner.container("cby-runner-python", ["python3", "-c", "1"], volumes=[("ws", "rw")])
        return {"count": ctx.count, "more": ctx.more.json(), "files": ctx.files}

    @public
    @runner.continuation
    async def last(self, msg):
        ctx = capture()
        ctx.answer = await runner.agent("kimi-k2", "why?", session_id="s")

    @public(decode="json")
    @runner.continuation
    async def as_json(self, msg):
        ctx = capture()
        ctx.page = await runner.http("https://example.com", method="POST", resume_cycles=200_000)
        return {"page": ctx.page.data}

    @public
    @runner.continuation
    async def inner(self, msg):
        ctx = capture()
        ctx.n = 1
        await runner.http("https://example.com")
        self.storage["n"] = ctx.n

    @runner.continuation
    async def hidden(self, msg):
        ctx = capture()
        await runner.http("u")

    @public
    @runner.continuation
    async def bad_capture(self, msg):
        ctx = capture()
        ctx.f = print
        await runner.http("u")

    @public
    @runner.continuation
    async def bad_budget(self, msg):
        ctx = capture()
        await runner.http("u", resume_cells=5)
        return ctx.x


class Item(CowboyModel):
    """A thing."""

    name: str
    price: float
    tags: List[str]
    note: Optional[str] = None


class Order(CowboyModel):
    item: Item
    amount: int = 1


# Calls in turn: (method, payload, sender is the actor); or a reply to the newest job: (None, result).
CHAT = codec.encode({"message": "Hi"})
FAILURE = {"kind": "failure", "v": 1, "job_id": "0x" + "ab" * 32, "reason": "retries_exhausted", "attempts": 3}
STORIES = [
    [("init", b"{}"), ("chat", CHAT), (None, {"content": "Hello!", "usage": 3}), (None, "again")],
    [("init", b"{}"), ("chat", CHAT), (None, b"\xffbytes")],
    [("chat", CHAT), ("failure", FAILURE)],
    [("init", b"{}"), ("analyze", b""), (None, {"data": "x"}), (None, {"response": {"text": "deep"}}), (None, '{"a": [1]}')],
    [("init", b"{}"), ("analyze", b""), ("chat", CHAT)],
    [("analyze", b""), ("late", 9), (None, {"data": "x"})],
    [("analyze", b""), ("touch", b"\x00raw"), (None, {"data": "x"})],
    [("last", b""), (None, {"answer": "because"})],
    [("as_json", b'{"a": 1}'), (None, {"x": [1, None]})],
    [("inner", b""), (None, "x")],
    [("hidden", b"")],
    [("bad_capture", b"")],
    [("bad_budget", b"")],
    [("chat", CHAT), ("chat__resume", codec.encode({"result": 1}))],
    [("chat__resume", codec.encode({"cid": "zz", "result": 1}))],
    [("chat__resume", codec.encode({"cid": "00" * 32, "result": 1}))],
]


def attempt(action):
    try:
        return repr(action())
    except Exception as problem:
        return f"{type(problem).__name__} {getattr(problem, 'ERROR_SLUG', '')}"


def facts():
    """What the parts around continuations give."""
    item = Item("hat", 1.5, ["a"])
    checks = [
        Verify.exact_match(), Verify.exact_match(3), Verify.json_schema_valid(Item.schema()), Verify.structured_match(["a"]),
        Verify.majority_vote(), Verify.majority_vote("f", 0.6), Verify.supermajority_vote("f"), Verify.numeric_tolerance("p", 0.1),
        Verify.numeric_range("p", max_val=3), Verify.set_equality("t"), Verify.contains_all(["a"]), Verify.contains_none(("b",)),
        Verify.regex_match("a+"), Verify.length_bounds(1), Verify.length_bounds(1, 2), Verify.semantic_similarity(),
        Verify.semantic_similarity("ref", 0.9), Verify.no_prompt_leak(), Verify.entropy_check(), Verify.custom("mine", a=1),
        Verify.custom_actor(b"\x11" * 20, "check", {"a": 1}), Verify.custom_actor("0x12", "check"), Verify.not_empty(),
        Verify.contains("x"), Verify.length_limit(10), Verify.length_limit(10, 1), Verify.http_status(200),
        Verify.http_status(range_start=200, range_end=299), Verify.response_time(5), Verify.signature_valid(b"\x01"),
        Verify.tee_attestation(), Verify.tee_attestation(b"\x02"), Verify.deterministic_output(), Verify.field_exists("a", "b"),
        Verify.format_check("json"), Verify.format_check("url", require_https=True),
    ]
    retry = Retry(max_attempts=2, on_empty=True)
    steps = [retry.next_delay(), retry.has_next(), retry.should_retry_on_empty(), retry.next_delay(), retry.has_next(), repr(retry)]
    texts = [None, "x", b"\xff", 5, {"content": None}, {"answer": "a"}, {"data": {"text": {"response": "deep"}}}, {"other": 1}, [1]]
    made = capture()
    made.update({"a": 1, "b": [1]})
    wrong = [
        lambda: Verify.builder().mode("nonsense"), lambda: Verify.builder().runners(0), lambda: Verify.builder().check({}),
        lambda: Verify.builder().threshold(2).build(), lambda: Verify.supermajority_vote("f", 0), lambda: Verify.numeric_tolerance("p", -1),
        lambda: Verify.numeric_range("p", 2, 1), lambda: Verify.semantic_similarity(threshold=2), lambda: Verify.entropy_check(-1),
        lambda: Verify.format_check("nonsense"), lambda: Retry(max_attempts=5), lambda: Item("hat"), lambda: Item.from_dict({"name": "x"}),
        lambda: Item.from_dict([]), lambda: made.missing, lambda: setattr(made, "f", print), lambda: setattr(made, "d", {b"x": 1}),
        lambda: TaskGroup().create_task(runner.http("u")).result(), lambda: Item(None, 1.0, []).validate(),
        lambda: save_cont(b"c" * 32, 0, {"x": print}, "h"), lambda: continuation.load_cont(b"d" * 32),
        lambda: continuation.load_cont_raw(b"d" * 32), lambda: runner.llm("p", response_model=3),
        lambda: runner.llm("p", response_model=Item, response_schema="{}"), lambda: runner.continuation(3),
        lambda: runner.handle_runner_result(None, {}),
    ]
    for key, value in [("max_tokens", 0), ("max_tokens", True), ("temperature", 2.1), ("temperature", -0.1), ("timeout_blocks", 9),
                       ("model", " x"), ("model", "*"), ("system_prompt", 5), ("secrets", 5), ("nonsense", 1), ("response_schema", "")]:
        options = {"response_schema": "{}", key: value}
        wrong.append(lambda options=options: runner.send_message("llm", b"c" * 32, "h", ["p"], options))
    return {
        "checks": [codec.encode(check).hex() for check in checks],
        "rule": codec.encode(RULE).hex(),
        "retry": [steps, retry.to_dict(), Retry.from_dict({"max_attempts": 1}).to_dict(), list(Retry(max_attempts=4))],
        "model": [
            repr(item), item == Item("hat", 1.5, ["a"]), item.to_cbor().hex(), repr(Item.from_cbor(item.to_cbor())), Item.schema(),
            repr(Order.from_dict({"item": item.to_dict()})), Order(item).to_dict(), Order.schema(), attempt(lambda: hash(item)),
        ],
        "texts": [[runner.RunnerResult(raw).text, repr(runner.RunnerResult(raw))] for raw in texts],
        "extract": [runner.extract_text(raw) for raw in texts],
        "capture": [repr(made), "a" in made, made.get("z", 4), made.to_dict(), repr(Capture.from_dict({"q": 1}))],
        "wrong": [attempt(action) for action in wrong],
        "errors": [errors.JobFailed("x", "0x", 1).reason, str(errors.JobFailed("x"))],
    }
