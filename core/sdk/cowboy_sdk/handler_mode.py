"""@pure and @deferred: whether a handler may start things that outlive it.

A pure handler (the default) reads and writes its storage and may `call`; it may not send messages, transfer value or
submit jobs, so its caller sees every effect at once. A deferred handler may.
"""

from .errors import PurityViolationError

PURE = "pure"
DEFERRED = "deferred"


class _Mode:
    """The mode of the handler that runs now; None outside of handlers."""

    def __init__(self):
        self.current = None


running = _Mode()


def check_deferred_allowed(operation):
    """PurityViolationError when a pure handler runs. `operation` names the effect in the message."""
    if running.current == PURE:
        raise PurityViolationError(
            f"{operation} called in @pure handler. Declare the handler with @deferred if it needs async messaging."
        )


def pure(function):
    """Marks a handler as free of later effects. Handlers without a mark are pure."""
    function._handler_mode = PURE
    return function


def deferred(function):
    """Marks a handler that may send messages, transfer value and submit jobs."""
    function._handler_mode = DEFERRED
    return function
