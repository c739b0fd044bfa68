//! Numbers about requests, by name.

use bytes::Bytes;
use cowboy_serve::{
    Cached, Slots,
    metrics::{self, set},
};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};
use std::{collections::HashSet, sync::RwLock, time::Duration};

/// Names that have numbers of their own. Names below a registered one may cost nothing, so that there may be any number of them.
const MAX_NAMES: usize = 10_000;

/// How long the page of the numbers counts as that of this moment.
const FRESH: Duration = Duration::from_secs(1);

/// What a request is counted under.
#[derive(Clone, Debug, EncodeLabelSet, Hash, PartialEq, Eq)]
struct Labels {
    /// The registered name; empty where there is none.
    name: String,
    method: &'static str,
    /// The hundreds of the status.
    status: u16,
}

/// Numbers about what the gateway signs. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SigningGauges {
    pub(crate) untaken: Gauge,
    pub(crate) disagrees: Gauge,
}

/// All numbers of a gateway.
pub(crate) struct Metrics {
    pub(crate) signing: SigningGauges,
    registry: Registry,
    requests: Family<Labels, Counter>,
    /// The names among their labels.
    names: RwLock<HashSet<String>>,
    seconds: Histogram,
    connections: Gauge,
    refused: Gauge,
    /// The page of all numbers.
    page: Cached<Bytes>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let (requests, connections, refused) = (Family::default(), Gauge::default(), Gauge::default());
        let seconds = Histogram::new([0.000_3, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0]);
        let mut registry = Registry::with_prefix("cowboy_gateway");
        registry.register("requests", "Requests, by name, method and hundreds of the status", Family::clone(&requests));
        registry.register("request_seconds", "Time from a request's head to its answer", seconds.clone());
        registry.register("connections", "Open connections of the process", connections.clone());
        registry.register("connections_refused", "Connections that were refused since the start", refused.clone());
        let signing = SigningGauges::default();
        registry.register("untaken", "Signed transactions that others may have and no pool is known to have", signing.untaken.clone());
        registry.register(
            "nonces_disputed",
            "Whether the node refuses the nonces that the final state says are next",
            signing.disagrees.clone(),
        );
        let (names, page) = (RwLock::default(), Cached::new(FRESH));
        Self { signing, registry, requests, names, seconds, connections, refused, page }
    }

    /// Counts a request. Only registered names are labels, and no more than [`MAX_NAMES`]: others count under none.
    pub(crate) fn count(&self, name: &str, method: &'static str, status: u16, took: Duration) {
        let name = if self.has_label(name) { name.to_owned() } else { String::new() };
        let labels = Labels { name, method, status: status / 100 * 100 };
        self.requests.get_or_create(&labels).inc();
        self.seconds.observe(took.as_secs_f64());
    }

    /// Whether a name is a label, from now on where there is room for it.
    fn has_label(&self, name: &str) -> bool {
        let is_known = self.names.read().expect("nothing panics while it holds the lock").contains(name);
        if is_known {
            return true;
        }
        let mut names = self.names.write().expect("nothing panics while it holds the lock");
        let has_room = names.len() < MAX_NAMES;
        if has_room {
            names.insert(name.to_owned());
        }
        has_room
    }

    /// Requests that a name answered, of all methods and statuses.
    pub(crate) fn served(&self, name: &str) -> u64 {
        let mut served = 0;
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "other"] {
            for status in [200, 300, 400, 500] {
                let labels = Labels { name: name.to_owned(), method, status };
                served += self.requests.get(&labels).map_or(0, |counter| counter.get());
            }
        }
        served
    }

    /// All numbers, as Prometheus reads them, of a second ago at most: with many names it takes work to write them, and anybody may ask.
    pub(crate) fn page(&self, slots: &Slots) -> Bytes {
        self.page.get(|| self.text(slots).into())
    }

    fn text(&self, slots: &Slots) -> String {
        set(&self.connections, slots.open());
        set(&self.refused, slots.refused());
        metrics::page(&self.registry)
    }
}

/// The label of a method: one of the known ones, or `other`.
pub(crate) fn method_label(method: &hyper::Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = include_str!("../../../ops/prometheus.rules.yml");

    /// The alerts name metrics that a gateway has, and there is one for each number about what it signs.
    #[test]
    fn alerts_name_metrics_that_there_are() {
        let page = Metrics::new().page(&Slots::new(1));
        let text = std::str::from_utf8(&page).expect("Prometheus reads text");
        let is_other = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
        let words = RULES.lines().filter_map(|line| line.trim().strip_prefix("expr: ")).flat_map(|expr| expr.split(is_other));
        let named: Vec<&str> = words.filter(|word| word.starts_with("cowboy_gateway_")).collect();
        assert!(named.iter().all(|name| text.lines().any(|line| line.split(['{', ' ']).next() == Some(*name))), "{named:?} in {text}");
        for name in ["cowboy_gateway_untaken", "cowboy_gateway_nonces_disputed"] {
            assert!(named.contains(&name), "no alert for {name}");
        }
    }
    /// Decision 664: whoever registers any number of names, and visits them, fills neither the memory nor the page.
    #[test]
    fn names_are_bounded() {
        let metrics = Metrics::new();
        for number in 0..MAX_NAMES + 100 {
            metrics.count(&format!("n{number}"), "GET", 200, Duration::ZERO);
        }
        metrics.count("n0", "GET", 200, Duration::ZERO);
        let last = format!("n{}", MAX_NAMES + 99);
        assert_eq!([metrics.served("n0"), metrics.served(&last), metrics.served("")], [2, 0, 100]);
    }
}
