from .types import Address

_AddressLike = Address | bytes | bytearray | str

def send(
    target: _AddressLike, payload: object = None, *, raw: bool = False, codec: str | None = None, value: int = 0, handler: str = "",
) -> None: ...
def send_raw(target: _AddressLike, payload: bytes) -> None: ...
