"""The host functions of volumes: each is a call of the Storage Manager's method of the same name."""

from .volumes import STORAGE_MANAGER
from .world import call_actor


def create_volume(name, keys, quota, value, data=None, parity=None, max_price=None):
    return _call("create_volume", value, name=name, keys=keys, quota=quota, data=data, parity=parity, max_price=max_price)


def delete_volume(volume):
    return _call("delete_volume", 0, volume=volume)


def blob_ref(volume, hash, size):
    return _call("blob_ref", 0, volume=volume, hash=hash, size=size)


def _call(method, value, **arguments):
    # The codec loads its host, which imports this module.
    from .. import codec

    given = {name: argument for name, argument in arguments.items() if argument is not None}
    return codec.decode(call_actor(STORAGE_MANAGER, method, codec.encode(given), 0, 0, value))
