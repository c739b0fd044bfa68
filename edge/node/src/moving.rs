//! When a follower changes its state, and how long it waits for those who prove it against the newest block (decisions 637 and 662).

use crate::{reader::Proving, standstill::Standstill};
use futures::future::select;
use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

/// How long blocks come without a pause until those who want to prove the state are refused.
const LONG: Duration = Duration::from_secs(1);

/// The part of its time for which a follower waits for proofs: one twentieth.
const SHARE: u32 = 20;

/// What it saves up of that.
const SAVED: Duration = Duration::from_secs(5);

/// How long a follower may wait for proofs.
struct Patience {
    left: Duration,
    at: Option<SystemTime>,
}

impl Patience {
    /// What there is at this time. A clock that was set back adds nothing.
    fn at(&mut self, now: SystemTime) -> Duration {
        let passed = self.at.and_then(|at| now.duration_since(at).ok()).unwrap_or_default();
        self.left = self.left.saturating_add(passed / SHARE).min(SAVED);
        self.at = Some(now);
        self.left
    }
}

/// The right to change the state. Whoever proves something has it stand still meanwhile: see [`Proving::still`].
pub(crate) struct Moving {
    standstill: Arc<Standstill>,
    /// Since when the state changes without a pause.
    since: Option<SystemTime>,
    patience: Patience,
}

impl Moving {
    pub(crate) fn new(proving: &Proving) -> Self {
        Self { standstill: proving.standstill(), since: None, patience: Patience { left: SAVED, at: None } }
    }

    /// From now on the state may change. Whoever proves it is waited for, but not for long, and not at all where the follower is behind.
    pub(crate) async fn begin<S: Future<Output = ()>>(
        &mut self,
        is_behind: bool,
        now: impl Fn() -> SystemTime,
        sleep: impl FnOnce(Duration) -> S,
    ) {
        if self.since.is_some() {
            return;
        }
        self.standstill.close();
        let asked = now();
        let most = self.patience.at(asked);
        if !is_behind {
            select(pin!(self.standstill.released()), pin!(sleep(most))).await;
        }
        let began = now();
        let waited = began.duration_since(asked).unwrap_or_default();
        self.patience.left = self.patience.left.saturating_sub(waited);
        self.standstill.begin();
        self.since = Some(began);
    }

    /// The next block follows without a pause. A clock that was set back counts as a long time: nobody knows how long it was.
    pub(crate) fn go_on(&self, now: SystemTime) {
        if self.since.is_some_and(|since| now.duration_since(since).map_or(true, |moved| moved >= LONG)) {
            self.standstill.refuse();
        }
    }

    /// Whether the state may change.
    pub(crate) fn is_on(&self) -> bool {
        self.since.is_some()
    }

    /// The state stands still, and is that of the newest block on the disk.
    pub(crate) fn stop(&mut self) {
        if self.since.take().is_some() {
            self.standstill.pause();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::NotStill;
    use futures::FutureExt as _;
    use std::{
        cell::Cell,
        future::{pending, ready},
    };

    fn start() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_000)
    }

    /// The state does not change while somebody proves it. Who waits comes before the next change.
    #[test]
    fn the_state_stands_still_for_proofs() {
        let proving = Proving::default();
        let mut moving = Moving::new(&proving);
        let begin = |moving: &mut Moving| moving.begin(false, start, |_| pending::<()>()).now_or_never();
        let first = proving.still().now_or_never().expect("nothing moves");
        assert!(begin(&mut moving).is_none(), "it is being proven");
        drop(first);
        begin(&mut moving).expect("nobody proves anything");
        let mut waits = pin!(proving.still());
        assert!(waits.as_mut().now_or_never().is_none(), "the state moves");
        moving.stop();
        assert!(begin(&mut moving).is_none(), "it is the turn of those who wait");
        let held = waits.as_mut().now_or_never().expect("it is their turn");
        assert!(begin(&mut moving).is_none(), "it is being proven");
        drop(held);
        begin(&mut moving).expect("nobody proves anything");
    }

    /// Decision 662: whoever proves the state without an end takes a part of a follower's time, and nothing of the time of one that is behind.
    #[test]
    fn a_follower_waits_for_a_part_of_its_time() {
        let (proving, passed) = (Proving::default(), Cell::new(Duration::ZERO));
        let mut moving = Moving::new(&proving);
        let mut held_up = |is_behind: bool| {
            let held = proving.still().now_or_never().expect("nothing moves").expect("nothing moves");
            let asked = passed.get();
            let wait = |most: Duration| {
                passed.set(passed.get() + most);
                ready(())
            };
            moving.begin(is_behind, || start() + passed.get(), wait).now_or_never().expect("it does not wait for ever");
            assert!(!held.holds() && moving.is_on());
            moving.stop();
            let waited = passed.get() - asked;
            passed.set(passed.get() + Duration::from_secs(1));
            waited
        };
        assert_eq!((held_up(true), held_up(false)), (Duration::ZERO, SAVED));
        let waited: Duration = (0..1_000).map(|_| held_up(false)).sum();
        assert!(waited > Duration::ZERO && waited <= Duration::from_secs(60), "{waited:?} of 1,000 seconds and more");
        assert!((0..1_000).all(|_| held_up(true) == Duration::ZERO));
        assert_eq!(held_up(false), SAVED, "it is saved up again, and no more");
    }

    /// Decision 662: a follower that catches up stops for nobody, and says so to those who wait and those who ask. A pause ends it.
    #[test]
    fn a_follower_that_catches_up_refuses_proofs() {
        let proving = Proving::default();
        let mut moving = Moving::new(&proving);
        moving.go_on(start() + LONG);
        drop(proving.still().now_or_never().expect("nothing moves").expect("nothing moves"));
        moving.begin(true, start, |_| ready(())).now_or_never().expect("it waits for nobody");
        let mut waits = pin!(proving.still());
        moving.go_on(start() + LONG / 2);
        assert!(waits.as_mut().now_or_never().is_none() && !proving.is_catching_up(), "there may be a pause soon");
        moving.go_on(start() + LONG);
        assert_eq!(waits.as_mut().now_or_never().map(Result::err), Some(Some(NotStill::CatchingUp)));
        assert_eq!(proving.still().now_or_never().map(Result::err), Some(Some(NotStill::CatchingUp)));
        moving.begin(false, start, |_| pending::<()>()).now_or_never().expect("it continues");
        assert!(proving.is_catching_up());
        moving.stop();
        assert!(!proving.is_catching_up());
        assert!(proving.still().now_or_never().is_some_and(|still| still.is_ok()));
        moving.begin(true, start, |_| ready(())).now_or_never().expect("it waits for nobody");
        moving.go_on(start() - LONG);
        assert_eq!(proving.still().now_or_never().map(Result::err), Some(Some(NotStill::CatchingUp)), "the clock was set back");
    }
}
