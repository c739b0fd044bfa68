"""try, except, else, finally: the order of things, returns and breaks on the way, re-raising, chaining."""


def order(action):
    trail = ["start"]
    try:
        trail.append("try")
        action()
        trail.append("after")
    except ValueError as error:
        trail.append(f"ValueError {error}")
    except (KeyError, IndexError) as error:
        trail.append(f"lookup {type(error).__name__} {error}")
    else:
        trail.append("else")
    finally:
        trail.append("finally")
    return trail


def raiser(error):
    def action():
        raise error
    return action


print(order(lambda: None), order(raiser(ValueError("bad"))), order(raiser(KeyError("k"))), order(lambda: [][1]), order(raiser(ValueError)))
try:
    order(lambda: 1 / 0)
except ZeroDivisionError as error:
    print("escaped", error)


def returns(kind):
    for step in range(3):
        try:
            if kind == "return":
                return "from try"
            if kind == "break":
                break
            if kind == "continue":
                continue
            if kind == "raise":
                raise RuntimeError(step)
            if kind == "swallow":
                raise KeyError(step)
        except RuntimeError as error:
            return f"from except {error}"
        finally:
            print("cleanup", kind, step)
            if kind == "swallow":
                return "from finally"
    return "end"


print([returns(kind) for kind in ("return", "break", "continue", "raise", "swallow", "none")])


def finally_value():
    value = 1
    try:
        return value
    finally:
        value = 2


def nested(depth):
    try:
        try:
            if depth:
                nested(depth - 1)
            else:
                raise ValueError("deep")
        finally:
            print("out", depth, end=" ")
    except ValueError as error:
        if depth < 2:
            raise
        return f"caught at {depth}: {error}"


print(finally_value(), nested(4))


def chain():
    try:
        try:
            {}["missing"]
        except KeyError as error:
            raise ValueError("converted") from error
    except ValueError as error:
        print(repr(error), repr(error.__cause__), repr(error.__context__), error.__suppress_context__)
    try:
        try:
            1 / 0
        except ZeroDivisionError:
            [][0]
    except IndexError as error:
        print(repr(error), repr(error.__cause__), repr(error.__context__), error.__suppress_context__)
    try:
        try:
            raise ValueError("first")
        except ValueError:
            raise TypeError("second") from None
    except TypeError as error:
        print(repr(error), error.__cause__, repr(error.__context__), error.__suppress_context__)


chain()
try:
    error = "outer"
    try:
        raise ValueError("x")
    except ValueError as error:
        pass
    print(error)
except NameError as problem:
    print(problem)


def reraise():
    try:
        raise OSError("disk")
    except OSError as error:
        saved = error
    try:
        raise saved
    except OSError as again:
        print(again is saved, again)
    try:
        raise
    except RuntimeError as error:
        print(error)


reraise()


def attempt(function):
    try:
        print(function())
    except BaseException as error:
        print(type(error).__name__, error, error.args)


def bad_raise(what, cause=None):
    raise what from cause


attempt(lambda: bad_raise(5))
attempt(lambda: bad_raise("text"))
attempt(lambda: bad_raise(ValueError("v"), 5))
attempt(lambda: bad_raise(ValueError, TypeError))
attempt(lambda: bad_raise(None))


def wrong_handler():
    try:
        raise ValueError("v")
    except "not a class":
        pass


attempt(wrong_handler)


def loop():
    log = []
    while True:
        try:
            log.append("a")
            if len(log) > 3:
                break
            continue
        finally:
            log.append("f")
    else:
        log.append("never")
    for item in (1, 0, 2):
        try:
            log.append(4 // item)
        except ZeroDivisionError:
            log.append("zero")
            continue
        else:
            log.append("fine")
    return log


print(loop())
with_else = []
for divisor in (1, 0):
    try:
        value = 1 / divisor
    except ZeroDivisionError:
        with_else.append("no")
    else:
        with_else.append(value)
print(with_else)
