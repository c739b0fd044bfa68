from cowboy_sdk import Actor, actor, deferred, public
from cowboy_sdk.signing import get_signing_key, set_signing_key, verify_with_signing_key


# Ed25519, 32 bytes.
PUBLIC_KEY = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        set_signing_key("orders", 2, PUBLIC_KEY)
        assert get_signing_key("orders") == {"algorithm": 2, "public_key": PUBLIC_KEY}

    @public
    def order(self, text: str, signature: bytes) -> bool:
        return verify_with_signing_key("orders", text.encode(), signature)
