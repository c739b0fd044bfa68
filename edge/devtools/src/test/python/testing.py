"""`cowboy_sdk.testing` inside the VM: the same functions, with the protocol itself behind them.

Actors are deployed from their source and run as on a chain: compiled, metered, with the grants of their manifest. Every deployment
and every execution is a block of its own; fees are zero, so that balances are the money that moved.
"""

import pvm_host

from . import errors
from ._offchain import Job, Jobs, llm_failure, llm_value
from ._payloads import HTTP_HANDLER, Visits, decoded, encoded
from .types import Address, to_address_bytes

ALICE = Address(b"\xa1" * 20)
BOB = Address(b"\xb0" * 20)
CAROL = Address(b"\xca" * 20)

_BUILTIN = {
    kind.__name__: kind
    for kind in (
        ArithmeticError,
        AssertionError,
        AttributeError,
        EOFError,
        Exception,
        IndexError,
        KeyError,
        LookupError,
        MemoryError,
        NameError,
        NotImplementedError,
        OSError,
        OverflowError,
        PermissionError,
        RecursionError,
        RuntimeError,
        StopIteration,
        TypeError,
        UnboundLocalError,
        UnicodeDecodeError,
        UnicodeEncodeError,
        UnicodeError,
        ValueError,
        ZeroDivisionError,
        pvm_host.HostError,
    )
}


class ActorFailed(Exception):
    """What ended a delivery, where the test has no class for it: `slug` is the error's row, `trace` the actor's own traceback."""


def _class_named(name):
    """The class of an exception in an actor, by its name; one of its own for what the actor itself defined."""
    short = name.rsplit(".", 1)[-1]
    known = _BUILTIN.get(short) or getattr(errors, short, None)
    if isinstance(known, type) and issubclass(known, BaseException):
        return known
    return type(short, (ActorFailed,), {}) if short else ActorFailed


def _failure(fact):
    kind = _class_named(fact["name"])
    try:
        problem = kind.__new__(kind)
        problem.args = (fact["message"],)
    except Exception:
        problem = ActorFailed(fact["name"] + ": " + fact["message"])
    problem.slug = fact["slug"]
    problem.trace = fact["trace"]
    return problem


def _ask(verb, *arguments):
    """Leaves the VM: the program that runs the tests answers."""
    answer = pvm_host.call_actor(None, verb, list(arguments))
    if "failure" in answer:
        raise _failure(answer["failure"])
    return answer["value"]


class Chain(Jobs, Visits):
    """A chain of its own, with three funded accounts."""

    def __init__(self, height=1):
        self._chain = _ask("chain", height)
        self._unanswered = []
        for account in (ALICE, BOB, CAROL):
            self.fund(account, 1_000_000)

    # Accounts

    def fund(self, address, amount):
        _ask("fund", self._chain, to_address_bytes(address), amount)

    def balance(self, address):
        return _ask("balance", self._chain, to_address_bytes(address))

    @property
    def height(self):
        return _ask("height", self._chain)

    # Actors

    def deploy(self, source, *, sender=ALICE, init=None, value=0):
        """Deploys a file of source, or the source itself, and runs `init` if it has one. Returns the Address."""
        if isinstance(source, type):
            raise TypeError("the VM deploys source, not a class: give the path of the actor's file")
        payload = None if init is None else encoded(init, self._format(str(source), "init"))
        return Address(_ask("deploy", self._chain, str(source), to_address_bytes(sender), payload, value))

    def _format(self, actor, method):
        """How a handler's payload is written: "cbor", "json" or "raw"."""
        return _ask("format", self._chain, actor, method)

    def execute(self, actor, method, payload=None, *, sender=ALICE, value=0):
        """A transaction: runs a handler and returns its decoded result. Raises what the handler raises, all undone.

        The payload is encoded as the handler declares; bytes go out as they are.
        """
        target, caller = to_address_bytes(actor), to_address_bytes(sender)
        form = self._format(target, method)
        return decoded(_ask("execute", self._chain, target, method, encoded(payload, form), caller, value), form)

    def query(self, actor, method, payload=None):
        """Asks a handler; one that wants to change something is refused."""
        target = to_address_bytes(actor)
        form = self._format(target, method)
        return decoded(_ask("query", self._chain, target, method, encoded(payload, form)), form)

    def _visited(self, target, sender, envelope, kept):
        if not sender:
            return _ask("query", self._chain, target, HTTP_HANDLER, envelope)
        returned = _ask("execute", self._chain, target, HTTP_HANDLER, envelope, sender, 0)
        return returned or dict(_ask("storage", self._chain, target))[kept]

    def storage(self, actor):
        """The actor's storage as {key: value}, keys as text where possible."""
        kept = _ask("storage", self._chain, to_address_bytes(actor))
        return {key.decode("utf-8", "replace"): decoded(value) for key, value in kept}

    def events(self, actor=None):
        """(name, payload) of all events so far, of one actor if given."""
        wanted = None if actor is None else to_address_bytes(actor)
        return [(name, decoded(data)) for emitter, name, data in _ask("events", self._chain) if wanted in (None, emitter)]

    @property
    def cycles(self):
        """Cycles of the last deployment, execution or query."""
        return _ask("cycles", self._chain)

    # Jobs

    def _waiting(self):
        return [Job(entry) for entry in _ask("jobs", self._chain)]

    def _bring(self, job, answer):
        _ask("close", self._chain, job.id)
        verifier = bytes(Address.RESULT_VERIFIER)
        return _ask("execute", self._chain, job.target, job.handler, answer, verifier, 0)

    def _failed(self, job, problem):
        self._unanswered.append((job.actor, job.handler, problem))

    # Time

    def mine(self, blocks=1):
        """Makes blocks: each delivers the messages that wait and fires the timers that are due; then the test's runners answer."""
        while blocks > 0:
            waiting = self.jobs() if self._runners else []
            # Heights at which nothing is due take no time; a runner's answer is due at once.
            blocks -= _ask("mine", self._chain, 1 if waiting else blocks)
            self._run_jobs(waiting)

    @property
    def failures(self):
        """(actor, handler, exception) of every message, timer and runner's answer that failed."""
        failed = [(Address(actor), handler, _failure(fact)) for actor, handler, fact in _ask("failures", self._chain)]
        return failed + self._unanswered
