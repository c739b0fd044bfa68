//! What 0x03 does with what members say.

use super::api::{
    AttestCrash, Commit, Committed, CrashAttested, CrashFined, EmbeddingModelSet, Opening, Reveal, Revealed, SetEmbeddingModel,
    SubmitResult, SubmitVerifiedResult, Used, WrongModelSlash,
};
use super::{FAULT_ACTOR, FAULT_IMPOSSIBLE, state};
use crate::actor::{Context, Handle};
use crate::dispatcher::record::next_height;
use crate::market::jobs;
use crate::runners::{self, handlers as registry};
use crate::schema::Emit;
use crate::tee::statement::{self, About, Attested};
use cowboy_params::Params;
use cowboy_state::Step;
use cowboy_types::job::{Job, JobKind, JobSpec, JobStatus, Member, Report, SALT_BYTES, Usage, Verdict, commitment};
use cowboy_types::units::{Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Abort, Address, Hash, List, error};

/// A job with what it asked for, and the members taken out to be changed.
struct Opened {
    job: Job,
    spec: JobSpec,
    members: Vec<Member>,
}

impl Opened {
    fn read(context: &Context<'_>, id: &Hash) -> Step<Self> {
        let mut job = jobs::read(context.world, id)?;
        let spec = jobs::spec(context.world, id)?;
        let members = std::mem::take(&mut job.members).into_vec();
        Ok(Self { job, spec, members })
    }

    fn place_of(&self, runner: Address) -> Result<usize, Abort> {
        self.members.iter().position(|member| member.runner == runner).ok_or(error::NOT_A_MEMBER)
    }

    /// Notes what a member committed to, and for how long the job held it. A crash that it attested before is over: it excuses no silence about a result
    /// that was there after it (decision 760).
    fn note_commitment(&mut self, place: usize, commitment: Hash, height: Height) {
        let member = &mut self.members[place];
        (member.commitment, member.committed_at, member.is_crashed) = (commitment, height, false);
        member.held = Count(height.0.saturating_sub(self.job.drawn_at.0));
    }

    /// Keeps the job. Where everybody said what they can, it advances in this very block.
    fn close(mut self, context: &mut Context<'_>, is_complete: bool) -> Step<()> {
        if is_complete {
            self.job.status_until = context.height;
        }
        self.job.members = List::new(self.members).expect("as many members fit");
        let due = next_height(&self.job);
        jobs::write(context.world, &mut self.job, due)?;
        Ok(())
    }
}

impl Handle for Commit {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { job_id, commitment } = self;
        let mut opened = Opened::read(context, &job_id)?;
        let place = opened.place_of(context.sender)?;
        let is_open = opened.job.status == JobStatus::Assigned && context.height <= opened.job.commit_until;
        if !is_open || opened.members.len() == 1 || commitment == Hash::ZERO {
            return Err(error::WRONG_PHASE.into());
        }
        if opened.members[place].commitment != Hash::ZERO {
            return Err(error::ALREADY_DONE.into());
        }
        opened.note_commitment(place, commitment, context.height);
        Committed { job_id, runner: context.sender, commitment }.emit(context.world);
        let is_complete = opened.members.iter().all(|member| member.commitment != Hash::ZERO);
        opened.close(context, is_complete)?;
        Ok(())
    }
}

/// What a member reveals.
struct Revelation<'a> {
    runner: Address,
    report: Report<'a>,
    salt: Option<Fixed<SALT_BYTES>>,
    signature: Fixed<64>,
}

/// A report as its member sends it, before anything of it is checked.
struct Said<'a> {
    result: Option<&'a [u8]>,
    fault: u64,
    progress: u64,
    usage: &'a Used,
    attestation: &'a [u8],
}

impl<'a> Said<'a> {
    /// The report. One of a fault has a progress and no result; one of a result has no progress.
    fn report(self) -> Result<Report<'a>, Abort> {
        let Self { result, fault, progress, usage, attestation } = self;
        let is_right = match fault {
            0 => result.is_some() && progress == 0,
            _ => (FAULT_ACTOR..=FAULT_IMPOSSIBLE).contains(&fault) && result.is_none() && progress <= 10_000,
        };
        let Used { input_tokens, output_tokens, requests, compute_ms, memory_mb } = usage.clone();
        let usage = Usage { input_tokens, output_tokens, requests, compute_ms, memory_mb };
        if is_right { Ok(Report { result, usage, fault, progress, attestation }) } else { Err(error::INVALID_ARGUMENT) }
    }
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
        let is_own = salt.0[32..] == revealed.runner.0;
        if !is_own || commitment(&report.encode(), &salt.0) != opened.members[place].commitment {
            return Err(error::COMMITMENT_MISMATCH.into());
        }
    }
    let runner = runners::state::read(context.world, revealed.runner)?;
    context.charge(context.params.costs.verify_ed25519, context.params.weights.verify_ed25519);
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
    member.usage = within(context.params, &report.usage, &opened.spec);
    member.fault = Count(report.fault);
    member.progress = Count(report.progress);
    attest(context, opened, place, &runner, report.attestation)?;
    Revealed { job_id: opened.job.id, runner: revealed.runner, output: digest }.emit(context.world);
    Ok(())
}

/// Notes what a member's trusted environment says of its result. One that proves another model costs its stake.
fn attest(context: &mut Context<'_>, opened: &mut Opened, place: usize, runner: &runners::Runner, attestation: &[u8]) -> Step<()> {
    if attestation.is_empty() {
        return Ok(());
    }
    let (address, output) = (opened.members[place].runner, opened.members[place].output);
    context.charge(context.params.costs.verify_ed25519, context.params.weights.verify_ed25519);
    let about = About { job: &opened.job.id, spec: &opened.spec, address, runner, output: &output };
    let attested = statement::check(context.world, context.is_dev, context.height, &about, attestation)?;
    opened.members[place].is_attested = attested == Attested::Accepted;
    if attested == Attested::WrongModel {
        opened.members[place].verdict = Verdict::Dishonest;
        let share = context.params.jobs.dishonesty_slash;
        registry::slash(context.world, context.params, context.height, address, share, opened.job.submitter.into())?;
        WrongModelSlash { job_id: opened.job.id, runner: address, output }.emit(context.world);
    }
    Ok(())
}

/// Usage as it is paid: at most what the job's bounds allow, which its runner was drawn for. A request is one, however many
/// addresses it leads through, and a container's program makes many; where a job bounds no input, a model cannot read more tokens than the
/// submission has bytes.
fn within(params: &Params, usage: &Usage, spec: &JobSpec) -> Usage {
    let bounds = &spec.bounds;
    let input = match bounds.input_tokens {
        Count::ZERO => Count(u64::try_from(spec.request.len()).unwrap_or(u64::MAX)),
        bound => bound,
    };
    let requests = if spec.kind == JobKind::Container { params.containers.requests } else { 1 };
    Usage {
        input_tokens: usage.input_tokens.min(input),
        output_tokens: usage.output_tokens.min(bounds.output_tokens),
        requests: usage.requests.min(Count(requests)),
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

impl Handle for Reveal {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { job_id, output, fault, progress, salt, signature, usage, attestation } = self;
        let mut opened = Opened::read(context, &job_id)?;
        require_revealing(context, &opened.job)?;
        let place = opened.place_of(context.sender)?;
        let said = Said { result: output.as_deref(), fault, progress, usage: &usage, attestation: &attestation };
        let revealed = Revelation { runner: context.sender, report: said.report()?, salt, signature };
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
        Ok(())
    }
}

impl Handle for SubmitResult {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { job_id, output, fault, progress, signature, usage, attestation } = self;
        let mut opened = Opened::read(context, &job_id)?;
        let place = opened.place_of(context.sender)?;
        let is_open = opened.job.status == JobStatus::Assigned && context.height <= opened.job.commit_until;
        if !is_open || opened.members.len() != 1 {
            return Err(error::WRONG_PHASE.into());
        }
        let said = Said { result: output.as_deref(), fault, progress, usage: &usage, attestation: &attestation };
        let revealed = Revelation { runner: context.sender, report: said.report()?, salt: None, signature };
        // Alone there is nobody to copy: the report commits to itself.
        opened.note_commitment(place, cowboy_types::keccak256(&[&revealed.report.encode()]), context.height);
        take(context, &mut opened, &revealed)?;
        opened.close(context, true)?;
        Ok(())
    }
}

impl Handle for SubmitVerifiedResult {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { job_id, outputs, reveals } = self;
        let mut opened = Opened::read(context, &job_id)?;
        require_revealing(context, &opened.job)?;
        if opened.job.aggregator != Some(context.sender) {
            return Err(error::NOT_A_MEMBER.into());
        }
        if reveals.is_empty() {
            return Err(error::INVALID_ARGUMENT.into());
        }
        for Opening { runner, output: place, fault, progress, salt, signature, usage, attestation } in reveals.iter() {
            let output = |place: u64| usize::try_from(place).ok().and_then(|place| outputs.get(place)).ok_or(error::INVALID_ARGUMENT);
            let result = place.map(output).transpose()?.map(Vec::as_slice);
            let said = Said { result, fault: *fault, progress: *progress, usage, attestation };
            let revealed = Revelation { runner: *runner, report: said.report()?, salt: *salt, signature: *signature };
            if revealed.salt.is_none() {
                return Err(error::COMMITMENT_MISMATCH.into());
            }
            take(context, &mut opened, &revealed)?;
        }
        // The bonus is for putting a decision together, not for one's own result in another form.
        let revealed = opened.members.iter().filter(|member| member.output != Hash::ZERO).count();
        opened.job.aggregated = Count(u64::try_from(reveals.len()).expect("committees are small"));
        opened.job.is_aggregated = u64::try_from(revealed).expect("committees are small") >= opened.job.threshold.0;
        let is_complete = is_complete(&opened);
        opened.close(context, is_complete)?;
        Ok(())
    }
}

impl Handle for AttestCrash {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { job_id, signal } = self;
        let mut opened = Opened::read(context, &job_id)?;
        let sender = context.sender;
        let member = opened.members.iter_mut().find(|member| member.runner == sender);
        let absent = opened.job.absent.iter().any(|absent| absent.runner == sender);
        let keeps_back = absent || member.as_ref().is_some_and(|member| member.commitment != Hash::ZERO);
        match member {
            // Whoever revealed keeps nothing back: there is no silence that a crash would excuse (decision 764).
            Some(member) if member.output != Hash::ZERO => return Err(error::WRONG_PHASE.into()),
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
            CrashFined { job_id, runner: sender, amount: fined.amount }.emit(context.world);
        }
        CrashAttested { job_id, runner: sender, signal }.emit(context.world);
        opened.close(context, false)?;
        Ok(())
    }
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

impl Handle for SetEmbeddingModel {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { model_id } = self;
        context.world.write(state::embedding_model_key(), &model_id);
        EmbeddingModelSet { model_id }.emit(context.world);
        Ok(())
    }
}
