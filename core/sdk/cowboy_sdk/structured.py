"""The request for a structured answer: a model's schema in place of the model, and every argument checked before it is sent."""

from ._bounds import REQUEST_BYTES, SCHEMA_BYTES
from .models import is_model

_KWARGS = (
    "model", "system_prompt", "temperature", "max_tokens", "timeout_blocks", "response_schema", "secrets", "verify", "volumes",
    "hire", "resume_cycles", "resume_cells", "result_schema", "max_price", "tip", "verification", "retry",
)
# Of the published SDK: the chain bounds them by a job's price and timeout.
_MAX_OUTPUT_TOKENS = 32_768
_TIMEOUT_BLOCKS = (10, 600)
_MAX_MODEL_NAME_BYTES = 128
_CONTAINERS = {"secrets": (list, tuple), "verify": (dict,), "volumes": (list, tuple), "hire": (dict,)}


def with_schema(kwargs):
    """The arguments with `response_model` replaced by its schema, which the chain then holds the answer to."""
    model = kwargs["response_model"]
    if "response_schema" in kwargs:
        raise TypeError("runner.llm() takes response_model or response_schema, not both")
    if not is_model(model):
        raise TypeError(
            f"runner.llm(): response_model must be a CowboyModel class, got {type(model).__name__}; "
            "pass JSON Schema text as response_schema instead"
        )
    request = {key: value for key, value in kwargs.items() if key != "response_model"}
    request["response_schema"] = model.response_schema()
    return request


def structured_payload(args, kwargs):
    """The payload of a structured call. TypeError or ValueError for an argument that the chain would refuse."""
    call = "runner.llm(response_schema=...)"
    if len(args) != 1:
        raise TypeError(f"{call} takes the prompt as its only positional argument, got {len(args)} positional arguments")
    for key in kwargs:
        if key not in _KWARGS:
            raise TypeError(f"{call} got an unexpected keyword argument {key!r}; it accepts only {', '.join(_KWARGS)}")
    _check_text(call, "response_schema", kwargs["response_schema"], SCHEMA_BYTES)
    _check_text(call, "the prompt", args[0], REQUEST_BYTES)
    if "model" in kwargs:
        _check_text(call, "model", kwargs["model"], _MAX_MODEL_NAME_BYTES)
        if kwargs["model"] == "*" or kwargs["model"] != kwargs["model"].strip():
            raise ValueError(f"{call}: model {kwargs['model']!r} is not a model name; omit it to let the runner choose")
    if "system_prompt" in kwargs:
        _check_text(call, "system_prompt", kwargs["system_prompt"], REQUEST_BYTES, True)
    if "temperature" in kwargs:
        _check_temperature(call, kwargs["temperature"])
    if "max_tokens" in kwargs:
        _check_count(call, "max_tokens", kwargs["max_tokens"], 1, _MAX_OUTPUT_TOKENS)
    if "timeout_blocks" in kwargs:
        _check_count(call, "timeout_blocks", kwargs["timeout_blocks"], _TIMEOUT_BLOCKS[0], _TIMEOUT_BLOCKS[1])
    for key, kinds in _CONTAINERS.items():
        if key in kwargs and not isinstance(kwargs[key], kinds):
            raise TypeError(f"{call}: {key} must be {kinds[0].__name__}, got {type(kwargs[key]).__name__}")
    return {"args": [args[0]], "kwargs": dict(kwargs)}


def _check_text(call, what, text, limit, may_be_empty=False):
    if not isinstance(text, str):
        raise TypeError(f"{call}: {what} must be a str, got {type(text).__name__}")
    if not text and not may_be_empty:
        raise ValueError(f"{call}: {what} must not be empty")
    size = len(text.encode("utf-8"))
    if size > limit:
        raise ValueError(f"{call}: {what} is {size} bytes of UTF-8, over the {limit}-byte limit")


def _check_count(call, what, value, least, most):
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{call}: {what} must be int, got {type(value).__name__}")
    if not least <= value <= most:
        raise ValueError(f"{call}: {what} must be between {least} and {most}, got {value!r}")


def _check_temperature(call, value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{call}: temperature must be int or float, got {type(value).__name__}")
    # In thousandths, rounded half away from zero, at most 2,000.
    if not (value >= 0 and value * 1000 < 2000.5):
        raise ValueError(f"{call}: temperature must be a finite number from 0 to 2, got {value!r}")
