"""As much of unittest as CPython's own tests of the language need: assertions, and one method run at a time."""

try:
    import re
except ImportError:
    re = None


class SkipTest(Exception):
    pass


def skip(reason):
    def decorate(test):
        test.__unittest_skip__ = True
        test.__unittest_skip_why__ = reason
        return test

    if callable(reason) and not isinstance(reason, str):
        test, reason = reason, ""
        return decorate(test)
    return decorate


def _keep(test):
    return test


def skipIf(condition, reason):
    return skip(reason) if condition else _keep


def skipUnless(condition, reason):
    return _keep if condition else skip(reason)


def expectedFailure(test):
    test.__unittest_expecting_failure__ = True
    return test


def main(*args, **kwargs):
    return None


def _search(pattern, text):
    if not isinstance(pattern, str):
        return pattern.search(text) is not None
    if re is not None:
        return re.search(pattern, text) is not None
    plain = ""
    index = 0
    while index < len(pattern):
        if pattern[index] in ".*+?[]{}()|^$":
            return True
        if pattern[index] == "\\":
            index += 1
            if index < len(pattern) and pattern[index].isalnum():
                return True
        plain += pattern[index : index + 1]
        index += 1
    return plain in text


class _Raises:
    def __init__(self, case, expected, pattern=None):
        self.case, self.expected, self.pattern = case, expected, pattern
        self.exception = None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        if kind is None:
            names = self.expected if isinstance(self.expected, tuple) else (self.expected,)
            raise self.case.failureException(f"{' or '.join([each.__name__ for each in names])} not raised")
        if not issubclass(kind, self.expected):
            return False
        self.exception = value.with_traceback(None)
        if self.pattern is not None and not _search(self.pattern, str(value)):
            raise self.case.failureException(f"{self.pattern!r} does not match {str(value)!r}")
        return True


class _Warns:
    def __init__(self, *args):
        pass

    def __enter__(self):
        raise SkipTest("warnings: a program on chain has nobody to warn")

    def __exit__(self, *args):
        return False


class _SubTest:
    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False


class TestCase:
    failureException = AssertionError
    longMessage = True
    maxDiff = None

    def __init__(self, methodName="runTest"):
        self._testMethodName = methodName
        self._cleanups = []
        self._equality = {}

    def setUp(self):
        pass

    def tearDown(self):
        pass

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def addCleanup(self, function, /, *args, **kwargs):
        self._cleanups.append((function, args, kwargs))

    def addTypeEqualityFunc(self, kind, function):
        self._equality[kind] = function

    def doCleanups(self):
        while self._cleanups:
            function, args, kwargs = self._cleanups.pop()
            function(*args, **kwargs)

    def enterContext(self, manager):
        value = type(manager).__enter__(manager)
        self.addCleanup(type(manager).__exit__, manager, None, None, None)
        return value

    def subTest(self, msg=None, **params):
        return _SubTest()

    def skipTest(self, reason):
        raise SkipTest(reason)

    def fail(self, msg=None):
        raise self.failureException(msg)

    def id(self):
        return f"{type(self).__qualname__}.{self._testMethodName}"

    def _formatMessage(self, msg, standard):
        return standard if msg is None else f"{standard} : {msg}"

    def _fail(self, msg, standard):
        raise self.failureException(self._formatMessage(msg, standard))

    def assertTrue(self, value, msg=None):
        if not value:
            self._fail(msg, f"{value!r} is not true")

    def assertFalse(self, value, msg=None):
        if value:
            self._fail(msg, f"{value!r} is not false")

    def assertEqual(self, first, second, msg=None):
        if type(first) is type(second) and type(first) in self._equality:
            function = self._equality[type(first)]
            return (getattr(self, function) if isinstance(function, str) else function)(first, second, msg=msg)
        if not first == second:
            self._fail(msg, f"{first!r} != {second!r}")

    def assertNotEqual(self, first, second, msg=None):
        if not first != second:
            self._fail(msg, f"{first!r} == {second!r}")

    def assertSequenceEqual(self, first, second, msg=None, seq_type=None):
        if seq_type is not None:
            self.assertIsInstance(first, seq_type)
            self.assertIsInstance(second, seq_type)
        if first == second:
            return
        if len(first) != len(second):
            self._fail(msg, f"{first!r} != {second!r}")
        for one, other in zip(first, second):
            if one != other:
                self._fail(msg, f"{one!r} != {other!r}")

    def assertListEqual(self, first, second, msg=None):
        self.assertSequenceEqual(first, second, msg, list)

    def assertTupleEqual(self, first, second, msg=None):
        self.assertSequenceEqual(first, second, msg, tuple)

    def assertMultiLineEqual(self, first, second, msg=None):
        self.assertEqual(first, second, msg)

    def assertDictEqual(self, first, second, msg=None):
        self.assertIsInstance(first, dict)
        self.assertIsInstance(second, dict)
        if first != second:
            self._fail(msg, f"{first!r} != {second!r}")

    def assertSetEqual(self, first, second, msg=None):
        if first - second or second - first:
            self._fail(msg, f"{first!r} != {second!r}")

    def assertCountEqual(self, first, second, msg=None):
        first, second = list(first), list(second)
        rest = list(second)
        for each in first:
            for index, other in enumerate(rest):
                if each == other:
                    del rest[index]
                    break
            else:
                self._fail(msg, f"{first!r} and {second!r} do not have the same items")
        if rest:
            self._fail(msg, f"{first!r} and {second!r} do not have the same items")

    def assertIs(self, first, second, msg=None):
        if first is not second:
            self._fail(msg, f"{first!r} is not {second!r}")

    def assertIsNot(self, first, second, msg=None):
        if first is second:
            self._fail(msg, f"unexpectedly identical: {first!r}")

    def assertIsNone(self, value, msg=None):
        if value is not None:
            self._fail(msg, f"{value!r} is not None")

    def assertIsNotNone(self, value, msg=None):
        if value is None:
            self._fail(msg, "unexpectedly None")

    def assertIn(self, member, container, msg=None):
        if member not in container:
            self._fail(msg, f"{member!r} not found in {container!r}")

    def assertNotIn(self, member, container, msg=None):
        if member in container:
            self._fail(msg, f"{member!r} unexpectedly found in {container!r}")

    def assertIsInstance(self, value, cls, msg=None):
        if not isinstance(value, cls):
            self._fail(msg, f"{value!r} is not an instance of {cls!r}")

    def assertNotIsInstance(self, value, cls, msg=None):
        if isinstance(value, cls):
            self._fail(msg, f"{value!r} is an instance of {cls!r}")

    def assertLess(self, first, second, msg=None):
        if not first < second:
            self._fail(msg, f"{first!r} not less than {second!r}")

    def assertLessEqual(self, first, second, msg=None):
        if not first <= second:
            self._fail(msg, f"{first!r} not less than or equal to {second!r}")

    def assertGreater(self, first, second, msg=None):
        if not first > second:
            self._fail(msg, f"{first!r} not greater than {second!r}")

    def assertGreaterEqual(self, first, second, msg=None):
        if not first >= second:
            self._fail(msg, f"{first!r} not greater than or equal to {second!r}")

    def assertAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        if first == second:
            return
        difference = abs(first - second)
        if delta is not None:
            if difference <= delta:
                return
        elif round(difference, 7 if places is None else places) == 0:
            return
        self._fail(msg, f"{first!r} != {second!r}")

    def assertNotAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        difference = abs(first - second)
        if delta is not None:
            if not first == second and difference > delta:
                return
        elif not first == second and round(difference, 7 if places is None else places) != 0:
            return
        self._fail(msg, f"{first!r} == {second!r}")

    def assertRaises(self, expected, *args, **kwargs):
        context = _Raises(self, expected)
        if not args:
            return context
        function, *rest = args
        with context:
            function(*rest, **kwargs)

    def assertRaisesRegex(self, expected, pattern, *args, **kwargs):
        context = _Raises(self, expected, pattern)
        if not args:
            return context
        function, *rest = args
        with context:
            function(*rest, **kwargs)

    def assertRegex(self, text, pattern, msg=None):
        if not _search(pattern, text):
            self._fail(msg, f"{pattern!r} does not match {text!r}")

    def assertNotRegex(self, text, pattern, msg=None):
        if _search(pattern, text):
            self._fail(msg, f"{pattern!r} matches {text!r}")

    def assertWarns(self, *args, **kwargs):
        return _Warns()

    def assertWarnsRegex(self, *args, **kwargs):
        return _Warns()


def run_one(cls, name):
    """Runs one test method with its fixtures; what it raises is the outcome."""
    method = getattr(cls, name)
    for owner in (cls, method):
        if getattr(owner, "__unittest_skip__", False):
            raise SkipTest(owner.__unittest_skip_why__)
    cls.setUpClass()
    case = cls(name)
    case.setUp()
    try:
        getattr(case, name)()
    except SkipTest:
        raise
    except Exception:
        if not getattr(method, "__unittest_expecting_failure__", False):
            raise
    finally:
        case.tearDown()
        case.doCleanups()
