//! Whose place a newcomer takes in a full registry (decisions 582, 597 and 606).

use cowboy_types::units::{Amount, Height};
use std::cmp::Reverse;

/// How an entry stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// Whether it is gone, and its stake answers for nothing any more.
    pub(crate) is_free: bool,
    /// Whether it has something to do, and stays.
    pub(crate) is_busy: bool,
    /// Whether it was heard of lately.
    pub(crate) is_up: bool,
    /// What stands for it, and what is still bound of what stood for it.
    pub(crate) stake: Amount,
    /// When it came.
    pub(crate) registered_at: Height,
}

/// The entry whose place a newcomer takes; none where nobody's stake is free and nobody has less stake. It is one also where the registry has more
/// entries than its limit, since that was lowered: such a registry shrinks as entries leave by themselves.
///
/// Entries whose stake is free go first. Idle ones go before busy ones: work that an operator gives itself delays its turn, and does not spare it. Of
/// both, those that are not heard of go first, then those with the least stake, of these the one that came last. `entries` are in the order of their
/// addresses.
pub(crate) fn place_for<T>(entries: Vec<(Standing, T)>, stake: Amount) -> Option<(Standing, T)> {
    let has_less = entries.into_iter().filter(|(standing, _)| standing.is_free || standing.stake < stake);
    // Of equals, this is the first.
    has_less
        .min_by_key(|(standing, _)| (!standing.is_free, standing.is_busy, standing.is_up, standing.stake, Reverse(standing.registered_at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who goes for each of some newcomers with this stake, one after another. Entries are numbered by when they came.
    fn order(stake: u64) -> Vec<u64> {
        let free = [(false, 50, 10), (false, 40, 11)];
        let idle = [(true, 10, 1), (true, 20, 2), (false, 29, 3), (true, 10, 4), (true, 30, 5), (false, 40, 6)];
        let busy = [(true, 5, 7), (false, 9, 8), (true, 35, 9)];
        let entry = |is_free: bool, is_busy: bool, (is_up, stake, at): (bool, u64, u64)| {
            (Standing { is_free, is_busy, is_up, stake: Amount(stake), registered_at: Height(at) }, at)
        };
        let mut entries: Vec<(Standing, u64)> = busy.map(|row| entry(false, true, row)).to_vec();
        entries.extend(idle.map(|row| entry(false, false, row)));
        entries.extend(free.map(|row| entry(true, false, row)));
        let mut gone = Vec::new();
        while let Some((_, at)) = place_for(entries.clone(), Amount(stake)) {
            entries.retain(|(_, other)| *other != at);
            gone.push(at);
        }
        gone
    }

    /// Those whose stake is free go first. Nobody else gives way to as much as it has itself; the idle go before the busy, the silent before the others, then
    /// the least stake, then the newest.
    #[test]
    fn the_lowest_stake_gives_way() {
        assert_eq!(order(30), [11, 10, 3, 4, 1, 2, 8, 7]);
        assert_eq!(order(41), [11, 10, 3, 6, 4, 1, 2, 5, 8, 7, 9]);
        assert_eq!(order(10), [11, 10, 8, 7]);
        assert_eq!(order(5), [11, 10]);
    }
}
