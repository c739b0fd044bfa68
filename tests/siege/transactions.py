"""Transactions as bytes, written from the specification (003 §2.5, Appendix A) and not from the node's code: a client of its own."""

import coincurve
from Crypto.Hash import keccak

SIGNATURE_BYTES = 65
NO_SIGNATURE = bytes(SIGNATURE_BYTES)


def keccak256(data):
    return keccak.new(digest_bits=256, data=data).digest()


def varint(number):
    """LEB128, as short as it can be."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def blob(data):
    return varint(len(data)) + data


class Account:
    """A key, its address and its next nonce."""

    def __init__(self, secret):
        self.key = coincurve.PrivateKey(secret)
        self.address = keccak256(self.key.public_key.format(compressed=False)[1:])[12:]
        self.nonce = 0

    def __str__(self):
        return "0x" + self.address.hex()


def transfer(to, amount):
    return bytes([0, 1]) + to + amount.to_bytes(8, "big")


def deploy(code, salt=b""):
    """An actor without init handler, manifest and endowment."""
    return bytes([1, 1]) + blob(code) + blob(salt) + b"\0\0" + bytes(8)


class Terms:
    """What a transaction may use and pays at most, cycles before cells."""

    def __init__(self, cycles, cells, price_cycle=10**6, price_cell=10**6, tip=1):
        self.encoded = b"".join(map(varint, [cycles, cells, price_cycle, price_cell, tip, tip]))


def unsigned(chain, nonce, instruction, terms, sender, metadata):
    """Everything before the signature: no access list, no origin."""
    return varint(chain) + varint(nonce) + instruction + terms.encoded + sender + b"\0" + blob(metadata) + b"\0\0\0"


def signed(account, chain, instruction, terms, metadata=b""):
    """The canonical bytes and the hash of the account's next transaction.

    Appendix A, vector 2:

    >>> account = Account(bytes([0x11] * 32))
    >>> data, name = signed(account, 42, transfer(bytes([0x22] * 20), 1), Terms(50_000, 50_000, 1, 1, 0))
    >>> name
    '0x203b9aa5435ad7de1164fa534c9d72de46e734a9d99703790756380c67b8304a'
    >>> data[-66:].hex()
    'f0dc586dcb01db4f7507163068728c49d112610bfbcf3516ed32bd0fa05a45553f8e8a695b94f6d9aa7d34657002746f30ce22cadc141bceea3129610de3035b0100'
    """
    body = unsigned(chain, account.nonce, instruction, terms, account.address, metadata)
    name = keccak256(body + NO_SIGNATURE + b"\0")
    account.nonce += 1
    return body + account.key.sign_recoverable(name, hasher=None) + b"\0", "0x" + name.hex()
