//! The format of a genesis, whose hash every signature is bound to: both ways, and frozen. Blocks and receipts are in `cowboy-types`, and what
//! execution makes of blocks is in `recording.txt`.

use cowboy_chain::genesis::{Funded, GenesisCall, GenesisConfig};

cowboy_types::format_tests! {
    Funded GenesisCall GenesisConfig
}
