"""The frame of a group that ends with a group is closed once."""


def made():
    return ExceptionGroup("a", [ValueError(1), ExceptionGroup("b", [ExceptionGroup("c", [TypeError(2)])])])


try:
    raise made()
except* ValueError as caught:
    raise OSError("while handling") from None
