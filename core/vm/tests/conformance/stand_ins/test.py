"""The package of CPython's tests, as far as they import from it."""
