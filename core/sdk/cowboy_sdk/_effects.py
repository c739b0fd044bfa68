"""What an actor does to the world outside its storage: events, messages, calls, value, jobs, tokens."""

from ._bounds import EVENT_BYTES as MAX_EVENT_PAYLOAD_BYTES
from ._host import pvm_host
from .errors import CodecError
from .handler_mode import check_deferred_allowed
from .payload_codec import encode_value
from .types import address_argument, token_argument


def charge_gas(amount):
    """Spends `amount` cycles on purpose."""
    pvm_host.charge_gas(int(amount))


def emit_event(name, payload, *, schema=None):
    """Writes an event into the receipt. Bytes go out as they are, any other value as canonical CBOR.

    `schema` is checked (32 bytes or None) and not kept: this chain's events have no schema. Returns the host's record of the emission, a dict
    with `emit_id`. CodecError for a payload without encoding, and for a str that already is a JSON object or array:
    it would arrive as text inside CBOR.
    """
    if isinstance(payload, (bytes, bytearray)):
        data = bytes(payload)
    else:
        if isinstance(payload, str):
            _refuse_json_text(payload)
        data = encode_value(payload, "cbor")
    if schema is not None:
        if not isinstance(schema, (bytes, bytearray)) or len(schema) != 32:
            raise ValueError("event schema must be a 32-byte identifier or None")
        schema = bytes(schema)
    return pvm_host.emit_event(name, data, schema)


def send_message(target, payload, *, value=0, handler=""):
    """Sends raw bytes to `target` for a later block. Prefer `send`, which encodes."""
    check_deferred_allowed("send_message()")
    if value or handler:
        pvm_host.send_message(address_argument(target), payload, int(value), handler)
    else:
        pvm_host.send_message(address_argument(target), payload)


def call_actor(target, method, payload, cycles_limit, access_limit=None, *, value=0):
    """Calls `target` with raw bytes in this transaction and returns the raw result. Prefer `call`."""
    if access_limit is not None and int(access_limit) <= 0:
        raise ValueError("access_limit must be a positive number of accesses")
    access = 0 if access_limit is None else int(access_limit)
    if value:
        check_deferred_allowed("call(value=...)")
        return pvm_host.call_actor(address_argument(target), method, payload, int(cycles_limit), access, int(value))
    return pvm_host.call_actor(address_argument(target), method, payload, int(cycles_limit), access)


def transfer_balance(to, amount):
    """Moves `amount` base units of CBY from this actor to `to`. Needs the econ.transfer entitlement."""
    check_deferred_allowed("transfer_balance()")
    pvm_host.transfer_balance(address_argument(to), int(amount))


def submit_job(payload):
    """Submits an encoded off-chain job and returns its 32-byte id."""
    check_deferred_allowed("submit_job()")
    return pvm_host.submit_job(payload)


def keccak256(data):
    """The 32-byte Keccak-256 hash of `data`."""
    return pvm_host.keccak256(data)


def randomness(domain):
    """32 random bytes for this block and `domain`. See `cowboy_sdk.vrf` for what they may decide."""
    return pvm_host.randomness(domain)


# Sizes of public key and signature by algorithm: secp256k1, Ed25519, BLS12-381 (keys in either group).
_SIGNATURE_SIZES = {1: ((33, 64),), 2: ((32, 64),), 3: ((48, 96), (96, 48))}


def verify_signature(algorithm, public_key, message, signature):
    """Whether a signature of `message` holds. `algorithm`: 1 secp256k1 (over its Keccak-256), 2 Ed25519, 3 BLS12-381.

    ValueError for wrong sizes."""
    if isinstance(algorithm, bool) or algorithm not in _SIGNATURE_SIZES:
        raise ValueError("unsupported signature algorithm")
    if (len(public_key), len(signature)) not in _SIGNATURE_SIZES[algorithm]:
        raise ValueError("invalid signature length")
    return pvm_host.verify_signature(algorithm, public_key, message, signature)


def recover(digest, signature):
    """The 20-byte address that signed the 32-byte `digest`, or None. `signature` is r ‖ s ‖ v, 65 bytes."""
    return pvm_host.recover(digest, signature)


def entitlement_params(entitlement_id):
    """The parameters of a grant of this actor, as a dict; None when it is not granted."""
    return pvm_host.entitlement_params(entitlement_id)


# Tokens of the protocol's registry (CIP-20)


def token_create(name, symbol, decimals, initial_supply, max_supply, transfer_hook, metadata_uri):
    """Creates a token and returns its 32-byte id."""
    hook = None if transfer_hook is None else address_argument(transfer_hook)
    return pvm_host.token_create(name, symbol, decimals, initial_supply, max_supply, hook, metadata_uri)


def token_balance_of(token_id, owner):
    return pvm_host.token_balance_of(token_argument(token_id), address_argument(owner))


def token_total_supply(token_id):
    return pvm_host.token_total_supply(token_argument(token_id))


def token_transfer(token_id, to, amount):
    pvm_host.token_transfer(token_argument(token_id), address_argument(to), amount)


def token_approve(token_id, spender, amount):
    pvm_host.token_approve(token_argument(token_id), address_argument(spender), amount)


def token_allowance(token_id, owner, spender):
    return pvm_host.token_allowance(token_argument(token_id), address_argument(owner), address_argument(spender))


def token_transfer_from(token_id, from_addr, to, amount):
    pvm_host.token_transfer_from(
        token_argument(token_id), address_argument(from_addr), address_argument(to), amount
    )


def token_mint(token_id, to, amount):
    pvm_host.token_mint(token_argument(token_id), address_argument(to), amount)


def token_burn(token_id, amount):
    pvm_host.token_burn(token_argument(token_id), amount)


def _refuse_json_text(text):
    if len(text) > MAX_EVENT_PAYLOAD_BYTES:
        return
    stripped = text.strip()
    if (stripped[:1], stripped[-1:]) not in (("{", "}"), ("[", "]")):
        return
    import json

    try:
        json.loads(stripped)
    except ValueError:
        return
    raise CodecError(
        "emit_event payload is a JSON string, but event payloads are canonical CBOR. Pass the object itself, "
        "emit_event(name, obj), or bytes to send them unchanged."
    )
