//! What a relay does beside what is due: it rebuilds slots that it was given, fetches roots that it did not acknowledge, and forgets what no root
//! names. However much it keeps, and however long others take to answer, proofs and heartbeats do not wait for it.

use crate::app::App;
use crate::keeping::{self, Named};
use crate::member::{CALM, Given, StepError};
use crate::repair::{self, Rebuilt};
use crate::turns::Turns;
use cowboy_api::sender::Call;
use cowboy_service::{Calls, Failures};
use cowboy_system::requests::volumes as requests;
use cowboy_system::volumes::directory::{Entries, PAGE};
use cowboy_system::volumes::state;
use cowboy_system::volumes::types::{Partition, Relay, Volume, bit};
use cowboy_types::Hash;
use cowboy_types::signing::PrivateKey;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often what no root names is looked for, in the time for which it is kept.
const SWEEPS: u64 = 32;

/// Steps between two looks at all volumes.
const SWEEP: u64 = 10;

/// Blocks after which what a writer damaged is tried again: it may have been replaced.
const TRIED_AGAIN: u64 = 600;

/// Slots that are rebuilt at once. Each has a thread, and connections to the volume's relays.
const AT_ONCE: usize = 4;

/// How long a slot may be rebuilt until another one has its turn, beside a second for each MiB that it has. What was rebuilt by then is not lost.
const REBUILD: Duration = Duration::from_secs(600);

/// Bytes of a slot that have to be rebuilt in a second, beside [`REBUILD`].
const BYTES_PER_SECOND: u64 = 1 << 20;

/// What is being rebuilt: a slot, and the roots of its partitions once they are whole.
type Repairs = Arc<Mutex<BTreeMap<(Hash, u8), Option<Rebuilt>>>>;

/// Why slots are not rebuilt, as the log has it.
type Unrepaired = Arc<Mutex<Failures>>;

/// The upkeep of a relay's store.
pub(crate) struct Upkeep {
    app: Arc<App>,
    /// The relay's account, which others give what is to be rebuilt.
    key: PrivateKey,
    calls: Calls,
    given: Given,
    /// The height of the last look for what no root names.
    swept: Option<u64>,
    repairs: Repairs,
    unrepaired: Unrepaired,
    /// Turns to rebuild, by the owners of the volumes.
    turns: Arc<Turns>,
    steps: u64,
}

/// Notes what came of rebuilding a slot. Where it failed, it is tried again.
fn note(repairs: &Repairs, unrepaired: &Unrepaired, (id, slot): (Hash, u8), done: Result<Rebuilt, String>) {
    let mut repairs = repairs.lock().unwrap_or_else(PoisonError::into_inner);
    let mut unrepaired = unrepaired.lock().unwrap_or_else(PoisonError::into_inner);
    match done {
        Ok(rebuilt) => {
            tracing::info!(volume = %id, slot, damaged = rebuilt.damaged, "the slot is rebuilt");
            repairs.insert((id, slot), Some(rebuilt));
            unrepaired.is_over();
        }
        Err(error) => {
            if unrepaired.is_logged(&error) {
                tracing::warn!(volume = %id, slot, %error, "the slot cannot be rebuilt yet");
            }
            repairs.remove(&(id, slot));
        }
    }
}

/// How long a slot of a volume may be rebuilt at once.
fn time_to_rebuild(volume: &Volume) -> Duration {
    REBUILD.saturating_add(Duration::from_secs(volume.bytes.saturating_add(volume.spare) / BYTES_PER_SECOND))
}

impl Upkeep {
    pub(crate) fn new(app: Arc<App>, key: PrivateKey, given: Given) -> Self {
        // Who waits is bounded by the slots that the relay has.
        let turns = Arc::new(Turns::new(AT_ONCE, usize::MAX));
        let unrepaired = Arc::new(Mutex::new(Failures::lasting(CALM)));
        Self { app, key, calls: Calls::default(), given, swept: None, repairs: Repairs::default(), unrepaired, turns, steps: 0 }
    }

    /// Looks at the volumes that the relay has, and adds the calls to send. Where a part of it fails, the calls of the parts before it stand.
    pub(crate) async fn step(&mut self, calls: &mut Vec<Call>) -> Result<(), StepError> {
        let found = self.app.chain.read(&[state::relay_key(self.app.address)]).await?;
        let Some(relay) = found.read::<Relay>(0)? else { return Ok(()) };
        self.fill_slots(found.height, calls).await?;
        if self.steps.is_multiple_of(SWEEP) {
            self.look_at_volumes(found.height, &relay, calls).await?;
        }
        self.steps = self.steps.wrapping_add(1);
        Ok(())
    }

    /// Rebuilds slots that the relay was given, and says which are whole.
    async fn fill_slots(&mut self, height: u64, calls: &mut Vec<Call>) -> Result<(), StepError> {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (id, slot) in given {
            let volume: Option<Volume> = self.app.chain.read(&[state::volume_key(&id)]).await?.read(0)?;
            let place = usize::from(slot);
            let is_given =
                |volume: &Volume| volume.slots.get(place).is_some_and(|slot| slot.relay == Some(self.app.address) && slot.place.is_none());
            let Some(volume) = volume.filter(is_given) else {
                self.given.lock().unwrap_or_else(PoisonError::into_inner).remove(&(id, slot));
                self.forget_repair(id, slot);
                continue;
            };
            let partitions: Vec<Hash> = volume.partitions.iter().map(|listed| listed.partition).collect();
            if let Some(rebuilt) = self.rebuilt((id, slot), &volume, &partitions) {
                let roots = partitions.iter().map(|partition| rebuilt.roots.get(partition).copied().unwrap_or(Hash::ZERO));
                let request = requests::take_slot(id, slot, roots).expect("a volume has as many roots as partitions");
                calls.extend(self.calls.once(height, format!("take:{id}:{slot}"), request));
            }
        }
        Ok(())
    }

    fn forget_repair(&self, id: Hash, slot: u8) {
        self.repairs.lock().unwrap_or_else(PoisonError::into_inner).remove(&(id, slot));
    }

    /// The roots that were rebuilt for a slot, once they are whole. The first time that it is asked, the slot waits for its turn to be rebuilt: a few
    /// are at once, and one of each owner, so that whoever has many volumes keeps nobody else's from being whole.
    fn rebuilt(&self, of: (Hash, u8), volume: &Volume, partitions: &[Hash]) -> Option<Rebuilt> {
        let mut repairs = self.repairs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rebuilt) = repairs.get(&of) {
            return rebuilt.clone();
        }
        repairs.insert(of, None);
        let (app, key, repairs, partitions) = (self.app.clone(), self.key.clone(), self.repairs.clone(), partitions.to_vec());
        let (turns, owner, time) = (self.turns.clone(), volume.owner, time_to_rebuild(volume));
        let unrepaired = self.unrepaired.clone();
        tokio::spawn(async move {
            let _turn = turns.turn(owner).await;
            let known = |repairs: &Repairs| repairs.lock().unwrap_or_else(PoisonError::into_inner).get(&of).cloned();
            // The relay may have lost the slot meanwhile.
            if !matches!(known(&repairs), Some(None)) {
                return;
            }
            // On a thread of its own: hashing and coding hold nobody up.
            let runtime = tokio::runtime::Handle::current();
            let work = move || {
                let work = repair::rebuild(&app, &key, of.0, usize::from(of.1), &partitions);
                runtime.block_on(async { tokio::time::timeout(time, work).await })
            };
            let done = match tokio::task::spawn_blocking(work).await {
                Ok(Ok(done)) => done.map_err(|error| error.to_string()),
                Ok(Err(_)) => Err(format!("it takes longer than {} seconds", time.as_secs())),
                Err(error) => Err(error.to_string()),
            };
            note(&repairs, &unrepaired, of, done);
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
    async fn look_at_volumes(&mut self, height: u64, relay: &Relay, calls: &mut Vec<Call>) -> Result<(), StepError> {
        let mut roots = Vec::new();
        for (id, slot) in self.entries(relay).await? {
            let volume: Option<Volume> = self.app.chain.read(&[state::volume_key(&id)]).await?.read(0)?;
            let Some(volume) = volume else { continue };
            let place = usize::from(slot);
            let mut behind = Vec::new();
            let keys: Vec<_> = volume.partitions.iter().map(|listed| state::partition_key(&id, &listed.partition)).collect();
            let found = if keys.is_empty() { None } else { Some(self.app.chain.read(&keys).await?) };
            for (number, listed) in volume.partitions.iter().enumerate() {
                let Some(partition) = found.as_ref().map_or(Ok(None), |found| found.read::<Partition>(number))? else { continue };
                if partition.root.behind & bit(place) != 0 {
                    behind.push((listed.partition, partition.root.top.root()));
                }
                for root in [Some(&partition.root), partition.previous.as_ref()].into_iter().flatten() {
                    let (root, depth) = (root.top.root(), root.top.depth);
                    roots.push(Named { volume: id, code: volume.code, slot: place, root, depth });
                }
            }
            let partitions: Vec<Hash> = behind.iter().map(|(partition, _)| *partition).collect();
            if let Some(rebuilt) =
                Some(partitions).filter(|some| !some.is_empty()).and_then(|some| self.rebuilt((id, slot), &volume, &some))
            {
                for (partition, root) in behind.into_iter().filter(|(partition, root)| rebuilt.roots.get(partition) == Some(root)) {
                    let request = requests::late_ack(id, partition, root);
                    calls.extend(self.calls.once(height, format!("late:{id}:{partition}:{root}"), request));
                }
                if rebuilt.damaged == 0 || rebuilt.at.saturating_add(TRIED_AGAIN) <= height {
                    self.forget_repair(id, slot);
                }
            }
        }
        if self.swept.is_none_or(|swept| swept.saturating_add(self.app.kept_for() / SWEEPS) <= height) {
            self.swept = Some(height);
            let removed = tokio::task::block_in_place(|| keeping::sweep(&self.app.store, &roots, height, self.app.kept_for()))?;
            if removed > 0 {
                tracing::info!(removed, "items that no root names are forgotten");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_service::testing::Lines;

    /// Decision 739: slots are rebuilt again and again while the disk is full, and the log says so now and then, however many they are.
    #[test]
    fn a_full_disk_makes_few_lines() {
        let lines = Lines::default();
        let (repairs, unrepaired) = (Repairs::default(), Unrepaired::new(Mutex::new(Failures::lasting(CALM))));
        lines.during(|| {
            for slot in (0..20).cycle().take(3_600) {
                note(&repairs, &unrepaired, (Hash([slot; 32]), slot), Err("No space left on device".to_owned()));
            }
        });
        assert_eq!(lines.count(), 6);
    }
}
