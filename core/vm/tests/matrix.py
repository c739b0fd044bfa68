#!/usr/bin/env python3
"""Writes a program that calls every special method, held by every kind of attribute, with results of several types.

    python3 matrix.py > program.py

Each line of what it prints is one call: the result or the exception, and what was called with what.
"""
OPS = {
 "__len__": "len(x)", "__bool__": "bool(x)", "__repr__": "repr(x)", "__str__": "str(x)", "__format__": "format(x, 'q')", "__hash__": "hash(x)",
 "__int__": "int(x)", "__complex__": "complex(x)", "__index__": "[10, 20, 30][x]", "__bytes__": "bytes(x)",
 "__iter__": "list(x)", "__next__": "next(x)", "__reversed__": "reversed(x)", "__contains__": "4 in x", "__getitem__": "x[4]",
 "__setitem__": "x.__class__ and exec_setitem(x)", "__delitem__": "exec_delitem(x)", "__call__": "x(7, k=1)", "__enter__": "exec_with(x)",
 "__neg__": "-x", "__pos__": "+x", "__invert__": "~x", "__abs__": "abs(x)", "__round__": "round(x)", "__trunc__": "trunc(x)",
 "__floor__": "floor(x)", "__ceil__": "ceil(x)", "__getattr__": "x.missing", "__getattribute__": "x.any", "__setattr__": "setattr(x, 'q', 5)",
 "__delattr__": "delattr(x, 'q')", "__dir__": "dir(x)", "__missing__": "D()[3]",
 "__instancecheck__": "isinstance(1, x)", "__subclasscheck__": "issubclass(int, x)", "__await__": "drive(x)", "__anext__": "anext(x)",
}
for name in "add sub mul truediv floordiv mod lshift rshift and or xor matmul".split():
    sign = dict(add="+", sub="-", mul="*", truediv="/", floordiv="//", mod="%", lshift="<<", rshift=">>", matmul="@", xor="^", **{"and": "&", "or": "|"})[name]
    OPS[f"__{name}__"] = f"x {sign} 3"
    OPS[f"__r{name}__"] = f"3 {sign} x"
    OPS[f"__i{name}__"] = f"inplace_{name}(x)"
OPS["__pow__"] = "x ** 3"; OPS["__rpow__"] = "3 ** x"; OPS["__divmod__"] = "divmod(x, 3)"; OPS["__rdivmod__"] = "divmod(3, x)"
for name, sign in dict(lt="<", le="<=", eq="==", ne="!=", gt=">", ge=">=").items():
    OPS[f"__{name}__"] = f"x {sign} 3"
KINDS = {
 "function": "def f(*a, **k): return note('function', a, k)\n    {n} = f",
 "staticmethod": "@staticmethod\n    def f(*a, **k): return note('static', a, k)\n    {n} = f",
 "classmethod": "@classmethod\n    def f(*a, **k): return note('class', a, k)\n    {n} = f",
 "property": "@property\n    def f(self): return lambda *a, **k: note('property', a, k)\n    {n} = f",
 "instance": "{n} = Callable()",
 "descriptor": "{n} = Descriptor()",
 "class": "{n} = Made",
 "bound": "{n} = Callable().method",
 "builtin": "{n} = note_len",
 "method": "{n} = [1, 2].count",
 "number": "{n} = 5",
 "partial": "{n} = functools.partial(note, 'partial', (), None)",
}
HEAD = '''
import functools
from math import trunc, floor, ceil
RESULT = None
def name(v):
    t = type(v).__name__
    if t in ('int', 'str', 'float', 'NoneType', 'bool', 'tuple', 'dict'): return repr(v)
    return '<class ' + v.__name__ + '>' if isinstance(v, type) else '<' + t + '>'
def note(kind, a, k, *more, **kw):
    seen.append(kind + '(' + ', '.join([name(each) for each in tuple(a) + more]) + ')' + (str(sorted({**(k or {}), **kw}.items())) if k or kw else ''))
    return RESULT
class Callable:
    def __call__(self, *a, **k): return note('instance', a, k)
    def method(self, *a, **k): return note('bound', a, k)
class Descriptor:
    def __get__(self, value, cls):
        def got(*a, **k): return note('got ' + name(value) + ' ' + name(cls), a, k)
        return got
class Made:
    def __new__(cls, *a, **k): return note('made', a, k)
note_len = len
def exec_setitem(x): x[4] = 5
def exec_delitem(x): del x[4]
def exec_with(x):
    with x as y: return y
class W:
    def __exit__(self, *a): pass
def drive(x):
    async def f(): return await x
    try: f().send(None)
    except StopIteration as e: return e.value
'''
for name in "add sub mul truediv floordiv mod lshift rshift and or xor matmul".split():
    sign = dict(add="+", sub="-", mul="*", truediv="/", floordiv="//", mod="%", lshift="<<", rshift=">>", matmul="@", xor="^", **{"and": "&", "or": "|"})[name]
    HEAD += f"def inplace_{name}(x):\n    x {sign}= 3\n    return x\n"
HEAD += '''
def run(label, make, use):
    global RESULT, seen
    for RESULT in (3, 'text', NotImplemented, None, ()):
        seen = []
        try:
            x = make()
            out = name(use(x))
        except Exception as e:
            out = type(e).__name__ + ': ' + str(e).split(' at 0x')[0]
        print(label, name(RESULT), out, *seen)
'''
# What is done otherwise: a builtin or a number in the place of one of these is passed over, and what a wrong `__float__` is told of is the result's class.
OTHERWISE = {(op, kind) for op in ("__getattribute__", "__setattr__", "__delattr__", "__instancecheck__", "__subclasscheck__") for kind in ("builtin", "number")}


def program():
    out = [HEAD]
    n = 0
    for op, use in OPS.items():
        for kind, body in KINDS.items():
            n += 1
            base = {"__enter__": "(W)", "__missing__": "(dict)", "__instancecheck__": "(type)", "__subclasscheck__": "(type)", "__dir__": ""}.get(op, "")
            if (op, kind) in OTHERWISE: continue
            extra = ""
            if op == "__next__": extra = "    def __iter__(self): return self\n"
            if op == "__length_hint__": extra = "    def __iter__(self): return iter(())\n"
            if op == "__eq__": extra = ""
            text = f"class C{n}{base}:\n{extra}    " + body.format(n=op) + "\n"
            make = f"lambda: C{n}('M', (), {{}})" if base == "(type)" else f"C{n}"
            u = use.replace("D()", "x")
            text += f"run('{op} {kind}', {make}, lambda x: {u})\n"
            out.append(text)
    return "".join(out)
if __name__ == "__main__":
    print(program())
