"""The door through which the chain enters: a handler's name and a payload in, bytes out.

A name is looked up first among the module's own functions, then in the @actor class:

* a module without an @actor class offers all its functions without a leading underscore;
* beside an @actor class, a function is an entry only when it stands for a method of the same name
  (`def transfer(payload): return _instance.transfer(payload)`), or carries @public or @callable_by.
  Other functions are helpers that nobody outside can reach.
"""

from . import codec
from ._registry import registry
from .errors import CodecError, UnknownHandlerError
from .payload_codec import decode_payload, encode_return
from .permissions import PUBLIC, check_permission
from .timer import DEFAULT_HANDLER, MAX_HANDLER_BYTES, decode_interval, reschedule_interval

MESSAGE_HANDLER = "handle_message"
FALLBACK_TIMER_HANDLER = "on_timer"


def enter(method, payload):
    """Runs a handler of the actor that this VM holds: what the chain calls as `cowboy_sdk._dispatch`."""
    import __main__

    return dispatch(method, payload, __main__)


def dispatch(method, payload, module=None):
    """Runs the handler `method` and returns its output, `b""` for none. UnknownHandlerError when there is no such handler.

    An empty name means a message without a handler name. `module` is the actor's module.
    """
    if method == DEFAULT_HANDLER:
        result = _fire(payload, module)
    else:
        result = _run(method or MESSAGE_HANDLER, payload, module)
    if type(result) is bytes:
        return result
    if result is None:
        return b""
    if isinstance(result, bytearray):
        return bytes(result)
    raise TypeError(f"{method}() must return bytes, or declare a payload format; got {type(result).__name__}")


def _run(name, payload, module):
    actor_class = registry.actor_class
    handlers = {} if actor_class is None else actor_class._handlers
    handler = handlers.get(name)
    if getattr(module, name, None) is not None:
        function = _module_function(module, name, actor_class is None or handler is not None)
        if function is not None:
            return _run_function(function, name, payload)
    if handler is not None:
        return handler.run(actor_class(), payload)
    named = registry.named.get(name)
    if named is not None:
        return named.run(None if actor_class is None else actor_class(), payload)
    raise UnknownHandlerError(f"no handler {name!r}; this actor offers: {', '.join(_offered(handlers, module)) or 'none'}")


def _exists(name, module):
    actor_class = registry.actor_class
    if actor_class is not None and name in actor_class._handlers:
        return True
    return module is not None and _module_function(module, name, actor_class is None) is not None


# Module functions


def _module_function(module, name, open_door):
    """The module's own function `name` when it is an entry. Imported functions never are."""
    if name.startswith("_"):
        return None
    function = getattr(module, name, None)
    if type(function) is not _FUNCTION or function.__module__ != module.__name__:
        return None
    return function if open_door or hasattr(function, "_call_perm") else None


_FUNCTION = type(_module_function)


def _run_function(function, name, payload):
    permission = getattr(function, "_call_perm", None)
    if permission is None:
        return function(payload)
    check_permission(function.__module__, name, permission)
    declared = function._call_decode or "cbor"
    return encode_return(function(decode_payload(payload, declared)), declared)


def _offered(handlers, module):
    """The names that everybody may call. Those for the actor itself or for named callers are nobody else's business."""
    names = [name for name, handler in (*handlers.items(), *registry.named.items()) if _is_public(handler)]
    if module is not None:
        for name in vars(module):
            if name not in handlers:
                function = _module_function(module, name, registry.actor_class is None)
                if function is not None and getattr(function, "_call_perm", PUBLIC) == PUBLIC:
                    names.append(name)
    return sorted(names)


def _is_public(handler):
    return getattr(handler, "permission", None) == PUBLIC


# Timers


def _fire(payload, module):
    """Delivers a timer: to the handler its payload names, to an interval's handler, or to `handle_timer`."""
    named = _routed(payload)
    if named is not None:
        return _run(named[0], named[1], module)
    if _exists(DEFAULT_HANDLER, module):
        return _run(DEFAULT_HANDLER, payload, module)
    if decode_interval(payload) is not None:
        handler, data = reschedule_interval(payload)
        return _run(handler, data, module)
    if _exists(FALLBACK_TIMER_HANDLER, module):
        return _run(FALLBACK_TIMER_HANDLER, payload, module)
    return _run(DEFAULT_HANDLER, payload, module)


def _routed(payload):
    """(handler, payload) when the payload is a routing envelope: canonical CBOR, or the older JSON form."""
    if payload[:1] == b"\xa2":
        try:
            envelope = codec.decode(payload)
        except CodecError:
            return None
        if list(envelope) == ["_handler", "_payload"] and _is_name(envelope["_handler"]):
            inner = envelope["_payload"]
            if isinstance(inner, bytes):
                return envelope["_handler"], inner
    elif payload[:1] == b"{":
        import json

        try:
            envelope = json.loads(payload.decode("utf-8"))
        except ValueError:
            return None
        if _is_name(envelope.get("_handler")):
            handler = envelope.pop("_handler")
            return handler, _json_bytes(envelope.get("_payload", envelope))
    return None


def _is_name(name):
    return isinstance(name, str) and 1 <= len(name.encode("utf-8")) <= MAX_HANDLER_BYTES


def _json_bytes(value):
    import json

    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode("utf-8")
