//! Being a registered gateway: registering where it is not, and heartbeats before the health runs out (004 §9.2).

use crate::{
    Shared,
    command::{self, Commander},
    refusal::Refusal,
    sending::{self, is_refused_for_good},
    source::Source,
    state::BlockState,
};
use cowboy_node::NodeHandle;
use cowboy_serve::Client;
use cowboy_system::{gateways::state::gateway, requests};
use cowboy_types::{Amount, Hash};
use std::sync::Arc;
use tokio::{
    sync::{Mutex, MutexGuard},
    time::sleep,
};

/// Blocks in which what was sent is expected to be final; then it is sent again. So is what was refused for good: each time may cost a transfer.
const PATIENCE: u64 = 20;

/// What a gateway says of itself where it registers by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// Where it is reached: a host name or an address.
    pub endpoint: String,
    /// The port of its web server.
    pub http_port: u16,
    /// What it stakes.
    pub stake: Amount,
}

/// What the gateway does to be one.
pub(crate) struct Membership {
    registration: Option<Registration>,
    source: Source,
    sent: Mutex<Last>,
}

/// What was last sent to be a gateway: the number and the digest of the newest block then, and what came of it. Nothing where the same may succeed at once.
#[derive(Debug, Default)]
struct Last(Option<(u64, Hash, Result<(), Refusal>)>);

impl Last {
    fn note(&mut self, (number, digest): (u64, Hash), outcome: &Result<(), Refusal>) {
        if outcome.as_ref().err().is_none_or(is_refused_for_good) {
            self.0 = Some((number, digest, outcome.clone()));
        }
    }

    /// What came of it, where it is too soon for another try in this block.
    fn standing(&self, number: u64, has_block: impl FnOnce(u64, &Hash) -> bool) -> Option<Result<(), Refusal>> {
        let (at, digest, outcome) = self.0.as_ref()?;
        (at.saturating_add(PATIENCE) > number && has_block(*at, digest)).then(|| outcome.clone())
    }
}

/// How soon a heartbeat is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// Before the health runs out, in good time.
    Timely,
    /// Only where there is none left.
    Last,
}

impl Membership {
    pub(crate) fn new(registration: Option<Registration>, source: Source) -> Self {
        Self { registration, source, sent: Mutex::default() }
    }

    /// Waits until nobody else sends what the gateway says of itself, or until `patience` ends. Who waits holds a state and a place: where the node takes its time, not all
    /// wait for ever.
    async fn turn(&self, patience: impl Future<Output = ()>) -> Result<MutexGuard<'_, Last>, Refusal> {
        let late = || Refusal::busy("BUSY", "What the gateway has to say of itself is sent first.").retry(2);
        sending::turn(&self.sent, patience).await.ok_or_else(late)
    }

    /// Registers, or sends a heartbeat, where that is due.
    pub(crate) async fn ensure(
        &self,
        commander: &Commander,
        node: &NodeHandle,
        state: &Arc<BlockState>,
        urgency: Urgency,
    ) -> Result<(), Refusal> {
        let record = state.ask(|world| gateway(world, commander.address())).await?;
        let (params, height) = (&state.params, state.head.height.next());
        let is_due = match &record {
            None => self.registration.is_some(),
            Some(record) if record.leaving.is_some() => false,
            Some(record) => {
                let health = record.health(params, height);
                health == 0 || (urgency == Urgency::Timely && health < params.gateways.health / 4 * 3)
            }
        };
        // Nobody waits for what others send, unless it is due.
        if !is_due {
            return Ok(());
        }
        // What the state of an old block lacks, the chain may have.
        if self.source.is_away() {
            let what = "The gateway catches up with its chain: it registers, or sends its heartbeat, after that.";
            return Err(Refusal::busy("CATCHING_UP", what).retry(10));
        }
        let mut sent = self.turn(sleep(command::PATIENCE)).await?;
        if let Some(outcome) = sent.standing(state.head.number, |number, digest| has_block(node, number, digest)) {
            return outcome;
        }
        let (request, stake) = match (&record, &self.registration) {
            (None, Some(registration)) => {
                (requests::register_gateway(registration.endpoint.clone(), registration.http_port), registration.stake)
            }
            _ => (requests::gateway_heartbeat(), Amount::ZERO),
        };
        let outcome = commander.send(Client::OWN, node, state, request, stake).await;
        sent.note((state.head.number, state.head.digest), &outcome);
        if let (Ok(()), None, Some(registration)) = (&outcome, &record, &self.registration) {
            tracing::info!(address = %commander.address(), endpoint = registration.endpoint, "registering as a gateway");
        }
        outcome
    }
}

/// Whether the chain still has this block: a devnet that was reverted has forgotten it, and what was sent after it.
fn has_block(node: &NodeHandle, number: u64, digest: &Hash) -> bool {
    node.view().is_ok_and(|view| view.block(number).ok().flatten().is_some_and(|block| block.digest() == *digest))
}

/// Keeps a gateway registered and healthy for as long as the node lives.
pub(crate) async fn keep(shared: &Shared) {
    let Some(commander) = &shared.commander else { return };
    let (mut heads, mut source) = (shared.node.watch_head(), shared.source.changes());
    loop {
        // While it catches up, each block would have its state opened for nothing.
        if shared.node.head().number > 0
            && !shared.source.is_away()
            && let Ok(state) = shared.newest.state().await
            && let Err(refusal) = shared.membership.ensure(commander, &shared.node, &state, Urgency::Timely).await
        {
            tracing::warn!(why = refusal.what, "the gateway could not keep itself registered");
        }
        tokio::select! {
            head = heads.changed() => if head.is_err() { return },
            Ok(()) = source.changed() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sending::refused_for_good;

    /// Decision 664: while one sends a heartbeat that the node does not answer, others wait for it no longer than their patience. Who comes after it does not wait.
    #[tokio::test]
    async fn waits_for_a_heartbeat_have_an_end() {
        let membership = Membership::new(None, Source::default());
        let sending = membership.turn(std::future::pending()).await.expect("nobody sends");
        let late = membership.turn(tokio::task::yield_now()).await.map(drop);
        assert_eq!(late.err().map(|refusal| (refusal.status.as_u16(), refusal.code, refusal.retry_after)), Some((503, "BUSY", Some(2))));
        drop(sending);
        assert!(membership.turn(std::future::ready(())).await.is_ok(), "it is its turn at once");
    }

    /// Decision 655: what a node refuses for good is not sent again in each block, and is not taken for sent.
    #[test]
    fn a_refusal_for_good_is_remembered() {
        let (refused, block) = (Err(refused_for_good("it is too long")), (100, Hash([1; 32])));
        for (outcome, is_remembered) in [(Ok(()), true), (refused, true), (Err(Refusal::unavailable("no answer")), false)] {
            let mut last = Last::default();
            last.note(block, &outcome);
            for number in [100, 119] {
                assert_eq!(last.standing(number, |at, digest| (at, *digest) == block), is_remembered.then(|| outcome.clone()), "{number}");
            }
            assert_eq!(last.standing(119, |_, _| false), None, "the chain went back");
            assert_eq!(last.standing(120, |_, _| true), None, "it is time");
        }
    }
}
