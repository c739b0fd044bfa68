//! What requests from outside may do to an actor: its `ingress.http` grant, with defaults and ceilings (004 §6.2, §9.5, §10).

use cowboy_params::Params;
use cowboy_types::entitlement::{Grant, Grants};

/// The entitlement (004 §6.1).
pub const ENTITLEMENT: &str = "ingress.http";

/// Methods that an actor accepts whose grant names none.
pub const METHODS: [&str; 3] = ["GET", "HEAD", "POST"];

/// Methods that are answered out of committed state (004 §8.3).
pub const QUERIES: [&str; 2] = ["GET", "HEAD"];

/// Methods that become transactions (004 §8.4).
pub const COMMANDS: [&str; 4] = ["DELETE", "PATCH", "POST", "PUT"];

/// What requests to an actor may be and use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ingress {
    /// Methods that it accepts, ascending.
    pub methods: Vec<&'static str>,
    /// Bytes of a request's body.
    pub request_bytes: u64,
    /// Bytes of a response's body.
    pub response_bytes: u64,
    /// Cycles of a query.
    pub query_cycles: u64,
    /// Origins whose pages may read the answers; `*` is any (decision 182).
    pub cors_origins: Vec<String>,
    /// Where the actor pays the base fees of its commands: base units of a period, at most (decisions 178, 581).
    pub max_fees: Option<u64>,
}

impl Ingress {
    /// What a manifest grants; nothing where it has no `ingress.http`.
    pub fn of(params: &Params, grants: &Grants) -> Option<Self> {
        let grant = grants.get(ENTITLEMENT)?;
        let rows = &params.gateways;
        Some(Self {
            methods: methods(grant),
            request_bytes: bounded(grant, "max_request_bytes", rows.request_bytes_default, rows.request_bytes_max),
            response_bytes: bounded(grant, "max_response_bytes", rows.response_bytes_default, rows.response_bytes_max),
            query_cycles: bounded(grant, "max_query_cycles", rows.query_cycles_default, rows.query_cycles_max),
            cors_origins: texts(grant, "cors_origins"),
            max_fees: (grant.text("pays") == Some("actor")).then(|| grant.number("max_fees").unwrap_or(rows.max_fees_default)),
        })
    }

    /// Whether it accepts a method.
    pub fn accepts(&self, method: &str) -> bool {
        self.methods.contains(&method)
    }
}

/// The lesser of what the actor says and what the protocol allows (004 §9.5).
fn bounded(grant: &Grant, name: &str, default: u64, ceiling: u64) -> u64 {
    grant.number(name).unwrap_or(default).min(ceiling)
}

fn texts(grant: &Grant, name: &str) -> Vec<String> {
    grant.list(name).unwrap_or_default().iter().filter_map(|item| item.as_text().map(str::to_owned)).collect()
}

fn methods(grant: &Grant) -> Vec<&'static str> {
    if grant.list("allowlist_methods").is_none() {
        return METHODS.to_vec();
    }
    let all = cowboy_types::entitlement::registry::METHODS.iter();
    all.copied().filter(|method| grant.lists_text("allowlist_methods", method)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::cbor::Value;
    use cowboy_types::entitlement::Bounds;

    fn of(params: Vec<(&'static str, Value)>) -> Ingress {
        let grant = Value::map([("id", Value::text(ENTITLEMENT)), ("params", Value::dict(params))]);
        let grants = Grants::read(Bounds::NONE, &Value::Array(vec![grant])).expect("the grant is right");
        Ingress::of(&Params::GENESIS, &grants).expect("it is granted")
    }

    /// defaults where a grant names nothing, ceilings above what it names.
    #[test]
    fn a_grant_has_defaults_and_ceilings() {
        let texts = |methods: &[&str]| Value::Array(methods.iter().map(|method| Value::text(*method)).collect());
        assert_eq!(Ingress::of(&Params::GENESIS, &Grants::default()), None);
        let plain = of(vec![]);
        assert_eq!(plain.methods, ["GET", "HEAD", "POST"]);
        assert_eq!((plain.request_bytes, plain.response_bytes, plain.query_cycles), (1_048_576, 1_048_576, 10_000_000));
        assert!(plain.accepts("POST") && !plain.accepts("DELETE"));
        let all = of(vec![("allowlist_methods", texts(&["*"]))]);
        assert_eq!(all.methods, ["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"]);
        let few = of(vec![("allowlist_methods", texts(&["PUT", "GET"])), ("max_query_cycles", Value::uint(7))]);
        assert_eq!((few.methods, few.query_cycles), (vec!["GET", "PUT"], 7));
        assert_eq!((plain.max_fees, plain.cors_origins), (None, Vec::<String>::new()));
        let payer = |name: &'static str| ("pays", Value::text(name));
        assert_eq!(of(vec![payer("gateway"), ("max_fees", Value::uint(9))]).max_fees, None);
        assert_eq!(of(vec![payer("actor"), ("max_fees", Value::uint(9))]).max_fees, Some(9));
        assert_eq!(of(vec![payer("actor"), ("max_fees", Value::uint(u64::MAX))]).max_fees, Some(u64::MAX), "as much as it says");
        assert_eq!(of(vec![payer("actor")]).max_fees, Some(10_000_000_000), "10 CBY a day where it says nothing");
        assert_eq!(of(vec![("cors_origins", texts(&["https://a.example"]))]).cors_origins, ["https://a.example"]);
        let huge = of(vec![("max_request_bytes", Value::uint(u64::MAX)), ("max_query_cycles", Value::uint(u64::MAX))]);
        assert_eq!((huge.request_bytes, huge.query_cycles), (10_485_760, 100_000_000));
    }
}
