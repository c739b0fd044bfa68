//! Secrets: proxies, dealings, storing, releases, and who loses money (decisions 138 to 148).

pub(crate) mod dealing;
pub(crate) mod jobs;
mod pauses;
mod registry;
pub(crate) mod releases;
pub(crate) mod traffic;

use bls12_381::{G1Affine, G1Projective, G2Affine, Scalar};
use commonware_codec::Encode as _;
use cowboy_params::Params;
use cowboy_secrets::dealing::{Outcome, Phase, phase_hash, threshold};
use cowboy_secrets::partial::{answer_digest, release_id};
use cowboy_secrets::policy::{Actors, Attestation, Runners};
use cowboy_secrets::proxy::proof_message;
use cowboy_secrets::sealed::{HEADER_BYTES, TAG_BYTES, header};
use cowboy_secrets::{Identity, Kind, PointG2, Policy};
use cowboy_system::secrets::types::{Committee, Proxy, Release, ReleaseKey, Round, Vault, first, indices};
use cowboy_system::secrets::{NUMBER, state};
use cowboy_system::standstill::Standstill;
use cowboy_testkit::chain::{Chain, address, execution, parameters};
use cowboy_types::cbor::{self, Value};
use cowboy_types::job::JobKind;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Abort, Address, Hash, List, Receipt, Text, error};
use ed25519_consensus::SigningKey;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] =
    cowboy_testkit::scenarios![a_proxy_registers_and_leaves, a_new_key_replaces_the_old_one,];

const MANAGER: Address = Address::system(NUMBER);
const CBY: u64 = 1_000_000_000;
const STAKE: u64 = 10_000 * CBY;
const OWNER: u8 = 1;
/// The suite of signatures in G1.
const SUITE: &[u8] = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";
const POSSESSION: &[u8] = b"BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

fn ask<const N: usize>(chain: &mut Chain, from: u8, method: &str, argument: [(&'static str, Value); N], value: u64) -> Receipt {
    chain.send(from, execution(MANAGER, method, &Value::dict(argument).encode(), value))
}

fn bytes(bytes: &[u8]) -> Value {
    Value::Bytes(bytes.to_vec())
}

fn events(receipts: &[Receipt]) -> Vec<String> {
    receipts.iter().flat_map(|receipt| receipt.events.iter().map(|event| event.name.to_string())).collect()
}

/// What an account lost in a call beside its fee.
fn without_fee(before: u64, after: u64, receipt: &Receipt) -> i128 {
    i128::from(after) + i128::from(receipt.fee.burned.0 + receipt.fee.tip.0) - i128::from(before)
}

fn signer(number: u8) -> SigningKey {
    SigningKey::from([number; 32])
}

fn signing_key(number: u8) -> Fixed<32> {
    Fixed(signer(number).verification_key().to_bytes())
}

/// What has proxies drawn at once, with short phases.
fn quick_rows() -> [(&'static str, u64); 8] {
    [
        ("secrets.proxy_wait", 0),
        ("secrets.phase", 8),
        ("secrets.retry", 5),
        ("secrets.term", 2_000),
        ("secrets.replacement", 4),
        ("secrets.release_window", 20),
        ("secrets.receipts", 30),
        ("secrets.members", 4),
    ]
}

/// A chain on which proxies can be drawn at once, with short phases.
fn quick() -> Chain {
    Chain::with(|genesis| genesis.parameters = parameters(&quick_rows()))
}

fn registration(chain: &Chain, from: u8) -> [(&'static str, Value); 5] {
    let key = signing_key(from);
    let proof = signer(from).sign(&proof_message(&chain.config.genesis, address(from), &key)).to_bytes();
    [
        ("endpoint", Value::text("proxy.example.com")),
        ("port", Value::uint(443)),
        ("certificate", bytes(&[7; 32])),
        ("key", bytes(&key.0)),
        ("proof", bytes(&proof)),
    ]
}

fn register(chain: &mut Chain, from: u8) {
    let argument = registration(chain, from);
    assert_eq!(ask(chain, from, "register_proxy", argument, STAKE).abort, None);
}

fn proxy(chain: &Chain, number: u8) -> Proxy {
    chain.record(&state::proxy_key(address(number))).expect("it is registered")
}

fn round(chain: &Chain) -> Option<Round> {
    chain.record(&state::round_key(1))
}

fn key(chain: &Chain) -> ReleaseKey {
    chain.record(&state::release_key(1)).expect("the first key is there")
}

fn committee(chain: &Chain, epoch: u64) -> Option<Committee> {
    chain.record(&state::committee_key(1, Count(epoch)))
}

/// The account that an address is.
fn number_of(of: Address) -> u8 {
    (1..=9).find(|number| address(*number) == of).expect("one of the nine")
}

/// A polynomial whose constant is the committees' key. Other coefficients differ from dealing to dealing.
fn polynomial(degree: usize, dealing: u64) -> Vec<Scalar> {
    (0..degree)
        .map(|place| if place == 0 { Scalar::from(77) } else { Scalar::from(dealing * 100 + u64::try_from(place).expect("small")) })
        .collect()
}

fn point(scalar: &Scalar) -> PointG2 {
    PointG2::new(G2Affine::from(G2Affine::generator() * scalar).to_compressed()).expect("a multiple of the generator")
}

fn outcome_of(polynomial: &[Scalar]) -> Outcome {
    Outcome {
        summary: Hash([3; 32]),
        polynomial: List::new(polynomial.iter().map(point).collect()).expect("few"),
        dealers: List::default(),
        revealed: List::default(),
    }
}

/// The share of a place.
fn share(polynomial: &[Scalar], place: usize) -> Scalar {
    let at = Scalar::from(u64::try_from(place).expect("small") + 1);
    polynomial.iter().rev().fold(Scalar::zero(), |sum, coefficient| sum * at + coefficient)
}

/// Blocks until the dealing is in a phase.
fn until(chain: &mut Chain, phase: Phase) -> Round {
    if round(chain).is_none() {
        chain.height = Height(chain.height.max(key(chain).draw_at).max(key(chain).next_look).0 - 1);
    }
    for _ in 0..40 {
        match round(chain) {
            Some(round) if round.phase == phase => return round,
            _ => drop(chain.idle(1)),
        }
    }
    panic!("the dealing reaches {phase:?}")
}

/// What a member says in a phase; a key in the first, an outcome in the last.
fn speak(chain: &mut Chain, from: u8, round: &Round, outcome: &Outcome) -> Receipt {
    let place = [("key_id", Value::uint(1)), ("round", Value::uint(round.number.0))];
    let [id, number] = place;
    let message = ("message", bytes(&[from; 9]));
    match round.phase {
        Phase::Join => ask(chain, from, "join", [id, number, ("key", bytes(&[from; 32]))], 0),
        Phase::Deal => ask(chain, from, "deal", [id, number, message], 0),
        Phase::Ack => ask(chain, from, "ack", [id, number, message], 0),
        Phase::Log => ask(chain, from, "log", [id, number, message], 0),
        Phase::Confirm => {
            ask(chain, from, "confirm", [id, number, ("digest", bytes(&outcome.digest().0)), ("outcome", bytes(&outcome.encode()))], 0)
        }
    }
}

/// Those who speak in a phase.
fn speakers(round: &Round) -> Vec<u8> {
    let players = round.players.iter().map(|player| &player.member);
    match round.phase {
        Phase::Deal | Phase::Log => round.dealers.iter().map(|member| number_of(member.address)).collect(),
        _ => players.map(|member| number_of(member.address)).collect(),
    }
}

/// Has everybody speak in the phases before the last one.
fn deal(chain: &mut Chain) -> Round {
    for phase in [Phase::Join, Phase::Deal, Phase::Ack, Phase::Log] {
        let round = until(chain, phase);
        for from in speakers(&round) {
            let receipt = speak(chain, from, &round, &outcome_of(&[]));
            assert_eq!((receipt.abort, receipt.fee.burned.0), (None, 0), "what is due costs no base fee");
        }
    }
    until(chain, Phase::Confirm)
}

/// Seats a committee that holds the next shares of the key, and has everybody in it confirm. Answers its polynomial.
fn seat(chain: &mut Chain, dealing: u64) -> Vec<Scalar> {
    seat_by(chain, dealing, 0b1111)
}

/// Seats a committee of which the members with these places confirm. Answers its polynomial.
fn seat_by(chain: &mut Chain, dealing: u64, confirmed: u16) -> Vec<Scalar> {
    let confirming = deal(chain);
    let polynomial = polynomial(threshold(confirming.players.len()), dealing);
    let members = speakers(&confirming);
    for place in indices(confirmed) {
        assert_eq!(speak(chain, members[place], &confirming, &outcome_of(&polynomial)).abort, None);
    }
    if confirmed != first(members.len()) {
        chain.idle(confirming.ends_at.0 - chain.height.0);
    }
    assert_eq!(round(chain), None, "the dealing is over");
    polynomial
}

/// A chain with proxies 2 to 5 seated, and their polynomial.
pub(crate) fn seated() -> (Chain, Vec<Scalar>) {
    seated_by(0b1111)
}

/// The same where only the members with these places confirmed.
fn seated_by(confirmed: u16) -> (Chain, Vec<Scalar>) {
    let mut chain = quick();
    (2..=5).for_each(|number| register(&mut chain, number));
    let polynomial = seat_by(&mut chain, 1, confirmed);
    (chain, polynomial)
}

/// A chain with a committee, a secret, and a release of it: for tests of the invariants.
pub(crate) fn released() -> Chain {
    let (mut chain, _) = seated();
    let sealed_to = identity(&chain, 1, &policy());
    assert_eq!(put(&mut chain, &sealed_to, &policy()).abort, None);
    release(&mut chain);
    chain
}

fn policy() -> Policy {
    Policy {
        actors: Actors::Owned,
        accounts: List::default(),
        code_hashes: List::default(),
        jobs: JobKind::Http.bit(),
        hosts: List::new(vec![Text::new("api.example.com").expect("short")]).expect("one"),
        runners: Runners::Any,
        min_stake: Amount::ZERO,
        min_reputation: Count::ZERO,
        attestation: Attestation::NotRequired,
        copies: 1,
        from: Height::ZERO,
        until: Height::ZERO,
        max_releases: Count::ZERO,
    }
}

fn identity(chain: &Chain, version: u64, policy: &Policy) -> Identity {
    Identity {
        kind: Kind::Secret,
        genesis: chain.config.genesis,
        key_id: 1,
        account: address(OWNER),
        name_hash: Hash([8; 32]),
        version,
        policy_hash: policy.hash(),
    }
}

/// Bytes in the form of a sealed secret. What they contain is nothing to the chain.
fn sealed(identity: &Identity) -> Vec<u8> {
    sealed_of(identity, 64)
}

/// The same for a value that is padded to this length.
fn sealed_of(identity: &Identity, padded: usize) -> Vec<u8> {
    let key = cowboy_secrets::sealed::EncryptedKey { u: point(&Scalar::from(9)), v: Fixed([1; 32]), w: Fixed([2; 32]) };
    let bytes = [header(identity, &key), vec![5; padded + TAG_BYTES]].concat();
    assert_eq!(bytes.len(), HEADER_BYTES + padded + TAG_BYTES);
    bytes
}

fn put(chain: &mut Chain, identity: &Identity, policy: &Policy) -> Receipt {
    ask(chain, OWNER, "put_secret", [("policy", bytes(&policy.encode())), ("sealed", bytes(&sealed(identity)))], 0)
}

/// A transport key with its proof, and its secret.
pub(crate) fn transport() -> (Fixed<48>, Fixed<96>, Scalar) {
    let secret = Scalar::from(4_242);
    let blst = blst_key(&secret);
    let key = G1Affine::from(G1Affine::generator() * secret).to_compressed();
    let public = blst::min_pk::SecretKey::from_bytes(&blst).expect("a scalar").sk_to_pk().compress();
    assert_eq!(public, key);
    let message = cowboy_secrets::curve::in_namespace(cowboy_secrets::transport::NAMESPACE, &key);
    let proof = blst::min_pk::SecretKey::from_bytes(&blst).expect("a scalar").sign(&message, POSSESSION, &[]).compress();
    (Fixed(key), Fixed(proof), secret)
}

/// A scalar as the C library reads it.
fn blst_key(scalar: &Scalar) -> [u8; 32] {
    let mut key = scalar.to_bytes();
    key.reverse();
    key
}

/// The answer of the member of a place.
fn answer(polynomial: &[Scalar], place: usize, identity: &Identity, transport: &Fixed<48>) -> [u8; 192] {
    let (share, factor) = (share(polynomial, place), Scalar::from(31));
    let secret = blst::min_sig::SecretKey::from_bytes(&blst_key(&share)).expect("a scalar");
    let signature = G1Affine::from_compressed(&secret.sign(&identity.message(), SUITE, &[]).compress()).expect("a point");
    let transport = G1Affine::from_compressed(&transport.0).expect("a point");
    let e1 = G1Affine::from(G1Affine::generator() * factor).to_compressed();
    let e2 = G2Affine::from(G2Affine::generator() * factor).to_compressed();
    let e3 = G1Affine::from(transport * factor + G1Projective::from(signature)).to_compressed();
    [&e1[..], &e2, &e3].concat().try_into().expect("192 bytes")
}

/// A release to the owner of the first version.
fn release(chain: &mut Chain) -> Hash {
    let (key, proof, _) = transport();
    let argument = [("name_hash", bytes(&[8; 32])), ("transport", bytes(&key.0)), ("proof", bytes(&proof.0))];
    let receipt = ask(chain, OWNER, "release_to_owner", argument, 0);
    assert_eq!(receipt.abort, None);
    let id = cbor::decode(&receipt.return_data).expect("CBOR");
    Hash(id.as_bytes().expect("an id").try_into().expect("32 bytes"))
}

pub(crate) fn release_record(chain: &Chain, id: &Hash) -> Option<Release> {
    chain.record(&state::release_record_key(id))
}

/// 10,000 CBY, a place and a key of its own; a heartbeat; the stake comes back seven days after a proxy that has no seat left.
#[test]
fn a_proxy_registers_and_leaves() {
    let rows = &Params::GENESIS.secrets;
    assert_eq!((rows.proxy_stake, rows.proxy_wait, rows.unbonding, rows.members), (STAKE, 86_400, 604_800, 16));
    let mut chain = Chain::new();
    let good = registration(&chain, 2);
    let with = |place: usize, value: Value| {
        let mut argument = good.clone();
        argument[place].1 = value;
        argument
    };
    let rows = [
        (2, with(0, Value::text("Proxy.example.com")), STAKE, Some(error::PROXY_ENDPOINT)),
        (2, with(1, Value::uint(0)), STAKE, Some(error::PROXY_ENDPOINT)),
        (2, good.clone(), STAKE - 1, Some(error::PROXY_STAKE)),
        (3, good.clone(), STAKE, Some(error::PROXY_KEY)),
        (2, with(3, bytes(&[0; 32])), STAKE, Some(error::PROXY_KEY)),
        (2, good.clone(), STAKE, None),
        (2, registration(&chain, 2), STAKE, Some(error::PROXY_EXISTS)),
        (3, good.clone(), STAKE, Some(error::PROXY_EXISTS)),
    ];
    for (from, argument, value, expected) in rows {
        assert_eq!(ask(&mut chain, from, "register_proxy", argument, value).abort, expected);
    }
    let at = chain.height.0;
    chain.height = Height(at + 3_600);
    let is_able = |chain: &Chain| proxy(chain, 2).is_able(&Params::GENESIS, &Standstill::default(), chain.height);
    assert!(!is_able(&chain), "it has not waited, and was not heard of");
    assert!(ask(&mut chain, 2, "heartbeat", [], 0).is_success());
    chain.height = Height(at + 86_400);
    assert!(ask(&mut chain, 2, "heartbeat", [], 0).is_success());
    assert!(is_able(&chain));
    assert_eq!(ask(&mut chain, 3, "heartbeat", [], 0).abort, Some(error::PROXY_UNKNOWN));
    assert!(ask(&mut chain, 2, "add_stake", [], CBY).is_success());
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, Some(error::PROXY_STATE), "it has not left");
    assert!(ask(&mut chain, 2, "leave", [], 0).is_success());
    assert!(!is_able(&chain));
    assert_eq!(ask(&mut chain, 2, "leave", [], 0).abort, Some(error::PROXY_STATE));
    assert_eq!(ask(&mut chain, 2, "withdraw", [], 0).abort, Some(error::STILL_BOUND));
    let left = proxy(&chain, 2).left_at.expect("it left").0;
    chain.height = Height(left + 604_799);
    let before = chain.balance(address(2));
    let receipt = ask(&mut chain, 2, "withdraw", [], 0);
    assert_eq!(without_fee(before, chain.balance(address(2)), &receipt), i128::from(STAKE + CBY));
    assert_eq!(chain.record::<Proxy>(&state::proxy_key(address(2))), None);
    register(&mut chain, 2);
}

/// A chain with these rows for four proxies at most, and as many.
fn full(rows: &[(&'static str, u64)]) -> Chain {
    let rows = [rows, &[("secrets.proxies", 4)]].concat();
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    (2..=5).for_each(|number| register(&mut chain, number));
    chain
}

fn enter(chain: &mut Chain, from: u8) -> Option<Abort> {
    let argument = registration(chain, from);
    ask(chain, from, "register_proxy", argument, STAKE).abort
}

/// Decision 582: a proxy that left, or is absent and not excluded any more, makes room in a full registry once its stake answers for nothing, and is
/// paid.
#[test]
fn who_is_gone_makes_room() {
    let mut chain = full(&[("secrets.unbonding", 5_000)]);
    assert!(ask(&mut chain, 2, "leave", [], 0).is_success());
    let left_at = proxy(&chain, 2).left_at.expect("it left").0;
    let key = state::proxy_key(address(3));
    let excluded = Proxy { excluded_until: Height(6_000), ..proxy(&chain, 3) };
    chain.state.insert(key.digest(), key.seal(&excluded.encode()));
    for (gone, gone_at, newcomer) in [(2, left_at, 6), (3, 6_000, 7)] {
        chain.height = Height(gone_at + 5_000 - 2);
        assert_eq!(enter(&mut chain, newcomer), Some(error::PROXIES_FULL), "{gone} is bound");
        let before = chain.balance(address(gone));
        assert_eq!(enter(&mut chain, newcomer), None, "{gone} is not");
        assert_eq!(chain.balance(address(gone)) - before, STAKE);
        assert_eq!(chain.record::<Proxy>(&state::proxy_key(address(gone))), None);
        for number in [4, 5] {
            assert!(ask(&mut chain, number, "heartbeat", [], 0).is_success());
        }
    }
}

/// Decision 597: in a full registry the idle proxy with the least stake gives way to one with more, and leaves with its stake when that is free.
#[test]
fn the_lowest_stake_gives_way() {
    let mut chain = full(&[("secrets.unbonding", 5_000)]);
    for number in [2, 4, 5] {
        assert!(ask(&mut chain, number, "add_stake", [], 2 * CBY).is_success());
    }
    let with = |chain: &mut Chain, stake: u64| {
        let argument = registration(chain, 6);
        ask(chain, 6, "register_proxy", argument, stake).abort
    };
    assert_eq!(with(&mut chain, STAKE), Some(error::PROXIES_FULL), "nobody has less");
    assert_eq!(with(&mut chain, STAKE + CBY), None);
    let listed = chain.names(state::proxies());
    let has = |number: u8| listed.iter().any(|name| name[..] == address(number).0);
    assert_eq!((listed.len(), has(3), has(6)), (4, false, true));
    let left_at = proxy(&chain, 3).left_at.expect("it left").0;
    assert_eq!(ask(&mut chain, 3, "withdraw", [], 0).abort, Some(error::STILL_BOUND));
    chain.height = Height(left_at + 5_000);
    let before = chain.balance(address(3));
    let receipt = ask(&mut chain, 3, "withdraw", [], 0);
    assert_eq!(without_fee(before, chain.balance(address(3)), &receipt), i128::from(STAKE));
}

/// A seat is given up to another committee, not to a newcomer.
#[test]
fn who_has_a_seat_makes_no_room() {
    let mut chain = full(&[&quick_rows()[..], &[("secrets.unbonding", 1)]].concat());
    seat(&mut chain, 1);
    assert!(ask(&mut chain, 2, "leave", [], 0).is_success());
    chain.idle(3);
    assert_eq!(enter(&mut chain, 6), Some(error::PROXIES_FULL));
}

/// Decision 147: governance has a new key made. Until it is dealt secrets are sealed to the old one, which opens what is sealed to it until its sunset.
#[test]
fn a_new_key_replaces_the_old_one() {
    let rows = [("secrets.proxy_wait", 0), ("secrets.phase", 8), ("secrets.sunset", 100), ("secrets.members", 4)];
    let mut chain = Chain::with(|genesis| {
        genesis.parameters = parameters(&rows);
        genesis.deployers = List::new(vec![address(9)]).expect("one");
    });
    (2..=5).for_each(|number| register(&mut chain, number));
    assert_eq!(ask(&mut chain, 9, "rekey", [], 0).abort, Some(error::NO_RELEASE_KEY), "there is no key yet");
    seat(&mut chain, 1);
    assert_eq!(ask(&mut chain, 2, "rekey", [], 0).abort, Some(error::SYSTEM_UNAUTHORIZED));
    assert_eq!(ask(&mut chain, 9, "rekey", [], 0).abort, None);
    assert_eq!(ask(&mut chain, 9, "rekey", [], 0).abort, Some(error::NO_RELEASE_KEY), "the new one is not dealt yet");
    let sunset = key(&chain).sunset.expect("it ends").0;
    let sealed_to = identity(&chain, 1, &policy());
    assert_eq!(put(&mut chain, &sealed_to, &policy()).abort, None, "sealed to the old one");
    release(&mut chain);
    chain.height = Height(sunset);
    let (transport, proof, _) = transport();
    let argument = [("name_hash", bytes(&[8; 32])), ("transport", bytes(&transport.0)), ("proof", bytes(&proof.0))];
    assert_eq!(ask(&mut chain, OWNER, "release_to_owner", argument, 0).abort, Some(error::NO_RELEASE_KEY));
    chain.height = key(&chain).next_look;
    chain.idle(20);
    assert_eq!((chain.record::<ReleaseKey>(&state::release_key(1)), committee(&chain, 1)), (None, None), "nothing is left of it");
    assert!(chain.record::<ReleaseKey>(&state::release_key(2)).is_some());
}
