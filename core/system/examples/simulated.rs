//! Prints the tables of the SDK's simulated chain.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(cowboy_system::sdk::simulated().as_bytes())
}
