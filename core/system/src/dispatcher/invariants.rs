//! What holds between the records of jobs, their lists, and the runners that work on them.

use super::{NUMBER, state};
use crate::market::runners;
use crate::records::{Broken, Records, address_of, equal, holds};
use cowboy_state::Directory;
use cowboy_types::job::{Job, JobStatus, Runner, Verdict};
use cowboy_types::{Address, Hash};

/// What 0x02 owes to others: the escrow of jobs, and what is held for their answers.
pub fn owed(records: &Records<'_>) -> Result<u128, Broken> {
    let jobs = records.of::<Job>(NUMBER, "job:")?;
    Ok(jobs.iter().map(|(_, job)| u128::from(job.escrow.0) + u128::from(job.callback_held.0)).sum())
}

/// 0x02 has what it owes; every job stands once in the agenda and where its status puts it, with what it asked for; and runners count the jobs
/// that they work on.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    records.covers("0x02 has the escrow of jobs", Address::system(NUMBER), owed(records)?)?;
    let jobs: Vec<Job> = records.of::<Job>(NUMBER, "job:")?.into_iter().map(|(_, job)| job).collect();
    lists(records, &jobs)?;
    for job in &jobs {
        let parts = [state::spec_key(&job.id), state::candidates_key(&job.id)];
        holds("a job has what it asked for, and its candidates", parts.iter().all(|key| records.bytes(key).is_some()), &job.id)?;
    }
    for (name, _) in records.named(NUMBER, "output:") {
        holds("a result is of a job", jobs.iter().any(|job| name.starts_with(&job.id.0)), &name)?;
    }
    for (name, runner) in records.of::<Runner>(runners::NUMBER, "runner:")? {
        working(records, &jobs, address_of(name)?.0, &runner)?;
    }
    Ok(())
}

/// The lists of jobs name those that belong there.
fn lists(records: &Records<'_>, jobs: &[Job]) -> Result<(), Broken> {
    let mut due: Vec<Vec<u8>> = jobs.iter().map(|job| state::by_height(job.due, &job.id)).collect();
    due.sort_unstable();
    equal("every job stands once in the agenda, at its height", &names(records, state::agenda()), &due)?;
    let of_status = |status: JobStatus| {
        let mut ids: Vec<Hash> = jobs.iter().filter(|job| job.status == status).map(|job| job.id).collect();
        ids.sort_unstable();
        ids
    };
    let listed = |lists: &[Directory]| {
        let mut ids: Vec<Hash> = lists.iter().flat_map(|list| records.names(*list)).map(|name| state::job_of(&name)).collect();
        ids.sort_unstable();
        ids
    };
    let drawing = of_status(JobStatus::Drawing);
    equal("what waits for its draw is listed", &listed(&[state::draws(), state::immediate()]), &drawing)?;
    let waiting = of_status(JobStatus::Waiting);
    equal("what waits for a free slot is listed", &listed(&[state::waiting()]), &waiting)?;
    equal("what waits for a free slot is listed with what it offers", &listed(&[state::offers()]), &waiting)?;
    let answers = listed(&[state::callbacks()]);
    holds("an answer that waits is of a job", answers.iter().all(|id| jobs.iter().any(|job| job.id == *id)), &answers)
}

/// A runner counts and lists the jobs that it works on.
fn working(records: &Records<'_>, jobs: &[Job], address: Address, runner: &Runner) -> Result<(), Broken> {
    let is_working = |job: &&Job| {
        let is_open = matches!(job.status, JobStatus::Assigned | JobStatus::Revealing);
        is_open && job.members.iter().any(|member| member.runner == address && member.verdict != Verdict::TimedOut)
    };
    let mut mine: Vec<Vec<u8>> = jobs.iter().filter(is_working).map(|job| job.id.0.to_vec()).collect();
    mine.sort_unstable();
    equal("a runner counts the jobs it works on", &runner.active_jobs.0, &u64::try_from(mine.len()).unwrap_or(u64::MAX))?;
    equal("a runner lists the jobs it works on", &names(records, runners::jobs_of(address)), &mine)
}

fn names(records: &Records<'_>, directory: Directory) -> Vec<Vec<u8>> {
    records.names(directory).iter().map(|name| name.to_vec()).collect()
}
