//! The protocol's types as the API's JSON.

use crate::{
    cbor,
    consensus::{Agreement, messages},
    error::ApiError,
    hex_text::{Hex, HexBytes},
    model, permission,
    wake::{Wake, wake},
};
use commonware_codec::{Encode as _, EncodeSize as _};
use cowboy_params::{Params, Row};
use cowboy_types::{
    self as types, Address, Hash, Instruction, ReceiptKind,
    instruction::{Actor, Custom, Ordinary, System},
};
use serde_json::json;

/// Where something stands in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The block's height.
    pub height: u64,
    /// The block's name.
    pub block: Hash,
    /// The block's time.
    pub timestamp_ms: u64,
    /// The place among the block's receipts, from 0.
    pub index: u32,
}

/// `success` or `failed`.
pub fn status(receipt: &types::Receipt) -> &'static str {
    if receipt.is_success() { "success" } else { "failed" }
}

/// The name of what set a delivery off.
pub fn kind(kind: &ReceiptKind) -> &'static str {
    match kind {
        ReceiptKind::Transaction => "transaction",
        ReceiptKind::Message => "message",
        ReceiptKind::Timer => "timer",
        ReceiptKind::Callback => "callback",
        ReceiptKind::Job => "job",
        ReceiptKind::Protocol => "protocol",
    }
}

fn bytes(bytes: &[u8]) -> HexBytes {
    Hex(bytes.to_vec())
}

/// What a node knows of a delivery beside its receipt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// The Python traceback of the exception that made it fail.
    pub failure: Option<String>,
    /// The delivery that set it off.
    pub parent: Option<Hash>,
    /// The handler's argument, where it is not a transaction's.
    pub payload: Option<Vec<u8>>,
    /// What its handlers printed, in the order in which they began.
    pub printed: String,
    /// Whether the actor defines [`crate::wake::TIMER_HANDLER`] itself.
    pub takes_timers: bool,
}

/// The most bytes of a traceback among others.
const MAX_BRIEF: usize = 4 * 1024;

impl Inside {
    /// The same for lists and streams: of a long traceback its beginning. The receipt by itself has all of it.
    pub fn brief(mut self) -> Self {
        if let Some(failure) = self.failure.as_mut().filter(|failure| failure.len() > MAX_BRIEF) {
            failure.truncate(failure.floor_char_boundary(MAX_BRIEF));
            failure.push_str("… (the receipt has the rest)");
        }
        self
    }
}

/// What a timer of the SDK runs where its payload, and not the timer, says so: an interval of an actor with a handler for timers of its
/// own runs that.
pub fn woken(payload: &[u8], takes_timers: bool) -> Option<Wake> {
    wake(payload).filter(|wake| wake.every.is_none() || !takes_timers)
}

/// The handler that a delivery ran: for a timer of the SDK the one that its payload names.
pub fn handler(receipt: &types::Receipt, payload: &[u8], takes_timers: bool) -> String {
    let woken = woken(payload, takes_timers).filter(|_| receipt.kind == ReceiptKind::Timer);
    woken.map_or_else(|| receipt.handler.to_string(), |wake| wake.handler)
}

/// Which handler ran, and the argument decoded.
pub fn ran(receipt: &types::Receipt, inside: &Inside) -> (String, Option<serde_json::Value>) {
    let payload = inside.payload.as_deref().unwrap_or_default();
    match woken(payload, inside.takes_timers).filter(|_| receipt.kind == ReceiptKind::Timer) {
        Some(wake) => (wake.handler, cbor::decode_payload(&wake.data)),
        None => (receipt.handler.to_string(), cbor::decode_payload(payload)),
    }
}

/// An event with its data decoded.
pub fn event(event: &types::Event) -> model::Event {
    model::Event {
        emitter: Hex(event.emitter),
        name: event.name.to_string(),
        data: bytes(&event.data),
        value: cbor::decode_or_hex(&event.data),
    }
}

/// A receipt at its place, with what is known beside it. `deliveries` is what it set off.
pub fn receipt(receipt: &types::Receipt, place: &Place, inside: Inside, deliveries: Vec<Hash>) -> model::Receipt {
    let context = inside.failure.as_ref().map_or(serde_json::Value::Null, |trace| json!({ "trace": trace }));
    let (handler, payload_value) = ran(receipt, &inside);
    model::Receipt {
        tx_hash: Hex(receipt.id),
        kind: kind(&receipt.kind).into(),
        status: status(receipt).into(),
        origin: Hex(receipt.origin),
        parent: inside.parent.map(Hex),
        block_height: place.height,
        block_hash: Hex(place.block),
        index: place.index,
        timestamp_ms: place.timestamp_ms,
        sender: Hex(receipt.sender),
        target: Hex(receipt.target),
        handler,
        payload: inside.payload.map(Hex),
        payload_value,
        value: receipt.value.get(),
        cycles_used: receipt.cycles_used.get(),
        cells_used: receipt.cells_used.get(),
        fee: fee(&receipt.fee),
        created: receipt.created.map(Hex),
        return_data: bytes(&receipt.return_data),
        return_value: cbor::decode(&receipt.return_data).unwrap_or_default(),
        events: receipt.events.iter().map(event).collect(),
        error: receipt.abort.clone().map(|abort| ApiError::of_abort(abort).with(context)),
        printed: inside.printed,
        deliveries: deliveries.into_iter().map(Hex).collect(),
    }
}

fn fee(fee: &types::Fee) -> model::Fee {
    model::Fee {
        payer: Hex(fee.payer),
        cycle_price: fee.cycle_price.get(),
        cell_price: fee.cell_price.get(),
        reserved: fee.reserved.get(),
        burned: fee.burned.get(),
        tip: fee.tip.get(),
        refunded: fee.refunded.get(),
        total: fee.burned.saturating_add(fee.tip).get(),
    }
}

/// A receipt in an account's history.
///
/// `transaction` is the block's transaction at the receipt's place, where there is one.
pub fn history_entry(
    receipt: &types::Receipt,
    place: &Place,
    inside: &Inside,
    transaction: Option<&types::Transaction>,
) -> model::HistoryEntry {
    model::HistoryEntry {
        id: Hex(receipt.id),
        kind: kind(&receipt.kind).into(),
        block_height: place.height,
        timestamp_ms: place.timestamp_ms,
        status: status(receipt).into(),
        sender: Hex(receipt.sender),
        target: Hex(receipt.target),
        handler: ran(receipt, inside).0,
        value: receipt.value.get(),
        instruction: transaction.map(|transaction| effective(&transaction.instruction)),
    }
}

/// The name of what runs: where an instruction impersonates, that which it carries.
fn effective(carried: &Instruction) -> String {
    let shown = instruction(carried);
    shown.inner.map_or(shown.name, |inner| inner.name)
}

/// A transaction that waits, or stands at a place with this outcome.
pub fn transaction(transaction: &types::Transaction, included: Option<(&Place, &types::Receipt)>) -> model::Transaction {
    model::Transaction {
        hash: Hex(transaction.digest()),
        status: included.map_or("pending", |(_, receipt)| status(receipt)).into(),
        waits: None,
        block_height: included.map(|(place, _)| place.height),
        index: included.map(|(place, _)| place.index),
        timestamp_ms: included.map(|(place, _)| place.timestamp_ms),
        chain_id: transaction.chain_id.get(),
        nonce: transaction.nonce.get(),
        from: Hex(transaction.from),
        instruction: instruction(&transaction.instruction),
        cycles_limit: transaction.cycles_limit.get(),
        cells_limit: transaction.cells_limit.get(),
        max_fee_per_cycle: transaction.max_fee_per_cycle.get(),
        max_fee_per_cell: transaction.max_fee_per_cell.get(),
        max_priority_fee_per_cycle: transaction.max_priority_fee_per_cycle.get(),
        max_priority_fee_per_cell: transaction.max_priority_fee_per_cell.get(),
        metadata: bytes(&transaction.metadata),
        signature: bytes(&transaction.signature.0),
        additional_signers: transaction.additional_signers.iter().map(|signer| Hex(signer.address)).collect(),
        size: u64::try_from(transaction.encode_size()).unwrap_or(u64::MAX),
    }
}

/// An instruction with its operands.
pub fn instruction(instruction: &Instruction) -> model::Instruction {
    match instruction {
        Instruction::System(system) => of_system(system),
        Instruction::Actor(actor) => of_actor(actor),
        Instruction::Custom(custom) => of_custom(custom),
    }
}

fn named(category: &str, name: &str, number: u8) -> model::Instruction {
    model::Instruction { category: category.into(), name: name.into(), number, ..Default::default() }
}

fn of_system(system: &System) -> model::Instruction {
    let base = named("System", system.name(), system.number());
    match system {
        System::Transfer { to, amount } => model::Instruction { target: Some(Hex(*to)), value: Some(amount.get()), ..base },
        System::TransferActorOwnership { actor, owner } => {
            model::Instruction { target: Some(Hex(*actor)), owner: Some(Hex(*owner)), ..base }
        }
        System::CancelTimer { timer } => model::Instruction { timer: Some(Hex(*timer)), ..base },
        System::UpdateTimerConfig { ttl_blocks, cycles_per_fire, cells_per_fire, timers_per_actor, cleanup_cycles } => model::Instruction {
            details: Some(json!({
                "ttl_blocks": ttl_blocks.get(),
                "cycles_per_fire": cycles_per_fire.get(),
                "cells_per_fire": cells_per_fire.get(),
                "timers_per_actor": timers_per_actor.get(),
                "cleanup_cycles": cleanup_cycles.get(),
            })),
            ..base
        },
        System::EntitlementGrant { grantee, scope, action, constraints } => {
            model::Instruction { target: Some(Hex(*grantee)), details: Some(permission::grant(scope, action, constraints)), ..base }
        }
        System::EntitlementRevoke { entitlement_id } => {
            model::Instruction { details: Some(json!({ "entitlement_id": Hex(*entitlement_id) })), ..base }
        }
        System::EntitlementDelegate { entitlement_id, delegatee, constraints } => model::Instruction {
            target: Some(Hex(*delegatee)),
            details: Some(json!({ "entitlement_id": Hex(*entitlement_id), "constraints": permission::constraints_of(constraints) })),
            ..base
        },
        System::EntitlementCreateRole { name, scopes, actions, constraints } => {
            model::Instruction { details: Some(permission::role(name, scopes, actions, constraints)), ..base }
        }
        System::EntitlementAssignRole { role_id, assignee } | System::EntitlementRevokeRole { role_id, assignee } => {
            model::Instruction { target: Some(Hex(*assignee)), details: Some(json!({ "role_id": Hex(*role_id) })), ..base }
        }
        System::TimerSchedule { actor, height, handler, payload, cycles_limit, cells_limit, expires_at } => model::Instruction {
            target: Some(Hex(*actor)),
            handler: Some(handler.to_string()),
            payload: Some(bytes(payload)),
            payload_value: cbor::decode_payload(payload),
            details: Some(json!({
                "height": height.get(),
                "cycles_limit": cycles_limit.map(|limit| limit.get()),
                "cells_limit": cells_limit.map(|limit| limit.get()),
                "expires_at": expires_at.map(|height| height.get()),
            })),
            ..base
        },
        System::ExtendTimer { timer, expires_at } => {
            model::Instruction { timer: Some(Hex(*timer)), details: Some(json!({ "expires_at": expires_at.get() })), ..base }
        }
    }
}

fn of_actor(actor: &Actor) -> model::Instruction {
    let base = named("Actor", actor.name(), actor.number());
    match actor {
        Actor::Deploy { code, salt, init, manifest, endowment } => model::Instruction {
            value: Some(endowment.get()),
            handler: init.as_ref().map(|init| init.handler.to_string()),
            payload: init.as_ref().map(|init| bytes(&init.payload)),
            payload_value: init.as_ref().and_then(|init| cbor::decode_payload(&init.payload)),
            code: Some(String::from_utf8_lossy(code).into_owned()),
            salt: Some(bytes(salt)),
            manifest: manifest.as_ref().map(|manifest| cbor::decode_or_hex(manifest)),
            ..base
        },
        Actor::Execute { target, handler, payload, value } => model::Instruction {
            target: Some(Hex(*target)),
            value: Some(value.get()),
            handler: Some(handler.to_string()),
            payload: Some(bytes(payload)),
            payload_value: cbor::decode_payload(payload),
            ..base
        },
    }
}

fn of_custom(custom: &Custom) -> model::Instruction {
    let base = named("Custom", custom.name(), custom.number());
    match custom {
        Custom::SetBalance { account, balance } => model::Instruction { target: Some(Hex(*account)), value: Some(balance.get()), ..base },
        Custom::Impersonate { sender, instruction } => {
            let inner = match instruction {
                Ordinary::System(system) => of_system(system),
                Ordinary::Actor(actor) => of_actor(actor),
            };
            model::Instruction { target: Some(Hex(*sender)), inner: Some(Box::new(inner)), ..base }
        }
    }
}

/// A header.
pub fn header(header: &types::Header) -> model::Header {
    model::Header {
        version: header.version,
        genesis: Hex(header.genesis),
        epoch: header.context.epoch.get(),
        view: header.context.view.get(),
        proposer: bytes(&header.context.leader.0),
        parent: Hex(header.parent),
        number: header.number.get(),
        skipped: header.skipped.get(),
        timestamp_ms: header.timestamp_ms.get(),
        seeds: header.seeds.iter().map(|seed| bytes(&seed.0)).collect(),
        proposer_vrf: bytes(&header.proposer_vrf.0),
        base_fee_cycle: header.base_fee_cycle.get(),
        base_fee_cell: header.base_fee_cell.get(),
        usage: usage(&header.usage),
        tx_root: Hex(header.tx_root),
        body: Hex(header.body),
        receipt_root: Hex(header.receipt_root),
        state_root: Hex(header.state_root),
        ops_root: Hex(header.ops_root),
        voters: bytes(&header.voters),
        encoded: bytes(&header.encode()),
    }
}

fn usage(usage: &types::block::Usage) -> model::Usage {
    model::Usage { system: lane(&usage.system), timer: lane(&usage.timer), runner: lane(&usage.runner), user: lane(&usage.user) }
}

fn lane(usage: &types::LaneUsage) -> model::LaneUsage {
    model::LaneUsage { cycles: usage.cycles.get(), cells: usage.cells.get() }
}

/// The place of a block's `index`-th receipt.
pub fn place(header: &types::Header, block: Hash, index: usize) -> Place {
    Place { height: header.height().get(), block, timestamp_ms: header.timestamp_ms.get(), index: u32::try_from(index).unwrap_or(u32::MAX) }
}

/// A finalized block with everything in it. `inside` answers what is known beside a receipt, by its name.
pub fn block(block: &types::Block, receipts: &[types::Receipt], agreement: Agreement, inside: impl Fn(&Hash) -> Inside) -> model::Block {
    let hash = block.digest();
    let places = (0..).map(|index| place(&block.header, hash, index));
    let outcomes: Vec<(Place, &types::Receipt)> = places.zip(receipts).collect();
    model::Block {
        hash: Hex(hash),
        height: block.header.height().get(),
        header: header(&block.header),
        transactions: block
            .transactions
            .iter()
            .enumerate()
            .map(|(index, sent)| transaction(sent, outcomes.get(index).map(|(place, receipt)| (place, *receipt))))
            .collect(),
        receipts: outcomes.iter().map(|(place, found)| receipt(found, place, inside(&found.id), set_off(receipts, found))).collect(),
        qc: agreement.qc(&block.header),
        finality: agreement.finality(),
        messages: messages(&block.header),
        certificate: agreement.certificate.map(Hex),
    }
}

/// Names of the receipts in this list that one of them set off.
fn set_off(receipts: &[types::Receipt], origin: &types::Receipt) -> Vec<Hash> {
    receipts.iter().filter(|receipt| receipt.origin == origin.id && receipt.id != origin.id).map(|receipt| receipt.id).collect()
}

/// A block in a list.
pub fn block_summary(block: &types::Block, receipt_count: u64) -> model::BlockSummary {
    let used = &block.header.usage;
    let lanes = [&used.system, &used.timer, &used.runner, &used.user];
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    model::BlockSummary {
        hash: Hex(block.digest()),
        height: block.header.height().get(),
        timestamp_ms: block.header.timestamp_ms.get(),
        proposer: bytes(&block.header.context.leader.0),
        voters: bytes(&block.header.voters),
        messages: messages(&block.header),
        transaction_count: count(block.transactions.len()),
        receipt_count,
        cycles_used: lanes.iter().fold(0, |sum, lane| sum.saturating_add(lane.cycles.get())),
        cells_used: lanes.iter().fold(0, |sum, lane| sum.saturating_add(lane.cells.get())),
        usage: usage(used),
        base_fee_cycle: block.header.base_fee_cycle.get(),
        base_fee_cell: block.header.base_fee_cell.get(),
    }
}

/// A row of the parameter table with its value now.
pub fn parameter(row: &Row, params: &Params) -> model::Parameter {
    model::Parameter {
        id: row.id,
        name: row.name.into(),
        value: params.get(row.id).unwrap_or(row.genesis),
        genesis: row.genesis,
        min: row.min,
        max: row.max,
        unit: row.unit.name().into(),
        tier: row.tier.to_string(),
        source: row.source.into(),
        doc: row.doc.trim().into(),
    }
}

/// An account; `None` where the chain has never seen it.
pub fn account(address: Address, nonce: u64, balance: u64) -> model::Account {
    model::Account { address: Hex(address), nonce, balance }
}
