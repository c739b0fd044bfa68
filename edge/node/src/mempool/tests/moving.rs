//! Blocks that become final while the mempool is looked at.

use super::*;
use crate::reader::{Batch, StateProver, Wanted};
use cowboy_store::proof::StateProof;
use futures::{FutureExt as _, future::BoxFuture};
use std::sync::atomic::{AtomicU64, Ordering};

/// A state of which a block is final each time when the account was read, up to a number of blocks: who reads gets what was there before.
struct Moving<'a> {
    mempool: &'a Mempool,
    reads: AtomicU64,
    blocks: u64,
}

impl StateReader for Moving<'_> {
    fn read(&self, keys: Vec<StateKey>) -> BoxFuture<'_, Vec<Option<Value>>> {
        let own = Key::account(sender(1));
        let record = |key: &StateKey| {
            (*key == own.digest()).then(|| {
                let before = self.reads.fetch_add(1, Ordering::Relaxed).min(self.blocks);
                let after = before.saturating_add(1).min(self.blocks);
                if after > before {
                    advance(self.mempool, after, &[after], &[]);
                }
                own.seal(&account(before).encode())
            })
        };
        std::future::ready(keys.iter().map(record).collect()).boxed()
    }

    fn root(&self) -> BoxFuture<'_, Hash> {
        unreachable!("only records are read")
    }

    fn operations(&self, _: Wanted) -> BoxFuture<'_, Option<Value>> {
        unreachable!("only records are read")
    }
}

impl StateProver for Moving<'_> {
    fn prove(&self, _: Vec<StateKey>, _: Batch) -> BoxFuture<'_, Vec<StateProof>> {
        unreachable!("only records are read")
    }
}

/// Decision 768: where blocks use nonces of the account while it is read, the queue does not wait for one of them. It is not read without an end.
#[test]
fn a_queue_begins_with_the_newest_account() {
    let most = u64::from(READS);
    for (blocks, reads) in [(0, 1), (1, 2), (most - 1, most), (1_000, most)] {
        let mempool = mempool(Limits::default());
        let state = Moving { mempool: &mempool, reads: AtomicU64::new(0), blocks };
        let next = transfer(1, reads - 1, 5, 0);
        let admitted = mempool.admit_all(Source::Peer, &state, vec![next.clone()]).now_or_never().expect("nothing is waited for");
        assert_eq!((admitted, state.reads.load(Ordering::Relaxed)), (vec![Ok(*next.digest())], reads), "{blocks} blocks");
        assert_eq!(mempool.waits(next.digest()), Some(Waits::Room), "{blocks} blocks");
    }
}

/// A block that lost its view and is executed late does not take the mark of the block after it away: the sender would be told that another transaction has
/// taken the place of this one.
#[test]
fn a_mark_is_that_of_the_newest_block() {
    let mempool = mempool(Limits::default());
    let taken = admit(&mempool, transfer(1, 0, 1, 0)).expect("there is room");
    mempool.take(2, [taken]);
    mempool.take(1, [taken]);
    advance(&mempool, 1, &[], &[]);
    assert_eq!(mempool.waits(&taken), Some(Waits::Final { number: 2 }));
    advance(&mempool, 2, &[1], &[]);
    assert_eq!((mempool.waits(&taken), mempool.dropped(&taken)), (None, None));
}
