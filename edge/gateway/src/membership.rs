//! Being a registered gateway: registering where it is not, and heartbeats before the health runs out (004 §9.2).

use crate::{Shared, command::Commander, refusal::Refusal, state::BlockState};
use cowboy_node::NodeHandle;
use cowboy_serve::Client;
use cowboy_system::{gateways::state::gateway, requests};
use cowboy_types::{Amount, Hash};
use std::sync::Arc;
use tokio::sync::Mutex;

/// Blocks in which what was sent is expected to be final; then it is sent again.
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
    /// The newest block when it last sent something to that end: number and digest.
    sent: Mutex<Option<(u64, Hash)>>,
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
    pub(crate) fn new(registration: Option<Registration>) -> Self {
        Self { registration, sent: Mutex::new(None) }
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
        let mut sent = self.sent.lock().await;
        let is_on_its_way = |(at, block)| at + PATIENCE > state.head.number && has_block(node, at, &block);
        if !is_due || sent.is_some_and(is_on_its_way) {
            return Ok(());
        }
        match (&record, &self.registration) {
            (None, Some(registration)) => {
                let request = requests::register_gateway(registration.endpoint.clone(), registration.http_port);
                commander.send(Client::OWN, node, state, request, registration.stake).await?;
                tracing::info!(address = %commander.address(), endpoint = registration.endpoint, "registering as a gateway");
            }
            _ => {
                commander.send(Client::OWN, node, state, requests::gateway_heartbeat(), Amount::ZERO).await?;
            }
        }
        *sent = Some((state.head.number, state.head.digest));
        Ok(())
    }
}

/// Whether the chain still has this block: a devnet that was reverted has forgotten it, and what was sent after it.
fn has_block(node: &NodeHandle, number: u64, digest: &Hash) -> bool {
    node.view().is_ok_and(|view| view.block(number).ok().flatten().is_some_and(|block| block.digest() == *digest))
}

/// Keeps a gateway registered and healthy for as long as the node lives.
pub(crate) async fn keep(shared: &Shared) {
    let Some(commander) = &shared.commander else { return };
    let mut heads = shared.node.watch_head();
    loop {
        if shared.node.head().number > 0
            && let Ok(state) = shared.newest.state().await
            && let Err(refusal) = shared.membership.ensure(commander, &shared.node, &state, Urgency::Timely).await
        {
            tracing::warn!(why = refusal.what, "the gateway could not keep itself registered");
        }
        if heads.changed().await.is_err() {
            return;
        }
    }
}
