//! Removals of entitlements: the actors that stand still from a height on announce it there (000 §9.11).

use super::{Execution, fee_of};
use crate::fees::{Cost, Prices};
use crate::input::Trace;
use cowboy_state::Miss;
use cowboy_system::entitlements::{NUMBER, lifecycle};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Amount, Cells, Cycles};
use cowboy_types::{Address, Blob, Hash, List, Receipt, Text, keccak256};

impl Execution {
    /// Looks at the next actors after a removal, and writes the receipt that bears their announcements.
    pub(super) fn announce_removals(&mut self) -> Result<(), Miss> {
        self.books.protocol_receipts.clear();
        let environment = &self.machine.environment;
        let (height, most) = (environment.height, environment.params.entitlements.sweep_per_block);
        let events = lifecycle::sweep(&mut self.machine.world, height, most)?;
        if events.is_empty() {
            return Ok(());
        }
        let id = keccak256(&[b"cowboy-entitlement-removal:", &height.0.to_be_bytes()]);
        let registry = Address::system(NUMBER);
        let receipt = Receipt {
            id,
            kind: ReceiptKind::Protocol,
            origin: id,
            sender: registry,
            target: registry,
            handler: Text::default(),
            value: Amount::ZERO,
            cycles_used: Cycles::ZERO,
            cells_used: Cells::ZERO,
            fee: fee_of(registry, &Prices::default(), Amount::ZERO, &Cost::default(), Amount::ZERO),
            created: None,
            return_data: Blob::default(),
            events: List::new(events).expect("a block's sweep announces fewer events than a receipt holds"),
            abort: None,
        };
        let trace = Trace {
            id,
            kind: ReceiptKind::Protocol,
            origin: id,
            parent: Hash::ZERO,
            payload: Default::default(),
            calls: Vec::new(),
            sent: Vec::new(),
        };
        self.books.protocol_receipts.push((receipt, trace));
        Ok(())
    }
}
