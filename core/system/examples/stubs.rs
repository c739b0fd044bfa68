//! Prints the stubs of the SDK's module of system actors.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(cowboy_system::stubs().as_bytes())
}
