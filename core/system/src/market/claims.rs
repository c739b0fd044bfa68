//! What a runner may claim for a job that it was drawn for: secrets and volumes.

use super::jobs;
use super::request::Request;
use crate::actor::Context;
use cowboy_state::Step;
use cowboy_types::job::{Job, JobSpec, JobStatus};
use cowboy_types::{Abort, Hash, error};

/// The job for which the sender was drawn, with what it asks for, until its commitment is due. The sender pays for the reading.
pub(crate) fn of_drawn(context: &mut Context<'_>, id: &Hash) -> Step<(Job, JobSpec, Request)> {
    let job = jobs::find(context.world, id)?.ok_or(error::JOB_NOT_FOUND)?;
    if !job.members.iter().any(|member| member.runner == context.sender) {
        return Err(error::NOT_A_MEMBER.into());
    }
    if job.status != JobStatus::Assigned || context.height > job.commit_until {
        return Err(error::WRONG_PHASE.into());
    }
    let spec: JobSpec = context.world.read(&jobs::spec_key(id))?.ok_or(error::JOB_NOT_FOUND)?;
    context.spend_reading(spec.request.len())?;
    let request = Request::read(&spec.request).map_err(Abort::from)?;
    Ok((job, spec, request))
}
