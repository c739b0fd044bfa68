"""Hardware of tests: `python3 nitro.py` reads 32 bytes in hex and writes a document about them in the format of Nitro enclaves, signed under an
authority of its own. `root()` is that authority's certificate, `MEASUREMENT` what the program measures as. The keys are the same in every run.
"""

import datetime
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

ROOT, LEAF = (ec.derive_private_key(number, ec.SECP384R1()) for number in (1003, 1004))
REGISTER = bytes([5]) * 48
MEASUREMENT = REGISTER * 3
ES384 = -35


def encode(value):
    """CBOR, as much of it as a document has."""

    def head(kind, number):
        for size, mark in ((1, 24), (2, 25), (4, 26)):
            if number < 24:
                return bytes([kind << 5 | number])
            if number < 256**size:
                return bytes([kind << 5 | mark]) + number.to_bytes(size, "big")
        raise ValueError(number)

    if isinstance(value, bool):
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(encode, value))
    # Shorter keys first, as canonical CBOR has it.
    pairs = sorted((encode(name), encode(item)) for name, item in value.items())
    return head(5, len(value)) + b"".join(name + item for name, item in sorted(pairs, key=lambda pair: (len(pair[0]), pair[0])))


def certificate(key, is_root):
    names = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]) for name in ("root", "root" if is_root else "enclave")]
    usage = {name: False for name in ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement")}
    usage |= {"encipher_only": False, "decipher_only": False, "crl_sign": False}
    builder = (
        x509.CertificateBuilder(names[0], names[1], key.public_key(), 7)
        .not_valid_before(datetime.datetime(2020, 1, 1))
        .not_valid_after(datetime.datetime(2040, 1, 1))
        .add_extension(x509.BasicConstraints(is_root, None), True)
        .add_extension(x509.KeyUsage(digital_signature=not is_root, key_cert_sign=is_root, **usage), True)
    )
    return builder.sign(ROOT, hashes.SHA384(), ecdsa_deterministic=True).public_bytes(serialization.Encoding.DER)


def root():
    return certificate(ROOT, True)


def document(data):
    content = encode(
        {
            "digest": "SHA384",
            "pcrs": {number: REGISTER for number in range(3)},
            "certificate": certificate(LEAF, False),
            "cabundle": [root()],
            "user_data": data,
        }
    )
    protected = encode({1: ES384})
    signature = LEAF.sign(encode(["Signature1", protected, b"", content]), ec.ECDSA(hashes.SHA384()))
    raw = b"".join(part.to_bytes(48, "big") for part in decode_dss_signature(signature))
    return encode([protected, {}, content, raw])


if __name__ == "__main__":
    sys.stdout.buffer.write(document(bytes.fromhex(sys.stdin.readline().strip())))
