//! What came by each capability since its holder committed last: no more than it stands for (decisions 159 and 777).

use cowboy_types::Hash;
use cowboy_types::wire::Fixed;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Capabilities that are held before those are forgotten by which nothing came.
const HELD: usize = 4_096;

/// A volume, and a capability of it.
pub(crate) type Of = (Hash, Fixed<16>);

/// What the chain says that a holder has committed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Committed {
    /// Bytes of ciphertext that it has added.
    pub(crate) bytes: u64,
    /// The standing root, where the holder made it: a commit may add no bytes.
    pub(crate) root: Option<Hash>,
}

/// What came since a commit.
#[derive(Clone, Copy, Debug, Default)]
struct Came {
    since: (u64, Hash),
    /// Bytes of shards.
    shards: u64,
    /// Bytes of pages that were not here.
    pages: u64,
}

/// What came, by capability.
#[derive(Default)]
pub(crate) struct Received(Mutex<BTreeMap<Of, Came>>);

/// What came by one of them. It counts anew after a commit.
fn of(all: &mut BTreeMap<Of, Came>, of: Of, committed: Committed) -> &mut Came {
    if all.len() >= HELD {
        all.retain(|_, came| came.shards > 0 || came.pages > 0);
    }
    let came = all.entry(of).or_default();
    let since = (committed.bytes, committed.root.unwrap_or(came.since.1));
    if came.since != since {
        *came = Came { since, ..Came::default() };
    }
    came
}

impl Received {
    fn all(&self) -> MutexGuard<'_, BTreeMap<Of, Came>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts bytes of a shard that are about to come, over all connections; none where the capability does not cover them: it covers shards of `most`
    /// bytes until the next commit.
    pub(crate) fn shard(&self, capability: Of, committed: Committed, most: u64, length: u64) -> Option<Receiving<'_>> {
        let mut all = self.all();
        let came = of(&mut all, capability, committed);
        came.shards = came.shards.checked_add(length).filter(|sum| *sum <= most)?;
        let since = came.since;
        Some(Receiving { received: self, of: capability, since, length })
    }

    /// Counts bytes of a page that was not here; false, and nothing is counted, where pages of `most` bytes came since the last commit.
    pub(crate) fn page(&self, capability: Of, committed: Committed, most: u64, length: u64) -> bool {
        let mut all = self.all();
        let came = of(&mut all, capability, committed);
        let sum = came.pages.checked_add(length).filter(|sum| *sum <= most);
        came.pages = sum.unwrap_or(came.pages);
        sum.is_some()
    }
}

/// Bytes of a shard that comes by a capability. They count no more when this is dropped, unless the shard was kept.
pub(crate) struct Receiving<'a> {
    received: &'a Received,
    of: Of,
    since: (u64, Hash),
    length: u64,
}

impl Receiving<'_> {
    /// Counts the bytes until the capability's next commit.
    pub(crate) fn kept(mut self) {
        self.length = 0;
    }
}

impl Drop for Receiving<'_> {
    fn drop(&mut self) {
        let mut all = self.received.all();
        // After a commit the count began anew, without these.
        if let Some(came) = all.get_mut(&self.of).filter(|came| came.since == self.since) {
            came.shards = came.shards.saturating_sub(self.length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF: Of = (Hash([1; 32]), Fixed([2; 16]));

    fn committed(bytes: u64, root: Option<u8>) -> Committed {
        Committed { bytes, root: root.map(|number| Hash([number; 32])) }
    }

    /// B.11: what is not committed is bounded, whatever of it breaks off; what the holder commits counts no more, also where its commit adds no bytes, and a
    /// commit of somebody else changes nothing.
    #[test]
    fn what_is_not_committed_is_bounded() {
        let received = Received::default();
        let send = |committed, length| received.shard(OF, committed, 100, length).map(Receiving::kept).is_some();
        assert!(send(committed(0, None), 60) && send(committed(0, None), 40));
        assert!(!send(committed(0, None), 1), "by none of its connections");
        assert!(received.shard((OF.0, Fixed([3; 16])), committed(0, None), 100, 100).is_some(), "another capability has its own");
        assert!(send(committed(5, None), 100), "it committed");
        assert!(!send(committed(5, None), 1));
        assert!(send(committed(5, Some(7)), 100), "its commit replaced a file, and added nothing");
        assert!(!send(committed(5, Some(7)), 1) && !send(committed(5, None), 1), "the root of another holder stands by now");
        assert!(send(committed(5, Some(8)), 30));
        let broken = received.shard(OF, committed(5, Some(8)), 100, 70).expect("there is room");
        assert!(!send(committed(5, Some(8)), 1), "it may still come");
        drop(broken);
        assert!(send(committed(5, Some(8)), 70), "it broke off");
    }

    /// Decision 777: pages are bounded, too, beside shards.
    #[test]
    fn pages_are_bounded() {
        let received = Received::default();
        let send = |committed, length| received.page(OF, committed, 100, length);
        assert!(send(committed(0, None), 100) && !send(committed(0, None), 1) && send(committed(0, None), 0));
        assert!(received.shard(OF, committed(0, None), 100, 100).is_some());
        assert!(
            send(committed(0, Some(1)), 40) && !send(committed(0, None), 61) && send(committed(0, None), 60),
            "the last refused one counts nothing"
        );
    }

    /// However many capabilities there are, those by which nothing came are forgotten.
    #[test]
    fn few_capabilities_are_held() {
        let received = Received::default();
        for number in 0..3 * HELD {
            let name = Fixed(std::array::from_fn(|byte| number.to_be_bytes().get(byte).copied().unwrap_or(9)));
            drop(received.shard((OF.0, name), committed(0, None), 100, 100));
        }
        assert!(received.all().len() <= HELD);
    }
}
