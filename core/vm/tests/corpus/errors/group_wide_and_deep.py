"""A group shows fifteen of its exceptions, and ten groups inside each other."""

deep = ValueError("at the bottom")
for level in range(14):
    deep = ExceptionGroup(f"level {level}", [deep])
just = ValueError("still shown")
for level in range(9):
    just = ExceptionGroup(f"step {level}", [TypeError(level), just])

raise ExceptionGroup("wide", [just, ExceptionGroup("sixteen", [KeyError(i) for i in range(16)]), deep] + [ValueError(i) for i in range(20)])
