//! Answers of the off-chain market, before the transactions, and what becomes of jobs by itself, after the timers
//! (002 §3; 003 STF step 4; decisions 98, 125, 129).

use super::settle::unpaid;
use super::trials::Answering;
use super::{Execution, Halt, Payment, Source, Turn};
use crate::delivery::{Delivered, Envelope, Work, nested_id};
use crate::fees::{Offer, Offers, Used};
use crate::lanes::{Lane, Space};
use cowboy_state::records::keys;
use cowboy_state::{Key, Kind, Miss};
use cowboy_system::agenda;
use cowboy_system::dispatcher::{self, callback, lifecycle, order, state};
use cowboy_system::standstill::MARKET;
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Amount, Cells, Cycles, Price};
use cowboy_types::{Address, Receipt, Text, keccak256};

/// What separates the receipts of a job's steps from those of its answer.
const STEP_DOMAIN: &[u8] = b"cowboy-job-step:";

/// The Dispatcher.
const DISPATCHER: Address = Address::system(dispatcher::NUMBER);

impl Execution {
    /// Takes the oldest pending callback, or continues with the transactions if none is pending or no room is left.
    /// Answers take at most half of the runners' lane, so that results still find room.
    pub(super) fn next_callback(&mut self) -> Result<Turn, Halt> {
        let params = &self.machine.environment.params;
        let used = self.block.space.usage().runner.cycles;
        let has_room = used.0 < params.lanes.runner_cycles / 2 && self.has_time();
        let first = if has_room { callback::first(&self.machine.world)? } else { None };
        let Some((name, id)) = first else {
            return Ok(Turn::Over);
        };
        let asked = state::spec(&self.machine.world, &id)?.callback.expect("an answer waits only where one was asked for");
        // However much it asked for, and whatever governance moved since: it fits in a block, or those behind it would never get their turn (decision 557).
        let room = |space: &Space| Used { cycles: space.left(params, Lane::Runner), cells: space.delivery_cells(params, Lane::Runner) };
        let (most, left) = (room(&Space::new(Cycles::ZERO)), room(&self.block.space));
        let limits = Used { cycles: asked.cycles.min(most.cycles), cells: asked.cells.min(most.cells) };
        // It begins with what is left, so that whoever asks for much keeps nobody waiting for that (decision 677).
        let given = Used { cycles: limits.cycles.min(left.cycles), cells: limits.cells.min(left.cells) };
        let runner = &self.block.space.usage().runner;
        let is_first = runner.cycles == Cycles::ZERO && runner.cells == Cells::ZERO;
        if !is_first && (left.cycles == Cycles::ZERO || left.cells == Cells::ZERO) {
            return Ok(Turn::Over);
        }
        let mut trial = self.begin_trial(keys::tried_callback(), is_first)?;
        trial.give(is_first, limits, given);
        let (params, world) = (&self.machine.environment.params, &mut self.machine.world);
        let answer = callback::take(world, &name, &id)?;
        if answer.is_foreign {
            return self.give_back(&answer, trial.paid_for(Used::default()));
        }
        let callback = answer.callback;
        world.require([
            &Key::account(answer.payer),
            &Key::account(callback.actor),
            &Key::of(Kind::Actor, callback.actor),
            &state::patron_key(answer.payer),
        ])?;
        // The result was decoded for it, and encoded again.
        let bytes = u64::try_from(answer.payload.len()).unwrap_or(u64::MAX);
        let reading = bytes.saturating_mul(params.weights.argument_byte);
        self.block.weight = self.block.weight.saturating_add(reading);
        let offers = Offers {
            cycle: Offer { max: callback.max_fee_per_cycle, priority: Price::ZERO },
            cell: Offer { max: callback.max_fee_per_cell, priority: Price::ZERO },
        };
        let burned = Lane::Runner.base_fees(params, self.block.base_fees);
        let work = Work::Handler {
            target: callback.actor,
            handler: callback.handler.to_string(),
            payload: answer.payload.into(),
            value: Amount::ZERO,
        };
        let intrinsic = Used { cycles: Cycles(params.costs.call), cells: Cells::ZERO };
        let envelope = Envelope::new(ReceiptKind::Callback, (id, nested_id(&id, 0)), callback::SENDER, work, given);
        let prices = offers.at(burned.cycle, burned.cell);
        let payment = Payment { lane: Lane::Runner, payer: answer.payer, offers, prices, reserve: answer.held };
        self.deliver(Envelope { intrinsic, ..envelope }, payment, Source::Callback(Box::new(Answering { trial, limits })));
        Ok(Turn::More)
    }

    /// Gives back what was held for an answer that is not delivered, but for what it used when it was put back, which nobody paid (decision 675).
    fn give_back(&mut self, answer: &callback::Answer, tried: Used) -> Result<Turn, Halt> {
        let params = &self.machine.environment.params;
        let burned = Lane::Runner.base_fees(params, self.block.base_fees);
        let price = |used: u64, price: Price| u128::from(used).saturating_mul(u128::from(price.0));
        let owed = price(tried.cycles.0, burned.cycle).saturating_add(price(tried.cells.0, burned.cell));
        let fee = Amount(u64::try_from(owed).unwrap_or(u64::MAX)).min(answer.held);
        self.block.weight = self.block.weight.saturating_add(params.weights.job_step);
        self.machine.world.credit(answer.payer, answer.held.saturating_sub(fee))?;
        self.block.burn(fee);
        Ok(Turn::More)
    }

    /// Counts a callback whose handler failed; it is charged all the same.
    pub(super) fn follow_callback(&mut self, payer: Address, delivered: &Delivered) -> Result<(), Miss> {
        if delivered.result.is_err() {
            callback::count_failure(&mut self.machine.world, payer)?;
        }
        Ok(())
    }

    /// Advances the next job by one step, or continues with the end of the block if there is none or no room is left.
    pub(super) fn next_job(&mut self) -> Result<Turn, Halt> {
        let params = &self.machine.environment.params;
        let has_room = self.block.jobs_moved < params.jobs.steps_per_block && self.has_time();
        let height = self.machine.environment.height;
        if MARKET.is_still(&self.machine.environment.paused) {
            return Ok(Turn::Over);
        }
        let next = if has_room { order::next_due(&self.machine.world, height, self.block.step_time)? } else { None };
        let Some(next) = next else {
            return Ok(Turn::Over);
        };
        self.machine.world.begin_delivery();
        let step = agenda::advance(&mut self.machine.world, params, height, &next.job)?;
        let receipt = self.step_receipt(&step);
        self.block.jobs_moved += 1;
        self.block.step_time.count(next.is_draw, step.weight);
        self.block.weight = self.block.weight.saturating_add(step.weight);
        if !receipt.events.is_empty() {
            self.record_unpaid(receipt);
        }
        Ok(Turn::More)
    }

    /// The receipt of a step that nobody asked for: it cost nothing, and says what happened.
    fn step_receipt(&mut self, step: &lifecycle::Step) -> Receipt {
        let number = u32::try_from(step.number).unwrap_or(u32::MAX);
        let id = keccak256(&[STEP_DOMAIN, &step.job.0, &number.to_be_bytes()]);
        let events = self.machine.world.take_events();
        let receipt = unpaid(ReceiptKind::Job, (step.job, id), (DISPATCHER, step.submitter), DISPATCHER, events);
        Receipt { handler: Text::new(step.name).expect("a step's name is short"), ..receipt }
    }
}
