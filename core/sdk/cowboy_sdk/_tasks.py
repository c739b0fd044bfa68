"""Off-chain work of plain functions: `ctx.submit_task`, and the call by which its answer comes (004 §8.5).

What the author wants back stands in storage under the job's id until the answer comes, once. Only the Result Verifier
brings answers: a call by anybody else finds no context.
"""

from . import codec
from ._host import pvm_host
from .handler_mode import check_deferred_allowed
from .runner import _job_payload
from .types import Address

_CONTEXTS = b"_tasks/"

# The names of 004 and 002, and what runners call the same.
_KINDS = {"llm_inference": "llm", "http_request": "http", "mcp_call": "mcp"}
# What stands first in a request of each kind.
_FIRST = {"llm": ("prompt",), "http": ("url",), "mcp": ("server", "tool", "args"), "agent": ("model", "query")}


def submit_task(task_type, request, callback, callback_context=None, **options):
    """Sends a job whose answer goes to the handler `callback`. Returns the job's 32-byte id. PurityViolationError in a @pure handler."""
    check_deferred_allowed("submit_task()")
    kind = _KINDS.get(task_type, task_type)
    if kind not in _FIRST:
        raise ValueError(f"no task_type {task_type!r}: there are llm_inference, http_request, mcp_call and agent")
    rest = dict(request)
    args = [rest.pop(name) for name in _FIRST[kind] if name in rest]
    if not args:
        raise ValueError(f"a request of {task_type} needs {_FIRST[kind][0]!r}")
    rest.update(options)
    message = {
        "kind": "runner_job",
        "job_type": kind,
        "payload": _job_payload(kind, args, rest),
        "cid": pvm_host.keccak256(codec.encode([kind, args])),
        "reply_handler": callback,
    }
    job_id = pvm_host.submit_job(codec.encode(message))
    pvm_host.set_state(_CONTEXTS + job_id, codec.encode(callback_context))
    return job_id


def answer(sender, argument):
    """(context, result) where the Result Verifier brings the answer of a task; None for every other call.

    A result is `{"status": "ok", "output": text, "raw": ..., "job_id": ...}`, or `{"status": "failed", "error": reason, ...}`.
    """
    if sender != Address.RESULT_VERIFIER or not isinstance(argument, dict) or "job_id" not in argument:
        return None
    key = _CONTEXTS + argument["job_id"]
    stored = pvm_host.get_state(key)
    if stored is None:
        return None
    pvm_host.delete_state(key)
    # The answer comes once, and its context is of no use after a handler that fails.
    pvm_host.delete_on_failure(key)
    result = {"status": argument["status"], "job_id": argument["job_id"], "raw": argument["result"]}
    if argument["status"] == "ok":
        result["output"] = _text(argument["result"])
    else:
        result["error"] = argument["result"]["reason"]
    return codec.decode(stored), result


def _text(result):
    if type(result) is str:
        return result
    from .results import extract_text

    return extract_text(result)
