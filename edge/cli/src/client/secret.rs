//! `cowboy secret`: values that only a committee can open, for whom their policy names (003 §9).

mod receipts;
mod release;
mod reseal;
mod sealing;
mod shown;

use super::{labels, listing, method::instruction, paid, session::Session};
use crate::send::{self, Terms};
use clap::{Args, Subcommand};
use cowboy_api::HexBytes;
use cowboy_console::{amount, failure::Failure};
use cowboy_secrets::policy::{Actors, Attestation, Policy, Runners};
use cowboy_secrets::{Name, PointG2};
use cowboy_service::{Chain, ChainError};
use cowboy_system::secrets::types::ReleaseKey;
use cowboy_system::secrets::{NUMBER, state};
use cowboy_types::entitlement::domain;
use cowboy_types::environment::{Environment, Measurement};
use cowboy_types::job::JobKind;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, List, Text};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;
use zeroize::Zeroizing;

pub(super) use release::{close, collected, opened};

/// How long the first committee of a devnet is waited for.
const COMMITTEE_PATIENCE: Duration = Duration::from_secs(120);

/// The wait before the chain is looked at again.
const PAUSE: Duration = Duration::from_millis(500);

/// Which chain is meant. Without these the node's word counts: it could name a key of its own.
#[derive(Args, Clone, Debug)]
pub(crate) struct Trusted {
    /// The genesis hash that the chain must have [default: trust the node's]
    #[arg(long, value_name = "HASH", requires = "group_key")]
    genesis: Option<Hash>,
    /// The validators' group key [default: trust the node's]
    #[arg(long, value_name = "HEX", requires = "genesis")]
    group_key: Option<HexBytes>,
}

/// Who may use a secret, and who may see it.
#[derive(Args, Debug)]
pub(crate) struct Allowed {
    /// Actors whose jobs may use it [default: those that the account deployed and never handed on]
    #[arg(long = "actor", value_name = "ADDRESS")]
    actors: Vec<Address>,
    /// Hashes of code that may use it; every code if there are none
    #[arg(long = "code-hash", value_name = "HASH")]
    code_hashes: Vec<Hash>,
    /// Kinds of jobs that may use it
    #[arg(long, value_name = "KIND", value_delimiter = ',', required = true, value_parser = job_kind)]
    jobs: Vec<JobKind>,
    /// Hosts to which a job may send it, like api.example.com or *.example.com
    #[arg(long, value_name = "HOST", value_delimiter = ',', value_parser = host)]
    hosts: Vec<String>,
    /// Any runner that is drawn may see it
    #[arg(long, conflicts_with_all = ["runners", "pool"])]
    any_runner: bool,
    /// Runners that may see it
    #[arg(long = "runner", value_name = "ADDRESS", conflicts_with = "pool")]
    runners: Vec<Address>,
    /// A pool of the Entitlement Registry whose members may see it
    #[arg(long, value_name = "ID")]
    pool: Option<Hash>,
    /// Trusted environments that a runner must have attested: sgx, sev, tdx, nitro
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = environment)]
    tee: Vec<Environment>,
    /// Measurements that it must have attested; every accepted one if there are none
    #[arg(long, value_name = "HEX", requires = "tee")]
    measurement: Vec<HexBytes>,
    /// The maximum number of runners of one job that see it
    #[arg(long, default_value_t = 1)]
    copies: u8,
    /// The minimum stake of a runner: base units, or CBY like 10000cby
    #[arg(long, default_value = "0")]
    min_stake: String,
    /// The minimum reputation of a runner
    #[arg(long, default_value_t = 0)]
    min_reputation: u64,
    /// The last height of a release; 0 for no limit
    #[arg(long, default_value_t = 0)]
    until: u64,
    /// The maximum number of releases; 0 for no limit
    #[arg(long, default_value_t = 0)]
    max_releases: u64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Secret {
    /// Seal a value and store it: a new secret, or a new version of one
    #[command(after_help = "Example:
  cowboy secret set WEATHER_KEY --value-file key.txt --hosts api.weather.test --jobs http --any-runner")]
    Set {
        /// Its name: capital letters, digits and _; it does not appear on the chain
        #[arg(value_parser = name)]
        name: Name,
        /// The file with the value, without the line break at its end; - for stdin
        #[arg(long, value_name = "FILE")]
        value_file: PathBuf,
        #[command(flatten)]
        allowed: Box<Allowed>,
        #[command(flatten)]
        trusted: Trusted,
        #[command(flatten)]
        terms: Terms,
    },
    /// Have a secret of your own released to you, and print its value
    Get {
        /// Its name
        #[arg(value_parser = name)]
        name: Name,
        /// The version [default: the newest]
        #[arg(long)]
        version: Option<u64>,
        #[command(flatten)]
        trusted: Trusted,
        #[command(flatten)]
        terms: Terms,
    },
    /// List the secrets of an account by the hashes of their names
    #[command(alias = "list")]
    Ls {
        /// The account [default: the key's]
        account: Option<String>,
    },
    /// Show a secret of your own, without its value
    Show {
        /// Its name
        #[arg(value_parser = name)]
        name: Name,
    },
    /// Stop every release of a secret
    Pause {
        /// Its name
        #[arg(value_parser = name)]
        name: Name,
        #[command(flatten)]
        terms: Terms,
    },
    /// Resume releases of a secret
    Resume {
        /// Its name
        #[arg(value_parser = name)]
        name: Name,
        #[command(flatten)]
        terms: Terms,
    },
    /// Delete a secret, or one version of it, and get the deposit back
    Rm {
        /// Its name
        #[arg(value_parser = name)]
        name: Name,
        /// The version [default: all, with the secret itself]
        #[arg(long)]
        version: Option<u64>,
        #[command(flatten)]
        terms: Terms,
    },
    /// Show the key that secrets are sealed to, and the committee that holds it
    Committee,
    /// Show who was released what, and which members of the committee answered
    #[command(after_help = "Example:
  cowboy secret receipts --job 0x…")]
    Receipts {
        /// The job [default: every release of your own secrets]
        #[arg(long, value_name = "ID")]
        job: Option<Hash>,
        /// The first height [default: that of the job's submission, or 86400 blocks ago]
        #[arg(long, value_name = "HEIGHT")]
        since: Option<u64>,
    },
    /// Seal secrets of your own to the newest key, after governance had one made: a new version of each
    #[command(after_help = "Example:
  cowboy secret reseal --all")]
    Reseal {
        /// Their names
        #[arg(value_parser = name, required_unless_present = "all", conflicts_with = "all")]
        names: Vec<Name>,
        /// All secrets of the account
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        trusted: Trusted,
        #[command(flatten)]
        terms: Terms,
    },
}

pub(super) fn name(text: &str) -> Result<Name, String> {
    Name::new(text).ok_or_else(|| format!("{text:?} is not a name: it has 1 to 64 of A-Z, 0-9 and _, and begins with a letter"))
}

fn job_kind(text: &str) -> Result<JobKind, String> {
    let kinds = [JobKind::Llm, JobKind::Http, JobKind::Mcp, JobKind::Custom, JobKind::Container];
    kinds
        .into_iter()
        .find(|kind| format!("{kind:?}").eq_ignore_ascii_case(text))
        .ok_or_else(|| format!("{text:?} is no kind of job: give llm, http, mcp, custom or container"))
}

fn host(text: &str) -> Result<String, String> {
    let form = "give a name in lower case without https:// and port, like api.example.com or *.example.com, an IPv4 address, or *";
    if domain::is_canonical_pattern(text) { Ok(text.to_owned()) } else { Err(format!("{text:?} is no host: {form}")) }
}

/// Refuses a policy whose last height is over: the deposit would be for a secret that is never released.
fn require_time(policy: &Policy, height: u64) -> Result<(), Failure> {
    let Height(until) = policy.until;
    if until == 0 || until > height {
        return Ok(());
    }
    let what = format!("--until {until} is over: the chain is at height {height}, so the secret would never be released");
    Err(Failure::argument(what, "give a later height, or leave --until out"))
}

fn environment(text: &str) -> Result<Environment, String> {
    let found = Environment::ALL.into_iter().find(|kind| kind.slug() == text);
    found.ok_or_else(|| format!("{text:?} is no trusted environment: give sgx, sev, tdx or nitro"))
}

/// A list in the order that a policy has.
fn ascending<T: Ord, const MAX: usize>(what: &str, mut items: Vec<T>) -> Result<List<T, MAX>, Failure> {
    items.sort();
    items.dedup();
    List::new(items).ok_or_else(|| Failure::argument(format!("{what} has more than {MAX} entries"), "name fewer"))
}

impl Allowed {
    fn policy(self) -> Result<Policy, Failure> {
        if !self.any_runner && self.runners.is_empty() && self.pool.is_none() && self.tee.is_empty() {
            let fix = "say --any-runner, or name them with --runner, --pool or --tee";
            return Err(Failure::argument("nobody is named who may see the value", fix));
        }
        // Each would take a deposit for a value that no job can use.
        if !self.jobs.iter().any(|kind| matches!(kind, JobKind::Http | JobKind::Container)) {
            return Err(Failure::argument("jobs of these kinds take no secrets", "give --jobs http, container, or both"));
        }
        if self.jobs.contains(&JobKind::Http) && self.hosts.is_empty() {
            let fix = "name the hosts with --hosts, or leave http out of --jobs";
            return Err(Failure::argument("a web job could send the value to no host", fix));
        }
        let actors = if self.actors.is_empty() { Actors::Owned } else { Actors::Listed { addresses: ascending("--actor", self.actors)? } };
        let runners = match self.pool {
            Some(id) => Runners::Pool { id },
            None if self.runners.is_empty() => Runners::Any,
            None => Runners::Listed { addresses: ascending("--runner", self.runners)? },
        };
        let measurements = self.measurement.into_iter().map(|bytes| Measurement::new(bytes.0));
        let measurements: Option<Vec<Measurement>> = measurements.collect();
        let measurements = measurements.ok_or_else(|| Failure::argument("a measurement is too long", "give the hex of one measurement"))?;
        let attestation = if self.tee.is_empty() {
            Attestation::NotRequired
        } else {
            Attestation::Required { environments: ascending("--tee", self.tee)?, measurements: ascending("--measurement", measurements)? }
        };
        let hosts: Option<Vec<Text<255>>> = self.hosts.iter().map(|host| Text::new(host.as_str())).collect();
        let policy = Policy {
            actors,
            accounts: List::default(),
            code_hashes: ascending("--code-hash", self.code_hashes)?,
            jobs: self.jobs.iter().fold(0, |bits, kind| bits | kind.bit()),
            hosts: ascending("--hosts", hosts.ok_or_else(|| Failure::argument("a host is too long", "a host has at most 255 bytes"))?)?,
            runners,
            min_stake: amount::argument(&self.min_stake)?,
            min_reputation: Count(self.min_reputation),
            attestation,
            copies: self.copies,
            from: Height::ZERO,
            until: Height(self.until),
            max_releases: Count(self.max_releases),
        };
        policy.check().map_err(|reason| Failure::argument(reason.to_string(), "correct that option; --help describes it"))?;
        Ok(policy)
    }
}

impl Secret {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Set { name, value_file, allowed, trusted, terms } => {
                set(session, &name, &value_file, allowed.policy()?, &trusted, &terms).await
            }
            Self::Get { name, version, trusted, terms } => get(session, &name, version, &trusted, &terms).await,
            Self::Ls { account } => shown::list(session, account.as_deref()).await,
            Self::Show { name } => shown::show(session, &name).await,
            Self::Pause { name, terms } => pause(session, &name, true, &terms).await,
            Self::Resume { name, terms } => pause(session, &name, false, &terms).await,
            Self::Rm { name, version, terms } => {
                let name_hash = name.hash(session.key()?.address()).to_string();
                let call = match version {
                    Some(version) => ("delete_version", json!({ "name_hash": name_hash, "version": version })),
                    None => ("delete_secret", json!({ "name_hash": name_hash })),
                };
                let removal = instruction(NUMBER, call.0, &call.1, Amount::ZERO)?;
                let sent = send::send(&session.client, &session.key()?, removal, &terms).await?;
                shown::done(session, &sent, |receipt| shown::deleted(&name, version, receipt.return_value.as_u64()));
                Ok(())
            }
            Self::Committee => committee(session).await,
            Self::Receipts { job, since } => receipts::show(session, job, since).await,
            Self::Reseal { names, all, trusted, terms } => reseal::reseal(session, (!all).then_some(&names[..]), &trusted, &terms).await,
        }
    }
}

async fn pause(session: &Session, name: &Name, paused: bool, terms: &Terms) -> Result<(), Failure> {
    let argument = json!({ "name_hash": name.hash(session.key()?.address()).to_string(), "paused": paused });
    let sent = send::send(&session.client, &session.key()?, instruction(NUMBER, "pause_secret", &argument, Amount::ZERO)?, terms).await?;
    shown::done(session, &sent, |_| shown::paused(name, paused));
    Ok(())
}

/// The hashes of the names of all secrets of an account.
async fn kept(session: &Session, account: Address) -> Result<Vec<Value>, Failure> {
    listing::all_of_view(session, (NUMBER, "list_secrets"), json!({ "account": account.to_string() }), |hash| hash).await
}

async fn view(session: &Session, method: &str, argument: Value) -> Result<Value, Failure> {
    Ok(session.client.view(&Address::system(NUMBER), method, &argument).await?.result)
}

async fn committee(session: &Session) -> Result<(), Failure> {
    let key = view(session, "get_key", json!({})).await?;
    let round = view(session, "get_round", json!({})).await?;
    session.output.result(&json!({ "key": key, "round": round }), shown::committee(&key, &round));
    Ok(())
}

/// The chain with proofs.
pub(super) async fn connect(session: &Session, trusted: &Trusted) -> Result<Chain, Failure> {
    let pinned = match (&trusted.genesis, &trusted.group_key) {
        (Some(genesis), Some(key)) => {
            let wrong = |_| Failure::argument("the group key does not have 96 bytes", "see group_key of /genesis");
            Some((*genesis, key.0[..].try_into().map_err(wrong)?))
        }
        _ => None,
    };
    Chain::connect(session.client.url(), pinned).await.map_err(unread)
}

/// A failure to read the chain with proofs: in the node's own words where it refuses.
pub(super) fn unread(error: ChainError) -> Failure {
    match error {
        ChainError::Api(error) => error.into(),
        ChainError::Record => Failure::Node(error.to_string()),
        ChainError::Proof(_) | ChainError::Old { .. } | ChainError::OtherChain => Failure::Proof(error.to_string()),
    }
}

/// What the chain or the committee does not have, or no longer.
pub(super) fn unproven(error: impl std::fmt::Display) -> Failure {
    Failure::refused(error.to_string(), "look at `cowboy secret ls` and `cowboy secret committee`, and try again")
}

/// The newest key that was dealt: its number and its public half, with proof. Asks for one and waits where there is none.
pub(super) async fn sealing_key(session: &Session, chain: &Chain, terms: &Terms) -> Result<(u32, PointG2), Failure> {
    let mut has_asked = false;
    let waiting = async {
        loop {
            let newest = chain.read(&[state::current_key()]).await.map_err(unread)?.read::<u32>(0).map_err(unread)?;
            for id in [newest, newest.and_then(|id| id.checked_sub(1))].into_iter().flatten() {
                let records = chain.read(&[state::release_key(id)]).await.map_err(unread)?;
                let master = records.read::<ReleaseKey>(0).map_err(unread)?.and_then(|key| key.master);
                if let Some(master) = master.and_then(|master| PointG2::new(master.0)) {
                    return Ok((id, master));
                }
            }
            if !has_asked {
                has_asked = true;
                let wait = "waiting for the first dealing, which takes about half a minute on a devnet";
                session.output.progress(format_args!("no committee holds a key yet: {wait}"));
                // A devnet starts its proxies at the first transaction to 0x04.
                if newest.is_none() {
                    send::send(&session.client, &session.key()?, instruction(NUMBER, "get_key", &json!({}), Amount::ZERO)?, terms).await?;
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    let late = |_| Failure::refused("no committee holds a key", "wait for four proxies: cowboy secret committee shows what there is");
    tokio::time::timeout(COMMITTEE_PATIENCE, waiting).await.map_err(late)?
}

async fn set(session: &Session, name: &Name, file: &PathBuf, policy: Policy, trusted: &Trusted, terms: &Terms) -> Result<(), Failure> {
    let value = read_value(file)?;
    require_time(&policy, session.client.health().await?.height)?;
    let name_hash = name.hash(session.key()?.address());
    let chain = connect(session, trusted).await?;
    let stored = sealing::store(session, &chain, (&name_hash, name.as_str()), &policy, &value, terms).await?;
    let sealing::Stored { version, deposit, sent } = stored;
    labels::keep(session, &name_hash, name.as_str());
    let document = json!({
        "name": name.as_str(), "name_hash": name_hash.to_string(), "version": version, "deposit": deposit, "tx_hash": sent.tx_hash,
        "readers": shown::readers(&policy),
    });
    let text = format!(
        "{} is stored as version {version}, with the name hash {name_hash}\n{}\npaid: {}; `cowboy secret rm` gives the deposit back",
        name.as_str(),
        shown::readers(&policy),
        paid::line(&sent, "the deposit", deposit),
    );
    session.output.result(&document, text);
    Ok(())
}

/// The value in a file, without the line break at its end. Fails if it is empty.
pub(super) fn read_value(file: &PathBuf) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let mut value = Zeroizing::new(Vec::new());
    if file.as_os_str() == "-" {
        std::io::stdin().lock().read_to_end(&mut value).map_err(Failure::file("stdin"))?;
    } else {
        let mut opened = std::fs::File::open(file).map_err(Failure::file(file))?;
        opened.read_to_end(&mut value).map_err(Failure::file(file))?;
    }
    if value.last() == Some(&b'\n') {
        value.pop();
    }
    if value.is_empty() {
        return Err(Failure::argument(format!("{} has no value: it is empty", file.display()), "write the value into it"));
    }
    Ok(value)
}

async fn get(session: &Session, name: &Name, version: Option<u64>, trusted: &Trusted, terms: &Terms) -> Result<(), Failure> {
    let name_hash = name.hash(session.key()?.address());
    let chain = connect(session, trusted).await?;
    let (number, value) = sealing::open_own(session, &chain, &name_hash, version, terms).await?;
    if session.output.json {
        let text = String::from_utf8(value.to_vec());
        let document = match text {
            Ok(text) => json!({ "name": name.as_str(), "version": number.0, "value": text }),
            Err(_) => json!({ "name": name.as_str(), "version": number.0, "value_hex": format!("0x{}", hex::encode(&value)) }),
        };
        session.output.document(&document);
    } else {
        let mut out = std::io::stdout().lock();
        out.write_all(&value).and_then(|()| out.write_all(b"\n")).map_err(Failure::file("stdout"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        allowed: Allowed,
    }

    fn policy(arguments: &[&str]) -> Policy {
        let fixed = ["set", "--jobs", "http", "--hosts", "api.example.com", "--any-runner"];
        let cli = Cli::try_parse_from(fixed.iter().chain(arguments)).expect("it can be called so");
        cli.allowed.policy().expect("it is a policy")
    }

    /// A host that no policy takes is named, and how one is written.
    #[test]
    fn a_host_is_named_where_it_is_none() {
        for wrong in ["https://api.example.com/", "api.example.com:443", "API.example.com", "ex ample"] {
            let said = host(wrong).expect_err("it is no host");
            assert!(said.contains(wrong) && said.contains("without https:// and port"), "{said}");
        }
        for right in ["api.example.com", "*.example.com", "10.0.0.7", "*"] {
            assert_eq!(host(right).as_deref(), Ok(right));
        }
    }

    /// No deposit is taken for a secret that is never released.
    #[test]
    fn the_last_height_is_ahead() {
        for (until, height, is_ahead) in [("0", 90, true), ("91", 90, true), ("90", 90, false), ("3", 90, false)] {
            assert_eq!(require_time(&policy(&["--until", until]), height).is_ok(), is_ahead, "{until} at {height}");
        }
    }
}
