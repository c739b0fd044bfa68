//! Prints the published vectors of secrets.

#[path = "../tests/vectors/mod.rs"]
mod vectors;

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(vectors::json().as_bytes())
}
