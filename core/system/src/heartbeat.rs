//! Heartbeats of relays and proxies.

use cowboy_types::units::Height;

/// Heartbeats in the time after which who is not heard of counts as gone.
const HEARTBEATS: u64 = 6;

/// Whether a heartbeat is due at a height, where `last` is that of the one before: one that costs nothing (decision 531). `alive` is the parameter of the
/// blocks after which who is not heard of counts as gone.
pub(crate) fn is_due(last: Height, alive: u64, height: u64) -> bool {
    height >= last.0.saturating_add(alive / HEARTBEATS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One is due after a sixth of the time, and not before.
    #[test]
    fn a_sixth_of_the_time_is_between_two() {
        assert!(!is_due(Height(1_000), 3_600, 1_599) && is_due(Height(1_000), 3_600, 1_600));
        assert!(!is_due(Height(u64::MAX), 3_600, u64::MAX - 1));
    }
}
