//! Prints the docs page of the system actors.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(cowboy_system::markdown().as_bytes())
}
