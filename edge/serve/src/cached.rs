//! Values that take work, for clients that may ask at any rate.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// A value that is made anew for who asks after a time, and by one at a time.
#[derive(Debug)]
pub struct Cached<T> {
    fresh_for: Duration,
    made: Mutex<Option<(Instant, T)>>,
}

impl<T: Clone> Cached<T> {
    /// Nothing made yet. What is made is fresh for this time.
    pub fn new(fresh_for: Duration) -> Self {
        Self { fresh_for, made: Mutex::new(None) }
    }

    /// The value, which `make` makes where there is no fresh one.
    pub fn get(&self, make: impl FnOnce() -> T) -> T {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = made.as_ref().filter(|(at, _)| at.elapsed() < self.fresh_for) {
            return value.clone();
        }
        let value = make();
        *made = Some((Instant::now(), value.clone()));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_value_is_not_made_again() {
        let made_of = |fresh_for| {
            let (cached, mut made) = (Cached::new(fresh_for), 0);
            for _ in 0..1_000 {
                cached.get(|| made += 1);
            }
            made
        };
        assert_eq!(made_of(Duration::from_secs(3_600)), 1);
        assert_eq!(made_of(Duration::ZERO), 1_000);
    }
}
