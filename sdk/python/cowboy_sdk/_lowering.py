"""Turns an `async def` into a function that can be left at an await and entered again in a later block.

The VM does this when an actor is deployed (core/compiler/src/lowering); this module does the same for actors that run in
plain Python, so that tests see what the chain will do: the same refusals, the same numbers of awaits, the same names kept.

The function stays one function with its own control flow. It gets a frame as its first parameter; `$at` is the number of
the await to go back to, or -1. On the way there, statements before that await are skipped, and the blocks that hold it are
entered without asking their conditions again. Names that begin with a dollar sign cannot clash with the author's.
"""

import ast
import inspect

from .errors import ContinuationLimitError

MAX_AWAITS = 8
AT, FRAME = "$at", "$k"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def lower(function, frame):
    """The `start` function of a native coroutine function: what `@frame(...)` of `continuation` makes of its lowered form."""
    start = lower_code(function.__code__, function.__qualname__, function.__globals__, frame, function)
    start.__dict__.update(function.__dict__)
    return start


def lower_code(code, qualname, names, frame, function=None):
    """Lowers the source behind a code object; `names` are its module's globals, and `frame` makes the decorator of the result."""
    definition = _definition_of(code, qualname)
    holder = qualname.rpartition(".")[0]
    is_method = bool(holder) and not holder.endswith("<locals>") and not _is_static(definition)
    shown = shape(definition, is_method)
    lowered = Lowering(definition, is_method).run()
    if function is not None:
        # Defaults were evaluated when the author's function was made.
        lowered.args.defaults = []
        lowered.args.kw_defaults = [None] * len(lowered.args.kwonlyargs)
    lowered.decorator_list = []
    lowered.returns = None
    for argument in lowered.args.posonlyargs + lowered.args.args + lowered.args.kwonlyargs:
        argument.annotation = None
    # Inside a class of the same name, so that names with two leading underscores mean the same.
    outer = ast.ClassDef(holder.rpartition(".")[2] or "Module", [], [], [lowered], [])
    space = dict(names)
    exec(compile(ast.fix_missing_locations(ast.Module([outer], [])), code.co_filename, "exec"), space)
    compiled = vars(space[outer.name])[lowered.name]
    made = type(compiled)(compiled.__code__, names, lowered.name)
    if function is not None:
        made.__defaults__ = function.__defaults__
        made.__kwdefaults__ = function.__kwdefaults__
        made.__annotations__ = function.__annotations__
        made.__doc__ = function.__doc__
    made.__qualname__ = qualname
    made.__module__ = names.get("__name__")
    return frame(qualname, *shown)(made)


def _definition_of(code, qualname):
    try:
        lines, _ = inspect.findsource(code)
    except OSError as problem:
        raise ContinuationLimitError(f"{qualname}: no source to compile the continuation from: {problem}") from problem
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, (ast.AsyncFunctionDef, ast.FunctionDef)) and node.name == code.co_name:
            if min([node.lineno] + [decorator.lineno for decorator in node.decorator_list]) == code.co_firstlineno:
                return node
    raise ContinuationLimitError(f"{qualname}: its source has no function in line {code.co_firstlineno}")


def _is_static(definition):
    return any(_last_name(decorator) == "staticmethod" for decorator in definition.decorator_list)


def shape(definition, is_method):
    """What the SDK must know of a lowered function: its parameters, those given by name only, whether the first is the
    actor, and the name of its capture."""
    arguments = definition.args
    positional = tuple(argument.arg for argument in arguments.posonlyargs + arguments.args)
    by_name = tuple(argument.arg for argument in arguments.kwonlyargs)
    return positional, by_name, is_method, capture_name(definition.body)


def capture_name(body):
    """The name that the first `name = capture()` of a function assigns, or None."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                called = node.value.func if isinstance(node.value, ast.Call) else None
                if isinstance(called, ast.Name) and called.id == "capture":
                    return node.targets[0].id
                if isinstance(called, ast.Attribute) and called.attr == "capture":
                    return node.targets[0].id
    return None


def has_await(node):
    """Whether an await of this function, not of one inside it, lies below `node`."""
    if isinstance(node, list):
        return any(has_await(item) for item in node)
    if isinstance(node, (ast.Await, ast.AsyncWith, ast.AsyncFor)):
        return True
    if isinstance(node, _SCOPES):
        return False
    return any(has_await(child) for child in ast.iter_child_nodes(node))


def load(name):
    return ast.Name(name, ast.Load())


def store(name):
    return ast.Name(name, ast.Store())


def assign(name, value):
    return ast.Assign([store(name)], value)


def compare(left, operation, right):
    return ast.Compare(left, [operation], [right])


def at(operation, number):
    return compare(load(AT), operation, number_of(number))


def number_of(value):
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if value < 0 else ast.Constant(value)


def call(method, *arguments):
    return ast.Call(ast.Attribute(load(FRAME), method, ast.Load()), list(arguments), [])


RUNS = -1


def runs():
    """Whether the function runs, and is not on its way back to an await."""
    return at(ast.Eq(), RUNS)


class Lowering:
    """One function's way from `async def` to `def`."""

    def __init__(self, definition, is_method):
        self.definition = definition
        self.name = definition.name
        self.is_method = is_method
        self.awaits = 0
        self.awaits_seen = 0
        self.blocks = 0
        self.leaves = []

    def refuse(self, node, message):
        raise ContinuationLimitError(f"line {node.lineno}, column {node.col_offset + 1}: {self.name}(): {message}")

    def run(self):
        definition = self.definition
        self.check_shape(definition)
        capture = capture_name(definition.body)
        last = definition.body[-1]
        is_bare = isinstance(last, (ast.Expr, ast.Assign)) and isinstance(last.value, ast.Await)
        body = self.normal_block(definition.body)
        if self.awaits > MAX_AWAITS:
            self.refuse(definition, f"{self.awaits} awaits, at most {MAX_AWAITS}: move some into a helper method")
        self.check_places(body)
        events = events_of(body)
        self.check_captures(events, body)
        carried = Carried(local_names(definition, body, self.is_method), capture, events)
        lowered = self.lower_block(body)
        for number, leave in self.leaves:
            leave.args[1] = ast.Tuple([ast.Constant(name) for name in carried.at(number)], ast.Load())
        if is_bare:
            lowered.append(ast.Return(call("bare", load(f"$t{self.awaits - 1}"))))
        names = sorted({name for number in range(self.awaits) for name in carried.at(number)})
        prologue = [assign(AT, ast.Attribute(load(FRAME), "at", ast.Load()))]
        if names:
            prologue.append(ast.If(at(ast.NotEq(), RUNS), [self.restore(name) for name in names], []))
        arguments = definition.args
        first = ast.arg(FRAME)
        if arguments.posonlyargs:
            arguments.posonlyargs.insert(0, first)
        else:
            arguments.args.insert(0, first)
        return ast.copy_location(
            ast.FunctionDef(self.name, arguments, prologue + lowered, definition.decorator_list, definition.returns), definition
        )

    def restore(self, name):
        kept = ast.Attribute(load(FRAME), "values", ast.Load())
        return ast.If(
            compare(ast.Constant(name), ast.In(), kept),
            [assign(name, ast.Subscript(kept, ast.Constant(name), ast.Load()))],
            [],
        )

    # Refusals

    def check_shape(self, definition):
        bounded = any(
            _last_name(decorator.func if isinstance(decorator, ast.Call) else decorator) == "bounded_loop"
            for decorator in definition.decorator_list
        )
        for node in walk_scope(definition.body):
            if isinstance(node, (ast.For, ast.While)) and has_await(node.body) and not bounded:
                self.refuse(node, "a loop that awaits needs a bound: add @bounded_loop(max_iterations=N)")
            if isinstance(node, (ast.Yield, ast.YieldFrom)):
                self.refuse(node, "a continuation cannot yield: collect values in a list and return it")
            if isinstance(node, ast.Nonlocal):
                self.refuse(node, "a continuation cannot share names with an outer function")
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and has_await(node.body):
                self.refuse(node, "a function inside a continuation cannot await: make it a method")
            if isinstance(node, _COMPREHENSIONS) and has_await(list(ast.iter_child_nodes(node))):
                self.refuse(node, "a comprehension cannot await: write a loop")

    def check_captures(self, events, body):
        """Refuses what can never be kept, where it is still read after an await."""
        hard = uncarriable(body)
        bound, awaited = {}, []
        for place, (kind, value, node) in enumerate(events):
            if kind == "bind":
                bound[value] = (place, node)
            elif kind == "await":
                awaited.append((place, node))
            elif kind == "load" and value in hard and value in bound:
                since, where = bound[value]
                between = [stop for stop_place, stop in awaited if since < stop_place]
                if between:
                    self.refuse(
                        where,
                        f"{value!r} is {hard[value]}, which cannot be kept across the await that follows: "
                        "make it after the await, or keep plain data",
                    )

    def check_places(self, body):
        """Refuses awaits that are evaluated where no statement can stand before them: targets, annotations, guards, types."""
        for statement in body:
            own = {id(node.value) for node in ast.walk(statement) if isinstance(node, ast.Assign)}
            for node in ast.walk(statement):
                if isinstance(node, ast.Await) and id(node) not in own:
                    self.refuse(node, "an await cannot stand here: await first, and use the result")

    # Awaits become statements of their own

    def normal_block(self, statements):
        return [made for statement in statements for made in self.normal(statement)]

    def normal(self, statement):
        """The statement with each await taken out of it into a `$tN = await ...` before it."""
        if not has_await(statement):
            return [statement]
        before = []
        if isinstance(statement, (ast.For, ast.AsyncFor, ast.AsyncWith, ast.With, ast.If, ast.While, ast.Try, ast.Match)):
            return self.normal_compound(statement, before)
        if getattr(ast, "TryStar", None) and isinstance(statement, ast.TryStar):
            self.refuse(statement, "except* around an await is not supported: use except")
        if isinstance(statement, ast.AugAssign) and not isinstance(statement.target, ast.Name):
            self.refuse(statement, "the old value is read before the await: await first, then add")
        takes = Takes(self, before)
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            statement.value = takes.visit(statement.value)
            if isinstance(statement, ast.Assign):
                statement.targets = [takes.visit(target) for target in statement.targets]
        else:
            statement = takes.generic_visit(statement)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Name):
            return before
        return before + [statement]

    def normal_compound(self, statement, before):
        takes = Takes(self, before)
        if isinstance(statement, ast.AsyncFor):
            self.refuse(statement, "async for waits for nothing here: use for")
        if isinstance(statement, ast.While) and has_await(statement.test):
            self.refuse(statement.test, "a loop's condition cannot await: await before the loop and at the end of its body")
        if isinstance(statement, (ast.For, ast.While)) and has_await(statement.orelse):
            self.refuse(statement.orelse[0], "a loop's else cannot await: move it behind the loop")
        if isinstance(statement, ast.Match) and has_await(statement.cases):
            self.refuse(statement, "a case cannot await: remember what matched, and await behind the match")
        if isinstance(statement, ast.If):
            statement.test = takes.visit(statement.test)
        elif isinstance(statement, ast.For):
            statement.iter = takes.visit(statement.iter)
        elif isinstance(statement, ast.Match):
            statement.subject = takes.visit(statement.subject)
            return before + [statement]
        elif isinstance(statement, (ast.With, ast.AsyncWith)):
            return self.normal_with(statement, takes, before)
        elif isinstance(statement, ast.Try):
            return self.normal_try(statement)
        statement.body = self.normal_block(statement.body)
        statement.orelse = self.normal_block(statement.orelse)
        return before + [statement]

    def normal_with(self, statement, takes, before):
        first, rest = statement.items[0], statement.items[1:]
        if rest:
            inner = ast.copy_location(type(statement)(rest, statement.body), statement)
            statement.items, statement.body = [first], [inner]
        first.context_expr = takes.visit(first.context_expr)
        if isinstance(statement, ast.With):
            statement.body = self.normal_block(statement.body)
            return before + [statement]
        if has_await(statement.body):
            self.refuse(statement, "a task group cannot await inside: its jobs start together where its block ends")
        name = f"$w{self.blocks}"
        self.blocks += 1
        opened = [ast.copy_location(assign(name, first.context_expr), statement)]
        if first.optional_vars is not None:
            opened.append(ast.copy_location(ast.Assign([first.optional_vars], load(name)), statement))
        waits = ast.copy_location(ast.Await(load(name)), statement)
        return before + opened + statement.body + [ast.copy_location(assign(self.temporary(), waits), statement)]

    def normal_try(self, statement):
        if has_await(statement.finalbody):
            self.refuse(statement.finalbody[0], "finally cannot await: move the await behind the try statement")
        statement.body = self.normal_block(statement.body)
        for handler in statement.handlers:
            if has_await(handler.body):
                self.check_handler(handler)
                handler.body = self.normal_block(handler.body)
        statement.orelse = self.normal_block(statement.orelse)
        return [statement]

    def check_handler(self, handler):
        for node in walk_scope(handler.body):
            if isinstance(node, ast.Raise) and node.exc is None:
                self.refuse(node, "a handler that awaits cannot raise again: name the exception, and raise it before the await")

    def temporary(self):
        self.awaits += 1
        return f"$t{self.awaits - 1}"

    # Blocks that can be entered in the middle

    def lower_block(self, statements):
        lowered, plain = [], []
        last = max([place for place, statement in enumerate(statements) if has_await(statement)], default=-1)
        for place, statement in enumerate(statements):
            if not has_await(statement):
                plain.append(statement)
                continue
            if plain:
                lowered.append(ast.copy_location(ast.If(runs(), plain, []), plain[0]))
                plain = []
            made = self.lower(statement)
            if place < last:
                made = [ast.copy_location(ast.If(at(ast.LtE(), self.awaits_seen - 1), made, []), statement)]
            lowered.extend(made)
        return lowered + plain

    def lower(self, statement):
        kinds = {ast.If: self.lower_if, ast.While: self.lower_while, ast.For: self.lower_for, ast.With: self.lower_with, ast.Try: self.lower_try}
        handler = kinds.get(type(statement), self.lower_await)
        made = handler(statement)
        for node in made:
            if not hasattr(node, "lineno"):
                ast.copy_location(node, statement)
            _place(node)
        return made

    def lower_await(self, statement):
        number = self.awaits_seen
        self.awaits_seen += 1
        target = statement.targets[0].id
        begins = assign(target, call("wait", statement.value.value))
        returns = [assign(AT, number_of(RUNS)), assign(target, call("resume"))]
        leave = call("leave", ast.Constant(number), ast.Tuple([], ast.Load()), ast.Call(load("locals"), [], []))
        self.leaves.append((number, leave))
        stops = ast.If(compare(load(target), ast.Is(), load(FRAME)), [ast.Return(leave)], [])
        return [ast.If(runs(), [begins], returns), stops]

    def lower_if(self, statement):
        before = self.awaits_seen
        body = self.lower_block(statement.body)
        test = ast.IfExp(runs(), statement.test, at(ast.LtE(), self.awaits_seen - 1 if self.awaits_seen > before else RUNS - 1))
        return [ast.If(test, body, self.lower_block(statement.orelse))]

    def lower_while(self, statement):
        turn = ast.If(runs(), [ast.Expr(call("turn"))], [])
        test = ast.BoolOp(ast.Or(), [at(ast.NotEq(), RUNS), statement.test])
        return [ast.While(test, [turn] + self.lower_block(statement.body), statement.orelse)]

    def lower_for(self, statement):
        name = f"$i{self.blocks}"
        self.blocks += 1
        statement._hidden = name
        starts = ast.If(runs(), [assign(name, call("iterate", statement.iter))], [])
        more = ast.Call(ast.Attribute(load(name), "more", ast.Load()), [], [])
        takes = ast.Assign([statement.target], ast.Call(ast.Attribute(load(name), "take", ast.Load()), [], []))
        turn = ast.If(runs(), [ast.Expr(call("turn")), takes], [])
        test = ast.BoolOp(ast.Or(), [at(ast.NotEq(), RUNS), more])
        return [starts, ast.While(test, [turn] + self.lower_block(statement.body), statement.orelse)]

    def lower_with(self, statement):
        item = statement.items[0]
        number = self.blocks
        self.blocks += 1
        manager, open_, error = f"$w{number}", f"$x{number}", f"$e{number}"
        statement._hidden = manager
        enters = [assign(manager, item.context_expr)]
        entered = call("enter", load(manager))
        enters.append(ast.Expr(entered) if item.optional_vars is None else ast.Assign([item.optional_vars], entered))
        fails = ast.ExceptHandler(
            load("BaseException"),
            error,
            [
                assign(open_, ast.Constant(False)),
                ast.If(ast.UnaryOp(ast.Not(), call("exit", load(manager), load(error))), [ast.Raise()], []),
            ],
        )
        closes = ast.If(
            ast.BoolOp(ast.And(), [load(open_), self.stays()]),
            [ast.Expr(call("exit", load(manager), ast.Constant(None)))],
            [],
        )
        guarded = ast.Try(self.lower_block(statement.body), [fails], [], [closes])
        return [ast.If(runs(), enters, []), assign(open_, ast.Constant(True)), guarded]

    def stays(self):
        return ast.UnaryOp(ast.Not(), ast.Attribute(load(FRAME), "left", ast.Load()))

    def lower_try(self, statement):
        if has_await(statement.handlers) or has_await(statement.orelse):
            made = self.lower_handlers(statement)
        else:
            made = [ast.Try(self.lower_block(statement.body), statement.handlers, statement.orelse, [])]
            if not statement.handlers:
                made = made[0].body
        if statement.finalbody:
            made = [ast.Try(made, [], [], [ast.If(self.stays(), statement.finalbody, [])])]
        return made

    def lower_handlers(self, statement):
        """A try whose handlers or else await: the try only finds out which of them runs, and they stand behind it."""
        number = self.blocks
        self.blocks += 1
        chosen, error = f"$h{number}", f"$e{number}"
        first = self.awaits_seen
        body = self.lower_block(statement.body)
        attempt_last = self.awaits_seen - 1 if self.awaits_seen > first else RUNS
        handlers, branches = [], []
        for place, handler in enumerate(statement.handlers, 1):
            if not has_await(handler.body):
                inline = [assign(chosen, number_of(-2))] + handler.body
                handlers.append(ast.copy_location(ast.ExceptHandler(handler.type, handler.name, inline), handler))
                continue
            picks = [assign(chosen, ast.Constant(place))]
            names = None
            if handler.name:
                names = handler.name
                picks.append(assign(error, load(names)))
            handlers.append(ast.copy_location(ast.ExceptHandler(handler.type, names, picks), handler))
            binds = [ast.If(runs(), [assign(names, load(error))], [])] if names else []
            start = self.awaits_seen
            lowered = self.lower_block(handler.body)
            branches.append((place, start, self.awaits_seen - 1, binds + lowered))
        if statement.orelse:
            start = self.awaits_seen
            branches.append((0, start, self.awaits_seen - 1, None))
            lowered = self.lower_block(statement.orelse)
            branches[-1] = (0, start, self.awaits_seen - 1, lowered)
        attempts = ast.If(at(ast.LtE(), attempt_last), [assign(chosen, ast.Constant(0)), ast.Try(body, handlers, [], [])], [])
        chain = []
        for place, start, end, lowered in reversed(branches):
            back = ast.BoolOp(ast.And(), [at(ast.GtE(), start), at(ast.LtE(), end)])
            test = ast.IfExp(runs(), compare(load(chosen), ast.Eq(), ast.Constant(place)), back)
            chain = [ast.If(test, lowered, chain)]
        return [attempts] + chain


class Takes(ast.NodeTransformer):
    """Takes the awaits out of one statement's expressions, in the order in which they happen."""

    def __init__(self, lowering, before):
        self.lowering = lowering
        self.before = before
        self.called = None

    def visit(self, node):
        if isinstance(node, _SCOPES):
            return node
        if isinstance(node, ast.Await):
            return self.take(node)
        if isinstance(node, ast.BoolOp) and has_await(node.values[1:]):
            self.lowering.refuse(node, "'and' and 'or' may not get to their await: use an if statement")
        if isinstance(node, ast.IfExp) and (has_await(node.body) or has_await(node.orelse)):
            self.lowering.refuse(node, "a conditional expression may not get to its await: use an if statement")
        if isinstance(node, ast.Compare) and len(node.ops) > 1 and has_await(node.comparators):
            self.lowering.refuse(node, "a chain of comparisons may not get to its await: name the result first")
        made = self.generic_visit(node)
        if isinstance(node, ast.Call):
            self.called = node
        return made

    def take(self, node):
        if self.called is not None:
            self.lowering.refuse(
                self.called, "this call comes before an await in the same statement: give its result a name first"
            )
        waited = self.generic_visit(node)
        self.called = None
        name = self.lowering.temporary()
        self.before.append(ast.copy_location(assign(name, waited), node))
        return ast.copy_location(load(name), node)


def events_of(body):
    """What happens in a block, in order: ("load", name), ("bind", name), ("await", None), and around the loops and with
    blocks that await ("enter", is_with) and ("leave", None); each with its node."""
    found = []
    _events(body, found)
    return found


def _events(node, found):
    if isinstance(node, list):
        for item in node:
            _events(item, found)
        return
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        for child in ast.iter_child_nodes(node):
            _events(child, found)
        found.append(("bind", node.name, node))
        return
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        found.extend(("bind", (alias.asname or alias.name).split(".")[0], node) for alias in node.names)
        return
    if isinstance(node, ast.ExceptHandler) and node.name:
        _events(node.type, found)
        found.append(("bind", node.name, node))
        _events(node.body, found)
        return
    if isinstance(node, ast.Name):
        found.append(("load" if isinstance(node.ctx, ast.Load) else "bind", node.id, node))
        return
    if isinstance(node, ast.Await):
        _events(node.value, found)
        found.append(("await", None, node))
        return
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        if node.value is not None:
            _events(node.value, found)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.append(("load", node.target.id, node))
        _events(node.targets if isinstance(node, ast.Assign) else node.target, found)
        return
    if isinstance(node, (ast.For, ast.While, ast.With)) and has_await(node):
        _events(node.iter if isinstance(node, ast.For) else node.test if isinstance(node, ast.While) else node.items, found)
        found.append(("enter", isinstance(node, ast.With), node))
        if isinstance(node, ast.For):
            _events(node.target, found)
        if isinstance(node, ast.While):
            _events(node.test, found)
        _events(node.body, found)
        found.append(("leave", None, node))
        _events(getattr(node, "orelse", []), found)
        return
    for child in ast.iter_child_nodes(node):
        _events(child, found)


def uncarriable(body):
    """{name: what it is} of the names that only ever hold what cannot be kept."""
    hard, plain = {}, set()
    for node in walk_scope(body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            hard[node.name] = "a function"
        elif isinstance(node, ast.ClassDef):
            hard[node.name] = "a class"
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            hard.update(((alias.asname or alias.name).split(".")[0], "a module") for alias in node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            hard[node.name] = "an exception"
        elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.Lambda, ast.GeneratorExp)):
            what = "a function" if isinstance(node.value, ast.Lambda) else "a generator"
            for target in node.targets:
                if isinstance(target, ast.Name):
                    hard[target.id] = what
                    target._hard = True
    for node in walk_scope(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and not getattr(node, "_hard", False):
            plain.add(node.id)
    return {name: what for name, what in hard.items() if name not in plain}


class Carried:
    """Which names each await must keep: those read after it, or anywhere in a loop around it; and its blocks' own."""

    def __init__(self, locals_, capture, events):
        self.kept, self.blocks = [], []
        opened, spans = [], []
        for place, (kind, is_with, node) in enumerate(events):
            if kind == "enter":
                opened.append(place)
            elif kind == "leave":
                spans.append((opened.pop(), place))
        for place, (kind, _, node) in enumerate(events):
            if kind != "await":
                continue
            names = _loads(events[place + 1 :])
            around = [(start, end) for start, end in spans if start < place < end]
            for start, end in around:
                if not events[start][1]:
                    names |= _loads(events[start:end])
            if capture is not None:
                names.add(capture)
            self.kept.append(names & locals_)
            self.blocks.append([events[start][2] for start, _ in around])

    def at(self, number):
        return sorted(self.kept[number] | {node._hidden for node in self.blocks[number] if not isinstance(node, ast.While)})


def _loads(events):
    return {value for kind, value, _ in events if kind == "load"}


def local_names(definition, body, is_method):
    """The function's own names; not a method's first parameter, which every entry brings along."""
    arguments = definition.args
    positional = arguments.posonlyargs + arguments.args
    names = {argument.arg for argument in positional[is_method:] + arguments.kwonlyargs}
    for extra in (arguments.vararg, arguments.kwarg):
        if extra is not None:
            names.add(extra.arg)
    outside = set()
    for node in walk_scope(body):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.Global):
            outside.update(node.names)
    return names - outside


def walk_scope(node):
    """Every node of a function's own scope: not inside of functions, classes, lambdas and comprehensions."""
    if isinstance(node, list):
        for item in node:
            yield from walk_scope(item)
        return
    yield node
    if isinstance(node, _SCOPES + _COMPREHENSIONS):
        return
    for child in ast.iter_child_nodes(node):
        yield from walk_scope(child)


def _last_name(node):
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", None)


def _place(node):
    """Gives made nodes the place of what holds them, so that a traceback shows the author's line."""
    for child in ast.iter_child_nodes(node):
        if "lineno" in child._attributes and not hasattr(child, "lineno"):
            ast.copy_location(child, node)
        _place(child)
