//! What the chain says of volumes.

use super::{Which, view};
use crate::client::{labels::Labels, listing, session::Session};
use cowboy_console::{
    amount::{self, counted},
    failure::Failure,
    output::table,
};
use cowboy_system::storage::NUMBER;
use cowboy_volume::VolumeError;
use serde_json::{Value, json};

/// Gives the bytes of a whole volume or partition, and its name where this folder knows it: the chain has the bytes of one slot, and a hash.
fn complete(row: &mut Value, hash: &str, data: u64, labels: &Labels) {
    row["bytes"] = json!(row["bytes"].as_u64().unwrap_or(0).saturating_mul(data));
    row["name"] = json!(row[hash].as_str().and_then(|hash| labels.named(hash)));
}

/// A volume that the chain describes, as people count and name it.
fn described(mut volume: Value, labels: &Labels) -> Value {
    let data = volume["data"].as_u64().unwrap_or(1);
    complete(&mut volume, "volume_id", data, labels);
    for partition in volume.get_mut("partitions").and_then(Value::as_array_mut).into_iter().flatten() {
        complete(partition, "partition", data, labels);
    }
    volume
}

pub(super) async fn list(session: &Session, account: Option<&str>) -> Result<(), Failure> {
    let account = session.address_or_own(account)?;
    let ids = listing::all_of_view(session, (NUMBER, "list_volumes"), json!({ "account": account.to_string() }), |id| id).await?;
    let (labels, mut rows) = (Labels::load(&session.project), Vec::new());
    for id in &ids {
        rows.push(described(view(session, NUMBER, "get_volume", json!({ "volume": id })).await?, &labels));
    }
    let line = |row: &Value| {
        let text = |field: &str| row[field].as_str().unwrap_or_default().to_owned();
        let (id, status) = (text("volume_id"), text("status"));
        let [used, quota] = ["bytes", "quota"].map(|field| amount::bytes(row[field].as_u64().unwrap_or(0)));
        format!("{id}{}  {status}  {}+{}  {used} of {quota}", labels.shown(&id), row["data"], row["parity"])
    };
    session.output.result(&rows, listing::lines(&rows, line, &format!("{account} has no volumes")));
    Ok(())
}

pub(super) async fn info(session: &Session, which: &Which) -> Result<(), Failure> {
    let id = which.id(session).await?;
    let volume = view(session, NUMBER, "get_volume", json!({ "volume": id.to_string() })).await?;
    if volume.is_null() {
        return Err(which.failure(VolumeError::NotFound));
    }
    which.learn(session, &id);
    let labels = Labels::load(&session.project);
    let mut volume = described(volume, &labels);
    volume["capabilities"] = view(session, NUMBER, "list_caps", json!({ "volume": id.to_string() })).await?;
    let number = |field: &str| volume[field].as_u64().unwrap_or(0);
    let text_of = |field: &str| volume[field].as_str().unwrap_or_default().to_owned();
    let slot = |(place, slot): (usize, &Value)| {
        let relay = slot["relay"].as_str().unwrap_or("none");
        let state = if slot["is_serving"] == json!(true) { "serves" } else { "is not there yet" };
        format!("  slot {place}  {relay}  {state}, {} base units a MiB and epoch", slot["price"])
    };
    let slots: Vec<String> = volume["slots"].as_array().into_iter().flatten().enumerate().map(slot).collect();
    let partitions = volume["partitions"].as_array().map_or(0, Vec::len);
    let used = format!("{} of {}, in {}", amount::bytes(number("bytes")), amount::bytes(number("quota")), counted(partitions, "partition"));
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
    let rights = volume["capabilities"].as_array().into_iter().flatten().map(|row| capability(row, &labels));
    let lines: Vec<String> = std::iter::once(head).chain(slots).chain(rights).collect();
    session.output.result(&volume, lines.join("\n"));
    Ok(())
}

/// A right to a partition in one line: its owner takes it back by its id.
fn capability(row: &Value, labels: &Labels) -> String {
    let text = |field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let (mode, partition) = (text("mode"), text("partition"));
    let [used, most] = ["used_bytes", "max_bytes"].map(|field| amount::bytes(row[field].as_u64().unwrap_or(0)));
    let added = if mode.contains('w') { format!(", {used} of {most} added") } else { String::new() };
    let shown = labels.shown(&partition);
    format!("  capability {}  {mode} of {partition}{shown} for {} until height {}{added}", text("capability"), text("holder"), row["until"])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who may revoke a right finds its id, also long after it was given.
    #[test]
    fn rights_are_shown_with_their_ids() {
        let mut row = json!({
            "capability": "0x4d", "holder": "0x70", "mode": "r", "partition": "0xa4", "until": 90, "used_bytes": 1024, "max_bytes": 1_048_576,
        });
        let labels = Labels::load(std::path::Path::new("nowhere"));
        assert_eq!(capability(&row, &labels), "  capability 0x4d  r of 0xa4 for 0x70 until height 90");
        row["mode"] = json!("rw");
        assert!(capability(&row, &labels).ends_with("until height 90, 1.0 KiB of 1.0 MiB added"));
    }

    /// The bytes in JSON are those of the whole, as the quota beside them and the text; names are those that the folder knows.
    #[test]
    fn bytes_are_of_the_whole_volume() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(".cowboy")).expect("it is made");
        std::fs::write(folder.path().join(".cowboy/names.json"), r#"{ "0x01": "memory", "0x02": "notes" }"#).expect("it is written");
        let listed = |hash: &str| json!({ "partition": hash, "bytes": 1024, "root": "0x" });
        let volume = json!({
            "volume_id": "0x01", "data": 4, "bytes": 2048, "quota": 100_000, "partitions": [listed("0x02"), listed("0x03")],
        });
        let shown = described(volume, &Labels::load(folder.path()));
        assert_eq!((&shown["bytes"], &shown["quota"], &shown["name"]), (&json!(8192), &json!(100_000), &json!("memory")));
        let partitions =
            [0_usize, 1].map(|place| (shown["partitions"][place]["bytes"].clone(), shown["partitions"][place]["name"].clone()));
        assert_eq!(partitions, [(json!(4096), json!("notes")), (json!(4096), Value::Null)]);
    }
}
