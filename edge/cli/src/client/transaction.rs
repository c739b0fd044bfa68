//! `cowboy transaction`.

use super::{
    job,
    outcome::{self, Wait},
    session::Session,
};
use crate::send::{self, Terms};
use clap::Subcommand;
use cowboy_api::{error::NOT_FOUND, model};
use cowboy_chain::nested_id;
use cowboy_console::{amount, failure::Failure, output::table, payload};
use cowboy_types::{Hash, Transaction as Signed};
use serde_json::json;
use std::collections::BTreeSet;

#[derive(Debug, Subcommand)]
pub(crate) enum Transaction {
    /// Send a signed transaction
    Submit {
        /// The transaction's canonical bytes: hex with 0x, or @FILE
        transaction: String,
        #[command(flatten)]
        terms: Box<Terms>,
    },
    /// Print a transaction
    Get {
        /// Its hash
        hash: String,
    },
    /// Print the status of a transaction or delivery
    Status {
        /// The hash of the transaction or delivery
        hash: String,
    },
    /// Print everything that a transaction caused, as a tree: deliveries, their cycles, prints, events and errors; jobs and what continues them
    Trace {
        /// The hash of the transaction or delivery, or a job's id
        hash: String,
    },
    /// Sign a hash with the key
    SignHash {
        /// 32 bytes in hex
        hash: String,
    },
}

/// The hash of an argument.
pub(super) fn hash(text: &str) -> Result<Hash, Failure> {
    text.parse().map_err(|error| Failure::argument(format!("{text:?} is not a hash: {error}"), "give 0x and 64 hex digits"))
}

impl Transaction {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Submit { transaction, terms } => {
                let bytes = payload::bytes(&transaction)?;
                let transaction = Signed::from_bytes(&bytes)
                    .map_err(|error| Failure::argument(error.to_string(), "build it with a client library, and send it unchanged"))?;
                let sent = send::submit(&session.client, &transaction, &terms).await?;
                session.output.result(&sent, format_args!("Transaction hash: {}", sent.tx_hash));
            }
            Self::Get { hash: text } => session.output.document(&session.client.transaction(&hash(&text)?).await?),
            Self::Status { hash: text } => status(session, &hash(&text)?).await?,
            Self::Trace { hash: text } => trace(session, &hash(&text)?).await?,
            Self::SignHash { hash: text } => {
                let key = session.key()?;
                let signature = format!("0x{}", hex::encode(key.sign(&hash(&text)?).0));
                session.output.result(&json!({ "address": key.address().to_string(), "signature": signature }), &signature);
            }
        }
        Ok(())
    }
}

/// The most deliveries of a tree that are printed.
const MAX_DELIVERIES: usize = 500;

/// What stands in a tree of what a transaction caused.
enum Node {
    /// A delivery, by the name of its receipt.
    Delivery(Hash),
    /// The fire of a timer, the draw of a job or its answer's delivery: nothing where it did not happen.
    Possible(Hash),
    /// A job that a delivery submitted.
    Job(Box<model::Job>),
}

/// The tree, its nodes in order.
#[derive(Default)]
struct Tree {
    receipts: Vec<model::Receipt>,
    lines: Vec<String>,
    /// A delivery may belong to a transaction and to a job or timer of it.
    seen: BTreeSet<Hash>,
}

impl Tree {
    /// Adds a node, and answers what stands below it: messages, jobs, and the timers that continue the methods that it left at an await.
    async fn add(&mut self, session: &Session, node: Node, indent: &str) -> Vec<Node> {
        let (id, is_certain) = match node {
            Node::Job(job) => {
                self.lines.push(format!("{indent}{}", job::line(&job)));
                return below(&job);
            }
            Node::Delivery(id) => (id, true),
            Node::Possible(id) => (id, false),
        };
        let Ok(receipt) = session.client.receipt(&id).await else {
            // A delivery that a later block makes has no receipt yet.
            self.lines.extend(is_certain.then(|| format!("{indent}{id} waits")));
            return Vec::new();
        };
        if !self.seen.insert(receipt.tx_hash.0) {
            return Vec::new();
        }
        self.print(&receipt, indent);
        let mut below: Vec<Node> = receipt.deliveries.iter().map(|delivery| Node::Delivery(delivery.0)).collect();
        if receipt.status == "success" && !receipt.handler.is_empty() {
            // What the node does not know any more is left out.
            let waits = outcome::waits_of(session, &receipt).await.unwrap_or_default();
            below.extend(waits.into_iter().map(|wait| match wait {
                Wait::Job(job) => Node::Job(job),
                Wait::Timer(alarm) => Node::Possible(alarm.id.0),
            }));
        }
        self.receipts.push(receipt);
        below
    }

    fn print(&mut self, receipt: &model::Receipt, indent: &str) {
        let handler = if receipt.handler.is_empty() { String::new() } else { format!(".{}", receipt.handler) };
        let value = if receipt.value > 0 { format!(", {}", cowboy_console::amount::cby(receipt.value)) } else { String::new() };
        let returned = if receipt.return_value.is_null() { String::new() } else { format!(" → {}", receipt.return_value) };
        self.lines.push(format!(
            "{indent}{} {} → {}{handler}{value}: {}{returned}, {} cycles, {} cells, block {}",
            receipt.kind, receipt.sender, receipt.target, receipt.status, receipt.cycles_used, receipt.cells_used, receipt.block_height
        ));
        self.lines.extend(receipt.printed.lines().map(|line| format!("{indent}  printed: {line}")));
        self.lines.extend(receipt.events.iter().map(|event| format!("{indent}  event {} {}", event.name, event.value)));
        if let Some(error) = &receipt.error {
            let text = error.context["trace"].as_str().map_or_else(|| error.what.clone(), str::to_owned);
            self.lines.extend(text.lines().map(|line| format!("{indent}  {line}")));
        }
    }
}

/// What a job leads to: its draw, whose receipt has the job's name, and the delivery of its answer.
fn below(job: &model::Job) -> Vec<Node> {
    let id = job.summary.job_id.0;
    let draw = Node::Possible(id);
    let answer = job.callback.is_some().then(|| Node::Possible(nested_id(&id, 0)));
    [draw].into_iter().chain(answer).collect()
}

async fn trace(session: &Session, root: &Hash) -> Result<(), Failure> {
    let job = job::get(session, (*root).into()).await.ok();
    let first = job.map_or(Node::Delivery(*root), |job| Node::Job(Box::new(job)));
    let is_job = matches!(first, Node::Job(_));
    let (mut tree, mut waiting) = (Tree::default(), vec![(first, 0)]);
    while let Some((node, depth)) = waiting.pop() {
        if tree.receipts.len() == MAX_DELIVERIES {
            tree.lines.push(format!("… {}", amount::counted(waiting.len() + 1, "more delivery")));
            break;
        }
        let below = tree.add(session, node, &"  ".repeat(depth)).await;
        waiting.extend(below.into_iter().rev().map(|node| (node, depth + 1)));
    }
    if tree.receipts.is_empty() && !is_job {
        return Err(session
            .client
            .receipt(root)
            .await
            .err()
            .map_or_else(|| Failure::refused("there is no such transaction", "check the hash"), Failure::from));
    }
    session.output.result(&tree.receipts, tree.lines.join("\n"));
    Ok(())
}

/// The transaction of this hash, where it is one: a delivery has a receipt only.
async fn transaction(session: &Session, hash: &Hash) -> Result<Option<model::Transaction>, Failure> {
    match session.client.transaction(hash).await {
        Ok(transaction) => Ok(Some(transaction)),
        Err(error) if error.code == NOT_FOUND.code => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn status(session: &Session, hash: &Hash) -> Result<(), Failure> {
    let transaction = transaction(session, hash).await?;
    if let Some(transaction) = transaction.filter(|transaction| transaction.status == "pending") {
        let waits = transaction.waits.unwrap_or_default();
        let words = if waits.is_empty() { "pending".into() } else { format!("pending\nwaits   {waits}") };
        session.output.result(&json!({ "tx_hash": hash.to_string(), "status": "pending", "waits": waits }), words);
        return Ok(());
    }
    let receipt = session.client.receipt(hash).await?;
    let delivered = format!("{} → {}.{}", receipt.kind, receipt.target, receipt.handler);
    let delivered = (receipt.kind != "transaction").then_some(("delivery", delivered));
    let mut rows: Vec<(&str, String)> = delivered.into_iter().collect();
    rows.extend([
        ("status", receipt.status.clone()),
        ("block", receipt.block_height.to_string()),
        ("cycles", receipt.cycles_used.to_string()),
        ("cells", receipt.cells_used.to_string()),
        ("fee", cowboy_console::amount::cby(receipt.fee.total)),
    ]);
    if let Some(error) = &receipt.error {
        rows.push(("error", error.to_string()));
    }
    session.output.result(&receipt, table(rows));
    Ok(())
}
