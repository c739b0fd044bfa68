//! Whether a release has to be answered. One rule for the chain, which takes demands and punishes silence, and for the members, who answer: what one
//! of them refuses the other does not blame.

use super::state;
use super::types::{Release, Secret};
use crate::standstill::{SECRETS, Standstill};
use cowboy_secrets::Kind;
use cowboy_state::{Key, Miss, World};
use cowboy_types::units::{Count, Height};

/// Why nobody has to answer a release any more. None of these is ever undone for a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The recipient said who answered.
    Closed,
    /// Its deadline passed.
    Late,
    /// The secret or the version was deleted.
    Deleted,
    /// The secret was paused after the release was opened.
    Paused,
}

impl Over {
    /// What happened.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Closed => "it was closed",
            Self::Late => "its deadline passed",
            Self::Deleted => "the secret or the version was deleted",
            Self::Paused => "the secret was paused after the release was opened",
        }
    }
}

/// What is released, as the state has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The secret, where it is there.
    pub secret: Option<Secret>,
    /// Whether the version is there.
    pub has_version: bool,
}

impl Source {
    /// The records that say it: the secret's, and the version's.
    pub fn keys(release: &Release) -> [Key; 2] {
        let identity = &release.identity;
        let (account, name) = (identity.account, &identity.name_hash);
        [state::secret_key(account, name), state::version_key(account, name, Count(identity.version))]
    }
}

/// Why nobody has to answer a release at a height; none where members have to. Time is that of the clock of secrets, which stood still for so long. The key
/// of a partition is made by the committee, so nothing but time ends its release.
pub fn over(release: &Release, source: &Source, still: &Standstill, height: Height) -> Option<Over> {
    if release.served.is_some() {
        return Some(Over::Closed);
    }
    if height > release.answered_until(still) {
        return Some(Over::Late);
    }
    if release.identity.kind == Kind::Partition {
        return None;
    }
    match &source.secret {
        Some(secret) if source.has_version => (secret.pauses != release.pauses).then_some(Over::Paused),
        _ => Some(Over::Deleted),
    }
}

/// The same of the state.
pub(super) fn over_now(world: &World, release: &Release, height: Height) -> Result<Option<Over>, Miss> {
    let keys = Source::keys(release);
    world.require(&keys)?;
    let [secret, version] = &keys;
    let source = Source { secret: world.read(secret)?, has_version: world.get(version)?.is_some() };
    Ok(over(release, &source, &SECRETS.read(world)?, height))
}
