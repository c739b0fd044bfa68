//! What the SDK takes from the tables of the protocol: the bounds that its modules on chain check before the chain does, and the refusals,
//! parameters and bounds of the chain that `mock_host` simulates. Both are Python modules that are checked in; the tests compare them.

use crate::ledger::{NAME_BYTES, SYMBOL_BYTES, URI_BYTES};
use crate::storage::SCANNABLE_KEY_BYTES;
use crate::tokens::handlers::MAX_DECIMALS;
use cowboy_params::{Params, Row};
use cowboy_types::cbor::{MAX_DEPTH, MAX_INTEGER_BITS};
use cowboy_types::error;
use cowboy_types::instruction::{HANDLER_BYTES, SALT_BYTES};
use cowboy_types::job::{Mode, REQUEST_BYTES, SCHEMA_BYTES};
use cowboy_volumes::{USUAL_PRICE, code};

const BOUNDS: &str = "\"\"\"Bounds that the chain checks too.

Generated from the tables of the protocol by `cargo run -p cowboy-system --example bounds > core/sdk/cowboy_sdk/_bounds.py`.
\"\"\"
";

const SIMULATED: &str = "\"\"\"What the simulated chain shares with the protocol.

Generated from the tables of the protocol by `cargo run -p cowboy-system --example simulated > sdk/python/cowboy_sdk/mock/protocol.py`.
\"\"\"
";

/// The parameters that the simulated chain counts by.
const PARAMETERS: &[&str] = &[
    "consensus.seed_history",
    "execution.event_bytes",
    "execution.reentrancy_depth",
    "execution.return_bytes",
    "execution.scan_limit",
    "execution.storage_key_bytes",
    "gateways.result_ttl",
    "volumes.creation_fee",
    "volumes.max_quota",
    "volumes.reserve_epochs",
    "volumes.undelete",
];

/// `cowboy_sdk._bounds`, in Python.
pub fn bounds() -> String {
    let callback = row("jobs.callback_cycles");
    let mut text = BOUNDS.to_owned();
    let bounds = [
        ("What a callback may use, in cycles: the range of jobs.callback_cycles.", "CALLBACK_MIN", callback.min),
        ("", "CALLBACK_MAX", callback.max),
        ("The most runners that a job may name.", "RUNNERS_MAX", row("jobs.runners_max").max),
        ("Bytes of a job's request.", "REQUEST_BYTES", wide(REQUEST_BYTES)),
        ("Bytes of the JSON schema that a result is held to.", "SCHEMA_BYTES", wide(SCHEMA_BYTES)),
        ("Bytes of a handler's name.", "HANDLER_BYTES", wide(HANDLER_BYTES)),
        ("Bytes of the salt of an address.", "SALT_BYTES", wide(SALT_BYTES)),
        ("Bytes of an event's data, as far as governance may allow.", "EVENT_BYTES", row("execution.event_bytes").max),
        ("Levels of a value in CBOR.", "CBOR_DEPTH", wide(MAX_DEPTH)),
        ("Bits of an integer in CBOR.", "INTEGER_BITS", wide(MAX_INTEGER_BITS)),
    ];
    text.push_str(&numbers(&bounds));
    let (names, bonded): (Vec<&str>, Vec<&str>) = (
        Mode::NAMES.iter().map(|(name, _)| *name).collect(),
        Mode::NAMES.iter().filter(|(_, mode)| *mode == Mode::EconomicBond).map(|(name, _)| *name).collect(),
    );
    text.push_str(&format!("\n# Names of the modes of verification.\n{}", tuple("MODES", &names)));
    text.push_str(&format!("\n# Those in which a runner answers with its stake.\n{}", tuple("BONDED_MODES", &bonded)));
    text
}

/// `cowboy_sdk.mock.protocol`, in Python.
pub fn simulated() -> String {
    let mut text = format!("{SIMULATED}\n# The names of all refusals, and the code that a HostError of each has.\nREFUSALS = {{\n");
    for refusal in error::TABLE {
        text.push_str(&format!("    \"{}\": {},\n", refusal.slug, refusal.class.code()));
    }
    text.push_str("}\n\n# Parameters at genesis.\nPARAMETERS = {\n");
    for name in PARAMETERS {
        text.push_str(&format!("    \"{name}\": {},\n", grouped(row(name).genesis)));
    }
    text.push_str("}\n");
    let bounds = [
        ("Bytes of the longest key that a scan of storage returns.", "SCANNABLE_KEY_BYTES", wide(SCANNABLE_KEY_BYTES)),
        ("Bytes of a file in a volume.", "FILE_BYTES", code::OBJECT_BYTES),
        ("Shards of a volume that carry its files, and those that may be lost.", "DATA_SHARDS", code::MAX_DATA.into()),
        ("", "PARITY_SHARDS", code::MAX_PARITY.into()),
        ("Bytes of a token's name, of its symbol, and of the address where more is said of it.", "TOKEN_NAME_BYTES", wide(NAME_BYTES)),
        ("", "TOKEN_SYMBOL_BYTES", wide(SYMBOL_BYTES)),
        ("", "TOKEN_URI_BYTES", wide(URI_BYTES)),
        ("Decimal places of a token.", "TOKEN_DECIMALS", MAX_DECIMALS.into()),
        ("What a slot of a volume costs at most for a MiB and an epoch, where nothing else is said.", "USUAL_PRICE", USUAL_PRICE),
    ];
    text.push_str(&numbers(&bounds));
    text
}

/// Numbers with their names, in Python. One without a comment belongs to that of the number before it.
fn numbers(rows: &[(&str, &str, u64)]) -> String {
    let mut text = String::new();
    for (about, name, number) in rows {
        let about = if about.is_empty() { String::new() } else { format!("# {about}\n") };
        text.push_str(&format!("\n{about}{name} = {}\n", grouped(*number)));
    }
    text
}

fn row(name: &str) -> &'static Row {
    Params::row(name).expect("the names above are those of rows, which a test goes through")
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).expect("a usize has at most 64 bits")
}

fn tuple(name: &str, items: &[&str]) -> String {
    let items: String = items.iter().map(|item| format!("    \"{item}\",\n")).collect();
    format!("{name} = (\n{items})\n")
}

/// A number with an underscore before every third digit from the end.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len().saturating_sub(place).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_of_the_sdk_are_up_to_date() {
        let written = include_str!("../../sdk/cowboy_sdk/_bounds.py");
        assert_eq!(written, bounds(), "run: cargo run -p cowboy-system --example bounds > core/sdk/cowboy_sdk/_bounds.py");
    }

    #[test]
    fn the_tables_of_the_simulated_chain_are_up_to_date() {
        let written = include_str!("../../../sdk/python/cowboy_sdk/mock/protocol.py");
        assert_eq!(written, simulated(), "run: cargo run -p cowboy-system --example simulated > sdk/python/cowboy_sdk/mock/protocol.py");
    }

    /// A header has room for the seeds of all rounds that can be read.
    #[test]
    fn a_header_carries_the_history_of_seeds() {
        assert_eq!(row("consensus.seed_history").max, wide(cowboy_types::block::MAX_SEEDS));
    }

    #[test]
    fn numbers_have_underscores() {
        let cases = [(0, "0"), (256, "256"), (4_096, "4_096"), (102_000, "102_000"), (107_374_182_400, "107_374_182_400")];
        for (number, expected) in cases {
            assert_eq!(grouped(number), expected);
        }
    }
}
