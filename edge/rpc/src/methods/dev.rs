//! What only dev chains do.

use super::faucet;
use crate::{
    App,
    refusal::{Answer, Body, Refusal},
};
use axum::{Json, extract::State};
use commonware_codec::DecodeExt as _;
use cowboy_api::{
    ApiError,
    error::{BAD_REQUEST, NOT_DEV, NOT_FOUND, SERVER, TIMEOUT},
    model,
};
use cowboy_chain::lanes::Lane;
use cowboy_node::{Head, dev::DevError};
use cowboy_types::{
    Amount, Cells, Height, Instruction, TimestampMs,
    instruction::{Custom, Ordinary},
};
use serde_json::json;
use std::time::Duration;

/// The most blocks that one wish mines.
const MAX_MINED: u64 = 100_000;

/// How long a request for blocks or a later time waits.
const PATIENCE: Duration = Duration::from_secs(120);

fn only_on_dev_chains(app: &App) -> Result<(), Refusal> {
    if app.chain.is_dev { Ok(()) } else { Err(NOT_DEV.into()) }
}

impl From<DevError> for Refusal {
    fn from(error: DevError) -> Self {
        let reason = json!({ "reason": error.to_string() });
        match error {
            DevError::NotDev | DevError::NotAlone(_) => Self::new(NOT_DEV, reason),
            DevError::Past { .. } => Self::new(BAD_REQUEST, reason),
            DevError::NoSnapshot(_) => Self::new(NOT_FOUND, reason),
            DevError::Unavailable(unavailable) => unavailable.into(),
            DevError::Ask(error) => error.into(),
            DevError::Store(error) => error.into(),
            DevError::Node(_) => Self::new(SERVER, reason),
        }
    }
}

/// What a request says that took longer than [`PATIENCE`].
#[derive(Clone, Copy)]
struct Late {
    what: &'static str,
    fix: &'static str,
}

/// Blocks that are ordered are made, whoever waits.
const MINING: Late = Late { what: "The chain still produces the blocks.", fix: "Wait for them: GET /height says how far the chain is." };

/// Dropping the question ends the warp.
const WARPING: Late =
    Late { what: "The warp ended before it was there.", fix: "Send the request again: it continues from the present height." };

impl Late {
    fn refusal(self, height: Height) -> Refusal {
        let why = format!("A request waits {} seconds at most.", PATIENCE.as_secs());
        let error = ApiError { what: self.what.into(), why, fix: self.fix.into(), ..ApiError::of_fault(TIMEOUT) };
        Refusal(error.with(json!({ "height": height.get() })))
    }
}

/// What is asked of the node, with the end of patience.
async fn patiently(app: &App, late: Late, asked: impl Future<Output = Result<Head, DevError>>) -> Answer<model::Height> {
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(head) => Ok(Json(model::Height { height: head?.height.get() })),
        Err(_) => Err(late.refusal(app.node.head().height)),
    }
}

pub(crate) async fn mine(State(app): State<App>, Body(wish): Body<model::Mine>) -> Answer<model::Height> {
    only_on_dev_chains(&app)?;
    if !(1..=MAX_MINED).contains(&wish.blocks) {
        return Err(Refusal::bad("blocks", format!("between 1 and {MAX_MINED}")));
    }
    patiently(&app, MINING, app.node.mine(wish.blocks)).await
}

pub(crate) async fn warp(State(app): State<App>, Body(wish): Body<model::Warp>) -> Answer<model::Height> {
    only_on_dev_chains(&app)?;
    match (wish.height, wish.blocks, wish.timestamp_ms) {
        (Some(height), None, None) => patiently(&app, WARPING, app.node.warp_to_height(Height(height))).await,
        (None, Some(blocks), None) => {
            patiently(&app, WARPING, app.node.warp_to_height(Height(app.node.head().height.get().saturating_add(blocks)))).await
        }
        (None, None, Some(time)) => patiently(&app, WARPING, app.node.warp_to_time(TimestampMs(time))).await,
        _ => Err(Refusal::bad("warp", "give exactly one of height, blocks and timestamp_ms")),
    }
}

pub(crate) async fn snapshot(State(app): State<App>) -> Answer<model::Snapshot> {
    only_on_dev_chains(&app)?;
    let (node, head) = (app.node.clone(), app.node.head());
    let id = stopped(move || node.snapshot()).await?;
    Ok(Json(model::Snapshot { id, height: head.height.get() }))
}

pub(crate) async fn revert(State(app): State<App>, Body(wish): Body<model::Revert>) -> Answer<model::Height> {
    only_on_dev_chains(&app)?;
    let node = app.node.clone();
    let head = stopped(move || node.revert(wish.id)).await?;
    Ok(Json(model::Height { height: head.height.get() }))
}

/// Does what stops the node for a moment, on a thread that may wait.
async fn stopped<T: Send + 'static>(act: impl FnOnce() -> Result<T, DevError> + Send + 'static) -> Result<T, Refusal> {
    match tokio::task::spawn_blocking(act).await {
        Ok(done) => Ok(done?),
        Err(error) => Err(Refusal::new(SERVER, json!({ "reason": error.to_string() }))),
    }
}

pub(crate) async fn balance(State(app): State<App>, Body(wish): Body<model::SetBalance>) -> Answer<model::SubmitResult> {
    only_on_dev_chains(&app)?;
    let instruction = Custom::SetBalance { account: wish.address.0, balance: Amount(wish.balance) };
    Ok(Json(faucet::send(&app, Instruction::Custom(instruction), None).await?))
}

pub(crate) async fn impersonate(State(app): State<App>, Body(wish): Body<model::Impersonate>) -> Answer<model::SubmitResult> {
    only_on_dev_chains(&app)?;
    let instruction = Ordinary::decode(wish.instruction.0).map_err(|error| Refusal::bad("instruction", error))?;
    let params = app.node.chain()?.params();
    let limits = (Lane::User.budget(&params), Cells(params.fees.block_cells / 4));
    let instruction = Custom::Impersonate { sender: wish.sender.0, instruction };
    Ok(Json(faucet::send(&app, Instruction::Custom(instruction), Some(limits)).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What takes too long has words of its own: no transaction waits.
    #[test]
    fn what_is_late_says_what_to_do() {
        for (late, word) in [(MINING, "GET /height"), (WARPING, "again")] {
            let Refusal(error) = late.refusal(Height(7));
            assert_eq!((error.code, &error.context["height"]), (TIMEOUT.code, &json!(7)));
            assert!(error.fix.contains(word) && error.why.contains("120 seconds"), "{error}");
            assert!(!error.to_string().contains("transaction"), "{error}");
        }
    }
}
