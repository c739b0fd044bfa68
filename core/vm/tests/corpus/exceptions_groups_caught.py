# `except*`: what each clause gets, and what leaves them.
def t(f):
    try: print(f())
    except BaseException as e: print("raised", type(e).__name__, e, [type(x).__name__ for x in getattr(e, "exceptions", [])], repr(e.__cause__), repr(e.__context__), e.__suppress_context__, type(e.__traceback__).__name__)
def a():
    try: raise ExceptionGroup("g", [ValueError(1), TypeError(2), KeyError(3)])
    except* ValueError as e: print(repr(e), e.exceptions)
    except* TypeError as e: print(repr(e)); raise
t(a)
def b():
    try: raise ValueError(1)
    except* ValueError as e: print(repr(e), e.exceptions[0].__traceback__ is not None); raise KeyError(9)
t(b)
def c():
    try: raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
    except* ValueError as e: raise KeyError(9) from e
t(c)
def d():
    try: raise ExceptionGroup("g", [ValueError(1), ExceptionGroup("h", [TypeError(2), ValueError(3)])])
    except* ValueError as e: print(repr(e)); raise e
t(d)
def e_():
    try: raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
    except* ValueError as e: raise e.exceptions[0]
    except* TypeError as e: raise OSError(5)
t(e_)
def f():
    try: raise ExceptionGroup("g", [ValueError(1)])
    except* 5: pass
t(f)
def g():
    try: raise ExceptionGroup("g", [ValueError(1)])
    except* (ValueError, 5): pass
t(g)
def h():
    try: raise ExceptionGroup("g", [ValueError(1)])
    except* ExceptionGroup: pass
t(h)
def h2():
    try: raise ValueError(1)
    except* (ValueError, ExceptionGroup): pass
t(h2)
def h3():
    try: raise ValueError(1)
    except* BaseExceptionGroup: pass
t(h3)
def i():
    try: pass
    except* ValueError: print("no")
    else: print("else")
    finally: print("finally")
    return "done"
t(i)
def j():
    for k in range(3):
        try: raise ExceptionGroup("g", [ValueError(k)])
        except* ValueError as e: print(k, repr(e))
    try: e
    except NameError as n: print(n)
    return "j"
t(j)
def k():
    try: raise KeyboardInterrupt(1)
    except* KeyboardInterrupt as e: print(repr(e), type(e).__name__)
    try: raise BaseExceptionGroup("g", [KeyboardInterrupt(1), ValueError(2)])
    except* Exception as e: print(repr(e))
t(k)
class G(ExceptionGroup):
    def derive(self, excs): return G("derived " + self.message, excs)
def l():
    try: raise G("g", [ValueError(1), TypeError(2)])
    except* ValueError as e: print(repr(e))
t(l)
class H(ExceptionGroup):
    def derive(self, excs): return 5
def m():
    try: raise H("g", [ValueError(1), TypeError(2)])
    except* ValueError as e: print(repr(e))
t(m)
def n():
    try:
        try: raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
        except* ValueError as e: print(1/0)
    except* ZeroDivisionError as e: print(repr(e), repr(e.exceptions[0].__context__))
t(n)
def o():
    try: raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
    except* ValueError: raise
    except* TypeError: raise
t(o)
def p():
    x = ExceptionGroup("g", [ValueError(1), TypeError(2)])
    x.add_note("n1")
    try: raise x
    except* ValueError as e: print(e.__notes__, e is x)
t(p)
def q():
    x = ExceptionGroup("g", [ValueError(1)])
    try: raise x
    except* ValueError as e: print(e is x)
    x = ValueError(3)
    try: raise x
    except* ValueError as e: print(e.exceptions[0] is x, repr(e.message), e.__traceback__)
t(q)
def r():
    try: raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
    except* ValueError as e:
        try: raise ExceptionGroup("inner", [OSError(1), KeyError(2)])
        except* OSError: print("inner os")
t(r)
class P:
    pass
def s():
    try: raise ExceptionGroup("g", [ValueError(1)])
    except* P: pass
t(s)
def u():
    try: raise ExceptionGroup("g", [ValueError(1)])
    except* (): print("none")
t(u)
def v():
    try: raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
    except* ValueError as e: raise ExceptionGroup("new", [KeyError(1)])
    except* TypeError as e: raise ExceptionGroup("new2", [KeyError(2)]) from None
t(v)
def w():
    def gen():
        try: yield 1
        except* ValueError as e: print(repr(e)); yield 2
    x = gen(); next(x)
    return x.throw(ValueError(8)), list(x)
t(w)
