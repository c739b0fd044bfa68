"""Calls another actor in every way, and says what came back."""

from cowboy_sdk import ActorCallError, ActorNotFoundError, ActorRef, Address, PurityViolationError, actor, call, deferred, public, runner
from cowboy_sdk.call import call_builder


@actor
class Caller:
    @public
    def silent(self, callee: Address):
        ref = ActorRef(callee)
        return [
            call(callee, "set", 1),
            call(callee, "set", [2]),
            call(callee, "set", {"value": 3}),
            call(callee, "nothing"),
            call(callee, "nothing_as_json", {"a": 1}, codec="json"),
            call(callee, "nothing_as_bytes", b"x", codec="raw"),
            ref.set(4),
            ref.call("set", [5]),
            ref.nothing(),
            ref.with_codec("json").call("nothing_as_json", 1),
            call_builder(callee).method("set").args([6]).execute(),
            call(callee, "value"),
        ]

    @public
    def missing(self, callee: Address):
        """[class, whether it says that there is no actor] of each failure."""
        found = []
        for attempt in (
            lambda: ActorRef(callee).nope(),
            lambda: ActorRef(callee).call("_hidden"),
            lambda: call(callee, "nope"),
            lambda: call(callee, "fails"),
            lambda: call(b"\x77" * 20, "nope"),
        ):
            try:
                attempt()
            except ActorCallError as problem:
                found.append(isinstance(problem, ActorNotFoundError))
        return found

    @public
    def submits(self, kind: str):
        """A pure handler: a job holds money of the actor, so it is refused."""
        jobs = {
            "http": lambda: runner.http("https://example.com").send(bytes(32), "answered"),
            "message": lambda: runner.send_message("http", bytes(32), "answered", ["https://example.com"]),
        }
        try:
            jobs[kind]()
        except PurityViolationError as problem:
            return str(problem)

    @public
    def forgotten(self):
        self.storage["answer"] = runner.llm("Good morning")

    @public
    def early(self):
        return runner.http("https://example.com").text

    @public
    def number_as_key(self):
        self.storage[5] = 1

    @public
    def text_as_bytes(self):
        self.storage.set_raw("key", "text")

    @public
    def wrong_job(self, kind: str):
        jobs = {"llm": runner.llm, "http": runner.http, "mcp": runner.mcp, "agent": runner.agent, "container": runner.container}
        jobs[kind](*(["one"] if kind in ("mcp", "agent", "container") else []))

    @public
    @deferred
    def answered(self, payload):
        pass
