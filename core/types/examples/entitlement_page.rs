//! Prints the tables of the page about entitlements.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(cowboy_types::entitlement::page::markdown().as_bytes())
}
