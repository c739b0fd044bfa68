try:
    int("x")
except ValueError:
    {}["inner"]
