"""Warnings: nobody is warned."""


class check_no_warnings:
    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False
