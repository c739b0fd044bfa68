"""The chain's and the execution's metadata under the names of a `sys` module."""

from ._context import context as get_context
from ._context import (
    get_actor_address,
    get_block_height,
    get_chain_id,
    get_chain_instance_id,
    get_pvm_version,
    get_sender,
    get_timestamp_ms,
    get_tx_hash,
)
