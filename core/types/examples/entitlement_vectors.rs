//! Prints the published vectors of grants and attestations.

#[path = "../tests/entitlement_vectors/mod.rs"]
mod entitlement_vectors;

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(entitlement_vectors::json().as_bytes())
}
