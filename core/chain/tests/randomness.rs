//! The parent beacon, HKDF, and seeds of named rounds (decisions 115, 130).

use bytes::Bytes;
use cowboy_chain::input::{BlockInput, Mode, RoundSeed};
use cowboy_testkit::chain::{Chain, execution, signed};
use cowboy_types::units::Cycles;
use cowboy_types::{keccak256, wire::Fixed};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] =
    cowboy_testkit::scenarios![randomness_is_hkdf_of_the_parent_beacon, seeds_of_named_rounds_are_readable_for_256_rounds];

/// HKDF-SHA256 without salt, from RFC 5869's definition, by hand: extract under 32 zero bytes, expand one block.
fn hkdf(seed: &[u8], label: &[u8]) -> Vec<u8> {
    fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
        use sha2::Digest as _;
        let mut block = [0u8; 64];
        block[..key.len()].copy_from_slice(key);
        let inner = sha2::Sha256::digest([&block.map(|byte| byte ^ 0x36)[..], message].concat());
        sha2::Sha256::digest([&block.map(|byte| byte ^ 0x5C)[..], &inner].concat()).to_vec()
    }
    hmac(&hmac(&[0; 32], seed), &[label, &[1]].concat())
}

fn seed_of(view: u64) -> Fixed<48> {
    let half = keccak256(&[b"seed", &view.to_be_bytes()]);
    let mut seed = [0; 48];
    seed[..32].copy_from_slice(&half.0);
    seed[32..].copy_from_slice(&half.0[..16]);
    Fixed(seed)
}

/// Makes one block whose header carries the seeds of these views.
fn block(chain: &mut Chain, epoch: u64, views: std::ops::RangeInclusive<u64>, call: Option<(u8, cowboy_types::Instruction)>) -> Vec<u8> {
    let transactions: Vec<_> = call.into_iter().map(|(from, instruction)| signed(from, chain.nonce(from), instruction)).collect();
    let seeds: Vec<RoundSeed> = views.map(|view| RoundSeed { epoch, view, seed: seed_of(epoch * 100_000 + view) }).collect();
    let beacon = seeds.last().map_or(Bytes::from_static(&[0; 32]), |seed| Bytes::copy_from_slice(&seed.seed.0));
    let input = BlockInput { seeds, beacon, ..chain.input(Mode::Verify { transactions }) };
    let (outcome, _) = chain.run(input).expect("the block is valid");
    chain.apply(&outcome);
    outcome.receipts.first().map(|receipt| receipt.return_data.to_vec()).unwrap_or_default()
}

/// what an actor gets is HKDF of the parent beacon under its label, for 1,000 cycles.
#[test]
fn randomness_is_hkdf_of_the_parent_beacon() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler draw\n random 'lottery'\n return $last\nhandler other\n random 'game'\n return $last\n");
    let receipt = chain.call(actor, "draw", b"");
    assert_eq!(receipt.cycles_used, Cycles(21_000 + 20 + 1_000));
    let drawn = block(&mut chain, 1, 1..=1, Some((1, execution(actor, "draw", b"", 0))));
    assert_eq!(drawn, hkdf(&seed_of(100_001).0, b"lottery"));
    let same = block(&mut chain, 1, 1..=1, Some((1, execution(actor, "draw", b"", 0))));
    assert_eq!(same, drawn, "neither height nor sender enters");
    let other = block(&mut chain, 1, 1..=1, Some((1, execution(actor, "other", b"", 0))));
    assert_ne!(other, drawn, "another label, another value");
}

/// A-137, decision 115: rounds are named absolutely; the newest 256 are readable, older and later ones are not.
#[test]
fn seeds_of_named_rounds_are_readable_for_256_rounds() {
    let mut chain = Chain::new();
    let rounds = [(1, 1), (1, 44), (1, 45), (1, 200), (2, 1), (2, 100), (2, 101), (3, 1)];
    let handlers: String =
        rounds.iter().map(|(epoch, view)| format!("handler r{epoch}x{view}\n try random_at {epoch} {view} 'l'\n return $last\n")).collect();
    let actor = chain.deploy(&handlers);
    for view in 1..=200u64 {
        block(&mut chain, 1, view..=view, None);
    }
    // One block after a hundred nullified rounds carries all their seeds.
    block(&mut chain, 2, 1..=100, None);
    for (epoch, view) in rounds {
        let nonce = chain.nonce(1);
        let _ = nonce;
        let answer = chain.call(actor, &format!("r{epoch}x{view}"), b"").return_data.to_vec();
        let readable = matches!((epoch, view), (1, 45..=200) | (2, 1..=100));
        if readable {
            assert_eq!(answer, hkdf(&seed_of(epoch * 100_000 + view).0, b"l"), "round ({epoch}, {view})");
        } else {
            assert_eq!(answer, b"invalid_argument", "round ({epoch}, {view})");
        }
    }
}
