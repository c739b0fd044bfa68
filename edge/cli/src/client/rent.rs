//! `cowboy rent`: what an actor owes for its storage, and bringing back what was evicted.

use super::{method::instruction, session::Session};
use crate::send::{self, Terms};
use clap::Subcommand;
use cowboy_api::{Hex, HexAddress, HexBytes, error::NOT_FOUND, model};
use cowboy_console::{amount, failure::Failure, output::table, payload};
use cowboy_params::Params;
use cowboy_system::storage::{self, chunks, rent};
use cowboy_types::{Address, Amount, keccak256};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
#[command(
    after_help = format!("Anybody can bring an evicted actor back. Every full node keeps what it pruned for {} rent epochs; an archive lasts longer:
  cowboy rent restore escrow                      # when it is dormant, with the node's chunks
  cowboy rent pay escrow                          # its debt and the catch-up fee
  cowboy rent archive escrow --out escrow.json    # before it is evicted
  cowboy rent restore escrow --from escrow.json   # with the archive's chunks", chunks::KEPT_EPOCHS)
)]
pub(crate) enum Rent {
    /// Print an actor's debt and deposit
    Show {
        /// The actor: an address, or an actor of this folder
        actor: String,
    },
    /// Pay an actor's debt and the catch-up fee; with an amount, pay its rent in advance
    Pay {
        /// The actor: an address, or an actor of this folder
        actor: String,
        /// The payment in advance: base units, or CBY like 10cby
        amount: Option<String>,
        #[command(flatten)]
        terms: Terms,
    },
    /// Save an actor's storage to a file, to restore it after an eviction
    Archive {
        /// The actor: an address, or an actor of this folder
        actor: String,
        /// The file
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Restore the storage of an evicted actor, from the node's copies or from an archive of its last state
    Restore {
        /// The actor: an address, or an actor of this folder
        actor: String,
        /// The archive [default: the node's copies]
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        #[command(flatten)]
        terms: Terms,
    },
}

/// An actor's storage in the pieces in which the chain prunes it.
#[derive(Debug, Serialize, Deserialize)]
struct Archive {
    actor: HexAddress,
    chunks: Vec<Vec<(HexBytes, HexBytes)>>,
}

impl Rent {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Show { actor } => show(session, &session.address(&actor)?).await,
            Self::Pay { actor, amount, terms } => pay(session, &session.address(&actor)?, amount.as_deref(), &terms).await,
            Self::Archive { actor, out } => archive(session, session.address(&actor)?, out).await,
            Self::Restore { actor, from, terms } => restore(session, &session.address(&actor)?, from.as_deref(), &terms).await,
        }
    }
}

async fn owed(session: &Session, actor: &Address) -> Result<model::Rent, Failure> {
    Ok(session.client.get(&format!("/actor/{actor}/rent")).await?)
}

/// Prints what an actor owes, for what, and what it has paid.
pub(super) async fn show(session: &Session, actor: &Address) -> Result<(), Failure> {
    let (owed, params) = (owed(session, actor).await?, session.client.params().await?);
    session.output.result(&owed, describe(&owed, &params));
    Ok(())
}

async fn call(session: &Session, method: &str, argument: &serde_json::Value, value: Amount, terms: &Terms) -> Result<send::Sent, Failure> {
    let instruction = instruction(storage::NUMBER, method, argument, value)?;
    send::send(&session.client, &session.key()?, instruction, terms).await
}

async fn pay(session: &Session, actor: &Address, ahead: Option<&str>, terms: &Terms) -> Result<(), Failure> {
    let argument = json!({ "actor": actor.to_string() });
    let (method, value) = match ahead {
        Some(text) => ("prepay", amount::argument(text)?),
        None => {
            let debt = owed(session, actor).await?.debt;
            if debt == 0 {
                return Err(Failure::refused(format!("{actor} owes nothing"), "give an amount to pay its rent in advance"));
            }
            ("pay_debt", rent::with_catch_up(&session.client.params().await?, Amount(debt)))
        }
    };
    session.output.progress(format_args!("Paying {}.", amount::cby(value.get())));
    let sent = call(session, method, &argument, value, terms).await?;
    session.output.result(&sent, format_args!("Transaction hash: {}", sent.tx_hash));
    Ok(())
}

async fn archive(session: &Session, actor: Address, out: PathBuf) -> Result<(), Failure> {
    let whole: model::StoragePage = session.client.all(&format!("/actors/{actor}/storage")).await?;
    let entries: Vec<_> = whole.entries.into_iter().map(|entry| (entry.key_bytes, entry.value_bytes)).collect();
    let count = entries.len();
    let chunks = chunks::chunks(entries, |(key, value)| key.0.len() + value.0.len());
    let archive = Archive { actor: Hex(actor), chunks };
    let text = serde_json::to_string(&archive).expect("an archive is JSON");
    std::fs::write(&out, text).map_err(Failure::file(&out))?;
    session.output.result(
        &json!({ "actor": actor.to_string(), "entries": count, "chunks": archive.chunks.len(), "file": out }),
        format_args!("{} of {actor} in {}", amount::counted(count, "entry"), out.display()),
    );
    Ok(())
}

/// A chunk's number, and its entries.
type Piece = (u64, Vec<(HexBytes, HexBytes)>);

async fn restore(session: &Session, actor: &Address, from: Option<&Path>, terms: &Terms) -> Result<(), Failure> {
    let missing = match missing(session, actor).await {
        // The node has a list of pruned pieces for an actor that was evicted only.
        Err(Failure::Api(error)) if error.code == NOT_FOUND.code => {
            let owed = owed(session, actor).await?;
            return Err(Failure::Refused {
                what: format!("nothing of {actor} is missing: its state is {}", owed.state),
                fix: "restore is for an actor whose storage was evicted; `cowboy rent show` tells what this one owes".into(),
            });
        }
        missing => missing?,
    };
    let kept = from.map(|path| load(actor, path)).transpose()?;
    for (done, chunk) in (1..).zip(&missing) {
        let (number, entries) = match &kept {
            Some(archive) => of_archive(archive, chunk)?,
            None => of_node(session, chunk).await?,
        };
        let argument = json!({ "actor": actor.to_string(), "chunk": number, "entries": entries });
        match call(session, "restore", &argument, Amount::ZERO, terms).await {
            Ok(_) => {}
            // Somebody put this one back before.
            Err(Failure::Api(error)) if error.slug == "invalid_argument" => {}
            Err(failure) => return Err(failure),
        }
        session.output.progress(format_args!("chunk {number} is restored, {} are missing", missing.len() - done));
    }
    show(session, actor).await
}

/// The chunks that nobody restored yet.
async fn missing(session: &Session, actor: &Address) -> Result<Vec<model::MissingChunk>, Failure> {
    let missing: model::MissingChunks = session.client.all(&format!("/actor/{actor}/rent/chunks")).await?;
    Ok(missing.chunks)
}

fn load(actor: &Address, from: &Path) -> Result<Archive, Failure> {
    let archive: Archive = serde_json::from_value(payload::json(&format!("@{}", from.display()))?).map_err(|error| {
        Failure::argument(format!("{} is not an archive: {error}", from.display()), "give a file that `cowboy rent archive` wrote")
    })?;
    if archive.actor.0 != *actor {
        return Err(Failure::argument(format!("the archive is of {}", archive.actor), "give that actor, or this actor's own archive"));
    }
    Ok(archive)
}

fn of_archive(archive: &Archive, chunk: &model::MissingChunk) -> Result<Piece, Failure> {
    let entries = usize::try_from(chunk.number).ok().and_then(|number| archive.chunks.get(number));
    let entries = entries.filter(|entries| {
        let pairs: Vec<_> = entries.iter().map(|(key, value)| (&key.0, &value.0)).collect();
        chunks::chunk_hash(&pairs) == chunk.hash.0
    });
    let wrong = || {
        let what = format!("the archive does not contain chunk {} as it was pruned", chunk.number);
        Failure::refused(what, "use an archive of the last state, or leave out --from to take the chunks from the node")
    };
    entries.cloned().map(|entries| (chunk.number, entries)).ok_or_else(wrong)
}

/// A chunk as the node has it, where that is the one that is missing.
async fn of_node(session: &Session, chunk: &model::MissingChunk) -> Result<Piece, Failure> {
    let found: model::Chunk = session.client.get(&format!("/chunk/{}", chunk.hash)).await?;
    let entries = chunks::chunk_entries(&found.bytes.0).filter(|_| keccak256(&[&found.bytes.0]) == chunk.hash.0);
    let entries = entries.ok_or_else(|| Failure::Proof(format!("the node sent a chunk other than {}", chunk.hash)))?;
    Ok((chunk.number, entries.into_iter().map(|(key, value)| (Hex(key), Hex(value))).collect()))
}

fn describe(owed: &model::Rent, params: &Params) -> String {
    let next = owed.next_epoch.map_or_else(|| "nothing is due".to_owned(), |next| format!("epoch {next}; it is {}", owed.epoch));
    table([
        ("actor", owed.actor.to_string()),
        ("state", owed.state.clone()),
        (
            "size",
            format!(
                "{}, the first {} are free; up to {} of storage",
                amount::counted(owed.size, "byte"),
                params.rent.free_bytes,
                owed.quota
            ),
        ),
        ("rent", format!("{} an epoch", amount::cby(owed.per_epoch))),
        ("next", next),
        ("prepaid", amount::cby(owed.prepaid)),
        ("debt", format!("{}, {} unpaid", amount::cby(owed.debt), amount::counted(owed.unpaid, "epoch"))),
        ("bond", amount::cby(owed.bond)),
        ("reserve", amount::cby(owed.reserve)),
        ("missing", amount::counted(owed.missing, "pruned piece")),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rent_says_what_is_free() {
        let owed = model::Rent {
            actor: Hex(Address([7; 20])),
            state: "paid".to_owned(),
            size: 12_000,
            quota: 65_536,
            per_epoch: 1_000,
            next_epoch: Some(3),
            epoch: 2,
            prepaid: 0,
            debt: 0,
            unpaid: 0,
            bond: 0,
            reserve: 0,
            missing: 0,
        };
        let shown = describe(&owed, &Params::GENESIS);
        assert!(shown.contains("12000 bytes, the first 10240 are free; up to 65536 of storage"), "{shown}");
        assert!(shown.contains("epoch 3; it is 2"), "{shown}");
    }
}
