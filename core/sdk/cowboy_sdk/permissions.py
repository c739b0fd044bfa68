"""Who may call a handler: nobody, unless it says so.

* `@public`: everybody.
* `@callable_by(OWNER, SELF, address, ...)`: these only.
* neither: only the actor itself (its timers, its messages to itself, its job callbacks).

The caller is the immediate one, like `msg.sender`: the signer of a transaction, or the actor that calls or sends.
Methods whose names start with an underscore are helpers: unreachable from outside and never checked.
"""

from ._host import pvm_host
from .errors import PermissionDeniedError
from .payload_codec import CODECS
from .types import Address, to_address_bytes

PUBLIC = "public"

# Entry points that the chain calls with bytes of its own making; they get the bytes unless they declare a format.
RAW_ENTRYPOINTS = ("on_fork", "init", "handle_timer")


class _Owner:
    """Stands for whoever the protocol records as the actor's owner at the time of the call."""

    def __repr__(self):
        return "OWNER"


class _Self:
    """Stands for the actor itself."""

    def __repr__(self):
        return "SELF"


OWNER = _Owner()
SELF = _Self()


def public(function=None, *, decode=None):
    """Admits every caller. `decode` names the payload format: "cbor" (default), "json" or "raw"."""
    if function is not None:
        return _mark(function, PUBLIC, decode)

    def mark(method):
        return _mark(method, PUBLIC, decode)

    return mark


def callable_by(*principals, decode=None):
    """Admits the given callers only: addresses (bytes, hex or Address), OWNER, SELF."""
    if not principals:
        raise ValueError("@callable_by requires at least one principal")
    allowed = tuple([p if p is OWNER or p is SELF else to_address_bytes(p) for p in principals])

    def mark(method):
        return _mark(method, ("whitelist", allowed), decode)

    return mark


def _mark(method, permission, decode):
    if decode is not None and decode not in CODECS:
        raise ValueError(f"decode must be one of {CODECS!r}, got {decode!r}")
    method._call_perm = permission
    method._call_decode = decode
    return method


def check_permission(actor_name, method_name, permission):
    """PermissionDeniedError unless the immediate caller may enter the handler."""
    if permission == PUBLIC:
        return
    if method_name == "init" and permission is None:
        raise PermissionDeniedError("init needs an explicit permission decorator, e.g. @public")
    context = pvm_host.context()
    caller = context["sender"]
    own = context["actor_addr"]
    if caller and caller == own:
        return
    shown = Address(caller).to_hex() if len(caller) == 20 else "0x"
    if permission is None:
        raise PermissionDeniedError(
            f"{actor_name}.{method_name}: handler is not declared @public or @callable_by; "
            f"caller {shown} denied (deny-by-default)."
        )
    for principal in permission[1]:
        if principal is OWNER:
            if caller == pvm_host.actor_owner():
                return
        elif principal is not SELF and principal == caller:
            return
    raise PermissionDeniedError(f"{actor_name}.{method_name}: caller {shown} is not in the @callable_by allowlist.")
