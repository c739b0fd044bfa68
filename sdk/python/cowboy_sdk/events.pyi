from collections.abc import Callable
from typing import Any, TypeVar, overload

_F = TypeVar("_F", bound=Callable[..., Any])

@overload
def emit(topic: str) -> Callable[[_F], _F]: ...
@overload
def emit(topic: str, payload: object) -> dict[str, Any]: ...
