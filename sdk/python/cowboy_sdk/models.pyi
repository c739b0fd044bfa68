from typing import Any, TypeVar, dataclass_transform

_M = TypeVar("_M", bound=CowboyModel)

class LlmFailure:
    PROVIDER_REFUSAL: str
    INVALID_STRUCTURED_OUTPUT: str
    OUTPUT_TOO_LARGE: str
    MAX_TOKENS_EXCEEDED: str
    CONTEXT_LENGTH_EXCEEDED: str
    UNSUPPORTED_FEATURE: str
    PROVIDER_ERROR: str
    PROVIDER_TIMEOUT: str

@dataclass_transform()
class CowboyModel:
    def __init_subclass__(cls, **options: Any) -> None: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_cbor(self) -> bytes: ...
    @classmethod
    def from_cbor(cls: type[_M], data: bytes) -> _M: ...
    @classmethod
    def from_dict(cls: type[_M], values: dict[str, Any]) -> _M: ...
    @classmethod
    def schema(cls) -> dict[str, Any]: ...
    @classmethod
    def response_schema(cls) -> str: ...
    def validate(self) -> None: ...
