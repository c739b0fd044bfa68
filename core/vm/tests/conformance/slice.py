"""Cuts CPython's own test files into programs of one test method each, for a machine that has neither their files nor their modules.

usage: python3.11 slice.py OUT [FILE ...]

A program holds the method, what it names, what that names, and so on: statements of the test's module and of the test
modules it imports from. Writes one line of JSON a method: {file, method, main, modules: [[path, source]], reason}. A reason says why the
method cannot run on chain: the slice names a module or a part of one that an actor does not have.
The files are read where python3.11 has them and never kept.
"""

import ast
import builtins
import json
import os
import sys

ALLOWED = {
    "abc", "collections", "collections.abc", "dataclasses", "decimal", "enum", "functools", "hashlib", "itertools", "json", "math",
    "re", "struct", "typing", "__future__", "json.decoder", "json.encoder",
}
# Test modules whose parts are sliced along with what imports them.
POOL = {
    "test.list_tests", "test.seq_tests", "test.string_tests", "test.mapping_tests", "test.test_grammar", "test.re_tests", "test.test_set",
    "test.test_json",
}
# Modules in Python whose own text a program may import, as they stand in CPython's library.
LIBRARY = ["operator", "numbers", "bisect", "heapq", "keyword"]
# What only CPython's own implementation has.
INNER = {
    "__alloc__": "an implementation detail of CPython", "__itemsize__": "an implementation detail of CPython",
    "__sizeof__": "an implementation detail of CPython", "__flags__": "an implementation detail of CPython",
    "__getformat__": "an implementation detail of CPython", "__weakref__": "weak references",
    "_idfunc": "a private part of typing", "_abc_registry_clear": "a private part of abc",
    "_ASSERT_NEVER_REPR_MAX_LENGTH": "a private part of typing", "_compiler": "a private part of re", "RLock": "locks",
    "_rescale": "a private part of _pydecimal", "_round": "a private part of _pydecimal", "tb_lineno": "attribute 'tb_next' is forbidden",
}
# Tests whose module first sets a decimal context of nine digits without traps; the chain's is fixed (003 "Numeric Determinism").
OTHER_CONTEXT = {
    "test_explicit_from_string", "test_implicit_from_int", "test_tonum_methods", "test_localcontext", "test_float_operation",
    "test_float_comparison", "test_context_templates", "test_default_context", "test_c_funcs", "test_va_args_exceptions",
    "test_c_signaldict_segfault", "test_c_round",
}
HERE = os.path.dirname(os.path.abspath(__file__))


def lib(path):
    import test

    return os.path.join(list(test.__path__)[0], *path.split(".")[1:])


def stand_ins():
    """The text of every module that stands in for one of CPython's."""
    found = {}
    folder = os.path.join(HERE, "stand_ins")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found[name[:-3]] = file.read()
    for name in LIBRARY:
        with open(os.path.join(os.path.dirname(os.__file__), f"{name}.py"), encoding="utf-8") as file:
            found[name] = file.read()
    return found


def bound_names(body):
    names = set()
    for statement in body:
        names |= set(Statement.of(statement).binds)
    return names


class Names(ast.NodeVisitor):
    """Names that a piece of code reads from outside itself, its attributes, and its imports."""

    def __init__(self):
        self.names, self.attributes, self.imports, self.dotted = set(), set(), [], set()
        self.locals = []

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and not any(node.id in scope for scope in self.locals):
            self.names.add(node.id)

    def visit_Attribute(self, node):
        self.attributes.add(node.attr)
        if isinstance(node.value, ast.Name) and not any(node.value.id in scope for scope in self.locals):
            self.dotted.add((node.value.id, node.attr))
        if isinstance(node.value, ast.Attribute) and isinstance(node.value.value, ast.Name):
            self.dotted.add((f"{node.value.value.id}.{node.value.attr}", node.attr))
        self.generic_visit(node)

    def visit_Import(self, node):
        self.imports.append(node)

    visit_ImportFrom = visit_Import

    def function(self, node):
        for each in getattr(node, "decorator_list", []):
            self.visit(each)
        arguments = node.args
        for each in [*arguments.defaults, *arguments.kw_defaults]:
            if each is not None:
                self.visit(each)
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        scope = {each.arg for each in every if each is not None}
        for each in every:
            if each is not None and each.annotation is not None:
                self.visit(each.annotation)
        if getattr(node, "returns", None) is not None:
            self.visit(node.returns)
        body = node.body if isinstance(node.body, list) else [node.body]
        scope |= stored(body)
        self.locals.append(scope)
        for each in body:
            self.visit(each)
        self.locals.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = function


def stored(body):
    """Names that the body of a function binds itself."""
    names, outer = set(), set()

    def walk(node):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            return
        if isinstance(node, ast.Lambda):
            return
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        if isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            names.add(node.name)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            outer.update(node.names)
        for each in ast.iter_child_nodes(node):
            walk(each)

    for each in body:
        walk(each)
    return names - outer


class Statement:
    """A statement at the top of a module: what it binds and what it reads."""

    def __init__(self, node):
        self.node = node
        self.binds = stored([node])

    of = classmethod(lambda cls, node: cls(node))


class Module:
    def __init__(self, path):
        self.path = path
        file = lib(path) + ".py" if path.startswith("test.") else path
        if not os.path.exists(file):
            file = os.path.join(lib(path), "__init__.py")
        with open(file, encoding="utf-8") as handle:
            self.lines = handle.read().splitlines()
        self.statements = [Statement(node) for node in ast.parse("\n".join(self.lines)).body]
        self.binders = {}
        for statement in self.statements:
            for name in statement.binds:
                self.binders.setdefault(name, []).append(statement)

    def classes(self):
        """Classes at the top, also below `if` and `try`."""

        def walk(body):
            for node in body:
                if isinstance(node, ast.ClassDef):
                    yield node
                elif isinstance(node, (ast.If, ast.Try)):
                    yield from walk(node.body)
                    yield from walk(node.orelse)

        return {node.name: node for node in walk([statement.node for statement in self.statements])}


def guarded(statement, node):
    """Whether an import stands in a `try` that continues without it."""
    if not isinstance(statement, ast.Try) or node not in list(ast.walk(ast.Module(statement.body, []))):
        return False
    return any(handler.type is not None and "ImportError" in ast.unparse(handler.type) for handler in statement.handlers)


MODULES = {}


def module(path):
    if path not in MODULES:
        MODULES[path] = Module(path)
    return MODULES[path]


ALWAYS = {"setUp", "tearDown", "setUpClass", "tearDownClass", "addTypeEqualityFunc"}


class Slice:
    def __init__(self, main, owner, method, known):
        self.known = known
        self.main = main
        self.tests = {method}
        self.needed = {}  # module path → ids of statements
        self.names = set()
        self.attributes = {method} | ALWAYS
        self.reason = None
        self.imported = {}  # module path → aliases that stay
        self.want(main, owner)
        self.settle()
        self.judge()

    def refuse(self, reason):
        self.reason = self.reason or reason

    def want(self, path, name):
        """Takes a module's name into the slice."""
        source = module(path)
        for statement in source.binders.get(name, ()):
            self.take(path, statement)
        if name not in source.binders:
            for statement in source.statements:
                node = statement.node
                if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                    self.take(path, statement)

    def take(self, path, statement):
        chosen = self.needed.setdefault(path, {})
        if id(statement) not in chosen:
            chosen[id(statement)] = statement
            self.changed = True

    def judge(self):
        """Refuses what asks for CPython's insides."""
        for name in sorted(self.attributes):
            if name in INNER:
                self.refuse(INNER[name])
        if self.main == "test.test_decimal" and self.tests & OTHER_CONTEXT:
            self.refuse("changes the decimal context")

    def settle(self):
        self.changed = True
        while self.changed and self.reason is None:
            self.changed = False
            for path in list(self.needed):
                source = module(path)
                for statement in list(self.needed[path].values()):
                    self.read(path, statement.node)
                names = {name for statement in self.needed[path].values() for name in statement.binds}
                for statement in source.statements:
                    if not statement.binds and id(statement) not in self.needed[path] and self.effect(source, statement.node, names):
                        self.take(path, statement)

    def effect(self, source, node, names):
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.If, ast.Try)) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return False
        reader = Names()
        reader.visit(node)
        own = {name for name in reader.names if name in source.binders}
        return bool(own) and own <= names

    def read(self, path, node):
        """Takes what a statement names into the slice."""
        key = (id(node), len(self.attributes), len(self.names))
        if getattr(node, "seen", None) == (id(self), key):
            return
        node.seen = (id(self), key)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return
        reader = Names()
        for part in self.parts(node):
            reader.visit(part)
        before = len(self.attributes) + len(self.names)
        self.attributes |= reader.attributes
        self.names |= reader.names
        self.changed |= len(self.attributes) + len(self.names) != before
        for name in reader.names:
            self.name(path, name, reader)
        for each in reader.imports:
            for alias in each.names:
                if not guarded(node, each):
                    self.imports(path, each, alias, None, reader)

    def name(self, path, name, reader):
        for statement in module(path).binders.get(name, ()):
            node = statement.node
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    if (alias.asname or alias.name).split(".")[0] == name:
                        self.imports(path, node, alias, name, reader)
            self.take(path, statement)
        if name not in module(path).binders:
            self.want(path, name)
            self.star(path, name)

    def star(self, path, name):
        """A name that only `import *` of a stand-in could bring, and does not."""
        if hasattr(builtins, name) or name.startswith("__"):
            return
        for statement in module(path).statements:
            node = statement.node
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*" and node.module in self.known:
                if name not in self.known[node.module] and name in dir(__import__(node.module)):
                    self.refuse(f"{node.module}.{name}")

    def imports(self, path, node, alias, name, reader):
        """Decides about one name that an import brings."""
        local = alias.asname or alias.name
        if isinstance(node, ast.ImportFrom):
            source = node.module or ""
            if node.level:
                base = path.split(".") if module(path).lines and os.path.isdir(lib(path)) else path.split(".")[:-1]
                base = base[: len(base) - (node.level - 1)] if node.level > 1 else base
                source = ".".join(base + ([source] if source else []))
            whole = f"{source}.{alias.name}"
            if whole in self.known or whole in POOL:
                self.module_use(path, whole, local, reader)
                return
            if source in POOL:
                self.want(source, alias.name)
                return
            self.part(source, alias.name)
            return
        top = alias.name.split(".")[0]
        if alias.name in POOL or alias.name.startswith("test.") and alias.name not in self.known:
            if alias.name not in POOL:
                self.refuse(f"module {alias.name}")
                return
            self.module_use(path, alias.name, alias.asname or alias.name, reader)
            return
        if alias.name in ALLOWED:
            return
        if alias.name in self.known:
            self.module_use(path, alias.name, alias.asname or alias.name, reader)
            return
        if top in self.known or top in ALLOWED:
            # `import a.b` brings `a`, too, and often nobody asks for `a.b`.
            if (top, alias.name.split(".")[1]) not in reader.dotted:
                return
        self.refuse(f"module {top}")

    def module_use(self, path, source, local, reader):
        for owner, attribute in reader.dotted:
            if owner == local:
                if source in POOL:
                    self.want(source, attribute)
                elif f"{source}.{attribute}" in self.known:
                    pass
                else:
                    self.part(source, attribute)

    def part(self, source, name):
        if source in ALLOWED or source in POOL or name == "*":
            return
        if source in self.known:
            if name not in self.known[source] and f"{source}.{name}" not in self.known:
                self.refuse(f"{source}.{name}")
            return
        self.refuse(f"module {source.split('.')[0] if not source.startswith('test') else source}")

    def parts(self, node):
        """What of a statement is in the slice: of a class only the members that somebody asks for."""
        if isinstance(node, ast.ClassDef):
            yield from node.decorator_list
            yield from node.bases
            yield from (keyword.value for keyword in node.keywords)
            for member in node.body:
                if self.keeps(node, member):
                    yield from self.parts(member) if isinstance(member, ast.ClassDef) else [member]
        elif isinstance(node, (ast.If, ast.Try)) and any(isinstance(each, ast.ClassDef) for each in ast.walk(node)):
            if isinstance(node, ast.If):
                yield node.test
            for each in ast.iter_child_nodes(node):
                if isinstance(each, ast.ExceptHandler):
                    for inner in each.body:
                        yield from self.parts(inner)
                elif isinstance(each, ast.stmt):
                    yield from self.parts(each)
        else:
            yield node

    def keeps(self, owner, member):
        if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if member.name.startswith("test"):
                return member.name in self.tests or member.name in self.attributes
            return not has_tests(owner) or member.name in self.attributes or member.name in self.names or member.name.startswith("__")
        if has_tests(owner) and isinstance(member, (ast.Assign, ast.Import, ast.ImportFrom, ast.ClassDef)):
            return any(name in self.attributes or name in self.names or name.startswith("__") for name in stored([member]))
        return True

    # writing

    def source(self, path):
        """The slice of one module as text."""
        origin = module(path)
        out = []
        chosen = self.needed.get(path, {})
        for statement in origin.statements:
            if id(statement) in chosen:
                out.extend(self.write(origin, path, statement.node))
        return "\n".join(out) + "\n"

    def write(self, origin, path, node):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return self.write_import(path, node, " " * node.col_offset)
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        drop, put = set(), {}

        def walk(part, owner):
            for member in getattr(part, "body", []) if isinstance(part, (ast.ClassDef, ast.If, ast.Try)) else []:
                visit(member, part)
            for member in getattr(part, "orelse", []) if isinstance(part, (ast.If, ast.Try)) else []:
                visit(member, part)
            for handler in getattr(part, "handlers", []):
                for member in handler.body:
                    visit(member, handler)

        def visit(member, owner):
            if isinstance(owner, ast.ClassDef) and not self.keeps(owner, member):
                begin = min([member.lineno, *(each.lineno for each in getattr(member, "decorator_list", []))])
                drop.update(range(begin, member.end_lineno + 1))
                if all(not self.keeps(owner, each) for each in owner.body):
                    put[begin] = " " * member.col_offset + "pass"
            elif isinstance(member, (ast.Import, ast.ImportFrom)) and isinstance(owner, ast.Try):
                lines = self.write_import(path, member, " " * member.col_offset)
                drop.update(range(member.lineno, member.end_lineno + 1))
                put[member.lineno] = "\n".join(lines) or " " * member.col_offset + "raise ImportError"
            else:
                walk(member, owner)

        walk(node, None)
        out = []
        for number in range(first, node.end_lineno + 1):
            if number in put:
                out.append(put[number])
            elif number not in drop:
                out.append(origin.lines[number - 1])
        return out

    def write_import(self, path, node, indent):
        """The import without the aliases that are not there."""
        kept = []
        source = getattr(node, "module", None)
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.split(".") if os.path.isdir(lib(path)) else path.split(".")[:-1]
            base = base[: len(base) - (node.level - 1)] if node.level > 1 else base
            source = ".".join(base + ([source] if source else []))
        for alias in node.names:
            text = alias.name + (f" as {alias.asname}" if alias.asname else "")
            if isinstance(node, ast.ImportFrom):
                whole = f"{source}.{alias.name}"
                there = (
                    source in ALLOWED
                    or (source in POOL and self.binds(source, alias.name))
                    or alias.name in self.known.get(source, ())
                    or (source in self.known and alias.name == "*")
                    or whole in self.known
                    or (whole in POOL and whole in self.needed)
                )
            else:
                there = alias.name in ALLOWED or alias.name in self.known or (alias.name in POOL and alias.name in self.needed)
            if there:
                kept.append(text)
        if not kept:
            return []
        if isinstance(node, ast.ImportFrom):
            return [f"{indent}from {source} import {', '.join(kept)}"]
        return [f"{indent}import {', '.join(kept)}"]

    def binds(self, path, name):
        return any(name in statement.binds for statement in self.needed.get(path, {}).values())

    def modules(self):
        """The sliced modules beside the main one, in an order in which they can be loaded."""
        order, done = [], set()

        def visit(path):
            if path in done:
                return
            done.add(path)
            for statement in self.needed[path].values():
                for node in ast.walk(statement.node):
                    if isinstance(node, ast.Import):
                        wanted = [alias.name for alias in node.names]
                    elif isinstance(node, ast.ImportFrom):
                        wanted = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
                    else:
                        continue
                    for other in wanted:
                        if other in self.needed and other != path:
                            visit(other)
            order.append(path)

        for path in self.needed:
            if path != self.main:
                visit(path)
        order = [path for path in order if path != self.main]
        return [[path, self.source(path)] for path in order]


def has_tests(owner):
    return any(isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and each.name.startswith("test") for each in owner.body)


def find_class(path, name):
    """The class of that name seen from a module: its own or imported from the pool."""
    source = module(path)
    if name in source.classes():
        return path, source.classes()[name]
    for statement in source.binders.get(name, ()):
        if isinstance(statement.node, ast.ImportFrom) and statement.node.module in POOL:
            return find_class(statement.node.module, name)
    return None


def base_of(path, base):
    """Where a base class is: (module, name)."""
    if isinstance(base, ast.Name):
        return path, base.id
    if isinstance(base, ast.Attribute):
        dotted = ast.unparse(base.value)
        for candidate in (dotted, f"test.{dotted}"):
            if candidate in POOL:
                return candidate, base.attr
    return None


def methods_of(path, node, seen=()):
    """Names of test methods of a class with its bases, and whether it is a TestCase."""
    names, case = [], False
    names = [each.name for each in node.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and each.name.startswith("test")]
    removed = {
        target.id
        for each in node.body
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant) and each.value.value is None
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    for base in node.bases:
        text = ast.unparse(base)
        if text.endswith("TestCase") and (text in ("unittest.TestCase", "TestCase")) and find_class(path, text) is None:
            case = True
            continue
        place = base_of(path, base)
        found = find_class(*place) if place else None
        if found and found not in seen:
            inner, inner_case = methods_of(*found, (*seen, found))
            names += [name for name in inner if name not in names and name not in removed]
            case |= inner_case
    return names, case


def repeats(path, node):
    """Whether a class only runs again what another TestCase of its file runs, for speed or in another process."""
    if has_tests(node) or any(isinstance(each, (ast.Assign, ast.ClassDef)) for each in node.body):
        return False
    place = base_of(path, node.bases[0]) if len(node.bases) == 1 else None
    found = find_class(*place) if place else None
    return found is not None and found[0] == path and methods_of(*found)[1]


def programs(file, known):
    path = f"test.{file}"
    source = module(path)
    for name, node in source.classes().items():
        methods, case = methods_of(path, node)
        if not case or repeats(path, node):
            continue
        for method in methods:
            cut = Slice(path, name, method, known)
            row = {"file": file, "method": f"{name}.{method}", "reason": cut.reason, "main": "", "modules": []}
            if cut.reason is None:
                row["main"] = cut.source(path) + f"\nimport unittest\nunittest.run_one({name}, {method!r})\n"
                row["modules"] = cut.modules()
            yield row


def main():
    out, files = sys.argv[1], sys.argv[2:]
    texts = stand_ins()
    known = {name: bound_names(ast.parse(text).body) for name, text in texts.items()}
    with open(out, "w", encoding="utf-8", errors="surrogatepass") as handle:
        texts["_operator"] = "__doc__ = None\n"
        handle.write(json.dumps([[name, text] for name, text in texts.items()]) + "\n")
        for file in files:
            for row in programs(file, known):
                handle.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
