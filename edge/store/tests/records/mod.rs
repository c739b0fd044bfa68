//! Blocks to write into a ledger.

use cowboy_store::{BlockRecord, Concern, catalog::Outline};
use cowboy_types::{
    Actor, Address, Block, Hash, Instruction, Receipt, Transaction, blake3,
    cbor::Value,
    receipt::{Event, ReceiptKind},
    units::Count,
    wire::{Blob, Fixed, List, Text},
};

pub(crate) const SENDER: Address = Address([1; 20]);
pub(crate) const TARGET: Address = Address([2; 20]);
pub(crate) const ACTOR: Address = Address([3; 20]);
pub(crate) const BYSTANDER: Address = Address([4; 20]);
pub(crate) const CREATED: Address = Address([5; 20]);
pub(crate) const SPAWNED: Address = Address([7; 20]);
pub(crate) const TOKEN: Hash = Hash([6; 32]);

pub(crate) fn receipt(number: u64, index: u32) -> Receipt {
    let id = blake3(&[&number.to_be_bytes(), &index.to_be_bytes()]);
    let event = Event::new(ACTOR, Text::new("moved").expect("short"), Blob::default());
    let moved = Value::map([("to", Value::Bytes(BYSTANDER.0.to_vec())), ("token_id", Value::Bytes(TOKEN.0.to_vec()))]).encode();
    let moved = Event::new(Address::system(6), event.name.clone(), Blob::new(moved).expect("short"));
    let origin = if index == 0 { id } else { blake3(&[&number.to_be_bytes(), &0u32.to_be_bytes()]) };
    Receipt {
        created: (index < 2).then_some(if index == 0 { CREATED } else { ACTOR }),
        events: List::new(vec![event.clone(), event, moved]).expect("three events"),
        ..Receipt::unpaid(ReceiptKind::Transaction, (origin, id), (SENDER, TARGET), SENDER)
    }
}

pub(crate) fn deployment() -> Transaction {
    Transaction {
        chain_id: Default::default(),
        nonce: Default::default(),
        instruction: Instruction::Actor(Actor::Deploy {
            code: Blob::new(b"class Greeter:\n    def greet(self): ...\n    def _hide(self): ...\n".to_vec()).expect("short"),
            salt: Blob::default(),
            init: None,
            manifest: None,
            endowment: Default::default(),
        }),
        cycles_limit: Default::default(),
        cells_limit: Default::default(),
        max_fee_per_cycle: Default::default(),
        max_fee_per_cell: Default::default(),
        max_priority_fee_per_cycle: Default::default(),
        max_priority_fee_per_cell: Default::default(),
        from: SENDER,
        metadata: Default::default(),
        origin_tx_hash: None,
        origin_remaining_cycles: None,
        origin_remaining_cells: None,
        signature: Default::default(),
        additional_signers: Default::default(),
    }
}

pub(crate) fn record(number: u64, skipped: u64) -> BlockRecord {
    let zero = || cowboy_types::LaneUsage { cycles: Default::default(), cells: Default::default() };
    let header = cowboy_types::Header {
        version: 1,
        genesis: Hash::ZERO,
        context: cowboy_types::Context {
            epoch: Count(0),
            view: Count(number),
            leader: Fixed([0; 32]),
            parent_view: Count(0),
            parent: Hash::ZERO,
        },
        parent: Hash::ZERO,
        number: Count(number),
        skipped: Count(skipped),
        timestamp_ms: Default::default(),
        seeds: List::default(),
        proposer_vrf: Fixed([0; 48]),
        base_fee_cycle: Default::default(),
        base_fee_cell: Default::default(),
        usage: cowboy_types::block::Usage { system: zero(), timer: zero(), runner: zero(), user: zero() },
        tx_root: Hash::ZERO,
        body: Hash::ZERO,
        receipt_root: Hash::ZERO,
        state_root: Hash::ZERO,
        ops_root: Hash::ZERO,
        ops_start: Count(0),
        ops_end: Count(1),
        reshare: None,
        voters: Blob::default(),
        extension: Blob::default(),
        signature: Fixed([0; 65]),
    };
    BlockRecord {
        block: Block { header, transactions: List::new(vec![deployment()]).expect("one transaction"), reshare: None },
        receipts: vec![receipt(number, 0), receipt(number, 1)],
        concerns: vec![Concern { address: BYSTANDER, receipt: 1 }],
        certificate: number.is_multiple_of(2).then(|| vec![7]),
        carry: vec![1, 2],
        traces: vec![(1, vec![9])],
        outlines: vec![Outline::of(SPAWNED, "class Child:\n    def handle_timer(self, payload): ...\n")],
        overwritten: vec![8],
        pruned: Vec::new(),
    }
}
