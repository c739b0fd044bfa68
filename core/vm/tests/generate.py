#!/usr/bin/env python3
"""Writes random small programs that are valid, end soon, and print what they compute.

    generate.py SEED COUNT FOLDER [--expect]

With --expect, what CPython prints is written beside each program as `.out`, an uncaught exception as a last line after `!! `. The same seed gives the same programs. Each is named after its own seed, so `generate.py 1234 1 FOLDER` writes number 1234 again.
Integers stay below 4,096 bits: variables are clipped to 128 bits, and an expression is at most a few operators deep. A program
counts the turns of its loops and halts itself after some thousands. Nothing in it depends on addresses, time, or the order of sets.
"""
import contextlib
import io
import pathlib
import random
import sys
import traceback

PRELUDE = '''
class Halt(BaseException):
    pass


class Oops(Exception):
    def __init__(self, code, *rest):
        super().__init__(code, *rest)
        self.code = code


turns = 0


def tick():
    global turns
    turns += 1
    if turns > 3000:
        raise Halt(turns)


def clip(number):
    return number if -2**128 < number < 2**128 else number % (2**61 - 1)


class Guard:
    def __init__(self, name, swallow):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        print("enter", self.name)
        return len(self.name)

    def __exit__(self, kind, error, trace):
        print("exit", self.name, kind and kind.__name__, error)
        return self.swallow and isinstance(error, (Oops, LookupError))
'''

INT, FLOAT, STR, LIST, DICT, BOOL = "int", "float", "str", "list", "dict", "bool"
KINDS = [INT, INT, INT, FLOAT, STR, STR, LIST, LIST, DICT, BOOL]
WORDS = ["", "a", "Zed", "hello", "foo bar", "x-y-z", "ünï", "日本", "🎉!", "12", "  pad ", "Mixed Case", "tab\\there", "it's", '\\"q\\"']
DEEPEST = 3


class Scope:
    """The variables that code at one place may read, and those it may assign."""

    def __init__(self, outer=None, function=False):
        self.readable = {kind: list(names) for kind, names in outer.readable.items()} if outer else {kind: [] for kind in KINDS}
        self.own = set() if function or outer is None else set(outer.own)
        self.callables = list(outer.callables) if outer else []
        self.classes = list(outer.classes) if outer else []
        self.in_loop = False if function or outer is None else outer.in_loop
        self.in_function = function or (outer is not None and outer.in_function)
        self.in_generator = False if function or outer is None else outer.in_generator

    def add(self, kind, name):
        self.readable[kind].append(name)
        self.own.add(name)

    def assignable(self, kind):
        return [name for name in self.readable[kind] if name in self.own]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        # Most programs are small, so that there are many of them.
        self.large = seed % 20 == 0
        self.lines = []
        self.names = 0

    def program(self):
        scope = Scope()
        for kind in (INT, INT, FLOAT, STR, LIST, DICT, BOOL):
            self.declare(scope, kind, 0)
        for _ in range(self.random.randint(8, 16) if self.large else self.random.randint(2, 4)):
            self.top_level(scope)
        for name in scope.callables:
            self.emit(0, f"for argument in ({self.literal(INT)}, {self.literal(INT)}, {self.literal(INT)}):")
            self.emit(1, "try:")
            self.emit(2, f"print({name!r}, {name}(argument))")
            self.emit(1, "except Exception as error:")
            self.emit(2, f"print({name!r}, type(error).__name__, error)")
        if self.chance(0.3):
            self.emit(0, self.statement_text_raise(scope))
        body = "\n".join("    " + line if line else "" for line in self.lines)
        return f'{PRELUDE}\n\ntry:\n{body}\nexcept Halt as halt:\n    print("halted", halt)\n'

    def top_level(self, scope):
        kind = self.pick(["function", "function", "class", "generator", "closure", "statements", "statements", "statements"])
        if kind == "statements":
            self.emit(0, "try:")
            inner = Scope(scope)
            for _ in range(self.random.randint(1, 3)):
                self.statement(inner, 1, 3 if self.large else 2)
            self.emit(0, "except Exception as error:")
            self.emit(1, "print(type(error).__name__, error)")
            self.declare(scope, self.pick(KINDS), 0)
        else:
            getattr(self, "define_" + kind)(scope)

    # Statements.

    def statement(self, scope, depth, room):
        choices = ["declare", "assign", "assign", "augment", "print", "print", "mutate", "mutate"]
        if room:
            choices += ["branch", "branch", "walrus", "count", "each", "each", "attempt", "attempt", "guard", "match", "object"]
        if scope.in_loop and self.chance(0.3):
            choices += ["leave"] * 2
        if self.chance(0.15):
            choices += ["raise_some", "assert_some"]
        if scope.in_function and self.chance(0.1):
            choices += ["give_back"]
        getattr(self, "statement_" + self.pick(choices))(scope, depth, room)

    def block(self, scope, depth, room, loop=False):
        inner = Scope(scope)
        inner.in_loop = inner.in_loop or loop
        if loop:
            self.emit(depth, "tick()")
        for _ in range(self.random.randint(1, 3)):
            self.statement(inner, depth, room - 1)

    def declare(self, scope, kind, depth):
        name = self.name("v")
        self.emit(depth, f"{name} = {self.bounded(scope, kind) if depth else self.literal(kind)}")
        scope.add(kind, name)

    def statement_declare(self, scope, depth, room):
        if self.chance(0.15):
            first, second = self.name("v"), self.name("v")
            self.emit(depth, f"{first}, *{second} = {self.expression(scope, LIST, 2)} + [0]")
            self.emit(depth, f"{second} = {second}[:20]")
            scope.add(INT, first)
            scope.add(LIST, second)
            return
        self.declare(scope, self.pick(KINDS), depth)

    def statement_assign(self, scope, depth, room):
        kind = self.pick(KINDS)
        names = scope.assignable(kind)
        if not names:
            return self.declare(scope, kind, depth)
        if len(names) > 1 and self.chance(0.15):
            left, right = self.random.sample(names, 2)
            return self.emit(depth, f"{left}, {right} = {right}, {left}")
        self.emit(depth, f"{self.pick(names)} = {self.bounded(scope, kind)}")

    def statement_augment(self, scope, depth, room):
        kind = self.pick([INT, INT, FLOAT, STR, LIST, DICT])
        names = scope.assignable(kind)
        if not names:
            return self.declare(scope, kind, depth)
        name = self.pick(names)
        operator = {INT: ["+=", "-=", "*=", "//=", "%=", "&=", "|=", "^="], FLOAT: ["+=", "-=", "*=", "/="], STR: ["+="], LIST: ["+="], DICT: ["|="]}[kind]
        self.emit(depth, f"{name} {self.pick(operator)} {self.expression(scope, kind, 2)}")
        if kind == INT:
            self.emit(depth, f"{name} = clip({name})")
        elif kind in (STR, LIST):
            self.emit(depth, f"{name} = {name}[-40:]")

    def statement_print(self, scope, depth, room):
        values = [self.expression(scope, self.pick(KINDS), 3) for _ in range(self.random.randint(1, 3))]
        self.emit(depth, f"print({', '.join(values)})")

    def statement_mutate(self, scope, depth, room):
        kind = self.pick([LIST, LIST, DICT])
        names = scope.readable[kind]
        if not names:
            return self.declare(scope, kind, depth)
        name, number, word = self.pick(names), f"clip({self.expression(scope, INT, 1)})", f"({self.expression(scope, STR, 1)})[:9]"
        small = self.random.randint(-3, 4)
        if kind == LIST:
            text = self.pick([f"{name}.append({number})", f"{name}.insert({small}, {number})", f"print({name}.pop({small}))", f"{name}.sort({self.pick(['', 'reverse=True', 'key=lambda k: (k % 7, k)', 'key=str'])})",
                              f"{name}.reverse()", f"{name}[{small}] = {number}", f"{name}[{small}:{small + self.random.randint(0, 3)}] = {self.expression(scope, LIST, 1)}[:4]", f"del {name}[{small}:]",
                              f"{name}.extend({self.expression(scope, LIST, 1)}[:5])", f"{name}.remove({number})", f"del {name}[{small}]", f"{name}[::2] = {self.expression(scope, LIST, 1)}", f"print({name}.index({number}))"])
            self.emit(depth, text)
            self.emit(depth, f"del {name}[30:]")
        else:
            self.emit(depth, self.pick([f"{name}[{word}] = {number}", f"print({name}.pop({word}, None))", f"del {name}[{word}]", f"print({name}.setdefault({word}, {number}))", f"{name}.update({self.expression(scope, DICT, 1)})",
                                        f"print({name}.popitem())", f"{name}[{word}] = {name}.get({word}, 0) // 2 + {number}"]))
            self.emit(depth, f"{name}[\"n\"] = clip(sum({name}.values()))")

    def statement_branch(self, scope, depth, room):
        self.emit(depth, f"if {self.expression(scope, BOOL, 3)}:")
        self.block(scope, depth + 1, room)
        for _ in range(self.random.choice([0, 0, 1, 2])):
            self.emit(depth, f"elif {self.expression(scope, BOOL, 2)}:")
            self.block(scope, depth + 1, room)
        if self.chance(0.6):
            self.emit(depth, "else:")
            self.block(scope, depth + 1, room)

    def statement_walrus(self, scope, depth, room):
        name = self.name("u")
        self.emit(depth, f"if ({name} := clip({self.expression(scope, INT, 2)})) {self.pick(['>', '<', '!='])} {self.literal(INT)}:")
        scope.add(INT, name)
        self.block(scope, depth + 1, room)

    def statement_count(self, scope, depth, room):
        name = self.name("w")
        self.emit(depth, f"{name} = {self.random.randint(1, 6)}")
        self.emit(depth, f"while {name} > 0{self.pick(['', f' and {self.expression(scope, BOOL, 1)}'])}:")
        self.emit(depth + 1, f"{name} -= 1")
        inner = Scope(scope)
        inner.readable[INT].append(name)
        self.block(inner, depth + 1, room, loop=True)
        self.loop_else(scope, depth, room)

    def statement_each(self, scope, depth, room):
        inner, one, two = Scope(scope), self.name("i"), self.name("j")
        source, target, kinds = self.pick([(f"range({self.random.randint(-3, 9)})", one, [(INT, one)]), (f"range({self.random.randint(0, 20)}, {self.random.randint(-9, 30)}, {self.pick([-4, -1, 2, 7])})", one, [(INT, one)]),
                                           (f"{self.expression(scope, LIST, 2)}[:8]", one, [(INT, one)]), (f"{self.expression(scope, STR, 2)}[:8]", one, [(STR, one)]), (f"list({self.expression(scope, DICT, 1)}.items())[:6]", f"{one}, {two}", [(STR, one), (INT, two)]),
                                           (f"enumerate({self.expression(scope, STR, 1)}[:6])", f"{one}, {two}", [(INT, one), (STR, two)]), (f"zip({self.expression(scope, LIST, 1)}[:5], {self.expression(scope, STR, 1)})", f"{one}, {two}", [(INT, one), (STR, two)]),
                                           (f"sorted(set({self.expression(scope, LIST, 2)}))[:6]", one, [(INT, one)])])
        self.emit(depth, f"for {target} in {source}:")
        for kind, name in kinds:
            inner.add(kind, name)
        self.block(inner, depth + 1, room, loop=True)
        self.loop_else(scope, depth, room)

    def loop_else(self, scope, depth, room):
        if self.chance(0.2):
            self.emit(depth, "else:")
            self.block(scope, depth + 1, 1)

    def statement_leave(self, scope, depth, room):
        self.emit(depth, f"if {self.expression(scope, BOOL, 1)}:")
        self.emit(depth + 1, self.pick(["break", "continue"]))

    def statement_attempt(self, scope, depth, room):
        self.emit(depth, "try:")
        self.block(scope, depth + 1, room)
        if self.chance(0.5):
            self.emit(depth + 1, self.statement_text_raise(scope))
        handlers = self.random.sample(["ZeroDivisionError", "(IndexError, KeyError)", "ValueError", "Oops", "TypeError", "LookupError", "ArithmeticError"], self.random.randint(1, 3))
        if self.chance(0.6):
            handlers.append("Exception")
        for handler in handlers:
            self.emit(depth, f"except {handler} as error:")
            self.emit(depth + 1, f"print({handler.strip('()').split(',')[0]!r}, type(error).__name__, error, error.args)")
            if self.chance(0.3):
                self.block(scope, depth + 1, 1)
            if self.chance(0.1):
                self.emit(depth + 1, self.pick(["raise", "raise Oops(9) from error", "raise ValueError('new')"]))
        if self.chance(0.3):
            self.emit(depth, "else:")
            self.block(scope, depth + 1, 1)
        if self.chance(0.4):
            self.emit(depth, "finally:")
            inner = Scope(scope)
            inner.in_loop = inner.in_function = False
            self.emit(depth + 1, f"print('finally', {self.expression(inner, INT, 1)})")
            self.block(inner, depth + 1, 1)

    def statement_guard(self, scope, depth, room):
        name, inner = self.name("g"), Scope(scope)
        self.emit(depth, f"with Guard({name!r}, {self.pick(['True', 'False'])}) as {name}:")
        inner.add(INT, name)
        self.block(inner, depth + 1, room)
        if self.chance(0.3):
            self.emit(depth + 1, self.statement_text_raise(inner))

    def statement_match(self, scope, depth, room):
        kind = self.pick([INT, STR, LIST, DICT])
        self.emit(depth, f"match {self.expression(scope, kind, 2)}:")
        first, second = self.name("m"), self.name("m")
        cases = {INT: [("0 | 1 | -1", []), (f"int({first}) if {first} % 2", [(INT, first)]), (f"{first} if {first} > 100", [(INT, first)])],
                 STR: [("'' | 'a'", []), (f"str({first}) if len({first}) > 3", [(STR, first)])],
                 LIST: [("[]", []), (f"[{first}]", [(INT, first)]), (f"[{first}, *{second}] if len({second}) > 2", [(INT, first), (LIST, second)]), (f"[*{first}, {second}]", [(LIST, first), (INT, second)])],
                 DICT: [(f"{{'a': {first}}}", [(INT, first)]), (f"{{'k': int() as {first}, **{second}}}", [(INT, first), (DICT, second)])]}[kind]
        for pattern, bound in cases:
            if self.chance(0.75):
                inner = Scope(scope)
                for bound_kind, name in bound:
                    inner.add(bound_kind, name)
                self.emit(depth + 1, f"case {pattern}:")
                self.block(inner, depth + 2, room)
        self.emit(depth + 1, "case _:")
        self.block(scope, depth + 2, room)

    def statement_object(self, scope, depth, room):
        if not scope.classes:
            return self.statement_print(scope, depth, room)
        name, other = self.name("o"), self.name("o")
        for made in (name, other):
            cls = self.pick(scope.classes)
            self.emit(depth, f"{made} = {cls}({self.expression(scope, INT, 1)}{self.pick(['', ', ' + self.expression(scope, STR, 1)])})")
        uses = [f"print({name}.bump({self.expression(scope, INT, 1)}), {name})", f"print({name} + {other}, {name} == {other}, {name} < {other})", f"print({name}.size, {name}.label, len({name}))", f"{name}.number = {self.expression(scope, INT, 1)}",
                f"print([{name}, {other}], sorted([{name}, {other}])[0])", f"print({name}[{self.random.randint(-2, 6)}])", f"print(list({name}), {self.expression(scope, INT, 1)} in {name})", f"print({name}(3), {name}.tell(), type({name}).__name__)", f"{name} += {other}", f"print({name}.{self.pick(['number', 'nothing', 'extra', 'label'])})",
                f"print(hasattr({name}, 'extra'), isinstance({name}, {self.pick(scope.classes)}))", f"{name}.label += '!'", f"del {name}.label; {name}.label = 'again'", f"print({name}.made({self.random.randint(0, 9)}).number, {name}.helper({self.expression(scope, INT, 1)}))"]
        for use in self.random.sample(uses, self.random.randint(2, 5)):
            self.emit(depth, use)

    def statement_raise_some(self, scope, depth, room):
        self.emit(depth, f"if {self.expression(scope, BOOL, 2)}:")
        self.emit(depth + 1, self.statement_text_raise(scope))

    def statement_assert_some(self, scope, depth, room):
        self.emit(depth, f"assert {self.expression(scope, BOOL, 2)}, {self.expression(scope, STR, 1)}")

    def statement_give_back(self, scope, depth, room):
        self.emit(depth, f"if {self.expression(scope, BOOL, 1)}:")
        self.emit(depth + 1, f"return clip({self.expression(scope, INT, 2)})")

    def statement_text_raise(self, scope):
        return self.pick([f"raise Oops({self.expression(scope, INT, 1)})", f"raise Oops({self.expression(scope, STR, 1)}, 2)", f"raise ValueError({self.expression(scope, STR, 1)})", "raise KeyError", f"print({self.expression(scope, INT, 1)} // 0)",
                          f"raise IndexError({self.expression(scope, LIST, 1)})", f"{{}}[{self.expression(scope, STR, 1)}]", f"[][{self.expression(scope, INT, 1)}]", f"int({self.expression(scope, STR, 1)})", f"len({self.expression(scope, INT, 1)})", f"{self.expression(scope, STR, 1)} + {self.expression(scope, INT, 1)}"])

    # Definitions.

    def define_function(self, scope):
        name, inner = self.name("f"), Scope(scope, function=True)
        one, two = self.name("p"), self.name("p")
        inner.add(INT, one)
        inner.add(STR, two)
        extra, spread = self.pick([("", []), (", *rest", [(LIST, "list(rest)[:5]")]), (", *, step=2", [(INT, "step")]), (", **named", [(INT, "len(named)")])])
        self.emit(0, f"def {name}({one}, {two}={self.pick(WORDS)!r}{extra}):".replace("\\\\", "\\"))
        self.emit(1, "tick()")
        for kind, text in spread:
            local = self.name("v")
            self.emit(1, f"{local} = {text}")
            inner.add(kind, local)
        shared = [variable for variable in scope.readable[INT] if variable in scope.own]
        if shared and self.chance(0.4):
            variable = self.pick(shared)
            self.emit(1, f"global {variable}")
            inner.own.add(variable)
        for _ in range(self.random.randint(1, 4)):
            self.statement(inner, 1, 2)
        if self.chance(0.9):
            self.emit(1, f"return clip({self.expression(inner, INT, 3)})")
        scope.callables.append(name)

    def define_closure(self, scope):
        name, inner, start, total = self.name("f"), Scope(scope, function=True), self.name("p"), self.name("v")
        inner.add(INT, start)
        self.emit(0, f"def make_{name}({start}):")
        self.emit(1, f"{total} = {start}")
        inner.add(INT, total)
        self.emit(1, f"def step(by, note=''):")
        deeper = Scope(inner, function=True)
        deeper.add(INT, "by")
        deeper.add(STR, "note")
        self.emit(2, f"nonlocal {total}")
        self.emit(2, "tick()")
        deeper.own.add(total)
        self.emit(2, f"{total} = clip({total} + by)")
        for _ in range(self.random.randint(1, 3)):
            self.statement(deeper, 2, 1)
        self.emit(2, f"return {total}")
        self.emit(1, "return step")
        self.emit(0, f"{name} = make_{name}({self.random.randint(-9, 99)})")
        scope.callables.append(name)

    def define_generator(self, scope):
        name, inner, limit = self.name("y"), Scope(scope, function=True), self.name("p")
        inner.add(INT, limit)
        self.emit(0, f"def {name}({limit}):")
        self.emit(1, "try:")
        index = self.name("i")
        inner.add(INT, index)
        self.emit(2, f"for {index} in range({limit}):")
        self.emit(3, f"got = yield clip({self.expression(inner, INT, 2)})")
        self.emit(3, "if got is not None:")
        self.emit(4, "print('got', got)")
        inner.in_loop, inner.in_function = True, False
        self.block(inner, 3, 1, loop=True)
        inner.in_loop = False
        self.emit(2, self.pick([f"yield from {self.expression(inner, LIST, 2)}[:4]", "return 'done'", "yield -1"]))
        self.emit(1, "except ValueError as error:\n    print('inside', error)\n    yield 77")
        self.emit(0, "try:")
        runner = self.name("r")
        for text in self.pick([[f"print(list({name}({self.random.randint(0, 6)})))"], [f"{runner} = {name}(4)", f"print(next({runner}), {runner}.send('hi'), next({runner}, 'end'))", f"{runner}.close()", f"print(next({runner}, 'closed'))"],
                               [f"{runner} = {name}(3)", f"print(next({runner}))", f"print({runner}.throw(ValueError('thrown')))", f"print(list({runner}))"], [f"print(sum({name}(5)), sorted({name}(3)), [k % 5 for k in {name}(4) if k > 0])"],
                               [f"for {runner} in {name}(9):", f"    print({runner})", f"    if {runner} % 3 == 0:", "        break"]]):
            self.emit(1, text)
        self.emit(0, "except Exception as error:")
        self.emit(1, "print(type(error).__name__, error)")

    def define_class(self, scope):
        name, base = self.name("C"), self.pick(["", *scope.classes])
        self.emit(0, f"class {name}{f'({base})' if base else ''}:")
        self.emit(1, f"extra = {self.literal(self.pick(KINDS))}")
        inner = Scope(scope, function=True)
        inner.add(INT, "number")
        inner.add(STR, "label")
        if not base or self.chance(0.3):
            self.emit(1, f"def __init__(self, number, label={self.pick(['x', 'lab', ''])!r}):")
            self.emit(2, f"super().__init__({'number, label' if base else ''})")
            self.emit(2, f"self.number, self.label = clip({self.expression(inner, INT, 1)}), label")
        inner.readable[INT].append("self.number")
        inner.readable[STR].append("self.label")
        methods = {"bump(self, number)": f"self.number = clip(self.number + {self.expression(inner, INT, 2)})\nreturn self.number", "__repr__(self)": f"return f'{name}({{self.number}}, {{self.label!r}})'",
                   "__add__(self, other)": f"return type(self)(clip(self.number + getattr(other, 'number', 1)), {self.pick(['self.label', 'other.label'])})", "__eq__(self, other)": "return getattr(other, 'number', None) == self.number",
                   "__lt__(self, other)": f"return self.number {self.pick(['<', '>'])} other.number", "__len__(self)": "return abs(self.number) % 9", "__getitem__(self, index)": "return self.label[index]", "__call__(self, *values)": f"return self.number, values, {self.expression(inner, STR, 1).replace('label', 'self.label').replace('self.self.', 'self.')}",
                   "tell(self)": f"return {'super().tell() + ' if base else ''}[clip({self.expression(inner, INT, 2).replace('number', 'self.number').replace('self.self.', 'self.')})]"}
        inner.readable[INT].remove("number")
        for header, body in methods.items():
            if not base or self.chance(0.4):
                self.emit(1, f"def {header}:")
                self.emit(2, "tick()")
                if "number" not in header:
                    body = body.replace("(number", "(self.number").replace("self.self.", "self.")
                self.emit(2, body)
        if not base:
            self.emit(1, "@property")
            self.emit(1, "def size(self):")
            self.emit(2, f"return self.number {self.pick(['%', '//', '&'])} {self.random.randint(-3, 9)}")
            self.emit(1, "@classmethod")
            self.emit(1, "def made(cls, number):")
            self.emit(2, "return cls(number, cls.__name__)")
            self.emit(1, "@staticmethod")
            self.emit(1, "def helper(number):")
            self.emit(2, f"return number * {self.random.randint(-3, 3)}")
        scope.classes.append(name)

    # Expressions.

    def bounded(self, scope, kind):
        text = self.expression(scope, kind, DEEPEST)
        return {INT: f"clip({text})", STR: f"({text})[:40]", LIST: f"({text})[:20]"}.get(kind, text)

    def expression(self, scope, kind, depth):
        names = scope.readable[kind]
        if depth <= 0 or self.chance(0.15):
            return self.pick(names) if names and self.chance(0.75) else self.literal(kind)
        return self.pick(getattr(self, "options_" + kind)(scope, depth - 1))()

    def literal(self, kind):
        if kind == INT:
            return str(self.pick([0, 1, -1, 2, 3, 7, 10, -5, 100, 255, 2**31, -2**31, 2**63 - 1, 2**63, -2**63, 10**20, self.random.randint(-1000, 1000), self.random.randint(-9, 9)]))
        if kind == FLOAT:
            return self.pick(["0.0", "-0.0", "1.5", "0.1", "-2.75", "1e10", "3.14159", "1e-7", "1e308", "float('inf')", "float('nan')", repr(round(self.random.uniform(-100, 100), 3))])
        if kind == STR:
            return '"' + self.pick(WORDS) + '"'
        if kind == BOOL:
            return self.pick(["True", "False"])
        if kind == LIST:
            return "[" + ", ".join(self.literal(INT) for _ in range(self.random.randint(0, 5))) + "]"
        return "{" + ", ".join(f"{self.pick(['a', 'b', 'k', 'n', 'zz'])!r}: {self.literal(INT)}" for _ in range(self.random.randint(0, 4))) + "}"

    def options_int(self, scope, depth):
        e = lambda kind: self.expression(scope, kind, depth)
        options = [lambda: f"({e(INT)} {self.pick(['+', '-', '*', '&', '|', '^'])} {e(INT)})"] * 4
        options += [lambda: f"({e(INT)} {self.pick(['//', '%'])} {self.pick([e(INT), '7', '-3', '1000003', '2**70', '-64'])})", lambda: f"({e(INT)} {self.pick(['<<', '>>'])} ({e(INT)} & 31))", lambda: f"({self.pick(['-', '~', '+'])}{e(INT)})", lambda: f"abs({e(INT)})",
                    lambda: f"len({self.pick([e(STR), e(LIST), e(DICT)])})", lambda: f"{e(STR)}.{self.pick(['count', 'count', 'find', 'rfind', 'find', 'rfind', 'index'])}({e(STR)})", lambda: f"sum({e(LIST)})", lambda: f"{self.pick(['max', 'min'])}({e(INT)}, {e(INT)})", lambda: f"{e(LIST)}[{self.random.randint(-3, 3)}]" if self.chance(0.2) else f"({e(LIST)} or [5, 6])[{self.pick([0, -1])}]",
                    lambda: f"{e(DICT)}.get({e(STR)}, {e(INT)})", lambda: f"({e(INT)} if {e(BOOL)} else {e(INT)})", lambda: f"pow({e(INT)}, {e(INT)} & 15, {self.pick(['97', '-13', '2**61'])})", lambda: f"({e(INT)} % 50) ** ({e(INT)} & 7)", lambda: f"{e(DICT)}[{e(STR)}]" if self.chance(0.2) else f"{e(DICT)}.get({e(STR)}, 4)", lambda: f"int({e(BOOL)})",
                    lambda: f"({e(INT)}).bit_length()", lambda: f"(lambda q: {self.with_name(scope, INT, 'q', depth)})({e(INT)})", lambda: f"{self.pick(['max', 'min'])}({e(LIST)}, default={e(INT)})", lambda: f"sum(k * 2 for k in {e(LIST)} if k {self.pick(['>', '<', '!='])} {e(INT)})",
                    lambda: f"({e(INT)} {self.pick(['and', 'or'])} {e(INT)})", lambda: f"divmod({e(INT)}, {self.pick([e(INT), '11'])})[{self.pick([0, 1])}]", lambda: f"round({e(INT)}, {self.random.randint(-2, 1)})", lambda: f"int({e(STR)}[:3] or {e(INT)})" if self.chance(0.1) else f"int(str({e(INT)}))", lambda: f"hash({e(INT)} or 0)"]
        if scope.callables:
            options += [lambda: f"{self.pick(scope.callables)}({e(INT)}{self.pick(['', ', ' + e(STR)])})"] * 3
        return options

    def options_float(self, scope, depth):
        e = lambda kind: self.expression(scope, kind, depth)
        return [lambda: f"({e(FLOAT)} {self.pick(['+', '-', '*', '/', '//', '%'])} {e(FLOAT)})", lambda: f"({e(FLOAT)} {self.pick(['+', '-', '*', '/'])} {e(INT)})", lambda: f"({e(INT)} / {self.pick([e(INT), '3', '-7'])})", lambda: f"abs({e(FLOAT)})", lambda: f"-{e(FLOAT)}", lambda: f"round({e(FLOAT)}, {self.random.randint(-1, 5)})",
                lambda: f"float({self.pick([e(INT), e(BOOL)])})", lambda: f"{self.pick(['max', 'min'])}({e(FLOAT)}, {e(FLOAT)})", lambda: f"({e(FLOAT)} if {e(BOOL)} else {e(FLOAT)})", lambda: f"sum({e(LIST)}, 0.5)", lambda: f"float(repr({e(FLOAT)}))"]

    def options_str(self, scope, depth):
        e = lambda kind: self.expression(scope, kind, depth)
        return [lambda: f"({e(STR)} + {e(STR)})", lambda: f"({e(STR)} * {self.random.randint(-1, 3)})", lambda: f"{e(STR)}[{self.pick(['1:', ':3', '::-1', '-2:', '::2', '1:-1', '5:1:-1'])}]", lambda: f"{e(STR)}[{self.random.randint(-3, 3)}]" if self.chance(0.2) else f"({e(STR)} or \"?\")[{self.pick([0, -1])}]",
                lambda: f"{e(STR)}.{self.pick(['upper()', 'lower()', 'title()', 'strip()', 'swapcase()', 'capitalize()', 'lstrip()', 'casefold()', 'zfill(6)', 'center(9, chr(42))', 'expandtabs(4)'])}", lambda: f"{e(STR)}.replace({e(STR)}, {e(STR)}, 3)", lambda: f"str({self.pick([e(INT), e(FLOAT), e(BOOL), e(LIST), e(DICT)])})",
                lambda: f"repr({self.pick([e(STR), e(FLOAT), e(LIST), e(DICT)])})", lambda: f"f\"{{{self.plain(scope, STR)}!r}}|{{{self.plain(scope, INT)}:{self.pick(['5', '<6', '^+9', '08x', ',', 'b', '_d', '+', 'e', '.2f'])}}}|{{{self.plain(scope, FLOAT)}:{self.pick(['.2f', '10.3e', 'g', '+.1f', '<9', '.3', '%'])}}}\"", lambda: f"\"-\".join(str(k) for k in {e(LIST)})",
                lambda: f"({e(STR)} if {e(BOOL)} else {e(STR)})", lambda: f"\"%s:%5d:%-6s|%r\" % ({e(STR)}, {e(INT)}, {e(STR)}, {e(BOOL)})", lambda: f"\"{{}} {{0}}\"" + f".format({e(INT)})" if self.chance(0.05) else f"\"{{0:>6}}{{1!r}}\".format({e(STR)}, {e(INT)})", lambda: f"\",\".join(sorted({e(DICT)}))", lambda: f"\"\".join(reversed({e(STR)}))", lambda: f"{e(STR)}.partition({self.pick(['chr(32)', 'chr(45)'])})[{self.pick([0, 1, 2])}]",
                lambda: f"(\"abc\" {self.pick(['and', 'or'])} {e(STR)})", lambda: f"chr({e(INT)} % 90 + 33)", lambda: f"hex({e(INT)})", lambda: f"max({e(STR)}, {e(STR)})", lambda: f"{e(STR)}.encode().hex()", lambda: f"ascii({e(STR)})"]

    def options_list(self, scope, depth):
        e = lambda kind: self.expression(scope, kind, depth)
        small = lambda: f"clip({e(INT)})"
        return [lambda: f"[{small()}, {small()}]", lambda: f"({e(LIST)} + {e(LIST)})", lambda: f"{e(LIST)}[{self.pick(['1:', ':3', '::-1', '-2:', '::2', '1:-1', '5:1:-1'])}]", lambda: f"sorted({e(LIST)}{self.pick(['', ', reverse=True', ', key=lambda k: -k', ', key=lambda k: k % 5', ', key=str'])})",
                lambda: f"[clip({self.with_name(scope, INT, 'k', depth)}) for k in {e(LIST)}{self.pick(['', ' if k % 2', ' if k > 3'])}]", lambda: f"list(range({self.random.randint(-5, 12)}))", lambda: f"list(map(lambda k: clip(k {self.pick(['+', '-', '^'])} {small()}), {e(LIST)}))", lambda: f"[*{e(LIST)}, {small()}]", lambda: f"list({e(DICT)}.values())",
                lambda: f"list(reversed({e(LIST)}))", lambda: f"list(filter(None, {e(LIST)}))", lambda: f"[ord(c) for c in {e(STR)}[:9]]", lambda: f"sorted(set({e(LIST)}) {self.pick(['|', '&', '-', '^'])} set({e(LIST)}))", lambda: f"[clip(a * b) for a, b in zip({e(LIST)}, {e(LIST)})][:9]", lambda: f"({e(LIST)} * {self.random.randint(-1, 2)})", lambda: f"({e(LIST)} if {e(BOOL)} else {e(LIST)})",
                lambda: f"list(({e(STR)}).encode())[:8]", lambda: f"[clip(x + y) for x in {e(LIST)}[:4] for y in range(3) if x != y]", lambda: f"{e(LIST)}.copy()", lambda: f"[len(w) for w in {e(STR)}.split()]"]

    def options_dict(self, scope, depth):
        e = lambda kind: self.expression(scope, kind, depth)
        small = lambda: f"clip({e(INT)})"
        return [lambda: f"{{({e(STR)})[:9]: {small()}, ({e(STR)})[-3:]: {small()}}}", lambda: f"({e(DICT)} | {e(DICT)})", lambda: f"{{c: k for k, c in enumerate({e(STR)}[:7])}}", lambda: f"{{**{e(DICT)}, 'z': {small()}}}", lambda: f"dict(zip({e(STR)}, {e(LIST)}))", lambda: f"{{str(k % 10): k for k in {e(LIST)}}}", lambda: f"dict(sorted({e(DICT)}.items()))",
                lambda: f"{{k: v for k, v in {e(DICT)}.items() if v {self.pick(['>', '<', '!='])} {small()}}}", lambda: f"dict.fromkeys({e(STR)}[:5], {small()})", lambda: f"({e(DICT)} if {e(BOOL)} else {e(DICT)})", lambda: f"dict({e(DICT)}, q={small()})"]

    def options_bool(self, scope, depth):
        e = lambda kind: self.expression(scope, kind, depth)
        compare = lambda: self.pick(["<", "<=", ">", ">=", "==", "!="])
        return [lambda: f"({e(INT)} {compare()} {e(INT)})", lambda: f"({e(FLOAT)} {compare()} {e(INT)})", lambda: f"({e(STR)} {compare()} {e(STR)})", lambda: f"({e(LIST)} {compare()} {e(LIST)})", lambda: f"({e(INT)} {compare()} {e(INT)} {compare()} {e(INT)})", lambda: f"(not {e(self.pick([BOOL, INT, STR, LIST, DICT]))})",
                lambda: f"({e(BOOL)} {self.pick(['and', 'or'])} {e(BOOL)})", lambda: f"({e(INT)} {self.pick(['in', 'not in'])} {e(LIST)})", lambda: f"({e(STR)} {self.pick(['in', 'not in'])} {self.pick([e(STR), e(DICT)])})", lambda: f"{e(STR)}.{self.pick(['startswith', 'endswith'])}({e(STR)})", lambda: f"isinstance({e(self.pick(KINDS))}, {self.pick(['int', 'str', '(list, dict)', 'float', 'bool'])})",
                lambda: f"{self.pick(['any', 'all'])}(k {compare()} {e(INT)} for k in {e(LIST)})", lambda: f"bool({e(self.pick([INT, STR, LIST, DICT, FLOAT]))})", lambda: f"({e(DICT)} == {e(DICT)})", lambda: f"{e(STR)}.{self.pick(['isalpha', 'isdigit', 'isupper', 'islower', 'isspace', 'isidentifier', 'isalnum', 'istitle'])}()", lambda: f"({e(INT)} {compare()} 0)"]

    def with_name(self, scope, kind, name, depth):
        inner = Scope(scope)
        inner.readable[kind].append(name)
        return self.expression(inner, kind, depth)

    def plain(self, scope, kind):
        """A name, or a literal that may stand within an f-string."""
        names = scope.readable[kind]
        return self.pick(names) if names else {INT: "7", FLOAT: "1.5", STR: "'s'"}[kind]

    # Small things.

    def pick(self, options):
        return options[int(self.random.random() * len(options))]

    def chance(self, probability):
        return self.random.random() < probability

    def name(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def emit(self, depth, text):
        self.lines.extend("    " * depth + line for line in text.split("\n"))


def expectation(text):
    """What a program prints here, where it runs in this very process."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            exec(compile(text, "program", "exec"), {"__name__": "__main__"})
        except Exception as error:
            print("!!", traceback.format_exception_only(error)[-1].rstrip("\n"))
    return output.getvalue()


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--expect"]
    if len(arguments) != 3:
        sys.exit(__doc__)
    first, count, folder = int(arguments[0]), int(arguments[1]), pathlib.Path(arguments[2])
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(first, first + count):
        text = Generator(seed).program()
        (folder / f"g{seed}.py").write_text(text)
        if "--expect" in sys.argv:
            (folder / f"g{seed}.out").write_text(expectation(text))


if __name__ == "__main__":
    main()
