//! Validators: registering, epochs, leaving, faults and rewards (003 Validator Set, Staking and Rewards, Slashing).

use super::harness::{Chain, address, execution, key, parameters};
use commonware_codec::{Decode as _, Encode as _};
use cowboy_state::records::{GenesisValidator, Supply, keys};
use cowboy_system::staking::types::{Status, Validator, ValidatorSet};
use cowboy_system::staking::{epoch, state};
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Abort, Address, Header, List, Receipt, error};

const CBY: u64 = 1_000_000_000;
const GOVERNANCE: Address = Address::system(0x09);

fn ask<const N: usize>(chain: &mut Chain, from: u8, method: &str, argument: [(&str, Value); N], value: u64) -> Receipt {
    chain.send(from, execution(GOVERNANCE, method, &Value::map(argument).encode(), value))
}

fn bytes(bytes: &[u8]) -> Value {
    Value::Bytes(bytes.to_vec())
}

fn keys_of(number: u8) -> [(&'static str, Value); 3] {
    [("signing_key", bytes(&key(number).public_key().0)), ("network_key", bytes(&[number; 32])), ("vrf_key", bytes(&[number; 96]))]
}

/// A chain with these accounts as genesis validators, 100,000 CBY each, and short times.
fn with_validators(numbers: &[u8], rows: &[(&'static str, u64)]) -> Chain {
    let short = [("consensus.unbonding", 20_000), ("consensus.jail", 7_200)];
    let rows = [&short[..], rows].concat();
    Chain::with(|genesis| {
        let validator = |number: &u8| GenesisValidator {
            address: address(*number),
            signing_key: key(*number).public_key(),
            network_key: Fixed([*number; 32]),
            vrf_key: Fixed([*number; 96]),
            stake: Amount(100_000 * CBY),
        };
        genesis.validators = List::new(numbers.iter().map(validator).collect()).expect("few fit");
        genesis.parameters = parameters(&rows);
    })
}

fn set(chain: &Chain, epoch: u64) -> Vec<Address> {
    let set: ValidatorSet = chain.record(&state::set_key(epoch)).expect("the set was fixed");
    set.members.iter().map(|member| member.address).collect()
}

fn validator(chain: &Chain, number: u8) -> Validator {
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
    let taken = [("signing_key", bytes(&key(2).public_key().0)), ("network_key", bytes(&[1; 32])), ("vrf_key", bytes(&[2; 96]))];
    let no_point = [("signing_key", bytes(&[0; 33])), ("network_key", bytes(&[2; 32])), ("vrf_key", bytes(&[2; 96]))];
    let short = [("signing_key", bytes(&[2; 32])), ("network_key", bytes(&[2; 32])), ("vrf_key", bytes(&[2; 96]))];
    let rows: [([(&str, Value); 3], u64, Option<Abort>); 6] = [
        (keys_of(2), stake - 1, Some(error::VALIDATOR_STAKE)),
        (taken, stake, Some(error::VALIDATOR_STATE)),
        (no_point, stake, Some(error::INVALID_ARGUMENT)),
        (short, stake, Some(error::INVALID_ARGUMENT)),
        (keys_of(2), stake, None),
        (keys_of(2), stake, Some(error::VALIDATOR_STATE)),
    ];
    for (argument, value, expected) in rows {
        assert_eq!(ask(&mut chain, 2, "register_validator", argument, value).abort, expected);
    }
    assert_eq!(validator(&chain, 2).status, Status::Waiting);
    chain.idle(3);
    assert_eq!(set(&chain, 0), [address(1)], "not in the running epoch");
    begin_epoch(&mut chain, 1);
    assert_eq!((set(&chain, 1), validator(&chain, 2).status), (vec![address(1), address(2)], Status::Active));
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
        assert!(ask(&mut chain, number, "register_validator", keys_of(number), CBY).is_success());
    }
    begin_epoch(&mut chain, 1);
    assert_eq!(set(&chain, 1), (1..=9).map(address).collect::<Vec<_>>());
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
    let before = chain.balance(address(2));
    let receipt = ask(&mut chain, 2, "withdraw", [], 0);
    assert_eq!(chain.balance(address(2)), before + 100_000 * CBY - receipt.fee.burned.0 - receipt.fee.tip.0);
    assert_eq!(ask(&mut chain, 2, "register_validator", keys_of(2), 100_000 * CBY).abort, None, "and may come back");
}

/// A header of a round, signed by an account.
fn header(number: u8, view: u64, timestamp: u64) -> Header {
    let zeros = (1..4_096).find_map(|length| Header::decode_cfg(vec![0; length], &()).ok());
    let mut header = zeros.expect("a header of zeros is a header");
    (header.context.epoch, header.context.view) = (Count(1), Count(view));
    header.timestamp_ms = cowboy_types::TimestampMs(timestamp);
    header.signature = key(number).sign(&header.signing_digest());
    header
}

fn report(chain: &mut Chain, accused: u8, first: &Header, second: &Header) -> Receipt {
    let argument = [("validator", bytes(&address(accused).0)), ("first", bytes(&first.encode())), ("second", bytes(&second.encode()))];
    ask(chain, 7, "report_equivocation", argument, 0)
}

/// two headers of one round cost a hundredth of the stake, burned, and jail; nothing less is proof, and
/// nothing counts twice.
#[test]
fn two_headers_of_one_round_are_punished() {
    let mut chain = with_validators(&[1, 2, 3, 4], &[]);
    let (one, two) = (header(2, 5, 10), header(2, 5, 11));
    let mut unsigned = two.clone();
    unsigned.timestamp_ms.0 += 1;
    let rows = [
        (&one, &one, "one header"),
        (&one, &header(2, 6, 11), "two rounds"),
        (&one, &header(3, 5, 11), "two validators"),
        (&one, &unsigned, "a signature of something else"),
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
    assert_eq!(set(&chain, 1), [address(1), address(3), address(4)]);
}

/// what signatures do not prove, more than two thirds attest. Downtime and bad proposals jail; double
/// votes cost stake too. Each jailing is twice as long as the one before.
#[test]
fn attested_faults_jail_longer_each_time() {
    assert_eq!(cowboy_params::Params::GENESIS.consensus.jail, 86_400, "a day");
    let mut chain = with_validators(&[1, 2, 3, 4], &[("consensus.validator_stake", 1_000_000_000)]);
    let attest = |chain: &mut Chain, from: u8, fault: &str, view: u64| {
        let argument =
            [("validator", bytes(&address(4).0)), ("fault", Value::text(fault)), ("epoch", Value::uint(0)), ("view", Value::uint(view))];
        ask(chain, from, "attest_fault", argument, 0)
    };
    assert_eq!(attest(&mut chain, 7, "downtime", 1).abort, Some(error::SYSTEM_UNAUTHORIZED), "no member");
    assert_eq!(attest(&mut chain, 1, "equivocation", 1).abort, Some(error::INVALID_ARGUMENT), "that needs headers");
    let rows = [("downtime", 100_000, 1), ("invalid_proposal", 100_000, 2), ("double_vote", 99_000, 4)];
    for (view, (fault, stake, times)) in (1..).zip(rows) {
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
        assert_eq!(epoch::inflation(&chain.config.params, Height(height)), expected, "at {height}");
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
