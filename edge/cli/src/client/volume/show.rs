//! What the chain says of volumes.

use super::{Which, counted, storage_failure, view};
use crate::client::{labels::Labels, session::Session};
use cowboy_console::{amount, failure::Failure, output::table};
use cowboy_system::storage::NUMBER;
use cowboy_volume::VolumeError;
use serde_json::{Value, json};

pub(super) async fn list(session: &Session, account: Option<&str>) -> Result<(), Failure> {
    let account = session.address_or_own(account)?;
    let ids = view(session, NUMBER, "list_volumes", json!({ "account": account.to_string() })).await?;
    let mut rows = Vec::new();
    for id in ids.as_array().into_iter().flatten() {
        rows.push(view(session, NUMBER, "get_volume", json!({ "volume": id })).await?);
    }
    let labels = Labels::load(&session.project);
    let line = |row: &Value| {
        let text = |field: &str| row[field].as_str().unwrap_or_default().to_owned();
        let used = row["bytes"].as_u64().unwrap_or(0).saturating_mul(row["data"].as_u64().unwrap_or(0));
        let (id, status) = (text("volume_id"), text("status"));
        format!("{id}{}  {status}  {}+{}  {used} of {} bytes", labels.shown(&id), row["data"], row["parity"], row["quota"])
    };
    let lines: Vec<String> = rows.iter().map(line).collect();
    let text = if lines.is_empty() { format!("{account} has no volumes") } else { lines.join("\n") };
    session.output.result(&rows, text);
    Ok(())
}

pub(super) async fn info(session: &Session, which: &Which) -> Result<(), Failure> {
    let id = which.id(session)?;
    let volume = view(session, NUMBER, "get_volume", json!({ "volume": id.to_string() })).await?;
    if volume.is_null() {
        return Err(storage_failure(VolumeError::NotFound));
    }
    let number = |field: &str| volume[field].as_u64().unwrap_or(0);
    let text_of = |field: &str| volume[field].as_str().unwrap_or_default().to_owned();
    let slot = |(place, slot): (usize, &Value)| {
        let relay = slot["relay"].as_str().unwrap_or("none");
        let state = if slot["is_serving"] == json!(true) { "serves" } else { "is not there yet" };
        format!("  slot {place}  {relay}  {state}, {} a MiB and epoch", slot["price"])
    };
    let slots: Vec<String> = volume["slots"].as_array().into_iter().flatten().enumerate().map(slot).collect();
    let partitions = volume["partitions"].as_array().map_or(0, Vec::len);
    let used = number("bytes").saturating_mul(number("data"));
    let used = format!("{used} of {} bytes, in {}", number("quota"), counted(partitions, "partition"));
    let head = table([
        ("volume", id.to_string()),
        ("owner", text_of("owner")),
        ("status", text_of("status")),
        ("keys", text_of("keys")),
        ("used", used),
        ("escrow", format!("{}, of which {} are earned", amount::cby(number("escrow")), amount::cby(number("owed")))),
        ("an epoch costs", amount::cby(number("per_epoch"))),
        ("manifest", text_of("manifest_root")),
    ]);
    session.output.result(&volume, format!("{head}\n{}", slots.join("\n")));
    Ok(())
}
