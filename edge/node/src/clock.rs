//! The machine's clock: real in a node, simulated in a test.

use commonware_runtime::Clock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The machine's clock in ms since 1970.
pub fn now_ms(clock: &impl Clock) -> u64 {
    let since = clock.current().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The time that many ms after 1970.
pub fn time_of(ms: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(ms)
}
