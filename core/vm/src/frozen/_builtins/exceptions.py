"""Exceptions and groups of them."""


def raise_class(cls, cause):
    exception = cls()
    if not isinstance(exception, BaseException):
        raise TypeError(f"calling {cls!r} should have returned an instance of BaseException, not {type(exception)}")
    if cause is not ...:
        _vm.set_cause(exception, cause)
    raise exception


def exception_set_args(self, args):
    self.args = tuple(args)


def exception_str(self):
    args = self.args
    if len(args) == 1:
        return repr(args[0]) if isinstance(self, KeyError) else str(args[0])
    return repr(args) if args else ""


def exception_repr(self):
    inner = ", ".join([repr(each) for each in self.args])
    return f"{type(self).__name__}({inner})"


def exception_group_new(cls, args):
    if len(args) != 2:
        raise TypeError(f"BaseExceptionGroup.__new__() takes exactly 2 arguments ({len(args)} given)")
    message, exceptions = args
    if not isinstance(message, str):
        raise TypeError(f"BaseExceptionGroup.__new__() argument 1 must be str, not {'None' if message is None else type(message).__name__}")
    if isinstance(exceptions, (dict, set, frozenset)) or not hasattr(type(exceptions), "__getitem__"):
        raise TypeError("second argument (exceptions) must be a sequence")
    items = tuple(exceptions)
    if not items:
        raise ValueError("second argument (exceptions) must be a non-empty sequence")
    plain = True
    for position, each in enumerate(items):
        if not isinstance(each, BaseException):
            raise ValueError(f"Item {position} of second argument (exceptions) is not an exception")
        plain = plain and isinstance(each, Exception)
    if cls is BaseExceptionGroup:
        cls = ExceptionGroup if plain else cls
    elif not plain:
        if cls is ExceptionGroup:
            raise TypeError("Cannot nest BaseExceptions in an ExceptionGroup")
        if issubclass(cls, Exception):
            raise TypeError(f"Cannot nest BaseExceptions in '{cls.__name__}'")
    group = _vm.new(cls)
    group.args = (message, exceptions if isinstance(exceptions, (list, tuple)) else items)
    return group


def exception_group_derive(self, exceptions):
    return BaseExceptionGroup(self.message, exceptions)


def _matches(exception, condition):
    if isinstance(condition, (type, tuple)):
        return isinstance(exception, condition)
    return condition(exception)


def _check_condition(condition):
    if isinstance(condition, type):
        fine = issubclass(condition, BaseException)
    elif isinstance(condition, tuple):
        fine = all([isinstance(each, type) and issubclass(each, BaseException) for each in condition])
    else:
        fine = callable(condition)
    if not fine:
        raise TypeError("expected a function, exception type or tuple of exception types")


def exception_group_split(group, condition):
    _check_condition(condition)
    return _split(group, condition)


def _split(group, condition):
    if _matches(group, condition):
        return group, None
    yes, no = [], []
    for each in group.exceptions:
        if isinstance(each, BaseExceptionGroup):
            a, b = _split(each, condition)
            if a is not None:
                yes.append(a)
            if b is not None:
                no.append(b)
        elif _matches(each, condition):
            yes.append(each)
        else:
            no.append(each)
    return _derived(group, yes), _derived(group, no)


def _derived(group, exceptions):
    if not exceptions:
        return None
    result = group.derive(exceptions)
    if not isinstance(result, BaseExceptionGroup):
        raise TypeError("derive must return an instance of BaseExceptionGroup")
    _vm.copy_trace(group, result)
    result.__context__ = group.__context__
    # Which hides the context, whatever the cause is.
    result.__cause__ = group.__cause__
    if hasattr(group, "__notes__"):
        notes = group.__notes__
        if isinstance(notes, (list, tuple)):
            result.__notes__ = list(notes)
    return result


def exception_group_subgroup(group, condition):
    return exception_group_split(group, condition)[0]


def match_group(exception, classes):
    if exception is None:
        return None, None
    _check_caught(classes if isinstance(classes, tuple) else (classes,))
    if isinstance(exception, BaseExceptionGroup):
        return _split(exception, classes)
    if isinstance(exception, classes):
        return BaseExceptionGroup("", (exception,)), None
    return None, exception


def _check_caught(classes):
    for each in classes:
        if not isinstance(each, type) or not issubclass(each, BaseException):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")
    for each in classes:
        if issubclass(each, BaseExceptionGroup):
            raise TypeError("catching ExceptionGroup with except* is not allowed. Use except instead.")


def prepare_reraise_star(original, raised):
    """What leaves the clauses of `except*`: what they raised, beside one group of all parts of the original that were raised again."""
    raised = [each for each in raised if each is not None]
    if not raised:
        return None
    if not isinstance(original, BaseExceptionGroup):
        return raised[0]
    again, left = [], set()
    for each in raised:
        if _is_part(each, original):
            _leaves(each, left)
        else:
            again.append(each)
    if left:
        again.append(_kept(original, left))
    return again[0] if len(again) == 1 else BaseExceptionGroup("", again)


def _is_part(exception, original):
    if not isinstance(exception, BaseExceptionGroup) or not _vm.same_trace(exception, original):
        return False
    return exception.__cause__ is original.__cause__ and exception.__context__ is original.__context__


def _leaves(group, found):
    for each in group.exceptions:
        if isinstance(each, BaseExceptionGroup):
            _leaves(each, found)
        else:
            found.add(id(each))


def _kept(group, leaves):
    kept = []
    for each in group.exceptions:
        part = _kept(each, leaves) if isinstance(each, BaseExceptionGroup) else each if id(each) in leaves else None
        if part is not None:
            kept.append(part)
    return _derived(group, kept)
