"""The chain's value types: addresses, token ids, heights and ordered sets."""

from ._host import pvm_host
from .errors import AddressError, TokenIdError

# Floats in the VM are software floats already; the name says so in a signature.
SoftFloat = float


class ordered_set:
    """A set that iterates in insertion order, so that every validator sees the same order."""

    def __init__(self, iterable=()):
        self._data = dict.fromkeys(iterable)

    def add(self, item):
        self._data[item] = None

    def discard(self, item):
        self._data.pop(item, None)

    def remove(self, item):
        del self._data[item]

    def pop(self):
        """Removes and returns the oldest item. KeyError when empty."""
        if not self._data:
            raise KeyError("pop from an empty set")
        oldest = next(iter(self._data))
        del self._data[oldest]
        return oldest

    def clear(self):
        self._data.clear()

    def copy(self):
        return ordered_set(self._data)

    def to_list(self):
        return list(self._data)

    def union(self, *others):
        result = ordered_set(self._data)
        for other in others:
            for item in other:
                result.add(item)
        return result

    def intersection(self, *others):
        return ordered_set([item for item in self._data if all([item in other for other in others])])

    def difference(self, *others):
        excluded = {}
        for other in others:
            for item in other:
                excluded[item] = None
        return ordered_set([item for item in self._data if item not in excluded])

    def issubset(self, other):
        return all([item in other for item in self._data])

    def issuperset(self, other):
        return all([item in self._data for item in other])

    def isdisjoint(self, other):
        return not any([item in other for item in self._data])

    def __or__(self, other):
        return self.union(other)

    def __and__(self, other):
        return self.intersection(other)

    def __sub__(self, other):
        return self.difference(other)

    def __contains__(self, item):
        return item in self._data

    def __iter__(self):
        return iter(self._data)

    def __len__(self):
        return len(self._data)

    def __eq__(self, other):
        if isinstance(other, ordered_set):
            return list(self._data) == list(other._data)
        if isinstance(other, (set, frozenset)):
            return len(other) == len(self._data) and all([item in self._data for item in other])
        return NotImplemented

    def __hash__(self):
        raise TypeError("unhashable type: 'ordered_set'")

    def __repr__(self):
        items = ", ".join([repr(item) for item in self._data])
        return "ordered_set({" + items + "})"


class BlockHeight(int):
    """A block's number. Adding and subtracting gives heights; a negative one is a ValueError."""

    def __add__(self, other):
        return BlockHeight(int(self) + int(other))

    def __sub__(self, other):
        height = int(self) - int(other)
        if height < 0:
            raise ValueError(f"BlockHeight cannot be negative: {height}")
        return BlockHeight(height)

    def __repr__(self):
        return f"block#{int(self)}"

    def __str__(self):
        return f"block#{int(self)}"


class Address:
    """A 20-byte account or actor address, printed with its EIP-55 checksum.

    Built from 20 bytes, a hex string (`0x` optional) or another Address. Equal to its raw bytes, usable as a dict key,
    and stored as its 20 bytes.
    """

    def __init__(self, raw):
        if isinstance(raw, Address):
            self._raw = raw._raw
        elif isinstance(raw, str):
            self._raw = _hex_bytes(raw, 20, "address", AddressError)
        elif isinstance(raw, (bytes, bytearray)):
            if len(raw) != 20:
                raise AddressError(f"Address must be 20 bytes, got {len(raw)} bytes")
            self._raw = bytes(raw)
        else:
            raise AddressError(f"Address requires bytes, a hex str, or an Address, got {type(raw).__name__}")

    @classmethod
    def from_hex(cls, text):
        return cls(_hex_bytes(text, 20, "address", AddressError))

    @classmethod
    def from_bytes(cls, raw):
        return cls(raw)

    def to_bytes(self):
        return self._raw

    def as_ref(self):
        """The raw 20 bytes, as the host functions take them."""
        return self._raw

    def to_hex(self, checksum=True):
        """The 0x-hex form, in EIP-55 mixed case unless `checksum` is false."""
        digits = self._raw.hex()
        if not checksum:
            return "0x" + digits
        marks = pvm_host.keccak256(digits.encode("ascii")).hex()
        return "0x" + "".join([d.upper() if m >= "8" else d for d, m in zip(digits, marks)])

    def is_zero(self):
        return self._raw == bytes(20)

    def is_system(self):
        """Whether the address lies in the band that system actors live in."""
        return self._raw[:12] == bytes(12)

    def __eq__(self, other):
        if isinstance(other, Address):
            return self._raw == other._raw
        if isinstance(other, bytes) and len(other) == 20:
            return self._raw == other
        return NotImplemented

    def __hash__(self):
        return hash(self._raw)

    def __bytes__(self):
        return self._raw

    def __len__(self):
        return 20

    def __str__(self):
        return self.to_hex()

    def __repr__(self):
        return f"Address({self.to_hex()})"

    def __cbor_reduce__(self):
        return self._raw


class TokenId:
    """A 32-byte token identifier, built like an Address and printed in lower-case hex."""

    def __init__(self, raw):
        if isinstance(raw, TokenId):
            self._raw = raw._raw
        elif isinstance(raw, str):
            self._raw = _hex_bytes(raw, 32, "token id", TokenIdError)
        elif isinstance(raw, (bytes, bytearray)):
            if len(raw) != 32:
                raise TokenIdError(f"TokenId must be 32 bytes, got {len(raw)} bytes")
            self._raw = bytes(raw)
        else:
            raise TokenIdError(f"TokenId requires bytes, a hex str, or a TokenId, got {type(raw).__name__}")

    @classmethod
    def from_hex(cls, text):
        return cls(_hex_bytes(text, 32, "token id", TokenIdError))

    @classmethod
    def from_bytes(cls, raw):
        return cls(raw)

    def to_bytes(self):
        return self._raw

    def as_ref(self):
        return self._raw

    def to_hex(self):
        return "0x" + self._raw.hex()

    def __eq__(self, other):
        if isinstance(other, TokenId):
            return self._raw == other._raw
        if isinstance(other, bytes) and len(other) == 32:
            return self._raw == other
        return NotImplemented

    def __hash__(self):
        return hash(self._raw)

    def __bytes__(self):
        return self._raw

    def __len__(self):
        return 32

    def __str__(self):
        return self.to_hex()

    def __repr__(self):
        return f"TokenId({self.to_hex()})"

    def __cbor_reduce__(self):
        return self._raw


def to_address_bytes(value):
    """The raw 20 bytes of an address given as bytes, hex string or Address. AddressError for anything else."""
    if isinstance(value, Address):
        return value._raw
    if isinstance(value, (bytes, bytearray)):
        if len(value) != 20:
            raise AddressError(f"Address must be 20 bytes (Ethereum address), got {len(value)} bytes")
        return bytes(value)
    if isinstance(value, str):
        return _hex_bytes(value, 20, "address", AddressError)
    raise AddressError(
        f"Cannot convert {type(value).__name__} to address; expected bytes (20B), bytearray, Address, or str"
    )


def address_argument(value):
    """Like `to_address_bytes`, but bytes of any length pass: the host applies its own rule to them."""
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    return to_address_bytes(value)


def token_argument(value):
    """The raw bytes of a token id given as bytes, hex string or TokenId."""
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    return TokenId(value).to_bytes()


def _hex_bytes(text, length, what, error):
    digits = text[2:] if text[:2] in ("0x", "0X") else text
    if len(digits) != 2 * length:
        raise error(f"{what} must be {2 * length} hex digits, got {len(digits)}")
    try:
        raw = bytes.fromhex(digits)
    except ValueError as problem:
        raise error(f"Invalid hex {what}: {problem}") from problem
    if len(raw) != length:
        raise error(f"Invalid hex {what}: blanks between the digits")
    return raw


def _system(number):
    return Address(bytes(19) + bytes([number]))


Address.ZERO = _system(0)
Address.RUNNER_REGISTRY = _system(0x01)
Address.JOB_DISPATCHER = _system(0x02)
Address.RESULT_VERIFIER = _system(0x03)
Address.SECRETS_MANAGER = _system(0x04)
Address.TEE_VERIFIER = _system(0x05)
Address.TOKEN_REGISTRY = _system(0x06)

# The name that older actors import.
_addr = to_address_bytes
