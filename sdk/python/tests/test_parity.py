"""Actors written for the published SDK 0.1.6 behave alike on ours: results, state bytes, events, timers, messages, errors.

The published package is the oracle. Where it is not installed (see requirements.txt) the test is skipped.
"""

import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
OURS = HERE.parent


def published():
    try:
        found = importlib.metadata.distribution("cowboy-actor-sdk")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("cowboy-actor-sdk is not installed")
    assert found.version == "0.1.6"
    return found.locate_file("")


def report(sdk, driver="driver.py"):
    environment = {**os.environ, "PYTHONPATH": f"{sdk}{os.pathsep}{HERE / 'parity'}"}
    done = subprocess.run([sys.executable, HERE / "parity" / driver], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_same_observations():
    for ours, theirs in zip(report(OURS), report(published()), strict=True):
        assert ours == theirs


def test_the_differences_are_those_that_the_page_names():
    """docs/sdk.md says what is missing and what behaves otherwise."""
    ours, theirs = report(OURS, "differences.py"), report(published(), "differences.py")
    assert ours["rows"] == {
        "set_interval": "32",
        "emit_event": "ValueError",
        "reason": "'no such reason'",
        "BlockHeight": "ValueError",
        "response_schema": "['note']",
    }
    assert theirs["rows"]["BlockHeight"] == "TypeError" and theirs["rows"]["response_schema"] == "TypeError"
    text = (HERE.parents[2] / "docs/sdk.md").read_text()
    table = text.partition("## Differences from the published SDK")[2]
    assert all(row in table for row in ours["rows"])
    named = re.findall(r"`([\w.]+)`", table.partition("Not available:")[2].partition("\n\n")[0])
    assert {name.rpartition(".")[2] for name in named} == set(ours["missing"])
    assert theirs["missing"] == []
