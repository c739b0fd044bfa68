raise OSError(2, "No such thing", "name.txt")
