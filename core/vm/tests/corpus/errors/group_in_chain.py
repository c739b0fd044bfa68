"""A group as context of a group, the same exception twice, and a chain that was shown before."""
try:
    raise KeyError("shared cause")
except KeyError as error:
    cause = error
shared = ValueError("shared")
shared.__cause__ = cause
try:
    raise ExceptionGroup("first", [shared, shared])
except ExceptionGroup as group:
    raise ExceptionGroup("second", [shared, TypeError("t"), group])
