raise RuntimeError("first line\nlast line: é")
