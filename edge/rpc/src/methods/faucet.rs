//! The account that pays for wishes and signs dev instructions.

use super::transactions;
use crate::{
    App,
    read::Snapshot,
    refusal::{Answer, Body, Refusal},
};
use axum::{Json, extract::State};
use cowboy_api::{
    ApiError, Hex,
    error::{FAUCET_EMPTY, NOT_DEV, TIMEOUT},
    model::{self, SubmitResult},
};
use cowboy_chain::{SignedTransaction, admit::instruction_cost, lanes::Lane};
use cowboy_serve::Client;
use cowboy_types::{Amount, Cells, Cycles, Instruction, System, Transaction, error::INSUFFICIENT_VALUE, signing::PrivateKey, units::Price};
use std::time::Duration;
use tokio::sync::Mutex;

/// How long an answer may take: longer than any block.
const TIMEOUT_MS: u64 = 30_000;

/// Room in the maximum price for rising base fees.
const PRICE_FACTOR: u64 = 4;

/// An account whose key the server has. One transaction at a time is made, so that nonces follow each other.
pub(crate) struct Payer {
    key: PrivateKey,
    turn: Mutex<()>,
}

impl Payer {
    pub(crate) fn new(key: PrivateKey) -> Self {
        Self { key, turn: Mutex::new(()) }
    }
}

/// Signs an instruction as the server's own account, submits it and waits for its receipt.
pub(crate) async fn send(app: &App, instruction: Instruction, limits: Option<(Cycles, Cells)>) -> Result<SubmitResult, Refusal> {
    let payer = app.faucet.as_ref().ok_or(NOT_DEV)?;
    let turn = payer.turn.lock().await;
    let blocks = app.node.subscribe();
    let mut state = Snapshot::newest(app);
    let params = state.params(&app.chain.params).await?;
    let from = payer.key.address();
    let chain = app.node.chain()?;
    let fees = chain.mempool.base_fees(Lane::User);
    let least = instruction_cost(&params, &instruction);
    let (cycles_limit, cells_limit) = limits.unwrap_or((least.cycles, least.cells));
    let raise = |price: Price| Price(price.0.saturating_mul(PRICE_FACTOR));
    let mut transaction = Transaction {
        chain_id: app.chain.chain_id,
        nonce: app.node.next_nonce(from).await?,
        instruction,
        cycles_limit: cycles_limit.min(Lane::User.budget(&params)),
        cells_limit,
        max_fee_per_cycle: raise(fees.cycle),
        max_fee_per_cell: raise(fees.cell),
        max_priority_fee_per_cycle: Price::ZERO,
        max_priority_fee_per_cell: Price::ZERO,
        from,
        metadata: Default::default(),
        origin_tx_hash: None,
        origin_remaining_cycles: None,
        origin_remaining_cells: None,
        signature: Default::default(),
        additional_signers: Default::default(),
    };
    payer.key.sign_transaction(&mut transaction);
    let signed = SignedTransaction::unchecked(transaction);
    let hash = *signed.digest();
    for answer in app.node.submit_signed(vec![Ok(signed)]).await? {
        answer.map_err(|refused| Refusal(transactions::explain(&refused)))?;
    }
    drop(turn);
    let mut results = [SubmitResult { tx_hash: Some(Hex(hash)), ..SubmitResult::default() }];
    transactions::receipts(app, Client::OWN, blocks, &mut results, Duration::from_millis(TIMEOUT_MS)).await?;
    let [result] = results;
    Ok(result)
}

pub(crate) async fn faucet(State(app): State<App>, Body(wish): Body<model::FaucetRequest>) -> Answer<model::FaucetAnswer> {
    let amount = Amount(Snapshot::newest(&app).params(&app.chain.params).await?.economics.faucet);
    let result = send(&app, Instruction::System(System::Transfer { to: wish.address.0, amount }), None).await.map_err(|refusal| {
        match refusal.0.code {
            code if code == INSUFFICIENT_VALUE.code => FAUCET_EMPTY.into(),
            _ => refusal,
        }
    })?;
    let receipt = result.receipt.ok_or_else(|| Refusal(result.error.unwrap_or_else(|| ApiError::of_fault(TIMEOUT))))?;
    if let Some(error) = receipt.error {
        return Err(error.into());
    }
    Ok(Json(model::FaucetAnswer {
        status: "success".into(),
        tx_hash: receipt.tx_hash,
        amount: amount.get(),
        amount_cby: amount.get() / Amount::CBY.get(),
    }))
}
