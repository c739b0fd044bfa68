"""ActorRef: another actor as an object whose methods are its handlers."""

from ._host import pvm_host
from .call import DEFAULT_CYCLES, call
from .payload_codec import DEFAULT_CODEC, normalize_codec
from .send import send
from .types import Address, to_address_bytes


class ActorRef:
    """Another actor. `ref.transfer(to, 5)` is `call(address, "transfer", [to, 5])`."""

    def __init__(self, address, cycles_limit=DEFAULT_CYCLES, codec=DEFAULT_CODEC):
        self._address = to_address_bytes(address)
        self._cycles_limit = cycles_limit
        self._codec = normalize_codec(codec)

    @property
    def address(self):
        return self._address

    @property
    def address_obj(self):
        return Address(self._address)

    def call(self, method, args=None, cycles_limit=None, *, access_limit=None, codec=None, value=0):
        """Calls `method` now. See `cowboy_sdk.call`."""
        return call(
            self._address,
            method,
            args,
            cycles_limit or self._cycles_limit,
            access_limit=access_limit,
            codec=self._codec if codec is None else codec,
            value=value,
        )

    def send(self, payload=None, *, codec=None, value=0, handler=""):
        """Sends a message for a later block. See `cowboy_sdk.send`."""
        send(self._address, payload, codec=self._codec if codec is None else codec, value=value, handler=handler)

    def with_cycles(self, cycles):
        return ActorRef(self._address, cycles, self._codec)

    def with_codec(self, codec):
        return ActorRef(self._address, self._cycles_limit, codec)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return _Method(self, name)

    def __eq__(self, other):
        if isinstance(other, ActorRef):
            return self._address == other._address
        return NotImplemented

    def __hash__(self):
        return hash(self._address)

    def __repr__(self):
        return f"ActorRef({Address(self._address).to_hex()})"


class _Method:
    """One handler of another actor, ready to be called."""

    def __init__(self, ref, name):
        self._ref = ref
        self.__name__ = name

    def __call__(self, *args, **kwargs):
        name = self.__name__
        if self._ref._codec == "raw":
            raise TypeError(
                f"ActorRef.{name}(): a codec='raw' ref sends bytes verbatim and has no shape for positional "
                f"arguments. Send the payload explicitly via ref.call({name!r}, b'...')."
            )
        if kwargs:
            raise TypeError(
                f"ActorRef.{name}(): cross-actor calls are positional-only: keyword arguments {sorted(kwargs)} cannot "
                f"be delivered. Call positionally, or pass a dict via ref.call({name!r}, {{...}})."
            )
        return self._ref.call(name, list(args))


def derive_actor_address(deployer, salt, code_hash):
    """The address an actor gets: the last 20 bytes of keccak256(deployer ‖ salt ‖ code_hash).

    `salt` has at most 32 bytes and is padded with zeros at the end; `code_hash` is the Keccak-256 of the canonical
    source.
    """
    if len(salt) > 32:
        raise ValueError("salt must be at most 32 bytes")
    if len(code_hash) != 32:
        raise ValueError("code_hash must be 32 bytes")
    padded = bytes(salt) + bytes(32 - len(salt))
    return Address(pvm_host.keccak256(to_address_bytes(deployer) + padded + bytes(code_hash))[12:])


def derive_actor_address_cip6(deployer, salt, code_hash):
    """The variant of CIP-6 §6.2, for addresses on networks that use it: keccak256 with a leading 0xff byte."""
    padded = bytes(salt) + bytes(32 - len(salt))
    return Address(pvm_host.keccak256(b"\xff" + to_address_bytes(deployer) + padded + bytes(code_hash))[12:])


def derive_actor_address_grouped(deployer, salt, code_hash, shard=None):
    """The variant of the published SDK 0.1.6: a two-byte group, then bytes 14 to 31 of a hash over the salt's hash."""
    raw = to_address_bytes(deployer)
    if shard is not None and not 0 <= shard <= 65535:
        raise ValueError("shard must be an integer in 0..65535")
    group = raw[:2] if shard is None else int(shard).to_bytes(2, "big")
    digest = pvm_host.keccak256(b"\xff" + raw + pvm_host.keccak256(bytes(salt)) + bytes(code_hash))
    return Address(group + digest[14:32])
