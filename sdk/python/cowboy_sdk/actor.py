"""@actor: turns a class into what the chain can call.

The decorator looks at the class once, when the actor is deployed, and writes a table of handlers: function,
permission, payload format, mode and number of parameters. A call later is one lookup in that table.

A handler takes its payload as `self, payload`. One that takes nothing but `self` is called without it, and one with
several parameters gets a list payload spread over them, or a dict payload by name. A parameter annotated with Address,
TokenId or BlockHeight arrives as one; other annotations are for the reader. A single parameter annotated with one of
these or with int, str, bool or float takes a list of one as that one, which is what `ActorRef` sends.
"""

from ._context import actor_address, context, sender
from ._state import is_initialized, mark_initialized
from .actor_ref import ActorRef, derive_actor_address
from .codec import decode, encode
from .errors import PermissionDeniedError
from .handler_mode import DEFERRED, PURE, running
from .payload_codec import DEFAULT_CODEC, _Encoded, decode_payload, encode_return
from .permissions import PUBLIC, RAW_ENTRYPOINTS, check_permission
from .storage import STORAGE
from .types import Address, BlockHeight, TokenId

_INJECTED = ("address", "storage", "sender")

_VARARGS = 0x04

# Parameter kinds by annotation: what the value is made into, None for left as it is.
_KINDS = {"Address": Address, "TokenId": TokenId, "BlockHeight": BlockHeight}
# Results that are encoded without further questions.
_PLAIN_RESULTS = (int, str, dict, list, bool)
_PLAIN_KINDS = ("int", "str", "bool", "float")


class Handler:
    """One row of the table: everything a call needs to know about a method."""

    def __init__(self, name, function):
        self.name = name
        self.is_init = name == "init"
        self.function = function
        self.permission = getattr(function, "_call_perm", None)
        self.is_resume = getattr(function, "_is_continuation_resume", False)
        self.mode = getattr(function, "_handler_mode", PURE)
        self.parameters = _parameters(function)
        self.makers = _makers(function)
        self.takes_one = self.parameters is None and _takes_one(function)
        # The actor's own business (no decorator) with a bare payload gets the bytes as they were scheduled or sent.
        bare = self.permission is None and self.parameters is None and not self.takes_one
        self.format = getattr(function, "_call_decode", None)
        if self.format is None:
            self.format = "raw" if bare or name in RAW_ENTRYPOINTS else DEFAULT_CODEC
        # What its result is encoded as.
        self.return_format = self.format
        if self.format == "raw" and self.parameters:
            raise TypeError(
                f'@actor: {name}() has several parameters but gets raw bytes; declare @public(decode="json") or '
                '@public(decode="cbor"), or take one payload.'
            )

    def run(self, instance, payload):
        """Checks the caller, decodes, runs and encodes. Returns bytes or None."""
        if self.permission != PUBLIC and not (self.is_resume and sender() == Address.RESULT_VERIFIER):
            check_permission(type(instance).__name__, self.name, self.permission)
        if self.is_init and is_initialized():
            raise PermissionDeniedError("init runs only once, in the transaction that creates the actor")
        form = self.format
        if form == "cbor" and type(payload) is bytes:
            argument = decode(payload) if payload else None
        else:
            argument = decode_payload(payload, form)
        previous = running.current
        running.current = self.mode
        try:
            if self.parameters is None:
                if self.takes_one:
                    argument = self._only(argument)
                result = self.function(instance, argument)
            elif argument is None or not self.parameters:
                result = self.function(instance)
            else:
                result = self._spread(instance, argument)
        finally:
            running.current = previous
        if self.is_init:
            mark_initialized()
        kind = type(result)
        if result is None or kind is bytes:
            return result
        form = self.return_format
        if form == "cbor" and kind in _PLAIN_RESULTS:
            return encode(result)
        if form == "raw":
            if isinstance(result, _Encoded):
                raise TypeError(
                    f'{self.name}: ok() is only valid inside a decode="cbor" handler; '
                    "a raw handler's return is never encoded."
                )
            return result
        return encode_return(result, form)

    def _only(self, argument):
        """The value for the only parameter: taken out of a list of one, and made what the annotation says."""
        if isinstance(argument, list) and len(argument) == 1:
            argument = argument[0]
        for make in self.makers.values():
            if argument is not None:
                argument = make(argument)
        return argument

    def _spread(self, instance, argument):
        function = self.function
        if isinstance(argument, dict):
            for name, make in self.makers.items():
                if argument.get(name) is not None:
                    argument[name] = make(argument[name])
            return function(instance, **argument)
        if isinstance(argument, list):
            for name, make in self.makers.items():
                index = self.parameters.index(name)
                if index < len(argument) and argument[index] is not None:
                    argument[index] = make(argument[index])
            return function(instance, *argument)
        raise TypeError(
            f"{self.name}() takes {', '.join(self.parameters)}: send a list of them, or a dict by name, "
            f"not {type(argument).__name__}"
        )


def actor(cls):
    """Makes `cls` this module's actor.

    Injects `self.address`, `self.storage` and `self.sender`, and guards every method that does not start with an
    underscore. ValueError when the class already uses an injected name; TypeError for a handler that is no plain
    method.
    """
    _refuse_injected_names(cls)
    handlers = {}
    for name, function in _methods(cls).items():
        handler = Handler(name, function)
        handlers[name] = handler
        setattr(cls, name, _entry(handler))
        if hasattr(function, "_is_continuation"):
            resumes = _resume_handler(name, function, handler.format)
            handlers[resumes.name] = resumes
            setattr(cls, resumes.name, _entry(resumes))
    cls.address = property(_get_address)
    cls.storage = STORAGE
    cls.sender = property(_get_sender)
    cls._handlers = handlers
    cls._is_cowboy_actor = True
    registry.actor_class = cls
    return cls


class _Registry:
    """What this module deployed: set while its body runs, read by every call."""

    def __init__(self):
        self.actor_class = None
        # Entries by a name that no method has: {name: what runs it}.
        self.named = {}


registry = _Registry()


def _resume_handler(name, method, form):
    """The handler that goes on with the continuation `name` when its answer comes."""
    from .runner import resume_of

    function = resume_of(method)
    handler = Handler(function.__name__, function)
    # It takes canonical CBOR from the Result Verifier, whatever form the author chose for what goes in and out.
    handler.format = "cbor"
    handler.return_format = form
    return handler


class Context:
    """What a plain function gets in the place of `self`: who asks, and what may be done."""

    def __init__(self, callback_context=None):
        # What `submit_task` was given, in the handler that gets the task's answer.
        self.callback_context = callback_context

    @property
    def sender(self):
        """The immediate caller's Address; None in a query, which has no caller."""
        raw = context()["sender"]
        return Address(raw) if raw else None

    @property
    def address(self):
        return actor_address()

    @property
    def block_height(self):
        return context()["block_height"]

    @property
    def storage(self):
        return STORAGE

    def send_message(self, target, method, args=None):
        """A message to another actor's handler, delivered in a later block."""
        from .send import send

        send(target, args, handler=method)

    def submit_task(self, task_type, request, callback, callback_context=None, **options):
        """Sends a job to the market. Its answer comes in a later block, to the handler `callback`. Returns the job's id."""
        from ._tasks import submit_task

        return submit_task(task_type, request, callback, callback_context, **options)


class _Named:
    """A plain function under a name: `@actor.handler("http.request")`."""

    def __init__(self, function):
        self.function = function

    def run(self, instance, payload):
        argument = decode_payload(payload, "json" if payload[:1] in (b"{", b"[") else "cbor") if payload else None
        previous = running.current
        running.current = getattr(self.function, "_handler_mode", DEFERRED)
        try:
            result = self.function(*_called(argument))
        finally:
            running.current = previous
        return result if result is None or isinstance(result, bytes) else encode(result)


def _called(argument):
    """The context and argument of a plain function: a task's answer comes with what its sender wanted back."""
    if isinstance(argument, dict) and "reply_handler" in argument:
        from ._tasks import answer

        found = answer(sender(), argument)
        if found is not None:
            return Context(found[0]), found[1]
    return Context(), argument


def _handler(name):
    """Makes a plain function `f(ctx, args)` the handler `name`. Everybody may call it: it looks at ctx.sender itself."""
    # Loaded with the author's module, so that no call has to.
    from . import _tasks

    def mark(function):
        registry.named[name] = _Named(function)
        return function

    return mark


actor.handler = _handler


def _get_address(self):
    return actor_address()


def _get_sender(self):
    return sender()


def _entry(handler):
    """The method that stands on the class in place of the author's: bytes in, bytes out, checked."""

    def entry(self, *args):
        return handler.run(self, args[0] if args else b"")

    entry.__name__ = handler.name
    entry.__doc__ = handler.function.__doc__
    entry._handler = handler
    return entry


def _methods(cls):
    """The effective handlers of the class and its bases: {name: the author's function}, in order of definition."""
    found = {}
    for base in reversed(cls.__mro__):
        if base is object:
            continue
        for name, value in vars(base).items():
            found.pop(name, None)
            found[name] = value
    methods = {}
    for name, value in found.items():
        if name in _INJECTED or (name.startswith("__") and name.endswith("__")):
            continue
        wrapped = getattr(value, "_handler", None)
        function = value if wrapped is None else wrapped.function
        tagged = hasattr(function, "_call_perm") or hasattr(getattr(value, "__func__", None), "_call_perm")
        if name.startswith("_") and not tagged:
            continue
        if type(function) is _FUNCTION:
            methods[name] = function
        elif tagged or (callable(value) and not isinstance(value, type)) or isinstance(value, (classmethod, staticmethod)):
            raise TypeError(
                f"@actor: {name!r} uses an unsupported descriptor or callable; actor handlers must be ordinary "
                "instance methods. Use an undecorated underscore-prefixed name for a private helper."
            )
    return methods


_FUNCTION = type(_methods)


def _makers(function):
    """{parameter: what makes its value} for the annotated parameters that have one."""
    makers = {}
    for name, annotation in getattr(function, "__annotations__", {}).items():
        make = _KINDS.get(_kind(annotation))
        if make is not None and name != "return":
            makers[name] = make
    return makers


def _takes_one(function):
    for name, annotation in getattr(function, "__annotations__", {}).items():
        if name != "return":
            return _kind(annotation) in _KINDS or _kind(annotation) in _PLAIN_KINDS
    return False


def _kind(annotation):
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")


def _parameters(function):
    """The parameters a payload is spread over; None for the usual `self, payload`, which takes it whole."""
    function = getattr(function, "__wrapped__", function)
    # The VM tells the positional parameters directly, with a star before the name of `*args`.
    names = getattr(function, "_positional", None) or getattr(function, "__parameters__", None)
    if names is None:
        code = function.__code__
        names = code.co_varnames[: code.co_argcount] + ("*",) * (code.co_flags & _VARARGS)
    if len(names) == 2 or names[-1].startswith("*"):
        return None
    return names[1:]


def _refuse_injected_names(cls):
    for base in cls.__mro__:
        if base is object or "_is_cowboy_actor" in vars(base):
            continue
        for name in _INJECTED:
            if name in vars(base):
                where = "" if base is cls else f" (inherited from {base.__name__})"
                raise ValueError(
                    f"@actor: '{name}' is reserved: the SDK injects it. Rename your {name!r} method/attribute{where}."
                )
