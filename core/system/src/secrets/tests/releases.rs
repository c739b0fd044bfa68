//! Storing secrets, releases, demands and accusations: who loses money (decisions 143 to 146).

use super::*;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_secret_is_stored_and_deleted,
    a_deleted_identity_is_never_sealed_to_again,
    the_owner_reads_a_secret_back,
    a_demand_makes_silence_a_fault,
    silences_are_forgotten,
    a_false_answer_costs_stake_and_seat,
];

/// a secret is stored for a deposit under the identity that it is sealed to, paused, and deleted, which returns the deposit.
#[test]
fn a_secret_is_stored_and_deleted() {
    let mut early = quick();
    let first = identity(&early, 1, &policy());
    assert_eq!(put(&mut early, &first, &policy()).abort, Some(error::NO_RELEASE_KEY));
    let (mut chain, _) = seated();
    let good = identity(&chain, 1, &policy());
    let other_policy = Policy { copies: 2, ..policy() };
    let rows = [
        ("another chain", Identity { genesis: Hash([1; 32]), ..good.clone() }),
        ("another key", Identity { key_id: 2, ..good.clone() }),
        ("another account", Identity { account: address(2), ..good.clone() }),
        ("another version", Identity { version: 2, ..good.clone() }),
        ("another policy", identity(&chain, 1, &other_policy)),
    ];
    for (case, identity) in rows {
        assert_eq!(put(&mut chain, &identity, &policy()).abort, Some(error::SECRET_INVALID), "{case}");
    }
    let nobody = Policy { jobs: 0, ..policy() };
    let of_nobody = identity(&chain, 1, &nobody);
    assert_eq!(put(&mut chain, &of_nobody, &nobody).abort, Some(error::SECRET_INVALID));
    let per_byte = Params::GENESIS.rent.bond_per_byte;
    let kept = u64::try_from(sealed(&good).len() + policy().encode().len()).expect("short");
    let before = chain.balance(address(OWNER));
    let receipt = put(&mut chain, &good, &policy());
    assert_eq!((receipt.abort.clone(), without_fee(before, chain.balance(address(OWNER)), &receipt)), (None, -i128::from(kept * per_byte)));
    assert!(receipt.cells_used.0 > kept, "it pays for what is kept");
    let second = identity(&chain, 2, &other_policy);
    assert_eq!(put(&mut chain, &second, &other_policy).abort, None);
    let elsewhere = Identity { name_hash: Hash([9; 32]), ..good.clone() };
    assert_eq!(put(&mut chain, &elsewhere, &policy()).abort, None, "each secret has versions of its own");
    assert_eq!(ask(&mut chain, OWNER, "delete_secret", [("name_hash", bytes(&[9; 32]))], 0).abort, None);
    let name = || [("name_hash", bytes(&[8; 32]))];
    let [named] = name();
    assert!(ask(&mut chain, OWNER, "pause_secret", [named, ("paused", Value::Bool(true))], 0).is_success());
    let (key, proof, _) = transport();
    let [named] = name();
    let argument = [named, ("transport", bytes(&key.0)), ("proof", bytes(&proof.0))];
    assert_eq!(ask(&mut chain, OWNER, "release_to_owner", argument, 0).abort, Some(error::SECRET_PAUSED));
    let [named] = name();
    let before = chain.balance(address(OWNER));
    let receipt = ask(&mut chain, OWNER, "delete_version", [named, ("version", Value::uint(1))], 0);
    assert_eq!(without_fee(before, chain.balance(address(OWNER)), &receipt), i128::from(kept * per_byte));
    let [named] = name();
    assert_eq!(ask(&mut chain, OWNER, "delete_version", [named, ("version", Value::uint(1))], 0).abort, Some(error::SECRET_NOT_FOUND));
    assert_eq!(ask(&mut chain, 2, "delete_secret", name(), 0).abort, Some(error::SECRET_NOT_FOUND), "another account has none");
    assert_eq!(ask(&mut chain, OWNER, "delete_secret", name(), 0).abort, None);
    let vault = chain.record::<Vault>(&state::vault_key(address(OWNER))).expect("its numbers are kept");
    assert_eq!((vault.secrets, vault.deposit, vault.floor), (Count(0), Amount::ZERO, Count(2)));
}

/// Whoever was released a version that was deleted cannot open what is stored later: no identity is sealed to twice.
#[test]
fn a_deleted_identity_is_never_sealed_to_again() {
    let (mut chain, _) = seated();
    let first = identity(&chain, 1, &policy());
    assert_eq!(put(&mut chain, &first, &policy()).abort, None);
    assert_eq!(ask(&mut chain, OWNER, "delete_secret", [("name_hash", bytes(&[8; 32]))], 0).abort, None);
    assert_eq!(put(&mut chain, &first, &policy()).abort, Some(error::SECRET_INVALID));
    let next = identity(&chain, 2, &policy());
    assert_eq!(put(&mut chain, &next, &policy()).abort, None);
}

/// the owner's release is the right to answers for its key; who answered is paid; a release that nobody accounts for burns its fee.
#[test]
fn the_owner_reads_a_secret_back() {
    let (mut chain, _) = seated();
    let policy = Policy { max_releases: Count(2), ..policy() };
    let sealed_to = identity(&chain, 1, &policy);
    assert_eq!(put(&mut chain, &sealed_to, &policy).abort, None);
    let (key, proof, _) = transport();
    let ask_for = |chain: &mut Chain, from: u8, key: &[u8], proof: &[u8]| {
        let argument = [("name_hash", bytes(&[8; 32])), ("transport", bytes(key)), ("proof", bytes(proof))];
        ask(chain, from, "release_to_owner", argument, 0)
    };
    let identity_point = [&[0xC0][..], &[0; 47]].concat();
    for (case, from, key, proof, expected) in [
        ("a stranger", 2, &key.0[..], &proof.0[..], error::SECRET_NOT_FOUND),
        ("the identity element", OWNER, &identity_point[..], &proof.0[..], error::TRANSPORT_KEY),
        ("another key", OWNER, &G1Affine::generator().to_compressed()[..], &proof.0[..], error::TRANSPORT_KEY),
    ] {
        assert_eq!(ask_for(&mut chain, from, key, proof).abort, Some(expected), "{case}");
    }
    let before = chain.balance(address(OWNER));
    let receipt = ask_for(&mut chain, OWNER, &key.0, &proof.0);
    assert_eq!(without_fee(before, chain.balance(address(OWNER)), &receipt), -10_000_000);
    let id = Hash(cbor::decode(&receipt.return_data).expect("CBOR").as_bytes().expect("an id").try_into().expect("32 bytes"));
    let record = release_record(&chain, &id).expect("it is open");
    assert_eq!((record.identity.clone(), record.transport, record.recipient), (sealed_to.clone(), key, address(OWNER)));
    assert_eq!(id, release_id(&record.subject, address(OWNER), &sealed_to));
    let close = |chain: &mut Chain, from: u8, id: &Hash, served: u64| {
        ask(chain, from, "close_release", [("release_id", bytes(&id.0)), ("epoch", Value::uint(1)), ("served", Value::uint(served))], 0)
            .abort
    };
    assert_eq!(close(&mut chain, 2, &id, 0b111), Some(error::RELEASE_FOREIGN));
    assert_eq!(close(&mut chain, OWNER, &id, 0b11), Some(error::RELEASE_SERVED), "two are too few");
    assert_eq!(close(&mut chain, OWNER, &id, 0b1_0111), Some(error::RELEASE_SERVED), "there is no fifth member");
    let members = committee(&chain, 1).expect("it is seated").members;
    let balances = |chain: &Chain| members.iter().map(|member| chain.balance(member.address)).collect::<Vec<_>>();
    let before = balances(&chain);
    assert_eq!(close(&mut chain, OWNER, &id, 0b1011), None);
    let paid: Vec<u64> = balances(&chain).iter().zip(&before).map(|(after, before)| after - before).collect();
    assert_eq!(paid, [2_966_666, 2_966_666, 0, 2_966_666], "89 parts of a hundred, for three");
    assert_eq!(close(&mut chain, OWNER, &id, 0b1011), Some(error::RELEASE_STATE));
    let lapsing = release(&mut chain);
    assert_eq!(ask_for(&mut chain, OWNER, &key.0, &proof.0).abort, Some(error::RELEASE_REFUSED), "the policy allows two");
    let deadline = release_record(&chain, &lapsing).expect("it is open").deadline.0;
    chain.height = Height(deadline - 1);
    assert_eq!(events(&chain.idle(1)), ["release.lapsed"]);
    assert_eq!(close(&mut chain, OWNER, &lapsing, 0b111), Some(error::RELEASE_STATE));
    chain.height = Height(deadline + 30);
    chain.idle(2);
    assert_eq!((release_record(&chain, &id), release_record(&chain, &lapsing)), (None, None), "receipts are kept for a while");
}

/// a member that does not answer a demand loses stake, after three its seat; the bond is burned where everybody answered.
#[test]
fn a_demand_makes_silence_a_fault() {
    let (mut chain, polynomial) = seated();
    let sealed_to = identity(&chain, 1, &policy());
    assert_eq!(put(&mut chain, &sealed_to, &policy()).abort, None);
    let members: Vec<u8> = committee(&chain, 1).expect("it is seated").members.iter().map(|member| number_of(member.address)).collect();
    let (transport, ..) = transport();
    let bond = Params::GENESIS.secrets.demand_bond;
    let demand = |chain: &mut Chain, from: u8, id: &Hash, served: u64, value: u64| {
        ask(chain, from, "demand", [("release_id", bytes(&id.0)), ("served", Value::uint(served))], value)
    };
    let serve = |chain: &mut Chain, place: usize, id: &Hash, answer: &[u8; 192]| {
        ask(chain, members[place], "serve", [("release_id", bytes(&id.0)), ("answer", bytes(answer))], 0).abort
    };
    let id = release(&mut chain);
    assert_eq!(demand(&mut chain, 2, &id, 0b0111, bond).abort, Some(error::RELEASE_FOREIGN));
    assert_eq!(demand(&mut chain, OWNER, &id, 0b1111, bond).abort, Some(error::RELEASE_SERVED), "nobody is left");
    assert_eq!(demand(&mut chain, OWNER, &id, 0b0111, bond - 1).abort, Some(error::DEMAND_BOND));
    let good = answer(&polynomial, 3, &sealed_to, &transport);
    assert_eq!(serve(&mut chain, 3, &id, &good), Some(error::RELEASE_STATE), "nobody asked");
    assert_eq!(demand(&mut chain, OWNER, &id, 0b0111, bond).abort, None);
    assert_eq!(demand(&mut chain, OWNER, &id, 0b0111, bond).abort, Some(error::RELEASE_STATE));
    assert_eq!(
        serve(&mut chain, 2, &id, &answer(&polynomial, 2, &sealed_to, &transport)),
        Some(error::ANSWER_INVALID),
        "it answered already"
    );
    assert_eq!(serve(&mut chain, 3, &id, &answer(&polynomial, 2, &sealed_to, &transport)), Some(error::ANSWER_INVALID), "another's share");
    assert_eq!(serve(&mut chain, 3, &id, &[0; 192]), Some(error::ANSWER_INVALID));
    let other = Identity { version: 2, ..sealed_to.clone() };
    assert_eq!(serve(&mut chain, 3, &id, &answer(&polynomial, 3, &other, &transport)), Some(error::ANSWER_INVALID), "another identity");
    assert_eq!(serve(&mut chain, 3, &id, &good), None);
    let before = chain.balance(address(OWNER));
    chain.height = Height(release_record(&chain, &id).expect("open").next_look.0 - 1);
    assert_eq!(events(&chain.idle(1)), ["release.demand_over"]);
    assert_eq!(chain.balance(address(OWNER)), before, "the bond is burned: nobody was silent");
    assert_eq!(proxy(&chain, members[3]).stake.0, STAKE);
    let silent = members[3];
    for time in 1..=3u64 {
        let id = release(&mut chain);
        assert_eq!(demand(&mut chain, OWNER, &id, 0b0111, bond).abort, None);
        let before = chain.balance(address(OWNER));
        chain.height = Height(release_record(&chain, &id).expect("open").next_look.0 - 1);
        let receipts = chain.idle(1);
        assert!(events(&receipts).contains(&"proxy.slashed".to_string()), "{:?}", events(&receipts));
        assert_eq!(chain.balance(address(OWNER)), before + bond, "the bond comes back");
        let record = proxy(&chain, silent);
        assert_eq!(record.stake.0, (0..time).fold(STAKE, |stake, _| stake - stake / 100));
        assert_eq!(record.excluded_until > chain.height, time == 3, "the third silence costs the seat");
    }
    assert!(key(&chain).draw_at.0 <= chain.height.0 + 4, "another committee is drawn soon");
}

/// Silences of long ago are forgotten.
#[test]
fn silences_are_forgotten() {
    let (mut chain, _) = seated();
    let sealed_to = identity(&chain, 1, &policy());
    assert_eq!(put(&mut chain, &sealed_to, &policy()).abort, None);
    let silent = committee(&chain, 1).expect("it is seated").members[3].address;
    for _ in 0..2 {
        let id = release(&mut chain);
        let argument = [("release_id", bytes(&id.0)), ("served", Value::uint(0b0111))];
        assert_eq!(ask(&mut chain, OWNER, "demand", argument, Params::GENESIS.secrets.demand_bond).abort, None);
        chain.height = Height(release_record(&chain, &id).expect("open").next_look.0 - 1);
        chain.idle(1);
        assert_eq!(proxy(&chain, number_of(silent)).silences, Count(1));
        chain.height = Height(chain.height.0 + 10 * 2_000);
    }
}

/// A signed answer that does not hold costs 5% and the seat. One that holds, or that nobody signed, proves nothing.
#[test]
fn a_false_answer_costs_stake_and_seat() {
    let (mut chain, polynomial) = seated();
    let sealed_to = identity(&chain, 1, &policy());
    assert_eq!(put(&mut chain, &sealed_to, &policy()).abort, None);
    let id = release(&mut chain);
    let members: Vec<u8> = committee(&chain, 1).expect("it is seated").members.iter().map(|member| number_of(member.address)).collect();
    let (transport, ..) = transport();
    let signed = |by: u8, answer: &[u8; 192]| signer(by).sign(&answer_digest(&id, 1, 0, answer).0).to_bytes();
    let accuse = |chain: &mut Chain, answer: &[u8; 192], signature: [u8; 64]| {
        let place = [("release_id", bytes(&id.0)), ("epoch", Value::uint(1)), ("index", Value::uint(0))];
        let [release, epoch, index] = place;
        ask(chain, 9, "accuse", [release, epoch, index, ("answer", bytes(answer)), ("signature", bytes(&signature))], 0).abort
    };
    let good = answer(&polynomial, 0, &sealed_to, &transport);
    let wrong = answer(&polynomial, 1, &sealed_to, &transport);
    assert_eq!(accuse(&mut chain, &good, signed(members[0], &good)), Some(error::ACCUSATION_FALSE), "it holds");
    assert_eq!(accuse(&mut chain, &wrong, signed(members[1], &wrong)), Some(error::ACCUSATION_FALSE), "another signed it");
    assert_eq!(accuse(&mut chain, &wrong, signed(members[0], &good)), Some(error::ACCUSATION_FALSE), "the signature is another's");
    assert_eq!(accuse(&mut chain, &wrong, signed(members[0], &wrong)), None);
    let record = proxy(&chain, members[0]);
    assert_eq!((record.stake.0, record.excluded_until > chain.height), (STAKE - STAKE / 20, true));
    assert!(key(&chain).draw_at.0 <= chain.height.0 + 4);
    assert_eq!(accuse(&mut chain, &wrong, signed(members[0], &wrong)), Some(error::ACCUSATION_FALSE), "once for a release");
    let (mut chain, _) = seated();
    assert_eq!(put(&mut chain, &sealed_to, &policy()).abort, None);
    assert_eq!(release(&mut chain), id, "the same chain again");
    assert_eq!(accuse(&mut chain, &[9; 192], signed(members[0], &[9; 192])), None, "bytes that are no answer");
}
