//! `cowboy transaction`.

use super::session::Session;
use crate::send::{self, Terms};
use clap::Subcommand;
use cowboy_console::{failure::Failure, output::table, payload};
use cowboy_types::{Hash, Transaction as Signed};
use serde_json::json;

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
    /// Print the status of a transaction
    Status {
        /// Its hash
        hash: String,
    },
    /// Print everything that a transaction caused, as a tree: deliveries, their cycles, prints, events and errors
    Trace {
        /// The hash of the transaction or delivery
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

async fn trace(session: &Session, root: &Hash) -> Result<(), Failure> {
    let mut waiting = vec![(*root, 0)];
    let (mut receipts, mut lines) = (Vec::new(), Vec::new());
    while let Some((id, depth)) = waiting.pop() {
        if receipts.len() == MAX_DELIVERIES {
            lines.push(format!("… {} more deliveries", waiting.len() + 1));
            break;
        }
        let indent = "  ".repeat(depth);
        // A delivery that a later block makes has no receipt yet.
        let Ok(receipt) = session.client.receipt(&id).await else {
            lines.push(format!("{indent}{id} waits"));
            continue;
        };
        let handler = if receipt.handler.is_empty() { String::new() } else { format!(".{}", receipt.handler) };
        let value = if receipt.value > 0 { format!(", {}", cowboy_console::amount::cby(receipt.value)) } else { String::new() };
        lines.push(format!(
            "{indent}{} {} → {}{handler}{value}: {}, {} cycles, {} cells, block {}",
            receipt.kind, receipt.sender, receipt.target, receipt.status, receipt.cycles_used, receipt.cells_used, receipt.block_height
        ));
        lines.extend(receipt.printed.lines().map(|line| format!("{indent}  printed: {line}")));
        lines.extend(receipt.events.iter().map(|event| format!("{indent}  event {} {}", event.name, event.value)));
        if let Some(error) = &receipt.error {
            let text = error.context["trace"].as_str().map_or_else(|| error.what.clone(), str::to_owned);
            lines.extend(text.lines().map(|line| format!("{indent}  {line}")));
        }
        waiting.extend(receipt.deliveries.iter().rev().map(|delivery| (delivery.0, depth + 1)));
        receipts.push(receipt);
    }
    if receipts.is_empty() {
        return Err(session
            .client
            .receipt(root)
            .await
            .err()
            .map_or_else(|| Failure::argument("there is no such transaction", "check the hash"), Failure::from));
    }
    session.output.result(&receipts, lines.join("\n"));
    Ok(())
}

async fn status(session: &Session, hash: &Hash) -> Result<(), Failure> {
    let transaction = session.client.transaction(hash).await?;
    if transaction.status == "pending" {
        let waits = transaction.waits.unwrap_or_default();
        let words = if waits.is_empty() { "pending".into() } else { format!("pending\nwaits   {waits}") };
        session.output.result(&json!({ "tx_hash": hash.to_string(), "status": "pending", "waits": waits }), words);
        return Ok(());
    }
    let receipt = session.client.receipt(hash).await?;
    let mut rows = vec![
        ("status", receipt.status.clone()),
        ("block", receipt.block_height.to_string()),
        ("cycles", receipt.cycles_used.to_string()),
        ("cells", receipt.cells_used.to_string()),
        ("fee", cowboy_console::amount::cby(receipt.fee.total)),
    ];
    if let Some(error) = &receipt.error {
        rows.push(("error", error.to_string()));
    }
    session.output.result(&receipt, table(rows));
    Ok(())
}
