//! What a request to another part of the protocol asks of the manifest of the actor that makes it (000 §6.3, §9).

use cowboy_types::Abort;
use cowboy_types::Address;
use cowboy_types::cbor::{self, Value};
use cowboy_types::entitlement::{DomainSets, Grants, domain};
use cowboy_types::error;

/// Tokens that a model is asked for, where a job names no number.
pub const OUTPUT_TOKENS: u64 = 4_096;

/// What a job needs its submitter to have. Whoever builds a job fills this in and asks [`JobNeeds::check`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobNeeds {
    /// Canonical hosts that it fetches from; `*` where they are known to the runner alone. Each is a request.
    pub hosts: Vec<String>,
    /// Whether it asks a model.
    pub asks_model: bool,
    /// Tokens that it asks the model for.
    pub tokens: Option<u64>,
    /// GiB of a GPU's memory, where it wants one: zero for any.
    pub gpu_gb: Option<u64>,
    /// Whether it must run in a trusted execution environment.
    pub needs_tee: bool,
    /// Which kind of environment, where it says.
    pub tee_type: Option<String>,
    /// The region that its data must not leave, where it names one.
    pub region: Option<String>,
}

/// Requests that an actor made in one execution (000 §9.12: `max_requests` counts per execution).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Over HTTP.
    pub fetches: u64,
    /// To models.
    pub models: u64,
}

/// Where a job may say what it needs: at the top, in its type, its bounds, its verification, or the arguments of the SDK's message.
struct Places<'a>(Vec<&'a Value>);

impl<'a> Places<'a> {
    fn of(job: &'a Value) -> Self {
        let arguments = job.get("payload").and_then(|payload| payload.get("kwargs"));
        let inner = ["job_type", "bounds", "verification", "verify"].map(|name| arguments.unwrap_or(job).get(name));
        let kind = job.get("job_type");
        Self([Some(job), arguments, kind].into_iter().chain(inner).flatten().collect())
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.iter().find_map(|place| place.get(name))
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(Value::as_text).map(str::to_string)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.get(name).and_then(Value::as_u64)
    }

    fn is_set(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Value::Bool(true)))
    }
}

/// The URLs that a job names: `url`, `urls`, or the first argument of the SDK's message.
fn urls(job: &Value, places: &Places<'_>) -> Vec<String> {
    let texts = |value: Option<&Value>| match value {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_text).map(str::to_string).collect(),
        _ => Vec::new(),
    };
    let mut found: Vec<String> = texts(places.get("urls"));
    found.extend(places.text("url"));
    if found.is_empty() {
        found.extend(texts(job.get("payload").and_then(|payload| payload.get("args"))).into_iter().take(1));
    }
    found
}

impl JobNeeds {
    /// The needs of a job as it is submitted: as the specification has it, or the message of the published SDK. `None` where it is neither.
    pub fn of_job(payload: &[u8]) -> Option<Self> {
        let job = cbor::decode(payload).ok()?;
        let kind = job.get("job_type")?;
        let kind = kind.as_text().or_else(|| kind.get("type").and_then(Value::as_text))?.to_ascii_lowercase();
        let places = Places::of(&job);
        let fetches = matches!(kind.as_str(), "http" | "mcp" | "agent");
        let asks_model = matches!(kind.as_str(), "llm" | "agent");
        let mut hosts: Vec<String> = Vec::new();
        if fetches {
            let named = urls(&job, &places);
            // What names no host may go anywhere.
            hosts = named.iter().map(|url| host_of(url).unwrap_or_else(|| domain::ANY.to_string())).collect();
            if hosts.is_empty() {
                hosts.push(domain::ANY.to_string());
            }
        }
        let tokens = places.number("max_tokens").or_else(|| places.number("max_output_tokens")).unwrap_or(OUTPUT_TOKENS);
        Some(Self {
            hosts,
            asks_model,
            tokens: asks_model.then_some(tokens),
            gpu_gb: places.number("min_vram_gb").or_else(|| places.is_set("gpu").then_some(0)),
            needs_tee: places.is_set("tee_required") || places.get("tee_type").is_some() || places.text("mode").as_deref() == Some("tee"),
            tee_type: places.text("tee_type"),
            region: places.text("region"),
        })
    }

    /// Whether these grants allow the job after what was asked for before; answers how many requests there are then.
    pub fn check(&self, grants: &Grants, sets: &DomainSets, before: Requests) -> Result<Requests, Abort> {
        let fetches = u64::try_from(self.hosts.len()).unwrap_or(u64::MAX);
        let after =
            Requests { fetches: before.fetches.saturating_add(fetches), models: before.models.saturating_add(u64::from(self.asks_model)) };
        if fetches > 0 {
            let grant = grants.require("http.fetch")?;
            if self.hosts.iter().any(|host| !grant.reaches(host, sets)) {
                return Err(error::MISSING_ENTITLEMENT);
            }
            at_most(grant.number("max_requests"), after.fetches)?;
        }
        if self.asks_model {
            let grant = grants.require("oracle.llm")?;
            at_most(grant.number("max_requests"), after.models)?;
            at_most(grant.number("max_tokens"), self.tokens.unwrap_or(0))?;
        }
        if let Some(gigabytes) = self.gpu_gb {
            // The grant is what a runner was matched with: a job cannot ask for more than that.
            at_most(grants.require("accel.gpu")?.number("min_vram_gb"), gigabytes)?;
        }
        if self.needs_tee {
            equal(grants.require("sec.tee_required")?.text("tee_type"), self.tee_type.as_deref())?;
        }
        if self.region.is_some() {
            equal(grants.require("sec.data_residency")?.text("region"), self.region.as_deref())?;
        }
        Ok(after)
    }
}

fn at_most(most: Option<u64>, asked: u64) -> Result<(), Abort> {
    if most.is_some_and(|most| asked > most) { Err(error::ENTITLEMENT_QUOTA) } else { Ok(()) }
}

/// What a grant names a job may only name too, or leave open.
fn equal(granted: Option<&str>, asked: Option<&str>) -> Result<(), Abort> {
    match (granted, asked) {
        (Some(granted), Some(asked)) if granted != asked => Err(error::MISSING_ENTITLEMENT),
        _ => Ok(()),
    }
}

/// Whether these grants allow a message to the event listener: CBOR that names the `contract` to listen to, or the `asset` to bridge.
pub fn check_bridge(grants: &Grants, payload: &[u8]) -> Result<(), Abort> {
    let message = cbor::decode(payload).unwrap_or(Value::Null);
    if let Some(asset) = message.get("asset") {
        let grant = grants.require("bridge.asset")?;
        let is_listed = asset.as_text().is_some_and(|asset| grant.lists_text("allowlist_assets", asset));
        return if is_listed { Ok(()) } else { Err(error::MISSING_ENTITLEMENT) };
    }
    let grant = grants.require("bridge.subscribe_event")?;
    let contract = message.get("contract").and_then(Value::as_bytes).and_then(|bytes| bytes.try_into().ok()).map(Address);
    let is_listed =
        contract.map_or(grant.list("allowlist_contracts").is_none(), |contract| grant.lists_address("allowlist_contracts", &contract));
    if is_listed { Ok(()) } else { Err(error::MISSING_ENTITLEMENT) }
}

/// Whether these grants allow to keep a blob of this size.
pub fn check_blob(grants: &Grants, bytes: u64) -> Result<(), Abort> {
    at_most(grants.require("storage.blob")?.number("max_bytes"), bytes)
}

/// The host that a URL names, in lower case. `None` where it names none in canonical form.
pub fn host_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host =
        host.rsplit_once(':').map_or(host, |(host, port)| if port.bytes().all(|byte| byte.is_ascii_digit()) { host } else { authority });
    let host = host.to_ascii_lowercase();
    domain::is_canonical_host(&host).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::entitlement::Bounds;

    fn grants(list: Vec<(&str, Vec<(&str, Value)>)>) -> Grants {
        let list = list.into_iter().map(|(id, params)| Value::map([("id", Value::text(id)), ("params", Value::dict(params))])).collect();
        Grants::read(Bounds { bytes: u64::MAX, grants: 64 }, &Value::Array(list)).expect("the grants are valid")
    }

    fn texts(items: &[&str]) -> Value {
        Value::Array(items.iter().map(|item| Value::text(*item)).collect())
    }

    fn job(kind: &str, args: &[&str], kwargs: Vec<(&str, Value)>) -> JobNeeds {
        let payload = Value::map([("args", texts(args)), ("kwargs", Value::dict(kwargs))]);
        let message = Value::map([("kind", Value::text("runner_job")), ("job_type", Value::text(kind)), ("payload", payload)]);
        JobNeeds::of_job(&message.encode()).expect("a job's message")
    }

    /// each id that a job can need, one row each: missing, allowed, one too many.
    #[test]
    fn jobs_need_what_they_use() {
        let fetch = |params| grants(vec![("http.fetch", params)]);
        let model = |params| grants(vec![("oracle.llm", params)]);
        let none = Grants::default;
        let rows: Vec<(&str, JobNeeds, Grants, Result<(), Abort>)> = vec![
            ("http", job("http", &["https://a.com/x"], vec![]), none(), Err(error::MISSING_ENTITLEMENT)),
            ("http", job("http", &["https://a.com/x"], vec![]), fetch(vec![]), Ok(())),
            ("http", job("http", &["https://A.com:443/x"], vec![]), fetch(vec![("allowlist_domains", texts(&["a.com"]))]), Ok(())),
            (
                "http",
                job("http", &[], vec![("url", Value::text("https://b.com"))]),
                fetch(vec![("allowlist_domains", texts(&["a.com"]))]),
                Err(error::MISSING_ENTITLEMENT),
            ),
            (
                "http",
                job("http", &["https://a.com@b.com/"], vec![]),
                fetch(vec![("allowlist_domains", texts(&["a.com"]))]),
                Err(error::MISSING_ENTITLEMENT),
            ),
            (
                "http",
                job("http", &["https://b.com\\@a.com/"], vec![]),
                fetch(vec![("allowlist_domains", texts(&["a.com"]))]),
                Err(error::MISSING_ENTITLEMENT),
            ),
            (
                "http",
                job("http", &["nonsense"], vec![]),
                fetch(vec![("allowlist_domains", texts(&["a.com"]))]),
                Err(error::MISSING_ENTITLEMENT),
            ),
            ("http", job("http", &["https://api.kraken.com"], vec![]), fetch(vec![("domain_set", Value::text("price_feeds"))]), Ok(())),
            ("http", job("http", &["https://a.com"], vec![]), fetch(vec![("max_requests", Value::uint(0))]), Err(error::ENTITLEMENT_QUOTA)),
            ("llm", job("llm", &["hello"], vec![]), none(), Err(error::MISSING_ENTITLEMENT)),
            ("llm", job("llm", &["hello"], vec![]), model(vec![("max_tokens", Value::uint(4_096))]), Ok(())),
            ("llm", job("llm", &["hello"], vec![]), model(vec![("max_tokens", Value::uint(4_095))]), Err(error::ENTITLEMENT_QUOTA)),
            ("llm", job("llm", &["hello"], vec![("max_tokens", Value::uint(5))]), model(vec![("max_tokens", Value::uint(5))]), Ok(())),
            (
                "llm",
                job("llm", &["hello"], vec![("max_tokens", Value::uint(6))]),
                model(vec![("max_tokens", Value::uint(5))]),
                Err(error::ENTITLEMENT_QUOTA),
            ),
            ("gpu", job("custom", &[], vec![("gpu", Value::Bool(true))]), none(), Err(error::MISSING_ENTITLEMENT)),
            (
                "gpu",
                job("custom", &[], vec![("min_vram_gb", Value::uint(16))]),
                grants(vec![("accel.gpu", vec![("min_vram_gb", Value::uint(16))])]),
                Ok(()),
            ),
            (
                "gpu",
                job("custom", &[], vec![("min_vram_gb", Value::uint(17))]),
                grants(vec![("accel.gpu", vec![("min_vram_gb", Value::uint(16))])]),
                Err(error::ENTITLEMENT_QUOTA),
            ),
            ("tee", job("custom", &[], vec![("tee_required", Value::Bool(true))]), none(), Err(error::MISSING_ENTITLEMENT)),
            (
                "tee",
                job("custom", &[], vec![("tee_type", Value::text("sgx"))]),
                grants(vec![("sec.tee_required", vec![("tee_type", Value::text("sgx"))])]),
                Ok(()),
            ),
            (
                "tee",
                job("custom", &[], vec![("tee_type", Value::text("sev"))]),
                grants(vec![("sec.tee_required", vec![("tee_type", Value::text("sgx"))])]),
                Err(error::MISSING_ENTITLEMENT),
            ),
            ("region", job("custom", &[], vec![("region", Value::text("eu"))]), none(), Err(error::MISSING_ENTITLEMENT)),
            (
                "region",
                job("custom", &[], vec![("region", Value::text("eu"))]),
                grants(vec![("sec.data_residency", vec![("region", Value::text("eu"))])]),
                Ok(()),
            ),
            (
                "region",
                job("custom", &[], vec![("region", Value::text("us"))]),
                grants(vec![("sec.data_residency", vec![("region", Value::text("eu"))])]),
                Err(error::MISSING_ENTITLEMENT),
            ),
            ("nothing", job("custom", &[], vec![]), none(), Ok(())),
        ];
        for (case, needs, grants, expected) in rows {
            assert_eq!(needs.check(&grants, &DomainSets::default(), Requests::default()).map(|_| ()), expected, "{case}: {needs:?}");
        }
    }

    /// a job as the specification has it needs the same.
    #[test]
    fn jobs_of_the_specification_need_what_they_use() {
        let job = |kind: Vec<(&str, Value)>, bounds: Vec<(&str, Value)>, verification: Vec<(&str, Value)>| {
            let parts = [("job_type", Value::dict(kind)), ("bounds", Value::dict(bounds)), ("verification", Value::dict(verification))];
            JobNeeds::of_job(&Value::map(parts).encode()).expect("a job")
        };
        let http = job(vec![("type", Value::text("Http")), ("urls", texts(&["https://a.com", "https://b.com/x"]))], vec![], vec![]);
        assert_eq!(http, JobNeeds { hosts: vec!["a.com".to_string(), "b.com".to_string()], ..JobNeeds::default() });
        let llm =
            job(vec![("type", Value::text("Llm"))], vec![("max_output_tokens", Value::uint(7))], vec![("tee_required", Value::Bool(true))]);
        assert_eq!(llm, JobNeeds { asks_model: true, tokens: Some(7), needs_tee: true, ..JobNeeds::default() });
        let nowhere = job(vec![("type", Value::text("Mcp"))], vec![], vec![("mode", Value::text("tee"))]);
        assert_eq!(nowhere, JobNeeds { hosts: vec!["*".to_string()], needs_tee: true, ..JobNeeds::default() });
        assert_eq!(JobNeeds::of_job(b"nonsense"), None);
        assert_eq!(JobNeeds::of_job(&Value::map([("job_id", Value::Null)]).encode()), None);
    }

    /// requests add up over an execution.
    #[test]
    fn requests_add_up() {
        let grants =
            grants(vec![("http.fetch", vec![("max_requests", Value::uint(2))]), ("oracle.llm", vec![("max_requests", Value::uint(1))])]);
        let sets = DomainSets::default();
        let (http, llm) = (job("http", &["https://a.com"], vec![]), job("llm", &["x"], vec![]));
        let mut made = Requests::default();
        for needs in [&http, &llm, &http] {
            made = needs.check(&grants, &sets, made).expect("within the grants");
        }
        assert_eq!(made, Requests { fetches: 2, models: 1 });
        for needs in [&http, &llm] {
            assert_eq!(needs.check(&grants, &sets, made), Err(error::ENTITLEMENT_QUOTA));
        }
    }

    /// bridge.* and storage.blob, by their lists and quota.
    #[test]
    fn bridges_and_blobs_are_gated() {
        let asset = |name: &str| Value::map([("asset", Value::text(name))]).encode();
        let contract = |byte: u8| Value::map([("contract", Value::Bytes(vec![byte; 20]))]).encode();
        let some = grants(vec![
            ("bridge.asset", vec![("allowlist_assets", texts(&["wETH"]))]),
            ("bridge.subscribe_event", vec![("allowlist_contracts", Value::Array(vec![Value::Bytes(vec![1; 20])]))]),
            ("storage.blob", vec![("max_bytes", Value::uint(10))]),
        ]);
        let none = Grants::default();
        assert_eq!(check_bridge(&some, &asset("wETH")), Ok(()));
        assert_eq!(check_bridge(&some, &asset("DAI")), Err(error::MISSING_ENTITLEMENT));
        assert_eq!(check_bridge(&none, &asset("wETH")), Err(error::MISSING_ENTITLEMENT));
        assert_eq!(check_bridge(&some, &contract(1)), Ok(()));
        assert_eq!(check_bridge(&some, &contract(2)), Err(error::MISSING_ENTITLEMENT));
        assert_eq!(check_bridge(&some, b"nonsense"), Err(error::MISSING_ENTITLEMENT));
        assert_eq!(check_bridge(&none, &contract(1)), Err(error::MISSING_ENTITLEMENT));
        assert_eq!(
            (check_blob(&some, 10), check_blob(&some, 11), check_blob(&none, 0)),
            (Ok(()), Err(error::ENTITLEMENT_QUOTA), Err(error::MISSING_ENTITLEMENT))
        );
    }

    /// Hosts as URLs name them.
    #[test]
    fn hosts_of_urls() {
        let rows = [
            ("https://a.com", Some("a.com")),
            ("HTTP://A.com:80/b?c", Some("a.com")),
            ("https://user:pass@a.com/", Some("a.com")),
            ("https://127.0.0.1:8000/", Some("127.0.0.1")),
            ("https://a.com#@b.com", Some("a.com")),
            ("ftp://a.com", None),
            ("a.com", None),
            ("https://", None),
            ("https://[::1]/", None),
            ("https://\u{e4}.com", None),
            ("https://a.com:b", None),
        ];
        for (url, expected) in rows {
            assert_eq!(host_of(url).as_deref(), expected, "{url}");
        }
    }
}
