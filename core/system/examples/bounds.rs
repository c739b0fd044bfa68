//! Prints the SDK's module of bounds.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(cowboy_system::sdk::bounds().as_bytes())
}
