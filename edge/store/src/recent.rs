//! What the newest blocks overwrote, so that a query sees the state at one height (decision 126).

use crate::state::{Key, Value};
use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, RwLock},
};

/// How many heights below the newest can still be read.
pub const RECENT_BLOCKS: usize = 16;

/// The values that the last [`RECENT_BLOCKS`] blocks overwrote.
///
/// A block's values are put here before the block is applied to the database. A reader takes the
/// database's value first and looks here second: whatever block comes in between, the older value
/// is found, and nobody waits for anybody.
#[derive(Debug, Default)]
pub struct Recent {
    blocks: RwLock<VecDeque<Overwritten>>,
}

#[derive(Debug)]
struct Overwritten {
    /// The number of the block that wrote.
    number: u64,
    /// What stood there before it.
    before: Arc<HashMap<Key, Option<Value>>>,
}

/// The number is too old: its state is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the state after block {number} is no longer kept, only the last {RECENT_BLOCKS} blocks are: ask again for a newer block")]
pub struct TooOld {
    /// The number asked for.
    pub number: u64,
}

impl Recent {
    /// Remembers what the block of this number is about to overwrite. A block told twice counts once.
    pub fn push(&self, number: u64, before: Arc<HashMap<Key, Option<Value>>>) {
        let mut blocks = self.blocks.write().expect("no reader or writer panics while it holds the lock");
        while blocks.back().is_some_and(|newest| newest.number >= number) {
            blocks.pop_back();
        }
        // A gap means that blocks were applied elsewhere; nothing before it can be answered.
        if blocks.back().is_some_and(|newest| newest.number.saturating_add(1) != number) {
            blocks.clear();
        }
        blocks.push_back(Overwritten { number, before });
        while blocks.len() > RECENT_BLOCKS {
            blocks.pop_front();
        }
    }

    /// The key's value after block `number`, when the database has `latest` and was read before this call.
    ///
    /// `tip` is the newest finalized block that the caller knows of.
    pub fn at(&self, number: u64, tip: u64, key: &Key, latest: Option<Value>) -> Result<Option<Value>, TooOld> {
        let blocks = self.blocks.read().expect("no reader or writer panics while it holds the lock");
        let next = number.saturating_add(1);
        match blocks.front() {
            Some(oldest) if oldest.number <= next => {}
            // Nothing was overwritten since, as long as the tip is what is asked for.
            None if number >= tip => return Ok(latest),
            Some(oldest) if number >= tip && oldest.number > tip => return Ok(latest),
            _ => return Err(TooOld { number }),
        }
        let older = blocks.iter().skip_while(|block| block.number < next).find_map(|block| block.before.get(key));
        Ok(older.cloned().unwrap_or(latest))
    }

    /// Forgets everything, as before a chain is reverted.
    pub fn clear(&self) {
        self.blocks.write().expect("no reader or writer panics while it holds the lock").clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = cowboy_state::StateKey([7; 32]);

    fn value(byte: u8) -> Option<Value> {
        Some(Value::from(vec![byte]))
    }

    /// One cell whose value after block n is n, applied up to block `tip`.
    fn history(tip: u64) -> Recent {
        let recent = Recent::default();
        for number in 1..=tip {
            let before = if number == 1 { None } else { value(u8::try_from(number - 1).expect("small")) };
            recent.push(number, Arc::new(HashMap::from([(KEY, before)])));
        }
        recent
    }

    /// a height among the last 16 is answered as it was; an older one is refused.
    #[test]
    fn answers_as_of_a_height() {
        let recent = history(20);
        let rows = [(20, Ok(value(20))), (19, Ok(value(19))), (4, Ok(value(4))), (3, Err(TooOld { number: 3 }))];
        for (number, expected) in rows {
            assert_eq!(recent.at(number, 20, &KEY, value(20)), expected, "after block {number}");
        }
        assert_eq!(recent.at(5, 20, &cowboy_state::StateKey([8; 32]), value(1)), Ok(value(1)), "never overwritten");
    }

    #[test]
    fn a_block_pushed_but_not_yet_applied_changes_nothing() {
        let recent = history(20);
        recent.push(21, Arc::new(HashMap::from([(KEY, value(20))])));
        assert_eq!(recent.at(20, 20, &KEY, value(20)), Ok(value(20)), "the database was read before block 21");
        assert_eq!(recent.at(20, 20, &KEY, value(21)), Ok(value(20)), "the database was read after block 21");
    }

    #[test]
    fn after_a_restart_only_the_tip_is_known() {
        let recent = Recent::default();
        assert_eq!(recent.at(9, 9, &KEY, value(9)), Ok(value(9)));
        assert_eq!(recent.at(8, 9, &KEY, value(9)), Err(TooOld { number: 8 }));
        recent.push(10, Arc::new(HashMap::from([(KEY, value(9))])));
        assert_eq!(recent.at(9, 10, &KEY, value(10)), Ok(value(9)));
        assert_eq!(recent.at(8, 10, &KEY, value(10)), Err(TooOld { number: 8 }));
    }

    #[test]
    fn a_block_told_again_replaces_itself() {
        let recent = history(3);
        recent.push(3, Arc::new(HashMap::from([(KEY, value(2))])));
        assert_eq!(recent.at(2, 3, &KEY, value(3)), Ok(value(2)));
    }
}
