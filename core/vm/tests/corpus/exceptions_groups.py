"""Exception groups and except*."""


def attempt(function, *arguments):
    try:
        print(function(*arguments))
    except BaseException as error:
        print(type(error).__name__, "|", error)


group = ExceptionGroup("several", [ValueError(1), TypeError("t"), ExceptionGroup("inner", [KeyError("k"), ValueError(2)])])
print(group, repr(group), group.message, len(group.exceptions), [type(error).__name__ for error in group.exceptions])
print(repr(group.subgroup(ValueError)), repr(group.subgroup(lambda error: isinstance(error, KeyError))), group.subgroup(OSError), [repr(part) for part in group.split((ValueError, KeyError))], repr(group.derive([OSError("d")])))


def handle(error):
    handled = []
    try:
        raise error
    except* ValueError as values:
        handled.append(("values", repr(values)))
    except* (TypeError, KeyError) as others:
        handled.append(("others", repr(others)))
    else:
        handled.append("else")
    finally:
        handled.append("finally")
    return handled


print(handle(group))
print(handle(ValueError("naked")))
print(handle(ExceptionGroup("only", [KeyError(1)])))
try:
    handle(ExceptionGroup("rest", [ValueError(1), OSError("left")]))
except ExceptionGroup as rest:
    print("rest", repr(rest), repr(rest.__context__))
try:
    handle(OSError("not mine"))
except OSError as error:
    print("plain", error)


def quiet():
    try:
        pass
    except* ValueError:
        return_value = "never"
    else:
        return_value = "else"
    return return_value


def raise_inside():
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
    except* ValueError:
        raise RuntimeError("new")


def reraise_inside():
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2), ValueError(3)])
    except* ValueError as values:
        raise
    except* TypeError:
        print("type handled")


print(quiet())
for function in (raise_inside, reraise_inside):
    try:
        function()
    except ExceptionGroup as error:
        print(repr(error), repr(error.__cause__))
attempt(ExceptionGroup, "m", [])
attempt(ExceptionGroup, "m", 5)
attempt(ExceptionGroup, "m", [5])
attempt(ExceptionGroup, 5, [ValueError()])
attempt(ExceptionGroup, "m", [KeyboardInterrupt()])
attempt(ExceptionGroup, "m")
attempt(BaseExceptionGroup, "m", [KeyboardInterrupt()])
print(type(BaseExceptionGroup("m", [ValueError()])).__name__, isinstance(group, Exception), issubclass(ExceptionGroup, BaseExceptionGroup))


class Custom(ExceptionGroup):
    def derive(self, errors):
        return Custom(self.message + " derived", errors)


custom = Custom("custom", [ValueError(1), TypeError(2)])
matched, rest = custom.split(ValueError)
print(type(matched).__name__, matched.message, type(rest).__name__, matched, rest)


def leaves(error):
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


print([repr(leaf) for leaf in leaves(group)], len(list(leaves(custom))))


def gather(*jobs):
    results, errors = [], []
    for job in jobs:
        try:
            results.append(job())
        except Exception as error:
            errors.append(error)
    if errors:
        raise ExceptionGroup(f"{len(errors)} of {len(jobs)} jobs failed", errors)
    return results


print(gather(lambda: 1, lambda: 2))
try:
    gather(lambda: 1 / 0, lambda: 2, lambda: [][0])
except* ZeroDivisionError as zero:
    print("zero", zero, zero.exceptions)
except* IndexError as index:
    print("index", index, index.exceptions)
for attempt_number in range(2):
    try:
        raise ExceptionGroup("loop", [ValueError(attempt_number)])
    except* ValueError as error:
        print("loop", error.exceptions[0].args)
