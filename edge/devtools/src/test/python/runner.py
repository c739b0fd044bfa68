"""Runs one test of a file: the runner outside says which, and hears what there is."""

import pvm_host
import pytest
from cowboy_sdk.testing import ALICE, BOB, CAROL, Chain

_ACCOUNTS = {"alice": ALICE, "bob": BOB, "carol": CAROL}


def _tell(verb, *values):
    return pvm_host.call_actor(None, verb, list(values))["value"]


def run(tests, fixtures):
    """`tests`: (id, class or None, function, parameters). `fixtures`: name to (function, parameters)."""
    wanted = _tell("wanted")
    if wanted is None:
        _tell("found", [[name, [case for case, _ in _cases(owner, function)]] for name, owner, function, _ in tests])
        return
    name, case = wanted
    for known, owner, function, parameters in tests:
        if known == name:
            _run(owner, function, parameters, dict(_cases(owner, function))[case], fixtures)


def _cases(owner, function):
    """(id, arguments) of every row; one empty row where a test has none."""
    cases = [("", {})]
    groups = getattr(owner, "_rows", []) + getattr(function, "_rows", [])
    for names, rows, ids in groups:
        grown = []
        for known, arguments in cases:
            for index, row in enumerate(rows):
                label = None
                if isinstance(row, pytest.param):
                    label, row = row.id, row.values if len(names) > 1 else row.values[0]
                values = row if len(names) > 1 else (row,)
                if label is None:
                    label = ids[index] if isinstance(ids, (list, tuple)) else "-".join(_label(value, names, index) for value in values)
                grown.append((known + "-" + label if known else label, {**arguments, **dict(zip(names, values, strict=True))}))
        cases = grown
    seen = {}
    unique = []
    for label, arguments in cases:
        count = seen.get(label, 0)
        seen[label] = count + 1
        unique.append((label if count == 0 else f"{label}-{count}", arguments))
    return unique


def _label(value, names, index):
    if isinstance(value, (bool, int, float, str)) or value is None:
        return str(value)
    return f"{names[0]}{index}"


def _run(owner, function, parameters, arguments, fixtures):
    reason = getattr(function, "_skipped", None) or getattr(owner, "_skipped", None)
    if reason is not None:
        _tell("skipped", reason)
        return
    made = {}
    open_fixtures = []
    try:
        values = [arguments[name] if name in arguments else _fixture(name, fixtures, made, open_fixtures) for name in parameters]
        if owner is None:
            target = function
        else:
            instance = owner()
            target = getattr(instance, function.__name__)
            if hasattr(instance, "setup_method"):
                instance.setup_method()
        _tell("begin")
        try:
            target(*values)
        finally:
            _tell("end")
            if owner is not None and hasattr(instance, "teardown_method"):
                instance.teardown_method()
            for fixture in reversed(open_fixtures):
                next(fixture, None)
    except pytest.Skipped as problem:
        _tell("skipped", str(problem))


def _fixture(name, fixtures, made, open_fixtures):
    if name in made:
        return made[name]
    if name in fixtures:
        function, parameters = fixtures[name]
        value = function(*[_fixture(other, fixtures, made, open_fixtures) for other in parameters])
        if type(value).__name__ == "generator":
            open_fixtures.append(value)
            value = next(value)
    elif name == "chain":
        value = Chain()
    elif name == "jobs":
        value = _fixture("chain", fixtures, made, open_fixtures).jobs
    elif name in _ACCOUNTS:
        value = _ACCOUNTS[name]
    else:
        raise LookupError(f"there is no fixture {name!r}: define it with @pytest.fixture in this file")
    made[name] = value
    return value


# What asserts become.

_TESTS = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
    "is": lambda left, right: left is right,
    "is not": lambda left, right: left is not right,
}


def compare(operator, left, right, message=None):
    if not _TESTS[operator](left, right):
        lines = ["left:  " + _shown(left), "right: " + _shown(right)]
        if operator == "==":
            lines += _difference(left, right)
        _fail(lines, message)


def truthy(value, message=None):
    if not value:
        _fail(["value: " + _shown(value)], message)


def falsy(value, message=None):
    if value:
        _fail(["value: " + _shown(value) + ", and it should be false"], message)


def _fail(lines, message):
    if message is not None:
        lines.insert(0, str(message()))
    raise AssertionError("\n".join(lines))


def _shown(value):
    text = repr(value)
    return text if len(text) <= 400 else text[:400] + f"... ({len(text)} characters)"


def _difference(left, right):
    """Where two values begin to differ, one line for each place, at most five."""
    if isinstance(left, str) and isinstance(right, str):
        at = next((i for i, (a, b) in enumerate(zip(left, right)) if a != b), min(len(left), len(right)))
        return [f"differ from character {at} on: {left[at:at + 20]!r} and {right[at:at + 20]!r}"] if len(left) + len(right) > 40 else []
    if isinstance(left, dict) and isinstance(right, dict):
        lines = [f"only left:  {key!r}: {_shown(left[key])}" for key in left if key not in right]
        lines += [f"only right: {key!r}: {_shown(right[key])}" for key in right if key not in left]
        lines += [
            f"at {key!r}: {_shown(left[key])} and {_shown(right[key])}" for key in left if key in right and left[key] != right[key]
        ]
        return lines[:5]
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        lines = [f"at index {i}: {_shown(a)} and {_shown(b)}" for i, (a, b) in enumerate(zip(left, right)) if a != b]
        if len(left) != len(right):
            lines.append(f"lengths: {len(left)} and {len(right)}")
        return lines[:5]
    return []
