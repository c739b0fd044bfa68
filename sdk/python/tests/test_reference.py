"""docs/reference.md is what the SDK says, and has every name that `from cowboy_sdk import` gives."""

import ast
import pathlib
import re
import subprocess
import sys

import pytest
from cowboy_sdk.testing import Chain

SDK = pathlib.Path(__file__).parents[1]
PAGE = SDK.parents[1] / "docs/reference.md"
EXAMPLES = sorted((SDK / "reference").glob("*.py"))
TEST = "\n# Test\n"


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


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(path, tmp_path):
    """As printed on the page: the actor is deployed, and its test run, or its handler `run`."""
    source, _, test = path.read_text().partition(TEST)
    (tmp_path / "actor.py").write_text(source)
    chain = Chain(folder=tmp_path)
    example = chain.deploy("actor.py", value=100_000)
    if not test:
        chain.execute(example, "run")
        return
    names = {}
    exec(compile(test, path.name, "exec"), names)
    names["test"](chain, example)


def test_every_public_name_is_in_an_example():
    missing = []
    for path in EXAMPLES:
        text = path.read_text()
        for node in ast.parse((SDK / f"cowboy_sdk/{path.stem}.pyi").read_text()).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
                if not re.search(rf"\b{node.name}\b", text):
                    missing.append(f"{path.stem}.{node.name}")
    assert missing == []
    modules = re.findall(r"^## cowboy_sdk\.(\w+)", PAGE.read_text(), re.MULTILINE)
    # pvm_sys has constants only.
    assert set(modules) - {path.stem for path in EXAMPLES} == {"pvm_sys"}
