"""The host functions of volumes: each is a call of the Storage Manager's method of the same name."""

from .. import _cbor
from .volumes import STORAGE_MANAGER
from .world import call_actor


def create_volume(name, keys, quota, value, data=None, parity=None, max_price=None):
    return _call("create_volume", value, name=name, keys=keys, quota=quota, data=data, parity=parity, max_price=max_price)


def delete_volume(volume):
    return _call("delete_volume", 0, volume=volume)


def blob_ref(volume, hash, size):
    return _call("blob_ref", 0, volume=volume, hash=hash, size=size)


def _call(method, value, **arguments):
    given = {name: argument for name, argument in arguments.items() if argument is not None}
    return _cbor.decode(call_actor(STORAGE_MANAGER, method, _cbor.encode(given), 0, 0, value))
