"""Time as the chain knows it: the block's timestamp, equal on every validator."""

from ._context import get_block_height, get_timestamp_ms
from .types import BlockHeight


def time():
    """Seconds since 1970, as a float."""
    return get_timestamp_ms() / 1000.0


def time_ms():
    return get_timestamp_ms()


def time_ns():
    return get_timestamp_ms() * 1_000_000


def monotonic():
    """Seconds, never decreasing from block to block."""
    return time()


def monotonic_ns():
    return time_ns()


def block_height():
    return get_block_height()


def block_height_obj():
    return BlockHeight(get_block_height())
