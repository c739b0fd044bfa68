//! `cowboy secret receipts`: who was released what, and which members of the committee answered (decision 146).

use crate::client::{labels::Labels, session::Session};
use cowboy_api::model;
use cowboy_console::failure::Failure;
use cowboy_system::secrets::NUMBER;
use cowboy_system::secrets::types::indices;
use cowboy_types::{Address, Hash};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Blocks for which the chain itself keeps a receipt. Its events are kept as long as the node keeps blocks.
const BLOCKS: u64 = 86_400;

/// From this version on, a release is of the key of a volume's partition: these count on from 65,536 times the volume's generation.
const VOLUMES: u64 = (1 << 16) + 1;

/// Events that are read, at most.
const EVENTS: usize = 20_000;

/// Prints the releases for a job, or those of the account's own secrets.
pub(super) async fn show(session: &Session, job: Option<Hash>, since: Option<u64>) -> Result<(), Failure> {
    let (field, wanted) = match &job {
        Some(job) => ("subject", job.to_string()),
        None => ("account", session.key()?.address().to_string()),
    };
    let first = match (since, &job) {
        (Some(since), _) => since,
        (None, Some(job)) => session.client.get::<model::Job>(&format!("/job/{job}")).await?.summary.submitted_at,
        (None, None) => session.client.height().await?.saturating_sub(BLOCKS),
    };
    let path = format!("/actor/{}/logs?from={first}", Address::system(NUMBER));
    let (model::Logs { logs, .. }, next) = session.client.list::<model::Logs>(&path, None, EVENTS).await?;
    let releases = joined(logs.iter().map(|log| (log.event.name.as_str(), log.block_height, &log.event.value)), field, &wanted);
    let labels = Labels::load(&session.project);
    let lines: Vec<String> = releases.iter().map(|release| line(release, &labels)).collect();
    let text = if lines.is_empty() { format!("no release since height {first}") } else { lines.join("\n") };
    session.output.result(&releases, text);
    if let Some(last) = logs.last().filter(|_| next.is_some()) {
        let height = last.block_height;
        session.output.progress(format_args!("There are more: events were read up to height {height}. Continue with --since {height}"));
    }
    Ok(())
}

/// The releases that events tell of, in the order in which they were opened: those in which `field` is what is wanted.
fn joined<'a>(events: impl Iterator<Item = (&'a str, u64, &'a Value)>, field: &str, wanted: &str) -> Vec<Value> {
    let (mut releases, mut places) = (Vec::<Value>::new(), BTreeMap::<String, usize>::new());
    for (name, height, event) in events {
        let Some(id) = event["release_id"].as_str() else { continue };
        let place = places.get(id).copied();
        let known = place.and_then(|place| releases.get_mut(place));
        match (name, known) {
            ("release.opened", None) if event[field] == json!(wanted) => {
                let mut release = json!({ "state": "open", "opened_at": height, "closed_at": null, "epoch": null, "served": null });
                for field in ["release_id", "subject", "account", "name_hash", "version", "recipient", "deadline"] {
                    release[field] = event[field].clone();
                }
                places.insert(id.to_owned(), releases.len());
                releases.push(release);
            }
            ("release.closed", Some(release)) => {
                let served = event["served"].as_u64().and_then(|bits| u16::try_from(bits).ok()).unwrap_or_default();
                release["state"] = json!("closed");
                release["closed_at"] = json!(height);
                release["epoch"] = event["epoch"].clone();
                release["served"] = json!(indices(served).collect::<Vec<_>>());
            }
            ("release.lapsed", Some(release)) => release["state"] = json!("lapsed"),
            _ => {}
        }
    }
    releases
}

/// A release, for people.
fn line(release: &Value, labels: &Labels) -> String {
    let text = |field: &str| release[field].as_str().unwrap_or_default();
    let (hash, state) = (text("name_hash"), text("state"));
    let end = match state {
        "closed" => format!("closed at {}: members {} of committee {} answered", release["closed_at"], release["served"], release["epoch"]),
        "lapsed" => "lapsed: nobody said who answered, and the fee was burned".to_owned(),
        _ => format!("open until {}", release["deadline"]),
    };
    // A width counts for text alone.
    let opened = release["opened_at"].to_string();
    let named = format!("{hash}{}", labels.shown(hash));
    let what = match release["version"].as_u64() {
        Some(VOLUMES..) => format!("key of volume {named}"),
        _ => format!("{named}  version {}", release["version"]),
    };
    format!("{opened:>8}  {what}  to {}  {end}", text("recipient"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(id: &str, account: &str, subject: &str) -> Value {
        json!({
            "release_id": id, "account": account, "subject": subject, "name_hash": "0xaa", "version": 2, "recipient": "0xbb", "deadline": 90,
        })
    }

    /// Each release is there once, with how it ended; those of others are not.
    #[test]
    fn receipts_are_put_together() {
        let (one, two, three) = (opened("0x1", "0xa", "0xj"), opened("0x2", "0xa", "0xk"), opened("0x3", "0xother", "0xj"));
        let closed = |id: &str| json!({ "release_id": id, "epoch": 4, "served": 0b1011 });
        let (of_one, of_three, lapsed) = (closed("0x1"), closed("0x3"), json!({ "release_id": "0x2", "amount": 5 }));
        let (other, again) = (json!({ "key_id": 1 }), opened("0x1", "0xa", "0xj"));
        let events = [
            ("release.opened", 10, &one),
            ("release.opened", 11, &two),
            ("dealing.begun", 11, &other),
            ("release.opened", 12, &three),
            ("release.closed", 13, &of_one),
            ("release.closed", 13, &of_three),
            ("release.opened", 14, &again),
            ("release.lapsed", 95, &lapsed),
        ];
        let found = |field: &str, wanted: &str| {
            let releases = joined(events.into_iter(), field, wanted);
            let row = |release: &Value| (release["release_id"].as_str().expect("an id").to_owned(), release["state"].clone());
            releases.iter().map(row).collect::<Vec<_>>()
        };
        let rows = |rows: &[(&str, &str)]| rows.iter().map(|(id, state)| ((*id).to_owned(), json!(state))).collect::<Vec<_>>();
        assert_eq!(found("account", "0xa"), rows(&[("0x1", "closed"), ("0x2", "lapsed")]));
        assert_eq!(found("subject", "0xj"), rows(&[("0x1", "closed"), ("0x3", "closed")]));
        assert_eq!(found("subject", "0xnone"), rows(&[]));
        let releases = joined(events.into_iter(), "account", "0xa");
        let [first, second] = &releases[..] else { panic!("two releases") };
        assert_eq!((&first["served"], &first["epoch"], &first["closed_at"]), (&json!([0, 1, 3]), &json!(4), &json!(13)));
        let said = line(first, &Labels::default());
        assert_eq!(said, "      10  0xaa  version 2  to 0xbb  closed at 13: members [0,1,3] of committee 4 answered");
        let mut of_volume = first.clone();
        of_volume["version"] = json!(65_537);
        assert!(line(&of_volume, &Labels::default()).starts_with("      10  key of volume 0xaa  to 0xbb"));
        assert!(line(second, &Labels::default()).ends_with("lapsed: nobody said who answered, and the fee was burned"));
    }
}
