//! What the program counts, as Prometheus reads it.

use crate::spool::Spool;
use cowboy_console::failure::Failure;
use cowboy_serve::{Server, Settings, Slots};
use hyper::{Response, StatusCode};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::{counter::Counter, gauge::Gauge};
use prometheus_client::registry::Registry;
use s3s::Body;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// Where the page is.
const PATH: &str = "/metrics";

/// Connections at once: of whoever collects the numbers.
const CONNECTIONS: usize = 16;

/// What one of them may take.
const SETTINGS: Settings = Settings::of_service(8);

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

fn set(gauge: &Gauge, number: impl TryInto<i64>) {
    gauge.set(number.try_into().unwrap_or(i64::MAX));
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
        let mut text = String::new();
        // Writing to a string never fails.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// A server of the numbers at an address. Answers where they are, and what answers for as long as it is polled.
pub(crate) async fn serve(address: SocketAddr, metrics: Arc<Metrics>, spool: Spool) -> Result<(String, impl Future<Output = ()>), Failure> {
    let listening = |error: std::io::Error| Failure::Node(format!("cannot listen at {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(listening)?;
    let place = format!("http://{}{PATH}", listener.local_addr().map_err(listening)?);
    let answering = async move {
        let stop = watch::Sender::new(false);
        let server = Server::new("metrics", Slots::new(CONNECTIONS), SETTINGS);
        let answer = move |_: SocketAddr, request: hyper::Request<hyper::body::Incoming>| {
            let mut response = Response::new(Body::empty());
            if request.uri().path() == PATH {
                *response.body_mut() = Body::from(metrics.page(&spool));
            } else {
                *response.status_mut() = StatusCode::NOT_FOUND;
            }
            std::future::ready(response)
        };
        server.accept(listener, None, stop.subscribe(), Duration::ZERO, answer).await;
    };
    Ok((place, answering))
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
