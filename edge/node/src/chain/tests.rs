use super::*;
use crate::{
    execute::tests::{chain, chain_of, transaction},
    mempool::Source,
    reader::{Batch, StateProver, Wanted},
};
use cowboy_chain::{Standing, lanes::Lane};
use cowboy_store::proof::StateProof;
use cowboy_types::{Amount, Instruction, ReceiptKind, System};
use futures::{FutureExt as _, future::BoxFuture};

/// A state that a block is written to at the moment it is read: who reads gets what was there before.
struct Moving {
    chain: Arc<Chain>,
    before: Account,
    after: Account,
}

impl StateReader for Moving {
    fn read(&self, keys: Vec<StateKey>) -> BoxFuture<'_, Vec<Option<Bytes>>> {
        let record = |account: &Account| {
            use commonware_codec::Encode as _;
            Key::account(Address([1; 20])).seal(&account.encode())
        };
        let writes = keys.iter().map(|key| (*key, Some(record(&self.after)))).collect();
        self.chain.mempool.advance(1, &writes, self.chain.mempool.base_fees(Lane::User));
        std::future::ready(vec![Some(record(&self.before))]).boxed()
    }

    fn root(&self) -> BoxFuture<'_, Hash> {
        unreachable!("only accounts are read")
    }

    fn operations(&self, _: Wanted) -> BoxFuture<'_, Option<Bytes>> {
        unreachable!("only accounts are read")
    }
}

impl StateProver for Moving {
    fn prove(&self, _: Vec<StateKey>, _: Batch) -> BoxFuture<'_, Vec<StateProof>> {
        unreachable!("only accounts are read")
    }
}

/// A block that takes the sender's transactions while the nonce is looked up does not make a used nonce of it.
#[test]
fn the_next_nonce_is_never_a_used_one() {
    let chain = chain(None);
    let transfer = System::Transfer { to: Address([9; 20]), amount: Amount(1) };
    let waiting = transaction(&chain, 0, Instruction::System(transfer), 21_000);
    let sender = waiting.transaction().from;
    let before = Account { nonce: Nonce(0), balance: Amount(u64::MAX) };
    let standing = Standing { account: before.clone(), lane: Lane::User };
    chain.mempool.admit(Source::Client, &standing, waiting).expect("there is room");
    let after = Account { nonce: Nonce(1), ..before.clone() };
    let moving = Moving { chain: chain.clone(), before, after };
    assert!(chain.state.set(Arc::new(moving)).is_ok());
    let next = chain.next_nonce(&sender).now_or_never().expect("nothing is waited for");
    assert_eq!((next, chain.mempool.size().transactions), (Some(Nonce(1)), 0));
}

/// Decision 758: who waits for a receipt goes through no other. The places are put in order once for all of them.
#[test]
fn receipts_of_a_block_are_found_by_name() {
    let name = |number: u8| Hash([number; 32]);
    let receipt =
        |number: u8| Receipt::unpaid(ReceiptKind::Transaction, (name(number), name(number)), (Address::ZERO, Address::ZERO), Address::ZERO);
    let block = FinalizedBlock {
        block: chain(None).genesis.clone(),
        receipts: Arc::new((0..100).map(receipt).collect()),
        traces: Arc::default(),
        certificate: None,
        index: OnceLock::new(),
    };
    assert!((0..100).all(|number| block.place_of(&name(number)) == Some(usize::from(number))));
    assert_eq!(block.place_of(&name(100)), None);
    let places = block.index.get().expect("somebody asked");
    assert_eq!(places.len(), 100);
}

/// Only where no other validator can ever be does the engine take less memory at the start.
#[test]
fn a_validator_that_is_alone_has_smaller_mailboxes() {
    let dev = |validators| {
        let mut chain = Arc::into_inner(chain_of(validators, None)).expect("nobody else has it");
        Arc::make_mut(&mut chain.config).is_dev = true;
        chain
    };
    let usual = chain(None).mailbox();
    assert!(dev(1).is_alone() && dev(1).mailbox() < usual);
    assert_eq!(dev(4).mailbox(), usual);
}
