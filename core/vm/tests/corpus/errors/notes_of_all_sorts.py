"""Notes that are no texts, and notes of a cause."""


class Loud:
    def __repr__(self):
        return "Loud()"


try:
    raise KeyError("cause")
except KeyError as error:
    error.add_note("of the cause")
    failed = ValueError("two\nlines")
    failed.add_note("first\nsecond")
    failed.add_note("")
    failed.__notes__.append(3)
    failed.__notes__.append(("a", 1))
    failed.__notes__.append("last")
    raise failed from error
