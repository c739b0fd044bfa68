//! Settling a delivery: what was reserved for it becomes its cost, what its messages may need, and a refund (003 §2.3).

use super::trials::{Answering, Trial};
use super::{Execution, messages};
use crate::admit::instruction_cost;
use crate::delivery::{Delivered, Envelope, Work};
use crate::fees::{Cost, Offers, Prices};
use crate::input::Trace;
use crate::lanes::Lane;
use cowboy_state::Miss;
use cowboy_system::bidding::TippedBy;
use cowboy_types::receipt::{Event, ReceiptKind};
use cowboy_types::units::Amount;
use cowboy_types::{Address, Blob, Fee, Hash, List, Receipt, Text};

/// Who pays for a delivery, in which lane, and what was reserved for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Payment {
    pub(super) lane: Lane,
    pub(super) payer: Address,
    pub(super) offers: Offers,
    pub(super) prices: Prices,
    pub(super) reserve: Amount,
}

/// Where a delivery came from, which says what follows from it beside its cost.
pub(super) enum Source {
    /// A transaction: its target may repay the sender.
    Transaction,
    /// A message: it draws on its origin.
    Message(Box<messages::Delivery>),
    /// The fire of a timer: an interval counts its failures.
    Timer {
        /// The timer.
        id: Hash,
        /// Who said what it tips.
        tipped_by: TippedBy,
    },
    /// A question to the bidding agent of this timer, which keeps the answer.
    Question(Hash),
    /// A callback of a job: the payer's failures are counted.
    Callback(Box<Answering>),
}

impl Source {
    /// What becomes of the delivery where its lane gives it too little; nothing where it only begins with all that it may use.
    fn trial(&self) -> Option<&Trial> {
        match self {
            Self::Message(message) => Some(&message.trial),
            Self::Callback(callback) => Some(&callback.trial),
            Self::Transaction | Self::Timer { .. } | Self::Question(_) => None,
        }
    }
}

impl Execution {
    /// Delivers an envelope that is paid for.
    pub(super) fn deliver(&mut self, envelope: Envelope, payment: Payment, source: Source) {
        self.machine.begin(envelope);
        self.owed = Some((payment, source));
    }

    /// Accumulator what a delivery cost, and what follows from it.
    pub(super) fn settle(&mut self, payment: Payment, source: Source, mut delivered: Delivered) -> Result<(), Miss> {
        if let Some(trial) = source.trial() {
            if trial.ran_short(&delivered) {
                self.put_back(trial, &delivered);
                return Ok(());
            }
            delivered.used = trial.paid_for(delivered.used);
        }
        let Payment { lane, payer, prices, reserve, .. } = payment;
        let mut cost = prices.cost(delivered.used);
        if self.burns_nothing(&delivered) {
            cost.burned = Amount::ZERO;
        }
        let held = match &source {
            Source::Message(message) => self.draw(message, &delivered, &cost),
            Source::Callback(callback) => self.open_origin(&payment, callback.limits, &delivered, &cost),
            _ => self.open_origin(&payment, delivered.envelope.limits, &delivered, &cost),
        };
        let rest = reserve.checked_sub(cost.total()).and_then(|rest| rest.checked_sub(held));
        let refund = rest.expect("cost and hold are within the reserve");
        self.machine.world.credit(payer, refund)?;
        if !matches!(source, Source::Transaction) {
            // One that fails before it runs, or runs nothing, is taken off its lists and gets a receipt all the same.
            let weights = &self.machine.environment.params.weights;
            delivered.weight = delivered.weight.max(weights.delivery.saturating_add(weights.call));
        }
        // Who names an agent takes nothing of its share of the block: questions are bounded apart (decision 613).
        let takes_share = !matches!(source, Source::Question(_));
        match source {
            Source::Transaction => self.follow_transaction(&payment, &cost, &mut delivered)?,
            Source::Message(message) => self.follow_message(&message, &delivered)?,
            Source::Timer { id, tipped_by } => self.follow_timer((&id, tipped_by), &payment, &mut delivered)?,
            Source::Question(timer) => self.follow_question(&timer, &delivered)?,
            Source::Callback(_) => self.follow_callback(payer, &delivered)?,
        }
        self.block.count(lane, delivered.used, delivered.weight, &cost);
        if takes_share {
            self.block.count_actors(&delivered.trace);
        }
        self.block.mint(delivered.minted);
        self.block.burn(delivered.burned);
        self.machine.minted = self.block.supply.minted;
        let fee = fee_of(payer, &prices, reserve, &cost, refund);
        self.record(receipt_of(&delivered, fee), delivered.trace);
        Ok(())
    }

    /// Whether a delivery is a transaction that burns nothing: the protocol waited for its message, and it carries nothing beside it. Metadata and
    /// additional signers, which the protocol waits for in no message, make it one that pays as others do (decisions 531, 673).
    fn burns_nothing(&self, delivered: &Delivered) -> bool {
        let envelope = &delivered.envelope;
        let Work::Instruction(instruction) = &envelope.work else { return false };
        delivered.is_due && envelope.intrinsic == instruction_cost(&self.machine.environment.params, instruction)
    }

    /// Adds a receipt to the phase's section.
    pub(super) fn record(&mut self, receipt: Receipt, trace: Trace) {
        let section = self.phase().section;
        self.block.receipts.push((section, receipt, trace));
    }

    /// Adds the receipt by which a system actor reports an operation of the protocol on an address.
    pub(super) fn report(&mut self, id: Hash, actor: Address, target: Address, events: Vec<Event>) {
        let receipt = unpaid(ReceiptKind::Protocol, (id, id), (actor, target), target, events);
        self.record_unpaid(receipt);
    }

    /// Adds a receipt of what no handler did.
    pub(super) fn record_unpaid(&mut self, receipt: Receipt) {
        let trace = Trace::without_calls(receipt.id, receipt.kind.clone(), receipt.origin);
        self.record(receipt, trace);
    }
}

/// What a delivery cost, for its receipt.
pub(crate) fn fee_of(payer: Address, prices: &Prices, reserved: Amount, cost: &Cost, refunded: Amount) -> Fee {
    Fee {
        payer,
        cycle_price: prices.cycle.total(),
        cell_price: prices.cell.total(),
        reserved,
        burned: cost.burned,
        tip: cost.tip,
        refunded,
    }
}

/// The receipt of a delivery.
pub(crate) fn receipt_of(delivered: &Delivered, fee: Fee) -> Receipt {
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

/// The receipt of what the protocol does by itself, with its origin and its id, from an actor to an address: it cost nothing.
pub(super) fn unpaid(kind: ReceiptKind, ids: (Hash, Hash), addresses: (Address, Address), payer: Address, events: Vec<Event>) -> Receipt {
    let events = List::new(events).expect("a step emits fewer events than a receipt holds");
    Receipt { events, ..Receipt::unpaid(kind, ids, addresses, payer) }
}
