value = 3
assert value < 2, f"{value} is too large"
