"""Writes docs/reference.md: every public name of `cowboy_sdk` with its signature, from the stubs, and its docstring, from the modules.

    python3 sdk/python/reference.py           # writes the page
    python3 sdk/python/reference.py --check   # fails where the page is another
"""

import ast
import pathlib
import sys

SDK = pathlib.Path(__file__).parent / "cowboy_sdk"
ON_CHAIN = pathlib.Path(__file__).parents[2] / "core/sdk/cowboy_sdk"
PAGE = pathlib.Path(__file__).parents[2] / "docs/reference.md"

# A program for each module: an actor, and behind this line a test of it.
EXAMPLES = pathlib.Path(__file__).parent / "reference"
TEST = "\n# Test\n"

# The modules in the order of the page; what `from cowboy_sdk import` gives stands in them.
MODULES = (
    "actor", "permissions", "handler_mode", "storage", "collections", "call", "actor_ref", "send", "spawn", "timer", "events",
    "runtime", "types", "errors", "runner", "results", "models", "verify", "taskgroup", "retry", "tee", "continuation", "http",
    "codec", "payload_codec", "guards", "bounded_loop", "patterns", "vrf", "pvm_random", "pvm_time", "pvm_sys", "signing", "eip712",
    "sorted_map", "system", "volumes", "testing",
)
HEAD = """# Reference of cowboy_sdk

Every public name with its types and what it does. `sdk/python/reference.py` writes this page from the stubs and the docstrings;
[actors.md](actors.md) and [sdk.md](sdk.md) show how they are used together. Each module ends with an example that uses every function and class of
it: an actor, and where it has several steps, its test. `sdk/python/tests/test_reference.py` runs them all.
"""


def is_public(name):
    return not name.startswith("_")


def documented(module):
    """{path of names: docstring} of a module's source, in it and in the private modules that it takes names from."""
    path = ON_CHAIN / f"{module}.py"
    tree = ast.parse((path if path.exists() else SDK / path.name).read_text())
    found = {(): ast.get_docstring(tree)}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and (node.module or "").startswith("_"):
            names = {alias.asname or alias.name for alias in node.names}
            found.update({path: text for path, text in documented(node.module).items() if path and path[0] in names})
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name,] = ast.get_docstring(node)
            for inner in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(inner, ast.FunctionDef):
                    found[node.name, inner.name] = ast.get_docstring(inner)
            for base in node.bases if isinstance(node, ast.ClassDef) else ():
                inherited = {path: text for path, text in found.items() if path[:1] == (ast.unparse(base),) and len(path) == 2}
                found.update({(node.name, name): text for (_, name), text in inherited.items() if (node.name, name) not in found})
    return found


def signature(node):
    """A function as the stub has it, in one line; a property by its name and type."""
    marks = [ast.unparse(mark) for mark in node.decorator_list]
    result = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    if "property" in marks:
        return f"{node.name}: {ast.unparse(node.returns)}"
    arguments = ast.unparse(node.args).removeprefix("self, ").removeprefix("cls, ")
    return f"{node.name}({'' if arguments in ('self', 'cls') else arguments}){result}"


def methods(class_node, docs):
    """A line for each public method of a class, with the first paragraph of its docstring."""
    for node in class_node.body:
        is_setter = any(ast.unparse(mark).endswith(".setter") for mark in getattr(node, "decorator_list", ()))
        if isinstance(node, ast.FunctionDef) and (is_public(node.name) or node.name == "__init__") and not is_setter:
            text = summary(docs.get((class_node.name, node.name)))
            yield f"- `{signature(node)}`" + (f": {text}" if text else "")


def section(module):
    docs = documented(module)
    parts, last = [f"## cowboy_sdk.{module}", summary(docs[()])], ""
    for node in ast.parse((SDK / f"{module}.pyi").read_text()).body:
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef)) or not is_public(node.name):
            continue
        if isinstance(node, ast.FunctionDef):
            # An overload has the docstring of the function.
            parts += [f"### `{signature(node)}`", docs.get((node.name,)) if node.name != last else None]
            last = node.name
        else:
            bases = [ast.unparse(base) for base in node.bases if not ast.unparse(base).startswith("Generic")]
            parts += [f"### `class {node.name}({', '.join(bases)})`" if bases else f"### `class {node.name}`", docs.get((node.name,))]
            parts.append("\n".join(methods(node, docs)))
    parts += example(module)
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def example(module):
    """A module's example: an actor that uses every function and class of it, and the test that runs it."""
    path = EXAMPLES / f"{module}.py"
    if not path.exists():
        return []
    actor, _, test = path.read_text().partition(TEST)
    blocks = [actor.strip("\n"), *([test.strip("\n")] if test else [])]
    return ["### Example", *[f"```python\n{block}\n```" for block in blocks]]


def summary(docstring):
    """The first paragraph, in one line."""
    return " ".join((docstring or "").split("\n\n")[0].split())


def page():
    return "\n".join([HEAD, *map(section, MODULES)])


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit(f"{PAGE.name} is not what the SDK says: run python3 sdk/python/reference.py")
