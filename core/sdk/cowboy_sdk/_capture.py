"""What an author keeps by name across awaits: plain data that CBOR carries."""

from . import codec
from ._keep import MAKERS
from .errors import CaptureTypeError
from .types import Address

_CAPTURED = (bool, int, str, bytes, bytearray, float, type(None), list, dict, tuple)


class Capture:
    """Named values that outlive awaits: `ctx = capture(); ctx.price = 5`. Only what CBOR carries goes in."""

    def __init__(self):
        self.__dict__["_data"] = {}

    def __getattr__(self, name):
        data = self.__dict__["_data"]
        if name in data:
            return data[name]
        raise AttributeError(f"Capture has no attribute '{name}'. Available: {list(data)}")

    def __setattr__(self, name, value):
        check_captured(value, name)
        self.__dict__["_data"][name] = value

    def __contains__(self, name):
        return name in self.__dict__["_data"]

    def __repr__(self):
        return f"Capture({self.__dict__['_data']!r})"

    def to_dict(self):
        return dict(self.__dict__["_data"])

    def update(self, values):
        for name, value in values.items():
            setattr(self, name, value)

    def get(self, name, default=None):
        return self.__dict__["_data"].get(name, default)

    @classmethod
    def from_dict(cls, values):
        """A capture of these values, unchecked."""
        made = cls()
        made.__dict__["_data"].update(values)
        return made

    def __keep__(self):
        return "capture", _reduced(self.to_dict())


def capture():
    """A new, empty Capture."""
    return Capture()


MAKERS["capture"] = Capture.from_dict


def check_captured(value, path):
    if isinstance(value, Address):
        raise CaptureTypeError(
            f"Cannot capture an Address at '{path}'; capture bytes(address) and rebuild it with Address(...) on resume."
        )
    reduce = getattr(value, "__cbor_reduce__", None)
    if reduce is not None and not isinstance(value, type):
        check_captured(reduce(), path)
    elif isinstance(value, (list, tuple)) and isinstance(value, _CAPTURED):
        for place, item in enumerate(value):
            check_captured(item, f"{path}[{place}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, (str, int)):
                raise CaptureTypeError(f"dict key at '{path}' must be str or int, got {type(key).__name__}")
            check_captured(item, f"{path}.{key}")
    elif not isinstance(value, _CAPTURED):
        raise CaptureTypeError(
            f"Cannot capture {type(value).__name__!r} at '{path}'. Only numbers, texts, bytes, lists and dicts outlive an "
            "await; make functions, generators and objects again when the method continues."
        )


def _reduced(values):
    """What CBOR makes of the values: views are their contents, tuples are lists."""
    return codec.decode(codec.encode(values))
