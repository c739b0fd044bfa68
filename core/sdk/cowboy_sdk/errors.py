"""Every error an actor can meet. A receipt shows an uncaught error's class, message and line; programs read class attributes:

* `HOST_ERROR_CODE`: the class of failure (1 limit, 2 bad input, 3 not found, 5 forbidden, 6 internal, 8 resource),
* `ERROR_SLUG`: the stable code of the published documentation,
* `why`: the cause in one sentence,
* `fix`: what to do about it.
"""


class CowboyError(Exception):
    """The base of all SDK errors: `except CowboyError` catches each of them."""

    HOST_ERROR_CODE = 6
    ERROR_SLUG = "E1900"
    why = ""
    fix = ""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        # The names under which the VM reads them.
        cls.slug = cls.ERROR_SLUG
        cls.code = cls.HOST_ERROR_CODE


# Determinism and safety


class DeterminismError(CowboyError):
    """An operation whose answer could differ between two validators."""

    HOST_ERROR_CODE = 5
    ERROR_SLUG = "E1101"
    why = "The actor used something that two machines may answer differently."
    fix = "Use the deterministic counterpart: pvm_time for time, vrf for randomness, a dict or ordered_set for sets."


class StateConflictError(CowboyError):
    """A guarded storage value changed while the actor was waiting."""

    HOST_ERROR_CODE = 5
    ERROR_SLUG = "E1206"
    why = "Another message changed a guarded key between the two halves of this operation."
    fix = "Read the key again and start over, or guard fewer keys."


class ReentrancyError(CowboyError):
    """A guarded method was entered again before it had returned."""

    HOST_ERROR_CODE = 5
    ERROR_SLUG = "E1205"
    why = "A call made by this method led back into it."
    fix = "Finish all writes before calling out, or give independent resources their own lock with key=."


class LoopBoundExceeded(CowboyError):
    """A bounded loop ran past its declared number of iterations."""

    HOST_ERROR_CODE = 1
    ERROR_SLUG = "E1201"
    why = "A loop under @bounded_loop passed its limit."
    fix = "Split the work over several messages, or raise max_iterations knowingly."


class CaptureTypeError(CowboyError):
    """A value that cannot be carried to a later block."""

    HOST_ERROR_CODE = 2
    ERROR_SLUG = "E1202"
    why = "A function, generator, module or custom object was stored where only plain data can be kept."
    fix = "Store numbers, strings, bytes, lists and dicts; rebuild objects when the work resumes."


class UncarriedNameError(CowboyError, NameError):
    """A local name that did not survive an await."""

    HOST_ERROR_CODE = 2
    ERROR_SLUG = "E1202"
    why = "The value of this name could not be carried across the await, and the code after it reads the name."
    fix = "Keep the data you need as plain values, or compute the object again after the await."


# Continuations


class ContinuationLimitError(CowboyError):
    """A continuation that breaks a structural rule, such as more than eight awaits."""

    HOST_ERROR_CODE = 2
    ERROR_SLUG = "E1202"
    why = "The method awaits too often, inside a loop, or in a nested function."
    fix = "Use at most eight awaits, each a direct statement of the method."


class ContinuationNotFoundError(CowboyError):
    """A resume for work that is finished, expired or was never started."""

    HOST_ERROR_CODE = 3
    ERROR_SLUG = "E1203"
    why = "No saved state exists under this continuation id."
    fix = "Check the id; a continuation is consumed by its last resume."


class ContinuationCorruptedError(CowboyError):
    """Saved continuation state that cannot be decoded."""

    HOST_ERROR_CODE = 6
    ERROR_SLUG = "E1206"
    why = "The bytes saved for this continuation are not what the SDK wrote."
    fix = "Do not write keys that start with __continuation: yourself."


class ContinuationSizeLimitError(CowboyError):
    """Continuation state above 64 KiB."""

    HOST_ERROR_CODE = 8
    ERROR_SLUG = "E1208"
    why = "The state kept across an await is larger than 64 KiB."
    fix = "Keep large data in storage and carry its key."


class ContinuationCountLimitError(CowboyError):
    """More than 100 continuations waiting in one actor."""

    HOST_ERROR_CODE = 8
    ERROR_SLUG = "E1208"
    why = "The actor already waits for 100 results."
    fix = "Let some finish, or cancel those that no longer matter."


# Resources and jobs


class CycleLimitExceeded(CowboyError):
    """Computation that used all cycles it was given."""

    HOST_ERROR_CODE = 1
    ERROR_SLUG = "E1201"
    why = "The handler used its whole cycle budget."
    fix = "Do less in one message, or give the transaction a higher cycles_limit."


class CallDepthExceeded(CowboyError):
    """A chain of calls deeper than the limit of 32."""

    HOST_ERROR_CODE = 5
    ERROR_SLUG = "E1205"
    why = "Actors called each other more than 32 levels deep."
    fix = "Look for a circle of calls, or hand part of the work on with send()."


class RunnerTimeoutError(CowboyError):
    """An off-chain job without a result before its deadline."""

    HOST_ERROR_CODE = 1
    ERROR_SLUG = "E1201"
    why = "No runner delivered before timeout_blocks."
    fix = "Allow more blocks, pay more, or ask for less special hardware."


class RunnerValidationError(CowboyError):
    """A job result that fails the checks asked for."""

    HOST_ERROR_CODE = 2
    ERROR_SLUG = "E1604"
    why = "The result does not have the demanded shape."
    fix = "Correct the schema, or ask the model for that shape explicitly."


class DeterministicValidationError(CowboyError):
    """Runners that disagree although equal results were demanded."""

    HOST_ERROR_CODE = 5
    ERROR_SLUG = "E1610"
    why = "Runners returned different results in a mode that demands equal ones."
    fix = "Use deterministic work inside a TEE, or a majority mode."


class JobFailed(CowboyError):
    """The chain's report that a job ended without a result."""

    HOST_ERROR_CODE = 1
    ERROR_SLUG = "E1621"
    why = "No runner was eligible, or none delivered."
    fix = "Read `reason`, then submit the job again later or relax what it demands."

    def __init__(self, reason, job_id=None, attempts=None):
        super().__init__(f"job failed: {reason}")
        self.reason = reason
        self.job_id = job_id
        self.attempts = attempts


# Types and encoding


class CodecError(CowboyError):
    """Bytes that are not canonical, or a value that has no encoding."""

    HOST_ERROR_CODE = 2
    ERROR_SLUG = "E1213"
    why = "A payload could not be encoded or decoded."
    fix = "Send canonical CBOR of None, bool, int, finite float, bytes, str, list or dict."


class AddressError(CowboyError):
    """Something that is not a 20-byte address."""

    HOST_ERROR_CODE = 2
    ERROR_SLUG = "E1202"
    why = "An address is exactly 20 bytes, or 40 hex digits."
    fix = "Pass 20 bytes, a 0x-hex string or an Address."


class TokenIdError(CowboyError):
    """Something that is not a 32-byte token id."""

    HOST_ERROR_CODE = 2
    ERROR_SLUG = "E1417"
    why = "A token id is exactly 32 bytes, or 64 hex digits."
    fix = "Pass 32 bytes, a 0x-hex string or a TokenId."


# Calls and permissions


class ActorNotFoundError(CowboyError):
    """No actor lives at the address."""

    HOST_ERROR_CODE = 3
    ERROR_SLUG = "E1220"
    why = "Nothing is deployed at the target address."
    fix = "Check the address and the chain, or deploy the actor first."


class ActorCallError(CowboyError):
    """A synchronous call that failed: its effects are undone, the caller may go on."""

    HOST_ERROR_CODE = 6
    ERROR_SLUG = "E1206"
    why = "The called handler raised, ran out of cycles, or does not exist."
    fix = "Read the callee's error in the message; catch ActorCallError to go on without it."


class UnknownHandlerError(ActorCallError):
    """A handler that the actor does not offer. The chain knows the class, so that receipts say `unknown_handler`."""

    HOST_ERROR_CODE = 3
    why = "The actor has no handler of this name, or it is not public."
    fix = "Check the name; `cowboy actor get` lists the handlers."


class _ActorNotFoundCallError(ActorNotFoundError, ActorCallError):
    """The host's "not found" for a call, caught by either of its two public bases."""

    why = "No actor is deployed at the target, or the call named a thing that does not exist."
    fix = "Check the address; for a system actor, check the id that the call names."


class PurityViolationError(CowboyError):
    """A message, transfer or job from a handler that declared none."""

    HOST_ERROR_CODE = 5
    ERROR_SLUG = "E1205"
    why = "Handlers are @pure unless marked: they may change storage, but not send, transfer or submit jobs."
    fix = "Mark the handler @deferred."


class PermissionDeniedError(CowboyError):
    """A caller whom the handler does not admit."""

    HOST_ERROR_CODE = 5
    ERROR_SLUG = "E1230"
    why = "Handlers admit nobody unless marked, and this caller is not on the handler's list."
    fix = "Mark the handler @public, or name the caller in @callable_by(...)."
