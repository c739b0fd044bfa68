//! Transactions: reserve, deliver, charge, refund (003 §2.3).

use super::{Attempt, Execution, Halt, Payment, Source, Turn};
use crate::admit::{self, Facts, Invalid, SignedTransaction};
use crate::delivery::{Delivered, Envelope, Work};
use crate::fees::{Cost, Offers, Used};
use crate::input::BlockInvalid;
use crate::lanes::Lane;
use crate::order::Placed;
use cowboy_state::Miss;
use cowboy_system::gateways::repayment;
use cowboy_types::units::{Amount, Nonce};

impl Execution {
    /// Admits the next transaction, reserves its fee and delivers it.
    pub(super) fn next_transaction(&mut self) -> Result<Turn, Halt> {
        let place = self.block.place;
        if place == 0 {
            self.note_begin();
        }
        let Some(Placed { signed, lane }) = self.transactions.get(place).cloned() else {
            return Ok(Turn::Over);
        };
        match self.reserve(&signed, lane)? {
            Ok(payment) => {
                self.block.place += 1;
                self.begin_transaction(signed, payment);
            }
            Err(reason) if self.is_proposing() => self.leave_out(place, &signed, reason),
            Err(reason) => return Err(Halt::Invalid(BlockInvalid::Transaction { index: place, reason })),
        }
        Ok(Turn::More)
    }

    /// Whether the chain, the account and the block allow it; then takes nonce, reserve and value's place in the block.
    fn reserve(&mut self, signed: &SignedTransaction, lane: Lane) -> Result<Result<Payment, Invalid>, Halt> {
        let transaction = signed.transaction();
        let params = &self.machine.environment.params;
        let chain = &self.input.chain;
        let facts = Facts { chain_id: chain.chain_id, is_dev: chain.is_dev, params, base_fees: self.block.base_fees };
        let mut account = self.machine.world.account(transaction.from)?;
        let admitted = match admit::admit(&facts, lane, &account, signed) {
            Ok(admitted) => admitted,
            Err(reason) => return Ok(Err(reason)),
        };
        if !self.may_run(admitted.lane, signed) {
            return Ok(Err(Invalid::DoesNotFit));
        }
        let burned = admitted.lane.base_fees(params, self.block.base_fees);
        let offers = Offers::from(transaction);
        let prices = offers.at(burned.cycle, burned.cell);
        account.nonce = Nonce(account.nonce.0.checked_add(1).expect("an account sends fewer than 2^64 transactions"));
        account.balance = account.balance.checked_sub(admitted.reserve).expect("admission checked the balance");
        self.machine.world.set_account(transaction.from, &account);
        Ok(Ok(Payment { lane: admitted.lane, payer: transaction.from, offers, prices, reserve: admitted.reserve }))
    }

    fn begin_transaction(&mut self, signed: SignedTransaction, payment: Payment) {
        let intrinsic = admit::intrinsic(&self.machine.environment.params, signed.transaction());
        self.deliver(Envelope::of_transaction(&signed, intrinsic), payment, Source::Transaction);
        self.redeem(signed.digest());
        self.block.included_bytes += signed.size();
        self.block.included.push(signed);
    }

    /// Leaves a candidate out of a proposal. Where its sender has others in the body, their places may
    /// move, so the proposal begins again without it and what follows it.
    fn leave_out(&mut self, place: usize, signed: &SignedTransaction, reason: Invalid) {
        let from = signed.transaction().from;
        let others = self.transactions.iter().map(|placed| &placed.signed).enumerate();
        let others = others.filter(|(other, transaction)| *other != place && transaction.transaction().from == from);
        let has_others = others.clone().next().is_some();
        self.refused.extend(others.filter(|(other, _)| *other > place).map(|(_, transaction)| *transaction.digest()));
        self.refused.insert(*signed.digest());
        if !has_others {
            self.block.rejected.push((*signed.digest(), reason));
            self.block.place += 1;
            return;
        }
        let next = match self.attempt {
            Attempt::Whole => Attempt::Learned,
            Attempt::Learned | Attempt::OneOfEach => Attempt::OneOfEach,
        };
        let mut rejected = std::mem::take(&mut self.block.rejected);
        rejected.push((*signed.digest(), reason));
        self.restart(next, rejected);
    }

    /// Lets the target repay the sender, where it said so, and notes what the transaction used.
    pub(super) fn follow_transaction(&mut self, payment: &Payment, cost: &Cost, delivered: &mut Delivered) -> Result<(), Miss> {
        if let Some((actor, most)) = delivered.repays {
            let burned = self.burned_by_instruction(payment, delivered).min(cost.burned);
            let environment = &self.machine.environment;
            let now = (&*environment.params, environment.height);
            let repaid = repayment::repay(&mut self.machine.world, now, (actor, payment.payer), (burned, most))?;
            delivered.events.extend(repaid);
        }
        self.learn(delivered.envelope.id, payment.lane, delivered.used, delivered.weight, &delivered.trace);
        Ok(())
    }

    /// What a transaction burned without what its metadata and its additional signers cost, which whoever signs it chooses (decision 732).
    fn burned_by_instruction(&self, payment: &Payment, delivered: &Delivered) -> Amount {
        let (envelope, used) = (&delivered.envelope, delivered.used);
        let Work::Instruction(instruction) = &envelope.work else { return Amount::ZERO };
        let own = admit::instruction_cost(&self.machine.environment.params, instruction);
        let beside_cycles = envelope.intrinsic.cycles.saturating_sub(own.cycles);
        let beside_cells = envelope.intrinsic.cells.saturating_sub(own.cells);
        let without = Used { cycles: used.cycles.saturating_sub(beside_cycles), cells: used.cells.saturating_sub(beside_cells) };
        payment.prices.cost(without).burned
    }
}
