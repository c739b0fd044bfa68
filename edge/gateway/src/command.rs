//! POST, PUT, PATCH and DELETE: a transaction that the gateway signs and pays (004 §8.4).

use crate::{
    attempts::Attempts,
    ids::Salt,
    query::Runner,
    raised::Failed,
    refusal::Refusal,
    requests::{Requests, Sent},
    sending::{Accepted, Standing, Submitter, refused_for_good, submit_in_turn},
    signing::Signing,
    source::{NotTaken, Upstream},
    state::{BlockState, Newest},
};
use cowboy_chain::{
    Facts, Invalid, SignedTransaction, Simulation,
    admit::{check_form, intrinsic},
    fees::BaseFees,
    lanes::Lane,
    query::Tried,
    resume,
};
use cowboy_node::{NodeHandle, traces};
use cowboy_params::Params;
use cowboy_serve::Client;
use cowboy_system::{
    gateways::{
        answers::{SignedAnswer, Statement},
        state as records,
    },
    requests::{Request, dispatch},
};
use cowboy_types::{
    Address, Blob, Hash, Height, Text, Transaction,
    cbor::Value,
    error,
    instruction::{Actor, Instruction, MAX_TRANSACTION_BYTES, System},
    signing::PrivateKey,
    units::{Amount, Cells, Cycles, Nonce, Price},
};
use hyper::StatusCode;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{runtime::Handle, sync::Mutex, time::sleep};

/// What the rest of a transaction takes beside its payload, generously.
const OVERHEAD_BYTES: usize = 512;

/// What a base unit of tip buys nobody yet; enough to be seen.
const TIP: Price = Price(100);

/// How long a command waits while others are sent.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Base fees that every price pays.
const FREE: BaseFees = BaseFees { cycle: Price(0), cell: Price(0) };

/// Signs and sends commands, one after the other.
pub(crate) struct Commander {
    key: PrivateKey,
    upstream: Upstream,
    /// Where transactions are tried.
    runner: Runner,
    /// The state that says what is final.
    newest: Arc<Newest>,
    /// What was signed and is not final.
    signing: Mutex<Signing>,
    /// Through what commands may run.
    attempts: Attempts,
    /// Commands that a pool took.
    requests: Arc<Requests>,
    /// Cycles of a transaction that fails when it is tried.
    cycles: u64,
}

impl Commander {
    pub(crate) fn new(
        key: PrivateKey,
        upstream: Upstream,
        runner: Runner,
        newest: Arc<Newest>,
        cycles: u64,
        signing: Signing,
        requests: Arc<Requests>,
    ) -> Self {
        let attempts = signing.attempts();
        Self { key, upstream, runner, newest, signing: Mutex::new(signing), attempts, requests, cycles }
    }

    /// Through what commands may run.
    pub(crate) fn attempts(&self) -> &Attempts {
        &self.attempts
    }

    pub(crate) fn address(&self) -> Address {
        self.key.address()
    }

    /// Signs what an actor answered.
    pub(crate) fn sign_answer(&self, statement: Statement) -> SignedAnswer {
        SignedAnswer { signature: self.key.sign(&statement.digest()), statement }
    }

    /// The most bytes of payload that a command has.
    pub(crate) fn payload_bytes() -> usize {
        MAX_TRANSACTION_BYTES - OVERHEAD_BYTES
    }

    /// Sends a request to its actor, by way of the registry, where it does not fail when it is tried, and the gateway agrees to the cycles and cells
    /// that it would sign for. It is among the commands under way once a pool has it. Answers nothing where the request was delivered meanwhile.
    pub(crate) async fn dispatch(
        &self,
        client: Client,
        node: &NodeHandle,
        state: &Arc<BlockState>,
        (target, envelope, salt): (Address, Value, Salt),
        agree: impl FnOnce((Cycles, Cells)) -> Result<Sent, Refusal>,
    ) -> Result<Option<Accepted>, Refusal> {
        let request = dispatch(target, envelope, Hash(salt.0));
        if request.argument.encode().len() > Self::payload_bytes() {
            // What no transaction carries is refused before there is one (decision 127).
            return Err(Refusal::too_large(u64::try_from(Self::payload_bytes()).unwrap_or(u64::MAX)));
        }
        let unsigned = self.unsigned(state, request, Amount::ZERO)?;
        let (priced, failed) = self.priced(client, state, unsigned).await?;
        if let Some(failed) = failed.filter(|failed| failed.abort != error::UNAUTHORIZED_GATEWAY) {
            if self.runner.raised.is_due(Instant::now()) {
                tracing::warn!(actor = %target, why = failed.why(), line = failed.line(), "a command failed when it was tried, and was not sent");
            }
            return Err(failing(&failed, state.head.height));
        }
        let command = agree((priced.cycles_limit, priced.cells_limit))?;
        self.submit(node, &priced, Some(command)).await
    }

    /// Sends a call of the registry.
    pub(crate) async fn send(
        &self,
        client: Client,
        node: &NodeHandle,
        state: &Arc<BlockState>,
        request: Request,
        value: Amount,
    ) -> Result<(), Refusal> {
        let unsigned = self.unsigned(state, request, value)?;
        let (priced, _) = self.priced(client, state, unsigned).await?;
        self.submit(node, &priced, None).await?;
        Ok(())
    }

    /// A call of the registry, without limits, prices and signature.
    fn unsigned(&self, state: &BlockState, request: Request, value: Amount) -> Result<Transaction, Refusal> {
        Ok(self.of_instruction(
            state,
            Instruction::Actor(Actor::Execute {
                target: Address::system(request.actor),
                handler: Text::new(request.method).expect("methods have short names"),
                payload: Blob::new(request.argument.encode()).ok_or_else(|| Refusal::too_large(0))?,
                value,
            }),
        ))
    }

    /// A transaction with this instruction, without limits, prices and signature.
    fn of_instruction(&self, state: &BlockState, instruction: Instruction) -> Transaction {
        Transaction {
            chain_id: state.at.chain.chain_id,
            nonce: Nonce(0),
            instruction,
            cycles_limit: Cycles(0),
            cells_limit: Cells(0),
            max_fee_per_cycle: Price(0),
            max_fee_per_cell: Price(0),
            max_priority_fee_per_cycle: TIP,
            max_priority_fee_per_cell: TIP,
            from: self.address(),
            metadata: Default::default(),
            origin_tx_hash: None,
            origin_remaining_cycles: None,
            origin_remaining_cells: None,
            signature: Default::default(),
            additional_signers: Default::default(),
        }
    }

    /// Limits and prices: tried on committed state, with room for what may change until it runs. And why it failed there, where it did.
    async fn priced(
        &self,
        client: Client,
        state: &Arc<BlockState>,
        mut transaction: Transaction,
    ) -> Result<(Transaction, Option<Failed>), Refusal> {
        let (chain, params) = (&state.at.chain, &state.params);
        let facts = Facts { chain_id: chain.chain_id, is_dev: chain.is_dev, params, base_fees: FREE };
        let (state, trial) = (state.clone(), transaction.clone());
        let tried = self.runner.run(client, move |runtime| simulate(runtime, &state, trial)).await?;
        let twice = |price: Price| Price(price.0.saturating_mul(2).saturating_add(TIP.0));
        transaction.max_fee_per_cycle = twice(tried.base_fees.cycle);
        transaction.max_fee_per_cell = twice(tried.base_fees.cell);
        let size = u64::try_from(transaction.to_bytes().len()).unwrap_or(u64::MAX);
        let (receipt, trace) = tried.result.map_err(hopeless)?;
        let (cycles, cells) = match &receipt.abort {
            None => (receipt.cycles_used.0, receipt.cells_used.0),
            // It may do better on the state that it will meet.
            Some(_) => (self.cycles, size.saturating_add(65_536)),
        };
        (transaction.cycles_limit, transaction.cells_limit) = limits(params, tried.lane, (cycles, cells));
        refuse_hopeless(&facts, tried.lane, &transaction)?;
        let exception = traces::failing(&trace).and_then(|call| call.exception.clone());
        Ok((transaction, receipt.abort.map(|abort| Failed { abort, exception })))
    }

    /// Submits a transaction, and answers nothing where its request was delivered already: see [`submit_in_turn`].
    async fn submit(&self, node: &NodeHandle, transaction: &Transaction, command: Option<Sent>) -> Result<Option<Accepted>, Refusal> {
        submit_in_turn(&Pool { commander: self, node }, &self.signing, transaction, command).await
    }

    fn signed(&self, mut transaction: Transaction) -> Transaction {
        self.key.sign_transaction(&mut transaction);
        transaction
    }
}

/// Room for a command that used this much when it was tried, and no more than a transaction of its lane may have.
fn limits(params: &Params, lane: Lane, (cycles, cells): (u64, u64)) -> (Cycles, Cells) {
    let with_room = |used: u64, more: u64| used.saturating_mul(3).div_ceil(2).saturating_add(more);
    (Cycles(with_room(cycles, 50_000)).min(lane.budget(params)), Cells(with_room(cells, 2_000).min(params.fees.block_cells)))
}

/// Refuses what no pool takes before anybody has seen it, with which its nonce would be lost. Prices are not looked at: they are raised where they do not suffice.
fn refuse_hopeless(facts: &Facts<'_>, lane: Lane, transaction: &Transaction) -> Result<(), Refusal> {
    check_form(facts, lane, &SignedTransaction::unchecked(transaction.clone())).map(drop).map_err(hopeless)
}

fn hopeless(invalid: Invalid) -> Refusal {
    match invalid {
        Invalid::TooLarge { max, .. } => Refusal::too_large(max),
        invalid => refused_for_good(invalid),
    }
}

/// A command that fails on the newest state. What the gateway itself lacks there, a registration or a heartbeat, is on its way and no failure of it.
fn failing(failed: &Failed, height: Height) -> Refusal {
    let row = error::row(failed.abort.code);
    let class = failed.exception.as_ref().map(|exception| format!(" ({})", exception.name)).unwrap_or_default();
    let what = format!("The command fails on the state after block {height}: {}{class} {}", row.what, row.why);
    let fix = "Correct the request. If it relies on a command that is under way, send it again when that one is done.";
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "HANDLER_PANIC", what, fix)
}

/// The pool that a commander's transactions go to, and the node that says what is final.
struct Pool<'a> {
    commander: &'a Commander,
    node: &'a NodeHandle,
}

#[async_trait::async_trait]
impl Submitter for Pool<'_> {
    fn sender(&self) -> Address {
        self.commander.address()
    }

    fn is_own(&self) -> bool {
        matches!(self.commander.upstream, Upstream::Own)
    }

    async fn standing(&self, request: Option<&str>) -> Result<Standing, Refusal> {
        let (state, sender) = (self.commander.newest.state().await?, self.sender());
        state
            .ask(|world| {
                let nonce = world.account(sender)?.nonce;
                let is_done = request.map(|id| records::request(world, id)).transpose()?.flatten().is_some();
                Ok(Standing { nonce, is_done })
            })
            .await
    }

    async fn next_nonce(&self, after: Nonce) -> Result<Nonce, Refusal> {
        self.commander.upstream.next_nonce(self.node, self.sender(), after).await.map_err(Refusal::unavailable)
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    async fn patience(&self) {
        sleep(PATIENCE).await;
    }

    async fn empty_transfer(&self) -> Result<Transaction, Refusal> {
        let state = self.commander.newest.state().await?;
        let mut empty =
            self.commander.of_instruction(&state, Instruction::System(System::Transfer { to: self.sender(), amount: Amount::ZERO }));
        let used = intrinsic(&state.params, &empty);
        (empty.cycles_limit, empty.cells_limit) = (used.cycles, used.cells);
        Ok(empty)
    }

    fn sign(&self, unsigned: Transaction) -> Transaction {
        self.commander.signed(unsigned)
    }

    async fn submit(&self, transaction: &Transaction) -> Result<Hash, NotTaken> {
        self.commander.upstream.submit(self.node, transaction).await
    }

    fn note_taken(&self, hash: Hash, command: Sent) {
        self.commander.requests.add(hash, command);
    }

    fn note_used(&self, commands: Vec<(Transaction, Sent)>) -> Result<(), Refusal> {
        self.commander.requests.look_up(self.node, commands)
    }
}

fn simulate(runtime: &Handle, state: &BlockState, transaction: Transaction) -> Result<Tried, Refusal> {
    resume::run(&mut Simulation::new(state.at.clone(), transaction), |keys| state.fetch_here(runtime, keys))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// Decision 636: the gateway signs no limit that every pool refuses, however much the command used when it was tried, and nothing that is too long for a transaction.
    #[test]
    fn nothing_hopeless_is_signed() {
        let mut params = Params::GENESIS;
        let most = Lane::User.budget(&params);
        let check = |params: &Params, used: (u64, u64)| {
            let (cycles_limit, cells_limit) = limits(params, Lane::User, used);
            let transaction = Transaction { cycles_limit, cells_limit, ..testing::dispatch(1, "one") };
            let facts = Facts { chain_id: transaction.chain_id, is_dev: false, params, base_fees: FREE };
            refuse_hopeless(&facts, Lane::User, &transaction).map(|()| (cycles_limit, cells_limit)).map_err(|refusal| refusal.code)
        };
        assert_eq!(check(&params, (100_000, 1_000)), Ok((Cycles(200_000), Cells(3_500))));
        let heavy = (most.0 / 10 * 9, params.fees.block_cells / 10 * 9);
        assert_eq!(check(&params, heavy), Ok((most, Cells(params.fees.block_cells))));
        params.execution.transaction_bytes = 100;
        assert_eq!(check(&params, heavy), Err("REQUEST_TOO_LARGE"));
        params = Params::GENESIS;
        params.intrinsic.message_cycles = most.0 + 1;
        assert_eq!(check(&params, heavy), Err("COMMAND_REFUSED"));
    }
}
