//! Two headers that one validator signed for one round, as `cowboy validator report` takes them.

use commonware_codec::DecodeExt as _;
use cowboy_api::{Hex, HexBytes};
use cowboy_console::{failure::Failure, payload};
use cowboy_types::{Address, Header};
use serde::Deserialize;
use serde_json::{Value, json};

/// What is read of a block as `cowboy block get --json` prints it.
#[derive(Deserialize)]
struct Block {
    header: Encoded,
}

#[derive(Deserialize)]
struct Encoded {
    encoded: HexBytes,
}

/// The argument of a report. Fails where no chain would take the two headers as evidence.
pub(super) fn argument(validator: Address, first: &str, second: &str) -> Result<Value, Failure> {
    let [(first, one), (second, other)] = [header(first)?, header(second)?];
    let refused = |what: String| Err(Failure::argument(what, "give two different headers of one round that one validator signed"));
    let round = |header: &Header| (header.context.epoch.0, header.context.view.0);
    if first == second {
        return refused("the same header is given twice".to_owned());
    }
    if round(&one) != round(&other) {
        let [(epoch, view), (later, beside)] = [round(&one), round(&other)];
        return refused(format!("the headers are of two rounds: epoch {epoch}, view {view}, and epoch {later}, view {beside}"));
    }
    if one.signer().is_none() || one.signer() != other.signer() {
        return refused("the headers are not signed with one key".to_owned());
    }
    Ok(json!({ "validator": validator.to_string(), "first": Hex(first), "second": Hex(second) }))
}

/// A header and its bytes.
fn header(text: &str) -> Result<(Vec<u8>, Header), Failure> {
    let given = payload::bytes(text)?;
    let bytes = serde_json::from_slice(&given).map_or(given, |block: Block| block.header.encoded.0);
    let fix = "give the bytes of one in hex, or @FILE with a block as `cowboy block get HEIGHT --json` prints it";
    let header = Header::decode(bytes.clone()).map_err(|error| Failure::argument(format!("{text} has no header: {error}"), fix))?;
    Ok((bytes, header))
}
