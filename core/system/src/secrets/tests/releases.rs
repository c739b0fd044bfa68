//! Storing secrets, releases, demands and accusations: who loses money (decisions 143 to 146).

use super::*;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_secret_is_stored_and_deleted,
    a_deleted_identity_is_never_sealed_to_again,
    the_owner_reads_a_secret_back,
    a_demand_makes_silence_a_fault,
    silences_are_forgotten,
    demands_that_can_be_served_alone_are_taken,
    a_false_answer_costs_stake_and_seat,
    what_no_receipt_holds_is_not_returned,
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
    // The member at place 2 has no share, so that each demand names the one at place 3.
    let (mut chain, polynomial) = seated_by(0b1011);
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
    assert_eq!(demand(&mut chain, OWNER, &id, 0b1_0000, bond).abort, Some(error::RELEASE_SERVED), "there is no fifth member");
    assert_eq!(demand(&mut chain, 2, &id, 0b0011, bond).abort, Some(error::RELEASE_FOREIGN));
    assert_eq!(demand(&mut chain, OWNER, &id, 0b1011, bond).abort, Some(error::RELEASE_SERVED), "nobody is missing");
    assert_eq!(demand(&mut chain, OWNER, &id, 0b0011, bond - 1).abort, Some(error::DEMAND_BOND));
    let good = answer(&polynomial, 3, &sealed_to, &transport);
    assert_eq!(serve(&mut chain, 3, &id, &good), Some(error::RELEASE_STATE), "nobody asked");
    assert_eq!(demand(&mut chain, OWNER, &id, 0b0011, bond).abort, None);
    assert_eq!(demand(&mut chain, OWNER, &id, 0b0011, bond).abort, Some(error::RELEASE_STATE));
    assert_eq!(serve(&mut chain, 2, &id, &answer(&polynomial, 2, &sealed_to, &transport)), Some(error::ANSWER_INVALID), "it was not asked");
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
        assert_eq!(demand(&mut chain, OWNER, &id, 0b0011, bond).abort, None);
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
    let (mut chain, _) = seated_by(0b1011);
    let sealed_to = identity(&chain, 1, &policy());
    assert_eq!(put(&mut chain, &sealed_to, &policy()).abort, None);
    let silent = committee(&chain, 1).expect("it is seated").members[3].address;
    for _ in 0..2 {
        let id = release(&mut chain);
        let argument = [("release_id", bytes(&id.0)), ("served", Value::uint(0b0011))];
        assert_eq!(ask(&mut chain, OWNER, "demand", argument, Params::GENESIS.secrets.demand_bond).abort, None);
        chain.height = Height(release_record(&chain, &id).expect("open").next_look.0 - 1);
        chain.idle(1);
        assert_eq!(proxy(&chain, number_of(silent)).silences, Count(1));
        chain.height = Height(chain.height.0 + 10 * 2_000);
    }
}

/// What a demand of a release comes to where its owner does something before the answers: who was punished, and whether the bond was burned.
fn outcome_of_demand(acts: &[(&'static str, Value)], answers: &[usize]) -> (u32, bool) {
    let (mut chain, polynomial) = seated();
    let sealed_to = identity(&chain, 1, &policy());
    assert_eq!(put(&mut chain, &sealed_to, &policy()).abort, None);
    let members: Vec<Address> = committee(&chain, 1).expect("it is seated").members.iter().map(|member| member.address).collect();
    let (id, later) = (release(&mut chain), release(&mut chain));
    let bond = Params::GENESIS.secrets.demand_bond;
    let demand = |id: &Hash| [("release_id", bytes(&id.0)), ("served", Value::uint(0))];
    assert_eq!(ask(&mut chain, OWNER, "demand", demand(&id), bond).abort, None);
    let due = release_record(&chain, &id).and_then(|release| release.demand).expect("it is demanded").due;
    assert_eq!(due.count_ones(), 3, "as many as are missing, and no more");
    for (method, argument) in acts {
        let name = ("name_hash", bytes(&[8; 32]));
        let argument = match argument {
            Value::Bool(_) => Value::dict([name, ("paused", argument.clone())]),
            Value::Null => Value::dict([name]),
            version => Value::dict([name, ("version", version.clone())]),
        };
        assert_eq!(chain.send(OWNER, execution(MANAGER, method, &argument.encode(), 0)).abort, None);
    }
    let (transport, ..) = transport();
    let expected = if acts.is_empty() { None } else { Some(error::RELEASE_STATE) };
    for place in indices(due).filter(|place| answers.contains(place) || !acts.is_empty()) {
        let answer = answer(&polynomial, place, &sealed_to, &transport);
        let argument = [("release_id", bytes(&id.0)), ("answer", bytes(&answer))];
        assert_eq!(ask(&mut chain, number_of(members[place]), "serve", argument, 0).abort, expected);
    }
    assert_eq!(ask(&mut chain, OWNER, "demand", demand(&later), bond).abort, expected, "what ended cannot be demanded");
    let (before, issued) = (chain.balance(address(OWNER)), stakes(&chain));
    chain.height = Height(release_record(&chain, &id).expect("open").next_look.0 - 1);
    chain.idle(1);
    let punished = members.iter().filter(|member| proxy(&chain, number_of(**member)).silences > Count(0)).count();
    assert!(members.iter().all(|member| !proxy(&chain, number_of(*member)).demands.contains(&id)), "nobody is asked any more");
    assert_eq!(stakes(&chain) < issued, punished > 0);
    (u32::try_from(punished).expect("few"), chain.balance(address(OWNER)) == before)
}

fn stakes(chain: &Chain) -> u64 {
    (2..=5).map(|number| proxy(chain, number).stake.0).sum()
}

/// Honest members refuse what its owner paused or deleted, so nobody is blamed for it, and the bond that would make members lose is lost. A pause
/// ends what is open for good: resuming just before the end blames nobody either.
#[test]
fn a_pause_blames_nobody() {
    let (pause, resume) = (("pause_secret", Value::Bool(true)), ("pause_secret", Value::Bool(false)));
    assert_eq!(outcome_of_demand(&[], &[]), (3, false), "silence without a reason");
    assert_eq!(outcome_of_demand(&[], &[0, 1, 2, 3]), (0, true), "everybody answered");
    for acts in
        [&[pause.clone()][..], &[pause, resume][..], &[("delete_version", Value::uint(1))][..], &[("delete_secret", Value::Null)][..]]
    {
        assert_eq!(outcome_of_demand(acts, &[]), (0, true), "{acts:?}");
    }
}

/// A pause that changes nothing emits nothing: events that cost almost nothing could drown others.
#[test]
fn a_pause_is_emitted_once() {
    let (mut chain, _) = seated();
    let sealed_to = identity(&chain, 1, &policy());
    assert_eq!(put(&mut chain, &sealed_to, &policy()).abort, None);
    let emitted = [true, true, false, false].map(|paused| {
        let argument = [("name_hash", bytes(&[8; 32])), ("paused", Value::Bool(paused))];
        events(&[ask(&mut chain, OWNER, "pause_secret", argument, 0)])
    });
    assert_eq!(emitted.map(|events| events.len()), [1, 0, 1, 0]);
}

/// However many demands are made, no member has more to answer than it can: the others are refused, and keep their bonds. Those that are up are
/// asked first.
#[test]
fn demands_that_can_be_served_alone_are_taken() {
    let rows = [&quick_rows()[..], &[("secrets.demand_window", 200)]].concat();
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    (2..=5).for_each(|number| register(&mut chain, number));
    seat(&mut chain, 1);
    let sealed_to = identity(&chain, 1, &policy());
    assert_eq!(put(&mut chain, &sealed_to, &policy()).abort, None);
    let room = Params::GENESIS.secrets.demands;
    assert_eq!(room, 16);
    let mut taken = 0u64;
    for _ in 0..24 {
        let id = release(&mut chain);
        let argument = [("release_id", bytes(&id.0)), ("served", Value::uint(0b0001))];
        let receipt = ask(&mut chain, OWNER, "demand", argument, Params::GENESIS.secrets.demand_bond);
        match receipt.abort {
            None => taken += 1,
            other => assert_eq!(other, Some(error::RELEASE_DEMANDS)),
        }
    }
    let first = committee(&chain, 1).expect("it is seated").members[0].address;
    let asked: Vec<u64> = (2..=5).map(|number| u64::try_from(proxy(&chain, number).demands.len()).expect("few")).collect();
    assert_eq!(asked.iter().sum::<u64>(), 2 * taken, "two are missing to three");
    assert!(asked.iter().all(|asked| *asked <= room) && taken < 24, "{asked:?}");
    assert_eq!(proxy(&chain, number_of(first)).demands.len(), 0, "whoever answered is not asked");
}

/// No number of releases delays a dealing: a key that is due is looked at before releases that were due long before.
#[test]
fn keys_do_not_wait_for_releases() {
    let (mut chain, _) = seated();
    let sealed_to = identity(&chain, 1, &policy());
    assert_eq!(put(&mut chain, &sealed_to, &policy()).abort, None);
    let last = (0..9).map(|_| release(&mut chain)).last().expect("nine");
    let deadline = release_record(&chain, &last).expect("open").deadline;
    // Nothing is looked at before both are due, as where there is more to look at than a block can.
    let draw_at = key(&chain).draw_at;
    assert!(deadline < draw_at && key(&chain).next_look < draw_at);
    (2..=5).for_each(|number| register(&mut chain, number + 4));
    chain.height = Height(draw_at.0 - 1);
    let emitted = events(&chain.idle(1));
    assert_eq!(emitted.iter().map(String::as_str).collect::<Vec<_>>(), [&["dealing.begun"][..], &["release.lapsed"; 9]].concat());
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

/// Attack: what 0x04 says of the longest secret is longer than what a receipt holds, and a transaction that asks for it would end every validator. Decision 780:
/// it fails.
#[test]
fn what_no_receipt_holds_is_not_returned() {
    let (mut chain, _) = seated();
    let code_hashes = List::new((1..=16).map(|number| Hash([number; 32])).collect()).expect("sixteen");
    let policy = Policy { code_hashes, ..policy() };
    let sealed_to = identity(&chain, 1, &policy);
    let longest = sealed_of(&sealed_to, cowboy_secrets::sealed::LENGTHS[5]);
    let argument = [("policy", bytes(&policy.encode())), ("sealed", bytes(&longest))];
    assert_eq!(ask(&mut chain, OWNER, "put_secret", argument, 0).abort, None);
    let asked = [("account", bytes(&address(OWNER).0)), ("name_hash", bytes(&[8; 32]))];
    let receipt = ask(&mut chain, OWNER, "get_version", asked, 0);
    assert_eq!((receipt.abort, receipt.return_data.len()), (Some(error::RETURN_TOO_LARGE), 0));
}
