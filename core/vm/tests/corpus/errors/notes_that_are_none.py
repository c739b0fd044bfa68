error = ValueError("x")
error.__notes__ = 5
raise error
