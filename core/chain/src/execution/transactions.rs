//! Transactions: reserve, deliver, charge, refund (003 §2.3).

use super::{Attempt, Charge, Execution, Halt, Phase, Reserved, fee_of};
use crate::admit::{self, Facts, Invalid, SignedTransaction};
use crate::delivery::{Delivered, Envelope};
use crate::fees::{Offers, lane_base_fee};
use crate::input::BlockInvalid;
use crate::lanes::Lane;
use crate::order::Placed;
use cowboy_state::Miss;
use cowboy_system::gateways::repayment;
use cowboy_types::units::Nonce;
use cowboy_types::{Blob, List, Receipt, Text};

impl Execution {
    /// Admits the transaction at a place, reserves its fee and hands it to the executor.
    pub(super) fn next_transaction(&mut self, place: usize) -> Result<(), Halt> {
        if place == 0 {
            self.note_begin();
        }
        let Some(Placed { signed, lane }) = self.transactions.get(place).cloned() else {
            self.begin_phase(Phase::Timers);
            return Ok(());
        };
        match self.reserve(&signed, lane)? {
            Ok(reserved) => {
                self.phase = Phase::Transactions(place + 1);
                self.begin_transaction(signed, reserved);
            }
            Err(reason) if self.is_proposing() => self.leave_out(place, &signed, reason),
            Err(reason) => return Err(Halt::Invalid(BlockInvalid::Transaction { index: place, reason })),
        }
        Ok(())
    }

    /// Whether the chain, the account and the block allow it; then takes nonce, reserve and value's place in the block.
    fn reserve(&mut self, signed: &SignedTransaction, lane: Lane) -> Result<Result<Reserved, Invalid>, Halt> {
        let transaction = signed.transaction();
        let params = &self.machine.environment.params;
        let chain = &self.input.chain;
        let fees = self.books.base_fees;
        let facts = Facts { chain_id: chain.chain_id, is_dev: chain.is_dev, params, base_fee_cycle: fees.cycle, base_fee_cell: fees.cell };
        let mut account = self.machine.world.account(transaction.from)?;
        let admitted = match admit::admit(&facts, lane, &account, signed) {
            Ok(admitted) => admitted,
            Err(reason) => return Ok(Err(reason)),
        };
        if !self.may_run(admitted.lane, signed) {
            return Ok(Err(Invalid::DoesNotFit));
        }
        let cycle = lane_base_fee(fees.cycle, admitted.lane.fee_multiplier(params));
        let offers = Offers::from(transaction);
        let prices = offers.at(cycle, fees.cell);
        account.nonce = Nonce(account.nonce.0.checked_add(1).expect("an account sends fewer than 2^64 transactions"));
        account.balance = account.balance.checked_sub(admitted.reserve).expect("admission checked the balance");
        self.machine.world.set_account(transaction.from, &account);
        Ok(Ok(Reserved { lane: admitted.lane, payer: transaction.from, offers, prices, reserve: admitted.reserve }))
    }

    fn begin_transaction(&mut self, signed: SignedTransaction, reserved: Reserved) {
        let intrinsic = admit::intrinsic(&self.machine.environment.params, signed.transaction());
        self.machine.begin(Envelope::of_transaction(&signed, intrinsic));
        self.redeem(signed.digest());
        self.charge = Some(Charge::Transaction(reserved));
        self.books.included_bytes += signed.size();
        self.books.included.push(signed);
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
            self.books.rejected.push((*signed.digest(), reason));
            self.phase = Phase::Transactions(place + 1);
            return;
        }
        let next = match self.attempt {
            Attempt::Whole => Attempt::Learned,
            Attempt::Learned | Attempt::OneOfEach => Attempt::OneOfEach,
        };
        let mut rejected = std::mem::take(&mut self.books.rejected);
        rejected.push((*signed.digest(), reason));
        self.restart(next, rejected);
    }

    /// Charges what was used, holds what its messages may need, gives back the rest and writes the receipt.
    pub(super) fn settle_transaction(&mut self, reserved: Reserved, mut delivered: Delivered) -> Result<(), Miss> {
        let cost = reserved.prices.cost(delivered.used);
        let held = self.open_origin(&delivered, reserved.payer, reserved.offers, reserved.reserve, &cost)?;
        let refund = reserved
            .reserve
            .checked_sub(cost.total())
            .and_then(|rest| rest.checked_sub(held))
            .expect("cost and hold are within the reserve");
        self.machine.world.credit(reserved.payer, refund)?;
        if let Some((actor, most)) = delivered.repays {
            let environment = &self.machine.environment;
            let now = (&environment.params, environment.height);
            let repaid = repayment::repay(&mut self.machine.world, now, (actor, reserved.payer), (cost.burned, most))?;
            delivered.events.extend(repaid);
        }
        self.books.count(reserved.lane, delivered.used, delivered.weight, &cost);
        self.books.supply.minted = self.books.supply.minted.checked_add(delivered.minted).expect("all CBY fit");
        self.machine.minted = self.books.supply.minted;
        self.books.burn(delivered.burned);
        let fee = fee_of(reserved.payer, &reserved.prices, reserved.reserve, &cost, refund);
        let receipt = receipt_of(&delivered, fee);
        self.books.count_actors(&delivered.trace);
        self.learn(delivered.envelope.id, reserved.lane, delivered.used, delivered.weight, &delivered.trace);
        self.books.transaction_receipts.push((receipt, delivered.trace));
        Ok(())
    }
}

/// The receipt of a delivery.
pub(crate) fn receipt_of(delivered: &Delivered, fee: cowboy_types::Fee) -> Receipt {
    let (return_data, abort) = match &delivered.result {
        Ok(data) => (Blob::new(data.clone()).expect("the driver bounds return data"), None),
        Err(abort) => (Blob::default(), Some(abort.clone())),
    };
    Receipt {
        id: delivered.envelope.id,
        kind: delivered.envelope.kind.clone(),
        origin: delivered.envelope.origin,
        sender: delivered.envelope.sender,
        target: delivered.created.unwrap_or(delivered.target),
        handler: Text::new(delivered.handler.clone()).expect("handler names are bounded where they are decoded"),
        value: delivered.value,
        cycles_used: delivered.used.cycles,
        cells_used: delivered.used.cells,
        fee,
        created: delivered.created,
        return_data,
        events: List::new(delivered.events.clone()).expect("the driver bounds events"),
        abort,
    }
}
