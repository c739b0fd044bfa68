//! `cowboy volume`: files that relays keep, and that outlive their writer (003 §7, §17.6).

pub(crate) mod access;
mod arguments;
mod backup;
mod create;
mod files;
mod folder;
mod journal;
mod keys;
mod local;
mod named;
mod part;
mod progress;
mod rekey;
mod rights;
mod show;
mod sync;
mod upload;

use super::{method::encoded_call, method::instruction, secret, session::Session};
use crate::confirm;
use crate::send::{self, Sent, Terms};
use arguments::{capability, code, name, path, size};
use backup::KeyAction;
use clap::{Args, Subcommand};
use cowboy_console::{amount, failure::Failure};
use cowboy_system::storage::NUMBER;
use cowboy_types::cbor::Value as Cbor;
use cowboy_types::units::Amount;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash};
use cowboy_volume::{Signer, Volume as Opened, VolumeError};
use cowboy_volumes::{Name, Path};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The wait before the chain is looked at again.
const PAUSE: Duration = Duration::from_millis(500);

/// How often changes are merged into what others committed meanwhile.
const MERGES: usize = 5;

/// Which volume is meant, and as whom.
#[derive(Args, Clone, Debug)]
pub(crate) struct Which {
    /// The volume: its name, or its id
    #[arg(value_name = "VOLUME")]
    volume: String,
    /// The account that created the volume of that name; where this folder knows the name, also the one that has it [default: the key's]
    #[arg(long, value_name = "ADDRESS")]
    owner: Option<String>,
    /// The capability by which you may use it
    #[arg(long, value_name = "ID", value_parser = capability)]
    capability: Option<Fixed<16>>,
    /// The file of the volume's key, where its owner keeps it
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    #[command(flatten)]
    trusted: secret::Trusted,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Volume {
    /// Create a volume: a set of files, kept by relays that the chain draws
    #[command(after_help = "Example:
  cowboy volume create memory --quota 1GiB")]
    Create {
        /// Its name: letters, digits, _, . and -
        #[arg(value_parser = name)]
        name: Name,
        /// The most bytes that it may have, like 500MiB or 1GiB
        #[arg(long, value_parser = size)]
        quota: u64,
        /// Anybody may read it
        #[arg(long, conflicts_with = "key")]
        public: bool,
        /// Keep its key in this file, and nowhere else: no job can use the volume; made where it is missing
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
        /// Shards that carry a file, and shards that may be lost, like 4+2 [default: 4+2, or less where there are few relays]
        #[arg(long, value_name = "K+M", value_parser = code)]
        code: Option<(u8, u8)>,
        /// What a relay may ask for a MiB and an epoch, in base units
        #[arg(long, default_value_t = cowboy_volumes::USUAL_PRICE)]
        max_price: u64,
        /// Epochs for which the escrow lasts when the volume is full
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
        epochs: u64,
        #[command(flatten)]
        trusted: secret::Trusted,
        #[command(flatten)]
        terms: Terms,
    },
    /// List the volumes of an account
    List {
        /// The account [default: the key's]
        account: Option<String>,
        /// The same, named as other commands name it
        #[arg(long, value_name = "ADDRESS", conflicts_with = "account")]
        owner: Option<String>,
    },
    /// Show a volume: its slots, relays, partitions and money
    Info {
        #[command(flatten)]
        which: Which,
    },
    /// Put a file or a folder into a volume
    #[command(after_help = "Example:
  cowboy volume put memory ./notes notes/")]
    Put {
        #[command(flatten)]
        which: Which,
        /// A file or a folder
        source: PathBuf,
        /// Where it goes: a path, or a directory with / at its end; for a file, a partition that is there needs no /
        to: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Make a directory of a volume have what a folder has, or a folder what a directory has
    #[command(after_help = "The folder begins with ./ or /, as no directory does.

Examples:
  cowboy volume sync memory ./notes notes/
  cowboy volume sync memory notes/ ./notes --delete --dry-run")]
    Sync {
        #[command(flatten)]
        which: Which,
        /// What is copied: a folder, or a directory of the volume
        from: String,
        /// What gets it: the other one
        to: String,
        /// Also remove what the source lacks
        #[arg(long)]
        delete: bool,
        /// Print what would be done, and do nothing
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        terms: Terms,
    },
    /// Write a file of a volume to a file, or to stdout; or a folder of a volume to a folder
    Get {
        #[command(flatten)]
        which: Which,
        /// The path of a file, or a partition or a directory in it, like notes/2026
        path: String,
        /// The file or folder to write; - for stdout
        to: PathBuf,
        #[command(flatten)]
        terms: Terms,
    },
    /// List the files of a volume
    Ls {
        #[command(flatten)]
        which: Which,
        /// A partition, or a directory in it, like notes/2026
        within: Option<String>,
        #[command(flatten)]
        terms: Terms,
    },
    /// Print the 64 bytes that stand for a file, for actors that keep them
    Ref {
        #[command(flatten)]
        which: Which,
        /// The file
        #[arg(value_parser = path)]
        path: Path,
        #[command(flatten)]
        terms: Terms,
    },
    /// Remove files
    Rm {
        #[command(flatten)]
        which: Which,
        /// Their paths
        #[arg(required = true, value_parser = path)]
        paths: Vec<Path>,
        #[command(flatten)]
        terms: Terms,
    },
    /// Go back to what a partition had before its last commit
    Revert {
        #[command(flatten)]
        which: Which,
        /// The partition
        #[arg(value_parser = name)]
        partition: Name,
        #[command(flatten)]
        terms: Terms,
    },
    /// Add to what relays are paid from
    Fund {
        #[command(flatten)]
        which: Which,
        /// Base units, or CBY like 5cby
        amount: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Change how many bytes a volume may have; its escrow has to last for that
    SetQuota {
        #[command(flatten)]
        which: Which,
        /// The most bytes that it may have, like 500MiB or 1GiB
        #[arg(value_parser = size)]
        quota: u64,
        /// What to add to the escrow: base units, or CBY like 5cby
        #[arg(long, default_value = "0")]
        amount: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Hand a volume over, which you cannot take back; all capabilities for it end
    Transfer {
        #[command(flatten)]
        which: Which,
        /// The new owner
        to: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Give a partition its next key: all its files are read with the old one and written with the new one, in one commit
    Rekey(rekey::Rekey),
    /// Back up the keys that a committee made, and take them over again
    Key {
        #[command(subcommand)]
        action: KeyAction,
    },
    /// Delete a volume; for a day that can be taken back
    Delete {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        terms: Terms,
    },
    /// Take a deletion back
    Undelete {
        #[command(flatten)]
        which: Which,
        /// What to add to the escrow: base units, or CBY like 5cby
        #[arg(long, default_value = "0")]
        amount: String,
        #[command(flatten)]
        terms: Terms,
    },
    /// Let another account use a partition
    Grant {
        #[command(flatten)]
        which: Which,
        /// The partition
        #[arg(value_parser = name)]
        partition: Name,
        /// Who may use it
        holder: String,
        /// To read, to write, or both
        #[arg(long, default_value = "r", value_parser = ["r", "w", "rw"])]
        mode: String,
        /// The bytes that it may add, like 10MiB
        #[arg(long, default_value = "0", value_parser = size)]
        max_bytes: u64,
        /// Blocks for which it may
        #[arg(long, default_value_t = 86_400)]
        blocks: u64,
        #[command(flatten)]
        terms: Terms,
    },
    /// Take a right back
    Revoke {
        /// The capability
        #[arg(value_parser = capability)]
        capability: Fixed<16>,
        #[command(flatten)]
        terms: Terms,
    },
    #[command(flatten)]
    Access(access::Access),
    /// Demand that a relay publishes a part of a file's shard that it does not serve
    Demand {
        #[command(flatten)]
        which: Which,
        /// The file
        #[arg(value_parser = path)]
        path: Path,
        /// The relay's slot
        #[arg(long)]
        slot: u8,
        /// Where the part begins in the shard
        #[arg(long, default_value_t = 0)]
        start: u64,
        /// Its length, at most 32768 [default: as much as there is]
        #[arg(long)]
        length: Option<u64>,
        #[command(flatten)]
        terms: Terms,
    },
}

/// What files of this folder about a partition of a volume are called.
fn kept_name(genesis: &Hash, volume: &Hash, partition: &Hash) -> String {
    let part = |hash: &Hash| hex::encode(&hash.0[..8]);
    format!("{}-{}-{}", part(genesis), part(volume), part(partition))
}

fn hex(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

impl Which {
    /// The volume with its relays, for the session's key.
    async fn open(&self, session: &Session) -> Result<Opened, Failure> {
        let chain = Arc::new(secret::connect(session, &self.trusted).await?);
        let signer = Signer { key: session.key()?, capability: self.capability };
        let volume = Opened::open(chain, self.id(session).await?, signer).await.map_err(|error| self.failure(error))?;
        self.learn(session, volume.id());
        Ok(volume)
    }

    /// The same as [`storage_failure`], with what the volume was called where there is none.
    fn failure(&self, error: VolumeError) -> Failure {
        match storage_failure(error) {
            Failure::Refused { what, fix } if what == VolumeError::NotFound.to_string() => {
                Failure::refused(format!("{what}: {}", self.volume), fix)
            }
            failure => failure,
        }
    }
}

/// A failure of relays or of what they gave.
fn storage_failure(error: VolumeError) -> Failure {
    match error {
        VolumeError::Chain(error) => secret::unread(error),
        VolumeError::NotFound => Failure::refused(
            error.to_string(),
            "cowboy volume list shows yours; of one that another account created, give the id, or the account with --owner",
        ),
        VolumeError::Deleted => Failure::refused(error.to_string(), "cowboy volume undelete takes it back, for a day"),
        VolumeError::NoPartition(_) => Failure::refused(
            error.to_string(),
            "the first part of a path is its partition: `cowboy volume ls VOLUME` shows those that there are, and `put` makes one",
        ),
        VolumeError::NoFile(_) => Failure::refused(error.to_string(), "cowboy volume ls shows what there is"),
        VolumeError::WrongKey(_) => Failure::refused(error.to_string(), "name the file that `volume create` made with --key"),
        VolumeError::Rekeyed(_) | VolumeError::Moved(_) => Failure::refused(error.to_string(), "give the command again"),
        VolumeError::Clash(_) => Failure::refused(error.to_string(), "give it another name, or remove the other: cowboy volume rm"),
        VolumeError::OverQuota { .. } => Failure::refused(error.to_string(), "remove files, or raise the quota: cowboy volume set-quota"),
        error => Failure::Node(error.to_string()),
    }
}

impl Volume {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        let used = self.used();
        match (self.perform(session).await, used) {
            (Err(failure), Some((about, what))) => Err(rights::explained(session, &about, what, failure).await),
            (done, _) => done,
        }
    }

    async fn perform(self, session: &Session) -> Result<(), Failure> {
        let simple = async |which: &Which, method: &str, value: Amount, terms: &Terms, done: &str| {
            changed(session, which, (method, json!({})), value, terms, done).await
        };
        match self {
            Self::Create { name, quota, public, key, code, max_price, epochs, trusted, terms } => {
                let creation = create::Creation { name, quota, public, key, code, max_price, epochs };
                create::create(session, creation, &trusted, &terms).await
            }
            Self::List { account, owner } => show::list(session, account.or(owner).as_deref()).await,
            Self::Info { which } => show::info(session, &which).await,
            Self::Put { which, source, to, terms } => files::put(session, &which, &source, &to, &terms).await,
            Self::Sync { which, from, to, delete, dry_run, terms } => {
                sync::run(session, &which, (from.as_str(), to.as_str()), sync::Options { delete, dry_run }, &terms).await
            }
            Self::Get { which, path, to, terms } => folder::get(session, &which, &path, &to, &terms).await,
            Self::Ls { which, within, terms } => files::list(session, &which, within.as_deref(), &terms).await,
            Self::Ref { which, path, terms } => files::refer(session, &which, &path, &terms).await,
            Self::Rm { which, paths, terms } => files::remove(session, &which, paths, &terms).await,
            Self::Revert { which, partition, terms } => {
                let (more, name) = (json!({ "partition": partition.partition().to_string() }), partition.as_str());
                let done = format!("has in {name} what it had before its last commit");
                changed(session, &which, ("revert", more), Amount::ZERO, &terms, &done).await
            }
            Self::Fund { which, amount, terms } => {
                let sum = amount::argument(&amount)?;
                if sum == Amount::ZERO {
                    return Err(Failure::argument("0 CBY would add nothing", "give an amount, like 5cby"));
                }
                let done = format!("has {} more to pay its relays from", amount::cby(sum.get()));
                simple(&which, "fund_volume", sum, &terms, &done).await
            }
            Self::SetQuota { which, quota, amount, terms } => {
                create::require_quota(quota)?;
                let (more, done) = (json!({ "quota": quota }), format!("may have {}", amount::bytes(quota)));
                changed(session, &which, ("set_volume_quota", more), amount::argument(&amount)?, &terms, &done).await
            }
            Self::Transfer { which, to, terms } => transfer(session, &which, &to, &terms).await,
            Self::Rekey(rekey) => rekey::run(session, rekey).await,
            Self::Key { action } => backup::run(session, action).await,
            Self::Delete { which, terms } => {
                simple(&which, "delete_volume", Amount::ZERO, &terms, "is deleted; for a day `cowboy volume undelete` takes it back").await
            }
            Self::Undelete { which, amount, terms } => {
                simple(&which, "undelete_volume", amount::argument(&amount)?, &terms, "is there again").await
            }
            Self::Grant { which, partition, holder, mode, max_bytes, blocks, terms } => {
                let until = session.client.health().await?.height.saturating_add(blocks);
                let argument = json!({
                    "volume": which.id(session).await?.to_string(),
                    "partition": partition.partition().to_string(),
                    "holder": session.address(&holder)?.to_string(),
                    "mode": mode,
                    "max_bytes": max_bytes,
                    "until": until,
                });
                grant(session, &argument, (&partition, mode.as_str(), until), &terms).await
            }
            Self::Revoke { capability, terms } => {
                let argument = json!({ "capability": hex(&capability.0) });
                session.submit(instruction(NUMBER, "revoke_cap", &argument, Amount::ZERO)?, &terms).await
            }
            Self::Access(_) => Err(access::hand_over()),
            Self::Demand { which, path, slot, start, length, terms } => {
                files::demand(session, &which, &path, (slot, start, length), &terms).await
            }
        }
    }
}

/// Sends a call about a volume, and says what it did.
async fn changed(
    session: &Session,
    which: &Which,
    (method, more): (&str, Value),
    value: Amount,
    terms: &Terms,
    done: &str,
) -> Result<(), Failure> {
    let mut argument = more;
    argument["volume"] = json!(which.id(session).await?.to_string());
    session.submit(instruction(NUMBER, method, &argument, value)?, terms).await?;
    if !terms.no_wait {
        session.output.progress(format_args!("{} {done}", which.volume));
    }
    Ok(())
}

/// Hands a volume over. The chain tells the new owner neither its name nor those of its partitions.
async fn transfer(session: &Session, which: &Which, to: &str, terms: &Terms) -> Result<(), Failure> {
    let (to, id) = (session.address(to)?.to_string(), which.id(session).await?);
    let question = format!("This hands {} over to {to}, and you cannot take it back.", which.volume);
    confirm::irreversible(&question, terms.yes)?;
    let done =
        format!("belongs to {to}, and has no capabilities any more; tell its new owner the id, {id}, and the names of its partitions");
    changed(session, which, ("transfer_volume", json!({ "to": to })), Amount::ZERO, terms, &done).await
}

async fn grant(session: &Session, argument: &Value, (partition, mode, until): (&Name, &str, u64), terms: &Terms) -> Result<(), Failure> {
    rights::note_absent(session, &argument["volume"], partition).await?;
    let sent = act(session, "issue_cap", argument, Amount::ZERO, terms).await?;
    let given = event(&sent, "capability.issued", "capability").unwrap_or(Value::Null);
    let text = format!("capability {}: {mode} of {} until height {until}", given.as_str().unwrap_or("?"), partition.as_str());
    session.output.result(&json!({ "capability": given, "until": until, "tx_hash": sent.tx_hash }), text);
    Ok(())
}

/// Sends a call of 0x0A and waits for its receipt.
async fn act(session: &Session, method: &str, argument: &Value, value: Amount, terms: &Terms) -> Result<Sent, Failure> {
    let terms = Terms { no_wait: false, ..terms.clone() };
    send::send(&session.client, &session.key()?, instruction(NUMBER, method, argument, value)?, &terms).await
}

/// The same with an argument that is encoded already.
async fn act_encoded(session: &Session, method: &'static str, argument: &Cbor, terms: &Terms) -> Result<Sent, Failure> {
    let terms = Terms { no_wait: false, ..terms.clone() };
    send::send(&session.client, &session.key()?, encoded_call(NUMBER, method, argument.encode(), Amount::ZERO)?, &terms).await
}

/// A field of an event of a receipt.
fn event(sent: &Sent, name: &str, field: &str) -> Option<Value> {
    let receipt = sent.receipt.as_ref()?;
    receipt.events.iter().find(|event| event.name == name).map(|event| event.value[field].clone())
}

async fn view(session: &Session, actor: u8, method: &str, argument: Value) -> Result<Value, Failure> {
    Ok(session.client.view(&Address::system(actor), method, &argument).await?.result)
}
