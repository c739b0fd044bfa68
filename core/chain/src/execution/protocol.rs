//! Receipts of what the protocol does by itself: nobody sent it, and it cost nobody a fee.

use super::fee_of;
use crate::fees::{Cost, Prices};
use crate::input::Trace;
use cowboy_types::receipt::{Event, ReceiptKind};
use cowboy_types::units::{Amount, Cells, Cycles};
use cowboy_types::{Address, Blob, Hash, List, Receipt, Text};

/// The receipt by which a system actor reports an operation on an actor, and its trace.
pub(super) fn announcement(id: Hash, sender: Address, target: Address, events: Vec<Event>) -> (Receipt, Trace) {
    let receipt = Receipt {
        id,
        kind: ReceiptKind::Protocol,
        origin: id,
        sender,
        target,
        handler: Text::default(),
        value: Amount::ZERO,
        cycles_used: Cycles::ZERO,
        cells_used: Cells::ZERO,
        fee: fee_of(target, &Prices::default(), Amount::ZERO, &Cost::default(), Amount::ZERO),
        created: None,
        return_data: Blob::default(),
        events: List::new(events).expect("a block's work on its own announces fewer events than a receipt holds"),
        abort: None,
    };
    let trace = Trace::without_calls(id, ReceiptKind::Protocol, id);
    (receipt, trace)
}
