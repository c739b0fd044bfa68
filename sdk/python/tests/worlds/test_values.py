"""Values, signatures and an actor's own handlers, in every world alike."""

import pytest

ED25519 = (
    2,
    bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"),
    bytes.fromhex("72"),
    bytes.fromhex(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    ),
)
SECP256K1 = (
    1,
    bytes.fromhex("02ba5734d8f7091719471e7f7ed6b9df170dc70cc661ca05e688601ad984f068b0"),
    b"a message",
    bytes.fromhex(
        "5004d7d9c2a3b2d675ada618d9ceda55d1f6a9fdf263e24daa8cbea586af2b2b"
        "22b564ea36bb5d1389e366d41e50f7c3df59a6fef8caf48f155b13383d8545ad"
    ),
)
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


@pytest.fixture
def values(chain):
    return chain.deploy("values.py")


def test_what_has_no_encoding_is_a_codec_error(chain, values):
    assert chain.query(values, "refused") == []


def test_zero_has_one_encoding(chain, values):
    assert chain.query(values, "zero") == [True, "0.0"]


def test_defaults_of_max_and_min(chain, values):
    assert chain.query(values, "ends") == [None, None, [1]]


def test_own_handlers_are_methods_inside(chain, values):
    assert chain.execute(values, "own") == [
        8,
        {"name": "Ada", "count": 1},
        {"name": "Ada", "count": 2},
        None,
        True,
        b"x!",
        ["whole", {"a": 1}],
        ["whole", 5],
        "closed",
    ]


@pytest.mark.parametrize("scheme, key, message, signature", [ED25519, SECP256K1], ids=["ed25519", "secp256k1"])
def test_signatures(chain, values, scheme, key, message, signature):
    def holds(key, message, signature):
        return chain.query(values, "signed", [scheme, key, message, signature])

    assert holds(key, message, signature)
    assert not holds(key, message + b"x", signature)
    assert not holds(key, message, signature[:-1] + bytes([signature[-1] ^ 1]))
    assert not holds(bytes(len(key)), message, signature)
    # The second form of the same signature, with which nobody passes twice.
    if scheme == 1:
        other = ORDER - int.from_bytes(signature[32:], "big")
        assert not holds(key, message, signature[:32] + other.to_bytes(32, "big"))


@pytest.mark.parametrize("scheme, sizes, text", [(4, (32, 64), "unsupported signature algorithm"), (2, (31, 64), "invalid signature length")])
def test_wrong_schemes_and_sizes(chain, values, scheme, sizes, text):
    with pytest.raises(ValueError, match=text):
        chain.query(values, "signed", [scheme, bytes(sizes[0]), b"", bytes(sizes[1])])
