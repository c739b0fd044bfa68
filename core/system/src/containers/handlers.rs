//! What 0x11 does when it is asked, and what the Dispatcher asks it.

use super::api::{Class, Decided, GetClass, GetImage, ImageSet, ListImages, Listed, SetImage};
use super::state;
use super::state::Image;
use crate::actor::{Context, Handle};
use crate::market::classes;
use crate::market::container::ContainerJob;
use crate::market::request::Request;
use crate::schema::Emit;
use cowboy_state::Step;
use cowboy_types::job::{JobKind, JobSpec, Resources};
use cowboy_types::{Abort, Hash, List, error};

/// The most images of one answer.
const LISTED: usize = 64;

impl Handle for SetImage {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { digest, allowed, name } = self;
        state::images().insert(context.world, &digest.0)?;
        context.world.write(state::image_key(&digest), &Image { is_allowed: allowed, name, since: context.height });
        ImageSet { digest, allowed }.emit(context.world);
        Ok(())
    }
}

impl Handle for GetImage {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<Decided>> {
        let Self { digest } = self;
        let image = state::image(context.world, &digest)?;
        Ok(image.map(|image| Decided { allowed: image.is_allowed, name: image.name, since: image.since }))
    }
}

impl Handle for ListImages {
    fn handle(self, context: &mut Context<'_>) -> Step<List<Listed, LISTED>> {
        let first = self.first.map_or_else(Vec::new, |first| first.0.to_vec());
        let names = state::images().list(context.world, &first, LISTED)?;
        context.charge_records(names.len());
        let digests: Vec<Hash> = names.iter().map(|name| Hash(name[..].try_into().expect("the directory lists digests"))).collect();
        context.world.require(&digests.iter().map(state::image_key).collect::<Vec<_>>())?;
        let mut found = Vec::new();
        for digest in digests {
            let image = state::image(context.world, &digest)?.expect("a listed image has a record");
            found.push(Listed { digest, allowed: image.is_allowed, name: image.name, since: image.since });
        }
        Ok(List::new(found).expect("the list is bounded"))
    }
}

impl Handle for GetClass {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<Class>> {
        let found = classes::of(&context.params.containers, &self.name);
        Ok(found.map(|Resources { cpu_millicores, memory_mib, scratch_mib, seconds }| Class {
            cpu_millicores,
            memory_mib,
            scratch_mib,
            max_duration_sec: seconds,
        }))
    }
}

/// Whether a job's container may run: its image stands in the registry, unless the job requires a trusted environment (003 §12.2).
pub(crate) fn require_allowed(context: &mut Context<'_>, spec: &JobSpec) -> Step<()> {
    if spec.kind != JobKind::Container {
        return Ok(());
    }
    context.spend_reading(spec.request.len())?;
    let request = Request::read(&spec.request).map_err(Abort::from)?;
    let container = ContainerJob::read(&request, &context.params.containers).map_err(|_| error::CONTAINER_INVALID)?;
    let is_allowed = state::image(context.world, &container.digest)?.is_some_and(|image| image.is_allowed);
    if is_allowed || spec.verification.is_tee_required { Ok(()) } else { Err(error::IMAGE_NOT_ALLOWED.into()) }
}
