"""Instead of `sys`."""
argv = ["benchmark"]
maxsize = 9223372036854775807
version_info = (3, 11, 7)
executable = "python3"
