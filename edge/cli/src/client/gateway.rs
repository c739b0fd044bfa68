//! `cowboy gateway`: who brings requests from outside.

use super::{
    answer::{self, VerifyAnswer},
    leaving::{self, Leaving},
    listing::{Rows, lines},
    method::instruction,
    session::{Session, unregistered},
};
use crate::send::{self, Terms};
use clap::Subcommand;
use cowboy_api::{error::NOT_FOUND, model};
use cowboy_console::{amount, failure::Failure, output::table};
use cowboy_service::{authority, host};
use cowboy_system::gateways::{NUMBER, REPORT_ANSWERS};
use cowboy_types::Amount;
use serde_json::{Value, json};
use std::net::Ipv6Addr;

#[derive(Debug, Subcommand)]
pub(crate) enum Gateway {
    /// Register as a gateway
    Register {
        /// Its host name, like gw1.example.com
        endpoint: String,
        /// The port of its web server
        #[arg(long, default_value_t = 443)]
        http_port: u16,
        /// The stake: base units, or CBY like 10000cby
        #[arg(long, default_value = "10000cby")]
        stake: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Send a gateway's heartbeat
    Heartbeat {
        #[command(flatten)]
        terms: Terms,
    },
    /// Change the gateway's endpoint
    SetEndpoint {
        /// Host name or address
        endpoint: String,
        /// The port of its web server
        #[arg(long, default_value_t = 443)]
        http_port: u16,
        #[command(flatten)]
        terms: Terms,
    },
    /// Add stake
    AddStake {
        /// The amount: base units, or CBY like 100cby
        amount: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Withdraw stake above the minimum, to pay fees with
    Draw {
        /// The amount: base units, or CBY like 2.5cby
        amount: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Leave; run it again after the waiting period to receive the stake
    Unstake {
        #[command(flatten)]
        terms: Terms,
    },
    /// Request a page, and check that the gateway signed its response
    VerifyAnswer(VerifyAnswer),
    /// Report two contradictory answers that one gateway signed; the gateway loses part of its stake
    ReportAnswers {
        /// A file that `verify-answer --save` wrote
        first: String,
        /// Another such file
        second: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Print a gateway
    Get {
        /// Its address [default: the key's account]
        address: Option<String>,
    },
    /// Print the gateways
    List {
        #[command(flatten)]
        rows: Rows,
    },
}

impl Gateway {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        let none = json!({});
        match self {
            Self::Register { endpoint, http_port, stake, terms } => {
                let argument = json!({ "endpoint": endpoint, "http_port": http_port });
                changed(session, "register_gateway", &argument, amount::argument(&stake)?, &terms).await
            }
            Self::SetEndpoint { endpoint, http_port, terms } => {
                call(session, "set_endpoint", &json!({ "endpoint": endpoint, "http_port": http_port }), Amount::ZERO, &terms).await
            }
            Self::Heartbeat { terms } => call(session, "heartbeat", &none, Amount::ZERO, &terms).await,
            Self::AddStake { amount, terms } => call(session, "add_stake", &none, amount::argument(&amount)?, &terms).await,
            Self::Draw { amount, terms } => {
                let argument = json!({ "amount": amount::argument(&amount)?.get() });
                call(session, "draw", &argument, Amount::ZERO, &terms).await
            }
            Self::Unstake { terms } => changed(session, "unstake", &none, Amount::ZERO, &terms).await,
            Self::VerifyAnswer(command) => command.run(session).await,
            Self::ReportAnswers { first, second, terms } => {
                call(session, REPORT_ANSWERS, &answer::report(&first, &second)?, Amount::ZERO, &terms).await
            }
            Self::Get { address } => {
                let address = session.address_or_own(address.as_deref())?;
                let found = session.client.get(&format!("/gateways/{address}")).await;
                let gateway: model::Gateway = found.map_err(|error| unregistered(error, &address, "gateway"))?;
                session.output.result(&gateway, describe(&gateway));
                Ok(())
            }
            Self::List { rows } => {
                let line = |gateway: &model::Gateway| {
                    let state = if gateway.is_active { "active" } else { "inactive" };
                    let reached = authority(&gateway.endpoint, gateway.http_port);
                    format!("{}  {state:<8} health {:>4}  {reached}", gateway.address, gateway.health)
                };
                rows.print::<model::Gateways>(session, "/gateways", |gateways| lines(gateways, line, "no gateways")).await
            }
        }
    }
}

async fn call(session: &Session, method: &str, argument: &Value, value: Amount, terms: &Terms) -> Result<(), Failure> {
    session.submit(instruction(NUMBER, method, argument, value)?, terms).await
}

/// Sends a call that begins or ends a registration, and prints what the account's gateway is after it.
async fn changed(session: &Session, method: &str, argument: &Value, value: Amount, terms: &Terms) -> Result<(), Failure> {
    let key = session.key()?;
    let sent = send::send(&session.client, &key, instruction(NUMBER, method, argument, value)?, terms).await?;
    let found = session.client.get::<model::Gateway>(&format!("/gateways/{}", key.address())).await;
    let text = match (&sent.receipt, &found) {
        (Some(_), Ok(gateway)) => format!("\n{}", describe(gateway)),
        (Some(_), Err(error)) if error.slug == NOT_FOUND.slug => "\nThe account has no gateway any more: its stake is paid out.".to_owned(),
        _ => String::new(),
    };
    let leaving = Leaving::of(session, NUMBER, method, &sent).await;
    let mut document = leaving::document(&sent, leaving.as_ref());
    document["gateway"] = json!(found.ok());
    let text = format!("Transaction hash: {}{text}{}", sent.tx_hash, leaving::lines(leaving.as_ref()));
    session.output.result(&document, text);
    Ok(())
}

/// `http://localhost:5080` of an endpoint `localhost:5080`, `https://gw.example.com` of `gw.example.com` with port 443. IPv6 addresses, which have no port of
/// their own, are in brackets.
pub(crate) fn gateway_url(endpoint: &str, port: u64) -> String {
    if endpoint.contains("://") {
        return endpoint.to_owned();
    }
    let is_ipv6 = endpoint.parse::<Ipv6Addr>().is_ok();
    let (endpoint, own_port) = match endpoint.rsplit_once(':') {
        Some((host, port)) if !is_ipv6 => (host, port.parse().ok()),
        _ => (endpoint, None),
    };
    match own_port.unwrap_or(port) {
        443 => format!("https://{}", host(endpoint)),
        port => format!("http://{}", authority(endpoint, port)),
    }
}

/// A gateway for people.
pub(crate) fn describe(gateway: &model::Gateway) -> String {
    let leaving = gateway.leaving.map_or_else(|| "no".to_owned(), |until| format!("its stake is free at {until}"));
    table([
        ("gateway", gateway.address.to_string()),
        ("endpoint", authority(&gateway.endpoint, gateway.http_port)),
        ("active", if gateway.is_active { "yes" } else { "no" }.to_owned()),
        ("health", gateway.health.to_string()),
        ("stake", amount::cby(gateway.stake_amount)),
        ("heard of", format!("at {}", gateway.last_heartbeat)),
        ("leaving", leaving),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_has_a_url() {
        let rows = [
            ("localhost:5080", 5080, "http://localhost:5080"),
            ("localhost", 5080, "http://localhost:5080"),
            ("gw.example.com", 443, "https://gw.example.com"),
            ("http://gw.example.com", 80, "http://gw.example.com"),
            ("2001:db8::1", 5080, "http://[2001:db8::1]:5080"),
            ("2001:db8::1", 443, "https://[2001:db8::1]"),
        ];
        for (endpoint, port, expected) in rows {
            assert_eq!(gateway_url(endpoint, port), expected);
        }
    }

    /// What is copied from the output can be pasted into a browser.
    #[test]
    fn an_address_of_ipv6_has_brackets() {
        let gateway: model::Gateway = serde_json::from_value(json!({
            "address": format!("0x{}", "11".repeat(20)), "endpoint": "2001:db8::1", "http_port": 5080, "stake_amount": 1, "health": 100,
            "registered_at": 1, "last_heartbeat": 1, "is_active": true, "leaving": null,
        }))
        .expect("a record");
        assert!(describe(&gateway).contains("  [2001:db8::1]:5080"), "{}", describe(&gateway));
    }
}
