//! What an actor may do: the manifest of its deployment, validated and asked (000 §3, §9, §10).

use cowboy_params::Params;
use cowboy_types::cbor::{self, Value};
use cowboy_types::{Abort, error};

/// What a parameter of an entitlement holds (000 §9.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// An unsigned integer.
    Number,
    /// A text out of a list; an empty list means any.
    Text(&'static [&'static str]),
    /// Texts.
    Texts,
    /// Host names in their canonical form, or `*`, or `*.` and a host name.
    Domains,
    /// 20-byte addresses.
    Addresses,
}

/// A row of the entitlement registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entitlement {
    /// The dotted id.
    pub id: &'static str,
    /// What it allows.
    pub what: &'static str,
    /// Whether a child may have it because its parent has.
    pub inheritable: bool,
    /// Whether a runner has to prove it.
    pub attested: bool,
    /// Its parameters.
    pub params: &'static [(&'static str, Schema)],
}

use Schema::{Addresses, Domains, Number, Text, Texts};

/// Every entitlement of this version (000 §9), ascending by id. Anything else is invalid.
pub const REGISTRY: &[Entitlement] = &[
    row("accel.gpu", "Require a GPU.", false, true, &[("min_vram_gb", Number)]),
    row("bridge.asset", "Bridge assets to and from Ethereum.", false, false, &[("allowlist_assets", Texts)]),
    row("bridge.subscribe_event", "Subscribe to Ethereum events.", false, false, &[("allowlist_contracts", Addresses)]),
    row("econ.hold_balance", "Hold CBY across executions.", true, false, &[]),
    row("econ.transfer", "Transfer CBY.", false, false, &[("max_amount", Number), ("max_per_block", Number)]),
    row("exec.spawn", "Deploy child actors.", true, false, &[("max_children", Number)]),
    row(
        "http.fetch",
        "Fetch over HTTP by a runner.",
        true,
        true,
        &[("allowlist_domains", Domains), ("domain_set", Text(&[])), ("max_requests", Number)],
    ),
    row(
        "ingress.http",
        "Answer HTTP requests through gateways.",
        false,
        false,
        &[
            ("allowed_methods", Texts),
            ("max_query_cycles", Number),
            ("max_request_bytes", Number),
            ("max_response_bytes", Number),
            ("rate_limit", Number),
        ],
    ),
    row("oracle.llm", "Ask a language model by a runner.", false, true, &[("max_requests", Number), ("max_tokens", Number)]),
    row("sec.data_residency", "Require data to stay in a region.", true, true, &[("region", Text(&["ap", "ca", "eu", "uk", "us"]))]),
    row("sec.tee_required", "Require a trusted execution environment.", true, true, &[("tee_type", Text(&["nitro", "sev", "sgx", "tdx"]))]),
    row("storage.blob", "Read and write blobs.", true, false, &[("max_bytes", Number)]),
    row("storage.kv", "Read and write the actor's storage.", true, false, &[("max_bytes", Number)]),
    row("sys.upgrade", "Upgrade the own code in place; system actors only.", false, false, &[]),
    row("timer.schedule", "Schedule timers.", true, false, &[("max_timers", Number)]),
];

const fn row(
    id: &'static str,
    what: &'static str,
    inheritable: bool,
    attested: bool,
    params: &'static [(&'static str, Schema)],
) -> Entitlement {
    Entitlement { id, what, inheritable, attested, params }
}

/// The registry's row of an id.
pub fn entitlement(id: &str) -> Option<&'static Entitlement> {
    REGISTRY.iter().find(|entitlement| entitlement.id == id)
}

/// One grant of a manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// What it grants.
    pub entitlement: &'static Entitlement,
    /// Its parameters, a map; empty where it names none.
    pub params: Value,
}

impl Grant {
    /// A number among the parameters.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.params.get(name).and_then(Value::as_u64)
    }
}

/// The grants of an actor. None at all is what an actor without a manifest has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grants(Vec<Grant>);

impl Grants {
    /// Reads and validates a manifest (000 §10): canonical CBOR `{"entitlements": [{"id", "params"?}, …]}`,
    /// ids known, ascending and single, parameters as their schema says.
    pub fn parse(params: &Params, bytes: &[u8]) -> Result<Self, Abort> {
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > params.entitlements.manifest_bytes {
            return Err(error::MANIFEST_INVALID);
        }
        let manifest = cbor::decode(bytes).map_err(|_| error::MANIFEST_INVALID)?;
        let Value::Map(pairs) = &manifest else { return Err(error::MANIFEST_INVALID) };
        let Some(Value::Array(items)) = manifest.get("entitlements") else { return Err(error::MANIFEST_INVALID) };
        if pairs.len() != 1 || u64::try_from(items.len()).unwrap_or(u64::MAX) > params.entitlements.grants_per_manifest {
            return Err(error::MANIFEST_INVALID);
        }
        let grants = items.iter().map(parse_grant).collect::<Result<Vec<_>, _>>()?;
        if !grants.is_sorted_by(|one, other| one.entitlement.id < other.entitlement.id) {
            return Err(error::MANIFEST_INVALID);
        }
        Ok(Self(grants))
    }

    /// All grants, ascending by id.
    pub fn all(&self) -> &[Grant] {
        &self.0
    }

    /// The grant of an id.
    pub fn get(&self, id: &str) -> Option<&Grant> {
        self.0.iter().find(|grant| grant.entitlement.id == id)
    }

    /// The grant of an id, or the failure that its absence is (000 §11).
    pub fn require(&self, id: &str) -> Result<&Grant, Abort> {
        self.get(id).ok_or(error::MISSING_ENTITLEMENT)
    }

    /// Whether a child may have these: each inheritable, held by the parent, and no wider than the parent's (000 §7).
    pub fn are_within(&self, parent: &Self) -> bool {
        self.0
            .iter()
            .all(|grant| grant.entitlement.inheritable && parent.get(grant.entitlement.id).is_some_and(|held| is_within(grant, held)))
    }
}

/// Whether a grant's numbers are at most the other's, and everything else equal (000 §8).
fn is_within(grant: &Grant, held: &Grant) -> bool {
    held.entitlement.params.iter().all(|(name, schema)| match (held.params.get(name), grant.params.get(name)) {
        (None, _) => true,
        (Some(most), Some(asked)) if *schema == Number => asked.as_u64() <= most.as_u64(),
        (Some(most), Some(asked)) => most == asked,
        (Some(_), None) => false,
    })
}

fn parse_grant(item: &Value) -> Result<Grant, Abort> {
    let Value::Map(pairs) = item else { return Err(error::MANIFEST_INVALID) };
    let id = item.get("id").and_then(Value::as_text).ok_or(error::MANIFEST_INVALID)?;
    let given = item.get("params");
    if pairs.len() != 1 + usize::from(given.is_some()) {
        return Err(error::MANIFEST_INVALID);
    }
    let entitlement = entitlement(id).ok_or(error::ENTITLEMENT_UNKNOWN)?;
    let params = given.cloned().unwrap_or(Value::Map(Vec::new()));
    let Value::Map(pairs) = &params else { return Err(error::ENTITLEMENT_PARAM) };
    for (key, value) in pairs {
        let name = key.as_text().ok_or(error::ENTITLEMENT_PARAM)?;
        let (_, schema) = entitlement.params.iter().find(|(known, _)| *known == name).ok_or(error::ENTITLEMENT_PARAM)?;
        if !schema.accepts(value) {
            return Err(error::ENTITLEMENT_PARAM);
        }
    }
    Ok(Grant { entitlement, params })
}

impl Schema {
    fn accepts(self, value: &Value) -> bool {
        let each = |accepts: fn(&Value) -> bool| matches!(value, Value::Array(items) if items.iter().all(accepts));
        match self {
            Number => value.as_u64().is_some(),
            Text(known) => value.as_text().is_some_and(|text| known.is_empty() || known.contains(&text)),
            Texts => each(|item| item.as_text().is_some()),
            Domains => each(|item| item.as_text().is_some_and(is_domain)),
            Addresses => each(|item| item.as_bytes().is_some_and(|bytes| bytes.len() == 20)),
        }
    }
}

/// Whether a text is `*`, a canonical host name, or `*.` and one (000 §8.2): lower-case ASCII labels of at most 63.
fn is_domain(text: &str) -> bool {
    if text == "*" {
        return true;
    }
    let name = text.strip_prefix("*.").unwrap_or(text);
    let is_label = |label: &str| {
        let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&label.len()) && label.bytes().all(is_inner) && !label.starts_with('-') && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(id: &str, params: Option<Value>) -> Value {
        match params {
            Some(params) => Value::map([("id", Value::text(id)), ("params", params)]),
            None => Value::map([("id", Value::text(id))]),
        }
    }

    fn manifest(grants: Vec<Value>) -> Vec<u8> {
        Value::map([("entitlements", Value::Array(grants))]).encode()
    }

    fn check(grants: Vec<Value>, expected: Result<(), Abort>) {
        let shown = format!("{grants:?}");
        assert_eq!(Grants::parse(&Params::GENESIS, &manifest(grants)).map(|_| ()), expected, "{shown}");
    }

    /// 000 §10, row by row.
    #[test]
    fn manifests_are_validated() {
        let number = |name: &str, value: u64| Some(Value::Map(vec![(Value::text(name), Value::uint(value))]));
        let list = |name: &str, items: &[&str]| {
            Some(Value::Map(vec![(Value::text(name), Value::Array(items.iter().map(|item| Value::text(*item)).collect()))]))
        };
        check(vec![], Ok(()));
        check(vec![grant("storage.kv", None)], Ok(()));
        check(vec![grant("econ.transfer", number("max_amount", 1000)), grant("storage.kv", number("max_bytes", 5))], Ok(()));
        check(vec![grant("storage.kv", None), grant("econ.transfer", None)], Err(error::MANIFEST_INVALID));
        check(vec![grant("storage.kv", None), grant("storage.kv", None)], Err(error::MANIFEST_INVALID));
        check(vec![grant("storage.disk", None)], Err(error::ENTITLEMENT_UNKNOWN));
        check(vec![grant("storage.kv", number("max_files", 1))], Err(error::ENTITLEMENT_PARAM));
        check(vec![grant("storage.kv", list("max_bytes", &["1"]))], Err(error::ENTITLEMENT_PARAM));
        check(vec![grant("http.fetch", list("allowlist_domains", &["api.example.com", "*", "*.example.org"]))], Ok(()));
        for domain in ["API.example.com", "exämple.com", "", "a..b", "-a.com", "*.*", "a.*"] {
            check(vec![grant("http.fetch", list("allowlist_domains", &[domain]))], Err(error::ENTITLEMENT_PARAM));
        }
        check(vec![Value::text("storage.kv")], Err(error::MANIFEST_INVALID));
        check(vec![Value::map([("id", Value::text("storage.kv")), ("note", Value::Null)])], Err(error::MANIFEST_INVALID));
        let text = |name: &str, value: &str| Some(Value::Map(vec![(Value::text(name), Value::text(value))]));
        check(vec![grant("sec.data_residency", text("region", "eu")), grant("sec.tee_required", text("tee_type", "sgx"))], Ok(()));
        check(vec![grant("sec.tee_required", text("tee_type", "abacus"))], Err(error::ENTITLEMENT_PARAM));
        check(vec![grant("sec.data_residency", text("region", "moon"))], Err(error::ENTITLEMENT_PARAM));
        assert_eq!(Grants::parse(&Params::GENESIS, &[0xFF]), Err(error::MANIFEST_INVALID));
        assert_eq!(Grants::parse(&Params::GENESIS, &vec![0; 16_385]), Err(error::MANIFEST_INVALID));
    }

    /// a child has only what its parent has, may pass on, and no more of it.
    #[test]
    fn children_inherit_at_most_what_the_parent_has() {
        let parse = |grants| Grants::parse(&Params::GENESIS, &manifest(grants)).expect("the manifest is right");
        let bytes = |most: u64| Some(Value::Map(vec![(Value::text("max_bytes"), Value::uint(most))]));
        let parent = parse(vec![grant("econ.transfer", None), grant("storage.kv", bytes(100))]);
        let rows = [
            (vec![], true),
            (vec![grant("storage.kv", bytes(100))], true),
            (vec![grant("storage.kv", bytes(101))], false),
            (vec![grant("storage.kv", None)], false),
            (vec![grant("timer.schedule", None)], false),
            (vec![grant("econ.transfer", None)], false),
        ];
        for (child, expected) in rows {
            let shown = format!("{child:?}");
            assert_eq!(parse(child).are_within(&parent), expected, "{shown}");
        }
    }

    #[test]
    fn the_registry_ascends() {
        assert!(REGISTRY.is_sorted_by(|one, other| one.id < other.id));
    }
}
