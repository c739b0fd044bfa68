"""cowboy_sdk: what an actor imports.

    from cowboy_sdk import actor, public

    @actor
    class Counter:
        @public
        def increment(self):
            self.storage["count"] = self.storage.get("count", 0) + 1
            return self.storage["count"]
"""

from . import codec, eip712, errors, guards, patterns, pvm_random, pvm_sys, pvm_time, runtime, signing, vrf
from .actor import Actor, ActorRef, actor, derive_actor_address
from .bounded_loop import BoundedRange, bounded_loop, check_iteration
from .call import call
from .dispatch import enter as _dispatch
from .errors import (
    ActorCallError,
    ActorNotFoundError,
    AddressError,
    CallDepthExceeded,
    CaptureTypeError,
    CodecError,
    ContinuationCorruptedError,
    ContinuationCountLimitError,
    ContinuationLimitError,
    ContinuationNotFoundError,
    ContinuationSizeLimitError,
    CowboyError,
    CycleLimitExceeded,
    DeterminismError,
    DeterministicValidationError,
    JobFailed,
    LoopBoundExceeded,
    PermissionDeniedError,
    PurityViolationError,
    ReentrancyError,
    RunnerTimeoutError,
    RunnerValidationError,
    StateConflictError,
    TokenIdError,
)
from .events import emit
from .guards import GuardedValue, GuardSet, reentrancy_guard, storage_guard
from .handler_mode import deferred, pure
from .payload_codec import decode_payload, ok
from .permissions import OWNER, SELF, callable_by, public
from .send import send
from .sorted_map import SortedMap
from .spawn import spawn
from .timer import cancel_timer, resume_interval, set_interval, set_timer, timer
from .types import Address, BlockHeight, SoftFloat, TokenId, ordered_set, to_address_bytes

__version__ = "0.1.6"

# What actors with off-chain work use, beside the modules runner, tee and continuation: loaded when it is first asked for.
_OFF_CHAIN = (
    "Capture", "CowboyModel", "Retry", "RunnerResult", "StructuredResult", "TaskGroup", "Verify", "VerifyBuilder", "capture",
    "delete_cont", "load_cont", "save_cont",
)

# Names of the published SDK whose parts this version does not have.
_MISSING_PARTS = {
    "HTTP routes": ("routes", "Pays", "mount"),
    "event subscriptions": ("on_event", "events_v0"),
    "streams": ("watchtower", "on_stream"),
    "self-cloning": ("fork",),
}


def __getattr__(name):
    if name in _OFF_CHAIN:
        from ._market import PARTS

        return PARTS[name]
    for part, names in _MISSING_PARTS.items():
        if name in names:
            raise ImportError(f"cowboy_sdk.{name} is not available: this version of the SDK has no {part}")
    raise AttributeError(f"module 'cowboy_sdk' has no attribute {name!r}")
