"""The context managers that tests of the language use."""


from functools import wraps


class _GeneratorContextManager:
    def __init__(self, function, args, kwargs):
        self.generator = self.gen = function(*args, **kwargs)
        self.made_of = (function, args, kwargs)
        self.__doc__ = function.__doc__

    def __enter__(self):
        try:
            return next(self.generator)
        except StopIteration:
            raise RuntimeError("generator didn't yield") from None

    def __call__(self, function):
        @wraps(function)
        def inner(*args, **kwargs):
            with _GeneratorContextManager(*self.made_of):
                return function(*args, **kwargs)

        return inner

    def __exit__(self, kind, value, traceback):
        if kind is None:
            try:
                next(self.generator)
            except StopIteration:
                return False
            raise RuntimeError("generator didn't stop")
        if value is None:
            value = kind()
        try:
            self.generator.throw(value)
        except StopIteration as stop:
            return stop is not value
        except RuntimeError as error:
            if error is value:
                return False
            if isinstance(value, StopIteration) and error.__cause__ is value:
                return False
            raise
        except BaseException as error:
            if error is not value:
                raise
            return False
        raise RuntimeError("generator didn't stop after throw()")


def contextmanager(function):
    @wraps(function)
    def make(*args, **kwargs):
        return _GeneratorContextManager(function, args, kwargs)

    return make


class nullcontext:
    def __init__(self, value=None):
        self.value = value

    def __enter__(self):
        return self.value

    def __exit__(self, *exception):
        return False


class closing:
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, *exception):
        self.thing.close()


class suppress:
    def __init__(self, *exceptions):
        self.exceptions = exceptions

    def __enter__(self):
        return None

    def __exit__(self, kind, value, traceback):
        return kind is not None and issubclass(kind, self.exceptions)
