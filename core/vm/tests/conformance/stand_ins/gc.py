"""Objects go when their last reference goes: there is nothing to collect."""


def collect(generation=2):
    return 0
