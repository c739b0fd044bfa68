//! What is present from version 1 so that no format moves when its part of the protocol is built.

use commonware_codec::{Decode as _, Encode as _};
use cowboy_chain::GenesisConfig;
use cowboy_chain::genesis::{Funded, GenesisError, genesis};
use cowboy_state::records::{GenesisValidator, GenesisValidators, Supply, Timer, keys};
use cowboy_state::{Key, Kind, key::VM_NAMESPACE};
use cowboy_testkit::chain::{Chain, address, validator, validators};
use cowboy_types::List;
use cowboy_types::units::{Amount, ChainId, Count, Price, TimestampMs};
use cowboy_types::wire::Fixed;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    timers_carry_a_bid,
    actors_carry_bytes_quota_and_rent_epoch,
    validators_carry_three_keys_and_the_supply_a_mint,
    a_genesis_takes_only_keys,
    a_changed_genesis_is_refused_or_canonical,
    keys_carry_the_namespace_of_their_machine,
];

/// Timers carry the auction's bid and tip, zero until its height (003 §5.1b).
#[test]
fn timers_carry_a_bid() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler run\n timer 100 'x'\n");
    chain.call(actor, "run", b"");
    let timer = &chain.all::<Timer>(Kind::Timer)[0].1;
    assert_eq!((timer.max_fee_per_cycle, timer.priority_per_cycle), (Price(0), Price(0)));
}

/// An actor's record counts its bytes and names its quota and the rent epoch it was last looked at.
#[test]
fn actors_carry_bytes_quota_and_rent_epoch() {
    let mut chain = Chain::with(|genesis| genesis.parameters = cowboy_testkit::chain::parameters(&[("rent.epoch", 100)]));
    chain.height = cowboy_types::Height(250);
    let actor = chain.deploy("handler put\n set 'key' 'value'\n");
    chain.call(actor, "put", b"");
    let record = chain.actor(actor);
    let code = "#script\nhandler put\n set 'key' 'value'\n".len();
    assert_eq!((record.storage_bytes, record.code_bytes.0), (Count(8), u64::try_from(code).expect("fits")));
    assert_eq!((record.storage_quota, record.rent_epoch), (Count(0), Count(2)));
}

/// Genesis validators carry three keys, and the supply knows what was minted.
#[test]
fn validators_carry_three_keys_and_the_supply_a_mint() {
    let validator = validator(3, Amount::from_cby(100_000).expect("fits"));
    let chain = Chain::with(|genesis| genesis.validators = List::new(vec![validator.clone()]).expect("one fits"));
    let kept: GenesisValidators = chain.record(&keys::validators()).expect("genesis wrote them");
    assert_eq!(kept.validators.to_vec(), [validator]);
    let supply: Supply = chain.record(&keys::supply()).expect("genesis wrote the supply");
    assert_eq!((supply.minted, supply.burned), (Amount(0), Amount(0)));
}

/// Keys with which nobody, or anybody, could sign make no genesis: one row each.
#[test]
fn a_genesis_takes_only_keys() {
    let stake = Amount::from_cby(100_000).expect("fits");
    let (one, other) = (validator(3, stake), validator(4, stake));
    let infinity = Fixed(std::array::from_fn(|place| if place == 0 { 0xC0 } else { 0 }));
    let identity = Fixed(std::array::from_fn(|place| u8::from(place == 0)));
    let rows: [(&str, GenesisValidator); 9] = [
        ("signing key is no key", GenesisValidator { signing_key: Fixed([0; 33]), ..one.clone() }),
        ("network key is no key", GenesisValidator { network_key: Fixed([0; 32]), ..one.clone() }),
        ("network key is no key", GenesisValidator { network_key: identity, ..one.clone() }),
        ("VRF key is no key", GenesisValidator { vrf_key: Fixed([0; 96]), ..one.clone() }),
        ("VRF key is no key", GenesisValidator { vrf_key: infinity, ..one.clone() }),
        ("VRF key is no key", GenesisValidator { vrf_key: Fixed([3; 96]), ..one.clone() }),
        ("address is also another validator's", GenesisValidator { address: other.address, ..one.clone() }),
        ("signing key is also another validator's", GenesisValidator { signing_key: other.signing_key, ..one.clone() }),
        ("VRF key is also another validator's", GenesisValidator { vrf_key: other.vrf_key, ..one.clone() }),
    ];
    let refusal = |one: GenesisValidator| {
        let config = GenesisConfig {
            chain_id: ChainId(1),
            is_dev: false,
            timestamp_ms: TimestampMs(0),
            accounts: List::default(),
            deployers: List::default(),
            validators: validators([one, other.clone()]),
            parameters: List::default(),
            council: List::default(),
            calls: List::default(),
        };
        match genesis(&config) {
            Err(GenesisError::ValidatorKey { key, reason, .. }) => format!("{key} {reason}"),
            other => format!("{:?}", other.map(|records| records.len())),
        }
    };
    for (expected, wrong) in rows {
        assert_eq!(refusal(wrong.clone()), expected, "{wrong:?}");
    }
    assert!(refusal(one).starts_with("Ok"));
}

/// A genesis has one encoding: however a byte of it is changed, it is refused or encodes to what was read.
#[test]
fn a_changed_genesis_is_refused_or_canonical() {
    let genesis = GenesisConfig {
        chain_id: ChainId(1337),
        is_dev: true,
        timestamp_ms: TimestampMs(1_700_000_000_000),
        accounts: List::new(vec![Funded { address: address(1), amount: Amount(300) }]).expect("one fits"),
        deployers: List::new(vec![address(2)]).expect("one fits"),
        validators: List::default(),
        parameters: cowboy_testkit::chain::parameters(&[("rent.epoch", 100)]),
        council: List::default(),
        calls: List::default(),
    };
    let good = genesis.encode().to_vec();
    assert_eq!(GenesisConfig::decode_cfg(good.clone(), &()).ok(), Some(genesis));
    for place in 0..good.len() {
        assert!(GenesisConfig::decode_cfg(good[..place].to_vec(), &()).is_err(), "cut at {place}");
        for byte in 0..=u8::MAX {
            let mut bytes = good.clone();
            bytes[place] = byte;
            if let Ok(read) = GenesisConfig::decode_cfg(bytes.clone(), &()) {
                assert_eq!(read.encode().to_vec(), bytes, "byte {byte} at {place}");
            }
        }
    }
}

/// the VM's namespace is part of every key, under which it is stored and which it names.
#[test]
fn keys_carry_the_namespace_of_their_machine() {
    let key = Key::storage(address(1), b"name".to_vec());
    let digest = cowboy_types::blake3(&[&[Kind::Storage.number(), VM_NAMESPACE], &address(1).0, b"name"]);
    assert_eq!(key.digest().0, digest.0);
    let sealed = key.seal(b"body");
    assert_eq!(sealed[..2], [Kind::Storage.number(), VM_NAMESPACE]);
    let mut foreign = sealed.to_vec();
    foreign[1] = VM_NAMESPACE + 1;
    assert_eq!(Key::open(&foreign.into()), None, "another machine's record is not ours");
}
