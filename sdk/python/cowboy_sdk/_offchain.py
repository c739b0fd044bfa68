"""Off-chain jobs in tests: shared by `cowboy_sdk.testing` on CPython and by the one of `cowboy test`.

It is no part of the SDK of actors: on a chain, runners answer.
"""

from . import codec
from ._payloads import decoded
from .errors import JobFailed
from .types import Address, to_address_bytes


class Job:
    """A job that an actor submitted: its `kind`, `args` and `kwargs`, whole `request`, `id`, and the `actor` that waits."""

    def __init__(self, entry):
        self._entry = entry
        self.id = entry["id"]
        self.actor = Address(entry["actor"])
        self.request = codec.decode(entry["payload"])
        kind = self.request["job_type"]
        payload = self.request.get("payload", {})
        self.kind = (kind["type"] if isinstance(kind, dict) else kind).lower()
        self.args = payload.get("args", [])
        self.kwargs = payload.get("kwargs", {})
        callback = self.request.get("callback", {})
        self.handler = self.request.get("reply_handler") or callback.get("handler", "handle_job_result")
        self.target = to_address_bytes(callback.get("actor", entry["actor"]))
        cid = self.request.get("cid", callback.get("correlation_id", ""))
        self.correlation = cid.hex() if isinstance(cid, bytes) else cid
        self.context = callback.get("context", b"")

    def __repr__(self):
        return f"Job({self.kind}, {self.args!r}, {self.kwargs!r})"


class Jobs:
    """The part of a test's chain that lists jobs and answers them.

    A chain gives `_waiting()`, the jobs that have no outcome, `_bring(job, answer)`, which ends a job, delivers the answer and returns what
    the handler returned, and `_failed(job, problem)`, which notes an answer that nobody waits for and that raised.
    """

    _runners = None

    def jobs(self, actor=None):
        """The jobs that wait for an outcome, oldest first, of one actor if given."""
        wanted = None if actor is None else to_address_bytes(actor)
        return [job for job in self._waiting() if wanted in (None, bytes(job.actor))]

    def answer(self, result, job=None):
        """Delivers a result to the actor that waits for `job`, by default the newest. Returns what its method returns.

        The result is what the actor shall see: text, bytes, or a CBOR value. Raises what the method raises, all undone.
        """
        return self._outcome(job, "ok", result)

    def fail(self, reason="no_replacement_available", job=None, attempts=1):
        """Delivers the chain's report that a job failed."""
        job = job or self._newest()
        return self._outcome(job, "failed", _failure(job, reason, attempts))

    def runner(self, kind, function):
        """Answers every waiting job of a kind at each `mine()` with `function(job)`; a JobFailed it raises fails the job."""
        if self._runners is None:
            self._runners = {}
        self._runners[kind] = function

    def _newest(self):
        waiting = self.jobs()
        assert waiting, "no job waits for an outcome"
        return waiting[-1]

    def _outcome(self, job, status, result):
        job = job or self._newest()
        answer = {
            "cid": job.correlation,
            "result": result,
            "reply_handler": job.handler,
            "job_id": job.id,
            "status": status,
            "context": job.context,
        }
        return decoded(self._bring(job, codec.encode(answer)))

    def _run_jobs(self, jobs):
        """Lets the test's runners answer these jobs, where it has any for their kinds."""
        for job in jobs:
            function = (self._runners or {}).get(job.kind)
            if function is None:
                continue
            try:
                outcome = "ok", function(job)
            except JobFailed as problem:
                outcome = "failed", _failure(job, problem.reason, 1)
            try:
                self._outcome(job, *outcome)
            except Exception as problem:
                self._failed(job, problem)


def _failure(job, reason, attempts):
    return {"kind": "job_failed", "v": 1, "job_id": job.id, "reason": reason, "attempts": attempts}


def llm_value(value, *, model="stub-model"):
    """A structured answer as the published runners word it: of a CowboyModel instance or a dict."""
    plain = value.to_dict() if hasattr(value, "to_dict") else value
    if not isinstance(plain, dict):
        raise TypeError(f"llm_value() takes a CowboyModel instance or a dict, got {type(value).__name__}")
    return {"kind": "llm_structured", "model": model, "status": "ok", "v": 1, "value": plain}


def llm_failure(code, *, model=None):
    """The answer of a model that gave no structured value, for one of the reasons in `runner.LlmFailure`."""
    from .models import LlmFailure

    known = sorted([value for name, value in vars(LlmFailure).items() if name.isupper()])
    if code not in known:
        raise ValueError(f"llm_failure(): {code!r} is not a failure code; expected one of {', '.join(known)}")
    return {"kind": "llm_structured", "model": model, "status": "non_success", "v": 1, "code": code}
