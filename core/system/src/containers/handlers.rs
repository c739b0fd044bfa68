//! What 0x11 does when it is asked, and what the Dispatcher asks it.

use super::api::{Decided, GetImage, ImageSet, SetImage};
use super::state;
use super::state::Image;
use crate::actor::{Context, Handle};
use crate::market::request::Request;
use crate::schema::Emit;
use cowboy_state::Step;
use cowboy_types::cbor::Value;
use cowboy_types::job::{JobKind, JobSpec};
use cowboy_types::{Abort, Hash, error};

/// What separates an image's name from its digest.
const SEPARATOR: &str = "@sha256:";

impl Handle for SetImage {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { digest, allowed, name } = self;
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

/// The digest in an image's name, `name@sha256:` and 64 lowercase digits: a tag may mean something else tomorrow.
fn digest_of(image: &str) -> Option<Hash> {
    let (name, digits) = image.split_once(SEPARATOR)?;
    let is_plain = !name.is_empty() && digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let mut digest = [0; 32];
    for (place, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    is_plain.then_some(Hash(digest))
}

/// Whether a job's container may run: its image is named by its digest, stands in the registry unless the job requires a trusted environment, and
/// has no network (003 §12.2).
pub(crate) fn require_allowed(context: &mut Context<'_>, spec: &JobSpec) -> Step<()> {
    if spec.kind != JobKind::Container {
        return Ok(());
    }
    context.spend_reading(spec.request.len())?;
    let request = Request::read(&spec.request).map_err(Abort::from)?;
    if request.work.get("network").is_some_and(|network| !matches!(network.as_text(), Some("" | "none"))) {
        return Err(error::JOB_INVALID.into());
    }
    let image = request.work.get("image").and_then(Value::as_text).unwrap_or_default();
    let digest = digest_of(image).ok_or(error::IMAGE_NOT_ALLOWED)?;
    let is_allowed = state::image(context.world, &digest)?.is_some_and(|image| image.is_allowed);
    if is_allowed || spec.verification.is_tee_required { Ok(()) } else { Err(error::IMAGE_NOT_ALLOWED.into()) }
}
