"""Bounds that the chain checks too.

Generated from the tables of the protocol by `cargo run -p cowboy-system --example bounds > core/sdk/cowboy_sdk/_bounds.py`.
"""

# What a callback may use, in cycles: the range of jobs.callback_cycles.
CALLBACK_MIN = 102_000

CALLBACK_MAX = 22_222_222

# The most runners that a job may name.
RUNNERS_MAX = 9

# Bytes of a job's request.
REQUEST_BYTES = 131_072

# Bytes of the JSON schema that a result is held to.
SCHEMA_BYTES = 8_192

# Bytes of a handler's name.
HANDLER_BYTES = 256

# Bytes of the salt of an address.
SALT_BYTES = 32

# Bytes of an event's data, as far as governance may allow.
EVENT_BYTES = 4_096

# Levels of a value in CBOR.
CBOR_DEPTH = 256

# Bits of an integer in CBOR.
INTEGER_BITS = 4_096

# Names of the modes of verification.
MODES = (
    "none",
    "economic_bond",
    "optimistic",
    "majority_vote",
    "consensus",
    "structured_match",
    "deterministic",
    "tee",
    "semantic_similarity",
)

# Those in which a runner answers with its stake.
BONDED_MODES = (
    "economic_bond",
    "optimistic",
)
