"""Instead of `time`: it stands still."""


def perf_counter():
    return 0.0
