from cowboy_sdk import Actor, actor, deferred, public, errors
from cowboy_sdk.errors import (
    ActorCallError, ActorNotFoundError, AddressError, CallDepthExceeded, CaptureTypeError, CodecError, ContinuationCorruptedError,
    ContinuationCountLimitError, ContinuationLimitError, ContinuationNotFoundError, ContinuationSizeLimitError, CowboyError,
    CycleLimitExceeded, DeterminismError, DeterministicValidationError, JobFailed, LoopBoundExceeded, PermissionDeniedError,
    PurityViolationError, ReentrancyError, RunnerTimeoutError, RunnerValidationError, StateConflictError, TokenIdError,
    UncarriedNameError, UnknownHandlerError,
)


KINDS = (
    ActorCallError, ActorNotFoundError, AddressError, CallDepthExceeded, CaptureTypeError, CodecError, ContinuationCorruptedError,
    ContinuationCountLimitError, ContinuationLimitError, ContinuationNotFoundError, ContinuationSizeLimitError, CycleLimitExceeded,
    DeterminismError, DeterministicValidationError, JobFailed, LoopBoundExceeded, PermissionDeniedError, PurityViolationError,
    ReentrancyError, RunnerTimeoutError, RunnerValidationError, StateConflictError, TokenIdError, UncarriedNameError,
    UnknownHandlerError,
)


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        # Every one is a CowboyError; `except CowboyError` catches what the SDK refuses.
        for kind in KINDS:
            assert issubclass(kind, CowboyError), kind
        assert issubclass(UnknownHandlerError, ActorCallError) and issubclass(UncarriedNameError, NameError)
        problem = JobFailed("no_replacement_available", job_id="0x00", attempts=2)
        assert problem.reason == "no_replacement_available"
        assert errors.CodecError is CodecError
