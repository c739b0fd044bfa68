"""Names of the types that have none among the builtins."""


def _generator():
    yield


async def _coroutine():
    pass


async def _async_generator():
    yield


class _Class:
    __slots__ = ("member",)

    def method(self):
        pass


_waiting = _coroutine()
FunctionType = LambdaType = type(_generator)
GeneratorType = type(_generator())
CoroutineType = type(_waiting)
_waiting.close()
AsyncGeneratorType = type(_async_generator())
MethodType = type(_Class().method)
BuiltinFunctionType = BuiltinMethodType = type(len)
MethodDescriptorType = type(str.join)
MemberDescriptorType = type(_Class.member)
MappingProxyType = type(type.__dict__)
GenericAlias = type(list[int])
UnionType = type(int | str)
NoneType = type(None)
NotImplementedType = type(NotImplemented)
EllipsisType = type(...)


class SimpleNamespace:
    def __init__(self, /, **names):
        for name, value in names.items():
            setattr(self, name, value)

    def __repr__(self):
        return f"namespace({', '.join([f'{name}={value!r}' for name, value in vars(self).items()])})"

    def __eq__(self, other):
        return vars(self) == vars(other) if isinstance(other, SimpleNamespace) else NotImplemented


class _Wrapped:
    def __init__(self, generator):
        self.generator = generator

    def __await__(self):
        return self.generator


def coroutine(function):
    """Makes a generator function's result awaitable."""

    def call(*args, **kwargs):
        return _Wrapped(function(*args, **kwargs))

    return call
