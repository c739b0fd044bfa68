//! Random blocks: whatever is mixed, maker and checker agree and every invariant of the harness holds after each block.

use cowboy_chain::SignedTransaction;
use cowboy_testkit::chain::{ALL, Chain, address, deployment, execution, signed, transfer, unsigned};
use cowboy_types::Address;
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::units::Cycles;
use proptest::prelude::*;

/// What a random transaction does.
#[derive(Clone, Debug)]
enum Act {
    Transfer { to: u8, amount: u64 },
    Call { handler: &'static str, payload: Vec<u8>, value: u64, cycles: u64 },
    Deploy,
    Cancel,
    Nonsense,
}

const HANDLERS: [&str; 9] = ["put", "drop", "beat", "fan", "pay", "chain", "fail", "burn", "missing"];

const SCRIPT: &str = "handler put\n set $payload 'value'\n emit 'put' $payload\nhandler drop\n delete $payload\nhandler beat\n try timer 12 'x'\n try timer_ex 9 'y' '' 60000 1000 11\nhandler fan\n self\n send $0 'a' 0 'put'\n send $0 'b' 3 'drop'\n send @3 '' 5\n send $0 'c' 1 'fail'\nhandler pay\n try pay @2 7\nhandler chain\n self\n try call $0 'put' 'q' 30000\n try call $0 'fail' '' 30000\n send $0 '' 0 'chain'\nhandler fail\n set 'gone' 'x'\n raise\nhandler burn\n burn 400000\nhandler handle_timer\n self\n send $0 't' 2 'put'\n emit 'tick' 'x'\n";

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (1u8..9, 0u64..2_000_000_000_000_000).prop_map(|(to, amount)| Act::Transfer { to, amount }),
        (0usize..HANDLERS.len(), prop::collection::vec(any::<u8>(), 0..40), 0u64..50, 22_000u64..3_000_000)
            .prop_map(|(handler, payload, value, cycles)| Act::Call { handler: HANDLERS[handler], payload, value, cycles }),
        Just(Act::Deploy),
        Just(Act::Cancel),
        Just(Act::Nonsense),
    ]
}

fn build(chain: &Chain, actor: Address, from: u8, nonce: u64, act: &Act) -> SignedTransaction {
    match act {
        Act::Transfer { to, amount } => transfer(from, nonce, address(*to), *amount),
        Act::Call { handler, payload, value, cycles } => {
            let mut transaction = unsigned(from, nonce, execution(actor, handler, payload, *value));
            transaction.cycles_limit = Cycles(*cycles);
            cowboy_testkit::chain::sign(from, transaction)
        }
        Act::Deploy => signed(from, nonce, deployment(SCRIPT, Some(ALL), Some("put"), 1_000)),
        Act::Cancel => {
            let timer = chain.all::<cowboy_state::records::Timer>(cowboy_state::Kind::Timer).first().map(|(key, _)| key.name.clone());
            let timer = timer.map_or(cowboy_types::Hash::ZERO, |name| cowboy_types::Hash(name[..].try_into().expect("an id")));
            signed(from, nonce, Instruction::System(System::CancelTimer { timer }))
        }
        Act::Nonsense => signed(from, nonce, execution(Address([9; 20]), "x", b"", 1)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// twelve blocks of anything.
    #[test]
    fn blocks_of_anything_keep_the_books(blocks in prop::collection::vec(prop::collection::vec((1u8..=9, act(), 0u64..10), 0..12), 12)) {
        let mut chain = Chain::with(|genesis| {
            genesis.parameters = cowboy_testkit::chain::parameters(&[("lanes.user_cycles", 3_000_000), ("execution.fanout_per_tx", 40)]);
        });
        let actor = chain.one({
            let mut transaction = unsigned(1, 0, deployment(SCRIPT, Some(ALL), None, 50_000_000_000));
            transaction.cycles_limit = Cycles(500_000);
            cowboy_testkit::chain::sign(1, transaction)
        }).created.expect("it is deployed");
        for block in blocks {
            let mut nonces: std::collections::BTreeMap<u8, u64> = Default::default();
            let candidates = block.iter().map(|(from, act, skip)| {
                let next = nonces.entry(*from).or_insert_with(|| chain.nonce(*from));
                // Now and then a nonce is wrong.
                let nonce = if *skip == 0 { *next + 1 } else { *next };
                *next += 1;
                build(&chain, actor, *from, nonce, act)
            }).collect();
            let outcome = chain.block(candidates);
            prop_assert!(outcome.usage.timer.cycles <= Cycles(8_888_890));
            prop_assert_eq!(outcome.receipts.len(), outcome.traces.len());
        }
    }
}
