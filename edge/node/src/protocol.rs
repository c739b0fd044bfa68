//! Which protocol versions governance has scheduled, and whether this build executes what comes next (decision 370).
//!
//! A node stops after the last block that it can execute. Nothing is lost: a build that knows the version continues from there.

use bytes::Bytes;
use commonware_codec::DecodeExt as _;
use commonware_runtime::{
    Metrics,
    telemetry::metrics::{Gauge, GaugeExt as _, MetricsExt as _},
};
use cowboy_chain::StateKey;
use cowboy_state::Key;
use cowboy_system::{
    Versions,
    governance::{state, types::Upgrades},
};
use cowboy_types::Height;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};
use tokio::sync::watch;

/// A scheduled protocol version that this build does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "protocol version {version} begins at height {height}, and this build executes versions up to {newest}: install a release with version {version} and start it again; the blocks before are kept"
)]
pub struct Outdated {
    /// The version.
    pub version: u8,
    /// The first height at which it applies.
    pub height: Height,
    /// The newest version of this build.
    pub newest: u8,
}

/// The schedule of versions after the newest final block, as this node has it.
pub struct Protocol {
    versions: Versions,
    schedule: Mutex<Upgrades>,
    stopped: watch::Sender<Option<Outdated>>,
}

impl Protocol {
    /// Nothing is known of the schedule yet.
    pub(crate) fn new(versions: Versions) -> Self {
        Self { versions, schedule: Mutex::default(), stopped: watch::Sender::default() }
    }

    /// The schedule, those versions included that apply already.
    pub fn schedule(&self) -> Upgrades {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The versions that this build executes.
    pub fn versions(&self) -> Versions {
        self.versions
    }

    /// The first scheduled version that this build does not know.
    pub fn outdated(&self) -> Option<Outdated> {
        let newest = self.versions.newest();
        let schedule = self.schedule();
        let unknown = schedule.scheduled.iter().find(|upgrade| self.versions.rules(upgrade.version).is_none())?;
        Some(Outdated { version: unknown.version, height: unknown.height, newest })
    }

    /// Takes over the record of the schedule, as the state has it before the block at a height.
    pub(crate) fn govern(&self, stored: Option<&Bytes>, next: Height) {
        let opened = stored.and_then(Key::open).and_then(|(_, body)| Upgrades::decode(body).ok());
        let before = self.outdated();
        *self.schedule.lock().unwrap_or_else(PoisonError::into_inner) = opened.unwrap_or_default();
        if let Some(outdated) = self.outdated().filter(|outdated| before != Some(*outdated)) {
            tracing::warn!("{outdated}");
        }
        self.advance(next);
    }

    /// The same after a block, whose writes may change the schedule.
    pub(crate) fn take(&self, writes: &BTreeMap<StateKey, Option<Bytes>>, next: Height) {
        match writes.get(&state::upgrades_key().digest()) {
            Some(stored) => self.govern(stored.as_ref(), next),
            None => self.advance(next),
        }
    }

    /// Stops the node where this build cannot execute the block at the next height.
    fn advance(&self, next: Height) {
        if let Some(outdated) = self.outdated().filter(|outdated| outdated.height <= next) {
            self.stopped.send_replace(Some(outdated));
        }
    }

    /// Why the node cannot execute the next block, where it cannot.
    pub fn stopped(&self) -> Option<Outdated> {
        *self.stopped.borrow()
    }

    /// Waits until the node cannot execute the next block.
    pub(crate) async fn wait_until_stopped(&self) -> Outdated {
        let mut stopped = self.stopped.subscribe();
        let found = stopped.wait_for(Option::is_some).await.ok().and_then(|found| *found);
        match found {
            Some(outdated) => outdated,
            // The sender lives as long as this.
            None => std::future::pending().await,
        }
    }

    /// The last height that this build can execute, as far as is known.
    pub(crate) fn last_height(&self) -> Height {
        self.outdated().map_or(Height(u64::MAX), |outdated| Height(outdated.height.0.saturating_sub(1)))
    }
}

/// The versions in the metrics.
pub(crate) struct Gauges {
    newest: Gauge,
    scheduled: Gauge,
    stop: Gauge,
}

impl Gauges {
    /// Registers them.
    pub(crate) fn new(context: &impl Metrics) -> Self {
        Self {
            newest: context.gauge("protocol_newest", "newest protocol version that this build executes"),
            scheduled: context.gauge("protocol_scheduled", "newest protocol version that governance has scheduled"),
            stop: context.gauge("protocol_stop_height", "height before which this build stops; 0 where it knows every scheduled version"),
        }
    }

    /// Writes them.
    pub(crate) fn set(&self, protocol: &Protocol) {
        let scheduled = protocol.schedule().version_at(Height(u64::MAX));
        let _ = self.newest.try_set(u64::from(protocol.versions.newest()));
        let _ = self.scheduled.try_set(u64::from(scheduled));
        let _ = self.stop.try_set(protocol.outdated().map_or(0, |outdated| outdated.height.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_codec::Encode as _;
    use cowboy_system::governance::types::Upgrade;
    use cowboy_types::List;

    fn stored(scheduled: &[(u8, u64)]) -> Bytes {
        let row = |(version, height): &(u8, u64)| Upgrade { version: *version, height: Height(*height) };
        let scheduled = List::new(scheduled.iter().map(row).collect()).expect("few");
        state::upgrades_key().seal(&Upgrades { scheduled, highest: 9 }.encode())
    }

    /// A node stops exactly before the first version that it does not know, and not where that was cancelled in time.
    #[test]
    fn it_stops_before_an_unknown_version() {
        let protocol = Protocol::new(Versions::up_to(1));
        protocol.govern(Some(&stored(&[(2, 60), (3, 90)])), Height(10));
        let outdated = Outdated { version: 2, height: Height(60), newest: 1 };
        assert_eq!((protocol.outdated(), protocol.stopped(), protocol.last_height()), (Some(outdated), None, Height(59)));
        let key = state::upgrades_key().digest();
        protocol.take(&BTreeMap::from([(key, Some(stored(&[(3, 90)])))]), Height(60));
        assert_eq!((protocol.stopped(), protocol.last_height()), (None, Height(89)), "the last block before it cancelled it");
        protocol.take(&BTreeMap::new(), Height(89));
        assert_eq!(protocol.stopped(), None);
        protocol.take(&BTreeMap::new(), Height(90));
        let said = protocol.stopped().expect("it stops").to_string();
        assert!(said.contains("version 3") && said.contains("height 90") && said.contains("install"), "{said}");
        let newer = Protocol::new(Versions::ALL);
        newer.govern(Some(&stored(&[(2, 60)])), Height(60));
        assert_eq!((newer.stopped(), newer.outdated(), newer.last_height()), (None, None, Height(u64::MAX)));
        newer.govern(Some(&Bytes::from_static(b"no record")), Height(61));
        assert_eq!(newer.schedule(), Upgrades::default());
    }
}
