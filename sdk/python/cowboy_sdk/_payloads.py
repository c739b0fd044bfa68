"""What a test gives to a handler and gets from it: shared by `cowboy_sdk.testing` on CPython and by the one of `cowboy test`.

It is no part of the SDK of actors: on a chain, a transaction carries bytes.
"""

from . import codec, json_codec
from .errors import CodecError
from .types import to_address_bytes

# The handler that gets web requests.
HTTP_HANDLER = "http.request"
_READS = ("GET", "HEAD")


def encoded(payload, form):
    """The bytes of a payload for a handler whose format is "cbor", "json" or "raw".

    Bytes are the payload itself, None is an empty one. A raw handler reads text as UTF-8, and `{}` as the two bytes that tools send.
    """
    if payload is None:
        return b""
    if isinstance(payload, (bytes, bytearray)):
        return bytes(payload)
    if form == "json":
        return json_codec.encode(payload)
    if form == "raw" and isinstance(payload, str):
        return payload.encode("utf-8")
    if form == "raw" and payload == {}:
        return b"{}"
    return codec.encode(payload)


def decoded(raw, form="cbor"):
    """What a handler of this format returned, or an event carries: None for nothing, the bytes where they are no value."""
    if raw is None or raw == b"":
        return None
    try:
        return json_codec.decode(raw) if form == "json" else codec.decode(raw)
    except CodecError:
        return raw


class Visits:
    """Web requests to actors, as a gateway brings them. A chain of tests says by `_visited` how they are delivered."""

    _visits = 0

    def visit(self, actor, method, path, *, body=None, headers=None, query=None, host="mysite.cowboy.network"):
        """A web request, as a gateway brings it. Returns the response's envelope, for a command the one it stored."""
        self._visits += 1
        request_id = f"00000000-0000-4000-8000-{self._visits:012d}"
        envelope = {
            "method": method,
            "path": path,
            "query": {name: [value] for name, value in (query or {}).items()},
            "headers": {name.lower(): [value] for name, value in (headers or {}).items()},
            "body": body.encode("utf-8") if isinstance(body, str) else body,
            "host": host,
            "request_id": request_id,
        }
        from .http import GATEWAY_REGISTRY

        # What may change something comes from the registry of gateways; what only reads, from nobody.
        sender = b"" if method in _READS else bytes(GATEWAY_REGISTRY)
        kept = b"_http/results/" + request_id.encode()
        returned = self._visited(to_address_bytes(actor), sender, codec.encode(envelope), kept)
        return {**codec.decode(returned), "request_id": request_id}
