//! Who gives way in a full registry (decision 597).

use cowboy_types::units::{Amount, Height};
use std::cmp::Reverse;

/// How an entry stands that does nothing now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// Whether it was heard of lately.
    pub(crate) is_up: bool,
    /// What stands for it, and what is still bound of what stood for it.
    pub(crate) stake: Amount,
    /// When it came.
    pub(crate) registered_at: Height,
}

/// The entries, at most `count`, that give way to a newcomer: only ones with less stake. Those that are not heard of go first, then those with the least
/// stake, of these the one that came last. `entries` are in the order of their addresses.
pub(crate) fn giving_way<T>(entries: Vec<(Standing, T)>, stake: Amount, count: u64) -> Vec<T> {
    let mut fewer: Vec<_> = entries.into_iter().filter(|(standing, _)| standing.stake < stake).collect();
    // The sort is stable.
    fewer.sort_by_key(|(standing, _)| (standing.is_up, standing.stake, Reverse(standing.registered_at)));
    fewer.into_iter().take(usize::try_from(count).unwrap_or(usize::MAX)).map(|(_, entry)| entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody gives way to as much as it has itself; the silent go before the others, then the least stake, then the newest.
    #[test]
    fn the_lowest_stake_gives_way() {
        let rows = [(true, 10, 1), (true, 20, 2), (false, 29, 3), (true, 10, 4), (true, 30, 5), (false, 40, 6)];
        let entries = || {
            let entry = |(is_up, stake, at)| (Standing { is_up, stake: Amount(stake), registered_at: Height(at) }, at);
            rows.map(entry).to_vec()
        };
        assert_eq!(giving_way(entries(), Amount(30), 9), [3, 4, 1, 2]);
        assert_eq!(giving_way(entries(), Amount(41), 2), [3, 6]);
        assert_eq!(giving_way(entries(), Amount(10), 9), [0; 0]);
    }
}
