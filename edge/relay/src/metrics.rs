//! What a relay counts, as Prometheus reads it.

use cowboy_serve::metrics::{self, set};
use cowboy_volume::wire::Request;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::{counter::Counter, family::Family, gauge::Gauge};
use prometheus_client::registry::Registry;

/// What a request is counted under.
#[derive(Clone, Debug, EncodeLabelSet, Hash, PartialEq, Eq)]
struct Labels {
    request: &'static str,
    outcome: &'static str,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was done.
    Done,
    /// It was refused.
    Refused,
    /// The connection broke, or the other end was silent.
    Broken,
}

/// How a relay stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// The highest height that was proved.
    pub(crate) height: u64,
    /// Bytes that all items take on disk, about.
    pub(crate) used: u64,
    /// Bytes of the disk that are free.
    pub(crate) free: u64,
}

/// All numbers of a relay.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Labels, Counter>,
    received: Counter,
    sent: Counter,
    throttled: Counter,
    connections: Gauge,
    refused: Counter,
    height: Gauge,
    used: Gauge,
    free: Gauge,
}

/// A connection that is open, and counts until this is dropped.
pub(crate) struct Open<'a>(&'a Gauge);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn gauge(registry: &mut Registry, name: &str, help: &str) -> Gauge {
    let gauge = Gauge::default();
    registry.register(name, help, gauge.clone());
    gauge
}

fn counter(registry: &mut Registry, name: &str, help: &str) -> Counter {
    let counter = Counter::default();
    registry.register(name, help, counter.clone());
    counter
}

/// What a request is called.
pub(crate) fn label(request: &Request) -> &'static str {
    let number = request.number();
    Request::VARIANTS.iter().find(|(known, _)| *known == number).map_or("other", |(_, name)| *name)
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("cowboy_relay");
        let requests = Family::default();
        registry.register("requests", "Requests of clients, by what they ask and what became of them", Family::clone(&requests));
        Self {
            requests,
            received: counter(&mut registry, "shard_bytes_received", "Bytes of shards that were kept"),
            sent: counter(&mut registry, "bytes_sent", "Bytes of slices, pages and trees that were sent"),
            throttled: counter(
                &mut registry,
                "throttled_bytes",
                "Bytes of reads beyond the price of their volume: they wait for the rate of their address",
            ),
            connections: gauge(&mut registry, "connections", "Connections of clients that are open"),
            refused: counter(&mut registry, "connections_refused", "Connections that were refused because others have theirs"),
            height: gauge(&mut registry, "height", "The highest height that was proved"),
            used: gauge(&mut registry, "used_bytes", "Bytes that shards, pages and trees take on disk"),
            free: gauge(&mut registry, "disk_free_bytes", "Bytes of the disk that are free"),
            registry,
        }
    }

    /// Counts a request.
    pub(crate) fn count(&self, request: &'static str, outcome: Outcome) {
        let outcome = match outcome {
            Outcome::Done => "done",
            Outcome::Refused => "refused",
            Outcome::Broken => "broken",
        };
        self.requests.get_or_create(&Labels { request, outcome }).inc();
    }

    /// Counts a request that was done, with the bytes of its answer.
    pub(crate) fn count_done(&self, request: &'static str, shard_bytes: u64, answer_bytes: usize) {
        self.count(request, Outcome::Done);
        self.received.inc_by(shard_bytes);
        self.sent.inc_by(u64::try_from(answer_bytes).unwrap_or(u64::MAX));
    }

    /// Counts a read that goes beyond the price of its volume.
    pub(crate) fn throttle(&self, bytes: u64) {
        self.throttled.inc_by(bytes);
    }

    /// Counts a connection for as long as it is open.
    pub(crate) fn open(&self) -> Open<'_> {
        self.connections.inc();
        Open(&self.connections)
    }

    /// Counts a connection that was refused.
    pub(crate) fn refuse(&self) {
        self.refused.inc();
    }

    /// All numbers, as Prometheus reads them.
    pub(crate) fn page(&self, standing: Standing) -> String {
        set(&self.height, standing.height);
        set(&self.used, standing.used);
        set(&self.free, standing.free);
        metrics::page(&self.registry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every number has its line, and what is counted is what was done.
    #[test]
    fn numbers_have_lines() {
        let metrics = Metrics::new();
        let put = label(&Request::PutShard { length: 9 });
        metrics.count_done(put, 9, 0);
        metrics.count_done("GetShard", 0, 70);
        metrics.count(put, Outcome::Refused);
        metrics.refuse();
        metrics.throttle(11);
        let standing = Standing { height: 5, used: 6, free: u64::MAX };
        {
            let _open = (metrics.open(), metrics.open());
            assert!(metrics.page(standing).contains("cowboy_relay_connections 2\n"));
        }
        let page = metrics.page(standing);
        for line in [
            "cowboy_relay_requests_total{request=\"PutShard\",outcome=\"done\"} 1",
            "cowboy_relay_requests_total{request=\"PutShard\",outcome=\"refused\"} 1",
            "cowboy_relay_requests_total{request=\"GetShard\",outcome=\"done\"} 1",
            "cowboy_relay_shard_bytes_received_total 9",
            "cowboy_relay_bytes_sent_total 70",
            "cowboy_relay_throttled_bytes_total 11",
            "cowboy_relay_connections 0",
            "cowboy_relay_connections_refused_total 1",
            "cowboy_relay_height 5",
            "cowboy_relay_used_bytes 6",
            "cowboy_relay_disk_free_bytes 9223372036854775807",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} is not in\n{page}");
        }
    }
}
