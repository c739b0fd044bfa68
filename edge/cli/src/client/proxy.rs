//! `cowboy proxy`: a member of the committee that releases secrets, and leaving it.

use super::listing::lines;
use super::seats::{self, Seat};
use super::{leaving, method::instruction, secret, session::Session};
use crate::send::Terms;
use clap::Subcommand;
use cowboy_api::model;
use cowboy_console::{amount, failure::Failure, output::table};
use cowboy_params::Params;
use cowboy_service::{Chain, authority};
use cowboy_system::secrets::NUMBER;
use cowboy_types::{Address, Amount};
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[derive(Debug, Subcommand)]
pub(crate) enum Proxy {
    /// List the proxies: the members of the committee, and others that the newest events name. The chain has no list of them
    List,
    /// Show a proxy, and its seats in committees
    Status {
        /// Its address [default: the key's]
        address: Option<String>,
    },
    /// Leave: be drawn no more, keep the seat until the next committee takes over, and withdraw the stake after the unbonding time
    Leave {
        #[command(flatten)]
        terms: Terms,
    },
    /// Withdraw the stake after the unbonding time, once the proxy has no seat
    Withdraw {
        #[command(flatten)]
        terms: Terms,
    },
}

async fn view(session: &Session, method: &str, argument: Value) -> Result<Value, Failure> {
    Ok(session.client.view(&Address::system(NUMBER), method, &argument).await?.result)
}

impl Proxy {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::List => list(session).await,
            Self::Status { address } => {
                let address = session.address_or_own(address.as_deref())?;
                let proxy = get(session, &address).await?;
                let chain = Chain::connect(session.client.url(), None).await.map_err(secret::unread)?;
                let seats = seats::of(&chain, address).await?;
                let params = session.client.params().await?;
                session.output.result(&json!({ "proxy": proxy, "seats": seats }), described(&proxy, &seats, &params));
                Ok(())
            }
            Self::Leave { terms } => {
                let leave = (NUMBER, "leave");
                leaving::submit(session, leave, instruction(leave.0, leave.1, &json!({}), Amount::ZERO)?, &terms).await
            }
            Self::Withdraw { terms } => {
                let proxy = get(session, &session.address_or_own(None)?).await?;
                let (params, height) = (session.client.params().await?, session.client.height().await?);
                leaving::may_withdraw(NUMBER, &proxy, &params, height)?;
                let withdraw = (NUMBER, "withdraw");
                leaving::withdraw(session, withdraw, instruction(withdraw.0, withdraw.1, &json!({}), Amount::ZERO)?, &terms).await
            }
        }
    }
}

/// A proxy's record. What is none is refused.
async fn get(session: &Session, address: &Address) -> Result<Value, Failure> {
    let proxy = view(session, "get_proxy", json!({ "address": address.to_string() })).await?;
    if proxy.is_null() {
        return Err(Failure::refused(
            format!("{address} is no proxy"),
            "cowboy proxy list shows those that are; a proxy registers when it first runs (cowboy-proxy)",
        ));
    }
    Ok(proxy)
}

/// Events of 0x04 that are read for a list, at most: the newest.
const EVENTS: usize = 20_000;

/// Prints the proxies that are known.
async fn list(session: &Session) -> Result<(), Failure> {
    let path = format!("/actor/{}/logs?order=desc", Address::system(NUMBER));
    let (model::Logs { logs, .. }, next) = session.client.list::<model::Logs>(&path, None, EVENTS).await?;
    let mut addresses: BTreeSet<Address> = logs.iter().flat_map(|log| named(&log.event.value)).collect();
    for method in ["get_key", "get_round"] {
        addresses.extend(named(&view(session, method, json!({})).await?));
    }
    let mut proxies = Vec::new();
    for address in addresses {
        let proxy = view(session, "get_proxy", json!({ "address": address.to_string() })).await?;
        proxies.extend(Some(proxy).filter(|proxy| !proxy.is_null()));
    }
    let since = next.and(logs.last()).map(|log| log.block_height);
    session.output.result(&json!({ "proxies": proxies, "since": since }), lines(&proxies, line, "there are no proxies"));
    if let Some(since) = since {
        session.output.progress(format_args!("Events before height {since} were not read: a proxy that only they name is not listed"));
    }
    Ok(())
}

/// The proxies in an event, a key or a dealing.
fn named(value: &Value) -> Vec<Address> {
    let seats = ["members", "dealers", "players"].into_iter().filter_map(|field| value[field].as_array()).flatten();
    let addresses = seats.map(|seat| &seat["address"]).chain([&value["proxy"]]);
    addresses.filter_map(|address| address.as_str()?.parse::<Address>().ok()).collect()
}

/// Whether a proxy can be drawn.
fn state(proxy: &Value) -> &'static str {
    match (proxy["left_at"].is_null(), proxy["is_able"] == json!(true)) {
        (false, _) => "left",
        (true, true) => "can be drawn",
        (true, false) => "cannot be drawn",
    }
}

/// What it takes until a proxy that cannot be drawn can be: a new one reads from when on. None of one that can.
fn unable(proxy: &Value, params: &Params) -> Option<String> {
    let rows = &params.secrets;
    let from = proxy["registered_at"].as_u64().unwrap_or(0).saturating_add(rows.proxy_wait);
    let (stake, alive) = (amount::cby(rows.proxy_stake), amount::counted(rows.alive, "block"));
    (proxy["is_able"] != json!(true))
        .then(|| format!("it takes height {from}, a stake of {stake}, and a heartbeat that is not older than {alive}"))
}

/// A proxy in one line, whose columns stand below those of others.
fn line(proxy: &Value) -> String {
    format!(
        "{}  {:<15}  stake {}  {}",
        proxy["address"].as_str().unwrap_or_default(),
        state(proxy),
        amount::cby(proxy["stake"].as_u64().unwrap_or(0)),
        authority(proxy["endpoint"].as_str().unwrap_or_default(), &proxy["port"])
    )
}

/// A proxy and its seats, for people.
pub(crate) fn described(proxy: &Value, seats: &[Seat], params: &Params) -> String {
    let standing = match leaving::free_from(NUMBER, proxy, params) {
        Some(free) => format!("left; its stake is free from height {free} on at the earliest: later if it had a seat then"),
        None => match unable(proxy, params) {
            Some(takes) => format!("{}: {takes}", state(proxy)),
            None => state(proxy).to_owned(),
        },
    };
    table([
        ("proxy", proxy["address"].as_str().unwrap_or_default().to_owned()),
        ("state", standing),
        ("endpoint", authority(proxy["endpoint"].as_str().unwrap_or_default(), &proxy["port"])),
        ("stake", amount::cby(proxy["stake"].as_u64().unwrap_or(0))),
        ("heard of", format!("at {}", proxy["last_heartbeat"])),
        ("demands", format!("{} to answer", proxy["demands"])),
        ("seats", seats::text(seats)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who registered, was paid, or has a seat is known, whatever an event spells addresses like; columns stand below each other.
    #[test]
    fn proxies_are_known_from_events_and_seats() {
        let [one, two] = [1, 2].map(|byte| Address([byte; 20]));
        let (paid, key) =
            (json!({ "proxy": one.to_string().to_lowercase(), "amount": 7 }), json!({ "members": [{ "address": two.to_string() }] }));
        let round = json!({ "dealers": [{ "address": one.to_string() }], "players": [{ "address": two.to_string(), "joined": null }] });
        assert_eq!([named(&paid), named(&key), named(&round)], [vec![one], vec![two], vec![one, two]]);
        assert!(named(&Value::Null).is_empty());
        let of = |left_at: Value, is_able: bool| json!({ "address": "0x01", "endpoint": "::1", "port": 7300, "left_at": left_at, "is_able": is_able, "stake": 2_000_000_000_u64 });
        assert_eq!(line(&of(Value::Null, true)), "0x01  can be drawn     stake 2 CBY  [::1]:7300");
        assert_eq!(line(&of(Value::Null, false)), "0x01  cannot be drawn  stake 2 CBY  [::1]:7300");
        assert_eq!(line(&of(json!(5), false)), "0x01  left             stake 2 CBY  [::1]:7300");
    }

    /// Who looks at a proxy sees whether it can be drawn, which seats it has, and from when on its stake is free once it left.
    #[test]
    fn a_proxy_shows_its_seats_and_when_its_stake_is_free() {
        let params = Params::GENESIS;
        let of = |left_at: Value, is_able: bool| {
            json!({
                "address": "0x01", "endpoint": "2001:db8::1", "port": 7300, "left_at": left_at, "is_able": is_able, "stake": 10_000_000_000_000_u64,
                "last_heartbeat": 7, "demands": 0,
            })
        };
        let held = Seat { key_id: 2, committee: Some(3), place: 1 };
        let shown = described(&of(Value::Null, true), &[held], &params);
        for part in ["can be drawn", "[2001:db8::1]:7300", "10000 CBY", "seat 1 of committee 3 of key 2"] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
        let mut young = of(Value::Null, false);
        young["registered_at"] = json!(5);
        let takes = format!("cannot be drawn: it takes height {}, a stake of 10000 CBY, and", 5 + params.secrets.proxy_wait);
        assert!(described(&young, &[], &params).contains(&takes), "{}", described(&young, &[], &params));
        let left = described(&of(json!(5), false), &[], &params);
        for part in
            [&format!("left; its stake is free from height {} on", 5 + params.secrets.unbonding)[..], "in no committee that answers"]
        {
            assert!(left.contains(part), "{part}\n{left}");
        }
    }
}
