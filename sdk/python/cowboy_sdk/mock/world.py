"""The state of the chain that `mock_host` simulates: accounts, what happened, the executions under way, and how it refuses."""

import copy

from .protocol import PARAMETERS, REFUSALS

DEFAULT_ACTOR = b"\x22" * 20


class HostError(RuntimeError):
    """A refusal by the host: `code` is its class, `name` its word for it."""

    def __init__(self, message="", code=None, name=None):
        super().__init__(message)
        self.code = code
        self.name = name


def refusal(name, message, code=None):
    """The HostError of a row of the chain's table of refusals, with this message in place of the table's."""
    return HostError(message, REFUSALS[name] if code is None else code, name)


class Account:
    """What the chain keeps under one address."""

    def __init__(self):
        self.balance = 0
        self.storage = {}
        self.owner = None
        self.timer_count = 0
        self.program = None


class World:
    """The fake chain's whole state, and the executions under way (`frames`, innermost last)."""

    def __init__(self):
        self.height = 1000
        self.timestamp_ms = 1_700_000_000_000
        self.chain_id = 1
        self.accounts = {}
        self.timers = {}
        self.outbox = []
        self.events = []
        self.jobs = []
        self.tokens = {}
        self.volumes = {}
        # Whether a query or a GET runs: functions that only a delivery may call are refused.
        self.is_reading = False
        self.tx_hash = b"\xab" * 32
        # Overrides a test sets by hand, see set_context.
        self.overrides = {}
        self.frames = [{"actor_addr": DEFAULT_ACTOR, "sender": DEFAULT_ACTOR, "value": 0}]
        # Runs a call: function(target, method, payload, cycles_limit, access_limit) -> bytes.
        self.call_handler = None
        # Loads an actor's source: function(code) -> what call_handler runs.
        self.load_program = None

    def account(self, address):
        return self.accounts.setdefault(bytes(address), Account())

    @property
    def frame(self):
        return self.frames[-1]

    @property
    def own(self):
        return self.account(context()["actor_addr"])

    def checkpoint(self):
        """A copy of everything a failed execution must undo."""
        programs = {address: account.program for address, account in self.accounts.items()}
        for account in self.accounts.values():
            account.program = None
        saved = copy.deepcopy((self.accounts, self.timers, self.outbox, self.events, self.jobs, self.tokens, self.volumes))
        for address, program in programs.items():
            self.accounts[address].program = program
            saved[0][address].program = program
        return saved

    def rollback(self, saved):
        self.accounts, self.timers, self.outbox, self.events, self.jobs, self.tokens, self.volumes = saved

    def pay(self, source, target, amount):
        payer = self.account(source)
        if amount < 0:
            raise refusal("invalid_argument", "amount is negative")
        if payer.balance < amount:
            raise refusal("transfer_failed", f"balance {payer.balance} is below {amount}")
        payer.balance -= amount
        self.account(target).balance += amount


world = World()


def context():
    facts = {
        "sender": world.frame["sender"],
        "actor_addr": world.frame["actor_addr"],
        "value": world.frame["value"],
        "block_height": world.height,
        "tx_hash": world.tx_hash,
        "timestamp_ms": world.timestamp_ms,
        "chain_id": world.chain_id,
        "chain_instance_id": bytes([1]) * 32,
        "pvm_version": "fake",
        "round": [0, world.height],
    }
    facts.update(world.overrides)
    return facts


def call_actor(target, method, payload, cycles_limit, access_limit=0, value=0):
    if world.call_handler is None:
        raise refusal("actor_not_found", "no actor at the target")
    most = PARAMETERS["execution.reentrancy_depth"]
    if len(world.frames) > most:
        raise refusal("call_depth_exceeded", f"call depth exceeds {most}")
    caller = context()["actor_addr"]
    saved = world.checkpoint()
    world.frames.append({"actor_addr": bytes(target), "sender": caller, "value": int(value)})
    try:
        if value:
            world.pay(caller, target, int(value))
        return world.call_handler(bytes(target), method, bytes(payload), cycles_limit, access_limit)
    except BaseException:
        world.rollback(saved)
        raise
    finally:
        world.frames.pop()
