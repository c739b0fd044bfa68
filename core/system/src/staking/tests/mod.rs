//! Validators: registering, epochs, leaving, faults and rewards (003 Validator Set, Staking and Rewards, Slashing).

pub(crate) mod signers;

use blst::min_sig::SecretKey;
use commonware_codec::{Decode as _, Encode as _};
use cowboy_state::records::{Supply, keys};
use cowboy_system::staking::possession::Registration;
use cowboy_system::staking::types::{NO_ENDPOINT, Status, Validator, ValidatorSet};
use cowboy_system::staking::{epoch, inflation, state};
use cowboy_testkit::chain::{Chain, address, execution, key, parameters, validator as genesis_validator, validators};
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Abort, Address, Hash, Header, Receipt, error};
use ed25519_consensus::SigningKey;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_validator_registers_and_is_active_from_the_next_epoch,
    every_validator_is_in_the_set,
    a_validator_leaves_and_withdraws,
    two_headers_of_one_round_are_punished,
    attested_faults_jail_longer_each_time,
    keys_are_registered_by_who_has_them,
    old_and_foreign_evidence_is_refused,
    a_jailed_validator_leaves_the_set_at_once,
    rewards_follow_stake,
    sets_are_kept_for_a_while,
    the_security_floor_raises_inflation_and_ends_by_itself,
    inflation_has_a_cap,
];

pub(super) const CBY: u64 = 1_000_000_000;
const GOVERNANCE: Address = Address::system(0x09);

pub(super) fn ask<const N: usize>(chain: &mut Chain, from: u8, method: &str, argument: [(&str, Value); N], value: u64) -> Receipt {
    chain.send(from, execution(GOVERNANCE, method, &Value::map(argument).encode(), value))
}

pub(super) fn bytes(bytes: &[u8]) -> Value {
    Value::Bytes(bytes.to_vec())
}

/// The Ed25519 key of the n-th validator.
fn network(number: u8) -> SigningKey {
    SigningKey::from([number; 32])
}

/// The BLS key of the n-th validator.
fn vrf(number: u8) -> SecretKey {
    SecretKey::key_gen(&[number; 32], &[]).expect("a seed of 32 bytes")
}

/// What a validator registers with: its keys, and the proofs that it has them.
pub(super) fn keys_of(chain: &Chain, number: u8) -> [(&'static str, Value); 5] {
    keys_for(&chain.config.genesis, address(number), number)
}

/// The same, proven for a chain and an account.
fn keys_for(genesis: &Hash, account: Address, number: u8) -> [(&'static str, Value); 5] {
    let (network, vrf) = (network(number), vrf(number));
    let (network_key, vrf_key) = (network.verification_key().to_bytes(), vrf.sk_to_pk().compress());
    let registration = Registration { genesis: *genesis, account, network_key: Fixed(network_key), vrf_key: Fixed(vrf_key) };
    let message = registration.message();
    [
        ("signing_key", bytes(&key(number).public_key().0)),
        ("network_key", bytes(&network_key)),
        ("network_proof", bytes(&network.sign(&message).to_bytes())),
        ("vrf_key", bytes(&vrf_key)),
        ("vrf_proof", bytes(&vrf.sign(&message, cowboy_system::pairing::G1_POSSESSION, &[]).compress())),
    ]
}

/// The same with one field replaced.
fn with_field(mut argument: [(&'static str, Value); 5], name: &str, value: &[u8]) -> [(&'static str, Value); 5] {
    argument.iter_mut().find(|(field, _)| *field == name).expect("the field is there").1 = bytes(value);
    argument
}

/// A chain with these accounts as genesis validators, 100,000 CBY each, and short times.
pub(super) fn with_validators(numbers: &[u8], rows: &[(&'static str, u64)]) -> Chain {
    let short = [("consensus.unbonding", 20_000), ("consensus.jail", 7_200)];
    let is_own = |name: &str| rows.iter().any(|(own, _)| *own == name);
    let rows: Vec<_> = short.into_iter().filter(|(name, _)| !is_own(name)).chain(rows.iter().copied()).collect();
    Chain::with(|genesis| {
        genesis.validators = validators(numbers.iter().map(|number| genesis_validator(*number, Amount(100_000 * CBY))));
        genesis.parameters = parameters(&rows);
    })
}

pub(super) fn set(chain: &Chain, epoch: u64) -> Vec<Address> {
    let set: ValidatorSet = chain.record(&state::set_key(epoch)).expect("the set was fixed");
    set.members.iter().map(|member| member.address).collect()
}

pub(super) fn validator(chain: &Chain, number: u8) -> Validator {
    chain.record(&state::validator_key(address(number))).expect("it is registered")
}

fn begin_epoch(chain: &mut Chain, epoch: u64) {
    chain.height = Height(epoch * 3_600 - 1);
    chain.idle(1);
}

/// anybody registers with the stake and three keys, and is in the set from the next epoch on.
#[test]
fn a_validator_registers_and_is_active_from_the_next_epoch() {
    let mut chain = with_validators(&[1], &[]);
    assert_eq!(set(&chain, 0), [address(1)]);
    let stake = 100_000 * CBY;
    let keys = keys_of(&chain, 2);
    let rows: [([(&str, Value); 5], u64, Option<Abort>); 6] = [
        (keys.clone(), stake - 1, Some(error::VALIDATOR_STAKE)),
        (with_field(keys.clone(), "network_key", &network(1).verification_key().to_bytes()), stake, Some(error::VALIDATOR_KEY_TAKEN)),
        (with_field(keys.clone(), "signing_key", &[0; 33]), stake, Some(error::INVALID_ARGUMENT)),
        (with_field(keys.clone(), "signing_key", &[2; 32]), stake, Some(error::INVALID_ARGUMENT)),
        (keys.clone(), stake, None),
        (keys, stake, Some(error::VALIDATOR_STATE)),
    ];
    for (argument, value, expected) in rows {
        assert_eq!(ask(&mut chain, 2, "register_validator", argument, value).abort, expected);
    }
    assert_eq!(validator(&chain, 2).status, Status::Waiting);
    chain.idle(3);
    assert_eq!(set(&chain, 0), [address(1)], "not in the running epoch");
    begin_epoch(&mut chain, 1);
    let mut members = set(&chain, 1);
    members.sort_by_key(|member| *member != address(1));
    assert_eq!((members, validator(&chain, 2).status), (vec![address(1), address(2)], Status::Active));
    assert_eq!(cowboy_params::Params::GENESIS.consensus.epoch, 3_600);
    let shown = ask(&mut chain, 3, "get_validator", [("address", bytes(&address(2).0))], 0);
    let shown = cowboy_types::cbor::decode(&shown.return_data).expect("CBOR");
    assert_eq!(shown.get("status").and_then(Value::as_text), Some("active"));
    assert_eq!(shown.get("stake").and_then(Value::as_u64), Some(stake));
    assert!(ask(&mut chain, 2, "add_stake", [], 5).is_success());
    assert_eq!(validator(&chain, 2).stake, Amount(stake + 5));
}

/// no number caps the set; every stake that is large enough is in it.
#[test]
fn every_validator_is_in_the_set() {
    let mut chain = with_validators(&[1], &[("consensus.validator_stake", 1_000_000_000)]);
    for number in 2..=9 {
        let keys = keys_of(&chain, number);
        assert!(ask(&mut chain, number, "register_validator", keys, CBY).is_success());
    }
    begin_epoch(&mut chain, 1);
    let mut members = set(&chain, 1);
    members.sort();
    let mut all: Vec<Address> = (1..=9).map(address).collect();
    all.sort();
    assert_eq!(members, all);
    assert!(
        u64::try_from(cowboy_system::staking::types::MAX_VALIDATORS).expect("fits") > 1_000_000_000 / 100_000,
        "more than stakes allow"
    );
}

/// notice, out of the next set, and the stake after the unbonding time.
#[test]
fn a_validator_leaves_and_withdraws() {
    assert_eq!(cowboy_params::Params::GENESIS.consensus.unbonding, 7 * 86_400);
    let mut chain = with_validators(&[1, 2], &[]);
    assert_eq!(ask(&mut chain, 3, "leave", [], 0).abort, Some(error::VALIDATOR_UNKNOWN));
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, Some(error::VALIDATOR_STATE));
    assert!(ask(&mut chain, 2, "leave", [], 0).is_success());
    assert_eq!(ask(&mut chain, 2, "leave", [], 0).abort, Some(error::VALIDATOR_STATE));
    begin_epoch(&mut chain, 1);
    assert_eq!(set(&chain, 1), [address(1)]);
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, Some(error::STILL_BOUND));
    chain.height = Height(20_010);
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, Some(error::STILL_BOUND), "it signed to the end of the epoch");
    chain.height = Height(23_599);
    let before = chain.balance(address(2));
    let receipt = ask(&mut chain, 2, "withdraw", [], 0);
    assert_eq!(chain.balance(address(2)), before + 100_000 * CBY - receipt.fee.burned.0 - receipt.fee.tip.0);
    let keys = keys_of(&chain, 2);
    assert_eq!(ask(&mut chain, 2, "register_validator", keys, 100_000 * CBY).abort, None, "and may come back");
}

/// A header of a round of this chain, signed by an account.
pub(super) fn header(chain: &Chain, number: u8, view: u64, timestamp: u64) -> Header {
    header_of(chain.config.genesis, chain.height.0, number, view, timestamp)
}

/// The same of any chain and height.
fn header_of(genesis: Hash, height: u64, number: u8, view: u64, timestamp: u64) -> Header {
    let zeros = (1..4_096).find_map(|length| Header::decode_cfg(vec![0; length], &()).ok());
    let mut header = zeros.expect("a header of zeros is a header");
    (header.genesis, header.number) = (genesis, Count(height));
    (header.context.epoch, header.context.view) = (Count(1), Count(view));
    header.timestamp_ms = cowboy_types::TimestampMs(timestamp);
    header.signature = key(number).sign(&header.signing_digest());
    header
}

pub(super) fn report(chain: &mut Chain, accused: u8, first: &Header, second: &Header) -> Receipt {
    let argument = [("validator", bytes(&address(accused).0)), ("first", bytes(&first.encode())), ("second", bytes(&second.encode()))];
    ask(chain, 7, "report_equivocation", argument, 0)
}

/// two headers of one round cost a hundredth of the stake, burned, and jail; nothing less is proof, and
/// nothing counts twice.
#[test]
fn two_headers_of_one_round_are_punished() {
    let mut chain = with_validators(&[1, 2, 3, 4], &[]);
    let (one, two) = (header(&chain, 2, 5, 10), header(&chain, 2, 5, 11));
    let mut unsigned = two.clone();
    unsigned.timestamp_ms.0 += 1;
    let other = |view: u64, timestamp: u64| header_of(Hash([0x99; 32]), 0, 2, view, timestamp);
    let rows = [
        (&one, &one, "one header"),
        (&one, &header(&chain, 2, 6, 11), "two rounds"),
        (&one, &header(&chain, 3, 5, 11), "two validators"),
        (&one, &unsigned, "a signature of something else"),
        (&other(5, 10), &other(5, 11), "another chain"),
        (&one, &other(5, 11), "one of another chain"),
    ];
    for (first, second, why) in rows {
        assert_eq!(report(&mut chain, 2, first, second).abort, Some(error::BAD_EVIDENCE), "{why}");
    }
    assert_eq!(report(&mut chain, 3, &one, &two).abort, Some(error::BAD_EVIDENCE), "it was not 3");
    assert_eq!(report(&mut chain, 8, &one, &two).abort, Some(error::VALIDATOR_UNKNOWN));
    let burned = chain.record::<Supply>(&keys::supply()).expect("it is there").burned;
    let receipt = report(&mut chain, 2, &one, &two);
    assert_eq!(&receipt.events[0].name[..], "validator.jailed");
    let after = chain.record::<Supply>(&keys::supply()).expect("it is there").burned;
    assert_eq!(after.0 - burned.0, 1_000 * CBY + receipt.fee.burned.0, "1 % of the stake is burned");
    assert_eq!(validator(&chain, 2).stake, Amount(99_000 * CBY));
    assert!(matches!(validator(&chain, 2).status, Status::Jailed { .. }));
    assert_eq!(report(&mut chain, 2, &two, &one).abort, Some(error::BAD_EVIDENCE), "once");
    begin_epoch(&mut chain, 1);
    let mut members = set(&chain, 1);
    members.sort_by_key(|member| [address(1), address(3), address(4)].iter().position(|one| one == member));
    assert_eq!(members, [address(1), address(3), address(4)]);
}

fn attest_in(chain: &mut Chain, from: u8, fault: &str, (epoch, view): (u64, u64)) -> Receipt {
    let round = [("epoch", Value::uint(epoch)), ("view", Value::uint(view))];
    let [epoch, view] = round;
    ask(chain, from, "attest_fault", [("validator", bytes(&address(4).0)), ("fault", Value::text(fault)), epoch, view], 0)
}

/// An attestation for a view of the running epoch.
pub(super) fn attest(chain: &mut Chain, from: u8, fault: &str, view: u64) -> Receipt {
    attest_in(chain, from, fault, (1, view))
}

/// what signatures do not prove, more than two thirds attest. Downtime and bad proposals jail; double
/// votes cost stake too. Each jailing is twice as long as the one before.
#[test]
fn attested_faults_jail_longer_each_time() {
    assert_eq!(cowboy_params::Params::GENESIS.consensus.jail, 86_400, "a day");
    let mut chain = with_validators(&[1, 2, 3, 4], &[("consensus.validator_stake", 1_000_000_000)]);
    assert_eq!(attest(&mut chain, 7, "downtime", 1).abort, Some(error::SYSTEM_UNAUTHORIZED), "no member");
    assert_eq!(attest(&mut chain, 1, "equivocation", 1).abort, Some(error::INVALID_ARGUMENT), "that needs headers");
    let rows = [("downtime", 100_000, 1), ("invalid_proposal", 100_000, 2), ("double_vote", 99_000, 4)];
    for (fault, stake, times) in rows {
        let view = chain.height.0 + 1;
        for from in [1, 2] {
            assert!(attest(&mut chain, from, fault, view).is_success());
            assert_eq!(attest(&mut chain, from, fault, view).abort, Some(error::BAD_EVIDENCE), "one vote each");
        }
        assert_eq!(validator(&chain, 4).status, Status::Active, "two of four are too few");
        assert!(attest(&mut chain, 3, fault, view).is_success());
        let Status::Jailed { until } = validator(&chain, 4).status else { panic!("{fault} jails") };
        assert_eq!((validator(&chain, 4).stake.0 / CBY, until.0 - chain.height.0), (stake, 7_200 * times), "{fault}");
        assert_eq!(ask(&mut chain, 4, "unjail", [], 0).abort, Some(error::STILL_BOUND));
        chain.height = until;
        assert!(ask(&mut chain, 4, "unjail", [], 0).is_success());
        let next = epoch::epoch_of(&chain.config.params, chain.height) + 1;
        begin_epoch(&mut chain, next);
        assert_eq!(validator(&chain, 4).status, Status::Active);
    }
}

/// A node attests with the key that signs headers for the validator whose account it does not have, and for no other.
#[test]
fn the_key_of_headers_attests_for_its_validator() {
    let mut chain = with_validators(&[1, 2, 3, 4], &[("consensus.validator_stake", 1_000_000_000)]);
    let keys = keys_for(&chain.config.genesis, address(5), 6);
    assert!(ask(&mut chain, 5, "register_validator", keys, 100_000 * CBY).is_success());
    begin_epoch(&mut chain, 1);
    let view = chain.height.0 + 1;
    let mut attest_for = |from: u8, witness: u8| {
        let round = [("epoch", Value::uint(1)), ("view", Value::uint(view))];
        let accused = [("validator", bytes(&address(4).0)), ("fault", Value::text("downtime"))];
        let [fault, name] = accused;
        let [epoch, view] = round;
        ask(&mut chain, from, "attest_fault", [fault, name, epoch, view, ("witness", bytes(&address(witness).0))], 0).abort
    };
    assert_eq!(attest_for(6, 1), Some(error::SYSTEM_UNAUTHORIZED), "the key of another validator");
    assert_eq!(attest_for(7, 5), Some(error::SYSTEM_UNAUTHORIZED), "a key of nobody");
    assert_eq!(attest_for(6, 5), None);
    assert_eq!(attest_for(5, 5), Some(error::SYSTEM_UNAUTHORIZED), "the account speaks without naming a witness");
    assert_eq!(attest_in(&mut chain, 5, "downtime", (1, view)).abort, Some(error::BAD_EVIDENCE), "one vote each");
}

/// a validator registers keys that it has. Degenerate keys, proofs for another chain, account or key, and no proofs
/// at all are refused.
#[test]
fn keys_are_registered_by_who_has_them() {
    let mut chain = with_validators(&[1], &[]);
    let (genesis, stake) = (chain.config.genesis, 100_000 * CBY);
    let good = keys_for(&genesis, address(2), 2);
    let changed = |name: &'static str, value: &[u8]| with_field(good.clone(), name, value);
    let infinity = [vec![0xC0], vec![0; 95]].concat();
    let proof_of_infinity = [vec![0xC0], vec![0; 47]].concat();
    let small_order = [vec![1], vec![0; 31]].concat();
    let forged = [vec![1], vec![0; 63]].concat();
    let rows = [
        ("proofs for another account", keys_for(&genesis, address(3), 2)),
        ("proofs for another chain", keys_for(&Hash([0x99; 32]), address(2), 2)),
        ("no network proof", changed("network_proof", &[0; 64])),
        ("no VRF proof", changed("vrf_proof", &[0; 48])),
        ("another's VRF key", changed("vrf_key", &vrf(3).sk_to_pk().compress())),
        ("a VRF key of zeros", changed("vrf_key", &[0; 96])),
        ("the identity as VRF key", with_field(changed("vrf_key", &infinity), "vrf_proof", &proof_of_infinity)),
        ("another's network key", changed("network_key", &network(3).verification_key().to_bytes())),
        ("a network key of zeros", changed("network_key", &[0; 32])),
        ("a network key of order one", with_field(changed("network_key", &small_order), "network_proof", &forged)),
    ];
    for (why, argument) in rows {
        assert_eq!(ask(&mut chain, 2, "register_validator", argument, stake).abort, Some(error::KEY_POSSESSION), "{why}");
    }
    assert_eq!(ask(&mut chain, 2, "register_validator", good, stake).abort, None);
}

/// a validator says on chain where others reach it, and may move. Who is dealt shares is named with it.
#[test]
fn validators_say_where_they_listen() {
    let mut chain = with_validators(&[1], &[]);
    let [first, second] = [[7; 18], [8; 18]];
    let [signing_key, network_key, network_proof, vrf_key, vrf_proof] = keys_of(&chain, 2);
    let registration = |endpoint: &[u8]| {
        let [signing_key, network_key, network_proof] = [signing_key.clone(), network_key.clone(), network_proof.clone()];
        [signing_key, network_key, network_proof, vrf_key.clone(), vrf_proof.clone(), ("endpoint", bytes(endpoint))]
    };
    let (wrong, right) = (registration(&[7; 17]), registration(&first));
    let stake = 100_000 * CBY;
    assert_eq!(ask(&mut chain, 2, "register_validator", wrong, stake).abort, Some(error::INVALID_ARGUMENT));
    assert_eq!(ask(&mut chain, 2, "register_validator", right, stake).abort, None);
    assert_eq!((validator(&chain, 1).endpoint, validator(&chain, 2).endpoint), (NO_ENDPOINT, Fixed(first)));
    let rows: [(u8, &[u8], Option<Abort>); 3] =
        [(2, &[8; 17], Some(error::INVALID_ARGUMENT)), (3, &second, Some(error::VALIDATOR_UNKNOWN)), (2, &second, None)];
    for (from, endpoint, expected) in rows {
        assert_eq!(ask(&mut chain, from, "edit_validator", [("endpoint", bytes(endpoint))], 0).abort, expected);
    }
    let fixed_at = state::players_fixed_at(3_600, 2).expect("the first players that the state fixes");
    chain.height = Height(fixed_at - 1);
    chain.idle(1);
    let players: ValidatorSet = chain.record(&state::players_key(2)).expect("they are fixed");
    let endpoints: Vec<_> = players.members.iter().map(|member| (member.address, member.endpoint)).collect();
    assert!(endpoints.contains(&(address(1), NO_ENDPOINT)) && endpoints.contains(&(address(2), Fixed(second))), "{endpoints:?}");
}

/// evidence is of this chain, of at most `consensus.evidence_age` blocks ago, and of rounds that were.
#[test]
fn old_and_foreign_evidence_is_refused() {
    let rows = [("consensus.evidence_age", 1_000), ("consensus.validator_stake", 1_000_000_000)];
    let mut chain = with_validators(&[1, 2, 3, 4], &rows);
    chain.height = Height(5_000);
    chain.idle(1);
    let genesis = chain.config.genesis;
    let at = |height: u64, timestamp: u64| header_of(genesis, height, 2, 7, timestamp);
    assert_eq!(report(&mut chain, 2, &at(4_000, 1), &at(4_000, 2)).abort, Some(error::BAD_EVIDENCE), "too old");
    // Epochs, and views before the one in which the next block is proposed.
    let rounds = [("another epoch", 0, 1), ("another epoch", 2, 1), ("the round under way", 1, 0), ("too old", 1, 1_001)];
    for (why, epoch, ago) in rounds {
        let round = (epoch, chain.height.0 + 2 - ago);
        assert_eq!(attest_in(&mut chain, 1, "double_vote", round).abort, Some(error::BAD_EVIDENCE), "{why}");
    }
    let to_come = (1, chain.height.0 + 3);
    assert_eq!(attest_in(&mut chain, 1, "double_vote", to_come).abort, Some(error::BAD_EVIDENCE), "a round to come");
    let newest = (1, chain.height.0 + 1);
    assert!(attest_in(&mut chain, 1, "double_vote", newest).is_success());
    let recent = chain.height.0 - 900;
    assert!(report(&mut chain, 2, &at(0, 1), &at(recent, 2)).is_success(), "the newer of both heights counts");
}

/// A jailed validator leaves the set at once: it earns nothing more, and neither votes nor attests.
#[test]
fn a_jailed_validator_leaves_the_set_at_once() {
    let mut chain = with_validators(&[1, 2, 3, 4], &[]);
    let earned = |chain: &Chain| [1, 2, 3].map(|number| chain.balance(address(number)));
    chain.idle(5);
    let (one, two) = (header(&chain, 2, 5, 10), header(&chain, 2, 5, 11));
    assert!(report(&mut chain, 2, &one, &two).is_success());
    let members = set(&chain, 0);
    assert!(members.len() == 3 && !members.contains(&address(2)));
    let total: cowboy_system::staking::types::StakeTotal = chain.record(&state::total_key()).expect("it is there");
    assert_eq!((total.members.0, total.stake.0), (3, 300_000 * CBY));
    let view = chain.height.0;
    assert_eq!(attest(&mut chain, 2, "double_vote", view).abort, Some(error::SYSTEM_UNAUTHORIZED));
    let before = earned(&chain);
    begin_epoch(&mut chain, 1);
    let gained: Vec<u64> = earned(&chain).iter().zip(before).map(|(after, before)| after - before).collect();
    assert!(gained[0] > 0 && gained[1] == 0 && gained[2] == gained[0], "{gained:?}");
    let view = chain.height.0;
    let absent =
        [("validator", bytes(&address(2).0)), ("fault", Value::text("downtime")), ("epoch", Value::uint(1)), ("view", Value::uint(view))];
    assert_eq!(ask(&mut chain, 1, "attest_fault", absent, 0).abort, Some(error::BAD_EVIDENCE), "who sits in jail misses no round");
}

/// each block makes its part of the year's inflation; an epoch's is paid in proportion to stake.
#[test]
fn rewards_follow_stake() {
    let mut chain = with_validators(&[1, 2], &[]);
    assert!(ask(&mut chain, 2, "add_stake", [], 200_000 * CBY).is_success());
    begin_epoch(&mut chain, 1);
    let minted = |chain: &Chain| chain.record::<Supply>(&keys::supply()).expect("it is there").minted.0;
    let before = (minted(&chain), chain.balance(address(1)), chain.balance(address(2)));
    chain.idle(10);
    let supply: Supply = chain.record(&keys::supply()).expect("it is there");
    let all = supply.genesis.0 + supply.minted.0 - supply.burned.0;
    assert!((minted(&chain) - before.0).abs_diff(10 * (all / 100 * 8 / 31_536_000)) <= 1_000, "8 % in the first year");
    assert_eq!(chain.balance(address(1)), before.1, "nothing is paid within the epoch");
    begin_epoch(&mut chain, 2);
    let (one, two) = (chain.balance(address(1)) - before.1, chain.balance(address(2)) - before.2);
    assert!(one > 0 && two / one == 3 && two % one <= 3, "300,000 to 100,000: {one} and {two}");
    let year = 31_536_000;
    let rows = [(0, 800), (year - 1, 800), (year, 600), (2 * year, 400), (3 * year, 300), (4 * year, 200), (40 * year, 200)];
    for (height, expected) in rows {
        assert_eq!(inflation::scheduled(&chain.config.params, Height(height)), expected, "at {height}");
    }
}

/// Old sets go, and epochs that a dev chain jumped over turn together.
#[test]
fn sets_are_kept_for_a_while() {
    let mut chain = with_validators(&[1], &[]);
    for epoch in [1, 2, 3, 9] {
        begin_epoch(&mut chain, epoch);
    }
    let kept: Vec<u64> = (0..=9).filter(|epoch| chain.state.contains_key(&state::set_key(*epoch).digest())).collect();
    assert_eq!(kept, [9]);
}

/// The inflation of the newest block, in basis points.
fn rate(chain: &Chain) -> u64 {
    let inflation: cowboy_system::staking::types::Inflation = chain.record(&inflation::rate_key()).expect("a block was made");
    inflation.rate.0
}

/// below the security floor inflation is raised, and once enough is staked the increase ends by itself; a change of
/// the schedule within the same year waits until both together move by no more than two points.
#[test]
fn the_security_floor_raises_inflation_and_ends_by_itself() {
    // 300,000 of a billion CBY are staked: three basis points.
    let mut chain = with_validators(&[1, 2, 3], &[("economics.security_floor", 4), ("economics.security_increase", 150)]);
    chain.idle(1);
    assert_eq!(rate(&chain), 950, "8 % and 1.5");
    let year = 31_536_000;
    chain.height = Height(year - 2);
    chain.idle(1);
    assert_eq!(rate(&chain), 950);
    chain.idle(1);
    assert_eq!(rate(&chain), 750, "6 % and 1.5 from the second year on");
    assert!(ask(&mut chain, 1, "add_stake", [], 200_000 * CBY).is_success());
    let epoch = epoch::epoch_of(&chain.config.params, chain.height);
    begin_epoch(&mut chain, epoch + 1);
    assert_eq!(rate(&chain), 750, "9.5 % was within the last year: 6 % would be more than two points");
    chain.height = Height(2 * year - 2);
    chain.idle(1);
    assert_eq!(rate(&chain), 600, "the increase ended by itself");
}

/// At most a tenth a year, whatever asks for it.
#[test]
fn inflation_has_a_cap() {
    let rows = [("economics.security_floor", 4), ("economics.inflation_year_1", 950)];
    let mut chain = with_validators(&[1, 2, 3], &rows);
    chain.idle(1);
    assert_eq!(rate(&chain), 1_000);
}
