from typing import Any

from .results import RunnerResult
from .runner import _RunnerAwaitable

def tee_call(
    job: dict[str, Any], *, deterministic: bool = False, runners: int | None = None, required_tee_type: str | None = None,
    max_price: int | None = None, tip: int | None = None, timeout_blocks: int | None = None, **options: Any,
) -> _RunnerAwaitable[RunnerResult]: ...
