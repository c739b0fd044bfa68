//! The last step: tips, base fees, supply, roots.

use super::{Accumulator, Attempt, Execution, Halt, Turn};
use crate::fees::next_base_fee;
use crate::input::{BaseFees, IndexRow, Outcome};
use crate::{admit::Invalid, supply};
use cowboy_state::Miss;
use cowboy_state::records::{Markets, Queue, Supply, keys};
use cowboy_system::dispatcher::{callback, order};
use cowboy_system::gateways::pool;
use cowboy_system::staking::{self, epoch};
use cowboy_system::standstill::MARKET;
use cowboy_system::upkeep;
use cowboy_types::units::Amount;
use cowboy_types::{Address, Hash, Receipt, keccak256, merkle};

impl Execution {
    /// Pays the tips, moves the base fees, counts the supply, and hands out what came of the block.
    pub(super) fn close(&mut self) -> Result<Turn, Halt> {
        self.forget_seen()?;
        self.announce_removals()?;
        let first_job = order::first_due(&self.machine.world)?;
        let first_upkeep = upkeep::first_due(&self.machine.world)?;
        let next_timer = [self.first_timer()?, first_job, first_upkeep].into_iter().flatten().min();
        let is_still = MARKET.is_still(&self.machine.environment.paused);
        let is_drawing = !is_still && order::is_drawing(&self.machine.world, self.input.height)?;
        let has_jobs = callback::waiting(&self.machine.world)? > 0 || is_drawing;
        let queue = self.machine.world.read::<Queue>(&keys::queue())?;
        let tips = self.block.tips;
        self.machine.world.credit(self.input.proposer, tips)?;
        let reward = self.mint()?;
        let next_base_fees = self.move_base_fees();
        self.count_storage()?;
        self.sweep_burned()?;
        self.block.mint(reward);
        let change = self.block.supply;
        let mut total: Supply = self.machine.world.read(&keys::supply())?.expect("genesis wrote the supply");
        total.minted = total.minted.checked_add(change.minted).expect("all CBY ever made fit");
        total.burned = total.burned.checked_add(change.burned).expect("all CBY ever destroyed fit");
        self.machine.world.write(keys::supply(), &total);
        supply::assert_conserved(&self.machine.world, &change);

        let next_height = self.input.height.next();
        let has_work = has_jobs || queue.is_some_and(|queue| queue.head < queue.tail) || next_timer.is_some_and(|due| due <= next_height);
        let block = &mut self.block;
        let mut sections = std::mem::take(&mut block.receipts);
        sections.sort_by_key(|(section, ..)| *section);
        let (receipts, traces): (Vec<Receipt>, Vec<_>) = sections.into_iter().map(|(_, receipt, trace)| (receipt, trace)).unzip();
        let tx_digests: Vec<Hash> = block.included.iter().map(|signed| *signed.digest()).collect();
        let receipt_digests: Vec<Hash> = receipts.iter().map(Receipt::digest).collect();
        Ok(Turn::Done(Box::new(Outcome {
            writes: self.machine.world.writes(),
            included: block.included.iter().map(|signed| signed.transaction().clone()).collect(),
            index: index_of(&receipts),
            tx_root: merkle::root(&tx_digests),
            receipt_root: merkle::root(&receipt_digests),
            receipts,
            traces,
            rejected: std::mem::take(&mut block.rejected),
            version: self.machine.environment.rules.version,
            base_fees: block.base_fees,
            next_base_fees,
            usage: block.space.usage().clone(),
            weight_ns: block.weight,
            supply: change,
            has_work,
            next_timer,
            pruned: std::mem::take(&mut block.pruned),
        })))
    }

    /// Counts what system actors destroyed.
    fn sweep_burned(&mut self) -> Result<(), Miss> {
        if let Some(burned) = self.machine.world.read::<Amount>(&keys::burning())? {
            self.machine.world.remove(keys::burning());
            self.block.burn(burned);
        }
        Ok(())
    }

    /// Pays out what the epoch's validators earned, and fixes who signs next: in the last block of an epoch, which says so, or else in
    /// the first of the next. In the middle of an epoch, fixes who is dealt shares two epochs later.
    pub(super) fn turn_epoch(&mut self) -> Result<Turn, Halt> {
        let (params, height) = (&self.machine.environment.params, self.machine.environment.height);
        let before = self.machine.world.checkpoint();
        if epoch::is_due(&self.machine.world, params, height)? {
            epoch::turn(&mut self.machine.world, params, height)?;
        }
        if let Some(next) = &self.input.next_epoch {
            epoch::enter(&mut self.machine.world, next)?;
        }
        if epoch::is_middle(params, height) {
            epoch::fix_players(&mut self.machine.world, params, height)?;
        }
        if pool::is_due(&self.machine.world, params, height)? {
            pool::turn(&mut self.machine.world, params, height)?;
        }
        let events = self.machine.world.events_since(&before).to_vec();
        if !events.is_empty() {
            let id = keccak256(&[b"cowboy-epoch:", &height.0.to_be_bytes()]);
            let actor = Address::system(cowboy_types::actors::GOVERNANCE);
            self.report(id, actor, actor, events);
        }
        Ok(Turn::Over)
    }

    /// Makes this block's rewards; they gather until the epoch is over (003 §8.2, State Transition 6). Answers how much.
    fn mint(&mut self) -> Result<Amount, Miss> {
        let (params, height) = (&self.machine.environment.params, self.machine.environment.height);
        let world = &mut self.machine.world;
        let supply: Supply = world.read(&keys::supply())?.expect("genesis wrote the supply");
        let reward = epoch::reward(world, params, height, &supply)?;
        world.credit(staking::state::rewards(), reward)?;
        Ok(reward)
    }

    /// The block's modelled time as the cycles that take the same part of a block: what fills blocks by time and not by cycles raises
    /// the same price (decision 391).
    fn time_in_cycles(&self) -> u64 {
        let params = &self.machine.environment.params;
        let part = u128::from(self.block.weight) * u128::from(params.fees.block_cycles) / u128::from(params.execution.block_weight);
        u64::try_from(part).unwrap_or(u64::MAX)
    }

    fn move_base_fees(&mut self) -> BaseFees {
        let params = &self.machine.environment.params;
        let (now, space) = (self.block.base_fees, &self.block.space);
        let next = BaseFees {
            cycle: next_base_fee(params, now.cycle, space.cycles().0.max(self.time_in_cycles()), params.fees.cycles_target),
            cell: next_base_fee(params, now.cell, space.cells().0, params.fees.cells_target),
        };
        self.machine.world.write(keys::markets(), &Markets { base_fee_cycle: next.cycle, base_fee_cell: next.cell });
        next
    }

    /// Begins a proposal again: nothing happened but that some candidates are known not to fit.
    pub(super) fn restart(&mut self, attempt: Attempt, rejected: Vec<(Hash, Invalid)>) {
        self.machine.restart();
        self.attempt = attempt;
        self.phase = 0;
        self.block = Accumulator::new(rejected);
    }
}

/// Which addresses each receipt concerns.
fn index_of(receipts: &[Receipt]) -> Vec<IndexRow> {
    let mut rows = Vec::new();
    for (place, receipt) in receipts.iter().enumerate() {
        let receipt_place = u32::try_from(place).expect("a block has fewer than 2^32 receipts");
        let mut addresses: Vec<Address> = vec![receipt.sender, receipt.target, receipt.fee.payer];
        addresses.extend(receipt.created);
        addresses.extend(receipt.events.iter().map(|event| event.emitter));
        addresses.sort();
        addresses.dedup();
        rows.extend(addresses.into_iter().map(|address| IndexRow { address, receipt: receipt_place }));
    }
    rows
}
