"""Puts the SDK and its pytest plugin on the path, so that the tests run from a clone without installation, and also with one."""

import importlib.metadata
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent

# Asked before the path changes: what pytest has loaded by itself when it started may not be loaded again.
if not any(found.value == "cowboy_sdk.pytest_plugin" for found in importlib.metadata.entry_points(group="pytest11")):
    pytest_plugins = ["cowboy_sdk.pytest_plugin"]

sys.path.insert(0, str(HERE))


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A folder with the package as an installation has it: both halves in one place, as editors and type checkers see them."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "setup.py", "--quiet", "build_py", "--build-lib", folder], cwd=HERE, check=True, capture_output=True)
    return folder
