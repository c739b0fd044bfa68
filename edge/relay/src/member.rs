//! What a relay does next: it registers, says that it is up, proves what it keeps, answers demands, and rebuilds what it was given.

use crate::app::App;
use crate::keeping::{self, Named};
use crate::repair::{self, Rebuilt};
use crate::store::{Item, Kind};
use commonware_codec::Encode as _;
use cowboy_api::sender::Call;
use cowboy_params::Volumes;
use cowboy_service::{Calls, ChainError};
use cowboy_system::volumes::directory::{Entries, PAGE};
use cowboy_system::volumes::state;
use cowboy_system::volumes::types::{Demand, Partition, Point, Relay, Round, Volume, bit};
use cowboy_types::cbor::{self, Value};
use cowboy_types::signing::PrivateKey;
use cowboy_types::units::Amount;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Blob, Hash, actors};
use cowboy_volume::Tree;
use cowboy_volumes::relay::PointProof;
use cowboy_volumes::{Page, Route, slice};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// How often what no root names is looked for, in the time for which it is kept.
const SWEEPS: u64 = 32;

/// Steps between two looks at all volumes.
const SWEEP: u64 = 10;

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
    pub(crate) key: PrivateKey,
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

/// What is being rebuilt: a slot, and the roots of its partitions once they are whole.
type Repairs = Arc<Mutex<BTreeMap<(Hash, u8), Option<Rebuilt>>>>;

/// Blocks after which what a writer damaged is tried again: it may have been replaced.
const TRIED_AGAIN: u64 = 600;

/// A relay between two looks at the chain.
pub(crate) struct Member {
    identity: Identity,
    app: Arc<App>,
    /// The parameters of volumes.
    rows: Volumes,
    /// Blocks for which what no root names is kept.
    kept_for: u64,
    calls: Calls,
    /// The first height whose events were not looked at.
    scanned: Option<u64>,
    demands: BTreeSet<Hash>,
    /// Slots that the relay was given, and does not serve yet.
    given: BTreeSet<(Hash, u8)>,
    /// The height of the last look for what no root names.
    swept: Option<u64>,
    repairs: Repairs,
    steps: u64,
}

fn hash(hash: &Hash) -> Value {
    Value::Bytes(hash.0.to_vec())
}

impl Member {
    pub(crate) fn new(identity: Identity, app: Arc<App>, rows: Volumes, kept_for: u64) -> Self {
        let (scanned, demands, given, swept) = Default::default();
        Self {
            identity,
            app,
            rows,
            kept_for,
            calls: Calls::new(actors::RELAYS),
            scanned,
            demands,
            given,
            swept,
            repairs: Repairs::default(),
            steps: 0,
        }
    }

    /// Looks at the chain, and answers the calls to send.
    pub(crate) async fn step(&mut self) -> Result<Vec<Call>, StepError> {
        let address = self.app.address;
        let found = self.app.chain.read(&[state::relay_key(address), state::round_key(address)]).await?;
        let height = found.height;
        self.app.note_height(height);
        let Some(relay) = found.read::<Relay>(0)? else {
            let (argument, stake) = (self.registration(), self.identity.stake);
            return Ok(self.calls.paid(height, "register", "register_relay", argument, stake).into_iter().collect());
        };
        let mut calls: Vec<Call> = self.keep_registered(height, &relay).into_iter().collect();
        if let Some(round) = found.read::<Round>(1)?.filter(|round| height < round.until.0) {
            calls.extend(self.prove(height, &round).await?);
        }
        self.look_at_events(height).await?;
        calls.extend(self.answer_demands(height).await?);
        calls.extend(self.fill_slots(height).await?);
        if self.steps.is_multiple_of(SWEEP) {
            calls.extend(self.look_at_volumes(height, &relay).await?);
        }
        self.steps = self.steps.wrapping_add(1);
        Ok(calls)
    }

    fn registration(&self) -> Value {
        let own = &self.identity;
        Value::dict([
            ("endpoint", Value::text(&own.endpoint)),
            ("port", Value::uint(u64::from(own.port))),
            ("certificate", hash(&own.certificate)),
            ("key", Value::Bytes(own.public.0.to_vec())),
            ("proof", Value::Bytes(own.proof.0.to_vec())),
            ("region", Value::text(&own.region)),
            ("capacity", Value::uint(own.capacity)),
            ("ask", Value::uint(own.ask)),
        ])
    }

    /// Says where the relay is and that it is up, where the chain has it otherwise.
    fn keep_registered(&mut self, height: u64, relay: &Relay) -> Option<Call> {
        let own = &self.identity;
        let is_said = *relay.endpoint == *own.endpoint
            && (relay.port, relay.certificate, relay.capacity, relay.ask.0) == (own.port, own.certificate, own.capacity, own.ask);
        if !is_said && relay.left_at.is_none() {
            let argument = Value::dict([
                ("endpoint", Value::text(&own.endpoint)),
                ("port", Value::uint(u64::from(own.port))),
                ("certificate", hash(&own.certificate)),
                ("capacity", Value::uint(own.capacity)),
                ("ask", Value::uint(own.ask)),
            ]);
            return self.calls.once(height, "update", "update_relay", argument);
        }
        let is_due = relay.is_heartbeat_due(self.rows.alive, height);
        let argument = Value::Map(Vec::new());
        if is_due { self.calls.once(height, "heartbeat", "heartbeat", argument) } else { None }
    }

    /// Proves the points of a round. What is not here cannot be proven, and is said.
    async fn prove(&mut self, height: u64, round: &Round) -> Result<Option<Call>, StepError> {
        let mut proofs = Vec::with_capacity(round.points.len());
        for point in round.points.iter() {
            let volume: Option<Volume> = self.app.chain.read(&[state::volume_key(&point.volume)]).await?.read(0)?;
            // The chain asks for nothing of a volume that is gone.
            let Some(volume) = volume else {
                proofs.push(Value::Bytes(Vec::new()));
                continue;
            };
            match prove_point(&self.app, &volume, point)? {
                Some(proof) => proofs.push(Value::Bytes(proof.encode().to_vec())),
                None => {
                    tracing::error!(volume = %point.volume, slot = point.slot, "a byte that has to be proven is not here");
                    return Ok(None);
                }
            }
        }
        let argument = Value::dict([("height", Value::uint(round.height.0)), ("proofs", Value::Array(proofs))]);
        Ok(self.calls.once(height, format!("prove:{}", round.height.0), "prove", argument))
    }

    /// Notes demands and slots that events tell of. Whether they are so says their record.
    async fn look_at_events(&mut self, height: u64) -> Result<(), StepError> {
        let from = self.scanned.unwrap_or(height.saturating_sub(self.rows.fill));
        for event in self.app.chain.events(Address::system(actors::RELAYS), from).await? {
            let Ok(data) = cbor::decode(&event.data.0) else { continue };
            let bytes = |name: &str| data.get(name).and_then(Value::as_bytes);
            let hash = |name: &str| bytes(name).and_then(|bytes| bytes.try_into().ok()).map(Hash);
            if bytes("relay") != Some(&self.app.address.0[..]) {
                continue;
            }
            match &*event.name {
                "demand.made" => self.demands.extend(hash("demand")),
                "slot.given" => {
                    let slot = data.get("slot").and_then(Value::as_u64).and_then(|slot| u8::try_from(slot).ok());
                    self.given.extend(hash("volume_id").zip(slot));
                }
                _ => {}
            }
        }
        self.scanned = Some(height.saturating_add(1));
        Ok(())
    }

    /// Publishes parts of shards that are demanded.
    async fn answer_demands(&mut self, height: u64) -> Result<Vec<Call>, StepError> {
        let mut calls = Vec::new();
        for id in self.demands.clone() {
            let demand: Option<Demand> = self.app.chain.read(&[state::demand_key(&id)]).await?.read(0)?;
            let Some(demand) = demand.filter(|demand| demand.relay == self.app.address && height < demand.until.0) else {
                self.demands.remove(&id);
                continue;
            };
            match self.app.store.slice(demand.volume, &demand.shard, demand.start, demand.length)? {
                Some(slice) => {
                    let argument = Value::dict([("demand", hash(&id)), ("slice", Value::Bytes(slice))]);
                    calls.extend(self.calls.once(height, format!("answer:{id}"), "answer", argument));
                }
                None => {
                    tracing::error!(demand = %id, "what is demanded is not here");
                    self.demands.remove(&id);
                }
            }
        }
        Ok(calls)
    }

    /// Rebuilds slots that the relay was given, and says which are whole.
    async fn fill_slots(&mut self, height: u64) -> Result<Vec<Call>, StepError> {
        let mut calls = Vec::new();
        for (id, slot) in self.given.clone() {
            let volume: Option<Volume> = self.app.chain.read(&[state::volume_key(&id)]).await?.read(0)?;
            let place = usize::from(slot);
            let is_given =
                |volume: &Volume| volume.slots.get(place).is_some_and(|slot| slot.relay == Some(self.app.address) && slot.place.is_none());
            let Some(volume) = volume.filter(is_given) else {
                self.given.remove(&(id, slot));
                self.forget_repair(id, slot);
                continue;
            };
            let partitions: Vec<Hash> = volume.partitions.iter().map(|listed| listed.partition).collect();
            if let Some(rebuilt) = self.rebuilt(id, slot, &partitions) {
                let roots = partitions.iter().map(|partition| hash(rebuilt.roots.get(partition).unwrap_or(&Hash::ZERO))).collect();
                let argument = Value::dict([("volume", hash(&id)), ("slot", Value::uint(u64::from(slot))), ("roots", Value::Array(roots))]);
                calls.extend(self.calls.once(height, format!("take:{id}:{slot}"), "take_slot", argument));
            }
        }
        Ok(calls)
    }

    fn forget_repair(&self, id: Hash, slot: u8) {
        self.repairs.lock().unwrap_or_else(PoisonError::into_inner).remove(&(id, slot));
    }

    /// The roots that were rebuilt for a slot, once they are whole. The first time that it is asked, rebuilding begins.
    fn rebuilt(&self, id: Hash, slot: u8, partitions: &[Hash]) -> Option<Rebuilt> {
        let mut repairs = self.repairs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rebuilt) = repairs.get(&(id, slot)) {
            return rebuilt.clone();
        }
        repairs.insert((id, slot), None);
        let (app, key, repairs, partitions) = (self.app.clone(), self.identity.key.clone(), self.repairs.clone(), partitions.to_vec());
        // On a thread of its own: hashing and coding hold nobody up.
        let runtime = tokio::runtime::Handle::current();
        tokio::task::spawn_blocking(move || {
            let done = runtime.block_on(repair::rebuild(&app, &key, id, usize::from(slot), &partitions));
            let mut repairs = repairs.lock().unwrap_or_else(PoisonError::into_inner);
            match done {
                Ok(rebuilt) => {
                    tracing::info!(volume = %id, slot, damaged = rebuilt.damaged, "the slot is rebuilt");
                    repairs.insert((id, slot), Some(rebuilt));
                }
                Err(error) => {
                    tracing::warn!(volume = %id, slot, %error, "the slot cannot be rebuilt yet");
                    repairs.remove(&(id, slot));
                }
            }
        });
        None
    }

    /// The entries of the relay's directory.
    async fn entries(&self, relay: &Relay) -> Result<Vec<(Hash, u8)>, StepError> {
        let mut entries = Vec::new();
        for page in 0..relay.slots.div_ceil(PAGE) {
            let found: Option<Entries> = self.app.chain.read(&[state::page_key(self.app.address, 0, page)]).await?.read(0)?;
            let found = found.map(|found| found.entries.into_vec()).unwrap_or_default();
            entries.extend(found.into_iter().map(|entry| (entry.volume, entry.slot)));
        }
        Ok(entries)
    }

    /// Fetches roots that the relay did not acknowledge, says which it has by now, and forgets what no root names.
    async fn look_at_volumes(&mut self, height: u64, relay: &Relay) -> Result<Vec<Call>, StepError> {
        let (mut calls, mut roots) = (Vec::new(), Vec::new());
        for (id, slot) in self.entries(relay).await? {
            let volume: Option<Volume> = self.app.chain.read(&[state::volume_key(&id)]).await?.read(0)?;
            let Some(volume) = volume else { continue };
            let place = usize::from(slot);
            let mut behind = Vec::new();
            for listed in volume.partitions.iter() {
                let found = self.app.chain.read(&[state::partition_key(&id, &listed.partition)]).await?;
                let Some(partition) = found.read::<Partition>(0)? else { continue };
                if partition.root.behind & bit(place) != 0 {
                    behind.push((listed.partition, partition.root.top.root()));
                }
                for root in [Some(&partition.root), partition.previous.as_ref()].into_iter().flatten() {
                    let (root, depth) = (root.top.root(), root.top.depth);
                    roots.push(Named { volume: id, code: volume.code, slot: place, root, depth });
                }
            }
            let partitions: Vec<Hash> = behind.iter().map(|(partition, _)| *partition).collect();
            if let Some(rebuilt) = Some(partitions).filter(|some| !some.is_empty()).and_then(|some| self.rebuilt(id, slot, &some)) {
                for (partition, root) in behind.into_iter().filter(|(partition, root)| rebuilt.roots.get(partition) == Some(root)) {
                    let argument = Value::dict([("volume", hash(&id)), ("partition", hash(&partition)), ("root", hash(&root))]);
                    calls.extend(self.calls.once(height, format!("late:{id}:{partition}:{root}"), "late_ack", argument));
                }
                if rebuilt.damaged == 0 || rebuilt.at.saturating_add(TRIED_AGAIN) <= height {
                    self.forget_repair(id, slot);
                }
            }
        }
        if self.swept.is_none_or(|swept| swept.saturating_add(self.kept_for / SWEEPS) <= height) {
            self.swept = Some(height);
            let removed = tokio::task::block_in_place(|| keeping::sweep(&self.app, &roots, height, self.kept_for))?;
            if removed > 0 {
                tracing::info!(removed, "items that no root names are forgotten");
            }
        }
        Ok(calls)
    }
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
    let (start, length) = slice::chunk(rest, leaf.shard_bytes);
    let Some(slice) = app.store.slice(point.volume, shard, start, length)? else { return Ok(None) };
    let (Some(leaf), Some(slice)) = (Blob::new(leaf.encode()), Blob::new(slice)) else { return Ok(None) };
    Ok(Some(PointProof { leaf, route, slice }))
}
