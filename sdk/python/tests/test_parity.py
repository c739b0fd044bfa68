"""Actors written for the published SDK 0.1.6 behave alike on ours: results, state bytes, events, timers, messages, errors.

The published package is the oracle. Where it is not installed (see requirements.txt) the test is skipped.
"""

import importlib.metadata
import json
import os
import pathlib
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


def report(sdk):
    environment = {**os.environ, "PYTHONPATH": f"{sdk}{os.pathsep}{HERE / 'parity'}"}
    done = subprocess.run([sys.executable, HERE / "parity/driver.py"], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_same_observations():
    for ours, theirs in zip(report(OURS), report(published()), strict=True):
        assert ours == theirs
