//! Which hosts answer when they are dialed. One that answers and ends the connection at once is no peer yet: it knows this node's key from
//! another connection, or not at all.

use super::Context;
use commonware_runtime::telemetry::metrics::{Gauge, GaugeExt as _, MetricsExt as _};
use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{Mutex, OnceLock},
};

/// The hosts that answered the last time.
#[derive(Default)]
pub(super) struct Dials {
    answering: Mutex<BTreeSet<SocketAddr>>,
    gauge: OnceLock<Gauge>,
}

impl Dials {
    /// Takes note of whether the host at an address answered.
    pub(super) fn note(&self, address: SocketAddr, has_answered: bool) {
        let mut answering = self.answering.lock().expect("nothing panics while it holds the lock");
        if has_answered {
            answering.insert(address);
        } else {
            answering.remove(&address);
        }
        if let Some(gauge) = self.gauge.get() {
            let _ = gauge.try_set(u64::try_from(answering.len()).unwrap_or(u64::MAX));
        }
    }
}

impl Context {
    /// Shows in the metrics how many of the dialed hosts answer.
    pub(crate) fn measure_dials(&self) {
        let gauge = self.gauge("hosts_answering", "hosts of validators that answered when this node dialed them last");
        // The first one stays.
        let _ = self.quic.dials.gauge.set(gauge);
    }
}
