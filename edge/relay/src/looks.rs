//! What the chain says of volumes and capabilities, for all connections: each is looked up once a second, however many ask.

use cowboy_service::{Chain, ChainError};
use cowboy_system::volumes::state;
use cowboy_system::volumes::types::{Capability, Partition, Volume};
use cowboy_types::Hash;
use cowboy_types::wire::Fixed;
use cowboy_volumes::Top;
use std::collections::HashMap;
use std::sync::{Arc, Mutex as Lock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, Semaphore};

/// How long what the chain said is believed: a capability that was taken back opens nothing two blocks later.
const BELIEVED_FOR: Duration = Duration::from_secs(1);

/// Looks at the chain at once, for connections that are open, and for those that are opened: whoever names volumes that are not here takes no turn from
/// those that are. The node's other turns are for the relay's own duties.
const OPEN: usize = 8;
const OPENING: usize = 4;

/// Answers that are held before those that are too old are forgotten.
const HELD: usize = 1_024;

/// What the chain said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) volume: Option<Volume>,
    pub(crate) capability: Option<Capability>,
    /// The tops of the capability's partition: of the root that stands, and of the one that can come back.
    pub(crate) tops: Vec<Top>,
    pub(crate) height: u64,
    at: Instant,
}

impl Said {
    fn is_believed(&self) -> bool {
        self.at.elapsed() <= BELIEVED_FOR
    }
}

/// An answer, and the turn of whoever gets the next one: the others wait for it.
type Answer = Arc<Mutex<Option<Arc<Said>>>>;

/// Looks at the chain.
pub(crate) struct Looks {
    answers: Lock<HashMap<(Hash, Fixed<16>), Answer>>,
    open: Semaphore,
    opening: Semaphore,
}

impl Looks {
    pub(crate) fn new() -> Self {
        Self { answers: Lock::default(), open: Semaphore::new(OPEN), opening: Semaphore::new(OPENING) }
    }

    /// The place of an answer. Old ones that nobody waits for go, where there are many.
    fn answer(&self, volume: Hash, capability: Fixed<16>) -> Answer {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= HELD {
            let is_believed = |answer: &Answer| answer.try_lock().is_ok_and(|said| said.as_ref().is_some_and(|said| said.is_believed()));
            answers.retain(|_, answer| Arc::strong_count(answer) > 1 || is_believed(answer));
        }
        answers.entry((volume, capability)).or_default().clone()
    }

    /// What the chain says of a volume and a capability, a second ago at most.
    pub(crate) async fn at(&self, chain: &Chain, is_open: bool, volume: Hash, capability: Fixed<16>) -> Result<Arc<Said>, ChainError> {
        let answer = self.answer(volume, capability);
        let mut known = answer.lock().await;
        if let Some(said) = known.as_ref().filter(|said| said.is_believed()) {
            return Ok(said.clone());
        }
        let turns = if is_open { &self.open } else { &self.opening };
        let _turn = turns.acquire().await;
        let found = chain.read(&[state::volume_key(&volume), state::capability_key(&capability)]).await?;
        let capability: Option<Capability> = found.read(1)?;
        let tops = match &capability {
            Some(capability) if capability.volume == volume => tops(chain, capability).await?,
            _ => Vec::new(),
        };
        let said = Said { volume: found.read(0)?, capability, tops, height: found.height, at: Instant::now() };
        Ok(known.insert(Arc::new(said)).clone())
    }
}

/// The tops of a capability's partition that are committed, the standing one first.
async fn tops(chain: &Chain, capability: &Capability) -> Result<Vec<Top>, ChainError> {
    let found = chain.read(&[state::partition_key(&capability.volume, &capability.partition)]).await?;
    let partition: Option<Partition> = found.read(0)?;
    let roots = partition.into_iter().flat_map(|partition| [Some(partition.root), partition.previous]);
    Ok(roots.flatten().map(|root| root.top).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many volumes strangers name, what is held is bounded; an answer that somebody waits for stays.
    #[test]
    fn old_answers_are_forgotten() {
        let looks = Looks::new();
        let name = |number: u32| {
            let mut hash = [0; 32];
            hash[..4].copy_from_slice(&number.to_be_bytes());
            Hash(hash)
        };
        let awaited = looks.answer(name(u32::MAX), Fixed([0; 16]));
        for number in 0..10_000 {
            looks.answer(name(number), Fixed([0; 16]));
        }
        let held = looks.answers.lock().expect("nothing panicked");
        assert!(held.len() <= HELD, "{}", held.len());
        assert!(held.get(&(name(u32::MAX), Fixed([0; 16]))).is_some_and(|answer| Arc::ptr_eq(answer, &awaited)));
    }
}
