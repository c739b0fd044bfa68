//! What 0x03 does with what members say.

use super::{FAULT_ACTOR, FAULT_IMPOSSIBLE, NUMBER, state};
use crate::actor::Context;
use crate::dispatcher::{lifecycle, state as jobs};
use crate::reader::Reader;
use crate::runners::{self, handlers as registry};
use crate::tee::statement::{self, About, Attested};
use cowboy_state::Step;
use cowboy_types::cbor::Value;
use cowboy_types::job::{Job, JobSpec, JobStatus, MAX_MEMBERS, Member, Report, SALT_BYTES, Usage, Verdict, commitment};
use cowboy_types::units::{Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Abort, Address, Hash, List, error};

fn invalid() -> Abort {
    error::INVALID_ARGUMENT
}

/// A job with what it asked for, and the members taken out to be changed.
struct Opened {
    job: Job,
    spec: JobSpec,
    members: Vec<Member>,
}

impl Opened {
    fn read(context: &Context<'_>, reader: &Reader<'_>) -> Step<Self> {
        let id = reader.hash("job_id")?;
        let mut job = jobs::read(context.world, &id)?;
        let spec = jobs::spec(context.world, &id)?;
        let members = std::mem::take(&mut job.members).into_vec();
        Ok(Self { job, spec, members })
    }

    fn place_of(&self, runner: Address) -> Result<usize, Abort> {
        self.members.iter().position(|member| member.runner == runner).ok_or(error::NOT_A_MEMBER)
    }

    /// Notes what a member committed to, and for how long the job held it.
    fn note_commitment(&mut self, place: usize, commitment: Hash, height: Height) {
        let member = &mut self.members[place];
        (member.commitment, member.committed_at) = (commitment, height);
        member.held = Count(height.0.saturating_sub(self.job.drawn_at.0));
    }

    /// Keeps the job. Where everybody said what they can, it goes on in this very block.
    fn close(mut self, context: &mut Context<'_>, is_complete: bool) -> Step<()> {
        if is_complete {
            self.job.status_until = context.height;
        }
        self.job.members = List::new(self.members).expect("as many members fit");
        let due = lifecycle::next_height(&self.job);
        jobs::write(context.world, &mut self.job, due)?;
        Ok(())
    }
}

pub(super) fn commit(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let reader = Reader::new(argument, invalid);
    let commitment = reader.hash("commitment")?;
    let mut opened = Opened::read(context, &reader)?;
    let place = opened.place_of(context.sender)?;
    let is_open = opened.job.status == JobStatus::Assigned && context.height <= opened.job.commit_until;
    if !is_open || opened.members.len() == 1 || commitment == Hash::ZERO {
        return Err(error::WRONG_PHASE.into());
    }
    if opened.members[place].commitment != Hash::ZERO {
        return Err(error::ALREADY_DONE.into());
    }
    opened.note_commitment(place, commitment, context.height);
    announce(context, "ResultCommitted", &opened.job.id, context.sender, ("commitment", Value::Bytes(commitment.0.to_vec())));
    let is_complete = opened.members.iter().all(|member| member.commitment != Hash::ZERO);
    opened.close(context, is_complete)?;
    Ok(Value::Null)
}

/// What a member reveals.
struct Revelation<'a> {
    runner: Address,
    report: Report<'a>,
    salt: Option<[u8; SALT_BYTES]>,
    signature: Fixed<64>,
}

fn usage(reader: &Reader<'_>) -> Result<Usage, Abort> {
    Ok(Usage {
        input_tokens: reader.count_or("input_tokens", 0)?,
        output_tokens: reader.count_or("output_tokens", 0)?,
        requests: reader.count_or("requests", 0)?,
        compute_ms: reader.count_or("compute_ms", 0)?,
        memory_mb: reader.count_or("memory_mb", 0)?,
    })
}

/// Reads a report. One of a fault has a progress and no result; one of a result has no progress.
fn report<'a>(reader: &Reader<'a>, result: Option<&'a [u8]>) -> Result<Report<'a>, Abort> {
    let fault = reader.number_or("fault", 0)?;
    let progress = reader.number_or("progress", 0)?;
    let is_right = match fault {
        0 => result.is_some() && progress == 0,
        _ => (FAULT_ACTOR..=FAULT_IMPOSSIBLE).contains(&fault) && result.is_none() && progress <= 10_000,
    };
    if !is_right {
        return Err(invalid());
    }
    Ok(Report { result, usage: usage(&reader.below("usage"))?, fault, progress, attestation: reader.bytes_or_empty("attestation")? })
}

fn revelation<'a>(reader: &Reader<'a>, runner: Address, result: Option<&'a [u8]>) -> Result<Revelation<'a>, Abort> {
    let salt = if reader.get("salt").is_some() { Some(reader.fixed("salt").map_err(|_| error::COMMITMENT_MISMATCH)?) } else { None };
    let signature = Fixed(reader.fixed("signature").map_err(|_| error::RESULT_SIGNATURE)?);
    Ok(Revelation { runner, report: report(reader, result)?, salt, signature })
}

/// The result that a sender reveals for itself, where it has one.
fn own_output<'a>(reader: &Reader<'a>) -> Result<Option<&'a [u8]>, Abort> {
    if reader.get("output").is_some() { reader.bytes_or_empty("output").map(Some) } else { Ok(None) }
}

/// Takes a revelation: its report opens the commitment, is short enough and signed (002 §8 step 4; decision 173).
fn take(context: &mut Context<'_>, opened: &mut Opened, revealed: &Revelation<'_>) -> Step<()> {
    let place = opened.place_of(revealed.runner)?;
    if opened.members[place].output != Hash::ZERO {
        return Err(error::ALREADY_DONE.into());
    }
    let report = &revealed.report;
    let output = report.result.unwrap_or(b"");
    if u64::try_from(output.len()).unwrap_or(u64::MAX) > opened.spec.schema.max_return_bytes.0 {
        return Err(error::RESULT_TOO_LARGE.into());
    }
    if let Some(salt) = &revealed.salt {
        // The salt names its runner: a copied commitment opens for nobody but the one it was copied from.
        let is_own = salt[32..] == revealed.runner.0;
        if !is_own || commitment(&report.encode(), salt) != opened.members[place].commitment {
            return Err(error::COMMITMENT_MISMATCH.into());
        }
    }
    let runner = runners::state::read(context.world, revealed.runner)?;
    context.charge(context.params.costs.verify_ed25519, VERIFY_WEIGHT);
    let message = report.signed(&context.genesis, &opened.job.id);
    let holds = ed25519_consensus::VerificationKey::try_from(runner.result_key.0)
        .is_ok_and(|key| key.verify(&revealed.signature.0.into(), &message).is_ok());
    if !holds {
        return Err(error::RESULT_SIGNATURE.into());
    }
    let digest = jobs::keep_output(context.world, &opened.job.id, output.to_vec().into())?;
    let member = &mut opened.members[place];
    member.output = digest;
    member.revealed_at = context.height;
    member.signature = revealed.signature;
    member.usage = within(&report.usage, &opened.spec);
    member.fault = Count(report.fault);
    member.progress = Count(report.progress);
    attest(context, opened, place, &runner, report.attestation)?;
    announce(context, "ResultRevealed", &opened.job.id, revealed.runner, ("output", Value::Bytes(digest.0.to_vec())));
    Ok(())
}

/// Notes what a member's trusted environment says of its result. One that proves another model costs its stake.
fn attest(context: &mut Context<'_>, opened: &mut Opened, place: usize, runner: &runners::Runner, attestation: &[u8]) -> Step<()> {
    if attestation.is_empty() {
        return Ok(());
    }
    let (address, output) = (opened.members[place].runner, opened.members[place].output);
    context.charge(context.params.costs.verify_ed25519, VERIFY_WEIGHT);
    let about = About { job: &opened.job.id, spec: &opened.spec, address, runner, output: &output };
    let attested = statement::check(context.world, context.is_dev, context.height, &about, attestation)?;
    opened.members[place].is_attested = attested == Attested::Accepted;
    if attested == Attested::WrongModel {
        opened.members[place].verdict = Verdict::Dishonest;
        let share = context.params.jobs.dishonesty_slash;
        registry::slash(context.world, context.params, context.height, address, share, opened.job.submitter)?;
        announce(context, "WrongModelSlash", &opened.job.id, address, ("output", Value::Bytes(output.0.to_vec())));
    }
    Ok(())
}

/// Frozen time of verifying a signature, in ns.
const VERIFY_WEIGHT: u64 = 60_000;

/// Usage as it is paid: at most what the job's bounds allow, which its runner was drawn for. A request is one, however many
/// addresses it leads through; where a job bounds no input, a model cannot read more tokens than the submission has bytes.
fn within(usage: &Usage, spec: &JobSpec) -> Usage {
    let bounds = &spec.bounds;
    let input = match bounds.input_tokens {
        Count::ZERO => Count(u64::try_from(spec.request.len()).unwrap_or(u64::MAX)),
        bound => bound,
    };
    Usage {
        input_tokens: usage.input_tokens.min(input),
        output_tokens: usage.output_tokens.min(bounds.output_tokens),
        requests: usage.requests.min(Count(1)),
        compute_ms: usage.compute_ms.min(bounds.wall_ms),
        memory_mb: usage.memory_mb.min(bounds.memory_mb),
    }
}

/// Whether everybody who committed revealed.
fn is_complete(opened: &Opened) -> bool {
    opened.members.iter().all(|member| member.commitment == Hash::ZERO || member.output != Hash::ZERO)
}

fn require_revealing(context: &Context<'_>, job: &Job) -> Step<()> {
    let is_open = job.status == JobStatus::Revealing && context.height <= job.reveal_until;
    if is_open { Ok(()) } else { Err(error::WRONG_PHASE.into()) }
}

pub(super) fn reveal(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let reader = Reader::new(argument, invalid);
    let mut opened = Opened::read(context, &reader)?;
    require_revealing(context, &opened.job)?;
    let place = opened.place_of(context.sender)?;
    let revealed = revelation(&reader, context.sender, own_output(&reader)?)?;
    if opened.members[place].commitment == Hash::ZERO || revealed.salt.is_none() {
        return Err(error::COMMITMENT_MISMATCH.into());
    }
    // The aggregator goes first, and its silence or its own revelation lets the others speak (002 §8; decision 127).
    let aggregator = opened.members.iter().find(|member| Some(member.runner) == opened.job.aggregator);
    let is_free = aggregator.is_none_or(|aggregator| {
        opened.job.is_aggregated
            || aggregator.runner == context.sender
            || aggregator.output != Hash::ZERO
            || aggregator.commitment == Hash::ZERO
            || context.height >= opened.job.reveal_from
    });
    if !is_free {
        return Err(error::WRONG_PHASE.into());
    }
    take(context, &mut opened, &revealed)?;
    let is_complete = is_complete(&opened);
    opened.close(context, is_complete)?;
    Ok(Value::Null)
}

pub(super) fn submit_result(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let reader = Reader::new(argument, invalid);
    let mut opened = Opened::read(context, &reader)?;
    let place = opened.place_of(context.sender)?;
    let is_open = opened.job.status == JobStatus::Assigned && context.height <= opened.job.commit_until;
    if !is_open || opened.members.len() != 1 {
        return Err(error::WRONG_PHASE.into());
    }
    let revealed = revelation(&reader, context.sender, own_output(&reader)?)?;
    // Alone there is nobody to copy: the report commits to itself.
    opened.note_commitment(place, cowboy_types::keccak256(&[&revealed.report.encode()]), context.height);
    take(context, &mut opened, &Revelation { salt: None, ..revealed })?;
    opened.close(context, true)?;
    Ok(Value::Null)
}

pub(super) fn submit_verified_result(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let reader = Reader::new(argument, invalid);
    let mut opened = Opened::read(context, &reader)?;
    require_revealing(context, &opened.job)?;
    if opened.job.aggregator != Some(context.sender) {
        return Err(error::NOT_A_MEMBER.into());
    }
    let outputs: Vec<&[u8]> = reader.items("outputs")?.iter().map(|item| item.as_bytes().ok_or(invalid())).collect::<Result<_, _>>()?;
    let items = reader.items("reveals")?;
    if items.is_empty() || items.len() > MAX_MEMBERS {
        return Err(invalid().into());
    }
    for item in items {
        let item = Reader::new(item, invalid);
        let output = match item.get("output") {
            None => None,
            Some(place) => {
                let place = place.as_u64().and_then(|place| usize::try_from(place).ok());
                Some(*place.and_then(|place| outputs.get(place)).ok_or(invalid())?)
            }
        };
        let revealed = revelation(&item, item.address("runner")?, output)?;
        if revealed.salt.is_none() {
            return Err(error::COMMITMENT_MISMATCH.into());
        }
        take(context, &mut opened, &revealed)?;
    }
    // The bonus is for putting a decision together, not for one's own result in another form.
    let revealed = opened.members.iter().filter(|member| member.output != Hash::ZERO).count();
    opened.job.aggregated = Count(u64::try_from(items.len()).expect("committees are small"));
    opened.job.is_aggregated = u64::try_from(revealed).expect("committees are small") >= opened.job.threshold.0;
    let is_complete = is_complete(&opened);
    opened.close(context, is_complete)?;
    Ok(Value::Null)
}

pub(super) fn attest_crash(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let reader = Reader::new(argument, invalid);
    let signal = reader.bounded_text::<64>("signal")?;
    let mut opened = Opened::read(context, &reader)?;
    let sender = context.sender;
    let member = opened.members.iter_mut().find(|member| member.runner == sender);
    let absent = opened.job.absent.iter().any(|absent| absent.runner == sender);
    let keeps_back = absent || member.as_ref().is_some_and(|member| member.commitment != Hash::ZERO);
    match member {
        Some(member) if member.verdict == Verdict::Pending && !member.is_crashed => member.is_crashed = true,
        _ if absent => {
            let rest = opened.job.absent.iter().filter(|absent| absent.runner != sender).cloned().collect();
            opened.job.absent = List::new(rest).expect("fewer fit");
        }
        _ => return Err(error::WRONG_PHASE.into()),
    }
    let mut runner = runners::state::read(context.world, sender)?;
    count_crash(context, &mut runner);
    if absent {
        let rows = &context.params.jobs;
        registry::fail(rows, &mut runner, context.height, rows.reputation_timeout);
    }
    runners::state::write(context.world, sender, &runner);
    // The first crash within the window costs reputation. Every other one also costs the price of the job whose committed result it keeps back, but
    // at most what silence would cost (decision 309).
    if keeps_back && runner.crashes > Count(1) {
        let (price, share) = (opened.spec.max_price, context.params.jobs.non_reveal_slash);
        let fined = registry::fine(context.world, context.params, sender, price, share, opened.job.submitter)?;
        announce(context, "CrashFined", &opened.job.id, sender, ("amount", Value::uint(fined.amount.0)));
    }
    announce(context, "CrashAttested", &opened.job.id, sender, ("signal", Value::text(signal.to_string())));
    opened.close(context, false)?;
    Ok(Value::Null)
}

/// Counts a crash; too many within the window flag the runner.
fn count_crash(context: &Context<'_>, runner: &mut runners::Runner) {
    let (rows, height) = (&context.params.jobs, context.height);
    if height.0.saturating_sub(runner.crashes_since.0) > rows.crash_review_window {
        runner.crashes = Count::ZERO;
        runner.crashes_since = Height(height.0);
    }
    runner.crashes = Count(runner.crashes.0.saturating_add(1));
    runner.is_flagged |= runner.crashes.0 >= rows.crash_review;
}

pub(super) fn set_embedding_model(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let model = Reader::new(argument, invalid).hash("model_id")?;
    context.world.write(state::embedding_model_key(), &model);
    context.announce(NUMBER, "EmbeddingModelSet", &Value::map([("model_id", Value::Bytes(model.0.to_vec()))]));
    Ok(Value::Null)
}

fn announce(context: &mut Context<'_>, name: &'static str, job: &Hash, runner: Address, fact: (&str, Value)) {
    let data = Value::map([("job_id", Value::Bytes(job.0.to_vec())), ("runner", Value::Bytes(runner.0.to_vec())), fact]);
    context.announce(NUMBER, name, &data);
}
