//! Answers of the off-chain market, before the transactions, and what becomes of jobs by itself, after the timers
//! (002 §3; 003 STF step 4; decisions 98, 125, 129).

use super::time::Part;
use super::{Charge, Execution, Halt, Phase, fee_of, receipt_of};
use crate::delivery::{Delivered, Envelope, Work, nested_id};
use crate::fees::{Cost, Offer, Offers, Prices, Used, lane_base_fee};
use crate::input::Trace;
use crate::lanes::Lane;
use cowboy_state::{Key, Kind, Miss};
use cowboy_system::actor::is_market_paused;
use cowboy_system::agenda;
use cowboy_system::dispatcher::{self, callback, lifecycle, state};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Amount, Cells, Cycles, Price};
use cowboy_types::{Address, Blob, Hash, List, Receipt, Text, keccak256};

/// What separates the receipts of a job's steps from those of its answer.
const STEP_DOMAIN: &[u8] = b"cowboy-job-step:";

/// The Dispatcher.
const DISPATCHER: Address = Address::system(dispatcher::NUMBER);

/// An answer whose most was held since its job was submitted, and which is being delivered.
#[derive(Clone, Debug)]
pub(super) struct Callback {
    payer: Address,
    offers: Offers,
    prices: Prices,
    reserve: Amount,
}

impl Execution {
    /// Takes the oldest pending callback, or continues with the transactions if none is pending or no room is left.
    /// Answers take at most half of the runners' lane, so that results still find room.
    pub(super) fn next_callback(&mut self) -> Result<(), Halt> {
        let params = &self.machine.environment.params;
        let used = self.books.space.usage().runner.cycles;
        let has_room = used.0 < params.lanes.runner_cycles / 2 && self.books.has_time(params, Part::Deliveries);
        let first = if has_room { callback::first(&self.machine.world)? } else { None };
        let Some((name, id)) = first else {
            self.begin_phase(Phase::Transactions(0));
            return Ok(());
        };
        let world = &mut self.machine.world;
        let asked = state::spec(world, &id)?.callback.expect("an answer waits only where one was asked for");
        let left = Used { cycles: self.books.space.left(params, Lane::Runner), cells: self.books.space.cells_left(params) };
        if asked.cycles > left.cycles || asked.cells > left.cells {
            self.begin_phase(Phase::Transactions(0));
            return Ok(());
        }
        let answer = callback::take(world, &name, &id)?;
        let callback = answer.callback;
        world.require([
            &Key::account(answer.payer),
            &Key::account(callback.actor),
            &Key::of(Kind::Actor, callback.actor),
            &state::patron_key(answer.payer),
        ])?;
        // The result was decoded for it, and encoded again.
        let bytes = u64::try_from(answer.payload.len()).unwrap_or(u64::MAX);
        let reading = bytes.saturating_mul(self.machine.environment.params.weights.argument_byte);
        self.books.weight = self.books.weight.saturating_add(reading);
        let offers = Offers {
            cycle: Offer { max: callback.max_fee_per_cycle, priority: Price::ZERO },
            cell: Offer { max: callback.max_fee_per_cell, priority: Price::ZERO },
        };
        let fees = self.books.base_fees;
        let cycle = lane_base_fee(fees.cycle, Lane::Runner.fee_multiplier(params));
        self.machine.begin(Envelope {
            id: nested_id(&id, 0),
            kind: ReceiptKind::Callback,
            origin: id,
            parent: Hash::ZERO,
            depth: 0,
            sent_before: 0,
            sender: callback::SENDER,
            work: Work::Handler {
                target: callback.actor,
                handler: callback.handler.to_string(),
                payload: answer.payload.into(),
                value: Amount::ZERO,
            },
            limits: Used { cycles: callback.cycles, cells: callback.cells },
            intrinsic: Used::default(),
        });
        let prices = offers.at(cycle, fees.cell);
        self.charge = Some(Charge::Callback(Callback { payer: answer.payer, offers, prices, reserve: answer.held }));
        Ok(())
    }

    /// Refunds what the answer's handler did not use. A handler that failed is charged all the same, and counted.
    pub(super) fn settle_callback(&mut self, callback: Callback, delivered: Delivered) -> Result<(), Miss> {
        let Callback { payer, offers, prices, reserve } = callback;
        let cost = prices.cost(delivered.used);
        let held = self.open_origin(&delivered, payer, offers, reserve, &cost)?;
        let refund =
            reserve.checked_sub(cost.total()).and_then(|rest| rest.checked_sub(held)).expect("cost and hold are within the reserve");
        self.machine.world.credit(payer, refund)?;
        if delivered.result.is_err() {
            callback::count_failure(&mut self.machine.world, payer)?;
        }
        self.books.count(Lane::Runner, delivered.used, delivered.weight, &cost);
        self.books.count_actors(&delivered.trace);
        let fee = fee_of(payer, &prices, reserve, &cost, refund);
        self.books.job_receipts.push((receipt_of(&delivered, fee), delivered.trace));
        Ok(())
    }

    /// Advances the next due job by one step, or continues with the end of the block if none is due or no room is left.
    pub(super) fn next_job(&mut self) -> Result<(), Halt> {
        let params = &self.machine.environment.params;
        let has_room = self.books.jobs_moved < params.jobs.steps_per_block && self.books.has_time(params, Part::Jobs);
        let height = self.machine.environment.height;
        if is_market_paused(&self.machine.environment.paused) {
            lifecycle::stand_still(&mut self.machine.world, height)?;
            self.phase = Phase::Rent { collected: 0, pruned: 0 };
            return Ok(());
        }
        let due = if has_room { lifecycle::next_due(&self.machine.world, height)? } else { None };
        let Some(id) = due else {
            self.phase = Phase::Rent { collected: 0, pruned: 0 };
            return Ok(());
        };
        self.machine.world.begin_delivery();
        let step = agenda::advance(&mut self.machine.world, params, height, &id)?;
        let receipt = self.step_receipt(&step);
        self.books.jobs_moved += 1;
        self.books.weight = self.books.weight.saturating_add(step.weight);
        if !receipt.events.is_empty() {
            let trace = Trace::without_calls(receipt.id, ReceiptKind::Job, id);
            self.books.job_receipts.push((receipt, trace));
        }
        Ok(())
    }

    /// The receipt of a step that nobody asked for: it cost nothing, and says what happened.
    fn step_receipt(&mut self, step: &lifecycle::Step) -> Receipt {
        let none = Cost::default();
        let number = u32::try_from(step.number).unwrap_or(u32::MAX);
        Receipt {
            id: keccak256(&[STEP_DOMAIN, &step.job.0, &number.to_be_bytes()]),
            kind: ReceiptKind::Job,
            origin: step.job,
            sender: DISPATCHER,
            target: step.submitter,
            handler: Text::new(step.name).expect("a step's name is short"),
            value: Amount::ZERO,
            cycles_used: Cycles::ZERO,
            cells_used: Cells::ZERO,
            fee: fee_of(DISPATCHER, &Prices::default(), Amount::ZERO, &none, Amount::ZERO),
            created: None,
            return_data: Blob::default(),
            events: List::new(self.machine.world.take_events()).expect("a step announces a few things"),
            abort: None,
        }
    }
}
