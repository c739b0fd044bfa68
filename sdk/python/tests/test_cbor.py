"""The codec writes and reads as tests/vectors/cbor.json says, which holds for the node and the explorer as well."""

import json
import pathlib
import struct

import pytest
from cowboy_sdk import codec
from cowboy_sdk.errors import CodecError

VECTORS = json.loads((pathlib.Path(__file__).parents[3] / "tests/vectors/cbor.json").read_text())


def rows(*groups):
    return [pytest.param(row, id=row["about"]) for group in groups for row in VECTORS[group]]


def value_of(marked):
    """What a row's value stands for."""
    if not isinstance(marked, dict):
        return marked
    [(kind, inner)] = marked.items()
    match kind:
        case "int":
            return int(inner)
        case "float":
            return struct.unpack(">d", bytes.fromhex(inner))[0]
        case "bytes":
            return bytes.fromhex(inner)
        case "text":
            return inner
        case "list":
            return [value_of(item) for item in inner]
        case "map":
            return {value_of(key): value_of(item) for key, item in inner}
        case "deep":
            levels, value = inner[0], value_of(inner[1])
            for _ in range(levels):
                value = [value]
            return value
    raise ValueError(kind)


def assert_same(left, right):
    """Equal in type, sign of zero and order of keys as well."""
    while isinstance(left, list) and isinstance(right, list) and len(left) == len(right) == 1:
        left, right = left[0], right[0]
    assert type(left) is type(right)
    if isinstance(left, list):
        assert len(left) == len(right)
        for one, other in zip(left, right):
            assert_same(one, other)
    elif isinstance(left, dict):
        assert_same(list(left.keys()), list(right.keys()))
        assert_same(list(left.values()), list(right.values()))
    elif isinstance(left, float):
        assert struct.pack(">d", left) == struct.pack(">d", right)
    else:
        assert left == right


@pytest.mark.parametrize("row", rows("both", "written"))
def test_written(row):
    assert codec.encode(value_of(row["value"])).hex() == row["hex"]


@pytest.mark.parametrize("row", rows("both", "read"))
def test_read(row):
    assert_same(codec.decode(bytes.fromhex(row["hex"])), value_of(row["value"]))


@pytest.mark.parametrize("row", rows("refused"))
def test_refused(row):
    with pytest.raises(CodecError):
        codec.decode(bytes.fromhex(row["hex"]))


@pytest.mark.parametrize("row", rows("unwritten"))
def test_unwritten(row):
    with pytest.raises(CodecError):
        codec.encode(value_of(row["value"]))
