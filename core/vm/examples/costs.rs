//! Prints the docs page of costs.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(cowboy_vm::costs().as_bytes())
}
