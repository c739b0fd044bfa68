//! `cowboy actor` and `cowboy query`.

mod deployed;
mod refused;

use super::{
    deliveries,
    listing::{self, Rows},
    outcome::{self, Outcome},
    rent,
    session::Session,
    timer,
};
use crate::send::{self, Terms};
use clap::{Args, Subcommand};
use cowboy_api::{
    ApiError, Hex, HexBytes, manifest, model,
    source::{self, Asked},
};
use cowboy_console::{amount, failure::Failure, output::table, payload};
use cowboy_devtools::{deploy::Deployment, template};
use cowboy_types::{
    Actor as ActorInstruction, Address, Blob, Hash, Instruction, Text,
    error::{ADDRESS_TAKEN, MISSING_ENTITLEMENT},
    keccak256,
};
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Actor {
    /// Create the source of a new actor
    New {
        /// The folder to create
        name: String,
    },
    /// Deploy a source and run its init in the same transaction
    Deploy(Box<Deploy>),
    /// Give an actor whose entitlement was removed a new manifest; a changed source is deployed as a new actor
    Redeploy(Redeploy),
    /// List the actors that this folder deployed, by the names that commands take
    List,
    /// Print the address that a deployment would have
    Address(Source),
    /// Call a handler in a transaction
    Execute(Box<Execute>),
    /// Query a handler, without a transaction
    Query(Query),
    /// Print an actor's record
    Get {
        /// The actor: an address, or an actor of this folder
        actor: String,
    },
    /// Print the storage rent that an actor owes
    Rent {
        /// The actor: an address, or an actor of this folder
        actor: String,
    },
    /// Print pending timers and intervals
    Timers {
        /// The actor: an address, or an actor of this folder
        actor: String,
        #[command(flatten)]
        rows: Rows,
    },
    /// Print the newest failed deliveries to an actor, with error and line
    Failures {
        /// The actor: an address, or an actor of this folder
        actor: String,
        /// The number of its newest deliveries to examine
        #[arg(long, default_value_t = 200)]
        limit: usize,
    },
    /// Print the pending messages for an actor, in order of delivery
    Messages {
        /// The actor: an address, or an actor of this folder
        actor: String,
    },
    /// Print each delivery to an actor as it happens, with its events, or error and line
    Watch {
        /// The actor: an address, or an actor of this folder
        actor: String,
        /// Exit after this number of deliveries [default: run until Ctrl-C]
        #[arg(long, value_name = "DELIVERIES")]
        count: Option<u64>,
    },
    /// Print the newest events of an actor, the newest last
    Logs {
        /// The actor: an address, or an actor of this folder
        actor: String,
        #[command(flatten)]
        rows: Rows,
    },
}

/// Where the source is, and what makes its address.
#[derive(Args, Debug)]
pub(crate) struct Source {
    /// The source
    #[arg(value_name = "FILE", required_unless_present = "code", conflicts_with = "code")]
    file: Option<PathBuf>,
    /// The same as the positional argument
    #[arg(long, value_name = "FILE")]
    code: Option<PathBuf>,
    /// Up to 32 bytes in hex; another salt gives another address
    #[arg(long, value_name = "HEX", default_value = "")]
    salt: String,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cowboy actor deploy hello/actor.py
  cowboy actor deploy --code escrow/actor.py --init-payload '{\"seller\": \"0x7099…\"}' --fund 2cby
  cowboy actor deploy --code hello/actor.py --salt 01 --name hello-again")]
pub(crate) struct Deploy {
    #[command(flatten)]
    source: Source,
    /// The manifest [default: manifest.json beside the source, otherwise inferred]
    #[arg(long, value_name = "FILE")]
    manifest_json: Option<PathBuf>,
    /// The handler to run first [default: init, if the source has one]
    #[arg(long, value_name = "NAME", conflicts_with = "no_init")]
    init_handler: Option<String>,
    /// The argument: JSON, which is encoded as init expects it, or raw bytes as hex with 0x or @FILE
    #[arg(long, value_name = "PAYLOAD", conflicts_with = "no_init", allow_hyphen_values = true)]
    init_payload: Option<String>,
    /// Run no handler
    #[arg(long)]
    no_init: bool,
    /// The actor's initial balance: base units, or CBY like 2.5cby
    #[arg(long, value_name = "AMOUNT", default_value = "0")]
    fund: String,
    /// The actor's name in this folder
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    terms: Terms,
}

#[derive(Args, Debug)]
pub(crate) struct Redeploy {
    /// The actor: an address, or an actor of this folder
    actor: String,
    /// The new manifest
    #[arg(long, value_name = "FILE")]
    manifest_json: PathBuf,
    #[command(flatten)]
    terms: Terms,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cowboy actor execute hello greet Ada
  cowboy actor execute counter add --payload -1
  cowboy actor execute 0x5754… pay --payload '{\"to\": \"0x7099…\"}' --value 2.5cby --json")]
pub(crate) struct Execute {
    /// The actor: an address, or an actor of this folder
    actor: String,
    /// The handler's name
    handler: String,
    /// The argument: JSON, which is encoded as the handler expects it, or raw bytes as hex with 0x or @FILE
    #[arg(value_name = "PAYLOAD", conflicts_with = "payload", allow_hyphen_values = true)]
    argument: Option<String>,
    /// The same as the positional argument
    #[arg(long, allow_hyphen_values = true)]
    payload: Option<String>,
    /// CBY to send along: base units, or CBY like 2.5cby
    #[arg(long, value_name = "AMOUNT", default_value = "0")]
    value: String,
    /// Also wait for the jobs that the handler submits, for its sleeps, and for the actor's callbacks
    #[arg(long, conflicts_with = "no_wait")]
    wait: bool,
    #[command(flatten)]
    terms: Terms,
}

/// Asks a handler.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cowboy query hello greetings
  cowboy query token balance_of --payload '\"0x70997970c51812dc3a010c7d01b50e0d17dc79c8\"' --json")]
pub(crate) struct Query {
    /// The actor: an address, or an actor of this folder
    actor: String,
    /// The handler's name
    handler: String,
    /// The argument: JSON, which is encoded as the handler expects it, or raw bytes as hex with 0x or @FILE
    #[arg(value_name = "PAYLOAD", conflicts_with = "payload", allow_hyphen_values = true)]
    argument: Option<String>,
    /// The same as the positional argument
    #[arg(long, allow_hyphen_values = true)]
    payload: Option<String>,
    /// The maximum number of cycles
    #[arg(long)]
    max_cycles: Option<u64>,
}

impl Actor {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::New { name } => template::write(session.output, &name),
            Self::Deploy(deploy) => deploy.run(session).await,
            Self::Redeploy(redeploy) => redeploy.run(session).await,
            Self::List => {
                deployed::list(session);
                Ok(())
            }
            Self::Address(source) => source.address(session),
            Self::Execute(execute) => execute.run(session).await,
            Self::Query(query) => query.run(session).await,
            Self::Get { actor } => get(session, &session.address(&actor)?).await,
            Self::Rent { actor } => rent::show(session, &session.address(&actor)?).await,
            Self::Timers { actor, rows } => timer::list(session, &session.address(&actor)?, &rows).await,
            Self::Failures { actor, limit } => deliveries::failures(session, &session.address(&actor)?, limit).await,
            Self::Messages { actor } => deliveries::messages(session, &session.address(&actor)?).await,
            Self::Watch { actor, count } => deliveries::watch(session, &session.address(&actor)?, count).await,
            Self::Logs { actor, rows } => logs(session, &session.address(&actor)?, &rows).await,
        }
    }
}

impl Source {
    fn path(&self) -> &Path {
        self.file.as_deref().or(self.code.as_deref()).unwrap_or(Path::new("actor.py"))
    }

    fn salt(&self) -> Result<Vec<u8>, Failure> {
        let salt =
            self.salt.parse::<HexBytes>().map_err(|error| Failure::argument(format!("--salt is {error}"), "give up to 64 hex digits"))?;
        if salt.len() > 32 { Err(Failure::argument("--salt is longer than 32 bytes", "give up to 64 hex digits")) } else { Ok(salt.0) }
    }

    fn address(&self, session: &Session) -> Result<(), Failure> {
        let path = self.path();
        let code = std::fs::read(path).map_err(Failure::file(path))?;
        let source = cowboy_chain::canonical_source(&code)
            .ok_or_else(|| Failure::argument(format!("{} is not UTF-8", path.display()), "save it as UTF-8"))?;
        let address = address_of(&session.key()?.address(), &source, &self.salt()?);
        session.output.result(&json!({ "address": address.to_string() }), address);
        Ok(())
    }

    /// The name by which a folder remembers the actor: the file's, or its folder's where the file has a general name.
    fn name(&self) -> String {
        let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let own = stem(self.path()).unwrap_or_default();
        let folder = || self.path().canonicalize().ok().and_then(|path| stem(path.parent()?));
        if matches!(own.as_str(), "actor" | "main") { folder().unwrap_or(own) } else { own }
    }
}

impl Deploy {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        let mut deployment = Deployment::of_file(self.source.path(), self.manifest_json.as_ref())?;
        deployment.salt = self.source.salt()?;
        deployment.endow(amount::argument(&self.fund)?);
        match (self.no_init, &self.init_handler, &self.init_payload) {
            (true, _, _) => deployment.init = None,
            (false, None, None) => {}
            (false, handler, argument) => {
                deployment.use_init(handler.clone().unwrap_or_else(|| "init".into()), argument.as_deref().unwrap_or("{}"))?
            }
        }
        deployment.require_balance_grant()?;
        if !self.terms.force {
            refused::refuse(session.output, self.source.path(), &deployment.code)?;
        }
        session.output.progress(format_args!("Entitlements: {}", deployment.describe()));
        for line in deployment.missing() {
            session.output.progress(format_args!("Warning: {line}"));
        }
        if source::is_uncallable(&deployment.code) {
            let path = self.source.path().display();
            session.output.progress(format_args!("Warning: {path} has no class and no function, so nothing in it can be called"));
        }
        let key = session.key()?;
        let sent = send::send(&session.client, &key, deployment.instruction()?, &self.terms).await;
        let explain = |error| refused::in_file(deployment.explain(error), self.source.path());
        let sent = sent.map_err(|failure| explained(taken(failure, &key.address(), &deployment), explain))?;
        let created = sent.receipt.as_ref().and_then(|receipt| receipt.created);
        let name = self.name.unwrap_or_else(|| self.source.name());
        if let Some(address) = created {
            deployed::settle(session, &name, address).await?;
        }
        let fee = sent.receipt.as_ref().map(|receipt| amount::cby(receipt.fee.total));
        let address = created.map_or_else(|| "known once the transaction is final".to_owned(), |address| address.to_string());
        session.output.result(
            &json!({ "tx_hash": sent.tx_hash, "address": created, "name": name, "manifest": deployment.manifest, "receipt": sent.receipt }),
            format_args!(
                "Transaction hash: {}\nActor address: {address}\nName: {name}{}",
                sent.tx_hash,
                fee.map_or_else(String::new, |fee| format!("\nFee: {fee}"))
            ),
        );
        Ok(())
    }
}

/// Says which actor is in the way, and how to deploy beside it.
fn taken(failure: Failure, creator: &Address, deployment: &Deployment) -> Failure {
    match failure {
        Failure::Api(mut error) if error.code == ADDRESS_TAKEN.code => {
            let source = cowboy_chain::canonical_source(deployment.code.as_bytes()).unwrap_or_default();
            let address = address_of(creator, &source, &deployment.salt);
            error.fix = "Use that actor, or deploy a second one with --salt 01.".into();
            error.context = json!({ "address": address.to_string() });
            Failure::Api(error)
        }
        other => other,
    }
}

/// Says more about what the node refused, where it is known here.
fn explained(failure: Failure, explain: impl FnOnce(ApiError) -> ApiError) -> Failure {
    match failure {
        Failure::Api(error) => Failure::Api(Box::new(explain(*error))),
        other => other,
    }
}

/// Says which entitlements a deployed actor lacks, where its source or the CBY that it is sent shows it.
async fn ungranted_of(session: &Session, target: &Address, value: u64, failure: Failure) -> Failure {
    if !matches!(&failure, Failure::Api(error) if error.code == MISSING_ENTITLEMENT.code) {
        return failure;
    }
    let code: Result<model::Code, ApiError> = session.client.get(&format!("/actor/{target}/code")).await;
    match (code, session.client.actor(target).await) {
        (Ok(code), Ok(actor)) => {
            let asked = Asked { source: &code.source, granted: &actor.entitlements, value };
            explained(failure, |error| source::explain_missing(error, asked))
        }
        _ => failure,
    }
}

/// Where a source lands that this account deploys with a salt of at most 32 bytes.
fn address_of(creator: &Address, source: &str, salt: &[u8]) -> Address {
    let mut padded = [0; 32];
    padded[..salt.len()].copy_from_slice(salt);
    Address::of_actor(creator, &Hash(padded), &keccak256(&[source.as_bytes()]))
}

impl Redeploy {
    /// A call of the Entitlement Registry: same code, same storage, same address, another manifest (000 §9.11).
    async fn run(self, session: &Session) -> Result<(), Failure> {
        let too_large = |what: &str| Failure::argument(format!("{what} is too long"), "shorten it");
        let actor = session.address(&self.actor)?;
        let text = std::fs::read_to_string(&self.manifest_json).map_err(Failure::file(&self.manifest_json))?;
        let mut deployment = Deployment::of(String::new());
        deployment.use_manifest(&text, &self.manifest_json.display().to_string())?;
        let request = cowboy_system::requests::redeploy(actor, manifest::manifest_bytes(&deployment.manifest));
        let instruction = Instruction::Actor(ActorInstruction::Execute {
            target: Address::system(request.actor),
            handler: Text::new(request.method).ok_or_else(|| too_large("the handler's name"))?,
            payload: Blob::new(request.argument.encode()).ok_or_else(|| too_large("the manifest"))?,
            value: amount::argument("0")?,
        });
        let sent = send::send(&session.client, &session.key()?, instruction, &self.terms).await;
        let sent = sent.map_err(|failure| explained(failure, |error| source::explain_unknown(error, &deployment.grants())))?;
        session.output.result(&sent, format_args!("Transaction hash: {}\nActor address: {actor}", sent.tx_hash));
        Ok(())
    }
}

impl Execute {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        let too_large = |what: &str| Failure::argument(format!("{what} is too long"), "shorten it");
        let target = session.address(&self.actor)?;
        let code = payload::source_of(&session.client, &target).await;
        let format = source::format(&code, &self.handler);
        let argument = payload::argument(self.argument.or(self.payload).as_deref().unwrap_or_default(), &code, &self.handler)?;
        let value = amount::argument(&self.value)?;
        let instruction = Instruction::Actor(ActorInstruction::Execute {
            target,
            handler: Text::new(self.handler).ok_or_else(|| too_large("the handler's name"))?,
            payload: Blob::new(argument).ok_or_else(|| too_large("the payload"))?,
            value,
        });
        let sent = match send::send(&session.client, &session.key()?, instruction, &self.terms).await {
            Ok(sent) => sent,
            Err(failure) => {
                return Err(session.of_another_chain(ungranted_of(session, &target, value.get(), failure).await, &target).await);
            }
        };
        let Some(receipt) = &sent.receipt else {
            session.output.result(&sent, format_args!("Transaction hash: {}", sent.tx_hash));
            return Ok(());
        };
        let result = payload::decode(&receipt.return_data, format);
        let waits = if result.is_null() { outcome::waits_of(session, receipt).await? } else { Vec::new() };
        let said = match outcome::describe(&waits) {
            None => format!("Result: {result}"),
            Some(waits) if self.wait => waits,
            Some(waits) => format!("{waits} (`cowboy job list`, `cowboy actor timers`; --wait follows them to the result)"),
        };
        let (block, fee) = (receipt.block_height, amount::cby(receipt.fee.total));
        let text = format!("Transaction hash: {}\n{said}{}\nBlock: {block}, fee {fee}", sent.tx_hash, events(receipt));
        if waits.is_empty() || !self.wait {
            session.output.result(&json!({ "tx_hash": sent.tx_hash, "result": result, "receipt": receipt }), text);
            return Ok(());
        }
        session.output.progress(text);
        let outcome = Outcome::of(session, waits, Duration::from_secs(self.terms.timeout)).await?;
        let announced: String = outcome.callbacks.iter().map(events).collect();
        session.output.result(
            &json!({ "tx_hash": sent.tx_hash, "result": outcome.result(), "receipt": receipt, "outcome": outcome }),
            format_args!("Result: {}{announced}", outcome.result()),
        );
        outcome.failed().and_then(|receipt| receipt.error.clone()).map_or(Ok(()), |error| Err(error.into()))
    }
}

/// The events of a receipt, a line each.
fn events(receipt: &model::Receipt) -> String {
    receipt.events.iter().map(|event| format!("\nEvent: {} {}", event.name, event.value)).collect()
}

impl Query {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        let target = session.address(&self.actor)?;
        let code = payload::source_of(&session.client, &target).await;
        let format = source::format(&code, &self.handler);
        let argument = payload::argument(self.argument.or(self.payload).as_deref().unwrap_or_default(), &code, &self.handler)?;
        let question = model::ReadHandler {
            selector: self.handler,
            payload: payload::base64(&argument),
            max_cycles: self.max_cycles,
            min_block: None,
        };
        let answer = match session.client.read_handler(&target, &question).await {
            Ok(answer) => answer,
            Err(error) => return Err(session.of_another_chain(ungranted_of(session, &target, 0, error.into()).await, &target).await),
        };
        let result = payload::decode_base64(&answer.result, format)?;
        session
            .output
            .result(&json!({ "block_height": answer.block_height, "result": result, "cycles_used": answer.cycles_used }), &result);
        Ok(())
    }
}

async fn get(session: &Session, address: &Address) -> Result<(), Failure> {
    let actor = session.client.actor(address).await?;
    let grants: Vec<&str> = actor.entitlements.iter().map(|grant| grant.id.as_str()).collect();
    let mut rows = vec![
        ("address", actor.address.to_string()),
        ("status", actor.status.clone()),
        ("owner", actor.owner.to_string()),
        ("balance", amount::both(actor.balance)),
        ("code hash", actor.code_hash.to_string()),
        ("deployed at", actor.created_at.to_string()),
        ("handlers", actor.handlers.join(", ")),
        ("entitlements", grants.join(", ")),
        ("storage", format!("{} of {}", actor.storage_bytes, amount::counted(actor.storage_quota, "byte"))),
        ("waiting", format!("{}, {}", amount::counted(actor.mailbox_count, "message"), timer::waiting(session, &actor).await?)),
    ];
    let entries: Vec<String> = actor.storage.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    rows.extend(entries.iter().map(|entry| ("", entry.clone())));
    session.output.result(&actor, table(rows));
    Ok(())
}

/// Prints the newest events of an actor, the newest last.
async fn logs(session: &Session, address: &Address, rows: &Rows) -> Result<(), Failure> {
    let (mut logs, next) = rows.fetch::<model::Logs>(session, &format!("/actor/{}/logs?order=desc", Hex(*address))).await?;
    logs.logs.reverse();
    let line = |log: &model::Log| format!("{:>8}  {}  {}", log.block_height, log.event.name, log.event.value);
    let text = listing::lines(&logs.logs, line, "no events");
    listing::show(session, &logs, next, text);
    Ok(())
}
