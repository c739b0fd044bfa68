//! Prints the parameters' docs page.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(cowboy_params::markdown().as_bytes())
}
