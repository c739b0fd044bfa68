"""docs/reference.md is what the SDK says, and has every name that `from cowboy_sdk import` gives."""

import ast
import pathlib
import subprocess
import sys

SDK = pathlib.Path(__file__).parents[1]
PAGE = SDK.parents[1] / "docs/reference.md"


def test_the_page_is_up_to_date():
    done = subprocess.run([sys.executable, SDK / "reference.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_public_function_and_class_is_on_it():
    text = PAGE.read_text()
    for node in ast.parse((SDK / "cowboy_sdk/__init__.pyi").read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            stub = ast.parse((SDK / f"cowboy_sdk/{node.module}.pyi").read_text())
            for name in (alias.name for alias in node.names):
                is_function = any(getattr(found, "name", None) == name for found in stub.body)
                assert not is_function or f"`{name}(" in text or f"`class {name}" in text, name
