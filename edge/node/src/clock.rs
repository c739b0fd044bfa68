//! The computer's clock: real in a node, simulated in a test.

use commonware_runtime::Clock;
use cowboy_host::clock::{ms, now_ms};
use std::time::Duration;

/// How long is slept at most before the clock is read again: somebody may have set it meanwhile.
const LONGEST_SLEEP: Duration = Duration::from_millis(250);

/// Where the time of day comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WallClock {
    /// The system's clock.
    System,
    /// The runtime's clock, as in simulations.
    Runtime,
}

impl WallClock {
    /// Milliseconds since 1970.
    pub fn now_ms(self, clock: &impl Clock) -> u64 {
        match self {
            Self::System => now_ms(),
            Self::Runtime => ms(clock.current()),
        }
    }

    /// Waits until the time is this many milliseconds since 1970, also where the clock is set back or forth meanwhile.
    pub async fn wait_until(self, clock: &impl Clock, time_ms: u64) {
        loop {
            let left = Duration::from_millis(time_ms.saturating_sub(self.now_ms(clock)));
            if left.is_zero() {
                return;
            }
            clock.sleep(left.min(LONGEST_SLEEP)).await;
        }
    }
}
