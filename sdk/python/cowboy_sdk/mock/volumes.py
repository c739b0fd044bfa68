"""Volumes of the chain that `mock_host` simulates: who owns which, what is in their escrows, and who has a right to them (003 §7).

No relay keeps anything here: files are what jobs see, and a test answers jobs itself.
"""

import math

from .. import _cbor
from .._keccak import keccak256
from .protocol import DATA_SHARDS, FILE_BYTES, PARAMETERS, PARITY_SHARDS, USUAL_PRICE
from .world import refusal, world

# The system actor 0x0A, which keeps the volumes.
STORAGE_MANAGER = bytes(19) + b"\x0a"
CREATION_FEE = PARAMETERS["volumes.creation_fee"]
RESERVE_EPOCHS = PARAMETERS["volumes.reserve_epochs"]
UNDELETE = PARAMETERS["volumes.undelete"]
MAX_QUOTA = PARAMETERS["volumes.max_quota"]
_MODES = ("r", "w", "rw")


class Volume:
    """The record of a volume."""

    def __init__(self, owner, keys, data, parity, quota, price, escrow):
        self.owner = owner
        self.keys = keys
        self.data = data
        self.parity = parity
        self.quota = quota
        self.price = price
        self.escrow = escrow
        self.deleted_at = None
        self.rights = {}

    def described(self, volume_id):
        slots = [{"is_serving": True, "price": self.price, "relay": None, "since": 0}] * (self.data + self.parity)
        return {
            "bytes": 0, "data": self.data, "deleted_at": self.deleted_at, "escrow": self.escrow, "keys": self.keys, "manifest_root": bytes(32),
            "max_price": self.price, "owed": 0, "owner": self.owner, "parity": self.parity, "partitions": [], "per_epoch": 0,
            "quota": self.quota, "slots": slots, "status": "active" if self.deleted_at is None else "deleted", "volume_id": volume_id,
        }


# The methods. The first argument is the sender, the second what it sends along.


def create_volume(sender, value, name, keys, quota, data=4, parity=2, max_price=USUAL_PRICE):
    costs = quote(sender, 0, quota, data, parity, max_price)
    if keys not in ("public", "committee", "owner"):
        raise refusal("volume_invalid", f"keys are public, committee or owner, not {keys!r}")
    volume_id = keccak256(b"cowboy-volume:" + sender + name.encode())
    if volume_id in _volumes():
        raise refusal("volume_exists", "the account has a volume of this name")
    if value < costs["escrow"] + costs["fee"]:
        raise refusal("volume_escrow", f"{costs['escrow'] + costs['fee']} base units are needed, of which {costs['fee']} are burned")
    world.account(STORAGE_MANAGER).balance -= costs["fee"]
    volume = _volumes()[volume_id] = Volume(sender, keys, data, parity, quota, max_price, value - costs["fee"])
    return volume.described(volume_id)


def quote(sender, value, quota, data=4, parity=2, max_price=USUAL_PRICE):
    if not (1 <= data <= DATA_SHARDS and 1 <= parity <= PARITY_SHARDS and 1 <= quota <= MAX_QUOTA):
        raise refusal("volume_invalid", f"a volume has 1 to {DATA_SHARDS} data shards, 1 to {PARITY_SHARDS} parity shards, and at least a byte")
    per_epoch = (data + parity) * math.ceil(math.ceil(quota / data) * max_price / (1 << 20))
    return {"escrow": RESERVE_EPOCHS * per_epoch, "fee": CREATION_FEE, "per_epoch": per_epoch}


def fund_volume(sender, value, volume):
    found = _find(volume)
    found.escrow += value
    return found.escrow


def set_volume_quota(sender, value, volume, quota):
    found = _own(sender, volume)
    needed = quote(sender, 0, quota, found.data, found.parity, found.price)["escrow"]
    if found.escrow + value < needed:
        raise refusal("volume_escrow", f"the escrow has to hold {needed} base units")
    found.quota = quota
    found.escrow += value


def transfer_volume(sender, value, volume, to):
    found = _own(sender, volume)
    found.owner = bytes(to)
    found.rights = {}


def delete_volume(sender, value, volume):
    found = _own(sender, volume)
    if found.deleted_at is not None:
        raise refusal("volume_state", "it is deleted")
    found.deleted_at = world.height
    return found.deleted_at + UNDELETE


def undelete_volume(sender, value, volume):
    found = _own(sender, volume)
    if found.deleted_at is None:
        raise refusal("volume_state", "it is not deleted")
    found.deleted_at = None
    found.escrow += value


def revert(sender, value, volume, partition):
    _own(sender, volume)
    raise refusal("volume_not_found", "nothing was committed to the partition")


def issue_cap(sender, value, volume, partition, holder, mode, until, max_bytes=0):
    found = _own(sender, volume)
    if mode not in _MODES:
        raise refusal("volume_invalid", f"a mode is r, w or rw, not {mode!r}")
    count = sum(len(other.rights) for other in _volumes().values())
    capability = keccak256(b"cowboy-cap:" + bytes(volume) + world.height.to_bytes(8, "big") + count.to_bytes(8, "big"))[:16]
    found.rights[capability] = {
        "capability": capability, "from": world.height, "holder": bytes(holder), "job": bytes(32), "max_bytes": max_bytes, "mode": mode,
        "partition": bytes(partition), "until": until, "used_bytes": 0, "volume_id": bytes(volume),
    }
    return capability


def revoke_cap(sender, value, capability):
    found = get_cap(sender, 0, capability)
    if found is None:
        raise refusal("capability_refused", "there is no such capability")
    del _own(sender, found["volume_id"]).rights[bytes(capability)]


def get_volume(sender, value, volume):
    found = _volumes().get(bytes(volume))
    return None if found is None else found.described(bytes(volume))


def list_volumes(sender, value, account, first=None):
    return sorted(key for key, found in _volumes().items() if found.owner == bytes(account) and key >= bytes(first or b""))[:256]


def get_partition(sender, value, volume, partition):
    return None


def get_cap(sender, value, capability):
    return next((found.rights[bytes(capability)] for found in _volumes().values() if bytes(capability) in found.rights), None)


def list_caps(sender, value, volume):
    return list(_find(volume).rights.values())


def blob_ref(sender, value, volume, hash, size):
    found = _find(volume)
    if found.deleted_at is not None:
        raise refusal("volume_state", "it is deleted")
    if len(hash) != 32 or not 0 <= size <= FILE_BYTES:
        raise refusal("volume_invalid", f"a hash has 32 bytes, and a file {FILE_BYTES} at most")
    is_public = found.keys == "public"
    return b"\x01\x1e\x20" + bytes(hash) + size.to_bytes(8, "big") + bytes(volume)[:20] + bytes([is_public])


METHODS = {
    method.__name__: method
    for method in (
        create_volume, quote, fund_volume, set_volume_quota, transfer_volume, delete_volume, undelete_volume, revert, issue_cap, revoke_cap,
        get_volume, list_volumes, get_partition, get_cap, list_caps, blob_ref,
    )
}
_PAYABLE = ("create_volume", "fund_volume", "set_volume_quota", "undelete_volume")


def handle(method, payload):
    """A call of the Storage Manager: the arguments are a dict by name."""
    if method not in METHODS:
        raise refusal("unknown_handler", f"the simulated Storage Manager has no method {method!r}")
    frame = world.frames[-1]
    if frame["value"] and method not in _PAYABLE:
        raise refusal("not_payable", f"{method} takes no CBY")
    try:
        return _cbor.encode(METHODS[method](bytes(frame["sender"]), frame["value"], **_cbor.decode(payload)))
    except TypeError as problem:
        raise refusal("invalid_argument", f"{method}: {problem}") from None


def remove_due():
    """Removes volumes whose deletion cannot be taken back any more, and returns what is in their escrows."""
    over = [key for key, found in _volumes().items() if found.deleted_at is not None and found.deleted_at + UNDELETE <= world.height]
    for key in over:
        found = _volumes().pop(key)
        world.pay(STORAGE_MANAGER, found.owner, found.escrow)


def _volumes():
    return world.volumes


def _find(volume):
    found = _volumes().get(bytes(volume))
    if found is None:
        raise refusal("volume_not_found", "there is no such volume")
    return found


def _own(sender, volume):
    found = _find(volume)
    if found.owner != sender:
        raise refusal("volume_foreign", "the volume is somebody else's")
    return found
