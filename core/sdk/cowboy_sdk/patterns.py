"""Patterns that keep message-passing actors right: once-only handling, requests with a deadline, narrow handles.

Messages of this chain arrive exactly once, but people press buttons twice, other actors retry, and answers may never
come. These helpers keep the bookkeeping in storage.
"""

from ._host import pvm_host
from .actor_ref import ActorRef
from .collections import StoredMap
from .errors import PermissionDeniedError
from .send import send
from .timer import cancel_timer, set_timer
from .types import to_address_bytes

_DONE = StoredMap("__done:")
_REQUESTS = StoredMap("__request:")


# Idempotency


def once(key):
    """True the first time it is called with `key` (str or bytes), False ever after.

        if not once(order_id):
            return "already done"

    A handler that fails afterwards takes the mark back with everything else. Each key stays in storage: `forget` it
    when it can no longer come back.
    """
    if key in _DONE:
        return False
    _DONE[key] = True
    return True


def forget(key):
    """Lets `once(key)` be True again."""
    del _DONE[key]


# Requests and answers


def request(target, payload, *, answer, timeout_blocks, on_timeout, context=None, value=0):
    """Sends `payload` to `target` and waits for the answer without blocking. Returns the request's id (32 bytes).

    The message carries {"id": id, "reply_to": answer, "body": payload}; the other side answers with `reply`. What must
    be known when the answer comes is put into `context`. Without an answer in time, the handler `on_timeout` gets
    {"id": id, "context": context}. The calling handler must be @deferred.
    """
    target = to_address_bytes(target)
    count = _REQUESTS.get("count", 0) + 1
    _REQUESTS["count"] = count
    request_id = pvm_host.keccak256(b"request" + pvm_host.self_address() + count.to_bytes(8, "big"))
    timer_id = set_timer(pvm_host.current_block() + timeout_blocks, on_timeout, {"id": request_id, "context": context})
    _REQUESTS[request_id] = {"target": target, "context": context, "timer": timer_id}
    send(target, {"id": request_id, "reply_to": answer, "body": payload}, value=value)
    return request_id


def reply(to, message, body):
    """Answers a request: `to` is its sender and `message` what arrived. The calling handler must be @deferred."""
    send(to, {"id": message["id"], "body": body}, handler=message["reply_to"])


def take_answer(message):
    """(body, context) of an answer that belongs to an open request, and closes it.

    PermissionDeniedError when the request is not open (answered, timed out, never made) or somebody else answers.
    Call it first in the handler that is named as `answer`, which must be @public.
    """
    found = _REQUESTS[message["id"]]
    if found is None:
        raise PermissionDeniedError("no open request has this id: it was answered, timed out or never made")
    if pvm_host.context()["sender"] != found["target"]:
        raise PermissionDeniedError("only the actor that was asked may answer")
    del _REQUESTS[message["id"]]
    cancel_timer(found["timer"])
    return message["body"], found["context"]


def take_timeout(message):
    """The context of a request whose time is up, and closes it. Call it first in the handler named as `on_timeout`."""
    del _REQUESTS[message["id"]]
    return message["context"]


# Capabilities


class Handle:
    """Another actor, narrowed to a few of its handlers and a ceiling of cycles.

    Code that is given a Handle can do with it what it was made for and nothing else:

        price_only = Handle(oracle, ["price"], cycles_limit=50_000)
        price_only.call("price", ["ETH"])
    """

    def __init__(self, address, methods, cycles_limit=100_000):
        self._ref = ActorRef(address, cycles_limit)
        self._methods = tuple(methods)

    @property
    def methods(self):
        return self._methods

    def call(self, method, args=None):
        """Calls one of the handlers the handle is for. PermissionDeniedError for any other."""
        if method not in self._methods:
            raise PermissionDeniedError(f"this handle is for {', '.join(self._methods)}, not for {method!r}")
        return self._ref.call(method, args)

    def narrowed(self, methods, cycles_limit=None):
        """A handle for fewer handlers or fewer cycles. PermissionDeniedError when it would be for more."""
        for method in methods:
            if method not in self._methods:
                raise PermissionDeniedError(f"this handle is for {', '.join(self._methods)}, not for {method!r}")
        limit = self._ref._cycles_limit
        return Handle(self._ref.address, methods, limit if cycles_limit is None else min(limit, cycles_limit))

    def __cbor_reduce__(self):
        return {"address": self._ref.address, "methods": list(self._methods), "cycles": self._ref._cycles_limit}


def handle_from(stored):
    """The Handle that was kept in storage."""
    return Handle(stored["address"], stored["methods"], stored["cycles"])
