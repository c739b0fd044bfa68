"""Requests and responses as an actor sees them."""

import json

from ._host import pvm_host

_HEX = "0123456789abcdefABCDEF"
_REASONS = {301: "Moved", 302: "Found", 303: "See other", 307: "Temporary redirect", 308: "Permanent redirect"}


class HTTPError(Exception):
    """Ends a handler with a response: `raise HTTPError(404, "no such item")`."""

    def __init__(self, status, message="", headers=None):
        super().__init__(f"{status} {message}")
        self.status = status
        self.message = message
        self.headers = headers


class Request:
    """What a visitor asks: the envelope of the gateway, with helpers.

    `method`, `path`, `host`, `request_id`: str. `query`, `headers`: {name: [value, ...]}, header names in lower case.
    `body`: bytes, or None. `params`: what the route's `{name}` parts matched. `is_command`: whether it may change
    something.
    """

    def __init__(self, envelope, is_command):
        self.method = envelope["method"]
        self.path = envelope["path"]
        self.query = envelope["query"]
        self.headers = envelope["headers"]
        self.body = envelope["body"]
        self.host = envelope["host"]
        self.request_id = envelope["request_id"]
        self.is_command = is_command
        self.params = {}

    def header(self, name, default=None):
        """The first value of a header."""
        values = self.headers.get(name.lower())
        return values[0] if values else default

    def arg(self, name, default=None):
        """The first value of a query parameter."""
        values = self.query.get(name)
        return values[0] if values else default

    def text(self):
        """The body as text. HTTPError 400 when it is none."""
        try:
            return (self.body or b"").decode("utf-8")
        except UnicodeDecodeError:
            raise HTTPError(400, "the body is not UTF-8") from None

    def json(self):
        """The body's JSON. HTTPError 400 when it is none."""
        try:
            return json.loads(self.text())
        except ValueError:
            raise HTTPError(400, "the body is not JSON") from None

    def form(self):
        """The fields of a form that a page posted: {name: [value, ...]}."""
        return parse_form(self.text())

    @property
    def cookies(self):
        """The visitor's cookies: {name: value}."""
        found = {}
        for line in self.headers.get("cookie", []):
            for part in line.split(";"):
                name, separator, value = part.strip().partition("=")
                if separator and name not in found:
                    found[name] = value
        return found


class Response:
    """What a visitor gets. `body` is bytes or str; `headers` {name: value or [value, ...]}.

    `etag=True` makes an ETag of the body, a str is one; a visitor that has the same one gets 304 without a body.
    """

    def __init__(self, status=200, body=b"", headers=None, *, content_type=None, etag=None):
        self.status = status
        self.body = body.encode("utf-8") if isinstance(body, str) else body
        self.headers = {}
        for name, value in (headers or {}).items():
            self.headers[name.lower()] = list(value) if isinstance(value, (list, tuple)) else [value]
        if content_type is not None:
            self.headers["content-type"] = [content_type]
        elif isinstance(body, str) and "content-type" not in self.headers:
            self.headers["content-type"] = ["text/plain; charset=utf-8"]
        if etag is True:
            etag = pvm_host.keccak256(self.body or b"")[:16].hex()
        if etag:
            self.headers["etag"] = [f'"{etag}"']

    def set_header(self, name, value):
        self.headers[name.lower()] = [value]
        return self

    def set_cookie(self, name, value, *, max_age=None, path="/", secure=True, http_only=True, same_site="Lax"):
        """Adds a cookie for the host that was asked. ValueError for a name or value with separators in it."""
        if any([mark in f"{name}{value}" for mark in ";, \t\r\n"]) or not name or "=" in name:
            raise ValueError(f"{name!r}={value!r} is no cookie: no blanks, commas or semicolons; encode the value")
        parts = [f"{name}={value}", f"Path={path}"]
        if max_age is not None:
            parts.append(f"Max-Age={int(max_age)}")
        if secure:
            parts.append("Secure")
        if http_only:
            parts.append("HttpOnly")
        parts.append(f"SameSite={same_site}")
        self.headers.setdefault("set-cookie", []).append("; ".join(parts))
        return self

    def delete_cookie(self, name, path="/"):
        return self.set_cookie(name, "", max_age=0, path=path)

    def envelope(self):
        """The response as gateways read it."""
        return {"status": self.status, "headers": self.headers, "body": self.body or b""}


def json_response(value, status=200, headers=None, *, etag=None):
    """`value` as JSON."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=_plain)
    return Response(status, text, headers, content_type="application/json", etag=etag)


def html(text, status=200, headers=None, *, etag=None):
    """A page. What came from visitors goes through `escape` first."""
    return Response(status, text, headers, content_type="text/html; charset=utf-8", etag=etag)


def redirect(location, status=303):
    """Sends the visitor elsewhere: 303 to look, 307 or 308 to do the same there."""
    if status not in _REASONS or "\r" in location or "\n" in location:
        raise ValueError(f"no redirect: {status} to {location!r}")
    return Response(status, _REASONS[status], {"location": location})


def escape(value):
    """Text that stands in a page or in an attribute's quotes as what it is."""
    text = str(value)
    for mark, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        text = text.replace(mark, name)
    return text


def as_response(result):
    """A handler's result as a response: dicts and lists are JSON, str is a page, bytes are bytes, None is 204."""
    if isinstance(result, Response):
        return result
    if result is None:
        return Response(204)
    if isinstance(result, str):
        return html(result)
    if isinstance(result, (bytes, bytearray)):
        return Response(200, bytes(result), content_type="application/octet-stream")
    if isinstance(result, (dict, list, tuple, int, float, bool)):
        return json_response(result)
    raise TypeError(f"a handler returns a Response, dict, list, str, bytes or None, not {type(result).__name__}")


def matches_etag(request, response):
    """Whether the visitor has this answer already."""
    etag = response.headers.get("etag")
    asked = request.header("if-none-match")
    if not etag or asked is None or response.status != 200:
        return False
    known = [item.strip() for item in asked.split(",")]
    plain = [item[2:] if item.startswith("W/") else item for item in known]
    return "*" in known or etag[0] in plain


def parse_form(text):
    fields = {}
    for pair in text.split("&"):
        if pair:
            name, _, value = pair.partition("=")
            fields.setdefault(unquote(name.replace("+", " ")), []).append(unquote(value.replace("+", " ")))
    return fields


def unquote(text):
    """Text without percent signs. What is no encoding stays as it is; what is not UTF-8 becomes question marks."""
    if "%" not in text:
        return text
    parts = text.split("%")
    raw = parts[0].encode("utf-8")
    for part in parts[1:]:
        if len(part) >= 2 and part[0] in _HEX and part[1] in _HEX:
            raw += bytes([int(part[:2], 16)]) + part[2:].encode("utf-8")
        else:
            raw += b"%" + part.encode("utf-8")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return "".join([chr(byte) if byte < 128 else "?" for byte in raw])


def _plain(value):
    if isinstance(value, (bytes, bytearray)):
        return "0x" + bytes(value).hex()
    to_hex = getattr(value, "to_hex", None)
    if to_hex is not None:
        return to_hex()
    raise TypeError(f"{type(value).__name__} has no JSON form")
