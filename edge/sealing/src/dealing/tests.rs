//! Dealings among members that keep to the rules, and among some that do not.

use super::*;
use crate::{TransportSecret, answer, combine, open, seal};
use cowboy_secrets::dealing::threshold;
use cowboy_secrets::{Identity, Kind, PointG1, share_key};
use cowboy_types::Address;

const GENESIS: Hash = Hash([7; 32]);

/// The longest message that an event carries.
const MESSAGE_BYTES: usize = 3_968;

fn signer(number: u8) -> PrivateKey {
    PrivateKey::from_seed(u64::from(number))
}

fn key(number: u8) -> Fixed<32> {
    fixed(&signer(number).public_key())
}

/// Members in the order of their keys.
fn ordered(numbers: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let mut numbers: Vec<u8> = numbers.into_iter().collect();
    numbers.sort_by_key(|number| key(*number));
    numbers
}

/// A committee that holds the key.
#[derive(Clone)]
struct Committee {
    members: Vec<u8>,
    outcome: Outcome,
    shares: Vec<Share>,
}

/// A round, with the members that take part in it.
struct Round {
    dealers: Vec<u8>,
    players: Vec<u8>,
    standing: Option<Committee>,
    number: u64,
}

impl Round {
    fn first(members: impl IntoIterator<Item = u8>) -> Self {
        let members = ordered(members);
        Self { dealers: members.clone(), players: members, standing: None, number: 1 }
    }

    fn next(standing: &Committee, players: impl IntoIterator<Item = u8>, number: u64) -> Self {
        Self { dealers: standing.members.clone(), players: ordered(players), standing: Some(standing.clone()), number }
    }

    fn seed(&self, number: u8) -> [u8; 32] {
        let mut seed = [number; 32];
        seed[0] = u8::try_from(self.number).expect("few rounds");
        seed
    }

    fn setting(&self) -> Setting {
        let receiver = |number: &u8| Receiver { key: key(*number), joined: round_key(&self.seed(*number)) };
        Setting {
            genesis: GENESIS,
            key_id: 1,
            round: self.number,
            standing: self.standing.as_ref().map(|standing| standing.outcome.clone()),
            dealers: self.dealers.iter().map(|number| key(*number)).collect(),
            players: self.players.iter().map(receiver).collect(),
        }
    }

    fn member(&self, number: u8) -> Dealing {
        self.member_of(number, self.setting())
    }

    fn member_of(&self, number: u8, setting: Setting) -> Dealing {
        let place = self.dealers.iter().position(|dealer| *dealer == number);
        let share = self.standing.as_ref().and_then(|standing| standing.shares.get(place?).cloned());
        Dealing::new(setting, Own { signer: signer(number), seed: Zeroizing::new(self.seed(number)), share }).expect("a member")
    }

    fn say(&self, of: &[u8], say: impl Fn(&Dealing) -> Vec<u8>) -> Messages {
        let messages: Messages = (0..).zip(of).map(|(index, number)| (index, say(&self.member(*number)))).collect();
        assert!(messages.values().all(|message| message.len() <= MESSAGE_BYTES), "every message fits an event");
        messages
    }

    fn deals(&self) -> Messages {
        self.say(&self.dealers, |member| member.deal().expect("a dealer"))
    }

    fn acks(&self, deals: &Messages) -> Messages {
        self.say(&self.players, |member| member.acknowledge(deals).expect("a player"))
    }

    fn logs(&self, acks: &Messages) -> Messages {
        self.say(&self.dealers, |member| member.log(acks).expect("a dealer"))
    }

    /// What all players come to, where they come to one outcome.
    fn finish(&self, deals: &Messages, logs: &Messages) -> Result<Committee, DealingError> {
        let mut shares = Vec::new();
        let mut common: Option<Outcome> = None;
        for number in &self.players {
            let (outcome, share) = self.member(*number).finish(deals, logs)?;
            assert_eq!(*common.get_or_insert(outcome.clone()), outcome, "all come to one outcome");
            shares.push(share.expect("a player has a share"));
        }
        let outcome = common.expect("there are players");
        let standing = self.standing.as_ref().map(|standing| *standing.outcome.master());
        outcome.check(self.players.len(), standing.as_ref()).expect("the chain accepts it");
        Ok(Committee { members: self.players.clone(), outcome, shares })
    }

    fn run(&self) -> Committee {
        let deals = self.deals();
        let logs = self.logs(&self.acks(&deals));
        self.finish(&deals, &logs).expect("all keep to the rules")
    }
}

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([5; 32])
}

fn identity() -> Identity {
    let (account, name_hash, policy_hash) = (Address([1; 20]), Hash([2; 32]), Hash([3; 32]));
    Identity { kind: Kind::Secret, genesis: GENESIS, key_id: 1, account, name_hash, version: 1, policy_hash }
}

/// The signatures that members of a committee give for an identity, to one transport key.
fn answers(committee: &Committee, members: impl IntoIterator<Item = usize>) -> Vec<(u16, PointG1)> {
    let transport = TransportSecret::random(&mut rng());
    members
        .into_iter()
        .map(|member| {
            let index = u16::try_from(member).expect("few");
            let share_key = share_key(&committee.outcome.polynomial, index).expect("a member");
            let partial = answer(&mut rng(), &committee.shares[member], &identity(), &transport.key().key);
            (index, transport.share(&identity(), &share_key, &partial).expect("the answer holds"))
        })
        .collect()
}

/// Any members that suffice open what was sealed to the key; one fewer do not.
fn opens(committee: &Committee, secret: &cowboy_secrets::Sealed, value: &[u8]) {
    let needed = threshold(committee.members.len());
    for from in 0..=committee.members.len() - needed {
        let shares = answers(committee, from..from + needed);
        let signature = combine(&committee.outcome.polynomial, &identity(), &shares).expect("they suffice");
        assert_eq!(&open(secret, &signature).expect("it opens")[..], value);
        assert!(combine(&committee.outcome.polynomial, &identity(), &shares[1..]).is_err(), "one fewer are too few");
    }
}

/// a secret survives three dealings among disjoint committees; the key stays, and every message fits an event.
#[test]
fn a_secret_survives_its_committees() {
    for count in [4u8, 7, 16] {
        let members = |from: u8| from * count..(from + 1) * count;
        let mut committee = Round::first(members(0)).run();
        let master = *committee.outcome.master();
        let secret = seal(&mut rng(), &master, identity(), b"sk-1234").expect("it is short");
        opens(&committee, &secret, b"sk-1234");
        for number in 1..=3u8 {
            committee = Round::next(&committee, members(number), u64::from(number) + 1).run();
            assert_eq!((*committee.outcome.master(), committee.outcome.polynomial.len()), (master, threshold(usize::from(count))));
            assert!(committee.outcome.revealed.is_empty());
        }
        opens(&committee, &secret, b"sk-1234");
    }
}

/// A committee may grow and shrink: how many have to answer follows from its members.
#[test]
fn committees_grow_and_shrink() {
    let first = Round::first(0..7).run();
    let grown = Round::next(&first, 4..20, 2).run();
    let shrunk = Round::next(&grown, 0..4, 3).run();
    assert_eq!((grown.outcome.polynomial.len(), shrunk.outcome.polynomial.len()), (11, 3));
    let secret = seal(&mut rng(), first.outcome.master(), identity(), b"x").expect("it is short");
    opens(&shrunk, &secret, b"x");
}

/// A member that begins again says what it said before, and nobody else can say it.
#[test]
fn all_follows_from_the_seed() {
    let committee = Round::first(0..4).run();
    let round = Round::next(&committee, 2..7, 2);
    let deals = round.deals();
    assert_eq!(round.deals(), deals);
    let acks = round.acks(&deals);
    assert_eq!(round.acks(&deals), acks);
    assert_eq!(round.logs(&acks), round.logs(&acks));
    let other = Own { signer: signer(committee.members[0]), seed: Zeroizing::new([99; 32]), share: Some(committee.shares[0].clone()) };
    assert_ne!(Dealing::new(round.setting(), other).expect("a member").deal().expect("a dealer"), deals[&0]);
    let without = Own { signer: signer(committee.members[0]), seed: Zeroizing::new([1; 32]), share: None };
    assert_eq!(Dealing::new(round.setting(), without).expect("a member").deal(), Err(DealingError::Share));
    let wrong = Own { signer: signer(committee.members[0]), seed: Zeroizing::new([1; 32]), share: Some(committee.shares[1].clone()) };
    assert_eq!(Dealing::new(round.setting(), wrong).expect("a member").deal(), Err(DealingError::Share));
    let stranger = Own { signer: signer(50), seed: Zeroizing::new([1; 32]), share: None };
    assert_eq!(Dealing::new(round.setting(), stranger).err(), Some(DealingError::Role("member")));
}

/// The dealing of another setting with the same members, as a dealer that cheats makes it.
fn other_deal(round: &Round, dealer: u8, seed: u8, standing: Option<&Committee>) -> Vec<u8> {
    let place = round.dealers.iter().position(|number| *number == dealer).expect("a dealer");
    let share = standing.and_then(|standing| standing.shares.get(place).cloned());
    let own = Own { signer: signer(dealer), seed: Zeroizing::new([seed; 32]), share };
    let setting = Setting { standing: standing.map(|standing| standing.outcome.clone()), ..round.setting() };
    Dealing::new(setting, own).expect("a member").deal().expect("a dealer")
}

/// A dealer that cheats is left out, or its dealing counts as it stands on the chain: the others come to one outcome.
#[test]
fn a_dealer_that_cheats_changes_nothing() {
    let standing = Round::first(0..4).run();
    let round = Round::next(&standing, 10..17, 2);
    let honest = round.deals();
    let cheat = round.dealers[1];
    let decoded = Deal::decode(honest[&1].clone()).expect("a deal");
    let with_commitment = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = decoded.commitment.to_vec();
        change(&mut bytes);
        Deal { commitment: cowboy_types::Blob::new(bytes).expect("short"), shares: decoded.shares.clone() }.encode().to_vec()
    };
    let coefficient = honest[&0].clone();
    let coefficient = Deal::decode(coefficient).expect("a deal").commitment[1..97].to_vec();
    let swapped = Deal {
        commitment: decoded.commitment.clone(),
        shares: List::new(decoded.shares.iter().rev().cloned().collect()).expect("as many"),
    };
    let rows: [(&str, Vec<u8>); 7] = [
        (
            "a lower degree",
            with_commitment(&|bytes| {
                bytes[0] -= 1;
                bytes.truncate(bytes.len() - 96);
            }),
        ),
        (
            "a higher degree",
            with_commitment(&|bytes| {
                bytes[0] += 1;
                bytes.extend_from_slice(&coefficient);
            }),
        ),
        (
            "a top coefficient of zero",
            with_commitment(&|bytes| {
                let top = bytes.len() - 96;
                bytes[top..].fill(0);
                bytes[top] = 0xC0;
            }),
        ),
        ("another constant", other_deal(&Round::first(round.dealers.clone()), cheat, 9, None)),
        ("shares of others", swapped.encode().to_vec()),
        ("no bytes of a deal", vec![1, 2, 3]),
        ("nothing", Vec::new()),
    ];
    for (case, deal) in rows {
        let mut deals = honest.clone();
        if deal.is_empty() {
            deals.remove(&1)
        } else {
            deals.insert(1, deal)
        };
        let acks = round.acks(&deals);
        let logs = round.logs(&acks);
        let next = round.finish(&deals, &logs).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert!(!next.outcome.dealers.contains(&key(cheat)), "{case}");
    }
}

/// A dealer that deals one polynomial on the chain and signs the log of another is dropped by everybody.
#[test]
fn a_dealer_that_deals_twice_is_dropped() {
    let standing = Round::first(0..4).run();
    let round = Round::next(&standing, 10..14, 2);
    let mut deals = round.deals();
    deals.insert(1, other_deal(&round, round.dealers[1], 9, Some(&standing)));
    let logs = round.logs(&round.acks(&deals));
    let next = round.finish(&deals, &logs).expect("three dealers suffice");
    assert!(!next.outcome.dealers.contains(&key(round.dealers[1])));
}

/// Fewer than a third stop in any phase. Who acknowledges nothing has a public share, and nobody loses the key.
#[test]
fn some_stop_in_any_phase() {
    let standing = Round::first(0..7).run();
    let secret = seal(&mut rng(), standing.outcome.master(), identity(), b"x").expect("it is short");
    let round = Round::next(&standing, 10..17, 2);
    let without =
        |messages: &Messages| messages.iter().filter(|(index, _)| **index >= 2).map(|(index, bytes)| (*index, bytes.clone())).collect();
    for phase in ["deal", "ack", "log"] {
        let mut deals = round.deals();
        if phase == "deal" {
            deals = without(&deals);
        }
        let mut acks = round.acks(&deals);
        if phase == "ack" {
            acks = without(&acks);
        }
        let mut logs = round.logs(&acks);
        if phase == "log" {
            logs = without(&logs);
        }
        let next = round.finish(&deals, &logs).unwrap_or_else(|error| panic!("{phase}: {error}"));
        let revealed: &[u16] = if phase == "ack" { &[0, 1] } else { &[] };
        assert_eq!(next.outcome.revealed[..], *revealed, "{phase}");
        opens(&next, &secret, b"x");
    }
    let deals: Messages = round.deals().into_iter().skip(3).collect();
    let logs = round.logs(&round.acks(&deals));
    assert!(matches!(round.finish(&deals, &logs), Err(DealingError::Outcome(_))), "four dealers of seven are too few");
}

/// Too few members of one committee and too few of the next have shares of different polynomials: together they open nothing.
#[test]
fn shares_of_two_committees_do_not_add_up() {
    let first = Round::first(0..4).run();
    let second = Round::next(&first, 4..8, 2).run();
    let mut shares = answers(&first, 0..2);
    shares.extend(answers(&second, 2..4));
    for polynomial in [&first.outcome.polynomial, &second.outcome.polynomial] {
        assert!(combine(polynomial, &identity(), &shares).is_err());
    }
}

/// The outcome on the chain is all that the next dealing needs of the last one.
#[test]
fn an_outcome_is_an_output() {
    let round = Round::first(0..7);
    let deals = round.deals();
    let logs = round.logs(&round.acks(&deals));
    let member = round.member(round.players[0]);
    let (player, _) = member.receive(&deals).expect("a player");
    let (output, _) = player.finalize::<N3f1>(&mut rng(), member.logs(&deals, &logs), &Sequential).expect("all keep to the rules");
    let outcome = output::to_outcome(&output);
    let members: Vec<Fixed<32>> = round.players.iter().map(|number| key(*number)).collect();
    assert_eq!(output::to_output(&outcome, &members), Some(output));
    let changed = Outcome { revealed: List::new(vec![9]).expect("one"), ..outcome };
    assert_eq!(output::to_output(&changed, &members), None, "nobody has the index");
}
