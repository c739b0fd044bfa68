//! What the revealed results of members come to: the verdict on each, and the result that stands (002 §8; 003 §5.3). Reads the state, and changes
//! only the record of the job.

use super::state;
use crate::market::embeddings;
use crate::market::judge::{self, Judge, Judgement, Rules, Submission};
use bytes::Bytes;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::job::{Job, JobSpec, Member, Verdict};
use cowboy_types::units::Count;
use cowboy_types::{Hash, List, Text};

/// The rules by which a job's results are judged where `threshold` must agree.
pub(super) fn rules(world: &World, params: &Params, job: &Job, threshold: usize) -> Result<Rules, Miss> {
    Ok(Rules {
        threshold,
        submitted_seconds: job.submitted_ms.0 / 1_000,
        similarity: params.jobs.similarity_default,
        embedding_model: embeddings::embedding_model(world)?,
        entropy: params.jobs.entropy_min,
    })
}

/// What the results of some members come to where `threshold` must agree, and whose results they are: places among the members.
pub(super) fn judged(
    world: &World,
    params: &Params,
    job: &Job,
    spec: &JobSpec,
    members: &[Member],
    threshold: usize,
) -> Result<(Vec<usize>, Judgement), Miss> {
    let places: Vec<usize> = (0..members.len()).filter(|place| is_judged(&members[*place])).collect();
    let outputs: Vec<Bytes> =
        places.iter().map(|place| state::output(world, &job.id, &members[*place].output)).collect::<Result<_, Miss>>()?;
    let submissions: Vec<Submission<'_>> =
        places.iter().zip(&outputs).map(|(place, output)| submission(&members[*place], output)).collect();
    let judged = judge::judge(spec, &submissions, &rules(world, params, job, threshold)?);
    Ok((places, judged))
}

/// The places of the members whose results as many as must agree share, whatever the job's checks say: a committee that says the same is at
/// fault for no check (decision 323). A runner alone agrees with nobody.
pub(super) fn agreed_but_for_checks(
    world: &World,
    params: &Params,
    job: &Job,
    spec: &JobSpec,
    members: &[Member],
    threshold: usize,
) -> Result<Vec<usize>, Miss> {
    if spec.verification.mode.is_single() {
        return Ok(Vec::new());
    }
    let mut free = spec.clone();
    let comparing = spec.verification.checks.iter().filter(|check| judge::compares(check)).cloned().collect();
    free.verification.checks = List::new(comparing).expect("fewer fit");
    free.schema.data_format = Text::default();
    let (places, judged) = judged(world, params, job, &free, members, threshold)?;
    Ok(places.into_iter().zip(judged.verdicts).filter(|(_, verdict)| *verdict == Verdict::Accepted).map(|(place, _)| place).collect())
}

/// A member's result as it is judged.
pub(super) fn submission<'a>(member: &Member, output: &'a [u8]) -> Submission<'a> {
    Submission { output, committed_at: member.committed_at, is_attested: member.is_attested }
}

/// Whether a member's result is one to judge: revealed, no report of a fault, not proven dishonest already.
fn is_judged(member: &Member) -> bool {
    member.output != Hash::ZERO && member.fault == Count::ZERO && member.verdict != Verdict::Dishonest
}

/// Notes which of the first committee agree with the result that the further one accepted.
pub(super) fn compare(world: &World, job: &mut Job, spec: &JobSpec, rules: &Rules, accepted: Submission<'_>) -> Result<(), Miss> {
    let mut earlier = job.earlier.to_vec();
    let both = Rules { threshold: 2, ..*rules };
    let judge = Judge::new(spec, &both);
    for member in earlier.iter_mut().filter(|member| member.verdict == Verdict::Differs) {
        let output: Bytes = state::output(world, &job.id, &member.output)?;
        let own = Submission { output: &output, committed_at: member.committed_at, is_attested: member.is_attested };
        if judge.judge(&[accepted, own]).accepted.is_some() {
            member.verdict = Verdict::Accepted;
        }
    }
    job.earlier = List::new(earlier).expect("as many members fit");
    Ok(())
}

/// Modelled execution time of judging the results of both committees, in ns: by their bytes, and what the job's checks compare.
pub(super) fn weight(world: &World, params: &Params, job: &Job, spec: &JobSpec) -> Result<u64, Miss> {
    let revealed = job.all_members().filter(|member| member.output != Hash::ZERO);
    let mut bytes: u64 = 0;
    for member in revealed {
        let output = state::output(world, &job.id, &member.output)?;
        bytes = bytes.saturating_add(u64::try_from(output.len()).unwrap_or(u64::MAX));
    }
    Ok(judge::weight(&params.weights, spec, bytes))
}
