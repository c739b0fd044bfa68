//! Why a transaction is refused before anything runs (003 §2.2): a closed list, checked in its order.
//!
//! The order is the order of [`Invalid`]'s variants. First what the bytes alone say, then what the chain
//! says, then what the sender's account says, then what the block says. A transaction that breaks several
//! rules is refused for the first.

use crate::fees::{BaseFees, Offer, Offers, Used};
use crate::lanes::Lane;
use cowboy_params::Params;
use cowboy_state::records::Account;
use cowboy_state::{Key, Miss, World};
use cowboy_system::entitlements::prices::Operation;
use cowboy_types::instruction::{Actor, Custom, Instruction, Ordinary, System};
use cowboy_types::transaction::DecodeError;
use cowboy_types::units::{Amount, Cells, ChainId, Cycles, Nonce, Price};
use cowboy_types::{Abort, Address, Hash, Transaction, error, signing};
use std::sync::Arc;

/// Why a transaction is refused. The variants stand in the order of the checks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// More bytes than any transaction has.
    #[error("the transaction has {size} bytes, more than the {max} that are allowed; shorten the code or the payload")]
    TooLarge {
        /// Its bytes.
        size: usize,
        /// The most there may be.
        max: u64,
    },
    /// The bytes are no canonical transaction.
    #[error("{0}; build transactions with a client library and send them unchanged")]
    NotCanonical(String),
    /// The additional signers do not ascend strictly.
    #[error("the additional signers must ascend strictly by address; sort them and remove duplicates")]
    SignersUnordered,
    /// A signature is not by the account beside it.
    #[error("{0}; sign again, after the last change, with the account's key")]
    Signature(signing::SignatureError),
    /// It is for another chain.
    #[error("the transaction is for chain {found} and this is chain {expected}; set chain_id and sign again")]
    WrongChain {
        /// The chain it names.
        found: ChainId,
        /// This chain.
        expected: ChainId,
    },
    /// It carries origin fields.
    #[error("origin_tx_hash and origin_remaining_* belong to deliveries of the protocol; leave them absent")]
    OriginPresent,
    /// A dev instruction on another chain.
    #[error("{instruction} exists on dev chains only")]
    DevOnly {
        /// The instruction's name.
        instruction: &'static str,
    },
    /// A limit above what any transaction may use.
    #[error("{meter}_limit {limit} is above the {max} that one transaction may use; lower it")]
    LimitTooHigh {
        /// `cycles` or `cells`.
        meter: &'static str,
        /// The requested limit.
        limit: u64,
        /// The most there may be.
        max: u64,
    },
    /// A limit below the base cost.
    #[error("{meter}_limit {limit} is below the base cost {min}; raise it")]
    LimitTooLow {
        /// `cycles` or `cells`.
        meter: &'static str,
        /// The requested limit.
        limit: u64,
        /// What it costs before it runs.
        min: u64,
    },
    /// The tip is above the maximum price.
    #[error("the tip for a {meter} is above the maximum price, which contains it; lower the tip or raise the maximum")]
    TipAboveMax {
        /// `cycle` or `cell`.
        meter: &'static str,
    },
    /// The reserve does not fit a balance.
    #[error("limits times maximum prices is more than all CBY; lower them")]
    FeeOverflow,
    /// The maximum price is below the base fee.
    #[error("the maximum price for a {meter} is {max}, below the base fee {base_fee}; offer at least that")]
    BaseFeeTooLow {
        /// `cycle` or `cell`.
        meter: &'static str,
        /// What is offered.
        max: Price,
        /// What is burned.
        base_fee: Price,
    },
    /// The nonce was used.
    #[error("nonce {found} was used; the account's next is {expected}")]
    NonceTooLow {
        /// The transaction's.
        found: Nonce,
        /// The account's next.
        expected: Nonce,
    },
    /// Transactions before it are missing.
    #[error("nonce {found} is ahead of the account's next, {expected}; send the missing ones first")]
    NonceTooHigh {
        /// The transaction's.
        found: Nonce,
        /// The account's next.
        expected: Nonce,
    },
    /// The balance does not cover the reserve.
    #[error("the fee may take {reserve} and the account has {balance}; lower limits or prices, or fund the account")]
    BalanceForFee {
        /// Limits times maximum prices.
        reserve: Amount,
        /// The account's balance.
        balance: Amount,
    },
    /// The balance does not cover the value beside the reserve.
    #[error("{value} is sent beside a fee of up to {reserve} and the account has {balance}; send less, or fund the account")]
    BalanceForValue {
        /// What is sent.
        value: Amount,
        /// Limits times maximum prices.
        reserve: Amount,
        /// The account's balance.
        balance: Amount,
    },
    /// It does not fit what is left of the block.
    #[error("the block has no room left for it; it may fit the next")]
    DoesNotFit,
}

impl Invalid {
    /// The row of the error table that says the same.
    pub fn abort(&self) -> Abort {
        match self {
            Self::TooLarge { .. } => error::TRANSACTION_TOO_LARGE,
            Self::NotCanonical(_) => error::NOT_CANONICAL,
            Self::SignersUnordered => error::SIGNERS_UNORDERED,
            Self::Signature(_) => error::INVALID_SIGNATURE,
            Self::WrongChain { .. } => error::WRONG_CHAIN,
            Self::OriginPresent => error::ORIGIN_NOT_ALLOWED,
            Self::DevOnly { .. } => error::DEV_ONLY,
            Self::LimitTooHigh { .. } | Self::DoesNotFit => error::LIMIT_TOO_HIGH,
            Self::LimitTooLow { .. } => error::LIMIT_TOO_LOW,
            Self::TipAboveMax { .. } => error::TIP_ABOVE_MAX,
            Self::FeeOverflow => error::OVERFLOW,
            Self::BaseFeeTooLow { .. } => error::BASE_FEE_TOO_LOW,
            Self::NonceTooLow { .. } => error::WRONG_NONCE,
            Self::NonceTooHigh { .. } => error::NONCE_GAP,
            Self::BalanceForFee { .. } => error::INSUFFICIENT_FEE,
            Self::BalanceForValue { .. } => error::INSUFFICIENT_VALUE,
        }
    }
}

/// A transaction whose signatures hold. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedTransaction(Arc<Signed>);

#[derive(Debug, PartialEq, Eq)]
struct Signed {
    transaction: Transaction,
    digest: Hash,
    size: usize,
}

impl SignedTransaction {
    /// Decodes and checks: the first four reasons of [`Invalid`].
    pub fn decode(bytes: &[u8]) -> Result<Self, Invalid> {
        let transaction = Transaction::from_bytes(bytes).map_err(|error| match error {
            DecodeError::TooLarge { size } => Invalid::TooLarge { size, max: Params::GENESIS.execution.transaction_bytes },
            DecodeError::NotCanonical(reason) => Invalid::NotCanonical(reason),
        })?;
        Self::check(transaction)
    }

    /// Checks the signers' order and every signature. Takes about 40 µs a signature.
    pub fn check(transaction: Transaction) -> Result<Self, Invalid> {
        if !transaction.additional_signers.is_sorted_by(|one, other| one.address < other.address) {
            return Err(Invalid::SignersUnordered);
        }
        let digest = signing::verify(&transaction).map_err(Invalid::Signature)?;
        Ok(Self::with_digest(transaction, digest))
    }

    /// Takes a transaction without looking at its signatures: in simulations, and where a finalized block holds it.
    pub fn unchecked(transaction: Transaction) -> Self {
        let digest = transaction.digest();
        Self::with_digest(transaction, digest)
    }

    fn with_digest(transaction: Transaction, digest: Hash) -> Self {
        let size = commonware_codec::EncodeSize::encode_size(&transaction);
        Self(Arc::new(Signed { transaction, digest, size }))
    }

    /// The transaction.
    pub fn transaction(&self) -> &Transaction {
        &self.0.transaction
    }

    /// Its name.
    pub fn digest(&self) -> &Hash {
        &self.0.digest
    }

    /// Bytes of its encoding.
    pub fn size(&self) -> usize {
        self.0.size
    }
}

impl From<&Transaction> for Offers {
    fn from(transaction: &Transaction) -> Self {
        Self {
            cycle: Offer { max: transaction.max_fee_per_cycle, priority: transaction.max_priority_fee_per_cycle },
            cell: Offer { max: transaction.max_fee_per_cell, priority: transaction.max_priority_fee_per_cell },
        }
    }
}

/// Cost of a transaction before it runs (003 §17.2; decision 171): its instruction, one cell for each byte of
/// metadata, and for each additional signer one check of a secp256k1 signature and the bytes of address and signature.
///
/// The fixed fields are in the instruction's cycles, so a plain transfer costs 21,000 cycles and no cells.
pub fn intrinsic(params: &Params, transaction: &Transaction) -> Used {
    let instruction = instruction_cost(params, &transaction.instruction);
    let signers = length(transaction.additional_signers.len());
    let signer_cycles = signers.saturating_mul(params.costs.verify_secp256k1);
    let signer_cells = signers.saturating_mul(params.intrinsic.signer_cells);
    Used {
        cycles: instruction.cycles.saturating_add(Cycles(signer_cycles)),
        cells: instruction.cells.saturating_add(Cells(length(transaction.metadata.len()))).saturating_add(Cells(signer_cells)),
    }
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Cost of an instruction before it runs: the cycles of its row, and the cells of its row or the bytes of its
/// variable-length fields, whichever are more. So no field is carried for free.
pub fn instruction_cost(params: &Params, instruction: &Instruction) -> Used {
    let (cycles, cells, bytes) = match instruction {
        Instruction::System(system) => cost_of_system(params, system),
        Instruction::Actor(actor) => cost_of_actor(params, actor),
        Instruction::Custom(Custom::SetBalance { .. }) => (params.intrinsic.system_cycles, 0, 0),
        Instruction::Custom(Custom::Impersonate { instruction, .. }) => match instruction {
            Ordinary::System(system) => cost_of_system(params, system),
            Ordinary::Actor(actor) => cost_of_actor(params, actor),
        },
    };
    Used { cycles: Cycles(cycles), cells: Cells(cells.max(length(bytes))) }
}

/// Cycles and cells of the row of an instruction on actors, and the bytes of its variable-length fields.
fn cost_of_actor(params: &Params, actor: &Actor) -> (u64, u64, usize) {
    let rows = &params.intrinsic;
    match actor {
        Actor::Deploy { code, init, manifest, .. } => {
            let init = init.as_ref().map_or(0, |init| init.handler.len() + init.payload.len());
            (rows.deploy_cycles, 0, code.len() + init + manifest.as_ref().map_or(0, |manifest| manifest.len()))
        }
        Actor::Execute { target, handler, payload, .. } => {
            let is_job = *target == Address::system(cowboy_system::dispatcher::NUMBER) && &handler[..] == "submit_job";
            (if is_job { rows.llm_request_cycles } else { rows.message_cycles }, 0, handler.len() + payload.len())
        }
    }
}

/// The same of an instruction of the protocol. 002 §7.4 has the rows of the permission registry.
fn cost_of_system(params: &Params, system: &System) -> (u64, u64, usize) {
    let rows = &params.intrinsic;
    let registry = |operation: Operation| {
        let (cycles, cells) = operation.price(params);
        (cycles, cells, 0)
    };
    match system {
        System::Transfer { .. } => (rows.transfer_cycles, 0, 0),
        System::EntitlementGrant { scope, action, constraints, .. } => {
            registry(Operation::Grant { bytes: scope.len() + action.len() + constraints.len() })
        }
        System::EntitlementRevoke { .. } => registry(Operation::Revoke),
        System::EntitlementDelegate { constraints, .. } => registry(Operation::Delegate { bytes: constraints.len() }),
        System::EntitlementCreateRole { name, scopes, actions, constraints } => {
            registry(Operation::CreateRole { bytes: name.len() + scopes.len() + actions.len() + constraints.len() })
        }
        System::EntitlementAssignRole { .. } | System::EntitlementRevokeRole { .. } => registry(Operation::Assign),
        System::TimerSchedule { handler, payload, .. } => (rows.timer_cycles, rows.timer_cells, handler.len() + payload.len()),
        System::TransferActorOwnership { .. }
        | System::CancelTimer { .. }
        | System::UpdateTimerConfig { .. }
        | System::ExtendTimer { .. } => (rows.system_cycles, 0, 0),
    }
}

/// CBY that an instruction takes from its sender beside the fee.
pub fn value(instruction: &Instruction) -> Amount {
    match instruction {
        Instruction::System(System::Transfer { amount, .. }) => *amount,
        Instruction::Actor(Actor::Deploy { endowment, .. }) => *endowment,
        Instruction::Actor(Actor::Execute { value, .. }) => *value,
        // What an impersonated account sends comes out of that account.
        Instruction::System(_) | Instruction::Custom(_) => Amount::ZERO,
    }
}

/// What admission has to know of the chain.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The number in every signature.
    pub chain_id: ChainId,
    /// Whether dev instructions exist.
    pub is_dev: bool,
    /// The parameters of the block that would take the transaction.
    pub params: &'a Params,
    /// That block's base fees, before the lane's multiplier.
    pub base_fees: BaseFees,
}

/// What admission reads of the state about a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The sender's account.
    pub account: Account,
    /// The lane that the transaction would run in.
    pub lane: Lane,
}

impl Standing {
    /// Reads the standing of a transaction in this state.
    pub fn read(world: &World, transaction: &Transaction) -> Result<Self, Miss> {
        world.require([&Key::account(transaction.from)])?;
        let lane = Lane::of(world, transaction.from, &transaction.instruction)?;
        Ok(Self { account: world.account(transaction.from)?, lane })
    }
}

/// What admission found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Where it runs.
    pub lane: Lane,
    /// What it costs before it runs.
    pub intrinsic: Used,
    /// What is held before it runs: limits times maximum prices.
    pub reserve: Amount,
    /// CBY it takes beside the fee.
    pub value: Amount,
}

/// Whether the chain and the sender's account allow a transaction in its lane, in the order of [`Invalid`].
pub fn admit(facts: &Facts<'_>, lane: Lane, account: &Account, signed: &SignedTransaction) -> Result<Admitted, Invalid> {
    let admitted = check_form(facts, lane, signed)?;
    check_account(account, signed.transaction(), &admitted)?;
    Ok(admitted)
}

/// The checks that do not look at the account.
pub fn check_form(facts: &Facts<'_>, lane: Lane, signed: &SignedTransaction) -> Result<Admitted, Invalid> {
    let (transaction, params) = (signed.transaction(), facts.params);
    if u64::try_from(signed.size()).unwrap_or(u64::MAX) > params.execution.transaction_bytes {
        return Err(Invalid::TooLarge { size: signed.size(), max: params.execution.transaction_bytes });
    }
    if transaction.chain_id != facts.chain_id {
        return Err(Invalid::WrongChain { found: transaction.chain_id, expected: facts.chain_id });
    }
    if transaction.origin_tx_hash.is_some() || transaction.origin_remaining_cycles.is_some() || transaction.origin_remaining_cells.is_some()
    {
        return Err(Invalid::OriginPresent);
    }
    if matches!(transaction.instruction, Instruction::Custom(_)) && !facts.is_dev {
        return Err(Invalid::DevOnly { instruction: transaction.instruction.name() });
    }
    let intrinsic = intrinsic(params, transaction);
    check_limits(params, lane, intrinsic, transaction)?;
    let offers = Offers::from(transaction);
    for (meter, offer) in [("cycle", offers.cycle), ("cell", offers.cell)] {
        if offer.priority > offer.max {
            return Err(Invalid::TipAboveMax { meter });
        }
    }
    let limits = Used { cycles: transaction.cycles_limit, cells: transaction.cells_limit };
    let reserve = offers.reserve(limits).ok_or(Invalid::FeeOverflow)?;
    let burned = lane.base_fees(params, facts.base_fees);
    for (meter, max, base_fee) in [("cycle", offers.cycle.max, burned.cycle), ("cell", offers.cell.max, burned.cell)] {
        if max < base_fee {
            return Err(Invalid::BaseFeeTooLow { meter, max, base_fee });
        }
    }
    Ok(Admitted { lane, intrinsic, reserve, value: value(&transaction.instruction) })
}

fn check_limits(params: &Params, lane: Lane, intrinsic: Used, transaction: &Transaction) -> Result<(), Invalid> {
    // Decision 101: a transaction may use its lane's own budget, and the block's cells.
    let most = Used { cycles: lane.budget(params), cells: Cells(params.fees.block_cells) };
    let limits = [
        ("cycles", transaction.cycles_limit.0, intrinsic.cycles.0, most.cycles.0),
        ("cells", transaction.cells_limit.0, intrinsic.cells.0, most.cells.0),
    ];
    for (meter, limit, _, max) in limits {
        if limit > max {
            return Err(Invalid::LimitTooHigh { meter, limit, max });
        }
    }
    for (meter, limit, min, _) in limits {
        if limit < min {
            return Err(Invalid::LimitTooLow { meter, limit, min });
        }
    }
    Ok(())
}

/// The checks that look at the account.
pub fn check_account(account: &Account, transaction: &Transaction, admitted: &Admitted) -> Result<(), Invalid> {
    let (found, expected) = (transaction.nonce, account.nonce);
    if found < expected {
        return Err(Invalid::NonceTooLow { found, expected });
    }
    if found > expected {
        return Err(Invalid::NonceTooHigh { found, expected });
    }
    let Admitted { reserve, value, .. } = *admitted;
    let balance = account.balance;
    if balance < reserve {
        return Err(Invalid::BalanceForFee { reserve, balance });
    }
    if reserve.checked_add(value).is_none_or(|both| balance < both) {
        return Err(Invalid::BalanceForValue { value, reserve, balance });
    }
    Ok(())
}
