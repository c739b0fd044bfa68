"""Instead of pyperf: calls the chosen function of a benchmark once, with the chosen number of loops. Without a choice it prints the names.

It runs in CPython and in our VM, which has no clock, so that the time is taken outside."""
import chosen


def perf_counter():
    return 0.0


def python_implementation():
    return "cpython"


class Options:
    pass


class Parser:
    """Knows the defaults of options."""

    def __init__(self):
        self.options = Options()

    def add_argument(self, *names, default=None, action=None, dest=None, **_):
        name = dest or names[-1].lstrip("-").replace("-", "_")
        setattr(self.options, name, False if action == "store_true" else default)


class Runner:
    def __init__(self, *_, **__):
        self.argparser = Parser()
        self.metadata = {}

    def parse_args(self, *_):
        return self.argparser.options

    def _runs(self, name):
        if chosen.NAME is None:
            print(name)
        return name == chosen.NAME

    def bench_func(self, name, function, *arguments, **_):
        if self._runs(name):
            result = None
            for _ in range(chosen.LOOPS):
                result = function(*arguments)
            if isinstance(result, (int, str)):
                print(result)

    def bench_time_func(self, name, function, *arguments, **_):
        if self._runs(name):
            function(chosen.LOOPS, *arguments)

    def bench_async_func(self, name, function, *arguments, **_):
        if self._runs(name):
            for _ in range(chosen.LOOPS):
                try:
                    function(*arguments).send(None)
                except StopIteration:
                    continue
                raise RuntimeError("the coroutine waits for an event loop")

    def bench_command(self, *_):
        """Measures a process, which is not done here."""
