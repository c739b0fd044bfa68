"""Puts the SDK and its pytest plugin on the path, so that the tests run from a clone without installation."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

pytest_plugins = ["cowboy_sdk.pytest_plugin"]
