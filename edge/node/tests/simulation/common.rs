//! Accounts and transactions for all tests.

use cowboy_chain::genesis::Funded;
use cowboy_node::genesis::DevGenesis;
use cowboy_types::{
    Address, Amount, Cells, ChainId, Cycles, Hash, Instruction, Nonce, Price, System, Transaction, keccak256,
    signing::PrivateKey,
    transaction::Signature,
    wire::{Blob, List},
};

/// How many accounts are funded.
pub(crate) const ACCOUNTS: u64 = 8;

/// What each of them has at first.
pub(crate) const FUNDS: Amount = Amount(1_000 * Amount::CBY.0);

/// The key of a funded account.
pub(crate) fn key(number: u64) -> PrivateKey {
    PrivateKey::from_bytes(keccak256(&[b"test account", &number.to_be_bytes()]).0).expect("a hash is a key")
}

/// A dev chain on which the accounts are funded.
pub(crate) fn genesis(validators: u32) -> DevGenesis {
    let mut accounts: Vec<Funded> = (0..ACCOUNTS).map(|number| Funded { address: key(number).address(), amount: FUNDS }).collect();
    accounts.sort_by_key(|funded| funded.address);
    DevGenesis { accounts, validators, ..DevGenesis::default() }
}

/// A signed transfer.
pub(crate) fn transfer(from: u64, nonce: u64, to: Address, amount: Amount) -> Transaction {
    sign(from, nonce, Instruction::System(System::Transfer { to, amount }))
}

/// A signed transaction with limits that are enough for anything here.
pub(crate) fn sign(from: u64, nonce: u64, instruction: Instruction) -> Transaction {
    sign_by(&key(from), nonce, instruction)
}

/// The same, by the account of any key.
pub(crate) fn sign_by(key: &PrivateKey, nonce: u64, instruction: Instruction) -> Transaction {
    let mut transaction = Transaction {
        chain_id: ChainId(1337),
        nonce: Nonce(nonce),
        instruction,
        cycles_limit: Cycles(5_000_000),
        cells_limit: Cells(100_000),
        max_fee_per_cycle: Price(20_000),
        max_fee_per_cell: Price(20_000),
        max_priority_fee_per_cycle: Price(1),
        max_priority_fee_per_cell: Price(1),
        from: key.address(),
        metadata: Blob::default(),
        origin_tx_hash: None::<Hash>,
        origin_remaining_cycles: None,
        origin_remaining_cells: None,
        signature: Signature::default(),
        additional_signers: List::default(),
    };
    key.sign_transaction(&mut transaction);
    transaction
}
