//! `cowboy block` and `cowboy status`.

use super::session::Session;
use clap::Subcommand;
use cowboy_api::{HexHash, model};
use cowboy_console::{amount, failure::Failure, output::table};
use cowboy_host::clock;
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
        require_id(id)?;
        let block = session.client.block(id).await?;
        session.output.result(&block, describe(&block));
        Ok(())
    }
}

/// Refuses what names no block of any chain.
fn require_id(id: &str) -> Result<(), Failure> {
    let is_height = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    if is_height || id == "latest" || id.parse::<HexHash>().is_ok() {
        return Ok(());
    }
    Err(Failure::argument(format!("{id:?} names no block"), "give a height, a hash of 64 hex digits after 0x, or latest"))
}

fn describe(block: &model::Block) -> String {
    let mut lines = vec![table([
        ("height", block.height.to_string()),
        ("hash", block.hash.to_string()),
        ("parent", block.header.parent.to_string()),
        ("time", format!("{} ms", block.header.timestamp_ms)),
        ("state root", block.header.state_root.to_string()),
        ("base fees", format!("{} base units a cycle, {} a cell", block.header.base_fee_cycle, block.header.base_fee_cell)),
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

/// The height, and how old its block is: a chain that stands still shows it there.
fn height(height: u64, newest_ms: Option<u64>, now_ms: u64) -> String {
    let Some(newest_ms) = newest_ms else { return height.to_string() };
    format!("{height}, {} s ago by this computer's clock", now_ms.saturating_sub(newest_ms) / 1_000)
}

/// Prints how the chain and the node are.
pub(crate) async fn status(session: &Session) -> Result<(), Failure> {
    let health = session.client.health().await?;
    let fees = session.client.base_fee().await?;
    let supply: model::Supply = session.client.get("/supply").await?;
    let newest_ms = session.client.block("latest").await.ok().map(|block| block.header.timestamp_ms);
    let rows = table([
        ("node", format!("{} ({})", session.client.url(), health.version)),
        ("chain", format!("{}{}", health.chain_id, if health.dev { ", a dev chain" } else { "" })),
        ("genesis", health.genesis.to_string()),
        ("height", height(health.height, newest_ms, clock::now_ms())),
        ("waiting", amount::counted(health.mempool, "transaction")),
        ("base fees", format!("{} base units a cycle, {} a cell", fees.cycle_basefee, fees.cell_basefee)),
        ("supply", amount::cby(supply.circulating)),
    ]);
    session.output.result(&json!({ "health": health, "basefee": fees, "supply": supply }), rows);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_a_height_or_a_hash() {
        let hash = format!("0x{}", "ab".repeat(32));
        let rows = [("7", true), ("latest", true), (hash.as_str(), true), ("abc", false), ("", false), ("0x12", false), ("7x", false)];
        for (id, is_one) in rows {
            assert_eq!(require_id(id).is_ok(), is_one, "{id}");
        }
    }

    #[test]
    fn a_block_has_an_age() {
        assert_eq!(height(7, Some(10_000), 73_999), "7, 63 s ago by this computer's clock");
        assert_eq!([height(7, None, 5), height(0, Some(9), 5)], ["7", "0, 0 s ago by this computer's clock"]);
    }
}
