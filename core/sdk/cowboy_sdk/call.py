"""`call`: another actor's handler, run now, in this transaction."""

from ._effects import call_actor
from ._host import HostError
from .errors import ActorCallError, CallDepthExceeded, _ActorNotFoundCallError
from .handler_mode import check_deferred_allowed
from .payload_codec import DEFAULT_CODEC, decode_return, encode_args, normalize_codec
from .types import Address, to_address_bytes

DEFAULT_CYCLES = 100_000
_NOT_FOUND = 3
# The actor is there, the handler is not: an ActorCallError, so that nobody forgets a live actor.
_UNKNOWN_HANDLER = "unknown_handler"


def call(target, method, args=None, cycles_limit=DEFAULT_CYCLES, *, access_limit=None, codec=DEFAULT_CODEC, value=0):
    """Runs `method` of the actor `target` and returns its result.

    `args` is encoded as `codec`, which must be the format the handler declares; None sends no payload. `value` moves
    that many base units of CBY along (the handler must be @deferred, since money leaves). The callee may spend
    `cycles_limit` cycles.

    A handler that returns None gives None; with codec="raw", b"". A callee that raises, runs out of cycles or has no such
    handler is rolled back to the moment of the call, money included, and the caller gets ActorCallError and may go on.
    ActorNotFoundError when nothing lives at `target`.
    """
    raw = to_address_bytes(target)
    name = normalize_codec(codec)
    payload = encode_args(args, name)
    if value:
        check_deferred_allowed("call(value=...)")
    try:
        result = call_actor(raw, method, payload, cycles_limit, access_limit, value=value)
    except HostError as problem:
        where = f"call({Address(raw).to_hex()}.{method})"
        if problem.code == _NOT_FOUND and problem.name != _UNKNOWN_HANDLER:
            raise _ActorNotFoundCallError(f"{where} failed: not found: {problem}") from problem
        raise ActorCallError(f"{where} failed [{problem.name}]: {problem}") from problem
    except RecursionError as problem:
        raise CallDepthExceeded("local call recursion limit exceeded (check for circular Actor calls)") from problem
    except ActorCallError:
        raise
    except Exception as problem:
        raise ActorCallError(f"call({Address(raw).to_hex()}.{method}) failed: {problem}") from problem
    return decode_return(result, name)


class ActorCallBuilder:
    """A call put together step by step: `call_builder(target).method("price").args(["ETH"]).execute()`."""

    def __init__(self, target):
        self._target = to_address_bytes(target)
        self._method = None
        self._args = None
        self._cycles = DEFAULT_CYCLES
        self._codec = DEFAULT_CODEC

    def method(self, name):
        self._method = name
        return self

    def args(self, args):
        self._args = args
        return self

    def cycles(self, limit):
        self._cycles = limit
        return self

    def codec(self, name):
        self._codec = normalize_codec(name)
        return self

    def execute(self):
        if self._method is None:
            raise ValueError("ActorCallBuilder: method() must be called before execute()")
        return call(self._target, self._method, self._args, self._cycles, codec=self._codec)


def call_builder(target):
    return ActorCallBuilder(target)
