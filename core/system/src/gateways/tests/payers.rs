//! Actors that pay for their commands, and gateways that would have them pay for more (decision 732).

use super::*;
use cowboy_system::storage::rent;
use cowboy_testkit::chain::{key, sign, unsigned};
use cowboy_types::Blob;
use cowboy_types::transaction::CoSignature;
use cowboy_types::units::Amount;

/// A chain with a gateway, account 2, and an actor that pays for its commands and has this much. Its source is beyond the bytes that cost no rent.
fn paid_by_actor(endowment: u64) -> (Chain, Address) {
    let mut chain = Chain::new();
    register(&mut chain, 2, STAKE);
    let script = format!("#script\nhandler http.request\n burn 50000\n return 'x'\nhandler long\n return '{}'\n", "x".repeat(20_000));
    let deployment = deployment_of(script.as_bytes(), Some(paying(vec![("pays", Value::text("actor"))])), None, b"", endowment);
    let receipt = chain.send(1, deployment);
    assert_eq!(receipt.abort, None);
    (chain, receipt.created.expect("a deployment creates"))
}

/// Attack: a gateway keeps bytes of its own on the chain beside commands that an actor pays for, where no bound of the actor's manifest counts them. Cost: what
/// the bytes and the signers cost.
#[test]
fn what_stands_beside_a_command_is_the_gateways() {
    let (mut chain, actor) = paid_by_actor(10 * CBY);
    let mut brought = |number: u8, metadata: usize, is_co_signed: bool| {
        let argument = Value::map(dispatch_argument(actor, request(&chain, 2, actor, number, "POST", b""))).encode();
        let mut transaction = unsigned(2, chain.nonce(2), execution(REGISTRY, "dispatch", &argument, 0));
        transaction.metadata = Blob::new(vec![7; metadata]).expect("it fits");
        if is_co_signed {
            let by = |signature| cowboy_types::List::new(vec![CoSignature { address: address(3), signature }]).expect("one fits");
            transaction.additional_signers = by(Default::default());
            let digest = transaction.digest();
            transaction.additional_signers = by(key(3).sign(&digest));
        }
        let before = chain.balance(actor);
        let receipt = chain.one(sign(2, transaction));
        assert_eq!(receipt.abort, None);
        receipt.fee.burned.0 - (before - chain.balance(actor))
    };
    let price = Params::GENESIS.fees.base_fee_min;
    let signer = Params::GENESIS.costs.verify_secp256k1 + Params::GENESIS.intrinsic.signer_cells;
    assert_eq!(brought(1, 0, false), 0, "all that was burned comes back");
    assert_eq!(brought(2, 100_000, false), 100_000 * price);
    assert_eq!(brought(3, 0, true), signer * price);
}

/// Attack: a gateway brings commands of its own until the actor has nothing left for its rent, and is evicted. The actor keeps the reserve.
#[test]
fn commands_leave_what_rent_needs() {
    let (mut chain, actor) = paid_by_actor(3 * CBY);
    let params = Params::GENESIS;
    let reserve = rent::reserve(&params, Amount(params.rent.rate), rent::billable(&params, &chain.actor(actor))).0;
    assert!(reserve > CBY / 2 && reserve < 2 * CBY, "{reserve}: a tenth of the rent of a year");
    for number in 1..=6 {
        assert_eq!(post(&mut chain, 2, actor, number).abort, None);
    }
    assert_eq!(chain.balance(actor), reserve);
}
