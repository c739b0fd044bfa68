//! `cowboy proxy`: a member of the committee that releases secrets, and leaving it.

use super::seats::{self, Seat};
use super::{leaving, method::instruction, secret, session::Session};
use crate::send::Terms;
use clap::Subcommand;
use cowboy_console::{amount, failure::Failure, output::table};
use cowboy_params::Params;
use cowboy_service::{Chain, authority};
use cowboy_system::secrets::NUMBER;
use cowboy_types::{Address, Amount};
use serde_json::{Value, json};

#[derive(Debug, Subcommand)]
pub(crate) enum Proxy {
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
        return Err(Failure::refused(format!("{address} is no proxy"), "cowboy secret committee shows those that have a seat"));
    }
    Ok(proxy)
}

/// A proxy and its seats, for people.
pub(crate) fn described(proxy: &Value, seats: &[Seat], params: &Params) -> String {
    let state = match leaving::free_from(NUMBER, proxy, params) {
        Some(free) => format!("left; its stake is free from height {free} on at the earliest: later if it had a seat then"),
        None if proxy["is_able"] == json!(true) => "can be drawn".to_owned(),
        None => "cannot be drawn".to_owned(),
    };
    table([
        ("proxy", proxy["address"].as_str().unwrap_or_default().to_owned()),
        ("state", state),
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
        assert!(described(&of(Value::Null, false), &[], &params).contains("cannot be drawn"));
        let left = described(&of(json!(5), false), &[], &params);
        for part in
            [&format!("left; its stake is free from height {} on", 5 + params.secrets.unbonding)[..], "in no committee that answers"]
        {
            assert!(left.contains(part), "{part}\n{left}");
        }
    }
}
