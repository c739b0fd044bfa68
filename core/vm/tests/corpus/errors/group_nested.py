"""A tree of groups with frames, notes, causes and contexts inside."""


def fail(kind, words):
    raise kind(words)


def caught(kind, words, note=None):
    try:
        fail(kind, words)
    except kind as error:
        if note:
            error.add_note(note)
        return error


def with_cause():
    try:
        try:
            fail(KeyError, "inside")
        except KeyError as error:
            raise ValueError("two\nlines") from error
    except ValueError as error:
        return error


def with_context():
    try:
        try:
            fail(KeyError, "before")
        except KeyError:
            fail(TypeError, "after")
    except TypeError as error:
        return error


class Own(Exception):
    def __str__(self):
        return "in its own words"


def inner():
    try:
        raise ExceptionGroup("inner", [with_cause(), caught(OSError, "gone", "a note\nof two lines"), with_context(), Own()])
    except ExceptionGroup as group:
        group.add_note("about the group")
        return group


def outer():
    members = [ValueError(1), inner(), ExceptionGroup("never raised", [TypeError("t"), KeyError()])]
    try:
        raise LookupError("first")
    except LookupError:
        raise BaseExceptionGroup("outer", members + [KeyboardInterrupt()])


try:
    outer()
except BaseExceptionGroup as group:
    group.add_note("the last word")
    raise RuntimeError("it ends here") from group
