from collections.abc import Callable
from typing import Any, TypeVar

from .actor_ref import ActorRef as ActorRef
from .actor_ref import derive_actor_address as derive_actor_address
from .storage import ActorStorage
from .types import Address

_C = TypeVar("_C", bound=type)
_F = TypeVar("_F", bound=Callable[..., Any])

class Actor:
    storage: ActorStorage
    """The actor's persistent state, as a dict of Python values: `self.storage["count"] = 1`."""
    @property
    def address(self) -> Address: ...
    @property
    def sender(self) -> Address: ...

class _ActorDecorator:
    def __call__(self, cls: _C) -> _C: ...
    def handler(self, name: str) -> Callable[[_F], _F]: ...

actor: _ActorDecorator

class Context:
    callback_context: Any
    def __init__(self, callback_context: object = None) -> None: ...
    @property
    def sender(self) -> Address | None: ...
    @property
    def address(self) -> Address: ...
    @property
    def block_height(self) -> int: ...
    @property
    def storage(self) -> ActorStorage: ...
    def send_message(self, target: Address | bytes | str, method: str, args: object = None) -> None: ...
    def submit_task(
        self, task_type: str, request: dict[str, Any], callback: str, callback_context: object = None, **options: object
    ) -> bytes: ...
