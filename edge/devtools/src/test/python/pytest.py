"""The part of pytest that tests of actors use: the same file runs here and under pytest."""


class Skipped(BaseException):
    """A test that is not run."""


class Failed(BaseException):
    """A test that says that it failed."""


def skip(reason=""):
    raise Skipped(reason)


def fail(reason=""):
    raise Failed(reason)


class raises:
    """`with raises(ValueError, match="text") as caught:` fails unless the block raises that."""

    def __init__(self, expected, *, match=None):
        self.expected = expected
        self.match = match
        self.value = None
        self.type = None

    def __enter__(self):
        return self

    def __exit__(self, kind, problem, trace):
        if kind is None:
            names = self.expected if isinstance(self.expected, tuple) else (self.expected,)
            raise Failed("DID NOT RAISE " + " or ".join(name.__name__ for name in names))
        if not issubclass(kind, self.expected):
            return False
        if self.match is not None:
            import re

            if re.search(self.match, str(problem)) is None:
                raise AssertionError(f"{kind.__name__} says {str(problem)!r}, which does not match {self.match!r}")
        self.value = problem
        self.type = kind
        return True


class approx:
    """Equal to a number within a millionth of it."""

    def __init__(self, expected, rel=1e-6, abs=1e-12):
        self.expected = expected
        self.within = max(rel * (expected if expected >= 0 else -expected), abs)

    def __eq__(self, other):
        return -self.within <= other - self.expected <= self.within

    def __repr__(self):
        return f"{self.expected} ± {self.within}"


class param:
    """One row of `parametrize`, with a name."""

    def __init__(self, *values, id=None, marks=()):
        self.values = values
        self.id = id


def fixture(function=None, **options):
    if function is None:
        return lambda function: function
    return function


class _Mark:
    def parametrize(self, names, rows, ids=None):
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

        def mark(function):
            function._rows = [(names, list(rows), ids)] + getattr(function, "_rows", [])
            return function

        return mark

    def skip(self, function=None, reason=""):
        def mark(function):
            function._skipped = reason or "skipped"
            return function

        return mark if function is None or isinstance(function, str) else mark(function)

    def skipif(self, condition, reason=""):
        return self.skip(reason=reason) if condition else lambda function: function

    def __getattr__(self, name):
        # A mark of one's own says nothing here.
        def mark(*arguments, **options):
            if len(arguments) == 1 and not options and callable(arguments[0]):
                return arguments[0]
            return lambda function: function

        return mark


mark = _Mark()
