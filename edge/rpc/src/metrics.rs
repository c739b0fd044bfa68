//! Prometheus metrics: the node's own, and what the server counts.

use crate::App;
use axum::{
    extract::{Request, State},
    http::header,
    middleware::Next,
    response::{IntoResponse, Response},
};
use cowboy_api::Endpoint;
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
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

/// What the server counts.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Labels, Counter>,
    seconds: Histogram,
    connections: Gauge,
    refused: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("cowboy_rpc");
        let requests = Family::default();
        let seconds = Histogram::new(exponential_buckets(0.0001, 4.0, 10));
        registry.register("requests", "Requests answered, by method and status", requests.clone());
        registry.register("request_seconds", "Time from request to answer", seconds.clone());
        let (connections, refused) = (Gauge::default(), Gauge::default());
        registry.register("connections", "Open connections of the process", connections.clone());
        registry.register("connections_refused", "Connections that were refused since the start", refused.clone());
        Self { registry, requests, seconds, connections, refused }
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

/// The page that Prometheus reads.
pub(crate) async fn page(State(app): State<App>) -> Response {
    app.metrics.connections.set(i64::try_from(app.slots.open()).unwrap_or(i64::MAX));
    app.metrics.refused.set(i64::try_from(app.slots.refused()).unwrap_or(i64::MAX));
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = encode(&mut text, &app.metrics.registry);
    if let Ok(node) = app.node.metrics() {
        // One document has one end mark.
        let end = text.rfind("# EOF").unwrap_or(text.len());
        text.truncate(end);
        text.push_str(&node);
    }
    ([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text).into_response()
}
