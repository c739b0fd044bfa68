//! What a request to another part of the protocol asks of the manifest of the actor that makes it (000 §6.3, §9).

use crate::market::request::Request;
use cowboy_types::Abort;
use cowboy_types::Address;
use cowboy_types::cbor::Value;
use cowboy_types::entitlement::{DomainSets, Grants};
use cowboy_types::error;
use cowboy_types::job::{JobKind, JobSpec};

/// Tokens that a model is asked for, where a job names no number.
pub const OUTPUT_TOKENS: u64 = 4_096;

/// What a job needs its submitter to have.
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

impl JobNeeds {
    /// The needs of a job, of the reading and the terms that the Dispatcher and the runner have of it too.
    pub fn of(request: &Request, spec: &JobSpec) -> Self {
        let asks_model = request.kind == JobKind::Llm || request.is_agent;
        let text = |name: &str| request.need(name).and_then(Value::as_text).map(str::to_string);
        let tee_type = text("tee_type");
        let is_set = |name: &str| matches!(request.need(name), Some(Value::Bool(true)));
        Self {
            hosts: request.hosts(),
            asks_model,
            tokens: asks_model.then_some(spec.bounds.output_tokens.0),
            gpu_gb: request
                .need("min_vram_gb")
                .map(|gigabytes| gigabytes.as_u64().unwrap_or(u64::MAX))
                .or_else(|| is_set("gpu").then_some(0)),
            needs_tee: spec.verification.is_tee_required || tee_type.is_some(),
            tee_type,
            region: text("region"),
        }
    }

    /// Whether these grants allow the job after what was asked for before; answers how many requests there are then.
    pub fn check(&self, grants: &Grants, sets: &DomainSets, before: Requests) -> Result<Requests, Abort> {
        let fetches = u64::try_from(self.hosts.len()).unwrap_or(u64::MAX);
        let after =
            Requests { fetches: before.fetches.saturating_add(fetches), models: before.models.saturating_add(u64::from(self.asks_model)) };
        if fetches > 0 {
            let grant = grants.require("http.fetch")?;
            let hosts: Vec<&str> = self.hosts.iter().map(String::as_str).collect();
            if !grant.reaches(&hosts, sets) {
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

/// Whether these grants allow any message to the event listener: an actor without them has nothing decoded.
pub fn require_bridge(grants: &Grants) -> Result<(), Abort> {
    grants.require("bridge.asset").or_else(|_| grants.require("bridge.subscribe_event")).map(|_| ())
}

/// Whether these grants allow a message to the event listener: a map that names the `contract` to listen to, or the `asset` to bridge.
pub fn check_bridge(grants: &Grants, message: &Value) -> Result<(), Abort> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatcher::lower::{self, Offer};
    use cowboy_types::entitlement::Bounds;

    fn grants(list: Vec<(&str, Vec<(&str, Value)>)>) -> Grants {
        let list = list.into_iter().map(|(id, params)| Value::map([("id", Value::text(id)), ("params", Value::dict(params))])).collect();
        Grants::read(Bounds::NONE, &Value::Array(list)).expect("the grants are valid")
    }

    fn texts(items: &[&str]) -> Value {
        Value::Array(items.iter().map(|item| Value::text(*item)).collect())
    }

    /// The needs of a submission, as the gate reads it.
    fn needs(submission: &Value) -> Result<JobNeeds, Abort> {
        let params = cowboy_params::Params::GENESIS;
        let offer = Offer::reading(&params, Address([1; 20]));
        let read = lower::read(&offer, submission)?;
        Ok(JobNeeds::of(&read.0, &read.1))
    }

    fn job(kind: &str, args: &[&str], kwargs: Vec<(&str, Value)>) -> JobNeeds {
        let payload = Value::map([("args", texts(args)), ("kwargs", Value::dict(kwargs))]);
        let message = Value::map([
            ("kind", Value::text("runner_job")),
            ("job_type", Value::text(kind)),
            ("payload", payload),
            ("cid", Value::text("a")),
            ("reply_handler", Value::text("b")),
        ]);
        needs(&message).unwrap_or_else(|abort| panic!("{message:?}: {abort:?}"))
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
                job("http", &["https://b.com#@a.com/"], vec![]),
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
                job("http", &["https://b\u{fc}cher.example/"], vec![]),
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
            let bounds = [vec![("max_wall_time_ms", Value::uint(1_000))], bounds].concat();
            let schema =
                [("data_format", Value::text("")), ("expected_execution_ms", Value::uint(1)), ("max_return_bytes", Value::uint(1))];
            needs(&Value::dict([
                ("job_type", Value::dict(kind)),
                ("bounds", Value::dict(bounds)),
                ("verification", Value::dict(verification)),
                ("result_schema", Value::dict(schema)),
                ("max_price", Value::uint(1)),
                ("timeout_blocks", Value::uint(30)),
            ]))
        };
        let http = job(vec![("type", Value::text("Http")), ("url", Value::text("https://a.com"))], vec![], vec![]);
        assert_eq!(http, Ok(JobNeeds { hosts: vec!["a.com".to_string()], ..JobNeeds::default() }));
        let tokens = |bound: u64, asked: u64| {
            let bounds = vec![("max_output_tokens", Value::uint(bound))];
            job(vec![("type", Value::text("Llm")), ("max_tokens", Value::uint(asked))], bounds, vec![("tee_required", Value::Bool(true))])
        };
        assert_eq!(tokens(7, 7), Ok(JobNeeds { asks_model: true, tokens: Some(7), needs_tee: true, ..JobNeeds::default() }));
        assert_eq!(tokens(7, 8), Err(error::JOB_INVALID), "more than the bounds that the manifest was held to");
        let nowhere = job(vec![("type", Value::text("Mcp"))], vec![], vec![("tee_required", Value::Bool(true))]);
        assert_eq!(nowhere, Ok(JobNeeds { hosts: vec!["*".to_string()], needs_tee: true, ..JobNeeds::default() }));
        assert_eq!(needs(&Value::map([("job_id", Value::Null)])), Err(error::JOB_INVALID));
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
        let asset = |name: &str| Value::map([("asset", Value::text(name))]);
        let contract = |byte: u8| Value::map([("contract", Value::Bytes(vec![byte; 20]))]);
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
        assert_eq!(check_bridge(&some, &Value::Null), Err(error::MISSING_ENTITLEMENT));
        assert_eq!(check_bridge(&none, &contract(1)), Err(error::MISSING_ENTITLEMENT));
        assert_eq!(
            (check_blob(&some, 10), check_blob(&some, 11), check_blob(&none, 0)),
            (Ok(()), Err(error::ENTITLEMENT_QUOTA), Err(error::MISSING_ENTITLEMENT))
        );
    }
}
