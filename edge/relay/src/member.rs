//! What a relay has to do in time: it registers, says that it is up, proves what it keeps, and answers demands. What takes longer is done beside it,
//! by [`crate::upkeep`].

use crate::app::App;
use crate::store::{Item, Kind};
use commonware_codec::Encode as _;
use cowboy_api::sender::{Call, Request};
use cowboy_service::{Calls, ChainError, Failures};
use cowboy_system::requests::secrets::Endpoint;
use cowboy_system::requests::volumes::{self as requests, Registration};
use cowboy_system::standstill::{Standstill, VOLUMES};
use cowboy_system::volumes::types::{Demand, Point, Relay, Round, Volume};
use cowboy_system::volumes::{offered, state};
use cowboy_types::cbor::{self, Value};
use cowboy_types::units::{Amount, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Blob, Hash, actors};
use cowboy_volume::Tree;
use cowboy_volumes::relay::PointProof;
use cowboy_volumes::{Page, Route, slice};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Why a step cannot be taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepError {
    /// The chain cannot be read.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The store cannot be used.
    #[error("the store cannot be used: {0}\n  fix: check the folder's permissions and space")]
    Store(#[from] std::io::Error),
}

/// What a relay is, as it registers.
pub(crate) struct Identity {
    /// The relay's Ed25519 key, and the proof that it is the account's.
    pub(crate) public: Fixed<32>,
    pub(crate) proof: Fixed<64>,
    pub(crate) endpoint: String,
    pub(crate) port: u16,
    pub(crate) certificate: Hash,
    pub(crate) region: String,
    pub(crate) capacity: u64,
    pub(crate) ask: u64,
    pub(crate) stake: Amount,
}

/// Steps without a failure until one is logged again at once: not every step writes.
pub(crate) const CALM: u32 = 60;

/// Slots that the relay was given, and does not serve yet: events tell of them, and the upkeep rebuilds them.
pub(crate) type Given = Arc<Mutex<BTreeSet<(Hash, u8)>>>;

/// A relay between two looks at the chain.
pub(crate) struct Member {
    identity: Identity,
    app: Arc<App>,
    calls: Calls,
    /// The first height whose events were not looked at.
    scanned: Option<u64>,
    given: Given,
    /// Whether the stake was looked at since the start.
    is_stake_checked: bool,
    /// What the relay should have, and has not.
    missing: Failures,
}

impl Member {
    pub(crate) fn new(identity: Identity, app: Arc<App>, given: Given) -> Self {
        let missing = Failures::lasting(CALM);
        Self { identity, app, calls: Calls::default(), scanned: None, given, is_stake_checked: false, missing }
    }

    /// Looks at the chain, and adds the calls to send. Where a part of it fails, the calls of the parts before it stand. While governance pauses volumes or
    /// relays there are none: they would be refused, and no deadline passes.
    pub(crate) async fn step(&mut self, calls: &mut Vec<Call>) -> Result<(), StepError> {
        let address = self.app.address;
        let found = self.app.chain.read(&[state::relay_key(address), state::round_key(address), VOLUMES.key()]).await?;
        let height = found.height;
        self.app.note_height(height);
        let still: Standstill = found.read(2)?.unwrap_or_default();
        if still.is_still_at(Height(height)) {
            return Ok(());
        }
        let Some(relay) = found.read::<Relay>(0)? else {
            let (request, stake) = (self.registration(), self.identity.stake);
            calls.extend(self.calls.paid(height, "register", request, stake));
            return Ok(());
        };
        let is_first = !std::mem::replace(&mut self.is_stake_checked, true);
        match relay.left_at {
            None if is_first => tracing::info!(relay = %address, height, "the relay is registered"),
            Some(left_at) if is_first => tracing::warn!(
                relay = %address,
                left_at = left_at.0,
                "the relay has left, and is given no slots: `cowboy relay status` says from when on its stake is free"
            ),
            _ => {}
        }
        // Once for each start: a relay that loses stake again and again does not spend its account on it.
        if is_first && let Some(missing) = missing_stake(&relay, self.identity.stake) {
            tracing::info!(base_units = missing.0, "the relay adds stake, up to what the configuration says");
            calls.extend(self.calls.paid(height, "stake", requests::add_stake(), missing));
        }
        self.keep_registered(height, &relay, calls);
        if let Some(round) = found.read::<Round>(1)?.filter(|round| height < round.answered_until(&still).0) {
            calls.extend(self.prove(height, &round).await?);
        }
        self.answer_demands(height, &still, &relay, calls).await?;
        self.missing.is_over();
        self.look_at_events(height).await
    }

    fn registration(&self) -> Request {
        let own = &self.identity;
        requests::register_relay(Registration {
            at: self.endpoint(),
            key: own.public,
            proof: own.proof,
            region: own.region.clone(),
            capacity: own.capacity,
            ask: own.ask,
        })
    }

    fn endpoint(&self) -> Endpoint {
        let own = &self.identity;
        Endpoint { endpoint: own.endpoint.clone(), port: own.port, certificate: own.certificate }
    }

    /// Says where the relay is and that it is up, where the chain has it otherwise. An update that the chain refuses keeps back no heartbeat.
    fn keep_registered(&mut self, height: u64, relay: &Relay, calls: &mut Vec<Call>) {
        let own = &self.identity;
        let capacity = offered(&self.app.chain.params(), relay, own.capacity);
        let is_said = *relay.endpoint == *own.endpoint
            && (relay.port, relay.certificate, relay.capacity, relay.ask.0) == (own.port, own.certificate, capacity, own.ask);
        if !is_said && relay.left_at.is_none() {
            let request = requests::update_relay(self.endpoint(), capacity, own.ask);
            calls.extend(self.calls.once(height, "update", request));
        }
        if relay.is_heartbeat_due(self.app.chain.params().volumes.alive, height) {
            calls.extend(self.calls.once(height, "heartbeat", requests::heartbeat()));
        }
    }

    /// Proves the points of a round. What is not here cannot be proven, and is said.
    async fn prove(&mut self, height: u64, round: &Round) -> Result<Option<Call>, StepError> {
        let mut proofs = Vec::with_capacity(round.points.len());
        for point in round.points.iter() {
            let volume: Option<Volume> = self.app.chain.read(&[state::volume_key(&point.volume)]).await?.read(0)?;
            // The chain asks for nothing of a volume that is gone.
            let Some(volume) = volume else {
                proofs.push(Vec::new());
                continue;
            };
            match prove_point(&self.app, &volume, point)? {
                Some(proof) => proofs.push(proof.encode().to_vec()),
                None => {
                    if self.missing.is_logged(&format_args!("{} {}", point.volume, point.slot)) {
                        tracing::error!(volume = %point.volume, slot = point.slot, "a byte that has to be proven is not here");
                    }
                    return Ok(None);
                }
            }
        }
        let request = requests::prove(round.height, proofs).expect("a round has as many proofs as points");
        Ok(self.calls.once(height, format!("prove:{}", round.height.0), request))
    }

    /// Notes slots that events tell of. Whether they are so says their record.
    async fn look_at_events(&mut self, height: u64) -> Result<(), StepError> {
        let from = self.scanned.unwrap_or(height.saturating_sub(self.app.chain.params().volumes.fill));
        for event in self.app.chain.events(Address::system(actors::RELAYS), from).await? {
            let Ok(data) = cbor::decode(&event.data.0) else { continue };
            let bytes = |name: &str| data.get(name).and_then(Value::as_bytes);
            let hash = |name: &str| bytes(name).and_then(|bytes| bytes.try_into().ok()).map(Hash);
            if bytes("relay") != Some(&self.app.address.0[..]) {
                continue;
            }
            if &*event.name == "slot.given" {
                let slot = data.get("slot").and_then(Value::as_u64).and_then(|slot| u8::try_from(slot).ok());
                let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
                given.extend(hash("volume_id").zip(slot));
            }
        }
        self.scanned = Some(height.saturating_add(1));
        Ok(())
    }

    /// Publishes parts of shards that are demanded. The chain proves which they are: a node that kept one back would cost stake.
    async fn answer_demands(&mut self, height: u64, still: &Standstill, relay: &Relay, calls: &mut Vec<Call>) -> Result<(), StepError> {
        for id in relay.demands.iter() {
            let demand: Option<Demand> = self.app.chain.read(&[state::demand_key(id)]).await?.read(0)?;
            let is_open = |demand: &Demand| demand.relay == self.app.address && height < demand.answered_until(still).0;
            let Some(demand) = demand.filter(is_open) else { continue };
            match self.app.slice(demand.volume, &demand.shard, demand.start, demand.length)? {
                Some(slice) => {
                    calls.extend(self.calls.once(height, format!("answer:{id}"), requests::answer(*id, slice)));
                }
                None => {
                    if self.missing.is_logged(id) {
                        tracing::error!(demand = %id, "what is demanded is not here");
                    }
                }
            }
        }
        Ok(())
    }
}

/// What a relay that starts adds to its stake: what of the configured one is not there, as after a penalty (decision 713). One that left, or that gave way
/// to another, adds none.
fn missing_stake(relay: &Relay, configured: Amount) -> Option<Amount> {
    let missing = configured.saturating_sub(relay.stake);
    let may_add = relay.left_at.is_none() && relay.gave_way_at.is_none();
    (missing > Amount::ZERO && may_add).then_some(missing)
}

/// The proof of a point; none where something of it is not here.
fn prove_point(app: &App, volume: &Volume, point: &Point) -> std::io::Result<Option<PointProof>> {
    let item = |kind, hash| Item { volume: point.volume, kind, hash };
    let Some(tree) = app.store.get(&item(Kind::Tree, point.top.root()))?.and_then(|bytes| Tree::parse(&bytes)) else { return Ok(None) };
    let Some((place, rest)) = tree.page_with(point.at) else { return Ok(None) };
    let Some(node) = tree.nodes.get(place) else { return Ok(None) };
    let Some(bytes) = app.store.get(&item(Kind::Page, node.hash))? else { return Ok(None) };
    let Some(page) = Page::parse(&bytes, volume.code, tree.top.depth, place) else { return Ok(None) };
    let Some((at, rest)) = page.find(rest) else { return Ok(None) };
    let (Some(leaf), Some(route)) = (page.leaves.get(at), Route::new(&page, at, &tree.nodes, place)) else { return Ok(None) };
    let Some(shard) = leaf.shards.get(usize::from(point.slot)) else { return Ok(None) };
    // The leaf alone proves what is behind the end of a short shard.
    let slice = if rest < leaf.shard_bytes {
        let (start, length) = slice::chunk(rest, leaf.shard_bytes);
        app.slice(point.volume, shard, start, length)?
    } else {
        Some(Vec::new())
    };
    let Some(slice) = slice else { return Ok(None) };
    let (Some(leaf), Some(slice)) = (Blob::new(leaf.encode()), Blob::new(slice)) else { return Ok(None) };
    Ok(Some(PointProof { leaf, route, slice }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A relay adds what it lost, and nothing where it has as much as is configured, or where the chain would refuse it.
    #[test]
    fn what_was_lost_is_staked_again() {
        let there = |stake: u64| Relay { stake: Amount(stake), ..Relay::new(Height::ZERO, Height::ZERO) };
        let rows = [
            (there(5_000), None),
            (there(6_000), None),
            (there(4_950), Some(50)),
            (Relay { left_at: Some(Height(7)), ..there(4_950) }, None),
            (Relay { gave_way_at: Some(Height(7)), ..there(4_950) }, None),
        ];
        for (relay, expected) in rows {
            assert_eq!(missing_stake(&relay, Amount(5_000)), expected.map(Amount), "{relay:?}");
        }
    }
}
