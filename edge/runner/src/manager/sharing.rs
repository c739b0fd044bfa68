//! Revelations between the members of a committee, and their aggregation.

use super::JobManager;
use crate::{
    plan::Step,
    register,
    share::{self, Share},
};
use cowboy_api::ApiError;
use cowboy_types::{Address, Hash};

/// Blocks before members may reveal themselves, in which an aggregator goes ahead with what it has.
const AGGREGATE_AHEAD: u64 = 2;

/// The most bytes of a transaction's argument: what does not fit together goes alone (decision 127).
const MAX_ARGUMENT_BYTES: usize = 120_000;
/// Another runner, as far as aggregation needs to know it.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) endpoint: String,
    pub(super) result_key: Vec<u8>,
}

impl JobManager {
    /// Gives the revelation to the aggregator, once. Its silence is no failure: a few blocks later everybody reveals.
    pub(super) fn give_away(&mut self, id: Hash) {
        let Some(share) = self.own_share(&id) else { return };
        let Some(active) = self.jobs.get_mut(&id) else { return };
        let (Some(aggregator), true) = (active.view.aggregator, active.shared != Some(active.view.attempt)) else { return };
        active.shared = Some(active.view.attempt);
        let (client, peers, known) = (self.context.client.clone(), self.context.peers.clone(), self.peers.get(&aggregator).cloned());
        tokio::spawn(async move {
            let endpoint = match known {
                Some(peer) => peer.endpoint,
                None => {
                    register::find(&client, &aggregator).await.ok().flatten().map(|runner| runner.capabilities.endpoint).unwrap_or_default()
                }
            };
            match peers.give(&endpoint, &share).await {
                Ok(()) => tracing::debug!(job = %id, %aggregator, "shared"),
                Err(reason) => tracing::debug!(job = %id, %aggregator, endpoint, reason, "the aggregator does not take it"),
            }
        });
    }

    /// Another member's revelation came. Anybody can send one: what no member of the job signed asks the node nothing, and leaves nothing behind.
    pub(super) async fn take_share(&mut self, share: Share) -> Result<(), ApiError> {
        let (id, runner) = (share.job_id.0, share.runner.0);
        if self.jobs.get(&id).is_none_or(|active| active.view.member(&runner).is_none()) {
            tracing::debug!(job = %id, from = %runner, "a share of a stranger is dropped");
            return Ok(());
        }
        let peer = self.peer(&runner).await?;
        if !share.is_signed(&self.context.genesis, &peer.result_key) {
            tracing::debug!(job = %id, from = %runner, "a share that its runner did not sign is dropped");
            return Ok(());
        }
        if self.jobs.get(&id).is_some_and(|active| active.view.status == "assigned") {
            // The sender saw a newer block.
            self.look_at(vec![id]).await?;
        }
        let Some(active) = self.jobs.get_mut(&id) else { return Ok(()) };
        let member = active.view.closed().find(|member| member.runner == runner);
        let is_wanted = active.view.aggregator == Some(self.context.address) && active.view.attempt == share.attempt;
        let (genesis, most_bytes) = (&self.context.genesis, active.spec.schema.max_return_bytes.0);
        let is_right = member.is_some_and(|member| share.is_right(genesis, &member.commitment, &peer.result_key, most_bytes));
        if is_wanted && is_right {
            self.context.board.metrics.share();
            active.shares.insert(runner, share);
        } else {
            tracing::debug!(job = %id, from = %runner, is_wanted, is_right, "a share is left aside");
        }
        Ok(())
    }

    async fn peer(&mut self, runner: &Address) -> Result<Peer, ApiError> {
        if let Some(known) = self.peers.get(runner) {
            return Ok(known.clone());
        }
        let found = register::find(&self.context.client, runner).await?;
        let peer = found.map_or(Peer { endpoint: String::new(), result_key: Vec::new() }, |runner| Peer {
            endpoint: runner.capabilities.endpoint,
            result_key: runner.result_key.0,
        });
        self.peers.insert(*runner, peer.clone());
        Ok(peer)
    }

    /// Opens all commitments together, once all are here or time is short.
    pub(super) fn aggregate(&mut self, id: Hash) {
        let Some(own) = self.own_share(&id) else { return };
        let Some(active) = self.jobs.get(&id) else { return };
        let awaited = active.view.closed().filter(|member| member.runner != self.context.address).count();
        let is_late = self.height + AGGREGATE_AHEAD >= active.view.reveal_from;
        if active.shares.len() < awaited && !is_late {
            return;
        }
        let mut together: Vec<&Share> = vec![&own];
        let closed: Vec<Address> = active.view.closed().map(|member| member.runner).collect();
        together.extend(active.shares.values().filter(|share| closed.contains(&share.runner.0)));
        let request = share::together(&id, &together);
        match request.filter(|request| together.len() > 1 && request.argument.encode().len() <= MAX_ARGUMENT_BYTES) {
            Some(request) => self.post(id, Step::Aggregate, request),
            // Alone, or too long: it speaks for itself, and so sets the others free to do the same.
            None => self.post(id, Step::Reveal, own.request(true).expect("its own salt and signature have their lengths")),
        }
    }
}
