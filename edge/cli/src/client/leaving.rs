//! What a command says that begins to free a stake: how much, from which height on, and the command that pays it.

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
        meanwhile: "keep the proxy running while it has a seat; the stake is free later then: the time begins when its seat ends",
        withdraw: "cowboy call secrets-manager withdraw",
    },
    Way {
        actor: actors::RELAYS,
        method: "leave",
        event: ("relay.leaving", "amount"),
        free: Free::After(|params| params.volumes.unbonding),
        meanwhile: "keep the relay running until it has no slots (`cowboy relay status`)",
        withdraw: "cowboy call relay-registry withdraw",
    },
];

impl Way {
    fn of(actor: u8, method: &str) -> Option<&'static Self> {
        WAYS.iter().find(|way| way.actor == actor && way.method == method)
    }

    /// Its row in the tables of the protocol.
    fn row(&self) -> Option<&'static Method> {
        ACTORS.iter().find(|one| one.number == self.actor)?.method(self.method)
    }

    /// From which height on the stake is free.
    fn free_from(&self, receipt: &model::Receipt, params: &Params) -> Option<u64> {
        match self.free {
            Free::Returned(pointer) => system::json_of_bytes(&self.row()?.result, &receipt.return_data.0).pointer(pointer)?.as_u64(),
            Free::After(blocks) => receipt.block_height.checked_add(blocks(params)),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The methods, their events and the commands are those of the tables of the protocol.
    #[test]
    fn ways_are_methods() {
        for way in &WAYS {
            let actor = ACTORS.iter().find(|one| one.number == way.actor).expect("the actor exists");
            let row = way.row().expect("the method exists");
            let event = actor.events.iter().flat_map(|table| table.iter()).find(|event| event.name == way.event.0);
            let fields = event.expect("the event exists").data;
            assert!(fields.iter().any(|field| field.name == way.event.1), "{} {:?}", row.name, way.event);
            if let Some(method) = way.withdraw.strip_prefix(&format!("cowboy call {} ", system::slug(actor))) {
                assert!(actor.method(method).is_some(), "{method}");
            }
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
}
