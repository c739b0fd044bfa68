//! Committees that disagree: one further committee decides, and it is the job's last (decision 309).

use super::committee::{draw, emit_committee, release};
use super::decision::{accept, judged};
use super::effects::Block;
use super::lifecycle::give_up;
use super::payout::take_agreeing;
use super::transitions::exclude;
use crate::market::judge::{Judge, Rules, Submission};
use bytes::Bytes;
use cowboy_params::Jobs;
use cowboy_state::{Miss, World};
use cowboy_types::job::{Delivered, Job, JobSpec, JobStatus, Member, Mode, Verdict};
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Hash, List};

/// Whether enough members revealed something for a quorum, and none came of it: not their silence but their disagreement ends the draw.
pub(super) fn is_disagreement(job: &Job, mode: &Mode) -> bool {
    let spoke = |member: &&Member| {
        let is_open = matches!(member.verdict, Verdict::Pending | Verdict::Differs | Verdict::Unfit);
        member.output != Hash::ZERO && is_open
    };
    let spoken = u64::try_from(job.members.iter().filter(spoke).count()).expect("committees are small");
    !mode.is_single() && spoken >= job.threshold.0
}

/// Whether the committee at work is the last that the job has.
pub(super) fn is_last(job: &Job) -> bool {
    !job.earlier.is_empty()
}

/// The runners of the further committee, where `first` were in the first.
pub(super) fn size(rows: &Jobs, first: u64) -> u64 {
    first.saturating_mul(2).saturating_add(1).min(rows.committee_max)
}

/// Draws the further committee: twice as many runners and one, none of the first. A simple majority of it is enough.
pub(super) fn ask(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec) -> Result<&'static str, Miss> {
    for runner in job.members.iter().map(|member| member.runner).collect::<Vec<_>>() {
        release(block.world, runner, &job.id)?;
        exclude(job, runner);
    }
    let (first, threshold) = (job.committee.0.max(1), job.threshold.0);
    job.earlier = std::mem::take(&mut job.members);
    job.attempt = Count(job.attempt.0 + 1);
    job.committee = Count(size(&block.params.jobs, first));
    let seed = job.seed;
    draw(block, job, spec, seed)?;
    if job.status != JobStatus::Assigned {
        return Ok(if job.status == JobStatus::Failed { "fail" } else { "verify" });
    }
    let majority = job.committee.0 / 2 + 1;
    job.threshold = Count((threshold * job.committee.0).div_ceil(first).clamp(1, majority));
    emit_committee(block.world, job);
    Ok("retry")
}

/// Too few are left for a further committee, or too few of it committed: the simple majority of the first one stands.
pub(super) fn fall_back(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec) -> Result<&'static str, Miss> {
    let earlier = job.earlier.to_vec();
    let good = earlier.iter().filter(|member| member.verdict == Verdict::Differs).count();
    let (places, judged) = judged(block.world, block.params, job, spec, &earlier, good / 2 + 1)?;
    let Some((place, bytes)) = judged.accepted else { return end(block, job, spec) };
    let chosen = places[place];
    let mut earlier = earlier;
    for (place, verdict) in places.into_iter().zip(judged.verdicts) {
        if earlier[place].verdict == Verdict::Differs {
            earlier[place].verdict = verdict;
        }
    }
    job.earlier = List::new(earlier).expect("as many members fit");
    let chosen = job.members.len() + chosen;
    let former = take_agreeing(job);
    accept(block, job, spec, chosen, bytes.into(), former)?;
    Ok("verify")
}

/// Notes which of the first committee agree with the result that the further one accepted.
pub(super) fn compare(world: &World, job: &mut Job, spec: &JobSpec, rules: &Rules, accepted: Submission<'_>) -> Result<(), Miss> {
    let mut earlier = job.earlier.to_vec();
    let both = Rules { threshold: 2, ..*rules };
    let judge = Judge::new(spec, &both);
    for member in earlier.iter_mut().filter(|member| member.verdict == Verdict::Differs) {
        let output: Bytes = super::state::output(world, &job.id, &member.output)?;
        let own = Submission { output: &output, committed_at: member.committed_at, is_attested: member.is_attested };
        if judge.judge(&[accepted, own]).accepted.is_some() {
            member.verdict = Verdict::Accepted;
        }
    }
    job.earlier = List::new(earlier).expect("as many members fit");
    Ok(())
}

/// Ends a job whose last committee has no majority either: whoever revealed gets the least fee.
pub(super) fn end(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec) -> Result<&'static str, Miss> {
    let mut delivered = std::mem::take(&mut job.delivered).into_vec();
    let reported = job.all_members().filter(|member| member.fault > Count::ZERO).cloned();
    delivered.extend(reported.map(|member| Delivered { member, failed: Count::ZERO, price: Amount::ZERO, is_agreed: false }));
    job.delivered = List::new(delivered).expect("two committees fit");
    give_up(block, job, spec, "no_majority")?;
    Ok("fail")
}
