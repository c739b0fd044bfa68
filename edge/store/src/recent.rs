//! What the newest blocks overwrote, so that a query sees the state at one height (decision 126).

use crate::state::{Key, Value};
use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, RwLock},
};

/// How many heights below the newest can still be read, where nothing else is said.
pub const RECENT_BLOCKS: u64 = 16;

/// Values that a block overwrote, by key; `None` where there was none.
pub type Before = HashMap<Key, Option<Value>>;

/// The values that the last blocks overwrote.
///
/// A block's values are put here before the block is applied to the database. A reader takes the
/// database's value first and looks here second: whatever block comes in between, the older value
/// is found, and nobody waits for anybody.
#[derive(Debug)]
pub struct Recent {
    /// Of how many blocks below the newest final one.
    kept: u64,
    /// How many blocks the database may be ahead of the newest final one that readers know of.
    ahead: u64,
    blocks: RwLock<VecDeque<Overwritten>>,
}

impl Default for Recent {
    fn default() -> Self {
        Self::new(RECENT_BLOCKS)
    }
}

#[derive(Debug)]
struct Overwritten {
    /// The number of the block that wrote.
    number: u64,
    /// What stood there before it.
    before: Arc<Before>,
}

/// The number is too old: its state is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the state after block {number} is no longer kept, only the last {kept} blocks are: ask again for a newer block")]
pub struct TooOld {
    /// The number asked for.
    pub number: u64,
    /// How many blocks are kept.
    pub kept: u64,
}

impl Recent {
    /// Nothing yet, and never more than this many blocks.
    pub fn new(kept: u64) -> Self {
        Self { kept, ahead: 0, blocks: RwLock::default() }
    }

    /// The same where the database may be this many blocks ahead of the newest final one, beside the one that is being committed.
    pub fn ahead(self, ahead: u64) -> Self {
        Self { ahead, ..self }
    }

    /// Remembers what the block of this number is about to overwrite. A block told twice counts once.
    pub fn push(&self, number: u64, before: Arc<Before>) {
        let mut blocks = self.blocks.write().expect("no reader or writer panics while it holds the lock");
        while blocks.back().is_some_and(|newest| newest.number >= number) {
            blocks.pop_back();
        }
        // A gap means that blocks were applied elsewhere; nothing before it can be answered.
        if blocks.back().is_some_and(|newest| newest.number.saturating_add(1) != number) {
            blocks.clear();
        }
        blocks.push_back(Overwritten { number, before });
        let most = self.kept.saturating_add(self.ahead);
        while u64::try_from(blocks.len()).is_ok_and(|len| len > most) {
            blocks.pop_front();
        }
    }

    /// The newest block that was remembered: the database has it, or is about to.
    pub fn newest(&self) -> Option<u64> {
        self.blocks.read().expect("no reader or writer panics while it holds the lock").back().map(|newest| newest.number)
    }

    /// The key's value after block `number`, when the database has `latest` and was read before this call.
    ///
    /// `tip` is the newest finalized block that the caller knows of.
    pub fn at(&self, number: u64, tip: u64, key: &Key, latest: Option<Value>) -> Result<Option<Value>, TooOld> {
        let blocks = self.blocks.read().expect("no reader or writer panics while it holds the lock");
        let next = number.saturating_add(1);
        match blocks.front() {
            Some(oldest) if oldest.number <= next && tip.saturating_sub(number) <= self.kept => {}
            // Nothing was overwritten since, as long as the tip is what is asked for.
            None if number >= tip => return Ok(latest),
            Some(oldest) if number >= tip && oldest.number > tip => return Ok(latest),
            _ => return Err(TooOld { number, kept: self.kept }),
        }
        let older = blocks.iter().skip_while(|block| block.number < next).find_map(|block| block.before.get(key));
        Ok(older.cloned().unwrap_or(latest))
    }
}

/// The values as the ledger keeps them, ascending by key: the key, a flag, and where there is a value its length in
/// big-endian and its bytes.
pub fn to_bytes(before: &Before) -> Vec<u8> {
    let mut rows: Vec<_> = before.iter().collect();
    rows.sort_unstable_by_key(|(key, _)| *key);
    let mut bytes = Vec::new();
    for (key, value) in rows {
        bytes.extend(key.0);
        bytes.push(u8::from(value.is_some()));
        if let Some(value) = value {
            let length = u32::try_from(value.len()).expect("a value is far below 4 GiB");
            bytes.extend(length.to_be_bytes());
            bytes.extend_from_slice(value);
        }
    }
    bytes
}

/// The values from the ledger, or `None` where the bytes are none.
pub fn from_bytes(bytes: &Value) -> Option<Before> {
    let mut rest = bytes.clone();
    let mut before = Before::new();
    while !rest.is_empty() {
        let (key, tail) = rest.split_first_chunk::<32>()?;
        let (flag, tail) = tail.split_first()?;
        let key = cowboy_state::StateKey(*key);
        if *flag == 0 {
            rest = rest.slice(33..);
            before.insert(key, None);
            continue;
        }
        let length = usize::try_from(u32::from_be_bytes(*tail.first_chunk()?)).ok()?;
        let end = length.checked_add(37)?;
        if rest.len() < end {
            return None;
        }
        before.insert(key, Some(rest.slice(37..end)));
        rest = rest.slice(end..);
    }
    Some(before)
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

    /// A height among the last 16 is answered as it was; an older one is refused.
    #[test]
    fn answers_as_of_a_height() {
        let recent = history(20);
        let rows = [(20, Ok(value(20))), (19, Ok(value(19))), (4, Ok(value(4))), (3, Err(TooOld { number: 3, kept: 16 }))];
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

    /// Blocks that are written to the disk together are in the database before readers know of the first of them.
    #[test]
    fn the_database_may_be_ahead_of_its_readers() {
        let recent = Recent::default().ahead(2);
        assert_eq!(recent.newest(), None);
        for number in 1..=20 {
            recent.push(number, Arc::new(HashMap::from([(KEY, value(u8::try_from(number - 1).expect("small")))])));
        }
        for (number, expected) in [(18, Ok(value(18))), (2, Ok(value(2))), (1, Err(TooOld { number: 1, kept: 16 }))] {
            assert_eq!(recent.at(number, 18, &KEY, value(20)), expected, "after block {number}");
        }
        assert_eq!(recent.at(3, 20, &KEY, value(20)), Err(TooOld { number: 3, kept: 16 }), "no more than before is answered");
        assert_eq!(recent.newest(), Some(20));
    }

    #[test]
    fn after_a_restart_only_the_tip_is_known() {
        let recent = Recent::default();
        assert_eq!(recent.at(9, 9, &KEY, value(9)), Ok(value(9)));
        assert_eq!(recent.at(8, 9, &KEY, value(9)), Err(TooOld { number: 8, kept: 16 }));
        recent.push(10, Arc::new(HashMap::from([(KEY, value(9))])));
        assert_eq!(recent.at(9, 10, &KEY, value(10)), Ok(value(9)));
        assert_eq!(recent.at(8, 10, &KEY, value(10)), Err(TooOld { number: 8, kept: 16 }));
    }

    #[test]
    fn values_survive_the_ledger() {
        let other = cowboy_state::StateKey([8; 32]);
        let rows = [
            Before::new(),
            Before::from([(KEY, None)]),
            Before::from([(KEY, value(1)), (other, Some(Value::new()))]),
            Before::from([(other, None), (KEY, Some(Value::from(vec![3; 70_000])))]),
        ];
        for before in rows {
            let bytes = Value::from(to_bytes(&before));
            assert_eq!(from_bytes(&bytes), Some(before.clone()));
            for cut in [1, 20, 33, 36, 37, 38] {
                let is_whole = cut > bytes.len() || from_bytes(&bytes.slice(..bytes.len() - cut)).is_none_or(|cut| cut != before);
                assert!(is_whole, "{cut} bytes less are not the same values");
            }
        }
    }

    #[test]
    fn a_block_told_again_replaces_itself() {
        let recent = history(3);
        recent.push(3, Arc::new(HashMap::from([(KEY, value(2))])));
        assert_eq!(recent.at(2, 3, &KEY, value(3)), Ok(value(2)));
    }
}
