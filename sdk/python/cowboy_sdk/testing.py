"""A chain in one process, for fast tests of actors in plain Python.

    chain = Chain()
    counter = chain.deploy("actor.py")
    chain.execute(counter, "increment", {"by": 2})
    assert chain.query(counter, "get") == 2

Off-chain jobs are answered by the test: `chain.jobs()` lists those that wait, `chain.answer(result)` and `chain.fail(reason)`
deliver an outcome as the Result Verifier does, and `chain.runner("http", function)` answers all jobs of a kind at each
`mine()`.

Blocks, timers, messages, value and rollback behave as on a real chain; fees and cycles are not charged. Tests on a real
node complete the picture.
"""

import contextlib
import importlib.util
import linecache
import pathlib
import sys
import types

from . import codec, mock_host
from ._keccak import keccak256
from ._offchain import Job, Jobs, llm_failure, llm_value  # noqa: F401, the names of this module
from ._payloads import HTTP_HANDLER, Visits, decoded, encoded
from ._registry import registry
from .dispatch import dispatch
from .mock import tokens, volumes
from .mock.world import refusal
from .types import Address, to_address_bytes

sys.modules.setdefault("pvm_host", mock_host)

ALICE = Address(b"\xa1" * 20)
BOB = Address(b"\xb0" * 20)
CAROL = Address(b"\xca" * 20)


class ActorFailed(Exception):
    """The base of an exception in a test whose class the actor itself defines."""


class Program:
    """A deployed actor: its module, its @actor class, and its entries under names."""

    def __init__(self, module, actor_class, named):
        self.module = module
        self.actor_class = actor_class
        self.named = named

    def format(self, method):
        """How a handler's payload is written: "cbor", "json" or "raw"."""
        handler = None if self.actor_class is None else self.actor_class._handlers.get(method)
        if handler is not None:
            return handler.format
        function = getattr(self.module, method, None)
        if self.actor_class is None and function is not None and not hasattr(function, "_call_perm"):
            return "raw"
        return getattr(function, "_call_decode", None) or "cbor"

    def run(self, method, payload):
        previous = registry.actor_class, registry.named
        registry.actor_class, registry.named = self.actor_class, self.named
        try:
            return dispatch(method, payload, self.module)
        finally:
            registry.actor_class, registry.named = previous


def load(path, name="actor"):
    """The program of a file of source."""
    registry.actor_class, registry.named = None, {}
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Program(module, registry.actor_class, registry.named)


class Chain(Jobs, Visits):
    """A fake chain with any number of actors and funded accounts."""

    def __init__(self, height=1, folder="."):
        mock_host.reset()
        self._folder = pathlib.Path(folder)
        self.world = mock_host.world
        self.world.height = height
        self.world.call_handler = self._call
        self.world.load_program = self._load
        self.failures = []
        self._deployed = 0
        for account in (ALICE, BOB, CAROL):
            self.fund(account, 1_000_000)

    # Accounts

    def fund(self, address, amount):
        """Gives an address base units of CBY out of nothing."""
        self.world.account(to_address_bytes(address)).balance += amount

    def balance(self, address):
        """The base units of CBY at an address."""
        return self.world.account(to_address_bytes(address)).balance

    @property
    def height(self):
        return self.world.height

    # Actors

    def deploy(self, source, *, sender=ALICE, init=None, value=0):
        """Deploys a file of source, or an @actor class, and runs `init` if it has one. Returns the Address."""
        self._deployed += 1
        owner = to_address_bytes(sender)
        address = keccak256(owner + self._deployed.to_bytes(32, "big"))[12:]
        registry.actor_class, registry.named = None, {}
        if isinstance(source, type):
            program = Program(None, source, {})
        else:
            path = pathlib.Path(source)
            beside = self._folder / path
            path = beside if beside.exists() else path
            if not path.exists():
                raise FileNotFoundError(f"there is no {path} in {self._folder.resolve()}, nor in {pathlib.Path.cwd()}")
            program = load(path, f"actor_{self._deployed}")
        registry.actor_class, registry.named = None, {}
        account = self.world.account(address)
        account.program = program
        account.owner = owner
        has_class_init = program.actor_class is not None and "init" in program.actor_class._handlers
        if has_class_init or hasattr(program.module, "init"):
            form = program.format("init")
            payload = encoded({}, form) if init is None else encoded(init, form)
            self._deliver(address, owner, "init", payload, value)
        elif value:
            self.world.pay(owner, address, value)
        return Address(address)

    def _load(self, code):
        """The program of a child's source."""
        self._deployed += 1
        module = types.ModuleType(f"actor_{self._deployed}")
        previous = registry.actor_class, registry.named
        registry.actor_class, registry.named = None, {}
        text, file = code.decode("utf-8"), f"<{module.__name__}.py>"
        # Where a continuation's compiler finds the source.
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), module.__dict__)
        program = Program(module, registry.actor_class, registry.named)
        registry.actor_class, registry.named = previous
        return program

    def execute(self, actor, method, payload=None, *, sender=ALICE, value=0):
        """A transaction: runs a handler and returns its decoded result. Raises what the handler raises, all undone.

        The payload is encoded as the handler declares; bytes go out as they are.
        """
        target = to_address_bytes(actor)
        program = self.world.account(target).program
        form = "cbor" if program is None else program.format(method)
        returned = self._deliver(target, to_address_bytes(sender), method, encoded(payload, form), value)
        return decoded(returned, form)

    def query(self, actor, method, payload=None, *, sender=ALICE):
        """Asks a handler, without a transaction. HostError if it calls what a query may not, such as a write."""
        with self._reading():
            return self.execute(actor, method, payload, sender=sender)

    @contextlib.contextmanager
    def _reading(self):
        self.world.is_reading = True
        try:
            yield
        finally:
            self.world.is_reading = False

    def _visited(self, target, sender, envelope, kept):
        if sender:
            returned = self._deliver(target, sender, HTTP_HANDLER, envelope, 0)
            return returned or self.world.account(target).storage[kept]
        with self._reading():
            return self._deliver(target, sender, HTTP_HANDLER, envelope, 0)

    def storage(self, actor):
        """The actor's storage as {key: value}, keys as text where possible."""
        raw = self.world.account(to_address_bytes(actor)).storage
        return {key.decode("utf-8", "replace"): decoded(value) for key, value in sorted(raw.items())}

    def events(self, actor=None):
        """(name, payload) of all events so far, of one actor if given."""
        wanted = None if actor is None else to_address_bytes(actor)
        return [(n, decoded(data)) for address, n, data in self.world.events if wanted in (None, address)]

    # Jobs

    def _waiting(self):
        return [Job(entry) for entry in self.world.jobs if not entry["is_done"]]

    def _bring(self, job, answer):
        for entry in self.world.jobs:
            entry["is_done"] = entry["is_done"] or entry["id"] == job.id
        return self._deliver(job.target, bytes(Address.RESULT_VERIFIER), job.handler, answer, 0)

    def _failed(self, job, problem):
        self.failures.append((job.actor, job.handler, problem))

    # Time

    def mine(self, blocks=1):
        """Makes blocks: each delivers the messages sent before it, then fires the timers that are due."""
        last = self.world.height + blocks
        while self.world.height < last:
            heights = self._idle(last - self.world.height - 1) + 1
            self.world.height += heights
            self.world.timestamp_ms += 1000 * heights
            volumes.remove_due()
            messages, self.world.outbox = self.world.outbox, []
            jobs = self.jobs()
            for message in messages:
                self._deliver_message(message)
            self._run_jobs(jobs)
            due = [(tid, t) for tid, t in self.world.timers.items() if t["height"] <= self.world.height and not t.get("is_paused")]
            for timer_id, timer in due:
                self._fire(timer_id, timer)

    def _idle(self, most):
        """How many of the next heights have nothing to do, `most` at most: no message waits, no runner answers, no timer is due."""
        if self.world.outbox or self._runners and self.jobs():
            return 0
        waits = [t["height"] - self.world.height - 1 for t in self.world.timers.values() if not t.get("is_paused")]
        return max(0, min(waits + [most]))

    def _deliver_message(self, message):
        target = message["target"]
        value = message["value"]
        self.world.account(b"in-flight").balance -= value
        sender = message["sender"]
        self.world.account(sender).balance += value
        if self.world.account(target).program is None:
            self.world.pay(sender, target, value)
            return
        self._attempt(target, sender, message["handler"], message["payload"], value)

    def _fire(self, timer_id, timer):
        if timer_id not in self.world.timers:
            return
        if timer["expires_at"] is not None and timer["expires_at"] < self.world.height:
            del self.world.timers[timer_id]
            return
        if timer["every"] is None:
            del self.world.timers[timer_id]
        else:
            # Re-armed before the fire, so that a fire that fails does not end the interval.
            timer.update(height=self.world.height + timer["every"], expires_at=None)
        is_done = self._attempt(timer["actor"], timer["actor"], "handle_timer", timer["payload"], 0)
        # A rollback replaces the records.
        timer = self.world.timers.get(timer_id)
        if timer is not None:
            timer["failures"] = 0 if is_done else timer["failures"] + 1
            timer["is_paused"] = 0 < timer["max_failures"] <= timer["failures"]

    def _attempt(self, target, sender, method, payload, value):
        """A delivery nobody waits for: a failure undoes it and is noted in `failures`. Returns whether it succeeded."""
        try:
            self._deliver(target, sender, method, payload, value)
        except Exception as problem:
            self.failures.append((Address(target), method, problem))
            return False
        return True

    def _deliver(self, target, sender, method, payload, value):
        saved = self.world.checkpoint()
        frame = {"actor_addr": target, "sender": sender, "value": value}
        self.world.frames.append(frame)
        try:
            if value:
                self.world.pay(sender, target, value)
            return self._call(target, method, payload, 0, 0)
        except BaseException as problem:
            self.world.rollback(saved)
            for key in frame.get("deletions", ()):
                self.world.account(target).storage.pop(key, None)
            _mark(problem, self.world.account(target).program)
            raise
        finally:
            self.world.frames.pop()

    def _call(self, target, method, payload, cycles_limit, access_limit):
        if target == tokens.TOKEN_REGISTRY:
            return tokens.handle(method, payload)
        if target == volumes.STORAGE_MANAGER:
            return volumes.handle(method, payload)
        program = self.world.account(target).program
        if program is None:
            raise refusal("actor_not_found", "no actor at the target")
        return program.run(method, payload)


def _mark(problem, program):
    """Makes an exception of a class that the actor defines an ActorFailed as well, which it is under `cowboy test`."""
    kind = type(problem)
    if program is not None and program.module is not None and kind.__module__ == program.module.__name__ and issubclass(kind, Exception):
        problem.__class__ = type(kind.__name__, (kind, ActorFailed), {"__module__": kind.__module__})
