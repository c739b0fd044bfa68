"""A-10: typed data signed by ethers verifies, and nothing near it does. Vectors: tests/vectors/eip712.mjs."""

import json
import pathlib

import pytest
from cowboy_sdk import eip712
from cowboy_sdk.testing import Chain
from devnet import DevnetWorld, programs

VECTORS = json.loads((pathlib.Path(__file__).parents[3] / "tests/vectors/eip712.json").read_text())
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
MAIL = VECTORS[0]


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["about"])
def test_vector(case):
    domain, types, message = case["domain"], case["types"], case["message"]
    assert eip712.find_primary_type(types) == case["primary_type"]
    assert eip712.encode_type(case["primary_type"], types) == case["encoded_type"]
    assert "0x" + eip712.domain_separator(domain).hex() == case["domain_separator"]
    assert "0x" + eip712.hash_struct(case["primary_type"], types, message).hex() == case["struct_hash"]
    assert "0x" + eip712.digest(domain, types, message).hex() == case["digest"]
    assert eip712.recover(domain, types, message, case["signature"]).to_hex() == case["address"]
    assert eip712.verify(case["address"], domain, types, message, case["signature"])
    other = VECTORS[(VECTORS.index(case) + 1) % len(VECTORS)]["address"]
    assert not eip712.verify(other, domain, types, message, case["signature"])


def changed(signature):
    """Signatures that are not this one: (what, bytes)."""
    raw = bytes.fromhex(signature[2:])
    s = int.from_bytes(raw[32:64], "big")
    return [
        ("short", raw[:64]),
        ("long", raw + b"\0"),
        ("other parity", raw[:64] + bytes([55 - raw[64]])),
        ("unknown parity", raw[:64] + b"\x1d"),
        ("mirrored s", raw[:32] + (ORDER - s).to_bytes(32, "big") + bytes([55 - raw[64]])),
        ("zero r", bytes(32) + raw[32:]),
        ("zero s", raw[:32] + bytes(32) + raw[64:]),
        ("r is the order", ORDER.to_bytes(32, "big") + raw[32:]),
    ]


@pytest.mark.parametrize("what, signature", changed(MAIL["signature"]))
def test_refused_signature(what, signature):
    assert not eip712.verify(MAIL["address"], MAIL["domain"], MAIL["types"], MAIL["message"], signature)


def test_parity_may_be_written_either_way():
    raw = bytes.fromhex(MAIL["signature"][2:])
    assert eip712.verify(MAIL["address"], MAIL["domain"], MAIL["types"], MAIL["message"], raw[:64] + bytes([raw[64] - 27]))


def test_changed_data_is_another_message():
    message = {**MAIL["message"], "contents": "Hello, Bob?"}
    assert not eip712.verify(MAIL["address"], MAIL["domain"], MAIL["types"], message, MAIL["signature"])
    domain = {**MAIL["domain"], "chainId": 2}
    assert not eip712.verify(MAIL["address"], domain, MAIL["types"], MAIL["message"], MAIL["signature"])


@pytest.mark.parametrize(
    "kind, value, text",
    [
        ("uint8", 256, "between 0 and 255"),
        ("uint8", -1, "between 0 and 255"),
        ("int8", 128, "between -128 and 127"),
        ("uint256", True, "integer"),
        ("uint256", 1.0, "integer"),
        ("bytes4", "0xdeadbe", "4 bytes"),
        ("bytes33", "0x", "33 bytes"),
        ("bool", 1, "True or False"),
        ("string", b"x", "text"),
        ("uint8[2]", [1], "list of 2"),
        ("uint8[]", "12", "list of any"),
        ("quux", 1, "unknown type"),
        ("bytes", "beef", "0x-hex"),
    ],
)
def test_data_that_does_not_fit(kind, value, text):
    with pytest.raises(ValueError, match=text):
        eip712.digest({}, {"A": [{"name": "x", "type": kind}]}, {"x": value})


def test_shape_errors():
    types = {"A": [{"name": "x", "type": "uint8"}]}
    with pytest.raises(ValueError, match="lacks A.x"):
        eip712.digest({}, types, {})
    with pytest.raises(ValueError, match="no field 'chain'"):
        eip712.digest({"chain": 1}, types, {"x": 1})
    with pytest.raises(ValueError, match="exactly one record"):
        eip712.digest({}, {**types, "B": []}, {"x": 1})


NOTARY = pathlib.Path(__file__).parent / "actors/notary.py"


def questions():
    """(arguments of the notary, its answer): each vector, and each with the next one's address."""
    for case, following in zip(VECTORS, VECTORS[1:] + VECTORS[:1]):
        given = {name: case[name] for name in ("address", "domain", "types", "message", "signature")}
        yield given, True
        yield {**given, "address": following["address"]}, False


def test_an_actor_verifies():
    chain = Chain()
    notary = chain.deploy(NOTARY)
    for given, answer in questions():
        assert chain.execute(notary, "check", given) is answer


@pytest.mark.skipif(programs() is None, reason="cowboyd is not built")
def test_an_actor_verifies_on_a_devnet():
    with DevnetWorld(programs()) as world:
        alice = world.accounts()["alice"]
        notary = world.deploy(NOTARY, None, alice)
        for given, answer in questions():
            # JSON integers past 64 bits are written as text, as wallets do.
            assert world.execute(notary, "check", given, alice, 0) is answer
