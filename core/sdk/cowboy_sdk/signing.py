"""Public keys kept in storage with the name of their algorithm, for actors that accept signed orders."""

from . import codec
from ._context import get_owner, get_sender
from ._effects import verify_signature
from ._state import get_state, set_state
from .errors import PermissionDeniedError

ED25519 = 2


def set_signing_key(state_key, algorithm, public_key):
    """Stores a key. Only the actor's owner may: PermissionDeniedError for anybody else."""
    if get_sender() != get_owner():
        raise PermissionDeniedError("only the current owner may replace a signing key")
    set_state(state_key, codec.encode(_record(algorithm, public_key)))


def get_signing_key(state_key):
    """{"algorithm", "public_key"}, or None. ValueError when something else is stored there."""
    raw = get_state(state_key)
    if raw is None:
        return None
    record = codec.decode(raw)
    if not isinstance(record, dict) or sorted(record) != ["algorithm", "public_key"]:
        raise ValueError("invalid signing key record")
    return _record(record["algorithm"], record["public_key"])


def verify_with_signing_key(state_key, message, signature):
    """Whether the stored key signed `message`. ValueError when no key is stored."""
    record = get_signing_key(state_key)
    if record is None:
        raise ValueError("signing key is not configured")
    return verify_signature(record["algorithm"], record["public_key"], message, signature)


def _record(algorithm, public_key):
    if isinstance(algorithm, bool) or algorithm != ED25519:
        raise ValueError("unsupported signature algorithm")
    if not isinstance(public_key, (bytes, bytearray)):
        raise TypeError("public key must be bytes")
    if len(public_key) != 32:
        raise ValueError("invalid signature length")
    return {"algorithm": ED25519, "public_key": bytes(public_key)}
