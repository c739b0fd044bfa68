//! What a deployment leaves: the name in the folder, the actor that had it before, and timers that cannot be paid.

use crate::client::{listing::lines, session::Session};
use cowboy_api::{HexAddress, model};
use cowboy_console::{amount, failure::Failure};
use cowboy_types::Address;
use serde_json::{Value, json};

/// Prints the actors of the folder.
pub(super) fn list(session: &Session) {
    let rows: Vec<Value> = session.deployed().iter().map(|(name, address)| json!({ "name": name, "address": address })).collect();
    let line = |row: &Value| format!("{}  {}", row["address"].as_str().unwrap_or_default(), row["name"].as_str().unwrap_or_default());
    session.output.result(&rows, lines(&rows, line, "this folder deployed no actor yet"));
}

/// Remembers a new actor, and says what its author has to know: which actor had the name, and what the new one lacks.
pub(super) async fn settle(session: &Session, name: &str, address: HexAddress) -> Result<(), Failure> {
    if let Some(former) = session.remember(name, address).await {
        let record = session.client.actor(&former.0).await.ok();
        session.output.progress(taken_over(name, former, record.as_ref()));
    }
    if let Some(shortfall) = Shortfall::of(session, address.0).await? {
        session.output.progress(format_args!("Warning: {shortfall}"));
    }
    Ok(())
}

/// Which actor had a name, and what it still has.
fn taken_over(name: &str, former: HexAddress, record: Option<&model::Actor>) -> String {
    let state = match record {
        Some(record) => {
            let timers = amount::counted(record.timer_count, "timer");
            format!(" ({}, {timers}), which still runs at its address", amount::cby(record.balance))
        }
        None => ", which the node does not have".to_owned(),
    };
    format!("Note: {name} was {former}{state}; .cowboy/actors.json lists it under \"former\".")
}

/// How much an actor lacks for the first fires of its timers.
struct Shortfall {
    actor: Address,
    timers: usize,
    needed: u64,
    balance: u64,
}

impl Shortfall {
    /// What each waiting timer of an actor reserves when it fires, at today's prices, against the actor's balance.
    async fn of(session: &Session, actor: Address) -> Result<Option<Self>, Failure> {
        let timers: model::Timers = session.client.get(&format!("/timers/{actor}")).await?;
        if timers.timers.is_empty() {
            return Ok(None);
        }
        let fees = session.client.base_fee().await?;
        let account: model::Actor = session.client.get(&format!("/actor/{actor}")).await?;
        let reserve = |timer: &model::Timer| {
            let cycles = timer.gas_limit.saturating_mul(fees.cycle_basefee);
            cycles.saturating_add(timer.cells_limit.saturating_mul(fees.cell_basefee))
        };
        let needed = timers.timers.iter().map(reserve).fold(0, u64::saturating_add);
        let shortfall = Self { actor, timers: timers.timers.len(), needed, balance: account.balance };
        Ok((account.balance < needed).then_some(shortfall))
    }
}

impl std::fmt::Display for Shortfall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { actor, timers, needed, balance } = self;
        let (needed, lacking, balance) = (amount::cby(*needed), amount::cby(needed.saturating_sub(*balance)), amount::cby(*balance));
        let fires = match timers {
            1 => "the first fire of its timer reserves".to_owned(),
            _ => format!("the first fires of its {timers} timers reserve"),
        };
        write!(
            f,
            "the actor has {balance}, and {fires} {needed}. The chain removes a timer that cannot be paid. Send the actor {lacking} or more: cowboy transfer {actor} {lacking}",
            lacking = lacking.replace(' ', "").to_lowercase(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_api::Hex;

    #[test]
    fn the_former_actor_is_named() {
        let said = taken_over("notes", Hex(Address([7; 20])), None);
        assert!(said.starts_with("Note: notes was 0x0707") && said.contains(", which the node does not have; "), "{said}");
    }
}
