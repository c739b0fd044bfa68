"""Modules fetched by name."""

import collections
import enum
import functools
import hashlib
import itertools
import json
import math
import struct
import typing

_known = {each.__name__: each for each in (collections, enum, functools, hashlib, itertools, json, math, struct, typing)}

try:
    import decimal

    _known["decimal"] = decimal
except ImportError:
    pass
try:
    import re

    _known["re"] = re
except ImportError:
    pass


def import_fresh_module(name, fresh=(), blocked=(), deprecated=False):
    return _known.get(name)


def import_module(name, deprecated=False, *, required_on=()):
    import unittest

    if name not in _known:
        raise unittest.SkipTest(f"module {name}")
    return _known[name]
