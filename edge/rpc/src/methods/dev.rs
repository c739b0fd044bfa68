//! What only dev chains do.

use super::faucet;
use crate::{
    App,
    refusal::{Answer, Body, Refusal},
};
use axum::{Json, extract::State};
use commonware_codec::DecodeExt as _;
use cowboy_api::{
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

/// How long mining and warping may take before the response says that they continue.
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

/// What is asked of the node, with the end of patience.
async fn patiently(app: &App, asked: impl Future<Output = Result<Head, DevError>>) -> Answer<model::Height> {
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(head) => Ok(Json(model::Height { height: head?.height.get() })),
        Err(_) => Err(Refusal::new(TIMEOUT, json!({ "height": app.node.head().height.get() }))),
    }
}

pub(crate) async fn mine(State(app): State<App>, Body(wish): Body<model::Mine>) -> Answer<model::Height> {
    only_on_dev_chains(&app)?;
    if !(1..=MAX_MINED).contains(&wish.blocks) {
        return Err(Refusal::bad("blocks", format!("between 1 and {MAX_MINED}")));
    }
    patiently(&app, app.node.mine(wish.blocks)).await
}

pub(crate) async fn warp(State(app): State<App>, Body(wish): Body<model::Warp>) -> Answer<model::Height> {
    only_on_dev_chains(&app)?;
    match (wish.height, wish.blocks, wish.timestamp_ms) {
        (Some(height), None, None) => patiently(&app, app.node.warp_to_height(Height(height))).await,
        (None, Some(blocks), None) => {
            patiently(&app, app.node.warp_to_height(Height(app.node.head().height.get().saturating_add(blocks)))).await
        }
        (None, None, Some(time)) => patiently(&app, app.node.warp_to_time(TimestampMs(time))).await,
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
