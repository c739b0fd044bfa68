//! What a running node writes about itself to the metrics and the log.

use crate::{chain::Chain, progress::Waiting, protocol::Gauges};
use commonware_runtime::{
    Clock, Metrics, Spawner, Supervisor,
    telemetry::metrics::{GaugeExt as _, MetricsExt as _},
};
use std::{sync::Arc, time::Duration};

/// How often a node that is behind writes its progress to the log.
const INTERVAL: Duration = Duration::from_secs(10);

/// Writes the progress and the ledger's damages to the metrics, and the progress to the log while the node is behind.
pub(crate) fn start<E: Spawner + Supervisor + Clock + Metrics>(context: E, chain: Arc<Chain>) {
    context.spawn(move |context| async move {
        let behind = context.gauge("blocks_behind", "final blocks that this node knows of and has not executed");
        let damages = context.gauge("ledger_damages", "reads of the ledger that met a page that is not as it was written");
        let versions = Gauges::new(&context);
        let mut before = None;
        loop {
            let number = chain.head.borrow().number;
            // A gauge holds less than a count only after 2^63 blocks.
            let _ = behind.try_set(chain.progress.newest().saturating_sub(number));
            let _ = damages.try_set(chain.ledger.damages());
            versions.set(&chain.protocol);
            match chain.progress.waiting() {
                Some(Waiting::Blocks { next, newest }) if before == Some(number) => {
                    tracing::warn!(next, newest, "no progress: no peer has served the next block yet");
                }
                Some(waiting) => tracing::info!(block = number, "{waiting}"),
                None if before.is_some() => tracing::info!(block = number, "this node is level with its network"),
                None => {}
            }
            before = chain.progress.waiting().map(|_| number);
            context.sleep(INTERVAL).await;
        }
    });
}
