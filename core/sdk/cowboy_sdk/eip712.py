"""EIP-712: data that people sign in their Ethereum wallets, checked inside an actor.

    if not eip712.verify(owner, domain, types, message, signature):
        raise PermissionDeniedError("not signed by the owner")

`domain` names the application: any of name, version, chainId, verifyingContract, salt. `types` maps each record's name
to its fields, [{"name": ..., "type": ...}, ...], without EIP712Domain. `message` maps names to values; integers may be
given as decimal or 0x-hex text, bytes and addresses as 0x-hex, as wallets write them in JSON.

The signature says who signed what, not that it is new: put a nonce or deadline into the message and check it.
"""

from ._host import pvm_host
from .types import Address, to_address_bytes

_DOMAIN_FIELDS = (
    ("name", "string"),
    ("version", "string"),
    ("chainId", "uint256"),
    ("verifyingContract", "address"),
    ("salt", "bytes32"),
)
# Half the order of the curve: a signature with a larger s is the mirror image of a valid one and is refused.
_HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0


def verify(address, domain, types, message, signature, primary_type=None):
    """Whether `address` signed the message. ValueError when the data does not fit its types."""
    signer = recover(domain, types, message, signature, primary_type)
    return signer is not None and signer.to_bytes() == to_address_bytes(address)


def recover(domain, types, message, signature, primary_type=None):
    """The Address that signed the message, or None when the signature is none. 10,000 cycles and the hashing."""
    raw = _bytes(signature)
    if len(raw) != 65:
        return None
    parity = raw[64] - 27 if raw[64] >= 27 else raw[64]
    if parity not in (0, 1) or int.from_bytes(raw[32:64], "big") > _HALF_ORDER:
        return None
    signer = pvm_host.recover(digest(domain, types, message, primary_type), raw[:64] + bytes([parity]))
    return None if signer is None else Address(signer)


def digest(domain, types, message, primary_type=None):
    """The 32 bytes that the wallet signs: keccak256(0x1901 ‖ domain separator ‖ hash of the message)."""
    primary = primary_type or find_primary_type(types)
    return pvm_host.keccak256(b"\x19\x01" + domain_separator(domain) + hash_struct(primary, types, message))


def domain_separator(domain):
    """The hash of the domain: of those fields that it has, in the order of the standard."""
    known = [name for name, _ in _DOMAIN_FIELDS]
    for name in domain:
        if name not in known:
            raise ValueError(f"EIP-712 domain has no field {name!r}; it may have {', '.join(known)}")
    fields = [{"name": name, "type": kind} for name, kind in _DOMAIN_FIELDS if name in domain]
    return hash_struct("EIP712Domain", {"EIP712Domain": fields}, domain)


def hash_struct(name, types, value):
    """keccak256(hash of the type ‖ the fields, one 32-byte word each)."""
    words = [pvm_host.keccak256(encode_type(name, types).encode("utf-8"))]
    for field in types[name]:
        if field["name"] not in value:
            raise ValueError(f"EIP-712 message lacks {name}.{field['name']}")
        words.append(_word(field["type"], types, value[field["name"]], f"{name}.{field['name']}"))
    return pvm_host.keccak256(b"".join(words))


def encode_type(name, types):
    """`Mail(Person from,string contents)Person(string name)`: the record, then those it uses, in order of name."""
    used = []
    pending = [name]
    while pending:
        current = pending.pop()
        if current not in used:
            used.append(current)
            for field in types[current]:
                base = _base(field["type"])
                if base in types:
                    pending.append(base)
    used.remove(name)
    return "".join([_declaration(record, types) for record in [name, *sorted(used)]])


def find_primary_type(types):
    """The one record that no other uses. ValueError when there is none or more than one."""
    used = [_base(field["type"]) for fields in types.values() for field in fields]
    roots = [name for name in types if name not in used]
    if len(roots) != 1:
        raise ValueError("EIP-712 types need exactly one record that no other uses; name it with primary_type=")
    return roots[0]


def _declaration(name, types):
    fields = ",".join([f"{field['type']} {field['name']}" for field in types[name]])
    return f"{name}({fields})"


def _base(kind):
    return kind.split("[")[0]


def _word(kind, types, value, where):
    """The 32 bytes that stand for a value inside its record."""
    if kind.endswith("]"):
        inner, _, count = kind[:-1].rpartition("[")
        if not isinstance(value, (list, tuple)) or (count and len(value) != int(count)):
            raise ValueError(f"{where} must be a list of {count or 'any number of'} {inner}")
        return pvm_host.keccak256(b"".join([_word(inner, types, item, where) for item in value]))
    if kind in types:
        return hash_struct(kind, types, value)
    if kind == "string":
        if not isinstance(value, str):
            raise ValueError(f"{where} must be text")
        return pvm_host.keccak256(value.encode("utf-8"))
    if kind == "bytes":
        return pvm_host.keccak256(_bytes(value))
    if kind == "bool":
        if not isinstance(value, bool):
            raise ValueError(f"{where} must be True or False")
        return bytes(31) + bytes([value])
    if kind == "address":
        return bytes(12) + to_address_bytes(value)
    if kind.startswith("bytes"):
        return _fixed_bytes(int(kind[5:]), value, where)
    if kind.startswith("uint"):
        return _integer(int(kind[4:] or 256), False, value, where)
    if kind.startswith("int"):
        return _integer(int(kind[3:] or 256), True, value, where)
    raise ValueError(f"{where} has the unknown type {kind!r}")


def _fixed_bytes(length, value, where):
    raw = _bytes(value)
    if not 1 <= length <= 32 or len(raw) != length:
        raise ValueError(f"{where} must have {length} bytes, got {len(raw)}")
    return raw + bytes(32 - length)


def _integer(bits, signed, value, where):
    if isinstance(value, str):
        value = int(value, 16 if value[:2] == "0x" else 10)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{where} must be an integer")
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if not low <= value <= high:
        raise ValueError(f"{where} must be between {low} and {high}")
    return (value % (1 << 256)).to_bytes(32, "big")


def _bytes(value):
    if isinstance(value, str):
        if value[:2] != "0x":
            raise ValueError("bytes are given as bytes or as 0x-hex text")
        return bytes.fromhex(value[2:])
    return bytes(value)
