"""The frozen standard modules against CPython's own: every script under core/vm/tests/frozen prints the same with both."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]
FROZEN = ROOT / "core/vm/src/frozen"
SCRIPTS = sorted((ROOT / "core/vm/tests/frozen").glob("*.py"))

# Runs a script after putting the frozen modules in the place of the real ones.
RUNNER = """
import importlib.util, pathlib, runpy, sys
frozen = pathlib.Path(sys.argv[1])
order = ["abc", "collections_abc", "collections_named", "collections_user", "collections", "functools", "itertools", "json", "struct", "enum", "typing", "dataclasses"]
loaded = {}
for name in order:
    if not (frozen / f"{name}.py").exists():
        continue
    spec = importlib.util.spec_from_file_location(name, frozen / f"{name}.py")
    loaded[name] = importlib.util.module_from_spec(spec)
    real = sys.modules.get(name)
    sys.modules[name] = loaded[name]
    if name == "collections_abc":
        sys.modules["collections.abc"] = loaded[name]
        sys.modules["collections"].abc = loaded[name]
    spec.loader.exec_module(loaded[name])
loaded["collections"].abc = loaded["collections_abc"]
source = pathlib.Path(sys.argv[2]).read_text()
exec(compile(source, sys.argv[2], "exec"), {"__name__": "__main__"})
"""


def run(arguments):
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_same_output(script):
    expected = run([str(script)])
    actual = run(["-c", RUNNER, str(FROZEN), str(script)])
    for number, (line, wanted) in enumerate(zip(actual.splitlines(), expected.splitlines()), 1):
        assert line == wanted, f"line {number}"
    assert actual == expected
