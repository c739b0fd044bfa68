//! What people read of a secret: its record, its policy, never its value.

use super::{kept, view};
use crate::client::{labels::Labels, listing::lines, session::Session};
use crate::send::Sent;
use commonware_codec::DecodeExt as _;
use cowboy_api::{HexBytes, model};
use cowboy_console::{amount, failure::Failure, output::table};
use cowboy_secrets::Name;
use cowboy_secrets::policy::{Actors, Attestation, Policy, Runners};
use cowboy_types::job::JobKind;
use cowboy_types::units::{Amount, Count, Height};
use serde_json::{Value, json};

/// Who could keep the value, in a sentence.
pub(super) fn readers(policy: &Policy) -> String {
    let runners = match &policy.runners {
        Runners::Any => "any runner that is drawn".to_owned(),
        Runners::Listed { addresses } => format!("any of {}", amount::counted(addresses.len(), "named runner")),
        Runners::Pool { id } => format!("any member of the pool {id}"),
    };
    let environment = match &policy.attestation {
        Attestation::NotRequired => "",
        Attestation::Required { .. } => " with an attested environment",
    };
    let hosts = if policy.hosts.is_empty() {
        "it may be sent to no host".to_owned()
    } else {
        format!("it may be sent to {}", texts(&policy.hosts))
    };
    let jobs = match policy.copies {
        1 => "one runner of a job".to_owned(),
        copies => format!("up to {copies} runners of a job"),
    };
    format!("{runners}{environment} could keep this value: {jobs} at a time; {hosts}")
}

fn texts<T: ToString>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(", ")
}

/// Prints the secrets of an account.
pub(super) async fn list(session: &Session, account: Option<&str>) -> Result<(), Failure> {
    let account = session.address_or_own(account)?;
    let hashes = kept(session, account).await?;
    let (labels, mut rows) = (Labels::load(&session.project), Vec::new());
    for hash in &hashes {
        let mut row = view(session, "get_secret", json!({ "account": account.to_string(), "name_hash": hash })).await?;
        row["name"] = json!(hash.as_str().and_then(|hash| labels.named(hash)));
        rows.push(row);
    }
    let line = |row: &Value| {
        let hash = row["name_hash"].as_str().unwrap_or_default();
        let paused = if row["is_paused"] == json!(true) { "  paused" } else { "" };
        format!("{hash}{}  version {}{paused}", labels.shown(hash), row["latest"])
    };
    session.output.result(&rows, lines(&rows, line, &format!("{account} has no secrets")));
    Ok(())
}

/// Prints the newest version of a secret of one's own.
pub(super) async fn show(session: &Session, name: &Name) -> Result<(), Failure> {
    let account = session.key()?.address();
    let name_hash = name.hash(account).to_string();
    let asked = json!({ "account": account.to_string(), "name_hash": name_hash });
    let version = view(session, "get_version", asked.clone()).await?;
    if version.is_null() {
        return Err(Failure::refused(format!("{account} has no secret {}", name.as_str()), "cowboy secret ls"));
    }
    let record = view(session, "get_secret", asked).await?;
    let document = complete(version.clone(), &record, (name.as_str(), &name_hash));
    let named = [("name", name.as_str().to_owned()), ("name hash", name_hash)];
    session.output.result(&document, table(named.into_iter().chain(rows(&record, &version))));
    Ok(())
}

/// A version as programs read it: with what the secret is called, and what its policy says in words.
fn complete(mut version: Value, record: &Value, (name, name_hash): (&str, &str)) -> Value {
    let readers = policy_of(&version).as_ref().map(readers);
    version["name"] = json!(name);
    version["name_hash"] = json!(name_hash);
    version["is_paused"] = record["is_paused"].clone();
    version["readers"] = json!(readers);
    version
}

/// Who holds the key to which secrets are sealed, and which dealing is under way.
pub(super) fn committee(key: &Value, round: &Value) -> String {
    let dealing = if round.is_null() {
        "none".to_owned()
    } else {
        let phase = round["phase"].as_str().unwrap_or_default();
        format!("{}, in its phase {phase} until height {}", round["round"], round["ends_at"])
    };
    if key["master"].is_null() {
        return table([("key", "no committee holds one yet".to_owned()), ("dealing", dealing)]);
    }
    let members: Vec<&str> = key["members"].as_array().into_iter().flatten().filter_map(|member| member["address"].as_str()).collect();
    let head = table([
        ("key", key["key_id"].to_string()),
        ("committee", format!("{}, since height {}", key["epoch"], key["since"])),
        ("members", format!("{} of {} have to answer", key["threshold"], members.len())),
        ("next draw", format!("at height {}", key["next_draw"])),
        ("dealing", dealing),
    ]);
    std::iter::once(head).chain(members.iter().map(|member| format!("  {member}"))).collect::<Vec<_>>().join("\n")
}

/// Prints what a transaction did to a secret, once its receipt is there, and the transaction's hash.
pub(super) fn done(session: &Session, sent: &Sent, what: impl FnOnce(&model::Receipt) -> String) {
    let done = sent.receipt.as_ref().map_or_else(String::new, |receipt| what(receipt) + "\n");
    session.output.result(sent, format_args!("{done}Transaction hash: {}", sent.tx_hash));
}

pub(super) fn paused(name: &Name, is_paused: bool) -> String {
    let state = if is_paused { "paused: nothing of it is released" } else { "released again to whom its policy names" };
    format!("{} is {state}", name.as_str())
}

pub(super) fn deleted(name: &Name, version: Option<u64>, deposit: Option<u64>) -> String {
    let which = version.map_or_else(String::new, |version| format!("version {version} of "));
    let back = deposit.map_or_else(String::new, |deposit| format!(", and the deposit of {} is returned", amount::cby(deposit)));
    format!("{which}{} is deleted{back}", name.as_str())
}

/// The bytes in a field.
fn binary(version: &Value, field: &str) -> Vec<u8> {
    version[field].as_str().and_then(|text| text.parse::<HexBytes>().ok()).unwrap_or_default().0
}

/// The policy of a version; none where this release cannot read it.
fn policy_of(version: &Value) -> Option<Policy> {
    Policy::decode(bytes::Bytes::from(binary(version, "policy"))).ok()
}

/// The rows of a secret's record and of its newest version.
fn rows(record: &Value, version: &Value) -> Vec<(&'static str, String)> {
    let number = |field: &str| version[field].as_u64().unwrap_or_default();
    let newest = number("version");
    let older: Vec<String> =
        record["versions"].as_array().into_iter().flatten().filter(|one| one.as_u64() != Some(newest)).map(Value::to_string).collect();
    let older = if older.is_empty() { String::new() } else { format!("; older ones: {}", older.join(", ")) };
    let policy = policy_of(version);
    let most = policy.as_ref().map_or(Count::ZERO, |policy| policy.max_releases);
    let released = match most {
        Count::ZERO => number("released").to_string(),
        Count(most) => format!("{} of at most {most}", number("released")),
    };
    let state = if record["is_paused"] == json!(true) { "paused: nothing is released" } else { "released to whom its policy names" };
    let mut rows = vec![
        ("version", format!("{newest}{older}")),
        ("state", state.to_owned()),
        ("stored", format!("at {}, {} sealed bytes, to key {}", number("stored_at"), binary(version, "sealed").len(), number("key_id"))),
        ("deposit", amount::cby(number("deposit"))),
        ("released", released),
    ];
    match &policy {
        Some(policy) => rows.extend(policy_rows(policy)),
        None => rows.push(("policy", "this release of cowboy cannot read it: see --json".to_owned())),
    }
    rows
}

/// The conditions of a policy that say something.
fn policy_rows(policy: &Policy) -> Vec<(&'static str, String)> {
    let kinds = [JobKind::Llm, JobKind::Http, JobKind::Mcp, JobKind::Custom, JobKind::Container];
    let kinds: Vec<String> =
        kinds.iter().filter(|kind| policy.jobs & kind.bit() != 0).map(|kind| format!("{kind:?}").to_ascii_lowercase()).collect();
    let actors = match &policy.actors {
        Actors::Any => "any".to_owned(),
        Actors::Owned => "those that the account deployed and never handed on".to_owned(),
        Actors::Listed { addresses } => texts(addresses),
    };
    let mut rows = vec![("readers", readers(policy)), ("jobs", kinds.join(", ")), ("actors", actors)];
    rows.extend((!policy.accounts.is_empty()).then(|| ("accounts", texts(&policy.accounts))));
    rows.extend((!policy.code_hashes.is_empty()).then(|| ("code", texts(&policy.code_hashes))));
    if let Runners::Listed { addresses } = &policy.runners {
        rows.push(("runners", texts(addresses)));
    }
    if let Attestation::Required { environments, .. } = &policy.attestation {
        let slugs: Vec<&str> = environments.iter().map(|environment| environment.slug()).collect();
        rows.push(("environments", slugs.join(", ")));
    }
    rows.extend((policy.min_stake > Amount::ZERO).then(|| ("min stake", amount::cby(policy.min_stake.get()))));
    rows.extend((policy.min_reputation > Count::ZERO).then(|| ("min reputation", policy.min_reputation.to_string())));
    rows.extend((policy.from > Height::ZERO).then(|| ("from", format!("height {}", policy.from))));
    rows.extend((policy.until > Height::ZERO).then(|| ("until", format!("height {}", policy.until))));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_codec::Encode as _;
    use cowboy_types::{Address, List, Text};

    fn policy() -> Policy {
        Policy {
            actors: Actors::Listed { addresses: List::new(vec![Address([7; 20])]).expect("one fits") },
            accounts: List::default(),
            code_hashes: List::default(),
            jobs: JobKind::Http.bit() | JobKind::Container.bit(),
            hosts: List::new(vec![Text::new("api.weather.test").expect("it is short")]).expect("one fits"),
            runners: Runners::Any,
            min_stake: Amount::CBY,
            min_reputation: Count::ZERO,
            attestation: Attestation::NotRequired,
            copies: 1,
            from: Height::ZERO,
            until: Height(900),
            max_releases: Count(5),
        }
    }

    #[test]
    fn a_committee_has_members_and_a_dealing() {
        let key = json!({
            "key_id": 1, "epoch": 2, "master": "0xad", "threshold": 1, "since": 71, "next_draw": 900, "members": [{ "address": "0x4e" }],
        });
        let shown = committee(&key, &json!({ "round": 3, "phase": "deal", "ends_at": 80 }));
        for line in [
            "committee  2, since height 71",
            "members    1 of 1 have to answer",
            "dealing    3, in its phase deal until height 80",
            "  0x4e",
        ] {
            assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
        }
        for none in [Value::Null, json!({ "key_id": 1, "master": null })] {
            assert_eq!(committee(&none, &Value::Null), "key      no committee holds one yet\ndealing  none");
        }
    }

    #[test]
    fn what_was_done_is_said() {
        let name = Name::new("KEY").expect("a name");
        assert_eq!(deleted(&name, None, Some(410_000_000)), "KEY is deleted, and the deposit of 0.41 CBY is returned");
        assert_eq!(deleted(&name, Some(2), None), "version 2 of KEY is deleted");
        assert_eq!(paused(&name, true), "KEY is paused: nothing of it is released");
        assert_eq!(paused(&name, false), "KEY is released again to whom its policy names");
    }

    #[test]
    fn a_secret_is_shown_as_rows() {
        let record = json!({ "is_paused": true, "latest": 3, "versions": [1, 3] });
        let mut version = json!({
            "deposit": 410_000_000, "key_id": 2, "policy": format!("0x{}", hex::encode(policy().encode())), "released": 4,
            "sealed": "0x0102", "stored_at": 77, "version": 3,
        });
        let shown = table(rows(&record, &version));
        for line in [
            "version    3; older ones: 1",
            "state      paused: nothing is released",
            "stored     at 77, 2 sealed bytes, to key 2",
            "deposit    0.41 CBY",
            "released   4 of at most 5",
            "readers    any runner that is drawn could keep this value: one runner of a job at a time; it may be sent to api.weather.test",
            "jobs       http, container",
            &format!("actors     {}", Address([7; 20])),
            "min stake  1 CBY",
            "until      height 900",
        ] {
            assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
        }
        assert!(!shown.contains("0x0102"), "no sealed bytes: {shown}");
        let complete = complete(version.clone(), &record, ("KEY", "0x07"));
        assert_eq!([&complete["name"], &complete["name_hash"], &complete["is_paused"]], [&json!("KEY"), &json!("0x07"), &json!(true)]);
        assert!(complete["readers"].as_str().is_some_and(|said| said.ends_with("sent to api.weather.test")), "{complete}");
        version["policy"] = "0xff".into();
        assert!(table(rows(&record, &version)).contains("cannot read it"));
    }
}
