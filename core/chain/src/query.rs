//! Queries: reading a handler's result, and simulating a transaction.
//!
//! Both run the block's own loop over committed state and discard the overlay.

use crate::admit::{Facts, Invalid, SignedTransaction, check_form};
use crate::delivery::{Door, Envelope, Machine, Work};
use crate::engine::{Exception, Images};
use crate::execution::rules;
use crate::fees::{Offers, Used};
use crate::input::{BaseFees, ChainConfig, Trace, beacon};
use crate::lanes::Lane;
use crate::resume::{Need, Records, Resume};
use bytes::Bytes;
use cowboy_state::{Miss, World};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Amount, Cells, Cycles, Height, TimestampMs};
use cowboy_types::{Abort, Address, Hash, Header, Receipt, error};
use std::sync::Arc;

/// The committed block on whose state a query or simulation runs.
#[derive(Clone)]
pub struct At {
    /// The chain.
    pub chain: Arc<ChainConfig>,
    /// The committed block's height.
    pub height: Height,
    /// Its time.
    pub timestamp: TimestampMs,
    /// Its parent beacon.
    pub beacon: Bytes,
    /// The absolute round whose seed that is, epoch and view; zeros where there is none.
    pub round: (u64, u64),
    /// The cache of compiled actors.
    pub images: Arc<dyn Images>,
}

impl At {
    /// The state after the block with this header.
    pub fn after(header: &Header, chain: Arc<ChainConfig>, images: Arc<dyn Images>) -> Self {
        let is_seedless = header.seeds.is_empty();
        Self {
            chain,
            height: header.height(),
            timestamp: header.timestamp_ms,
            beacon: beacon(&header.context, &header.parent, &header.seeds).into(),
            round: if is_seedless { (0, 0) } else { (header.context.epoch.0, header.context.view.0.saturating_sub(1)) },
            images,
        }
    }
}

/// A question to an actor: nothing changes, nobody pays (004 §8.3.1).
#[derive(Clone, Debug)]
pub struct Question {
    /// The actor to query.
    pub target: Address,
    /// The handler's name.
    pub handler: String,
    /// Its argument.
    pub payload: Bytes,
    /// The most cycles; `execution.query_cycles_default` where absent, `gateways.query_cycles_max` at most.
    pub cycles_limit: Option<Cycles>,
}

/// What a handler may do in a query and what not, for messages: which host functions those are is a column of their table.
pub const QUERIES: &str = "A query reads the actor's storage by key, the block and the actor's entitlements. It changes nothing, lists no keys by prefix, reads no balance, token or owner, calls no actor and uses no randomness.";

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The handler asked for what only a transaction may do, which need not be a write: ERR_QUERY_NO_SIDE_EFFECTS.
    #[error("the handler called {function}, which a query may not. {QUERIES}")]
    SideEffect {
        /// The host function.
        function: String,
    },
    /// The cycles ran out: ERR_QUERY_CYCLE_LIMIT.
    #[error("the query needs more than {limit} cycles; raise max_cycles")]
    CycleLimit {
        /// The most it was given.
        limit: Cycles,
    },
    /// The handler failed.
    #[error("{}", error::row(abort.code).what)]
    Failed {
        /// The row of the error table.
        abort: Abort,
        /// The Python exception that nobody caught, where one did it.
        exception: Option<Exception>,
    },
}

/// What a question brought.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What the handler returned.
    pub result: Result<Bytes, QueryError>,
    /// Compute used.
    pub cycles_used: Cycles,
    /// What happened inside.
    pub trace: Trace,
}

/// A question being answered: one owned value, synchronous, without I/O.
pub struct Query {
    machine: Machine,
    question: Question,
    is_open: bool,
}

impl Resume for Query {
    type Output = Answer;

    fn advance(&mut self, records: Records) -> Need<Answer> {
        self.machine.fill(records);
        loop {
            match self.step() {
                Ok(None) => {}
                Ok(Some(answer)) => return Need::Done(answer),
                Err(miss) => return Need::Keys(self.machine.world.want(miss)),
            }
        }
    }
}

impl Query {
    /// A question that was not looked at yet.
    pub fn new(at: At, question: Question) -> Self {
        Self { machine: machine_at(&at), question, is_open: false }
    }

    fn step(&mut self) -> Result<Option<Answer>, Miss> {
        if !self.is_open {
            rules(&mut self.machine)?;
            self.begin();
            return Ok(None);
        }
        let limit = self.limit();
        Ok(self.machine.step()?.map(|delivered| {
            let exception = delivered.trace.calls.first().and_then(|call| call.exception.clone());
            let result = delivered.result.map_err(|abort| match (delivered.side_effect, abort) {
                (Some(function), _) => QueryError::SideEffect { function },
                (None, abort) if abort == error::OUT_OF_CYCLES => QueryError::CycleLimit { limit },
                (None, abort) => QueryError::Failed { abort, exception },
            });
            Answer { result, cycles_used: delivered.used.cycles, trace: delivered.trace }
        }))
    }

    fn limit(&self) -> Cycles {
        let params = &self.machine.environment.params;
        let asked = self.question.cycles_limit.unwrap_or(Cycles(params.execution.query_cycles_default));
        asked.min(Cycles(params.gateways.query_cycles_max))
    }

    fn begin(&mut self) {
        let limits = Used { cycles: self.limit(), cells: Cells(self.machine.environment.params.fees.block_cells) };
        let Question { target, handler, payload, .. } = self.question.clone();
        let work = Work::Handler { target, handler, payload, value: Amount::ZERO };
        let envelope = Envelope::new(ReceiptKind::Transaction, (Hash::ZERO, Hash::ZERO), Address::ZERO, work, limits);
        self.machine.begin(Envelope { door: Door::Query, ..envelope });
        self.is_open = true;
    }
}

/// What a transaction would bring.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The receipt it would have, or why it would be refused whatever the account has.
    pub result: Result<(Receipt, Trace), Invalid>,
    /// What its lane burns in the next block: the least that it has to offer.
    pub base_fees: BaseFees,
    /// The lane that it would run in.
    pub lane: Lane,
}

/// A transaction being tried on committed state: signature, nonce and balance for the fee are not looked at.
pub struct Simulation {
    machine: Machine,
    transaction: SignedTransaction,
    /// What its lane burns, and the lane, once they were read.
    place: Option<(BaseFees, Lane)>,
}

impl Resume for Simulation {
    type Output = Tried;

    fn advance(&mut self, records: Records) -> Need<Tried> {
        self.machine.fill(records);
        loop {
            match self.step() {
                Ok(None) => {}
                Ok(Some(tried)) => return Need::Done(tried),
                Err(miss) => return Need::Keys(self.machine.world.want(miss)),
            }
        }
    }
}

impl Simulation {
    /// A transaction that was not looked at yet. Limits of zero mean as much as is allowed, prices of zero the base fees.
    pub fn new(at: At, transaction: cowboy_types::Transaction) -> Self {
        let mut at = at;
        at.height = at.height.next();
        Self { machine: machine_at(&at), transaction: SignedTransaction::unchecked(transaction), place: None }
    }

    fn step(&mut self) -> Result<Option<Tried>, Miss> {
        let Some((base_fees, lane)) = self.place else {
            let (of_block, _) = rules(&mut self.machine)?;
            let transaction = self.transaction.transaction();
            let lane = Lane::of(&self.machine.world, transaction.from, &transaction.instruction)?;
            let base_fees = lane.base_fees(&self.machine.environment.params, of_block);
            self.fill_in(base_fees, lane);
            self.place = Some((base_fees, lane));
            let chain = self.machine.environment.chain.clone();
            let params = &self.machine.environment.params;
            let facts = Facts { chain_id: chain.chain_id, is_dev: chain.is_dev, params, base_fees: of_block };
            return match check_form(&facts, lane, &self.transaction) {
                Err(reason) => Ok(Some(Tried { result: Err(reason), base_fees, lane })),
                Ok(admitted) => {
                    self.machine.begin(Envelope::of_transaction(&self.transaction, admitted.intrinsic));
                    Ok(None)
                }
            };
        };
        Ok(self.machine.step()?.map(|delivered| {
            let transaction = self.transaction.transaction();
            let offers = Offers::from(transaction);
            let prices = offers.at(base_fees.cycle, base_fees.cell);
            let cost = prices.cost(delivered.used);
            let limits = Used { cycles: transaction.cycles_limit, cells: transaction.cells_limit };
            let reserved = offers.reserve(limits).expect("the form was checked");
            let refund = reserved.saturating_sub(cost.total());
            let fee = crate::execution::fee_of(transaction.from, &prices, reserved, &cost, refund);
            Tried { result: Ok((crate::execution::receipt_of(&delivered, fee), delivered.trace)), base_fees, lane }
        }))
    }

    /// Puts in what the caller left at zero, and the chain's id.
    fn fill_in(&mut self, base_fees: BaseFees, lane: Lane) {
        let params = &self.machine.environment.params;
        let mut transaction = self.transaction.transaction().clone();
        transaction.chain_id = self.machine.environment.chain.chain_id;
        if transaction.cycles_limit == Cycles::ZERO {
            transaction.cycles_limit = lane.budget(params);
        }
        if transaction.cells_limit == Cells::ZERO {
            transaction.cells_limit = Cells(params.fees.block_cells);
        }
        transaction.max_fee_per_cycle = transaction.max_fee_per_cycle.max(base_fees.cycle);
        transaction.max_fee_per_cell = transaction.max_fee_per_cell.max(base_fees.cell);
        self.transaction = SignedTransaction::unchecked(transaction);
    }
}

fn machine_at(at: &At) -> Machine {
    Machine::new(
        World::default(),
        crate::delivery::Environment {
            chain: at.chain.clone(),
            params: Arc::new(at.chain.params.clone()),
            rules: at.chain.versions.nearest(cowboy_system::FIRST_VERSION),
            deployers: Vec::new(),
            paused: Vec::new(),
            height: at.height,
            timestamp: at.timestamp,
            beacon: at.beacon.clone(),
            round: at.round,
            proposed: (at.round.0, at.round.1.saturating_add(1)),
            images: at.images.clone(),
        },
    )
}
