from cowboy_sdk import Actor, actor, deferred, public
from cowboy_sdk.payload_codec import decode_payload, decode_return, encode_args, encode_return, encode_value, normalize_codec, ok


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        assert normalize_codec("cbor") == "cbor"
        assert decode_payload(encode_value({"a": 1}, "json"), "json") == {"a": 1}
        assert decode_payload(encode_args([1, 2], "cbor"), "cbor") == [1, 2]
        assert decode_return(encode_return("done", "cbor"), "cbor") == "done"
        assert encode_return(None, "cbor") is None
        assert ok({"a": 1}) is not None
