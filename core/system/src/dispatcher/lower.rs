//! What a submission asks of the chain: a job as the specification has it, or the message of the published SDK (002 §1, §2;
//! decisions 129, 181). Which fields there are, and where, [`super::request`] says.

use super::request::{Request, UNSUPPORTED, VOLUMES};
use super::rules::{check, require};
use super::verification::verification;
use super::{contradictions, published, work};
use crate::entitlements::needs::OUTPUT_TOKENS;
use crate::market::container::{self, ContainerJob};
pub use crate::market::mistake::Mistake;
use crate::market::refusal::{Refusal, Wrong};
use crate::reader::Reader;
use crate::runners;
use cowboy_params::{Containers, Jobs, Params};
use cowboy_types::cbor::{self, Value};
use cowboy_types::instruction::HandlerName;
use cowboy_types::job::{Bounds, Callback, JobKind, JobSpec, Mode, REQUEST_BYTES, Resources, ResultSchema};
use cowboy_types::units::{Amount, Cells, Count, Cycles, Price};
use cowboy_types::{Address, Blob, Hash, Text, error};

/// The handler that receives an answer where the job names none.
const HANDLER: &str = "handle_job_result";

/// What a format of results is.
const FORMAT: &str = "empty, text, json, cbor, binary, or a JSON schema in a string";

/// Bytes of the id of a runner pool.
const POOL: usize = 64;

/// What the chain offers to those who name nothing.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// The rows of the market.
    pub rows: &'a Jobs,
    /// The rows of containers.
    pub containers: &'a Containers,
    /// Milliseconds between blocks.
    pub block_time: u64,
    /// Who submits.
    pub sender: Address,
    /// The most paid for a callback's cycle.
    pub max_fee_per_cycle: Price,
    /// The most paid for a callback's cell.
    pub max_fee_per_cell: Price,
    /// The most cells of a callback.
    pub callback_cells: Cells,
}

impl<'a> Offer<'a> {
    /// What reading a submission away from the chain needs: nothing that it costs.
    pub fn reading(params: &'a Params, sender: Address) -> Self {
        let (rows, containers, block_time) = (&params.jobs, &params.containers, params.consensus.block_time);
        let callback_cells = Cells(params.delivery_cells());
        Self { rows, containers, block_time, sender, max_fee_per_cycle: Price::ZERO, max_fee_per_cell: Price::ZERO, callback_cells }
    }
}

/// Decodes a submission, which somebody has paid for.
pub fn decoded(bytes: &[u8]) -> Result<Value, Mistake> {
    cbor::decode(bytes).map_err(|_| Refusal::NoJob.into())
}

/// Reads a submission. Every rule of 002 §3 step 1 is checked.
pub fn lower(offer: &Offer<'_>, submission: &Value) -> Result<JobSpec, Mistake> {
    read(offer, submission).map(|(_, spec)| spec)
}

/// The same, with the reading that the permission check needs beside it.
pub fn read(offer: &Offer<'_>, submission: &Value) -> Result<(Request, JobSpec), Mistake> {
    let (request, spec) = parse(offer, submission)?;
    work::check(&request, &spec.schema.data_format)?;
    // A runner that is asked for more tokens than the bounds say would be held to another number than the manifest was.
    if let Some(tokens) = request.work.get("max_tokens") {
        let most = spec.bounds.output_tokens.0;
        require(tokens.as_u64().is_some_and(|tokens| tokens <= most), || {
            format!("max_tokens: it has to be at most max_output_tokens, {most}.")
        })?;
    }
    require(request.names_hosts_well(), || {
        "reaches: it has to be a list of hosts in lower case, like api.example.com or *.example.com.".into()
    })?;
    if spec.kind == JobKind::Container {
        container_of(offer, &request)?.require_comparable(&spec)?;
    }
    check(offer.rows, offer.callback_cells, &spec)?;
    // What others answer can be made to differ: who takes part would be held to the answer of a server, or of a program, that is the submitter's
    // (decision 584).
    let is_repeatable = matches!(spec.kind, JobKind::Llm | JobKind::Custom) && request.hosts().is_empty();
    let can_be_compared = spec.verification.mode != Mode::Deterministic || is_repeatable;
    require(can_be_compared, || "mode: deterministic is for models, and for registered tools that reach no host.".into())?;
    check_model(&request, &spec)?;
    let (given, least) = (spec.timeout_blocks.0, shortest_timeout(offer, &request, spec.bounds.wall_ms.0));
    if given < least {
        let explanation = format!("timeout_blocks is {given}; the wall time that the bounds allow needs at least {least}.");
        return Err(Mistake::new(error::JOB_TIMEOUT, explanation));
    }
    contradictions::check(&spec)?;
    Ok((request, spec))
}

/// A model whose answer is repeated is named, and does not sample: else honest runners would be held to a throw of dice, or to each other's choice of a
/// model (decision 621). An embedding is not sampled.
fn check_model(request: &Request, spec: &JobSpec) -> Result<(), Mistake> {
    if spec.kind != JobKind::Llm || spec.verification.mode != Mode::Deterministic {
        return Ok(());
    }
    let is_embedding = request.work.get("task").and_then(Value::as_text) == Some("embedding");
    let is_sampled = request.work.get("temperature").and_then(Value::as_u64) != Some(0);
    require(is_embedding || !is_sampled, || {
        "temperature: it has to be 0 in mode deterministic; a model that samples answers otherwise each time.".into()
    })?;
    require(spec.model != Hash::ZERO, || "model_id: a model's job in mode deterministic names the model.".into())
}

/// The timeout of a submission that can be read, and the least that its bounds need, in blocks.
pub fn timeouts(offer: &Offer<'_>, submission: &Value) -> Result<(u64, u64), Mistake> {
    let (request, spec) = parse(offer, submission)?;
    Ok((spec.timeout_blocks.0, shortest_timeout(offer, &request, spec.bounds.wall_ms.0)))
}

/// What a submission says of its container.
fn container_of(offer: &Offer<'_>, request: &Request) -> Result<ContainerJob, Wrong> {
    ContainerJob::read(request, offer.containers)
}

/// Reads a submission's fields. No rule is checked yet that compares them.
fn parse(offer: &Offer<'_>, submission: &Value) -> Result<(Request, JobSpec), Mistake> {
    let request = Request::of(submission.clone())?;
    let bytes = Blob::new(submission.encode()).ok_or_else(|| Mistake::invalid(format!("The job has more than {REQUEST_BYTES} bytes.")))?;
    require_supported(&request)?;
    let resources = match request.kind {
        JobKind::Container => Some(container_of(offer, &request)?.resources),
        _ => None,
    };
    let reader = Reader::new(&request.value, "");
    let mut spec = match request.is_message {
        true => message(offer, &request, resources, &reader, bytes)?,
        false => job(offer, &request, resources, &reader, bytes)?,
    };
    // Who names an environment requires one, wherever it says so.
    if let Some(name) = request.need("tee_type") {
        let known = name.as_text().filter(|name| runners::environments::is_environment(name)).and_then(Text::new);
        spec.verification.tee_type =
            known.ok_or_else(|| Mistake::invalid("tee_type: it has to be a trusted environment that runners of this chain may prove."))?;
        spec.verification.is_tee_required = true;
    }
    Ok((request, spec))
}

/// The fewest blocks in which a runner that uses all of this time can answer, and keep what a container wrote (decisions 303, 551).
fn shortest_timeout(offer: &Offer<'_>, request: &Request, wall_ms: u64) -> u64 {
    let keep = if container::writes(request) { offer.containers.keep } else { 0 };
    wall_ms.div_ceil(offer.block_time.max(1)).saturating_add(offer.rows.timeout_margin).saturating_add(keep)
}

/// Refuses a job that asks for secrets or volumes: it would be paid for and could not be done.
fn require_supported(request: &Request) -> Result<(), Mistake> {
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Map(pairs) => pairs.is_empty(),
        _ => false,
    };
    let has_place = |name: &str| name == VOLUMES && request.kind == JobKind::Container;
    let is_asked = |name: &&str| !has_place(name) && request.work.get(*name).is_some_and(|value| !is_empty(value));
    let asked = UNSUPPORTED.iter().copied().find(is_asked);
    asked.map_or(Ok(()), |name| Err(Mistake::new(error::JOB_UNSUPPORTED, format!("{name}: leave it out of this kind of job."))))
}

/// A job as the specification has it.
fn job(
    offer: &Offer<'_>,
    read: &Request,
    resources: Option<Resources>,
    reader: &Reader<'_>,
    request: Blob<131072>,
) -> Result<JobSpec, Mistake> {
    let kind_of = reader.get("job_type").ok_or(Refusal::NoJob)?;
    let schema = reader.below("result_schema");
    if !schema.is_present() {
        return Err(reader.wrong("result_schema", "{max_return_bytes, expected_execution_ms, data_format}"));
    }
    let callback = reader.below("callback");
    let pool: Blob<POOL> = reader.blob("required_runner_pool")?;
    let model = kind_of.get("model_id").and_then(Value::as_bytes).map(<[u8; 32]>::try_from);
    Ok(JobSpec {
        kind: read.kind.clone(),
        request,
        hosts: None,
        bounds: bounds(&reader.below("bounds"), resources.as_ref())?,
        resources,
        schema: ResultSchema {
            max_return_bytes: Count(schema.number("max_return_bytes")?),
            expected_execution_ms: Count(schema.number("expected_execution_ms")?),
            data_format: schema
                .get("data_format")
                .and_then(Value::as_text)
                .and_then(Text::new)
                .ok_or_else(|| schema.wrong("data_format", FORMAT))?,
        },
        verification: verification(&reader.below("verification"))?,
        max_price: Amount(reader.number("max_price")?),
        tip: reader.amount_or_zero("tip")?,
        timeout_blocks: Count(reader.number("timeout_blocks")?),
        is_delayed: is_delayed(reader)?,
        callback: if callback.is_present() { Some(callback_of(offer, &callback)?) } else { None },
        required_runner_pool: (!pool.is_empty()).then_some(pool),
        requires: reader.blob("requires")?,
        model: model.transpose().map_err(|_| Mistake::invalid("job_type.model_id: it has to be 32 bytes."))?.map_or(Hash::ZERO, Hash),
        toolchain_digest: reader.hash_or_zero("toolchain_digest")?,
        seed: reader.count_or("seed", 0)?,
    })
}

/// The published SDK's message: what it names nowhere comes from the parameters; its kwargs say otherwise.
fn message(
    offer: &Offer<'_>,
    read: &Request,
    resources: Option<Resources>,
    reader: &Reader<'_>,
    request: Blob<131072>,
) -> Result<JobSpec, Mistake> {
    let rows = offer.rows;
    let kwargs = reader.below("payload").below("kwargs");
    let schema = kwargs.below("result_schema");
    let correlation = match reader.get("cid") {
        Some(Value::Text(text)) => text.clone(),
        Some(Value::Bytes(bytes)) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        _ => return Err(reader.wrong("cid", "a string or bytes")),
    };
    let (timeout_blocks, wall_ms) = times(offer, read, &kwargs, resources.as_ref())?;
    let mut verification = if kwargs.get("verify").is_some() {
        if kwargs.get("verification").is_some() {
            return Err(Refusal::Twice("verification".to_string()).into());
        }
        published::verification(&kwargs.below("verify"), kwargs.text_or_empty("system_prompt")?)?
    } else {
        verification(&kwargs.below("verification"))?
    };
    verification.is_tee_required |= kwargs.flag("tee_required")?;
    Ok(JobSpec {
        kind: read.kind.clone(),
        request,
        hosts: None,
        bounds: Bounds {
            input_tokens: kwargs.count_or("max_input_tokens", 32_768)?,
            output_tokens: kwargs.count_or("max_tokens", OUTPUT_TOKENS)?,
            wall_ms: kwargs.count_or("max_wall_time_ms", wall_ms)?,
            memory_mb: kwargs.count_or("max_memory_mb", resources.as_ref().map_or(0, |resources| resources.memory_mib.0))?,
        },
        resources,
        schema: ResultSchema {
            max_return_bytes: schema.count_or("max_return_bytes", rows.result_bytes)?,
            expected_execution_ms: schema.count_or("expected_execution_ms", wall_ms)?,
            data_format: schema.bounded_text("data_format")?,
        },
        verification,
        max_price: Amount(kwargs.number_or("max_price", rows.price_default)?),
        tip: kwargs.amount_or_zero("tip")?,
        timeout_blocks,
        is_delayed: is_delayed(&kwargs)?,
        callback: Some(Callback {
            actor: offer.sender,
            handler: handler_name(reader, "reply_handler")?,
            correlation: Text::new(correlation).ok_or_else(|| reader.wrong("cid", "shorter"))?,
            context: Blob::default(),
            cycles: Cycles(kwargs.number_or("resume_cycles", rows.callback_cycles)?),
            cells: Cells(kwargs.number_or("resume_cells", rows.callback_cells)?),
            max_fee_per_cycle: offer.max_fee_per_cycle,
            max_fee_per_cell: offer.max_fee_per_cell,
        }),
        required_runner_pool: Some(kwargs.blob("required_runner_pool")?).filter(|pool: &Blob<POOL>| !pool.is_empty()),
        requires: kwargs.blob("requires")?,
        model: kwargs.hash_or_zero("model_id")?,
        toolchain_digest: kwargs.hash_or_zero("toolchain_digest")?,
        seed: kwargs.count_or("seed", 0)?,
    })
}

/// The timeout of a message in blocks, and the milliseconds of work that it has where it names none.
fn times(offer: &Offer<'_>, read: &Request, kwargs: &Reader<'_>, resources: Option<&Resources>) -> Result<(Count, u64), Mistake> {
    // A container has the time of its resources, and a timeout that is long enough for it.
    let of_container = resources.map(|resources| wall_ms_of(resources).0);
    let timeout_default = of_container.map_or(offer.rows.timeout_default, |wall_ms| shortest_timeout(offer, read, wall_ms));
    let timeout_blocks = match kwargs.below("verify").get("timeout_blocks") {
        Some(_) => kwargs.below("verify").count_or("timeout_blocks", 0)?,
        None => kwargs.count_or("timeout_blocks", timeout_default)?,
    };
    // A message that names a short timeout and no time of work has as much of it as fits.
    let fits = timeout_blocks.0.saturating_sub(offer.rows.timeout_margin).saturating_mul(offer.block_time);
    Ok((timeout_blocks, of_container.unwrap_or(offer.rows.wall_default.min(fits))))
}

/// How a committee of one is drawn: `immediate`, which is the protocol's default, or `delayed`.
fn is_delayed(reader: &Reader<'_>) -> Result<bool, Mistake> {
    match reader.text_or_empty("draw")? {
        "" | "immediate" => Ok(false),
        "delayed" => Ok(true),
        _ => Err(reader.wrong("draw", "immediate or delayed")),
    }
}

fn handler_name(reader: &Reader<'_>, field: &str) -> Result<HandlerName, Mistake> {
    let name = reader.text_or_empty(field)?;
    let name = if name.is_empty() { HANDLER } else { name };
    HandlerName::new(name).ok_or_else(|| reader.wrong(field, "the name of a handler"))
}

/// Milliseconds of a container's time.
fn wall_ms_of(resources: &Resources) -> Count {
    Count(resources.seconds.0.saturating_mul(1_000))
}

fn bounds(reader: &Reader<'_>, resources: Option<&Resources>) -> Result<Bounds, Mistake> {
    let wall_ms = match (resources, reader.get("max_wall_time_ms")) {
        (Some(resources), _) => wall_ms_of(resources).0,
        (None, Some(_)) => reader.number("max_wall_time_ms")?,
        (None, None) => reader.number("max_wall_time_seconds")?.saturating_mul(1_000),
    };
    Ok(Bounds {
        input_tokens: reader.count_or("max_input_tokens", 0)?,
        output_tokens: reader.count_or("max_output_tokens", 0)?,
        wall_ms: Count(wall_ms),
        memory_mb: resources.map_or_else(|| reader.count_or("max_memory_mb", 0), |resources| Ok(resources.memory_mib))?,
    })
}

fn callback_of(offer: &Offer<'_>, reader: &Reader<'_>) -> Result<Callback, Mistake> {
    let correlation = match reader.get("correlation_id") {
        Some(Value::Bytes(bytes)) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        _ => reader.text_or_empty("correlation_id")?.to_string(),
    };
    Ok(Callback {
        actor: reader.address("actor")?,
        handler: handler_name(reader, "handler")?,
        correlation: Text::new(correlation).ok_or_else(|| reader.wrong("correlation_id", "shorter"))?,
        context: reader.blob("context")?,
        cycles: Cycles(reader.number_or("cycles", offer.rows.callback_cycles)?),
        cells: Cells(reader.number_or("cells", offer.rows.callback_cells)?),
        max_fee_per_cycle: Price(reader.number_or("max_fee_per_cycle", offer.max_fee_per_cycle.0)?),
        max_fee_per_cell: Price(reader.number_or("max_fee_per_cell", offer.max_fee_per_cell.0)?),
    })
}
