"""mypy --strict and pyright accept the examples, the project that `cowboy init` makes, and every program that a page prints.

Both are installed by requirements.txt. A stub that says otherwise than the module it describes is an error as well.
"""

import ast
import importlib
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]
SDK = ROOT / "sdk/python"
PAGES = [ROOT / "README.md", SDK / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEMPLATES = ROOT / "edge/devtools/src/project"


def programs():
    """Every program that stands whole on a page: it begins with its imports and has an actor."""
    for page in PAGES:
        for number, text in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)):
            if text.startswith(("from ", "import ")) and "\n@actor\n" in text:
                yield f"{page.stem.lower()}_{number}".replace("-", "_"), text


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A folder with everything that is checked, each file a module of its own."""
    folder = tmp_path_factory.mktemp("types")
    for path in sorted((ROOT / "examples").glob("*/*.py")):
        (folder / f"example_{path.parent.name}_{path.stem}.py").write_text(path.read_text())
    for path in TEMPLATES.glob("*.py"):
        (folder / f"project_{path.stem}.py").write_text(path.read_text())
    for name, text in programs():
        (folder / f"page_{name}.py").write_text(text)
    return folder


def run(*command, folder, package):
    environment = {**os.environ, "MYPYPATH": str(package), "PATH": f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=folder, env=environment)


def test_the_pages_have_programs():
    assert len(list(programs())) >= 6


def test_mypy(sources, installed):
    done = run("mypy", "--strict", "--python-version", "3.11", *sorted(path.name for path in sources.glob("*.py")), folder=sources, package=installed)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pyright(sources, installed):
    options = {"include": ["."], "extraPaths": [str(installed)], "pythonVersion": "3.11"}
    (sources / "pyrightconfig.json").write_text(json.dumps(options))
    done = run("pyright", "--pythonpath", sys.executable, folder=sources, package=installed)
    assert done.returncode == 0, done.stdout + done.stderr


def stubbed(tree):
    """(path of names, node) of every function of a stub."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from (((node.name, inner.name), inner) for inner in node.body if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)))
        elif isinstance(node, ast.FunctionDef):
            yield (node.name,), node


def names_of(arguments):
    return [argument.arg for argument in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]


@pytest.mark.parametrize("stub", sorted((SDK / "cowboy_sdk").glob("*.pyi")), ids=lambda path: path.stem)
def test_the_stubs_say_what_the_modules_are(stub):
    """Each function of a stub is there, with parameters of the same names. Overloads say less."""
    name = "cowboy_sdk" if stub.stem == "__init__" else f"cowboy_sdk.{stub.stem}"
    module = importlib.import_module(name)
    for path, node in stubbed(ast.parse(stub.read_text())):
        found = module
        # Types of what is no class here, and what the compiler of continuations does itself.
        if path[0].startswith("_") or path[-1] in ("__aenter__", "__aexit__"):
            continue
        for part in path:
            found = getattr(found, part)
        decorators = {decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)}
        if isinstance(found, property) or "overload" in decorators or not callable(found) or isinstance(found, type):
            continue
        code = getattr(inspect.unwrap(getattr(found, "__func__", found)), "__code__", None)
        if code is not None:
            real = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
            assert names_of(node.args) == real, f"{name}.{'.'.join(path)}"
