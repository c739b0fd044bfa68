"""@actor: turns a class into what the chain can call.

The decorator looks at the class once, when the actor is deployed, and writes a table of handlers: function,
permission, payload format, mode and number of parameters. A call later is one lookup in that table.

A handler takes its payload as `self, payload`. One that takes nothing but `self` is called without it, and one with
several parameters gets a list payload spread over them, or a dict payload by name. A parameter annotated with Address,
TokenId or BlockHeight arrives as one; one annotated with int, str, bool, float, bytes, list or dict is checked. A single
parameter annotated with one of these (but dict) takes a dict with its own name, and unless it is a list or bytes a list of
one, which is what `ActorRef` sends. What is missing, or of another type, is a TypeError that names the parameter.
"""

from ._context import actor_address, context, sender
from ._registry import registry
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
# Types that an annotation admits, by its name. An int is a float; a bool is no int.
_CHECKED = {
    "int": (int,),
    "str": (str,),
    "bool": (bool,),
    "float": (float, int),
    "bytes": (bytes,),
    "list": (list,),
    "dict": (dict,),
}
_NOTHING = object()


class Handler:
    """One row of the table: everything a call needs to know about a method."""

    def __init__(self, name, function):
        self.name = name
        self.is_init = name == "init"
        self.function = function
        self.permission = getattr(function, "_call_perm", None)
        self.is_resume = getattr(function, "_is_continuation_resume", False)
        self.mode = getattr(function, "_handler_mode", PURE)
        self.parameters, self.required, self.only = _parameters(function)
        self.makers = _makers(function)
        kinds = _kinds(function, self.parameters if self.only is None else (self.only,))
        kind = kinds.get(self.only)
        self.takes_one = kind in _KINDS or kind in _PLAIN_KINDS
        # A dict by name is the parameter's value only where it cannot be the parameter itself.
        self.by_name = self.takes_one or kind in ("bytes", "list")
        # Bytes as they were scheduled or sent are for one bare payload: of the actor's own business (no decorator), and of what the
        # chain itself calls.
        bare = self.parameters is None and not self.takes_one and (self.permission is None or name in RAW_ENTRYPOINTS)
        self.format = getattr(function, "_call_decode", None)
        if self.format is None:
            self.format = "raw" if bare else DEFAULT_CODEC
        # Bytes are what every raw payload is, whatever the annotation says.
        self.kinds = {} if self.format == "raw" else kinds
        # What its result is encoded as.
        self.return_format = self.format
        if self.format == "raw" and self.parameters:
            raise TypeError(
                f'@actor: {name}() has several parameters but gets raw bytes; declare @public(decode="json") or '
                '@public(decode="cbor"), or take one payload.'
            )

    def run(self, instance, payload):
        """Checks the caller, decodes, runs and encodes. Returns bytes or None."""
        if self.permission != PUBLIC or self.is_init:
            self._admit(instance)
        form = self.format
        if self.parameters == ():
            argument = None
        elif form == "cbor" and type(payload) is bytes:
            argument = decode(payload) if payload else None
        else:
            argument = decode_payload(payload, form)
        previous = running.current
        running.current = self.mode
        try:
            if self.parameters is None:
                if self.kinds:
                    argument = self._only(argument, payload)
                result = self.function(instance) if argument is _NOTHING else self.function(instance, argument)
            elif not self.parameters:
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

    def _admit(self, instance):
        """PermissionDeniedError for a caller whom the handler does not admit."""
        if self.permission != PUBLIC and not (self.is_resume and sender() == Address.RESULT_VERIFIER):
            check_permission(type(instance).__name__, self.name, self.permission)
        if self.is_init and is_initialized():
            raise PermissionDeniedError("init runs only once, in the transaction that creates the actor")

    def is_payload(self, args, named):
        """Whether these arguments of a call within the actor are an encoded payload."""
        return not named and len(args) == 1 and type(args[0]) is bytes and self.format != "raw" and self.kinds.get(self.only) != "bytes"

    def call(self, instance, args, named):
        """Runs the method for another handler of the same actor: checked like a message, with plain values."""
        self._admit(instance)
        previous = running.current
        running.current = self.mode
        try:
            return self.function(instance, *args, **named)
        finally:
            running.current = previous

    def _only(self, argument, payload):
        """The value for the only parameter: taken out of a list of one or a dict by name, checked, and made what the annotation
        says; _NOTHING for its default."""
        if argument is None and not payload:
            if self.required:
                raise TypeError(f"{self._signature()}: nothing was sent for {self.only!r}")
            return _NOTHING
        kind = type(argument)
        if kind is list:
            if self.takes_one and len(argument) == 1:
                argument = argument[0]
        elif kind is dict and self.by_name:
            if not argument:
                return self._only(None, b"")
            if len(argument) != 1 or self.only not in argument:
                raise TypeError(f"{self._signature()}: send its value, or a dict with {self.only!r} only, not {_shown(argument)}")
            argument = argument[self.only]
        return self._checked(self.only, argument)

    def _checked(self, name, value):
        """The value of an annotated parameter: checked, or made."""
        if value is None and name not in self.required:
            return value
        kind = self.kinds[name]
        types = _CHECKED.get(kind)
        if types is not None:
            if type(value) in types:
                return value
        else:
            try:
                return self.makers[name](value)
            except Exception as problem:
                problem.args = (f"{self._signature()}: {name!r}: {problem}",)
                raise
        raise TypeError(f"{self._signature()}: {name!r} has to be {kind}, not {_shown(value)}")

    def _spread(self, instance, argument):
        parameters = self.parameters
        if argument is None:
            argument = []
        if type(argument) is list or isinstance(argument, list):
            if len(argument) > len(parameters):
                raise TypeError(f"{self._signature()}: {len(argument)} values were sent, at most {len(parameters)} are taken")
            if len(argument) < len(self.required):
                raise TypeError(f"{self._signature()}: nothing was sent for {_names(self.required[len(argument):])}")
            for index, value in enumerate(argument):
                if parameters[index] in self.kinds:
                    argument[index] = self._checked(parameters[index], value)
            return self.function(instance, *argument)
        if isinstance(argument, dict):
            for name, value in argument.items():
                if name not in parameters:
                    raise TypeError(f"{self._signature()}: there is no parameter {name!r}")
                if name in self.kinds:
                    argument[name] = self._checked(name, value)
            missing = [name for name in self.required if name not in argument]
            if missing:
                raise TypeError(f"{self._signature()}: nothing was sent for {_names(missing)}")
            return self.function(instance, **argument)
        raise TypeError(f"{self._signature()}: send a list of these, or a dict by name, not {_shown(argument)}")

    def _signature(self):
        """What it takes, for messages: `pay() takes to: Address, amount: int`."""
        names = self.parameters if self.only is None else (self.only,)
        shown = [f"{name}: {self.kinds[name]}" if name in self.kinds else name for name in names]
        shown = [text if name in self.required else f"{text} (optional)" for name, text in zip(names, shown)]
        return f"{self.name}() takes {', '.join(shown)}"


def _names(names):
    return ", ".join([repr(name) for name in names])


def _shown(value):
    """A value in a message: its type, and itself where that is short."""
    text = repr(value)
    return f"{type(value).__name__} {text}" if len(text) <= 60 else type(value).__name__


class Actor:
    """A base that editors and type checkers know: `class Counter(Actor)` under `@actor`. It adds nothing to what @actor does."""

    _is_cowboy_actor = True
    storage = STORAGE

    @property
    def address(self):
        """This actor's own Address."""
        return actor_address()

    @property
    def sender(self):
        """The immediate caller's Address: who signed the transaction, or which actor called or sent."""
        return sender()


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

    permission = PUBLIC

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
    """The method that stands on the class in place of the author's: the caller is checked in each case.

    Outside of handlers it takes and gives bytes. Inside one it is the author's method: values in, its value out. Only bytes for a
    handler that decodes its payload are that payload, as in the published SDK: what a router passes on.
    """

    def entry(self, *args, **named):
        if running.current is None or handler.is_payload(args, named):
            return handler.run(self, args[0] if args else b"")
        return handler.call(self, args, named)

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


def _kinds(function, parameters):
    """{parameter: name of its annotation} for those that are checked or made."""
    kinds = {}
    annotations = getattr(function, "__annotations__", {})
    for name in parameters or ():
        kind = _kind(annotations.get(name, ""))
        if kind in _CHECKED or kind in _KINDS:
            kinds[name] = kind
    return kinds


def _kind(annotation):
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")


def _parameters(function):
    """(names, required, only): the parameters that a payload is spread over and those of them without a default. The usual
    `self, payload` takes it whole: then `names` is None, and `only` the parameter's name."""
    function = getattr(function, "__wrapped__", function)
    # The VM tells the positional parameters directly, with a star before the name of `*args`.
    names = getattr(function, "_positional", None) or getattr(function, "__parameters__", None)
    if names is None:
        code = function.__code__
        names = code.co_varnames[: code.co_argcount] + ("*",) * (code.co_flags & _VARARGS)
    names = tuple(names)
    if names[-1].startswith("*"):
        return None, (), None
    defaults = getattr(function, "_defaults", None) or getattr(function, "__defaults__", None) or ()
    required = names[1 : len(names) - len(defaults)]
    if len(names) == 2:
        return None, required, names[1]
    return names[1:], required, None


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
