//! What an account may do in a volume. Each relay refuses by itself; a command says it in one sentence, and what to do about it.

use super::{Which, hex, sync};
use crate::client::{secret, session::Session};
use cowboy_console::failure::Failure;
use cowboy_system::volumes::state;
use cowboy_system::volumes::types::{Capability, Keys};
use cowboy_types::units::Height;
use cowboy_types::{Address, Hash, error};
use cowboy_volume::Volume;

/// What an account may do in a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// The only partition for which that holds; none where it holds for all.
    pub partition: Option<Hash>,
    /// Read.
    pub reads: bool,
    /// Add and replace files.
    pub writes: bool,
    /// Remove them.
    pub removes: bool,
}

/// What a command does in a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// List names, which every right includes.
    List,
    /// Read files.
    Read,
    /// Add and replace files.
    Write,
    /// Remove files.
    Remove,
}

impl super::Volume {
    /// The volume whose relays the command asks, and what for; none where it asks none, or says itself who may.
    pub(super) fn used(&self) -> Option<(Which, Use)> {
        let (which, what) = match self {
            Self::Ls { which, .. } => (which, Use::List),
            Self::Get { which, .. } | Self::Ref { which, .. } | Self::Demand { which, .. } => (which, Use::Read),
            Self::Put { which, .. } => (which, Use::Write),
            Self::Sync { which, from, .. } => (which, if sync::is_local(from) { Use::Write } else { Use::Read }),
            Self::Rm { which, .. } => (which, Use::Remove),
            _ => return None,
        };
        Some((which.clone(), what))
    }
}

/// What the session's account may do in a volume.
///
/// # Errors
///
/// If that is nothing, or the chain cannot be read.
pub(super) async fn of(session: &Session, which: &Which, volume: &Volume) -> Result<Rights, Failure> {
    let (owner, account) = (volume.record().owner, session.key()?.address());
    if owner == account {
        return Ok(Rights { partition: None, reads: true, writes: true, removes: true });
    }
    if let Some(id) = &which.capability {
        let found = volume.chain().read(&[state::capability_key(id)]).await.map_err(secret::unread)?;
        let given = found.read::<Capability>(0).map_err(secret::unread)?;
        let given = given.filter(|given| given.volume == *volume.id() && given.is_held_by(account, Height(found.height)));
        let ended = || {
            Failure::refused(
                format!(
                    "{account} may not open the volume by capability {}: it was taken back, is over, or is of another account or volume",
                    hex(&id.0)
                ),
                format!("ask {owner}, who owns the volume, for another one: cowboy volume grant"),
            )
        };
        let given = given.ok_or_else(ended)?;
        let letters = given.mode.letters();
        let (reads, writes) = (letters.contains('r'), letters.contains('w'));
        return Ok(Rights { partition: Some(given.partition), reads, writes, removes: false });
    }
    if volume.record().keys == Keys::Public {
        return Ok(Rights { partition: None, reads: true, writes: false, removes: false });
    }
    Err(Failure::refused(
        format!("{account} may not open the volume: the volume belongs to {owner}"),
        "ask its owner for a capability (cowboy volume grant), and name it with --capability",
    ))
}

/// The refusal of a use for which an account's rights are not enough; none where they are.
fn refusal(rights: &Rights, what: Use, account: Address, owner: Address) -> Option<Failure> {
    let (word, mode) = match what {
        Use::Read if !rights.reads => ("read files of", "r"),
        Use::Write if !rights.writes => ("write to", "rw"),
        Use::Remove if !rights.removes => {
            let what = format!("only the owner deletes files: the volume belongs to {owner}, and not to {account}");
            return Some(Failure::refused(what, "ask its owner to delete them"));
        }
        _ => return None,
    };
    Some(Failure::refused(
        format!("{account} may not {word} the volume, which belongs to {owner}"),
        format!("ask its owner for a capability (cowboy volume grant --mode {mode}), and name it with --capability"),
    ))
}

/// The failure of a command, or in its place what the account may not do, where relays or the chain refused for that.
pub(super) async fn explained(session: &Session, which: &Which, what: Use, failure: Failure) -> Failure {
    let may_be = match &failure {
        Failure::Node(_) => true,
        Failure::Api(refused) | Failure::Mistake(refused) => refused.code == error::CAPABILITY_REFUSED.code,
        _ => false,
    };
    let (true, Ok(key)) = (may_be, session.key()) else { return failure };
    let Ok(volume) = which.open(session).await else { return failure };
    match of(session, which, &volume).await {
        Ok(rights) => refusal(&rights, what, key.address(), volume.record().owner).unwrap_or(failure),
        Err(refused @ Failure::Refused { .. }) => refused,
        Err(_) => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever lacks a right is told which one, whose volume it is, and how to get it; whoever has it is told nothing.
    #[test]
    fn a_refusal_names_account_owner_and_remedy() {
        let (account, owner) = (Address([1; 20]), Address([2; 20]));
        let rights = |letters: &str| {
            let (reads, writes, removes) = (letters.contains('r'), letters.contains('w'), letters.contains('o'));
            Rights { partition: None, reads, writes, removes }
        };
        let said = |letters: &str, what: Use| refusal(&rights(letters), what, account, owner).map(|failure| failure.to_string());
        for (letters, what) in [("", Use::List), ("r", Use::Read), ("w", Use::Write), ("rwo", Use::Remove)] {
            assert_eq!(said(letters, what), None, "{letters} {what:?}");
        }
        let rows = [
            ("w", Use::Read, "may not read files of the volume, which belongs to", "--mode r)"),
            ("r", Use::Write, "may not write to the volume, which belongs to", "--mode rw)"),
            ("rw", Use::Remove, "only the owner deletes files: the volume belongs to", "ask its owner to delete them"),
        ];
        for (letters, what, expected, fix) in rows {
            let said = said(letters, what).unwrap_or_default();
            assert!([expected, fix, &account.to_string(), &owner.to_string()].iter().all(|part| said.contains(*part)), "{said}");
        }
    }
}
