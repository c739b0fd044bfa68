//! `cowboy chain`: steering a dev chain.

use super::session::Session;
use clap::{Args, Subcommand};
use commonware_codec::Encode as _;
use cowboy_api::{
    ApiError, Hex,
    error::{NOT_FOUND, TIMEOUT},
    model,
};
use cowboy_console::{amount, failure::Failure, payload};
use cowboy_types::{Actor, Blob, System, Text, instruction::Ordinary};
use std::{
    pin::pin,
    time::{Duration, Instant},
};

/// Time between two lines about a warp, or about blocks that are produced.
const TELL_EVERY: Duration = Duration::from_secs(2);

/// The most blocks that are asked for at once. The node produces them even if the client has gone.
const MINED_AT_ONCE: u64 = 100;

#[derive(Debug, Subcommand)]
pub(crate) enum Chain {
    /// Produce blocks now; Ctrl-C ends it
    Mine {
        /// Number of blocks
        #[arg(default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        blocks: u64,
    },
    /// Advance to a later height or time; every timer in between fires
    Warp(Warp),
    /// Take a snapshot of the chain, to revert to
    Snapshot,
    /// Revert to a snapshot, which consumes it
    Revert {
        /// The snapshot's number
        id: u64,
    },
    /// Set an account's balance
    SetBalance {
        /// The account's address
        address: String,
        /// The amount: base units, or CBY like 2.5cby
        amount: String,
    },
    /// Act as another account
    Impersonate(Impersonate),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cowboy chain warp --blocks 3600
  cowboy chain warp --height 100000")]
#[group(required = true, multiple = false)]
pub(crate) struct Warp {
    /// The height to advance to
    #[arg(long)]
    height: Option<u64>,
    /// The number of blocks to advance
    #[arg(long)]
    blocks: Option<u64>,
    /// The time to advance to, in milliseconds since 1970
    #[arg(long)]
    timestamp_ms: Option<u64>,
}

#[derive(Args, Debug)]
pub(crate) struct Impersonate {
    /// The account that appears as the sender
    sender: String,
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Send the account's CBY
    Transfer {
        /// The recipient's address
        to: String,
        /// The amount: base units, or CBY like 2.5cby
        amount: String,
    },
    /// Call a handler of an actor
    Execute {
        /// The actor
        actor: String,
        /// The handler's name
        handler: String,
        /// Its argument: JSON, hex with 0x, or @FILE
        #[arg(long, default_value = "", allow_hyphen_values = true)]
        payload: String,
        /// CBY to send along: base units, or CBY like 2.5cby
        #[arg(long, default_value = "0")]
        value: String,
    },
}

impl Chain {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Mine { blocks } => at(session, mine(session, blocks).await?),
            Self::Warp(warp) => at(session, warp.run(session).await?),
            Self::Snapshot => {
                let snapshot: model::Snapshot = session.client.post("/dev/snapshot", &serde_json::json!({})).await?;
                session.output.result(
                    &snapshot,
                    format_args!(
                        "Snapshot {} at height {}\nTo revert to it: cowboy chain revert {}",
                        snapshot.id, snapshot.height, snapshot.id
                    ),
                );
            }
            Self::Revert { id } => {
                at(session, session.client.post("/dev/revert", &model::Revert { id }).await.map_err(|error| no_snapshot(error, id))?)
            }
            Self::SetBalance { address, amount: text } => {
                let (address, balance) = (session.address(&address)?, amount::argument(&text)?);
                let wish = model::SetBalance { address: Hex(address), balance: balance.get() };
                let receipt = receipt(session.client.post("/dev/balance", &wish).await?)?;
                session.output.result(&receipt, format_args!("{address} has {}", amount::both(balance.get())));
            }
            Self::Impersonate(impersonate) => impersonate.run(session).await?,
        }
        Ok(())
    }
}

/// The failure to revert: that there is no such snapshot has its own remedy.
fn no_snapshot(mut error: ApiError, id: u64) -> ApiError {
    if error.code == NOT_FOUND.code {
        error.what = format!("There is no snapshot {id}.");
        error.why = "A revert consumes its snapshot, and those that are newer.".into();
        error.fix = "Take one: `cowboy chain snapshot` prints its number.".into();
    }
    error
}

/// Has blocks produced in parts, so that few are left to produce when the client goes.
async fn mine(session: &Session, blocks: u64) -> Result<model::Height, Failure> {
    let (mut height, mut told) = (model::Height { height: 0 }, Instant::now());
    let mut left = blocks;
    for part in parts(blocks) {
        height = session.client.post("/dev/mine", &model::Mine { blocks: part }).await?;
        left = left.saturating_sub(part);
        if left > 0 && told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            session.output.progress(format_args!(
                "Height {}, {} to produce; Ctrl-C ends it",
                height.height,
                amount::counted(left, "block")
            ));
        }
    }
    Ok(height)
}

/// A number of blocks in parts; none at all is one part, which the node refuses.
fn parts(blocks: u64) -> impl Iterator<Item = u64> {
    let rest = blocks % MINED_AT_ONCE;
    let whole = std::iter::repeat_n(MINED_AT_ONCE, usize::try_from(blocks / MINED_AT_ONCE).unwrap_or(usize::MAX));
    whole.chain((rest > 0 || blocks == 0).then_some(rest))
}

impl Warp {
    /// Asks again until the chain is there: the node ends a warp that takes long, and one whose client has gone.
    async fn run(self, session: &Session) -> Result<model::Height, Failure> {
        let wish = self.wish(session.client.height().await?);
        loop {
            match warped(session, &wish).await {
                Err(error) if error.code == TIMEOUT.code => {
                    let reached = error.context["height"].as_u64().unwrap_or_default();
                    if wish.height.is_some_and(|target| reached >= target) {
                        return Ok(model::Height { height: reached });
                    }
                }
                answered => return Ok(answered?),
            }
        }
    }

    /// What is asked of the node of a chain at this height: a number of blocks is a height, so that it can be asked again.
    fn wish(&self, now: u64) -> model::Warp {
        let height = self.height.or(self.blocks.map(|blocks| now.saturating_add(blocks)));
        model::Warp { height, blocks: None, timestamp_ms: self.timestamp_ms }
    }
}

/// Warps, and says meanwhile how far the chain is.
async fn warped(session: &Session, wish: &model::Warp) -> Result<model::Height, ApiError> {
    let mut answer = pin!(session.client.post::<model::Height>("/dev/warp", wish));
    loop {
        tokio::select! {
            answer = &mut answer => return answer,
            () = tokio::time::sleep(TELL_EVERY) => {}
        }
        if let Ok(height) = session.client.height().await {
            let target = wish.height.map_or_else(String::new, |target| format!(" of {target}"));
            session.output.progress(format_args!("Height {height}{target}; Ctrl-C ends the warp"));
        }
    }
}

fn at(session: &Session, height: model::Height) {
    session.output.result(&height, format_args!("Height {}", height.height));
}

/// The receipt of a dev instruction; a failed one is a failure.
pub(super) fn receipt(result: model::SubmitResult) -> Result<model::Receipt, Failure> {
    let receipt = result.receipt.ok_or_else(|| result.error.unwrap_or_else(|| ApiError::of_fault(TIMEOUT)))?;
    match receipt.error {
        Some(error) => Err(error.into()),
        None => Ok(receipt),
    }
}

impl Impersonate {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        let sender = session.address(&self.sender)?;
        let instruction = match self.act {
            Act::Transfer { to, amount: text } => {
                Ordinary::System(System::Transfer { to: session.address(&to)?, amount: amount::argument(&text)? })
            }
            Act::Execute { actor, handler, payload: text, value } => {
                let target = session.address(&actor)?;
                let code = payload::source_of(&session.client, &target).await;
                let payload = payload::argument(&text, &code, &handler)?;
                Ordinary::Actor(Actor::Execute {
                    target,
                    handler: Text::new(handler)
                        .ok_or_else(|| Failure::argument("the handler's name is longer than 256 bytes", "shorten it"))?,
                    payload: Blob::new(payload).ok_or_else(|| Failure::argument("the payload is larger than 128 KiB", "shorten it"))?,
                    value: amount::argument(&value)?,
                })
            }
        };
        let wish = model::Impersonate { sender: Hex(sender), instruction: Hex(instruction.encode().to_vec()) };
        let receipt = receipt(session.client.post("/dev/impersonate", &wish).await?)?;
        session.output.result(&receipt, format_args!("Transaction hash: {}\nResult: {}", receipt.tx_hash, receipt.return_value));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_asked_for_in_parts() {
        for (blocks, expected) in [(0, vec![0]), (3, vec![3]), (100, vec![100]), (250, vec![100, 100, 50])] {
            assert_eq!(parts(blocks).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn a_number_of_blocks_is_a_height() {
        let rows = [
            (Warp { height: Some(9), blocks: None, timestamp_ms: None }, (Some(9), None)),
            (Warp { height: None, blocks: Some(9), timestamp_ms: None }, (Some(109), None)),
            (Warp { height: None, blocks: Some(u64::MAX), timestamp_ms: None }, (Some(u64::MAX), None)),
            (Warp { height: None, blocks: None, timestamp_ms: Some(9) }, (None, Some(9))),
        ];
        for (warp, expected) in rows {
            let wish = warp.wish(100);
            assert_eq!((wish.height, wish.timestamp_ms, wish.blocks), (expected.0, expected.1, None));
        }
    }
}
