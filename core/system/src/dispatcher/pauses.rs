//! Pauses of the actors that a job needs beside those of the market: 0x04 for its secrets, 0x0A and 0x0B for its volumes (decision 749).

use crate::market::request::Request;
use crate::standstill::{Clock, MARKET, SECRETS, VOLUMES};
use crate::{secrets, volumes};
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::job::{Job, JobSpec};
use cowboy_types::units::Height;

/// Which pause of what a job needs its runners met since they were drawn, in the word for which the job may end, where they met one. Beside it the modelled
/// time of looking for it, in ns.
pub(super) fn since_draw(
    world: &World,
    params: &Params,
    (job, spec): (&Job, &JobSpec),
    height: Height,
) -> Result<(Option<&'static str>, u64), Miss> {
    // The height of the draw that the job has is later by the blocks for which the market stood still since: no more than since the submission.
    let drawn_at = Height(job.drawn_at.0.saturating_sub(MARKET.read(world)?.within(job.submitted_at, height)));
    let met = |clock: Clock, reason: &'static str| -> Result<Option<&'static str>, Miss> {
        Ok((clock.read(world)?.within(drawn_at, height) > 0).then_some(reason))
    };
    let (of_secrets, of_volumes) = (met(SECRETS, "secrets_paused")?, met(VOLUMES, "volumes_paused")?);
    if of_secrets.is_none() && of_volumes.is_none() {
        return Ok((None, 0));
    }
    let bytes = u64::try_from(spec.request.len()).unwrap_or(u64::MAX);
    let weight = bytes.saturating_mul(params.weights.argument_byte);
    let Ok(request) = Request::read(&spec.request) else { return Ok((None, weight)) };
    let mounts = volumes::mounts::needed(world, &request, job.submitter)?;
    let needs_secrets = mounts.keys || secrets::jobs::are_named(&request);
    let pause = of_secrets.filter(|_| needs_secrets).or(of_volumes.filter(|_| mounts.rights));
    Ok((pause, weight))
}
