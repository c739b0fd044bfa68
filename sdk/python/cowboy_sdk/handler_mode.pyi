from collections.abc import Callable
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])
PURE: str
DEFERRED: str

def check_deferred_allowed(operation: str) -> None: ...
def pure(function: _F) -> _F: ...
def deferred(function: _F) -> _F: ...
