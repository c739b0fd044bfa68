"""`spawn`: a child actor, deployed now, in this transaction. `upgrade_self`: the own code anew."""

from . import codec
from ._bounds import SALT_BYTES as MAX_SALT_BYTES
from ._host import HostError, pvm_host
from .errors import ActorCallError, CallDepthExceeded
from .handler_mode import check_deferred_allowed
from .types import Address


def spawn(code, salt=b"", init_handler="", init_payload=b"", manifest=None, endowment=0):
    """Deploys `code` as a child of this actor and returns the child's Address.

    The child's creator and owner is this actor. Its address follows from this actor, `salt` (up to 32 bytes) and the
    code, so the same three make the same child once. `init_handler` runs in the same step with `init_payload`; if it
    fails there is no child. `manifest` lists what the child may do, as ids or (id, params) pairs: only what this actor
    may pass on, and no more of it than it has. `endowment` base units of CBY go along.

    Needs the entitlement exec.spawn, and econ.transfer where there is an endowment. ActorCallError when the chain
    refuses or init fails; then nothing happened, and the actor may go on.
    """
    check_deferred_allowed("spawn()")
    source = code.encode("utf-8") if isinstance(code, str) else bytes(code)
    if len(salt) > MAX_SALT_BYTES:
        raise ValueError(f"salt has {len(salt)} bytes, at most {MAX_SALT_BYTES}")
    payload = init_payload if isinstance(init_payload, (bytes, bytearray)) else codec.encode(init_payload)
    encoded = None if manifest is None else encode_manifest(manifest)
    try:
        born = pvm_host.spawn_actor(source, bytes(salt), init_handler, bytes(payload), encoded, int(endowment))
    except HostError as problem:
        raise ActorCallError(f"spawn() failed [{problem.name}]: {problem}") from problem
    except RecursionError as problem:
        raise CallDepthExceeded("local call recursion limit exceeded (check for circular Actor calls)") from problem
    return Address(born)


def upgrade_self(new_code, new_manifest=None, routes=None, route_sponsorship=None):
    """Replaces this actor's code, and its manifest where one is given; storage, balance and address stay.

    Only actors that a system deployer deployed with sys.upgrade may. The handler under way goes on with the old code.
    Returns the new code's hash. `routes` and `route_sponsorship` belong to other networks: the host refuses them.
    """
    source = new_code.encode("utf-8") if isinstance(new_code, str) else bytes(new_code)
    manifest = None if new_manifest is None else encode_manifest(new_manifest)
    return pvm_host.upgrade_self(source, manifest, routes, route_sponsorship)


def encode_manifest(manifest):
    """The canonical bytes of a manifest: bytes as they are, or a list of ids and (id, params) pairs in any order."""
    if isinstance(manifest, (bytes, bytearray)):
        return bytes(manifest)
    grants = [_grant(entry) for entry in manifest]
    grants.sort(key=lambda grant: grant["id"])
    return codec.encode({"entitlements": grants})


def _grant(entry):
    if isinstance(entry, str):
        return {"id": entry}
    if isinstance(entry, dict):
        return entry
    name, params = entry
    return {"id": name, "params": params} if params else {"id": name}
