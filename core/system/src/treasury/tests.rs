//! The money of the protocol itself: vesting, and who may move it.

use cowboy_system::treasury::vesting::{BUCKETS, MONTH_MS, bucket_address};
use cowboy_testkit::chain::{Chain, address, execution};
use cowboy_types::cbor::Value;
use cowboy_types::units::Amount;
use cowboy_types::{Address, Receipt, error};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    buckets_vest_by_their_schedules,
    what_has_vested_is_paid_to_the_beneficiary,
    governance_pays_out_of_decided_buckets_only,
];

const CBY: u64 = 1_000_000_000;
const TREASURY: Address = Address::system(0x08);

/// A method of the treasury, asked by an account.
fn ask<const N: usize>(chain: &mut Chain, from: u8, method: &str, argument: [(&str, Value); N]) -> Receipt {
    chain.send(from, execution(TREASURY, method, &Value::map(argument).encode(), 0))
}

fn bytes(address: Address) -> Value {
    Value::Bytes(address.0.to_vec())
}

/// what each schedule of 003 §8.3 has released after a number of months, in whole CBY.
#[test]
fn buckets_vest_by_their_schedules() {
    let rows: [(&str, &[(u64, u64)]); 10] = [
        ("team", &[(0, 0), (11, 0), (12, 50_000_000), (13, 54_166_666), (47, 195_833_333), (48, 200_000_000), (99, 200_000_000)]),
        ("investors", &[(0, 20_000_000), (5, 20_000_000), (6, 65_000_000), (24, 200_000_000)]),
        ("advisors", &[(5, 0), (6, 8_325_000), (24, 33_300_000)]),
        ("treasury", &[(0, 6_670_000), (600, 6_670_000)]),
        ("foundation", &[(0, 5_000_000), (2, 5_000_000), (3, 12_916_666), (5, 12_916_666), (36, 100_000_000)]),
        ("validator_rewards", &[(0, 0), (1, 5_901_639), (2, 11_704_918), (60, 180_000_000)]),
        ("runner_incentives", &[(600, 0)]),
        ("developer_grants", &[(600, 0)]),
        ("liquidity_mining", &[(1, 3_584_615), (11, 23_001_282), (12, 23_300_000)]),
        ("community", &[(0, 10_000_000), (5, 10_000_000), (6, 20_000_000)]),
    ];
    for (name, points) in rows {
        let bucket = BUCKETS.iter().find(|bucket| bucket.name == name).expect("the bucket exists");
        for (months, cby) in points {
            assert_eq!(bucket.vested(*months).0 / CBY, *cby, "{name} after {months} months");
        }
        let all: Vec<Amount> = (0..=120).map(|months| bucket.vested(months)).collect();
        assert!(
            all.is_sorted() && all.iter().all(|vested| *vested <= bucket.total()),
            "{name}: never less than before, never more than all"
        );
    }
}

/// what has vested is paid once, to whom governance named; the harness counts the supply after each block.
#[test]
fn what_has_vested_is_paid_to_the_beneficiary() {
    let mut chain = Chain::new();
    let bucket = || ("bucket", Value::text("community"));
    assert_eq!(ask(&mut chain, 1, "release", [bucket()]).abort, Some(error::NOTHING_VESTED), "nobody is named");
    let named = [bucket(), ("beneficiary", bytes(address(7)))];
    assert_eq!(ask(&mut chain, 1, "set_beneficiary", named.clone()).abort, Some(error::SYSTEM_UNAUTHORIZED));
    assert!(chain.decide(cowboy_system::treasury::NUMBER, "set_beneficiary", &Value::map(named)));
    let before = chain.balance(address(7));
    let first = ask(&mut chain, 2, "release", [bucket()]);
    assert_eq!((chain.balance(address(7)) - before, &first.events[0].name[..]), (10_000_000 * CBY, "vesting.released"));
    assert_eq!(ask(&mut chain, 2, "release", [bucket()]).abort, Some(error::NOTHING_VESTED), "not twice");
    chain.timestamp.0 += 6 * MONTH_MS;
    assert!(ask(&mut chain, 3, "release", [bucket()]).is_success(), "the second drop, after six months");
    assert_eq!(chain.balance(address(7)) - before, 20_000_000 * CBY);
    let shown = cowboy_types::cbor::decode(&ask(&mut chain, 1, "get_vesting", [bucket()]).return_data).expect("CBOR");
    let number = |name: &str| shown.get(name).and_then(Value::as_u64);
    assert_eq!((number("held"), number("released"), number("vested")), (Some(0), Some(20_000_000 * CBY), Some(20_000_000 * CBY)));
    assert_eq!(shown.get("beneficiary"), Some(&bytes(address(7))));
    assert!(ask(&mut chain, 7, "set_beneficiary", [bucket(), ("beneficiary", bytes(address(8)))]).is_success(), "who receives may hand on");
}

/// Buckets that decisions release: governance names amount and receiver, and no other bucket can be emptied so.
#[test]
fn governance_pays_out_of_decided_buckets_only() {
    let rows = [
        ("team", 1, false),
        ("nothing", 1, false),
        ("runner_incentives", 80_000_000 * CBY + 1, false),
        ("runner_incentives", 80_000_000 * CBY, true),
    ];
    let mut chain = Chain::new();
    let argument = |bucket: &str, amount| [("bucket", Value::text(bucket)), ("to", bytes(address(5))), ("amount", Value::uint(amount))];
    assert_eq!(ask(&mut chain, 1, "disburse", argument("treasury", 1)).abort, Some(error::SYSTEM_UNAUTHORIZED));
    for (bucket, amount, is_paid) in rows {
        assert_eq!(chain.decide(cowboy_system::treasury::NUMBER, "disburse", &Value::map(argument(bucket, amount))), is_paid, "{bucket}");
    }
    assert_eq!(chain.balance(bucket_address("runner_incentives")), 0);
}
