//! What an account may do in a volume. Each relay refuses by itself; a command says it in one sentence, and what to do about it.

use super::{Which, hex, local, view};
use crate::client::{secret, session::Session};
use cowboy_console::failure::Failure;
use cowboy_system::storage::NUMBER;
use cowboy_system::volumes::state;
use cowboy_system::volumes::types::{Capability, Keys};
use cowboy_types::units::Height;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, error};
use cowboy_volume::Volume;
use cowboy_volumes::Name;
use serde_json::{Value, json};

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

/// What `cowboy volume rekey` does, in words that "the volume" follows.
pub(super) const REKEY: &str = "give new keys to";

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
    /// What only the owner does, in words that "the volume" follows.
    Own(&'static str),
}

/// The volume that a command is about.
#[derive(Clone, Debug)]
pub(super) enum About {
    /// That of a name or an id.
    Volume(Which),
    /// That of a capability.
    Capability(Fixed<16>),
}

impl About {
    /// The owner of the volume; none where the chain has no such volume.
    async fn owner(&self, session: &Session) -> Result<Option<Address>, Failure> {
        let id = match self {
            Self::Volume(which) => json!(which.id(session).await?.to_string()),
            Self::Capability(id) => view(session, NUMBER, "get_cap", json!({ "capability": hex(&id.0) })).await?["volume_id"].take(),
        };
        if id.is_null() {
            return Ok(None);
        }
        let volume: Value = view(session, NUMBER, "get_volume", json!({ "volume": id })).await?;
        Ok(volume["owner"].as_str().and_then(|owner| owner.parse().ok()))
    }
}

impl super::Volume {
    /// The volume that the command uses, and what for; none where it says itself who may, or anybody may.
    pub(super) fn used(&self) -> Option<(About, Use)> {
        let (which, what) = match self {
            Self::Ls { which, .. } => (which, Use::List),
            Self::Get { which, .. } | Self::Ref { which, .. } | Self::Demand { which, .. } => (which, Use::Read),
            Self::Put { which, .. } => (which, Use::Write),
            Self::Sync { which, from, .. } => (which, if local::names_folder(from) { Use::Write } else { Use::Read }),
            Self::Rm { which, .. } => (which, Use::Remove),
            Self::Revert { which, .. } => (which, Use::Own("revert a partition of")),
            Self::SetQuota { which, .. } => (which, Use::Own("change the quota of")),
            Self::Transfer { which, .. } => (which, Use::Own("hand over")),
            Self::Delete { which, .. } => (which, Use::Own("delete")),
            Self::Undelete { which, .. } => (which, Use::Own("undelete")),
            Self::Grant { which, .. } => (which, Use::Own("grant rights to")),
            Self::Revoke { capability, .. } => return Some((About::Capability(*capability), Use::Own("revoke rights to"))),
            Self::Rekey(rekey) => (&rekey.which, Use::Own(REKEY)),
            // Anybody may pay for a volume.
            Self::Fund { .. } => return None,
            Self::Create { .. } | Self::List { .. } | Self::Info { .. } | Self::Key { .. } | Self::Access(_) => return None,
        };
        Some((About::Volume(which.clone()), what))
    }
}

/// Says that a partition is not there yet, as where its name is mistyped. A right to it is given all the same.
pub(super) async fn note_absent(session: &Session, volume: &Value, partition: &Name) -> Result<(), Failure> {
    let asked = json!({ "volume": volume, "partition": partition.partition().to_string() });
    if view(session, NUMBER, "get_partition", asked).await?.is_null() {
        let name = partition.as_str();
        session.output.progress(format_args!("the volume has no partition {name} yet: the right is of use once there is one"));
    }
    Ok(())
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

/// Refuses a use for which the rights of the session's account are not enough.
///
/// # Errors
///
/// If they are not, or the chain cannot be read.
pub(super) async fn check(session: &Session, which: &Which, volume: &Volume, what: Use) -> Result<(), Failure> {
    let rights = of(session, which, volume).await?;
    refusal(&rights, what, session.key()?.address(), volume.record().owner).map_or(Ok(()), Err)
}

/// The refusal of a use for which an account's rights are not enough; none where they are.
fn refusal(rights: &Rights, what: Use, account: Address, owner: Address) -> Option<Failure> {
    let (word, mode) = match what {
        Use::Read if !rights.reads => ("read files of", "r"),
        Use::Write if !rights.writes => ("write to", "rw"),
        Use::Remove if !rights.removes => return Some(of_owner("delete files of", account, owner)),
        // Only the owner removes.
        Use::Own(word) if !rights.removes => return Some(of_owner(word, account, owner)),
        _ => return None,
    };
    Some(Failure::refused(
        format!("{account} may not {word} the volume, which belongs to {owner}"),
        format!("ask its owner for a capability (cowboy volume grant --mode {mode}), and name it with --capability"),
    ))
}

/// The refusal of what only the owner does.
pub(super) fn of_owner(word: &str, account: Address, owner: Address) -> Failure {
    Failure::refused(
        format!("{account} may not {word} the volume, which belongs to {owner}"),
        "sign with its owner's key, without --capability, or ask its owner to do it",
    )
}

/// Whether a command may have failed because its account has no right to what it does.
fn may_lack_a_right(failure: &Failure, what: Use) -> bool {
    match failure {
        // Relays do not say why they refuse. What is the owner's alone goes to the chain.
        Failure::Node(_) => !matches!(what, Use::Own(_)),
        Failure::Api(refused) | Failure::Mistake(refused) => {
            [error::CAPABILITY_REFUSED.code, error::VOLUME_FOREIGN.code].contains(&refused.code)
        }
        _ => false,
    }
}

/// The failure of a command, or in its place what the account may not do, where relays or the chain refused for that.
pub(super) async fn explained(session: &Session, about: &About, what: Use, failure: Failure) -> Failure {
    let (true, Ok(key)) = (may_lack_a_right(&failure, what), session.key()) else { return failure };
    let which = match (what, about) {
        (Use::Own(word), _) => {
            let owner = about.owner(session).await.ok().flatten().filter(|owner| *owner != key.address());
            return owner.map_or(failure, |owner| of_owner(word, key.address(), owner));
        }
        (_, About::Volume(which)) => which,
        (_, About::Capability(_)) => return failure,
    };
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
            ("rw", Use::Remove, "may not delete files of the volume, which belongs to", "ask its owner to do it"),
            ("rw", Use::Own(REKEY), "may not give new keys to the volume, which belongs to", "ask its owner to do it"),
        ];
        for (letters, what, expected, fix) in rows {
            let said = said(letters, what).unwrap_or_default();
            assert!([expected, fix, &account.to_string(), &owner.to_string()].iter().all(|part| said.contains(*part)), "{said}");
        }
    }

    /// Every command that only an owner may give is explained where the chain says that the volume is somebody else's, and for no other reason.
    #[test]
    fn commands_of_owners_are_explained() {
        #[derive(clap::Parser)]
        struct Cli {
            #[command(subcommand)]
            volume: super::super::Volume,
        }
        let (volume, capability, holder) = ("memory", "0x11111111111111111111111111111111", "0x0000000000000000000000000000000000000001");
        let rows: [&[&str]; 8] = [
            &["revert", volume, "notes"],
            &["set-quota", volume, "1MiB"],
            &["transfer", volume, holder],
            &["delete", volume],
            &["undelete", volume],
            &["grant", volume, "notes", holder],
            &["revoke", capability],
            &["rekey", volume],
        ];
        let of = |abort: error::Abort| Failure::from(cowboy_api::ApiError::of_abort(abort));
        for arguments in rows {
            let cli = <Cli as clap::Parser>::try_parse_from([&["volume"][..], arguments].concat()).expect("it can be called so");
            let what = cli.volume.used().map(|(_, what)| what).expect("only its owner may");
            assert!(matches!(what, Use::Own(_)), "{arguments:?}: {what:?}");
            assert!(
                may_lack_a_right(&of(error::VOLUME_FOREIGN), what) && !may_lack_a_right(&of(error::VOLUME_STATE), what),
                "{arguments:?}"
            );
            assert!(!may_lack_a_right(&Failure::Node("a relay does not answer".into()), what), "{arguments:?}");
        }
        let (account, owner) = (Address([1; 20]), Address([2; 20]));
        let said = of_owner("revert a partition of", account, owner).to_string();
        assert!(said.starts_with(&format!("{account} may not revert a partition of the volume, which belongs to {owner}\n")), "{said}");
    }
}
