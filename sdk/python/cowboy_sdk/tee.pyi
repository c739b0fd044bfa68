from typing import Any, TypeVar

from .runner import _RunnerAwaitable

_R = TypeVar("_R")

def tee_call(
    job: _RunnerAwaitable[_R], *, deterministic: bool = False, runners: int | None = None, required_tee_type: str | None = None,
    max_price: int | None = None, tip: int | None = None, timeout_blocks: int | None = None, **options: Any,
) -> _RunnerAwaitable[_R]: ...
