"""Where and for whom the actor runs: read-only facts of the current execution."""

from ._host import HostError, pvm_host
from .types import Address


def context():
    """All facts at once, as a dict: sender, actor_addr, block_height, timestamp_ms, tx_hash, chain_id and more."""
    return pvm_host.context()


def get_sender():
    """The immediate caller's 20 bytes: the signer of the transaction, or the actor that called or sent."""
    return pvm_host.context().get("sender", b"")


def sender():
    """The immediate caller as an Address."""
    return _typed(get_sender())


def get_actor_address():
    """This actor's own 20 bytes."""
    return pvm_host.self_address()


def actor_address():
    """This actor's own Address."""
    return _typed(pvm_host.self_address())


def get_owner():
    """The 20 bytes of the account that the protocol records as this actor's owner."""
    return pvm_host.actor_owner()


def owner():
    """The owner as an Address. Only a transaction signed by the owner changes it."""
    return _typed(pvm_host.actor_owner())


def get_tx_hash():
    """The 32-byte hash of the transaction, delivery or timer that runs."""
    return pvm_host.context().get("tx_hash", b"")


def get_block_height():
    """The number of the block that executes."""
    return pvm_host.current_block()


def current_block():
    """The number of the block that executes."""
    return pvm_host.current_block()


def get_timestamp_ms():
    """The block's time, milliseconds since 1970. Equal on all validators."""
    return pvm_host.context().get("timestamp_ms", 0)


def get_value():
    """Base units of CBY that came with this message, already credited to the actor."""
    return pvm_host.context().get("value", 0)


def get_balance():
    """This actor's balance in base units of CBY."""
    return pvm_host.balance()


def get_chain_id():
    """The chain's number, bound into every signature."""
    return pvm_host.context()["chain_id"]


def get_chain_instance_id():
    """The 32 bytes that tell this chain from every other with the same number."""
    return pvm_host.context()["chain_instance_id"]


def get_pvm_version():
    """The version of the virtual machine."""
    return pvm_host.context().get("pvm_version", "unknown")


def hire_id():
    """The hire under which this call is made: None on this chain version."""
    return pvm_host.context().get("hire_id")


def mode():
    """How continuations run: "fsm" on a chain, "local" in a plain Python process."""
    try:
        return pvm_host.runtime_config().get("continuation_mode", "fsm")
    except (AttributeError, HostError):
        return "local"


def compile_time_fsm():
    """Whether the node itself lowers continuations."""
    try:
        return bool(pvm_host.runtime_config().get("compile_time_fsm", False))
    except (AttributeError, HostError):
        return False


def is_production():
    return mode() == "fsm"


def is_development():
    return mode() == "local"


def _typed(raw):
    return Address(raw) if raw else Address.ZERO
