"""A program: a small language with a lexer, a parser, closures and errors of its own, and a stack machine beside it."""


class LangError(Exception):
    def __init__(self, message, line):
        super().__init__(f"line {line}: {message}")
        self.line = line


def lex(source):
    line, at = 1, 0
    while at < len(source):
        character = source[at]
        if character == "\n":
            line += 1
            at += 1
        elif character.isspace():
            at += 1
        elif character.isdigit():
            start = at
            while at < len(source) and source[at].isdigit():
                at += 1
            yield "number", int(source[start:at]), line
        elif character.isalpha():
            start = at
            while at < len(source) and (source[at].isalnum() or source[at] == "_"):
                at += 1
            yield "name", source[start:at], line
        elif character in "()+-*/<=!":
            yield "symbol", character, line
            at += 1
        else:
            raise LangError(f"unexpected {character!r}", line)


def parse(tokens):
    stack = [[]]
    for kind, value, line in tokens:
        if value == "(" and kind == "symbol":
            stack.append([])
        elif value == ")" and kind == "symbol":
            if len(stack) == 1:
                raise LangError("unbalanced )", line)
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(value)
    if len(stack) != 1:
        raise LangError("missing )", line)
    return stack[0]


class Scope:
    def __init__(self, values, outer=None):
        self.values, self.outer = values, outer

    def find(self, name):
        scope = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.outer
        raise LangError(f"unknown {name}", 0)


def evaluate(node, scope):
    match node:
        case int():
            return node
        case str():
            return scope.find(node)
        case ["if", test, yes, no]:
            return evaluate(yes if evaluate(test, scope) else no, scope)
        case ["let", str(name), value, body]:
            return evaluate(body, Scope({name: evaluate(value, scope)}, scope))
        case ["fn", [*names], body]:
            return lambda *values: evaluate(body, Scope(dict(zip(names, values, strict=True)), scope))
        case ["do", *steps]:
            result = None
            for step in steps:
                result = evaluate(step, scope)
            return result
        case [function, *arguments]:
            return evaluate(function, scope)(*[evaluate(argument, scope) for argument in arguments])
        case _:
            raise LangError(f"cannot evaluate {node!r}", 0)


basic = Scope({"+": lambda *values: sum(values), "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a // b, "<": lambda a, b: a < b, "=": lambda a, b: a == b, "print": lambda *values: print("out:", *values), "call": lambda f, *values: f(*values)})
for source in ("(+ 1 2 3)", "(if (< 1 2) 10 20)", "(let x 5 (* x (+ x 1)))", "(let square (fn (x) (* x x)) (square (square 3)))", "(let add (fn (a) (fn (b) (+ a b))) ((add 3) 4))",
               "(let fact (fn (self n) (if (< n 2) 1 (* n (self self (- n 1))))) (fact fact 20))", "(do (print 1) (print (= 2 2)) 7)", "(/ 1 0)", "(oops)", "(+ 1", ")", "(1 2)", "\n\n  @", "((fn (a b) a) 1)", "()"):
    try:
        print([evaluate(node, basic) for node in parse(list(lex(source)))])
    except LangError as error:
        print("error", error, error.line)
    except Exception as error:
        print(type(error).__name__, error)


class Machine:
    def __init__(self, code):
        self.code = [line.split() for line in code.strip().splitlines()]
        self.labels = {words[0][:-1]: index for index, words in enumerate(self.code) if words[0].endswith(":")}
        self.stack, self.memory, self.at, self.steps = [], {}, 0, 0

    def op_push(self, value):
        self.stack.append(int(value))

    def op_load(self, name):
        self.stack.append(self.memory[name])

    def op_store(self, name):
        self.memory[name] = self.stack.pop()

    def op_add(self):
        self.stack.append(self.stack.pop() + self.stack.pop())

    def op_sub(self):
        right = self.stack.pop()
        self.stack.append(self.stack.pop() - right)

    def op_jump(self, label):
        self.at = self.labels[label]

    def op_jumpif(self, label):
        if self.stack.pop():
            self.at = self.labels[label]

    def run(self):
        while self.at < len(self.code):
            name, *arguments = self.code[self.at]
            self.at += 1
            self.steps += 1
            if not name.endswith(":"):
                getattr(self, "op_" + name)(*arguments)
        return self.memory, self.steps


print(Machine("push 10\nstore n\npush 0\nstore total\nloop:\nload total\nload n\nadd\nstore total\nload n\npush 1\nsub\nstore n\nload n\njumpif loop").run())
