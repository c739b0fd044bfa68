"""@bounded_loop: a promise about how often a method's loops turn, enforced while they do."""

from ._wrapping import look_like
from .errors import LoopBoundExceeded


class _Bounds:
    """The limits of the bounded methods that run now, innermost last: [limit, count] each."""

    def __init__(self):
        self.active = []


_bounds = _Bounds()


def bounded_loop(max_iterations=1000):
    """Limits the iterations that the decorated method counts with BoundedRange or check_iteration."""

    def decorate(function):
        row = getattr(function, "_row", None)
        if row is not None:
            row.limit = max_iterations
        if row is not None or _is_async(function):
            # The continuation counts the turns of its loops itself, across blocks.
            function._bounded_loop_max = max_iterations
            return function

        @look_like(function)
        def bounded(*args, **kwargs):
            _bounds.active.append([max_iterations, 0])
            try:
                return function(*args, **kwargs)
            finally:
                _bounds.active.pop()

        bounded._bounded_loop_max = max_iterations
        return bounded

    return decorate


def _is_async(function):
    code = getattr(function, "__code__", None)
    return code is not None and bool(code.co_flags & 0x80)


def check_iteration():
    """Counts one iteration and returns the count. LoopBoundExceeded past the limit; 0 outside of bounded methods."""
    if not _bounds.active:
        return 0
    bound = _bounds.active[-1]
    bound[1] += 1
    if bound[1] > bound[0]:
        raise LoopBoundExceeded(
            f"Loop exceeded maximum iterations: {bound[0]}. "
            "Increase max_iterations in @bounded_loop or reduce loop body complexity."
        )
    return bound[1]


class BoundedRange:
    """Iterates over a number or an iterable and counts each step against the innermost bound."""

    def __init__(self, iterable_or_count):
        source = range(iterable_or_count) if isinstance(iterable_or_count, int) else iterable_or_count
        self._items = iter(source)

    def __iter__(self):
        return self

    def __next__(self):
        item = next(self._items)
        check_iteration()
        return item
