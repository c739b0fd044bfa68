//! `cowboy relay`: who keeps volumes.

use super::listing::{all_of_view, lines};
use super::{leaving, method::instruction, session::Session};
use crate::send::Terms;
use clap::Subcommand;
use cowboy_console::{amount, failure::Failure, output::table};
use cowboy_params::Params;
use cowboy_service::authority;
use cowboy_types::{Address, Amount, actors};
use serde_json::{Value, json};

#[derive(Debug, Subcommand)]
pub(crate) enum Relay {
    /// List the relays
    List,
    /// Show a relay, and the proof that it owes
    Status {
        /// Its address [default: the key's]
        address: Option<String>,
    },
    /// Leave: be given no more slots, hand on those that the relay has, and withdraw the stake after the unbonding time
    Leave {
        #[command(flatten)]
        terms: Terms,
    },
    /// Withdraw the stake after the unbonding time, once the relay has no slots
    Withdraw {
        #[command(flatten)]
        terms: Terms,
    },
}

async fn view(session: &Session, method: &str, argument: Value) -> Result<Value, Failure> {
    Ok(session.client.view(&Address::system(actors::RELAYS), method, &argument).await?.result)
}

/// How a relay is, in a few words. One that is short of stake, or gave way to another in a full registry, is up and is given no slots. One that rests is
/// drawn behind all others.
pub(crate) fn state(relay: &Value) -> &'static str {
    match (relay["left_at"].is_null(), relay["is_healthy"] == json!(true), relay["is_eligible"] == json!(true)) {
        (true, true, _) if !relay["gave_way_at"].is_null() => "gave way",
        (false, ..) => "left",
        (true, false, _) => "silent",
        (true, true, true) if relay["rests_until"].is_u64() => "rests",
        (true, true, true) => "up",
        (true, true, false) => "short of stake",
    }
}

impl Relay {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::List => list(session).await,
            Self::Status { address } => {
                let address = session.address_or_own(address.as_deref())?.to_string();
                let relay = get(session, &address).await?;
                let round = view(session, "get_round", json!({ "address": address })).await?;
                let params = session.client.params().await?;
                session.output.result(&json!({ "relay": relay, "round": round }), described(&relay, &round, &params));
                Ok(())
            }
            Self::Leave { terms } => {
                let leave = (actors::RELAYS, "leave");
                leaving::submit(session, leave, instruction(leave.0, leave.1, &json!({}), Amount::ZERO)?, &terms).await
            }
            Self::Withdraw { terms } => {
                let relay = get(session, &session.address_or_own(None)?.to_string()).await?;
                may_withdraw(session, &relay).await?;
                let withdraw = (actors::RELAYS, "withdraw");
                leaving::withdraw(session, withdraw, instruction(withdraw.0, withdraw.1, &json!({}), Amount::ZERO)?, &terms).await
            }
        }
    }
}

/// A relay's record. What is none is refused.
async fn get(session: &Session, address: &str) -> Result<Value, Failure> {
    let relay = view(session, "get_relay", json!({ "address": address })).await?;
    if relay.is_null() {
        return Err(Failure::refused(format!("{address} is no relay"), "cowboy relay list shows those that are"));
    }
    Ok(relay)
}

/// Fails where a relay's stake cannot be withdrawn yet.
async fn may_withdraw(session: &Session, relay: &Value) -> Result<(), Failure> {
    leaving::may_withdraw(actors::RELAYS, relay, &session.client.params().await?, session.client.height().await?)?;
    has_no_slots(relay)
}

/// Fails where a relay still has slots.
fn has_no_slots(relay: &Value) -> Result<(), Failure> {
    match relay["slots"].as_u64() {
        Some(slots) if slots > 0 => Err(Failure::refused(
            format!("{} still has slots: {slots}", relay["address"].as_str().unwrap_or_default()),
            "keep the relay running until others have rebuilt them (`cowboy relay status`), then withdraw",
        )),
        _ => Ok(()),
    }
}

/// The bytes in a field.
fn bytes(relay: &Value, field: &str) -> String {
    amount::bytes(relay[field].as_u64().unwrap_or(0))
}

/// A relay and its round, for people.
pub(crate) fn described(relay: &Value, round: &Value, params: &Params) -> String {
    let proof = if round.is_null() {
        format!("the next is drawn at height {}", relay["next_draw"])
    } else {
        format!("due until height {}", round["until"])
    };
    let state = match (state(relay), leaving::free_from(actors::RELAYS, relay, params)) {
        (state @ "rests", _) => format!("{state} until height {}", relay["rests_until"]),
        (state, Some(free)) => format!("{state}; its stake is free from height {free} on, once it has no slots"),
        (state, None) => state.to_owned(),
    };
    table([
        ("relay", relay["address"].as_str().unwrap_or_default().to_owned()),
        ("state", state),
        ("endpoint", authority(relay["endpoint"].as_str().unwrap_or_default(), &relay["port"])),
        ("region", relay["region"].as_str().unwrap_or_default().to_owned()),
        ("slots", format!("{}, with {} of {}", relay["slots"], bytes(relay, "reserved"), bytes(relay, "capacity"))),
        ("asks", format!("{} base units a MiB and epoch", relay["ask"])),
        ("stake", amount::cby(relay["stake"].as_u64().unwrap_or(0))),
        ("proof", proof),
        ("missed in a row", relay["misses"].to_string()),
    ])
}

/// All relays, ascending by address.
pub(super) async fn all(session: &Session) -> Result<Vec<Value>, Failure> {
    all_of_view(session, (actors::RELAYS, "list_relays"), json!({}), |row| &row["address"]).await
}

/// A relay in one line, whose columns stand below those of others.
fn line(relay: &Value) -> String {
    format!(
        "{}  {:<14}  slots {:>4}  {:>10} of {:>10}  asks {} base units a MiB and epoch  {}",
        relay["address"].as_str().unwrap_or_default(),
        state(relay),
        relay["slots"].as_u64().unwrap_or(0),
        bytes(relay, "reserved"),
        bytes(relay, "capacity"),
        relay["ask"],
        relay["region"].as_str().unwrap_or_default()
    )
}

async fn list(session: &Session) -> Result<(), Failure> {
    let rows = all(session).await?;
    session.output.result(&rows, lines(&rows, line, "there are no relays"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers have their units, and columns stand below each other whatever the state is.
    #[test]
    fn relays_stand_in_columns() {
        let of = |is_eligible: bool, slots: u64, capacity: u64| {
            json!({
                "address": "0x01", "left_at": null, "is_healthy": true, "is_eligible": is_eligible, "slots": slots, "reserved": 512_u64 << 20,
                "capacity": capacity, "ask": 450, "region": "eu",
            })
        };
        assert_eq!(
            line(&of(true, 2, 64 << 30)),
            "0x01  up              slots    2   512.0 MiB of   64.0 GiB  asks 450 base units a MiB and epoch  eu"
        );
        assert_eq!(line(&of(false, 120, 1 << 30)).find("asks"), line(&of(true, 2, 64 << 30)).find("asks"));
    }

    /// A relay that lost stake is up, and takes no slot: who looks why a volume has too few sees it.
    #[test]
    fn a_relay_without_its_stake_is_not_up() {
        let of = |left_at: Value, is_healthy: bool, is_eligible: bool| {
            state(&json!({ "left_at": left_at, "is_healthy": is_healthy, "is_eligible": is_eligible }))
        };
        assert_eq!(of(Value::Null, true, true), "up");
        assert_eq!(of(Value::Null, true, false), "short of stake");
        assert_eq!(of(Value::Null, false, false), "silent");
        assert_eq!(of(json!(7), false, false), "left");
        let gave_way = json!({ "left_at": null, "gave_way_at": 7, "is_healthy": true, "is_eligible": false });
        assert_eq!(state(&gave_way), "gave way");
        let rests = json!({ "left_at": null, "rests_until": 70, "is_healthy": true, "is_eligible": true });
        assert_eq!(state(&rests), "rests");
    }

    /// A relay that left shows from when its stake is free, and is not asked for it while it has slots. Its endpoint may be an address of IPv6.
    #[test]
    fn a_relay_that_left_shows_when_its_stake_is_free() {
        let of = |slots: u64| {
            json!({
                "address": "0x01", "endpoint": "2001:db8::1", "port": 7400, "left_at": 5, "is_healthy": false, "is_eligible": false, "slots": slots,
                "reserved": 0, "capacity": 1 << 30, "ask": 450, "region": "eu", "stake": 5_000_000_000_000_u64, "misses": 0, "next_draw": 6,
            })
        };
        let params = Params::GENESIS;
        let shown = described(&of(2), &Value::Null, &params);
        let state = format!("left; its stake is free from height {} on, once it has no slots", 5 + params.volumes.unbonding);
        for part in [&state[..], "[2001:db8::1]:7400"] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
        assert!(has_no_slots(&of(2)).expect_err("it has two").to_string().contains("still has slots: 2"));
        assert!(has_no_slots(&of(0)).is_ok());
    }
}
