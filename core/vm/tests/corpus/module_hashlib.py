"""hashlib: the digests, updating in parts, copies, names."""
import hashlib

messages = [b"", b"abc", b"a" * 1000, bytes(range(256)), "é日".encode()]
for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512", "blake2b", "blake2s"):
    function = getattr(hashlib, name)
    print(name, function().digest_size, function().block_size, function().name, [function(message).hexdigest()[:32] for message in messages])
    assert hashlib.new(name, b"abc").digest() == function(b"abc").digest()
for name in ("shake_128", "shake_256"):
    print(name, getattr(hashlib, name)(b"abc").hexdigest(20))
h = hashlib.sha256()
h.update(b"hello ")
copied = h.copy()
h.update(bytearray(b"world"))
copied.update(b"there")
print(h.hexdigest(), copied.hexdigest(), h.digest() == hashlib.sha256(b"hello world").digest(), len(h.digest()), h.digest()[:4])
print(hashlib.blake2b(b"x", digest_size=16).hexdigest(), hashlib.blake2s(b"x", digest_size=8, key=b"k").hexdigest(), hashlib.blake2b(b"m", key=b"key", salt=b"salt", person=b"me").hexdigest()[:20])


def attempt(function, *arguments):
    try:
        print(function(*arguments))
    except Exception as error:
        print(type(error).__name__, str(error)[:60])


attempt(hashlib.sha256, "text")
attempt(hashlib.new, "no-such-hash")
attempt(h.update, "text")
attempt(hashlib.sha256, 5)


def merkle(leaves):
    level = [hashlib.sha256(leaf).digest() for leaf in leaves]
    while len(level) > 1:
        if len(level) % 2:
            level.append(level[-1])
        level = [hashlib.sha256(left + right).digest() for left, right in zip(level[::2], level[1::2])]
    return level[0].hex()


print(merkle([b"a", b"b", b"c", b"d", b"e"]), merkle([str(n).encode() for n in range(33)]))
state = b"seed"
for _ in range(50):
    state = hashlib.sha256(state).digest()
print(state.hex(), int.from_bytes(state, "big") % 1000)
