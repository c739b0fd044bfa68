"""Warnings: nobody is warned, and nothing is recorded."""


class catch_warnings:
    def __init__(self, *, record=False, module=None, **kwargs):
        self.record = record

    def __enter__(self):
        return [] if self.record else None

    def __exit__(self, *exception):
        return False


def simplefilter(*args, **kwargs):
    pass


def filterwarnings(*args, **kwargs):
    pass


def resetwarnings():
    pass


def warn(*args, **kwargs):
    pass
