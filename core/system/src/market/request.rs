//! The one reading of a submission: what the permission check, the Dispatcher and the runner see (decision 302).
//!
//! A submission is a job as the specification has it, or the message of the published SDK. Either way a field has one place. A
//! field that is unknown in its place, or that stands in a second place too, refuses the submission by its name: two readers that look
//! in different places would see two jobs. Names that begin with `x-` are for the runner, and nothing here reads them.

use super::check_fields;
use super::hosts::{host_of, hosts};
use super::refusal::{Place, Refusal};
use super::submission::{self, ENVELOPE, JOB, has};
use cowboy_types::cbor::{self, Value};
use cowboy_types::entitlement::domain;
use cowboy_types::job::JobKind;
use std::collections::BTreeMap;

/// The `kind` of the published SDK's message.
pub const MESSAGE: &str = "runner_job";

/// What a name begins with that only the runner reads.
const OWN: &str = "x-";

/// The arguments of the message that the chain reads.
const TERMS: &[&str] = &[
    "max_input_tokens",
    "max_tokens",
    "max_wall_time_ms",
    "max_memory_mb",
    "result_schema",
    "verify",
    "verification",
    "max_price",
    "tip",
    "timeout_blocks",
    "draw",
    "resume_cycles",
    "resume_cells",
    "required_runner_pool",
    "requires",
    "model_id",
    "toolchain_digest",
    "seed",
    "tee_required",
    "system_prompt",
];

/// What a job may say that it needs of a runner, for its actor's manifest to grant.
const NEEDS: &[&str] = &["gpu", "min_vram_gb", "tee_type", "region"];

/// The secrets whose values the runner puts into the work.
const SECRETS: &str = "secrets";

/// What would need other secrets or volumes, which the Dispatcher refuses with a word of their own.
pub(crate) const UNSUPPORTED: &[&str] = &["secret_refs", VOLUMES, "volume_mounts", "private_attachments"];

/// The volumes that a container sees. No other kind of work has a place for them.
pub(crate) const VOLUMES: &str = "volumes";

/// Whether a container has this limit in its class or its resources, and nowhere else.
fn is_of_resources(kind: &JobKind, name: &str) -> bool {
    *kind == JobKind::Container && matches!(name, "max_wall_time_ms" | "max_wall_time_seconds" | "max_memory_mb")
}

/// What a runner reads of a kind of work. The first ones are what the message's arguments by place are called.
const WORK: &[(JobKind, usize, &[&str])] = &[
    (
        JobKind::Llm,
        1,
        &[
            "prompt",
            "messages",
            "system_prompt",
            "model",
            "temperature",
            "max_tokens",
            "seed",
            "json",
            "response_model",
            "response_schema",
            "task",
        ],
    ),
    (JobKind::Http, 1, &["url", "method", "headers", "body", "json", "extract", "selector", "envelope"]),
    (JobKind::Mcp, 3, &["server", "tool", "arguments", "reaches"]),
    (JobKind::Custom, 2, &["tool", "input"]),
    (
        JobKind::Container,
        2,
        &["image", "command", "source", "env", "class", "resources", "platform", "network", "stdin", "output", "volumes"],
    ),
];

/// A submission as everybody reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The kind of work.
    pub kind: JobKind,
    /// Whether it is the published SDK's message.
    pub is_message: bool,
    /// Whether the message asks for an agent: a model that works with tools.
    pub is_agent: bool,
    /// What the runner is told, by name.
    pub work: BTreeMap<String, Value>,
    /// What the chain reads, as it came.
    pub(crate) value: Value,
    /// What the job says that it needs of a runner.
    needs: BTreeMap<String, Value>,
}

impl Request {
    /// Reads an encoded submission, which somebody has paid for.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        Self::of(cbor::decode(bytes).map_err(|_| Refusal::NoJob)?)
    }

    /// Reads a submission.
    pub fn of(value: Value) -> Result<Self, Refusal> {
        if value.get("kind").and_then(Value::as_text) == Some(MESSAGE) { message(value) } else { job(value) }
    }

    /// The canonical hosts that a runner asks for the job; `*` where it alone knows them.
    pub fn hosts(&self) -> Vec<String> {
        let any = || vec![domain::ANY.to_string()];
        match self.kind {
            // A tool reaches what the job names, to which the runner holds its server; else what only the runner knows.
            JobKind::Mcp => self.reaches().unwrap_or_else(any),
            // What an agent's tools do is the runner's.
            JobKind::Custom if self.is_agent => any(),
            JobKind::Http => {
                let host = self.work.get("url").and_then(Value::as_text).and_then(host_of);
                host.map_or_else(any, |host| vec![host])
            }
            // A container reaches what its job allows; what cannot be read could be anything.
            JobKind::Container => hosts(self.work.get("network")).unwrap_or_else(|_| any()),
            // A tool of WebAssembly reaches nothing, and a model no host of the job's choosing.
            JobKind::Llm | JobKind::Custom => Vec::new(),
        }
    }

    /// The patterns of the hosts that a tool's job says it reaches; none where it says nothing, or nothing that can be read.
    fn reaches(&self) -> Option<Vec<String>> {
        let Some(Value::Array(items)) = self.work.get("reaches").filter(|_| self.kind == JobKind::Mcp) else { return None };
        let host = |item: &Value| item.as_text().filter(|host| domain::is_canonical_pattern(host)).map(str::to_string);
        items.iter().map(host).collect()
    }

    /// Whether the hosts that a job names, if it names any, are canonical patterns.
    pub(crate) fn names_hosts_well(&self) -> bool {
        !self.work.contains_key("reaches") || self.reaches().is_some()
    }

    /// What the job says that it needs of a runner, by name.
    pub(crate) fn need(&self, name: &str) -> Option<&Value> {
        self.needs.get(name)
    }
}

/// A map's fields by name; none where it is absent or null.
fn fields<'a>(value: Option<&'a Value>, name: &str) -> Result<Vec<(&'a str, &'a Value)>, Refusal> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Map(pairs)) => {
            let named = pairs.iter().map(|(key, value)| Some((key.as_text()?, value)));
            named.collect::<Option<Vec<_>>>().ok_or_else(|| Refusal::NoMap(name.to_string()))
        }
        Some(_) => Err(Refusal::NoMap(name.to_string())),
    }
}

/// What stands where, so that nothing stands twice.
#[derive(Default)]
struct Sorted {
    work: BTreeMap<String, Value>,
    needs: BTreeMap<String, Value>,
}

impl Sorted {
    /// Takes a field for the runner, or a need. Answers whether it was one.
    fn take(&mut self, kind: &JobKind, name: &str, value: &Value) -> Result<bool, Refusal> {
        let known = WORK.iter().find(|(of, ..)| of == kind).map_or(&[][..], |(.., names)| *names);
        let place = if NEEDS.contains(&name) {
            &mut self.needs
        } else if known.contains(&name) || name == SECRETS || name.starts_with(OWN) || UNSUPPORTED.contains(&name) {
            &mut self.work
        } else {
            return Ok(false);
        };
        if *value != Value::Null && place.insert(name.to_string(), value.clone()).is_some() {
            return Err(Refusal::Twice(name.to_string()));
        }
        Ok(true)
    }

    fn into_request(self, kind: JobKind, value: Value) -> Request {
        let Self { work, needs } = self;
        Request { kind, is_message: false, is_agent: false, work, needs, value }
    }
}

/// A job as the specification has it: the runner's fields stand in `job_type`, or in `payload` beside it.
fn job(value: Value) -> Result<Request, Refusal> {
    let kind_of = value.get("job_type").ok_or(Refusal::NoJob)?;
    let name = kind_of.as_text().or_else(|| kind_of.get("type").and_then(Value::as_text));
    let kind = name.and_then(JobKind::from_name).ok_or(Refusal::NoJob)?;
    let mut sorted = Sorted::default();
    for (name, field) in fields(Some(&value), "the job")? {
        let is_runners =
            name == "extract" || name == SECRETS || name.starts_with(OWN) || NEEDS.contains(&name) || UNSUPPORTED.contains(&name);
        let is_known = if is_runners { sorted.take(&kind, name, field)? } else { has(JOB, name) };
        if !is_known {
            return Err(Refusal::Unknown(name.to_string(), Place::open("the job")));
        }
    }
    let inside = if kind_of.as_text().is_some() { Vec::new() } else { fields(Some(kind_of), "job_type")? };
    let own = inside.into_iter().filter(|(name, _)| !matches!(*name, "type" | "model_id")).map(|field| ("job_type", field));
    let beside = fields(value.get("payload"), "payload")?.into_iter().map(|field| ("payload", field));
    for (place, (name, field)) in own.chain(beside) {
        if !sorted.take(&kind, name, field)? {
            return Err(Refusal::Unknown(name.to_string(), Place::open(place)));
        }
    }
    parts(&value, &kind, &mut sorted)?;
    let is_set = |name: &str| value.get("bounds").and_then(|bounds| bounds.get(name)).is_some();
    let has_two_times = is_set("max_wall_time_ms") && is_set("max_wall_time_seconds");
    let has_two_seeds = value.get("seed").is_some() && sorted.work.contains_key("seed");
    if let Some((_, name)) = [(has_two_times, "max_wall_time_seconds"), (has_two_seeds, "seed")].into_iter().find(|(is_twice, _)| *is_twice)
    {
        return Err(Refusal::Twice(name.to_string()));
    }
    Ok(sorted.into_request(kind, value))
}

/// Looks at the fields of a job's parts, among which its needs may stand.
fn parts(job: &Value, kind: &JobKind, sorted: &mut Sorted) -> Result<(), Refusal> {
    for (part, known) in submission::parts() {
        for (name, field) in fields(job.get(part), part)? {
            let is_own = has(known, name) && !is_of_resources(kind, name) || name.starts_with(OWN);
            let is_known = is_own || NEEDS.contains(&name) && sorted.take(kind, name, field)?;
            if !is_known {
                return Err(Refusal::Unknown(name.to_string(), Place::open(part)));
            }
        }
    }
    job.get("verification").map_or(Ok(()), |rule| check_fields::require_known(rule, false))
}

/// The published SDK's message: arguments by name, and by place for those that are not named.
fn message(value: Value) -> Result<Request, Refusal> {
    let name = value.get("job_type").and_then(Value::as_text).ok_or(Refusal::NoJob)?;
    let is_agent = name.eq_ignore_ascii_case("agent");
    let kind = if is_agent { Some(JobKind::Custom) } else { JobKind::from_name(name) }.ok_or(Refusal::NoJob)?;
    if let Some((name, _)) = fields(Some(&value), "the message")?.iter().find(|(name, _)| !has(ENVELOPE, name)) {
        return Err(Refusal::Unknown((*name).to_string(), Place::closed("the message")));
    }
    let payload = fields(value.get("payload"), "payload")?;
    if let Some((name, _)) = payload.iter().find(|(name, _)| !matches!(*name, "args" | "kwargs")) {
        return Err(Refusal::Unknown((*name).to_string(), Place::closed("payload")));
    }
    let payload = value.get("payload");
    let named = fields(payload.and_then(|payload| payload.get("kwargs")), "kwargs")?;
    let mut sorted = Sorted::default();
    // The published form of a tool's call: what is none of the chain's is the tool's own.
    let gathers = kind == JobKind::Mcp && !named.iter().any(|(name, _)| *name == "arguments");
    let mut gathered = Vec::new();
    for (name, field) in &named {
        if sorted.take(&kind, name, field)? || TERMS.contains(name) && !is_of_resources(&kind, name) {
            continue;
        }
        match gathers {
            true => gathered.push((*name, (*field).clone())),
            false => return Err(Refusal::Unknown((*name).to_string(), Place::open("kwargs"))),
        }
    }
    if let Some(named) = payload.and_then(|payload| payload.get("kwargs")) {
        parts(named, &kind, &mut sorted)?;
        published_rule(named)?;
    }
    by_place(payload.and_then(|payload| payload.get("args")), &kind, &mut sorted)?;
    if !gathered.is_empty() && sorted.work.insert("arguments".to_string(), Value::dict(gathered)).is_some() {
        return Err(Refusal::Twice("arguments".to_string()));
    }
    Ok(Request { is_message: true, is_agent, ..sorted.into_request(kind, value) })
}

/// Looks at the fields of the message's `verify`.
fn published_rule(named: &Value) -> Result<(), Refusal> {
    let Some(rule) = named.get("verify") else { return Ok(()) };
    let rules = fields(Some(rule), "verify")?;
    if let Some((name, _)) = rules.iter().find(|(name, _)| !check_fields::VERIFY.contains(name) && !name.starts_with(OWN)) {
        return Err(Refusal::Unknown((*name).to_string(), Place::open("verify")));
    }
    if rule.get("timeout_blocks").is_some() && named.get("timeout_blocks").is_some() {
        return Err(Refusal::Twice("timeout_blocks".to_string()));
    }
    check_fields::require_known(rule, true)
}

/// Gives the arguments by place the names that are free.
fn by_place(args: Option<&Value>, kind: &JobKind, sorted: &mut Sorted) -> Result<(), Refusal> {
    let args = match args {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(Refusal::NoMap("args".to_string())),
    };
    let names = WORK.iter().find(|(of, ..)| of == kind).map_or(&[][..], |(_, places, names)| &names[..*places]);
    let free: Vec<&str> = names.iter().copied().filter(|name| !sorted.work.contains_key(*name)).collect();
    if args.len() > free.len() {
        return Err(Refusal::TooMany(args.len(), free.len()));
    }
    for (name, argument) in free.iter().zip(args) {
        sorted.take(kind, name, argument)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
