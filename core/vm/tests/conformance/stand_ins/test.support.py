"""What CPython's tests share, as far as it means something here."""

import unittest

verbose = 0
MAX_Py_ssize_t = 2**63 - 1
_1M, _1G, _2G, _4G = 1 << 20, 1 << 30, 2 << 30, 4 << 30
is_emscripten = is_wasi = is_android = is_jython = False
has_fork_support = has_subprocess_support = False
Py_DEBUG = False
PGO = False


class Error(Exception):
    pass


class TestFailed(Error):
    pass


def gc_collect():
    pass


def cpython_only(test):
    return unittest.skip("an implementation detail of CPython")(test)


def impl_detail(msg=None, **guards):
    return unittest.skip(msg or "an implementation detail of CPython")


def check_impl_detail(**guards):
    return not guards.get("cpython", not guards)


def requires_IEEE_754(test):
    return test


def requires_docstrings(test):
    return test


def skip_if_pgo_task(test):
    return test


def anticipate_failure(condition):
    return unittest.expectedFailure if condition else lambda test: test


def bigmemtest(size, memuse, dry_run=True):
    return unittest.skip("needs more memory than 10 MiB")


def bigaddrspacetest(test):
    return unittest.skip("needs more memory than 10 MiB")(test)


def requires_resource(name):
    return unittest.skip(f"the resource {name}")


def requires(name, msg=None):
    raise unittest.SkipTest(f"the resource {name}")


def is_resource_enabled(name):
    return False


def run_with_locale(category, *locales):
    return unittest.skip("locales")


def requires_legacy_unicode_capi(test):
    return unittest.skip("the C API")(test)


def run_no_yield_async_fn(function, /, *args, **kwargs):
    coroutine = function(*args, **kwargs)
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("coroutine did not complete")


class _AlwaysEqual:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


class _NeverEqual:
    def __eq__(self, other):
        return False

    def __ne__(self, other):
        return True

    def __hash__(self):
        return 1


class _Largest:
    def __eq__(self, other):
        return isinstance(other, _Largest)

    def __lt__(self, other):
        return False

    def __le__(self, other):
        return isinstance(other, _Largest)

    def __gt__(self, other):
        return not isinstance(other, _Largest)

    def __ge__(self, other):
        return True


class _Smallest:
    def __eq__(self, other):
        return isinstance(other, _Smallest)

    def __gt__(self, other):
        return False

    def __ge__(self, other):
        return isinstance(other, _Smallest)

    def __lt__(self, other):
        return not isinstance(other, _Smallest)

    def __le__(self, other):
        return True


ALWAYS_EQ = _AlwaysEqual()
NEVER_EQ = _NeverEqual()
LARGEST = _Largest()
SMALLEST = _Smallest()


class swap_attr:
    def __init__(self, target, name, value):
        self.target, self.name, self.value = target, name, value

    def __enter__(self):
        self.had = hasattr(self.target, self.name)
        self.old = getattr(self.target, self.name, None)
        setattr(self.target, self.name, self.value)
        return self.old

    def __exit__(self, *exception):
        if self.had:
            setattr(self.target, self.name, self.old)
        else:
            delattr(self.target, self.name)


class swap_item:
    def __init__(self, target, key, value):
        self.target, self.key, self.value = target, key, value

    def __enter__(self):
        self.had = self.key in self.target
        self.old = self.target.get(self.key)
        self.target[self.key] = self.value
        return self.old

    def __exit__(self, *exception):
        if self.had:
            self.target[self.key] = self.old
        else:
            del self.target[self.key]
