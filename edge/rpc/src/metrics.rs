//! Prometheus metrics: the node's own, and what the server counts.

use crate::{
    App,
    standing::{reached, standing_of},
};
use axum::{
    extract::{Request, State},
    http::header,
    middleware::Next,
    response::{IntoResponse, Response},
};
use cowboy_api::Endpoint;
use cowboy_serve::metrics::{self, set};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::Registry,
};
use std::time::Instant;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    method: String,
    status: u16,
}

/// What the server counts, and how the node is.
pub(crate) struct Metrics {
    registry: Registry,
    node: Node,
    requests: Family<Labels, Counter>,
    seconds: Histogram,
    connections: Gauge,
    refused: Gauge,
}

/// How the node is, as alerts need it. Its engine has metrics of its own.
#[derive(Default)]
struct Node {
    ready: Gauge,
    height: Gauge,
    last_block_age_ms: Gauge,
    mempool_transactions: Gauge,
    peers: Gauge,
    peers_connected: Gauge,
    disk_free_bytes: Gauge,
}

impl Node {
    fn register(&self, registry: &mut Registry) {
        for (name, help, gauge) in [
            ("ready", "1 if the node makes progress, as at /health/ready", &self.ready),
            ("height", "Height of the newest finalized block", &self.height),
            ("last_block_age_ms", "Milliseconds since the newest block came", &self.last_block_age_ms),
            ("mempool_transactions", "Transactions that wait", &self.mempool_transactions),
            ("peers", "Other validators in the node's configuration", &self.peers),
            ("peers_connected", "Validators to which the node is connected", &self.peers_connected),
            ("disk_free_bytes", "Bytes that the node may still write to the disk of its state", &self.disk_free_bytes),
        ] {
            registry.register(name, help, gauge.clone());
        }
    }

    /// Takes the present values, some of them from the engine's own metrics.
    fn refresh(&self, app: &App, engine: &str) {
        let standing = standing_of(app, || reached(engine));
        self.ready.set(i64::from(standing.waits_for.is_none()));
        set(&self.height, standing.head.height.get());
        set(&self.last_block_age_ms, standing.age.as_millis());
        set(&self.mempool_transactions, app.node.chain().map_or(0, |chain| chain.mempool.size().transactions));
        set(&self.peers, standing.peers);
        set(&self.peers_connected, standing.connected);
        if let Ok(free) = cowboy_serve::free_bytes(&app.node.config().directory) {
            set(&self.disk_free_bytes, free);
        }
    }
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut all = Registry::with_prefix("cowboy");
        let node = Node::default();
        node.register(all.sub_registry_with_prefix("node"));
        let registry = all.sub_registry_with_prefix("rpc");
        let requests = Family::default();
        let seconds = Histogram::new(exponential_buckets(0.0001, 4.0, 10));
        registry.register("requests", "Requests answered, by method and status", requests.clone());
        registry.register("request_seconds", "Time from request to answer", seconds.clone());
        let (connections, refused) = (Gauge::default(), Gauge::default());
        registry.register("connections", "Open connections of the process", connections.clone());
        registry.register("connections_refused", "Connections that were refused since the start", refused.clone());
        Self { registry: all, node, requests, seconds, connections, refused }
    }
}

/// Counts a request and its time.
pub(crate) async fn count(State((app, endpoint)): State<(App, Endpoint)>, request: Request, next: Next) -> Response {
    let begin = Instant::now();
    let response = next.run(request).await;
    let labels = Labels { method: format!("{endpoint:?}"), status: response.status().as_u16() };
    app.metrics.requests.get_or_create(&labels).inc();
    app.metrics.seconds.observe(begin.elapsed().as_secs_f64());
    response
}

/// The page that Prometheus reads, which may be a second old.
pub(crate) async fn page(State(app): State<App>) -> Response {
    let text = app.page.get(|| written(&app).into());
    ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response()
}

/// The metrics of this moment.
fn written(app: &App) -> String {
    set(&app.metrics.connections, app.slots.open());
    set(&app.metrics.refused, app.slots.refused());
    let engine = app.node.metrics();
    app.metrics.node.refresh(app, engine.as_deref().unwrap_or_default());
    let mut text = metrics::page(&app.metrics.registry);
    if let Ok(engine) = engine {
        // One document has one end mark.
        let end = text.rfind("# EOF").unwrap_or(text.len());
        text.truncate(end);
        text.push_str(&engine);
    }
    text
}
