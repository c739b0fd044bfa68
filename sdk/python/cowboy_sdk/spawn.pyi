from typing import Any

from .types import Address

MAX_SALT_BYTES: int

def spawn(
    code: str | bytes, salt: bytes = b"", init_handler: str = "", init_payload: object = b"", manifest: Any = None, endowment: int = 0,
) -> Address: ...
def upgrade_self(new_code: str | bytes, new_manifest: Any = None, routes: Any = None, route_sponsorship: Any = None) -> Any: ...
def encode_manifest(manifest: Any) -> bytes: ...
