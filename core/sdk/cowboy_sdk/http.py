"""An actor as a web site.

    from cowboy_sdk import actor, http

    @actor
    class Site:
        @http.get("/")
        def index(self, request):
            return http.html("<h1>Hello</h1>")

        @http.get("/items/{id}")
        def item(self, request, id: int):
            return {"id": id, "text": self.storage.get(f"item/{id}")}

        @http.post("/items")
        def add(self, request):
            ...
            return http.Response(201, "stored")

Handlers of GET read: they run on the newest block, without a transaction, and cannot change anything. Handlers of POST,
PUT, PATCH and DELETE run in a transaction that a gateway sends; their responses are kept for the visitor to fetch.
Requests on that path count only when the Gateway Registry delivers them: others get 403 before the handler runs.

Plain functions work as well, with a context in the place of `self`: `@http.command("/submit") def submit(ctx, request)`.
"""

from ._host import pvm_host
from ._http_message import (
    HTTPError,
    Request,
    Response,
    as_response,
    escape,
    html,
    json_response,
    matches_etag,
    redirect,
    unquote,
)
from ._http_results import CLEANUP_HANDLER, can_keep, clean, keep
from ._registry import registry
from .actor import Context
from .codec import decode, encode
from .errors import PermissionDeniedError
from .handler_mode import DEFERRED, PURE, running
from .types import Address

# Who delivers requests that may change something: ctx.sender of every command (004 §8.4, §9.6).
GATEWAY_REGISTRY = Address(bytes(19) + b"\x0f")

REQUEST_HANDLER = "http.request"
OPENAPI_HANDLER = "http.openapi"

_QUERIES = ("GET", "HEAD")
_COMMANDS = ("POST", "PUT", "PATCH", "DELETE")


class Route:
    """One row: a method, a path, and the function that answers."""

    def __init__(self, method, path, function, ttl):
        if not path.startswith("/") or path == "/_cowboy" or path.startswith("/_cowboy/"):
            raise ValueError(f"no route at {path!r}: it begins with a slash, and /_cowboy/ belongs to the gateway")
        self.method = method
        self.path = path
        self.segments = path.split("/")[1:]
        self.function = function
        self.ttl = ttl
        self.kinds = getattr(function, "__annotations__", {})
        parameters = _parameters(function)
        self.is_method = bool(parameters) and parameters[0] == "self"
        # A function that takes only the request finds the path's parts in `request.params`.
        self.takes_parts = len(parameters) > 2

    def match(self, segments):
        """{name: text} of the path's variable parts; None where the path is another one."""
        own = self.segments
        rest = own[-1][1:-6] if own[-1].endswith(":path}") else None
        if len(own) != len(segments) and (rest is None or len(segments) < len(own)):
            return None
        found = {}
        for index, segment in enumerate(own):
            if rest is not None and index == len(own) - 1:
                found[rest] = "/".join([unquote(part) for part in segments[index:]])
            elif segment[:1] == "{" and segment[-1:] == "}":
                found[segment[1:-1]] = unquote(segments[index])
            elif segment != segments[index]:
                return None
        return found

    def arguments(self, found):
        """The variable parts as the function's annotations say. HTTPError 404 for what is no number."""
        for name, text in found.items():
            if _name_of(self.kinds.get(name)) == "int":
                digits = text[1:] if text[:1] == "-" else text
                if not digits.isdigit() or len(digits) > 30:
                    raise HTTPError(404, f"{name} is a number")
                found[name] = int(text)
        return found


def _route(method, path, ttl=None):
    def mark(function):
        _requests().routes.append(Route(method, path, function, ttl))
        return function

    return mark


def get(path):
    """Answers GET and HEAD of `path`. `{name}` is a variable part, `{name:path}` all the rest."""
    return _route("GET", path)


def post(path, *, ttl=None):
    """Answers POST of `path`. The response is kept for `ttl` blocks."""
    return _route("POST", path, ttl)


def put(path, *, ttl=None):
    """Answers PUT of `path`."""
    return _route("PUT", path, ttl)


def patch(path, *, ttl=None):
    """Answers PATCH of `path`."""
    return _route("PATCH", path, ttl)


def delete(path, *, ttl=None):
    """Answers DELETE of `path`."""
    return _route("DELETE", path, ttl)


def command(path, *, methods=("POST",), ttl=None):
    """Answers requests that may change something, POST unless `methods` names others."""

    def mark(function):
        for method in methods:
            if method not in _COMMANDS:
                raise ValueError(f"{method} is no command: {', '.join(_COMMANDS)} are")
            function = _route(method, path, ttl)(function)
        return function

    return mark


def handler(function):
    """Answers every request that no route answers: `def rest(self, request)`."""
    for method in ("GET", *_COMMANDS):
        function = _route(method, "/{rest:path}")(function)
    return function


def complete(request_id, response, *, ttl=None):
    """Stores the response of a command that was answered with 202: what the visitor polls for.

    Called where the answer comes: in a continuation, a callback, a timer.
    """
    keep(request_id, as_response(response).envelope(), ttl)


def assets(path, prefix="assets/"):
    """Serves what `store_asset` stored, below `path`: `http.assets("/static")`."""

    def serve(ctx, request, name):
        raw = pvm_host.get_state((prefix + name).encode())
        if raw is None:
            raise HTTPError(404, "no such asset")
        content_type, body = decode(raw)
        return Response(200, body, {"cache-control": "public, max-age=60"}, content_type=content_type, etag=True)

    _route("GET", path.rstrip("/") + "/{name:path}")(serve)


def store_asset(name, body, content_type, prefix="assets/"):
    """Stores a file that `assets` serves: within the actor's storage quota."""
    body = body.encode("utf-8") if isinstance(body, str) else bytes(body)
    pvm_host.set_state((prefix + name).encode(), encode([content_type, body]))


# Entry points of the chain


class _Requests:
    """`http.request`: finds the route, runs it, and keeps what a command answers."""

    def __init__(self):
        self.routes = []

    def run(self, instance, payload):
        sender = pvm_host.context()["sender"]
        if sender and sender != GATEWAY_REGISTRY.to_bytes():
            # 004 §12.5: only what the registry delivers is a visitor's.
            return encode(Response(403, "unauthorized: not dispatched by the Gateway Registry").envelope())
        is_command = bool(sender)
        request = Request(decode(payload), is_command)
        if request.method in (_QUERIES if is_command else _COMMANDS):
            return encode(Response(405, "this method does not come this way").envelope())
        response, ttl = _answer(self.routes, instance, request)
        if not is_command:
            if matches_etag(request, response):
                response = Response(304, b"", {"etag": response.headers["etag"]})
            return encode(response.envelope())
        # 202 means that the answer follows: `complete` stores it.
        if response.status == 202 or not can_keep():
            return encode(response.envelope())
        keep(request.request_id, response.envelope(), ttl)
        return b""


def _answer(routes, instance, request):
    segments = request.path.split("/")[1:]
    method = "GET" if request.method == "HEAD" else request.method
    allowed = []
    for route in routes:
        found = route.match(segments)
        if found is None:
            continue
        if route.method != method:
            allowed.append(route.method)
            continue
        return _run(route, instance, request, found), route.ttl
    if allowed:
        return Response(405, "method not allowed", {"allow": ", ".join(sorted(set(allowed)))}), None
    return Response(404, "not found"), None


def _run(route, instance, request, found):
    previous = running.current
    running.current = getattr(route.function, "_handler_mode", DEFERRED if request.is_command else PURE)
    try:
        request.params = route.arguments(found)
        first = instance if route.is_method else Context()
        if route.takes_parts:
            return as_response(route.function(first, request, **request.params))
        return as_response(route.function(first, request))
    except HTTPError as error:
        return Response(error.status, error.message, error.headers)
    finally:
        running.current = previous


class _Cleanup:
    """`http.cleanup`: the timer of results that end."""

    def run(self, instance, payload):
        context = pvm_host.context()
        if context["sender"] != context["actor_addr"]:
            raise PermissionDeniedError("http.cleanup is the actor's own timer")
        clean(payload)
        return b""


class _Description:
    """`http.openapi`: what the routes are, for `/_cowboy/openapi.json`."""

    def run(self, instance, payload):
        from ._http_openapi import describe

        return describe(payload.decode("utf-8"), _requests().routes).encode("utf-8")


def _requests():
    """The entry that holds this module's routes."""
    if REQUEST_HANDLER not in registry.named:
        registry.named[REQUEST_HANDLER] = _Requests()
        registry.named[CLEANUP_HANDLER] = _Cleanup()
        registry.named[OPENAPI_HANDLER] = _Description()
    return registry.named[REQUEST_HANDLER]


def _parameters(function):
    names = getattr(function, "__parameters__", None)
    return function.__code__.co_varnames[: function.__code__.co_argcount] if names is None else names


def _name_of(annotation):
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")


def describes(*, query=None, body=None):
    """Says for `/_cowboy/openapi.json` what a route takes: `@http.describes(body={"text": str})`."""

    def mark(function):
        function._http_query = query or {}
        function._http_body = body
        return function

    return mark
