//! `cowboy block` and `cowboy status`.

use super::session::Session;
use clap::Subcommand;
use cowboy_api::model;
use cowboy_console::{amount, failure::Failure, output::table};
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum Block {
    /// Print a block
    Get {
        /// Its height or hash, or `latest`
        id: String,
    },
    /// Print the newest block
    Latest,
}

impl Block {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        let id = match &self {
            Self::Get { id } => id,
            Self::Latest => "latest",
        };
        let block = session.client.block(id).await?;
        session.output.result(&block, describe(&block));
        Ok(())
    }
}

fn describe(block: &model::Block) -> String {
    let mut lines = vec![table([
        ("height", block.height.to_string()),
        ("hash", block.hash.to_string()),
        ("parent", block.header.parent.to_string()),
        ("time", format!("{} ms", block.header.timestamp_ms)),
        ("state root", block.header.state_root.to_string()),
        ("base fees", format!("{} a cycle, {} a cell", block.header.base_fee_cycle, block.header.base_fee_cell)),
        ("transactions", block.transactions.len().to_string()),
        ("receipts", block.receipts.len().to_string()),
    ])];
    lines.extend(
        block
            .receipts
            .iter()
            .map(|receipt| format!("  {} {} {} → {} {}", receipt.tx_hash, receipt.status, receipt.kind, receipt.target, receipt.handler)),
    );
    lines.join("\n")
}

/// Prints how the chain and the node are.
pub(crate) async fn status(session: &Session) -> Result<(), Failure> {
    let health = session.client.health().await?;
    let fees = session.client.base_fee().await?;
    let supply: model::Supply = session.client.get("/supply").await?;
    let rows = table([
        ("node", format!("{} ({})", session.client.url(), health.version)),
        ("chain", format!("{}{}", health.chain_id, if health.dev { ", a dev chain" } else { "" })),
        ("genesis", health.genesis.to_string()),
        ("height", health.height.to_string()),
        ("waiting", health.mempool.to_string()),
        ("base fees", format!("{} a cycle, {} a cell", fees.cycle_basefee, fees.cell_basefee)),
        ("supply", amount::cby(supply.circulating)),
    ]);
    session.output.result(&json!({ "health": health, "basefee": fees, "supply": supply }), rows);
    Ok(())
}
