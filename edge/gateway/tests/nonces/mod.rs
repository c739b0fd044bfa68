//! Nonces of a gateway that was restarted.

use super::{World, unsigned};
use cowboy_types::{Address, Amount, Instruction, Nonce, Transaction, instruction::System, signing::PrivateKey, units::Price};
use std::path::{Path, PathBuf};

/// Whom the gateway paid before it was restarted, with its first nonce: no pool has the transaction, and no block.
const PAYEE: Address = Address([9; 20]);

/// The gateway's file of signed transactions, with one whose prices no block takes.
pub(crate) fn journal(folder: &Path, key: &PrivateKey) -> PathBuf {
    let transfer = Instruction::System(System::Transfer { to: PAYEE, amount: Amount(1) });
    let mut former = Transaction { max_fee_per_cycle: Price(1), ..unsigned(key, Nonce(0), transfer) };
    key.sign_transaction(&mut former);
    let bytes = former.to_bytes();
    let length = u32::try_from(bytes.len()).expect("it is short");
    let path = folder.join("commands");
    std::fs::write(&path, [&length.to_be_bytes()[..], &bytes].concat()).expect("the folder is writable");
    path
}

/// What was signed before a restart keeps its nonce, at prices of today, and goes before what is signed now: a nonce that was signed for two
/// requests is evidence against the gateway.
pub(crate) async fn are_signed_once(world: &World) {
    let payee = world.node.account(PAYEE).await.expect("the node runs");
    assert_eq!(payee.balance, Amount(1));
}
