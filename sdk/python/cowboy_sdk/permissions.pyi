from collections.abc import Callable
from typing import Any, Literal, TypeVar, overload

from .types import Address

_F = TypeVar("_F", bound=Callable[..., Any])
_Codec = Literal["cbor", "json", "raw"]

class _Owner: ...
class _Self: ...

PUBLIC: str
OWNER: _Owner
"""The account that deployed the actor, or whom it was given to: `@callable_by(OWNER)`."""
SELF: _Self
"""The actor itself, by its timers, messages and calls: `@callable_by(SELF)`."""

@overload
def public(function: _F, *, decode: _Codec | None = None) -> _F: ...
@overload
def public(function: None = None, *, decode: _Codec | None = None) -> Callable[[_F], _F]: ...
def callable_by(*principals: Address | bytes | str | _Owner | _Self, decode: _Codec | None = None) -> Callable[[_F], _F]: ...
