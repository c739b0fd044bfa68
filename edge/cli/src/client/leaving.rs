//! What commands say that begin to free a stake, or pay one: how much, from which height on, and the command that pays it.

use super::session::Session;
use crate::send::{self, Sent, Terms};
use cowboy_api::{model, system};
use cowboy_console::{amount, failure::Failure};
use cowboy_params::Params;
use cowboy_system::{ACTORS, actor::Method};
use cowboy_types::{actors, instruction::Instruction};
use serde::Serialize;
use serde_json::{Value, json};

/// A method of a system actor that begins to free a stake.
struct Way {
    actor: u8,
    method: &'static str,
    /// Its event, and the field of that with the stake.
    event: (&'static str, &'static str),
    free: Free,
    /// What its operator does until then, and what makes it later.
    meanwhile: &'static str,
    /// The command that pays the stake.
    withdraw: &'static str,
}

/// From which height on a stake is free, if nothing makes it later.
enum Free {
    /// What the method returns, at this JSON pointer.
    Returned(&'static str),
    /// A number of blocks after the call.
    After(fn(&Params) -> u64),
}

static WAYS: [Way; 6] = [
    Way {
        actor: actors::GOVERNANCE,
        method: "leave",
        event: ("validator.leaving", "stake"),
        free: Free::Returned(""),
        meanwhile: "keep the node running until its last epoch ends (`cowboy validator status`); the stake is free later if it signs in later epochs",
        withdraw: "cowboy validator withdraw",
    },
    Way {
        actor: actors::RUNNERS,
        method: "leave",
        event: ("RunnerUnstaked", "amount"),
        free: Free::Returned("/release"),
        meanwhile: "keep the runner running until its jobs are done; the stake is free later if the market stands still meanwhile",
        withdraw: "cowboy runner withdraw",
    },
    Way {
        actor: actors::RUNNERS,
        method: "undelegate",
        event: ("StakeUndelegated", "amount"),
        free: Free::Returned("/release"),
        meanwhile: "it is slashed with the runner's own stake; it is free later if the market stands still meanwhile",
        withdraw: "cowboy runner withdraw-delegation RUNNER",
    },
    Way {
        actor: actors::GATEWAYS,
        method: "unstake",
        event: ("gateway.leaving", "amount"),
        free: Free::Returned("/until"),
        meanwhile: "it dispatches no commands any more; answers that contradict each other still cost stake",
        withdraw: "cowboy gateway unstake",
    },
    Way {
        actor: actors::SECRETS,
        method: "leave",
        event: ("proxy.leaving", "amount"),
        free: Free::After(|params| params.secrets.unbonding),
        meanwhile: "keep the proxy running until the stake is paid: it may still have seats (`cowboy proxy status`), and the unbonding time begins when the last one ends",
        withdraw: "cowboy proxy withdraw",
    },
    Way {
        actor: actors::RELAYS,
        method: "leave",
        event: ("relay.leaving", "amount"),
        free: Free::After(|params| params.volumes.unbonding),
        meanwhile: "keep the relay running until it has no slots (`cowboy relay status`)",
        withdraw: "cowboy relay withdraw",
    },
];

impl Way {
    fn of(actor: u8, method: &str) -> Option<&'static Self> {
        WAYS.iter().find(|way| way.actor == actor && way.method == method)
    }

    /// Its row in the tables of the protocol.
    fn row(&self) -> Option<&'static Method> {
        row(self.actor, self.method)
    }

    /// From which height on the stake is free.
    fn free_from(&self, receipt: &model::Receipt, params: &Params) -> Option<u64> {
        match self.free {
            Free::Returned(pointer) => system::json_of_bytes(&self.row()?.result, &receipt.return_data.0).pointer(pointer)?.as_u64(),
            Free::After(blocks) => receipt.block_height.checked_add(blocks(params)),
        }
    }
}

/// A method's row in the tables of the protocol.
fn row(actor: u8, method: &str) -> Option<&'static Method> {
    ACTORS.iter().find(|one| one.number == actor)?.method(method)
}

/// A stake that becomes free.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Leaving {
    /// In base units.
    stake: u64,
    /// The height from which it may be withdrawn, at the earliest.
    free_from: u64,
    /// How far that is, at the usual time between blocks.
    free_in_ms: u64,
    meanwhile: &'static str,
    withdraw: &'static str,
}

impl Leaving {
    /// What a call has begun to free; nothing where it is not such a call, or was not waited for.
    pub(super) async fn of(session: &Session, actor: u8, method: &str, sent: &Sent) -> Option<Self> {
        let way = Way::of(actor, method)?;
        let receipt = sent.receipt.as_ref()?;
        let (event, field) = way.event;
        let stake = sent.event(event, field)?.as_u64()?;
        let params = session.client.params().await.ok()?;
        let free_from = way.free_from(receipt, &params)?;
        let free_in_ms = free_from.saturating_sub(receipt.block_height).saturating_mul(params.consensus.block_time);
        Some(Self { stake, free_from, free_in_ms, meanwhile: way.meanwhile, withdraw: way.withdraw })
    }

    /// The same for people, below the transaction's hash.
    fn text(&self) -> String {
        let Self { stake, free_from, free_in_ms, meanwhile, withdraw } = self;
        let (stake, span) = (amount::cby(*stake), amount::span(free_in_ms / 1_000));
        format!("Stake: {stake}, free from height {free_from} on, in about {span}\nUntil then: {meanwhile}\nAfter that: {withdraw}")
    }
}

/// The earliest height from which the stake of a relay or a proxy is free; none while it has not left.
pub(super) fn free_from(actor: u8, record: &Value, params: &Params) -> Option<u64> {
    match Way::of(actor, "leave")?.free {
        Free::After(blocks) => record["left_at"].as_u64()?.checked_add(blocks(params)),
        Free::Returned(_) => None,
    }
}

/// Fails where the stake of a relay or a proxy is not free yet, by its record. What else keeps it is left to the chain.
pub(super) fn may_withdraw(actor: u8, record: &Value, params: &Params, height: u64) -> Result<(), Failure> {
    let Some(way) = Way::of(actor, "leave") else { return Ok(()) };
    let address = record["address"].as_str().unwrap_or_default();
    match free_from(actor, record, params) {
        None => Err(Failure::refused(
            format!("{address} has not left"),
            format!("leave first: {}", way.withdraw.replace("withdraw", way.method)),
        )),
        Some(free) if height < free => {
            let span = amount::span(free.saturating_sub(height).saturating_mul(params.consensus.block_time) / 1_000);
            let what = format!("the stake of {address} is free from height {free} on at the earliest, and the chain is at {height}");
            Err(Failure::refused(what, format!("wait, about {span}; until then: {}", way.meanwhile)))
        }
        Some(_) => Ok(()),
    }
}

/// The lines about a stake below those of a result.
pub(super) fn lines(leaving: Option<&Leaving>) -> String {
    leaving.map_or_else(String::new, |leaving| format!("\n{}", leaving.text()))
}

/// What was sent as JSON, with what it has begun to free.
pub(super) fn document(sent: &Sent, leaving: Option<&Leaving>) -> Value {
    let mut document = json!(sent);
    if let Some(leaving) = leaving {
        document["leaving"] = json!(leaving);
    }
    document
}

/// Signs and sends a call that begins to free a stake, and prints what it came to.
pub(super) async fn submit(session: &Session, (actor, method): (u8, &str), instruction: Instruction, terms: &Terms) -> Result<(), Failure> {
    let sent = send::send(&session.client, &session.key()?, instruction, terms).await?;
    let leaving = Leaving::of(session, actor, method, &sent).await;
    let text = format!("Transaction hash: {}{}", sent.tx_hash, lines(leaving.as_ref()));
    session.output.result(&document(&sent, leaving.as_ref()), text);
    Ok(())
}

/// Signs and sends a call that pays the stakes that are free, and prints how much that was.
pub(super) async fn withdraw(
    session: &Session,
    (actor, method): (u8, &str),
    instruction: Instruction,
    terms: &Terms,
) -> Result<(), Failure> {
    let sent = send::send(&session.client, &session.key()?, instruction, terms).await?;
    let paid = sent.receipt.as_ref().and_then(|receipt| returned(actor, method, &receipt.return_data.0));
    let text = paid.map_or_else(String::new, |paid| format!("\nReceived: {}", amount::cby(paid)));
    let mut document = json!(sent);
    document["received"] = json!(paid);
    session.output.result(&document, format!("Transaction hash: {}{text}", sent.tx_hash));
    Ok(())
}

/// The base units that a call returns, alone or as an amount.
fn returned(actor: u8, method: &str, data: &[u8]) -> Option<u64> {
    let returned = system::json_of_bytes(&row(actor, method)?.result, data);
    returned.as_u64().or_else(|| returned["amount"].as_u64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Cli;
    use clap::Parser as _;
    use cowboy_types::cbor;

    /// The methods, their events and the commands are those of the tables of the protocol.
    #[test]
    fn ways_are_methods() {
        for way in &WAYS {
            let actor = ACTORS.iter().find(|one| one.number == way.actor).expect("the actor exists");
            let row = way.row().expect("the method exists");
            let event = actor.events.iter().flat_map(|table| table.iter()).find(|event| event.name == way.event.0);
            let fields = event.expect("the event exists").data;
            assert!(fields.iter().any(|field| field.name == way.event.1), "{} {:?}", row.name, way.event);
            let parsed = Cli::try_parse_from(way.withdraw.split(' '));
            assert!(parsed.is_ok(), "{} {:?}", way.withdraw, parsed.err());
        }
        assert!(Way::of(actors::GATEWAYS, "leave").is_none());
    }

    /// Who leaves reads how much comes back, when, and how; programs read the same.
    #[test]
    fn a_stake_has_its_height_and_its_command() {
        let leaving = Leaving {
            stake: 100_000_000_000_000,
            free_from: 604_900,
            free_in_ms: 604_800_000,
            meanwhile: "keep it running",
            withdraw: "cowboy validator withdraw",
        };
        assert_eq!(
            lines(Some(&leaving)),
            "\nStake: 100000 CBY, free from height 604900 on, in about 7 days\nUntil then: keep it running\nAfter that: cowboy validator withdraw"
        );
        let sent = Sent { tx_hash: cowboy_api::Hex(cowboy_types::Hash([1; 32])), receipt: None };
        let document = document(&sent, Some(&leaving));
        assert_eq!((&document["leaving"]["free_from"], &document["tx_hash"]), (&json!(604_900), &json!(sent.tx_hash)));
        assert_eq!(lines(None), "");
    }

    /// Who withdraws too early reads the command that comes before, or the height.
    #[test]
    fn a_stake_that_is_not_free_is_not_asked_for() {
        let params = Params::GENESIS;
        for (actor, unbonding, leave) in [
            (actors::RELAYS, params.volumes.unbonding, "cowboy relay leave"),
            (actors::SECRETS, params.secrets.unbonding, "cowboy proxy leave"),
        ] {
            let stays = may_withdraw(actor, &json!({ "address": "0x01", "left_at": null }), &params, 9).expect_err("it stays").to_string();
            assert!(stays.contains("0x01 has not left") && stays.ends_with(leave), "{stays}");
            let left = json!({ "address": "0x01", "left_at": 5 });
            let free = 5 + unbonding;
            assert_eq!(free_from(actor, &left, &params), Some(free));
            let early = may_withdraw(actor, &left, &params, free - 1).expect_err("it is early").to_string();
            assert!(early.contains(&format!("free from height {free} on")), "{early}");
            assert!(may_withdraw(actor, &left, &params, free).is_ok());
            assert!(Cli::try_parse_from(leave.split(' ')).is_ok(), "{leave}");
        }
    }

    /// What is paid is read by the table of each method that pays a stake.
    #[test]
    fn what_is_paid_is_read_by_the_tables() {
        let number = cbor::Value::uint(7).encode();
        for actor in [actors::GOVERNANCE, actors::RELAYS, actors::SECRETS] {
            assert_eq!(returned(actor, "withdraw", &number), Some(7), "{actor:#x}");
        }
        let amount = json!({ "amount": 7 });
        for method in ["withdraw", "withdraw_delegation"] {
            let data = system::any(&amount).expect("a map").encode();
            assert_eq!(returned(actors::RUNNERS, method, &data), Some(7), "{method}");
        }
    }
}
