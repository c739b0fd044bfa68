//! The time of day by this computer's clock, milliseconds, and waits.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time since 1970.
pub fn now() -> Duration {
    since_1970(SystemTime::now())
}

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    ms(SystemTime::now())
}

/// A time in milliseconds since 1970: 0 before it, and the largest number where there are more.
pub fn ms(time: SystemTime) -> u64 {
    as_ms(since_1970(time))
}

/// A time in whole milliseconds; the largest number where there are more.
pub fn as_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// How long is waited before something is tried again: twice as long each time, up to a longest wait.
pub fn doubled(first: Duration, times: u32, longest: Duration) -> Duration {
    first.saturating_mul(1_u32.checked_shl(times).unwrap_or(u32::MAX)).min(longest)
}

fn since_1970(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files have times that a clock never shows.
    #[test]
    fn times_before_1970_are_zero() {
        assert_eq!(ms(UNIX_EPOCH - Duration::from_secs(1)), 0);
        assert_eq!(ms(UNIX_EPOCH), 0);
        assert_eq!(ms(UNIX_EPOCH + Duration::from_micros(1_234_567)), 1_234);
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        let of = |times| doubled(Duration::from_secs(1), times, Duration::from_secs(300)).as_secs();
        assert_eq!([0, 1, 2, 8, 9, 31, 32, u32::MAX].map(of), [1, 2, 4, 256, 300, 300, 300, 300]);
        assert_eq!(doubled(Duration::from_secs(600), 0, Duration::from_secs(300)).as_secs(), 300);
        assert_eq!(as_ms(Duration::MAX), u64::MAX);
    }
}
