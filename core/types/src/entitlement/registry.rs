//! Every entitlement (000 §9, 004 §6), one row each. Anything else is invalid. A change of a row is a new protocol version.

use super::domain;
use crate::block::FIRST_VERSION;
use crate::cbor::Value;

/// What a parameter holds (000 §9.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// An unsigned integer.
    Number,
    /// An unsigned integer above zero.
    Positive,
    /// A text out of a list.
    Text(&'static [&'static str]),
    /// The name of a curated set of domains: 1 to 64 of `a`–`z`, `0`–`9` and `_`.
    SetName,
    /// Texts of 1 to 128 bytes, or `*`.
    Texts,
    /// Texts out of a list, or `*`.
    Words(&'static [&'static str]),
    /// Host names in their canonical form, `*.` and one, or `*`.
    Domains,
    /// 20-byte addresses.
    Addresses,
}

/// The longest text of a list.
const TEXT_BYTES: usize = 128;

/// The longest name of a curated set.
const SET_NAME_BYTES: usize = 64;

impl Schema {
    /// Whether a value is one.
    pub fn accepts(self, value: &Value) -> bool {
        let each = |accepts: &dyn Fn(&Value) -> bool| matches!(value, Value::Array(items) if items.iter().all(accepts));
        let any = |text: &str| text == domain::ANY;
        match self {
            Self::Number => value.as_u64().is_some(),
            Self::Positive => value.as_u64().is_some_and(|number| number > 0),
            Self::Text(known) => value.as_text().is_some_and(|text| known.contains(&text)),
            Self::SetName => value.as_text().is_some_and(is_set_name),
            Self::Texts => each(&|item| item.as_text().is_some_and(|text| (1..=TEXT_BYTES).contains(&text.len()))),
            Self::Words(known) => each(&|item| item.as_text().is_some_and(|text| any(text) || known.contains(&text))),
            Self::Domains => each(&|item| item.as_text().is_some_and(domain::is_canonical_pattern)),
            Self::Addresses => each(&|item| item.as_bytes().is_some_and(|bytes| bytes.len() == 20)),
        }
    }

    /// What it holds, in words.
    pub fn words(self) -> String {
        match self {
            Self::Number => "unsigned integer".to_string(),
            Self::Positive => "unsigned integer above zero".to_string(),
            Self::Text(known) => format!("one of {}", quoted(known)),
            Self::SetName => "name of a curated set of domains".to_string(),
            Self::Texts => "list of strings, or `*` among them".to_string(),
            Self::Words(known) => format!("list out of {}, or `*`", quoted(known)),
            Self::Domains => "list of host names, `*.` and a host name, or `*`".to_string(),
            Self::Addresses => "list of 20-byte addresses".to_string(),
        }
    }
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Whether a text may name a curated set of domains.
pub fn is_set_name(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=SET_NAME_BYTES).contains(&text.len()) && text.bytes().all(is_letter)
}

/// A parameter of an entitlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name in `params`.
    pub name: &'static str,
    /// What it holds.
    pub schema: Schema,
    /// What it bounds, and for how long; absent means no bound.
    pub what: &'static str,
}

/// A row of the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entitlement {
    /// The dotted id.
    pub id: &'static str,
    /// What it allows.
    pub what: &'static str,
    /// Whether a child may have it because its parent has.
    pub inheritable: bool,
    /// Whether runners provide it, and have to prove it.
    pub attested: bool,
    /// Whether its parameters are quotas or lists.
    pub quota: bool,
    /// Its parameters.
    pub params: &'static [Param],
    /// What fails without it.
    pub gate: &'static str,
    /// The protocol version that introduced it.
    pub since: u8,
}

impl Entitlement {
    /// The row of a parameter.
    pub fn param(&self, name: &str) -> Option<&'static Param> {
        self.params.iter().find(|param| param.name == name)
    }
}

/// TEE types (000 §9.13; the list is lost in the text, decision 54).
pub const TEE_TYPES: &[&str] = &["nitro", "sev", "sgx", "tdx"];

/// Regions (000 §9.14; the list is lost in the text, decision 54).
pub const REGIONS: &[&str] = &["ap", "ca", "eu", "uk", "us"];

/// Methods that gateways forward (004 §6.2, §8.1).
pub const METHODS: &[&str] = &["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"];

/// Who may pay for commands (decision 178).
pub const PAYERS: &[&str] = &["actor", "gateway"];

const fn param(name: &'static str, schema: Schema, what: &'static str) -> Param {
    Param { name, schema, what }
}

const MAX_BYTES: Param = param("max_bytes", Schema::Number, "Maximum bytes that the actor stores.");

/// The row of `oracle.llm`'s and `http.fetch`'s requests.
const MAX_REQUESTS: Param = param("max_requests", Schema::Number, "Maximum requests of one execution.");

const fn row(
    id: &'static str,
    what: &'static str,
    (inheritable, attested, quota): (bool, bool, bool),
    params: &'static [Param],
    gate: &'static str,
) -> Entitlement {
    Entitlement { id, what, inheritable, attested, quota, params, gate, since: FIRST_VERSION }
}

const YES: bool = true;
const NO: bool = false;

/// Every entitlement, ascending by id. The flags say inheritable, attested, quota, as in the tables of 000 §9.
pub const REGISTRY: &[Entitlement] = &[
    row(
        "accel.gpu",
        "Require a GPU for jobs.",
        (NO, YES, YES),
        &[param("min_vram_gb", Schema::Number, "Minimum memory of the GPU in GiB.")],
        "a job that requires a GPU",
    ),
    row(
        "bridge.asset",
        "Bridge assets to and from Ethereum.",
        (NO, NO, YES),
        &[param("allowlist_assets", Schema::Texts, "Assets that may be bridged.")],
        "a message to the bridge",
    ),
    row(
        "bridge.subscribe_event",
        "Subscribe to events of Ethereum contracts.",
        (NO, NO, YES),
        &[param("allowlist_contracts", Schema::Addresses, "Contracts to which the actor may subscribe.")],
        "a message to the event listener",
    ),
    row(
        "econ.hold_balance",
        "Hold CBY across executions. Without it CBY may only pass through the actor within one transaction.",
        (YES, NO, NO),
        &[],
        "an execution that leaves the actor with more CBY than before",
    ),
    row(
        "econ.transfer",
        "Transfer CBY.",
        (NO, NO, YES),
        &[
            param("max_amount", Schema::Number, "Maximum base units of one transfer."),
            param("max_per_block", Schema::Number, "Maximum base units of all transfers in a block."),
        ],
        "`transfer_balance`, and `send`, `call` and `spawn_actor` with value",
    ),
    row(
        "exec.spawn",
        "Deploy child actors.",
        (YES, NO, YES),
        &[param("max_children", Schema::Number, "Maximum number of children that the actor ever deploys.")],
        "`spawn_actor`",
    ),
    row(
        "http.fetch",
        "Fetch pages over HTTP with runners.",
        (YES, YES, YES),
        &[
            param("allowlist_domains", Schema::Domains, "Hosts that may be fetched from, in addition to those of `domain_set`."),
            param("domain_set", Schema::SetName, "A curated set of hosts that may be fetched from."),
            MAX_REQUESTS,
        ],
        "a job that fetches",
    ),
    row(
        "ingress.http",
        "Answer HTTP requests from gateways.",
        (NO, NO, NO),
        &[
            param("allowlist_methods", Schema::Words(METHODS), "Accepted methods; by default GET, HEAD and POST."),
            param(
                "cors_origins",
                Schema::Texts,
                "Origins whose pages may read the responses, such as `https://app.example.com`; by default none.",
            ),
            param(
                "max_fees",
                Schema::Number,
                "Maximum base units that the actor pays for commands in `gateways.fee_period` blocks, if `pays` is `actor`; by default `gateways.max_fees_default`.",
            ),
            param("max_query_cycles", Schema::Positive, "Maximum cycles of one GET or HEAD request."),
            param("max_request_bytes", Schema::Positive, "Maximum bytes of a request's body."),
            param("max_response_bytes", Schema::Positive, "Maximum bytes of a response's body."),
            param("pays", Schema::Text(PAYERS), "Who pays the base fees of a command that succeeds; by default the gateway."),
        ],
        "requests at gateways",
    ),
    row(
        "oracle.llm",
        "Use language models with runners.",
        (NO, YES, YES),
        &[MAX_REQUESTS, param("max_tokens", Schema::Number, "Maximum tokens of one request.")],
        "a job that uses a model",
    ),
    row(
        "sec.data_residency",
        "Require jobs to stay in a region.",
        (YES, YES, NO),
        &[param("region", Schema::Text(REGIONS), "The region.")],
        "a job that names a region",
    ),
    row(
        "sec.tee_required",
        "Require jobs to run in a trusted execution environment.",
        (YES, YES, NO),
        &[param("tee_type", Schema::Text(TEE_TYPES), "The kind of environment.")],
        "a job that requires such an environment",
    ),
    row(
        "storage.blob",
        "Read and write blobs.",
        (YES, NO, YES),
        &[param("max_bytes", Schema::Number, "Maximum bytes of one blob.")],
        "`blob_commit`, `blob_read`, `create_volume`, `delete_volume`, `blob_ref`, and messages to the storage manager",
    ),
    row(
        "storage.kv",
        "Read and write the actor's storage.",
        (YES, NO, YES),
        &[MAX_BYTES],
        "`get_state`, `set_state` and related functions",
    ),
    row("sys.upgrade", "Replace the actor's own code in place. For system deployers only.", (NO, NO, NO), &[], "`upgrade_self`"),
    row(
        "timer.schedule",
        "Schedule timers.",
        (YES, NO, YES),
        &[param("max_timers", Schema::Number, "Maximum number of live timers of the actor.")],
        "`schedule_timer`, `schedule_timer_ex`",
    ),
];

/// The registry's row of an id.
pub fn entitlement(id: &str) -> Option<&'static Entitlement> {
    REGISTRY.binary_search_by(|row| row.id.cmp(id)).ok().and_then(|place| REGISTRY.get(place))
}

/// The curated sets of domains with which a chain begins (000 §8.4). Governance may replace and add.
pub const DOMAIN_SETS: &[(&str, &[&str])] = &[
    ("blockchain_rpc", &["*.alchemy.com", "*.infura.io", "*.quiknode.pro", "cloudflare-eth.com", "ethereum-rpc.publicnode.com"]),
    ("government_us", &["*.gov"]),
    (
        "price_feeds",
        &["api.binance.com", "api.coinbase.com", "api.coingecko.com", "api.exchange.coinbase.com", "api.gemini.com", "api.kraken.com"],
    ),
    ("social_apis", &["api.bsky.app", "api.github.com", "api.x.com", "hacker-news.firebaseio.com", "oauth.reddit.com"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// the rows and flags are exactly those of 000 §9 and 004 §6.
    #[test]
    fn the_registry_is_the_specification() {
        let rows = [
            ("accel.gpu", "-aq", "min_vram_gb"),
            ("bridge.asset", "--q", "allowlist_assets"),
            ("bridge.subscribe_event", "--q", "allowlist_contracts"),
            ("econ.hold_balance", "i--", ""),
            ("econ.transfer", "--q", "max_amount max_per_block"),
            ("exec.spawn", "i-q", "max_children"),
            ("http.fetch", "iaq", "allowlist_domains domain_set max_requests"),
            ("ingress.http", "---", "allowlist_methods cors_origins max_fees max_query_cycles max_request_bytes max_response_bytes pays"),
            ("oracle.llm", "-aq", "max_requests max_tokens"),
            ("sec.data_residency", "ia-", "region"),
            ("sec.tee_required", "ia-", "tee_type"),
            ("storage.blob", "i-q", "max_bytes"),
            ("storage.kv", "i-q", "max_bytes"),
            ("sys.upgrade", "---", ""),
            ("timer.schedule", "i-q", "max_timers"),
        ];
        let flag = |is_set: bool, letter: char| if is_set { letter } else { '-' };
        let shown: Vec<(&str, String, String)> = REGISTRY
            .iter()
            .map(|row| {
                let flags = [flag(row.inheritable, 'i'), flag(row.attested, 'a'), flag(row.quota, 'q')];
                let params: Vec<&str> = row.params.iter().map(|param| param.name).collect();
                (row.id, flags.iter().collect(), params.join(" "))
            })
            .collect();
        let expected: Vec<(&str, String, String)> =
            rows.iter().map(|(id, flags, params)| (*id, (*flags).to_string(), (*params).to_string())).collect();
        assert_eq!(shown, expected);
        assert!(REGISTRY.is_sorted_by(|one, other| one.id < other.id), "a search by halves needs the order");
        assert_eq!(entitlement("storage.kv").map(|row| row.id), Some("storage.kv"));
        assert_eq!(entitlement("storage.kw"), None);
    }

    /// the curated sets have canonical names and patterns.
    #[test]
    fn curated_sets_are_canonical() {
        for (name, patterns) in DOMAIN_SETS {
            assert!(is_set_name(name), "{name}");
            for pattern in *patterns {
                assert!(domain::is_canonical_pattern(pattern), "{pattern}");
            }
        }
    }
}
