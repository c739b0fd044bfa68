"""What `functools.wraps` does, for the SDK's own decorators: the SDK imports no other module when it is loaded."""


def look_like(wrapped):
    """Decorates a wrapper so that it has the name, the words and the marks of `wrapped`."""

    def decorate(wrapper):
        wrapper.__dict__.update(wrapped.__dict__)
        wrapper.__name__ = wrapped.__name__
        wrapper.__qualname__ = wrapped.__qualname__
        wrapper.__doc__ = wrapped.__doc__
        wrapper.__module__ = wrapped.__module__
        wrapper.__annotations__ = wrapped.__annotations__
        wrapper.__wrapped__ = wrapped
        return wrapper

    return decorate
