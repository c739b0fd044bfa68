//! Creating a volume, once there are relays that can keep it.

use super::{PAUSE, act, keys, view};
use crate::client::{labels, method::instruction, paid, relay, secret, session::Session};
use crate::send::{self, Terms};
use cowboy_api::ApiError;
use cowboy_console::{amount, failure::Failure};
use cowboy_system::storage::NUMBER;
use cowboy_types::units::Amount;
use cowboy_types::{actors, error};
use cowboy_volumes::Name;
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;

/// How long the relays of a devnet are waited for.
const RELAYS_PATIENCE: Duration = Duration::from_secs(60);

/// What a file counts for at least, in bytes.
const MIN_QUOTA: u64 = 1_024;

/// How many relays take slots. Asks for some and waits where there is none: a devnet starts its own at the first use.
async fn relays(session: &Session, terms: &Terms) -> Result<usize, Failure> {
    let count = async || -> Result<usize, Failure> {
        Ok(relay::all(session).await?.iter().filter(|relay| relay["is_eligible"] == json!(true)).count())
    };
    if count().await? > 0 {
        return count().await;
    }
    session.output.progress("no relay is registered yet: waiting for the first ones");
    let asking = instruction(actors::RELAYS, "get_pool", &json!({}), Amount::ZERO)?;
    send::send(&session.client, &session.key()?, asking, terms).await?;
    let waiting = async {
        let mut before = 0;
        loop {
            let now = count().await?;
            // They register one after the other.
            if now > 0 && now == before {
                return Ok(now);
            }
            before = now;
            tokio::time::sleep(PAUSE).await;
        }
    };
    let late = |_| Failure::refused("no relay is there", "wait for some: cowboy relay list shows what there is");
    tokio::time::timeout(RELAYS_PATIENCE, waiting).await.map_err(late)?
}

/// Refuses a quota in which no file has room.
pub(super) fn require_quota(quota: u64) -> Result<(), Failure> {
    if quota >= MIN_QUOTA {
        return Ok(());
    }
    let what = format!("a quota of {} takes no file: each counts for {MIN_QUOTA} bytes or more", amount::counted(quota, "byte"));
    Err(Failure::argument(what, "give a unit, like 100MiB"))
}

/// Refuses a name that the account has given already, before the file of a key is made for nothing.
async fn require_free(session: &Session, name: &Name) -> Result<(), Failure> {
    let id = name.volume(session.key()?.address()).to_string();
    let volume = view(session, NUMBER, "get_volume", json!({ "volume": id })).await?;
    // The chain says of a deleted one how long it keeps its name.
    if volume.is_null() || volume["status"] == json!("deleted") {
        return Ok(());
    }
    Err(ApiError::of_abort(error::VOLUME_EXISTS).into())
}

/// What a volume is to be.
pub(super) struct Creation {
    pub(super) name: Name,
    pub(super) quota: u64,
    pub(super) public: bool,
    pub(super) key: Option<PathBuf>,
    pub(super) code: Option<(u8, u8)>,
    pub(super) max_price: u64,
    pub(super) epochs: u64,
}

pub(super) async fn create(session: &Session, creation: Creation, trusted: &secret::Trusted, terms: &Terms) -> Result<(), Failure> {
    let Creation { name, quota, public, key, code, max_price, epochs } = creation;
    require_quota(quota)?;
    labels::check(&session.project)?;
    let found = relays(session, terms).await?;
    let (data, parity) = code.unwrap_or(match found {
        6.. => (4, 2),
        3..6 => (2, 1),
        _ => (1, 1),
    });
    let kind = match (&key, public) {
        (_, true) => "public",
        (Some(file), _) => {
            require_free(session, &name).await?;
            keys::make(file)?;
            "owner"
        }
        (None, false) => {
            let chain = secret::connect(session, trusted).await?;
            secret::sealing_key(session, &chain, terms).await?;
            "committee"
        }
    };
    let shape = json!({ "data": data, "parity": parity, "quota": quota, "max_price": max_price });
    let quote = view(session, NUMBER, "quote", shape.clone()).await?;
    let of = |field: &str| quote[field].as_u64().unwrap_or(u64::MAX);
    let escrow = of("escrow").max(of("per_epoch").saturating_mul(epochs));
    let value = Amount(escrow.saturating_add(of("fee")));
    let mut argument = shape;
    argument["name"] = json!(name.as_str());
    argument["keys"] = json!(kind);
    paid::warn_if_high(session, name.as_str(), value);
    let sent = act(session, "create_volume", &argument, value, terms).await?;
    let id = name.volume(session.key()?.address());
    labels::keep(session, &id, name.as_str());
    let document = json!({
        "volume": id.to_string(), "name": name.as_str(), "keys": kind, "data": data, "parity": parity,
        "escrow": escrow, "per_epoch": of("per_epoch"), "paid": of("fee"), "tx_hash": sent.tx_hash,
    });
    let who = match kind {
        "public" => "anybody may read it".to_owned(),
        "owner" => format!("only whoever has {} can read it", key.as_deref().unwrap_or(std::path::Path::new("the key")).display()),
        _ => "only you, and whom you give a capability, can have its keys made".to_owned(),
    };
    let text = format!(
        "{} is {id}\n{data}+{parity}: any {parity} of {} relays may be lost\nits escrow of {} lasts for {} when it is full\n{who}\npaid: {}, beside the escrow",
        name.as_str(),
        u16::from(data) + u16::from(parity),
        amount::cby(escrow),
        amount::counted(epochs, "epoch"),
        paid::line(&sent, "the volume", of("fee")),
    );
    session.output.result(&document, text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_has_room_for_a_file() {
        for (quota, has_room) in [(0, false), (MIN_QUOTA - 1, false), (MIN_QUOTA, true)] {
            assert_eq!(require_quota(quota).is_ok(), has_room, "{quota}");
        }
    }
}
