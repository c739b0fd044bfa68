"""CowboyModel: typed records for storage, and the shape of a model's answers.

    class Quote(CowboyModel):
        symbol: str
        price: float

    Quote("ETH", 1800.0).to_cbor()
    answer = await runner.llm("Quote ETH", response_model=Quote)    # answer.value is a Quote
"""

from . import codec
from ._keep import MAKERS
from ._registry import registry
from .errors import DeterminismError, RunnerValidationError

_MAX_SAFE_INTEGER = (1 << 53) - 1
_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}

# The model classes of the deployed module by name: what a stored name stands for.
_MODELS = {}


class LlmFailure:
    """Why a model gives no structured answer: what `.failure` of a result may be."""

    PROVIDER_REFUSAL = "provider_refusal"
    INVALID_STRUCTURED_OUTPUT = "invalid_structured_output"
    OUTPUT_TOO_LARGE = "output_too_large"
    MAX_TOKENS_EXCEEDED = "max_tokens_exceeded"
    CONTEXT_LENGTH_EXCEEDED = "context_length_exceeded"
    UNSUPPORTED_FEATURE = "unsupported_feature"
    PROVIDER_ERROR = "provider_error"
    PROVIDER_TIMEOUT = "provider_timeout"


class CowboyModel:
    """The base of typed records. A subclass is a dataclass of its annotations, with CBOR and JSON Schema."""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        import dataclasses

        words = cls.__doc__
        dataclasses.dataclass(cls)
        if words is None:
            cls.__doc__ = None
        for field in dataclasses.fields(cls):
            name = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", "")
            if name in ("set", "frozenset"):
                raise DeterminismError(
                    f"{cls.__name__}.{field.name}: field type '{name}' is forbidden. Use ordered_set or a list instead."
                )
        _MODELS.setdefault(cls.__name__, []).append(cls)

    def to_dict(self):
        """The fields as plain data, models inside it too."""
        return {field.name: _plain(getattr(self, field.name)) for field in _fields(self)}

    def to_cbor(self):
        """The fields as canonical CBOR."""
        return codec.encode(self.to_dict())

    @classmethod
    def from_cbor(cls, data):
        return cls.from_dict(codec.decode(data))

    @classmethod
    def from_dict(cls, values):
        """An instance of a dict's values. TypeError where a field without default is missing."""
        if not isinstance(values, dict):
            raise TypeError(f"Expected dict for {cls.__name__}.from_dict(), got {type(values).__name__}")
        given = {}
        for field in _fields(cls):
            if field.name in values:
                value = values[field.name]
                if _is_model_hint(field.type) and isinstance(value, dict):
                    value = field.type.from_dict(value)
                given[field.name] = value
        return cls(**given)

    @classmethod
    def schema(cls):
        """A JSON Schema of the fields as the published SDK words it, for `Verify.json_schema_valid`."""
        shown = {
            "type": "object",
            "title": cls.__name__,
            "properties": {field.name: _described(field.type) for field in _fields(cls)},
        }
        required = [field.name for field in _fields(cls) if not _has_default(field)]
        if required:
            shown["required"] = required
        if cls.__doc__ and cls.__doc__.strip():
            shown["description"] = cls.__doc__.strip()
        return shown

    @classmethod
    def response_schema(cls):
        """The JSON Schema text that a model's answer must obey: every field, no other. TypeError for a field without one."""
        import json

        return json.dumps(_strict(cls), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def build(cls, value):
        """An instance of an answer's value. RunnerValidationError where it does not fit."""
        return _built(cls, value, "value")

    def validate(self):
        """ValueError for a required field that is None."""
        for field in _fields(self):
            if getattr(self, field.name) is None and not _has_default(field):
                raise ValueError(f"{type(self).__name__}.{field.name} is required but is None")

    def __keep__(self):
        return "model", [type(self).__name__, [[field.name, getattr(self, field.name)] for field in _fields(self)]]


def is_model(value):
    """Whether `value` is a model class."""
    return isinstance(value, type) and issubclass(value, CowboyModel)


def model_name(model):
    return model.__name__


def find_model(name):
    """The running actor's model class of a name; None for no name."""
    if name is None:
        return None
    found = _MODELS.get(name, [])
    if not found:
        raise RunnerValidationError(f"the model class {name!r} does not exist in this actor")
    module = getattr(registry.actor_class, "__module__", None)
    return next((model for model in reversed(found) if model.__module__ == module), found[-1])


def _made(kept):
    return find_model(kept[0])(**{name: value for name, value in kept[1]})


MAKERS["model"] = _made


def _fields(model):
    import dataclasses

    return dataclasses.fields(model)


def _has_default(field):
    import dataclasses

    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _plain(value):
    if isinstance(value, CowboyModel):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _is_model_hint(hint):
    return isinstance(hint, type) and issubclass(hint, CowboyModel)


# Schemas

_DESCRIBED = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number", "format": "softfloat"},
    bool: {"type": "boolean"},
    bytes: {"type": "string", "format": "base64"},
    bytearray: {"type": "string", "format": "base64"},
    type(None): {"type": "null"},
    list: {"type": "array"},
    dict: {"type": "object"},
    tuple: {"type": "array"},
}


def _described(hint):
    """The loose schema of a hint, for readers."""
    if isinstance(hint, str):
        return {"type": "string", "$comment": f"forward_ref: {hint}"}
    origin, inner = getattr(hint, "__origin__", None), getattr(hint, "__args__", ())
    if origin is list:
        return {"type": "array", "items": _described(inner[0])} if inner else {"type": "array"}
    if origin is dict:
        return {"type": "object", "additionalProperties": _described(inner[1])} if len(inner) == 2 else {"type": "object"}
    if origin is tuple:
        shown = {"type": "array"}
        if inner:
            shown.update(prefixItems=[_described(item) for item in inner], maxItems=len(inner), minItems=len(inner))
        return shown
    optional = _optional(hint)
    if optional is not None:
        return {**_described(optional), "nullable": True}
    if _is_model_hint(hint):
        return hint.schema()
    if isinstance(hint, type) and hint in _DESCRIBED:
        return dict(_DESCRIBED[hint])
    return {"$comment": f"unknown_type: {getattr(hint, '__name__', str(hint))}"}


def _optional(hint):
    """The T of `Optional[T]`, None for any other hint."""
    if getattr(hint, "__origin__", None) is None and type(hint).__name__ != "UnionType":
        return None
    if type(hint).__name__ != "UnionType" and getattr(hint.__origin__, "_name", str(hint.__origin__)) not in ("Union", "typing.Union"):
        return None
    others = [item for item in hint.__args__ if item is not type(None)]
    return others[0] if len(others) == 1 and len(hint.__args__) == 2 else None


def _literals(hint):
    """The values of a `Literal`, None for any other hint."""
    origin = getattr(hint, "__origin__", None)
    is_literal = getattr(origin, "_name", str(origin)) in ("Literal", "typing.Literal")
    return list(hint.__args__) if is_literal else None


def _strict(hint):
    """The schema of a hint in the words that the chain decides."""
    if _is_model_hint(hint):
        names = [field.name for field in _fields(hint)]
        properties = {}
        for field in _fields(hint):
            try:
                properties[field.name] = _strict(field.type)
            except TypeError as problem:
                raise TypeError(f"{hint.__name__}.{field.name}: {problem}") from None
        return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}
    if isinstance(hint, type) and hint in _NAMES:
        return {"type": _NAMES[hint]}
    values = _literals(hint)
    if values is not None:
        return {"enum": values}
    if getattr(hint, "__origin__", None) is list and hint.__args__:
        return {"type": "array", "items": _strict(hint.__args__[0])}
    optional = _optional(hint)
    if optional is not None:
        shown = _strict(optional)
        if "enum" in shown:
            return {"enum": shown["enum"] + [None]}
        return {**shown, "type": [shown["type"], "null"]}
    raise TypeError(
        f"{getattr(hint, '__name__', hint)} has no response schema: use str, int, float, bool, Literal, list[T], Optional[T] "
        "or a CowboyModel"
    )


def _built(hint, value, path):
    """`value` as `hint` says it is."""
    if _is_model_hint(hint):
        names = [field.name for field in _fields(hint)]
        if not isinstance(value, dict) or set(value) != set(names):
            raise _misfit(path, f"an object with exactly the fields {', '.join(names)}")
        return hint(**{field.name: _built(field.type, value[field.name], f"{path}.{field.name}") for field in _fields(hint)})
    values = _literals(hint)
    if values is not None:
        if value not in values or [type(item) for item in values if item == value] != [type(value)]:
            raise _misfit(path, f"one of {values!r}")
        return value
    if getattr(hint, "__origin__", None) is list:
        if not isinstance(value, (list, tuple)):
            raise _misfit(path, "an array")
        return [_built(hint.__args__[0], item, f"{path}[{place}]") for place, item in enumerate(value)]
    optional = _optional(hint)
    if optional is not None:
        return None if value is None else _built(optional, value, path)
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if hint is int and not (is_integer and abs(value) <= _MAX_SAFE_INTEGER):
        raise _misfit(path, "an integer within +-(2**53 - 1)")
    if hint is float:
        if not is_integer and not isinstance(value, float):
            raise _misfit(path, "a number")
        return float(value)
    if hint in (str, bool) and not isinstance(value, hint):
        raise _misfit(path, "a string" if hint is str else "a boolean")
    return value


def _misfit(path, expected):
    return RunnerValidationError(f"structured value does not fit: {path} is not {expected}")
