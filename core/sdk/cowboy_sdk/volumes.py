"""Volumes that an actor owns: files that relays keep for as long as the escrow pays for them (docs/volumes.md).

    from cowboy_sdk import runner, volumes
    from cowboy_sdk.volumes import Mount

    volumes.create("archive", quota=64 << 20)
    page = await runner.container(image, [], volumes=[Mount("archive", "pages", "rw", max_bytes=1 << 20)])

An actor neither reads nor writes files: its jobs do, where they mount a partition. A volume is named by the name that this actor gave it, or by its id of
32 bytes. Needs the entitlement storage.blob, and econ.transfer where CBY move. What the chain refuses is an ActorCallError.
"""

from ._host import HostError, pvm_host
from .errors import ActorCallError
from .handler_mode import check_deferred_allowed
from .system import storage_manager
from .types import address_argument

_MODES = ("r", "w", "rw")
_NAME_BYTES = 64
_NAME_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"


def volume_id(name, owner=None):
    """The 32-byte id of the volume that an account created under a name; of this actor's where no owner is given."""
    raw = bytes(pvm_host.self_address()) if owner is None else address_argument(owner)
    return pvm_host.keccak256(b"cowboy-volume:" + raw + _name(name, "name of a volume").encode("ascii"))


def partition_id(name):
    """The 32 bytes that stand on the chain for the partition of this name: the first part of a path."""
    return pvm_host.keccak256(b"cowboy-partition:" + _name(name, "name of a partition").encode("ascii"))


def quote(quota, *, data=4, parity=2, max_price=None):
    """What a volume costs at most: `fee` is burned, `escrow` has to be there at first, `per_epoch` is for a full volume."""
    return storage_manager.quote(quota=quota, data=data, parity=parity, max_price=max_price)


def create(name, *, quota, keys="committee", data=4, parity=2, max_price=None, value=None):
    """Creates a volume of this actor for `quota` bytes, and returns its id. `value` is what it costs, `quote` says how much; that is sent where it is None.

    keys="committee": a committee makes the key of a partition for whoever may read it. keys="public": everybody reads it. `data` of the
    `data + parity` relays are enough to read. No relay costs more than `max_price` base units for a MiB and an epoch.
    """
    check_deferred_allowed("volumes.create()")
    text = _name(name, "name of a volume")
    if value is None:
        costs = quote(quota, data=data, parity=parity, max_price=max_price)
        value = costs["escrow"] + costs["fee"]
    return _ask("create", pvm_host.create_volume, text, keys, quota, value, data, parity, max_price)["volume_id"]


def fund(volume, amount):
    """Adds CBY to the escrow of a volume, of anybody. Returns what the escrow then holds."""
    return storage_manager.fund_volume(volume=_id(volume), value=amount)


def set_quota(volume, quota, *, value=0):
    """Changes the quota of a volume. `value` goes to the escrow, which has to last for the new quota."""
    storage_manager.set_volume_quota(volume=_id(volume), quota=quota, value=value)


def transfer(volume, to):
    """Hands a volume to another owner, and ends all rights that were given. Only the new owner can undo it."""
    storage_manager.transfer_volume(volume=_id(volume), to=address_argument(to))


def delete(volume):
    """Deletes a volume. Returns the height at which it is removed and the rest of its escrow comes back; `undelete` takes it back until then."""
    return _ask("delete", pvm_host.delete_volume, _id(volume))


def undelete(volume, *, value=0):
    """Takes the deletion of a volume back. `value` goes to the escrow."""
    storage_manager.undelete_volume(volume=_id(volume), value=value)


def revert(volume, partition):
    """Goes back to what a partition had before its last commit."""
    storage_manager.revert(volume=_id(volume), partition=partition_id(partition))


def grant(volume, partition, holder, mode="r", *, until, max_bytes=0):
    """Lets another account use a partition up to the height `until`, and returns the 16-byte id of that right.

    `mode` is r, w or rw; a holder may add `max_bytes`.
    """
    return storage_manager.issue_cap(
        volume=_id(volume), partition=partition_id(partition), holder=address_argument(holder), mode=_mode(mode), max_bytes=max_bytes, until=until
    )


def revoke(capability):
    """Takes a right back that `grant` gave."""
    storage_manager.revoke_cap(capability=bytes(capability))


def get(volume):
    """A volume as a dict: `status`, `escrow`, `quota`, `bytes`, `slots` and more (docs/methods.md). None where there is none."""
    return storage_manager.get_volume(volume=_id(volume))


def get_partition(volume, partition):
    """A partition as a dict: its standing `root` and the `previous` one. None before its first commit."""
    return storage_manager.get_partition(volume=_id(volume), partition=partition_id(partition))


def get_capability(capability):
    """A right to a partition, as a dict. None where there is none, or not any more."""
    return storage_manager.get_cap(capability=bytes(capability))


def owned(account=None):
    """The ids of the volumes of an account, at most 256; of this actor where none is given."""
    return storage_manager.list_volumes(account=pvm_host.self_address() if account is None else address_argument(account))


def blob_ref(volume, hash, size):
    """The BlobRef of a file in a volume, by the BLAKE3 hash of its content and its size.

    The chain has no files. Whoever wrote this one knows both: `cowboy volume ref` prints them, and a program in a container can. Readers compare.
    """
    return BlobRef(_ask("blob_ref", pvm_host.blob_ref, _id(volume), bytes(hash), size))


class BlobRef:
    """64 bytes that stand for a file in a volume. It is kept as its bytes, and lasts as long as the volume's escrow.

    Built from 64 bytes or another BlobRef; ValueError for bytes that are none.
    """

    def __init__(self, raw):
        raw = bytes(raw)
        if len(raw) != 64 or raw[:3] != b"\x01\x1e\x20" or raw[63] > 1:
            raise ValueError("a BlobRef has 64 bytes: 01 1e 20, hash (32), size (8), volume (20), whether it is public")
        self._raw = raw

    @property
    def hash(self):
        """The BLAKE3 hash of the content, 32 bytes."""
        return self._raw[3:35]

    @property
    def size(self):
        """Bytes of the content."""
        return int.from_bytes(self._raw[35:43], "big")

    @property
    def is_public(self):
        """Whether everybody can read it."""
        return self._raw[63] == 1

    def is_in(self, volume):
        """Whether it is in this volume."""
        return self._raw[43:63] == _id(volume)[:20]

    def __bytes__(self):
        return self._raw

    def __eq__(self, other):
        return self._raw == other._raw if isinstance(other, BlobRef) else NotImplemented

    def __hash__(self):
        return hash(self._raw)

    def __repr__(self):
        return f"BlobRef({self._raw.hex()})"

    def __cbor_reduce__(self):
        return self._raw


class Mount:
    """A partition of a volume that a container finds at `/mnt/volumes/NAME`, for `runner.container(..., volumes=[...])`.

    `mode` is r, w or rw. What is written needs `max_bytes`: what may be added. NAME is the name of the volume, or `name`; a volume that is given by its
    id needs one.
    """

    def __init__(self, volume, partition, mode="r", *, max_bytes=None, name=None):
        is_named = isinstance(volume, str)
        self.volume = _name(volume, "name of a volume") if is_named else _id(volume)
        self.partition = _name(partition, "name of a partition")
        self.mode = _mode(mode)
        if ("w" in mode) != (max_bytes is not None):
            raise ValueError(f"Mount: mode {mode!r} " + ("needs max_bytes, what may be added" if max_bytes is None else "writes nothing: leave out max_bytes"))
        if max_bytes is not None and (isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 0):
            raise ValueError(f"Mount: max_bytes must be a number of bytes, got {max_bytes!r}")
        if name is None and not is_named:
            raise ValueError("Mount: a volume that is given by its id needs a name: name=")
        self.max_bytes = max_bytes
        self.name = None if name is None else _name(name, "name in a container")

    def __eq__(self, other):
        return self.__cbor_reduce__() == other.__cbor_reduce__() if isinstance(other, Mount) else NotImplemented

    def __hash__(self):
        return hash((self.volume, self.partition, self.mode, self.max_bytes, self.name))

    def __repr__(self):
        given = [f"{key}={value!r}" for key, value in (("max_bytes", self.max_bytes), ("name", self.name)) if value is not None]
        return f"Mount({', '.join([repr(self.volume), repr(self.partition), repr(self.mode), *given])})"

    def __cbor_reduce__(self):
        pairs = {"volume": self.volume, "partition": self.partition, "mode": self.mode, "max_bytes": self.max_bytes, "as": self.name}
        return {key: value for key, value in pairs.items() if value is not None}


def _ask(what, function, *arguments):
    try:
        return function(*arguments)
    except HostError as problem:
        raise ActorCallError(f"volumes.{what}() failed [{problem.name}]: {problem}") from problem


def _id(volume):
    if isinstance(volume, str):
        return volume_id(volume)
    if not isinstance(volume, (bytes, bytearray)) or len(volume) != 32:
        raise ValueError(f"a volume is a name of this actor's, or an id of 32 bytes; got {volume!r}")
    return bytes(volume)


def _name(text, what):
    if not isinstance(text, str) or not 0 < len(text) <= _NAME_BYTES or text in (".", "..") or text.strip(_NAME_LETTERS):
        raise ValueError(f"{text!r} is no {what}: 1 to {_NAME_BYTES} of letters, digits, '_', '.' and '-'")
    return text


def _mode(mode):
    if mode not in _MODES:
        raise ValueError(f"a mode is r, w or rw; got {mode!r}")
    return mode
