"""System actors by name: `system.job_dispatcher.get_job(job_id=id)` calls a method of the protocol, typed by the stubs.

Arguments go by name; one that is None is left out. `value=` sends base units of CBY along, `cycles_limit=` is that of `call`. A method
that takes a map without declared fields takes it as a dict. Integers of 128 bits come back as an int where they fit 64 bits, else as
16 bytes, big-endian; addresses and ids as bytes. docs/methods.md lists the methods.
"""

from .call import DEFAULT_CYCLES, call
from .types import Address


class SystemActor:
    """A system actor: every attribute without a leading underscore is a method of it."""

    def __init__(self, number):
        self._number = number

    @property
    def address(self):
        """Its Address."""
        return Address(bytes(19) + bytes([self._number]))

    def __getattr__(self, method):
        if method.startswith("_"):
            raise AttributeError(f"a system actor has no attribute {method!r}")

        def run(argument=None, /, *, value=0, cycles_limit=DEFAULT_CYCLES, **arguments):
            given = dict(argument or {})
            given.update([(name, item) for name, item in arguments.items() if item is not None])
            return call(self.address, method, given, cycles_limit, value=value)

        return run


runner_registry = SystemActor(0x01)
job_dispatcher = SystemActor(0x02)
result_verifier = SystemActor(0x03)
secrets_manager = SystemActor(0x04)
tee_verifier = SystemActor(0x05)
dual_basefee_and_token_registry = SystemActor(0x06)
entitlement_registry = SystemActor(0x07)
treasury = SystemActor(0x08)
governance = SystemActor(0x09)
storage_manager = SystemActor(0x0A)
relay_registry = SystemActor(0x0B)
route_registry = SystemActor(0x0E)
gateway_registry = SystemActor(0x0F)
container_registry = SystemActor(0x11)
