//! What the program counts, as Prometheus reads it.

use crate::spool::Spool;
use cowboy_serve::metrics::{self, set};
use prometheus_client::metrics::{counter::Counter, gauge::Gauge};
use prometheus_client::registry::Registry;
use std::sync::Arc;

/// All numbers.
pub(crate) struct Metrics {
    registry: Registry,
    removals: Gauge,
    failures: Counter,
    commits: Gauge,
    commit_failures: Counter,
    conflicts: Counter,
    spooled: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Arc<Self> {
        let mut registry = Registry::with_prefix("cowboy_volume");
        let (removals, failures, spooled) = (Gauge::default(), Counter::default(), Gauge::default());
        let (commits, commit_failures, conflicts) = (Gauge::default(), Counter::default(), Counter::default());
        registry.register(
            "removals_waiting",
            "Files that were removed from the mounted folder and are still in the volume",
            removals.clone(),
        );
        registry.register("removal_failures", "Removals that failed, each time", failures.clone());
        registry.register(
            "commits_waiting",
            "Files of the mounted folder whose commit failed and that are not in the volume as they are in the folder",
            commits.clone(),
        );
        registry.register("commit_failures", "Commits of files of the mounted folder that failed, each time", commit_failures.clone());
        registry.register("conflicts", "Files of the mounted folder that went beside the version of another writer", conflicts.clone());
        registry.register("spool_bytes", "Bytes of files that are not committed yet", spooled.clone());
        Arc::new(Self { registry, removals, failures, commits, commit_failures, conflicts, spooled })
    }

    /// How many files were removed and are still in the volume.
    pub(crate) fn removals_wait(&self, count: usize) {
        set(&self.removals, count);
    }

    /// Counts a removal that failed.
    pub(crate) fn removal_failed(&self) {
        self.failures.inc();
    }

    /// How many files wait for a commit after one that failed.
    pub(crate) fn commits_wait(&self, count: usize) {
        set(&self.commits, count);
    }

    /// Counts a commit of a file that failed.
    pub(crate) fn commit_failed(&self) {
        self.commit_failures.inc();
    }

    /// Counts a file that went beside the version of another writer.
    pub(crate) fn conflicted(&self) {
        self.conflicts.inc();
    }

    /// All numbers, as Prometheus reads them.
    pub(crate) fn page(&self, spool: &Spool) -> String {
        set(&self.spooled, spool.used());
        metrics::page(&self.registry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::spool;

    /// Every number has its line.
    #[test]
    fn numbers_have_lines() {
        let metrics = Metrics::new();
        metrics.removals_wait(3);
        metrics.removal_failed();
        metrics.removal_failed();
        metrics.commits_wait(4);
        metrics.commit_failed();
        metrics.conflicted();
        let page = metrics.page(&spool(10));
        for line in [
            "cowboy_volume_removals_waiting 3",
            "cowboy_volume_removal_failures_total 2",
            "cowboy_volume_commits_waiting 4",
            "cowboy_volume_commit_failures_total 1",
            "cowboy_volume_conflicts_total 1",
            "cowboy_volume_spool_bytes 0",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} is not in\n{page}");
        }
    }
}
