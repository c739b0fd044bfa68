//! Records that break a rule are found by it: one changed record a row, and the rule that it breaks.

mod government;
mod market;
mod volumes;

use bytes::Bytes;
use commonware_codec::conformance::generate_value;
use commonware_codec::{DecodeExt, Encode};
use cowboy_chain::StateKey;
use cowboy_secrets::Outcome;
use cowboy_secrets::dealing::Phase;
use cowboy_state::records::{Actor, Mailbox, Message, Supply, Timer, TimerBook, TimerRent, Vesting, VestingClaim, keys};
use cowboy_state::{Directory, Key, Kind, World};
use cowboy_system::containers::state::Image;
use cowboy_system::entitlements::state::{Assignment, Grantor, Holder, Permission, Role};
use cowboy_system::gateways::types::{Gateway, Hold, Holds, Request};
use cowboy_system::names::domains::DomainClaim;
use cowboy_system::names::types::Registration;
use cowboy_system::records::{Broken, Records};
use cowboy_system::secrets::types::{Committee, Proxy, ReleaseKey, Vault};
use cowboy_system::storage::types::{Dormancy, RentAccount};
use cowboy_system::tee::types::Attestation;
use cowboy_system::tokens::state::{Allowed, Token, Units};
use cowboy_system::{basefee, containers, entitlements, gateways, governance, names, secrets, storage, tee, timers, tokens, treasury};
use cowboy_testkit::chain::{Chain, address};
use cowboy_testkit::market::Market;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, List};
use std::collections::BTreeMap;

/// A state whose records a row changes.
#[derive(Clone)]
struct State(BTreeMap<StateKey, Bytes>);

impl State {
    fn put(&mut self, key: &Key, record: &impl Encode) {
        self.bytes(key, &record.encode());
    }

    fn bytes(&mut self, key: &Key, body: &[u8]) {
        self.0.insert(key.digest(), key.seal(body));
    }

    fn drop(&mut self, key: &Key) {
        self.0.remove(&key.digest()).expect("the record is there");
    }

    fn change<T: DecodeExt<()> + Encode>(&mut self, key: &Key, change: impl FnOnce(&mut T)) {
        let (_, body) = Key::open(&self.0[&key.digest()]).expect("records are sealed");
        let mut record = T::decode(body).expect("a record");
        change(&mut record);
        self.put(key, &record);
    }

    /// A random record, changed, in the place of what stood there.
    fn make<T: for<'a> arbitrary::Arbitrary<'a> + commonware_codec::Codec<Cfg = ()>>(&mut self, key: &Key, change: impl FnOnce(&mut T)) {
        let mut record: T = generate_value(7);
        change(&mut record);
        self.put(key, &record);
    }

    /// Adds a name to a directory.
    fn insert(&mut self, directory: Directory, name: &[u8]) {
        let mut world = World::default();
        while let Err(miss) = directory.insert(&mut world, name) {
            for digest in world.want(miss) {
                world.fill(&digest, self.0.get(&digest).cloned());
            }
        }
        let writes = world.writes().into_iter().filter_map(|(digest, stored)| Some((digest, stored?)));
        self.0.extend(writes);
    }

    /// Takes all CBY of an address.
    fn empty(&mut self, address: Address) {
        self.0.remove(&Key::account(address).digest());
    }
}

type Check = fn(&Records<'_>) -> Result<(), Broken>;
type Row<'a> = (&'static str, &'a dyn Fn(&mut State));

/// Each row changes a sound state, and breaks its rule.
fn each_breaks(state: &BTreeMap<StateKey, Bytes>, height: Height, check: Check, rows: &[Row<'_>]) {
    let rule_of = |state: &State| Records::open(&state.0, height).and_then(|records| check(&records)).map_err(|broken| broken.rule);
    assert_eq!(rule_of(&State(state.clone())), Ok(()), "the state is sound");
    for (rule, change) in rows {
        let mut state = State(state.clone());
        change(&mut state);
        assert_eq!(rule_of(&state), Err(*rule), "the changed record is found");
    }
}

fn of(number: u8, name: &[u8]) -> Key {
    Key::named(Kind::System, Address::system(number), name.to_vec())
}

fn list<T, const MAX: usize>(items: Vec<T>) -> List<T, MAX> {
    List::new(items).expect("few fit")
}

const WHO: Address = Address([7; 20]);
const ID: Hash = Hash([9; 32]);

#[test]
fn records_stand_where_they_say() {
    let chain = Chain::new();
    each_breaks(
        &chain.state,
        chain.height,
        |_| Ok(()),
        &[
            ("every record is sealed", &|state| drop(state.0.insert(StateKey([1; 32]), Bytes::from_static(b"\xff")))),
            ("every record stands under the digest of the key it names", &|state| {
                state.0.insert(StateKey([1; 32]), Key::account(WHO).seal(b""));
            }),
        ],
    );
}

#[test]
fn records_of_secrets() {
    let chain = crate::secrets::released();
    let (account, name, of_committee) = (address(1), Hash([8; 32]), secrets::state::committee_key(1, Count(1)));
    let committee = |change: fn(&mut Committee)| move |state: &mut State| state.change(&secrets::state::committee_key(1, Count(1)), change);
    let outcome = |change: fn(&mut Outcome)| {
        move |state: &mut State| {
            state.change(&secrets::state::committee_key(1, Count(1)), |committee: &mut Committee| {
                let mut outcome = Outcome::decode(committee.outcome.bytes().clone()).expect("an outcome");
                change(&mut outcome);
                committee.outcome = cowboy_types::Blob::new(outcome.encode()).expect("short");
            });
        }
    };
    let fewer = |members: &mut Committee, count: usize| {
        let kept = members.members.iter().take(count).cloned().collect();
        members.members = list(kept);
    };
    each_breaks(
        &chain.state,
        chain.height,
        secrets::invariants::check,
        &[
            ("the stakes, deposits, fees and bonds of 0x04 are there", &|state| state.empty(Address::system(secrets::NUMBER))),
            ("every proxy is listed", &|state| state.insert(secrets::state::proxies(), &WHO.0)),
            ("the agenda has every key and every release", &|state| {
                state.change(&secrets::state::release_key(1), |key: &mut ReleaseKey| key.next_look = Height(1));
            }),
            (
                "a committee holds the key that it is named after",
                &outcome(|outcome| {
                    let turned = outcome.polynomial.iter().rev().copied().collect();
                    outcome.polynomial = list(turned);
                }),
            ),
            ("a committee has enough members", &move |state| {
                state.change(&of_committee, |committee: &mut Committee| fewer(committee, 3));
            }),
            (
                "a committee has a coefficient for each member that has to answer",
                &outcome(|outcome| {
                    let fewer = outcome.polynomial.iter().take(2).copied().collect();
                    outcome.polynomial = list(fewer);
                }),
            ),
            ("enough members of a committee have a share", &committee(|committee| committee.confirmed = 0b0011)),
            ("a proxy lists the demands on it", &|state| {
                state.change(&secrets::state::proxy_key(address(2)), |proxy: &mut Proxy| proxy.demands = list(vec![ID]));
            }),
            ("every message belongs to a dealing", &|state| state.bytes(&secrets::state::message_key(1, Phase::Deal, 0), &[1])),
            (
                "members are in the order of their keys",
                &committee(|committee| {
                    let turned = committee.members.iter().rev().cloned().collect();
                    committee.members = list(turned);
                }),
            ),
            ("every version belongs to a secret", &|state| state.drop(&secrets::state::version_key(account, &name, Count(1)))),
            ("every version has its sealed bytes", &|state| state.drop(&secrets::state::sealed_key(account, &name, Count(1)))),
            ("an account counts its secrets", &|state| {
                state.change(&secrets::state::vault_key(account), |vault: &mut Vault| vault.secrets = Count(2));
            }),
            ("an account's secrets are listed", &|state| state.insert(secrets::state::secrets_of(account), &ID.0)),
            ("an account's deposit is that of its versions", &|state| {
                state.change(&secrets::state::vault_key(account), |vault: &mut Vault| vault.deposit = Amount(1));
            }),
            ("a note of an actor handed on says so", &|state| state.put(&secrets::state::handed_key(WHO), &false)),
            ("an actor handed on is noted", &|state| state.make(&Key::of(Kind::Actor, WHO), |actor: &mut Actor| actor.owner = WHO)),
        ],
    );
}

#[test]
fn records_of_the_transition() {
    let chain = Chain::new();
    let wait = |state: &mut State, is_counted: bool| {
        let message = Message { target: WHO, value: Amount::ZERO, ..generate_value(7) };
        let bytes = u64::try_from(message.payload.len() + message.handler.len()).expect("fits");
        state.put(&keys::message(0), &message);
        if is_counted {
            state.put(&Key::of(Kind::Mailbox, WHO), &Mailbox { count: Count(1), bytes: Count(bytes) });
        }
    };
    each_breaks(
        &chain.state,
        chain.height,
        cowboy_chain::invariants::check,
        &[
            ("the supply is what all records hold", &|state| state.change(&keys::supply(), |supply: &mut Supply| supply.minted.0 += 1)),
            ("the supply is what all records hold", &|state| state.empty(address(1))),
            ("a mailbox counts what waits for it", &|state| wait(state, false)),
            ("a mailbox lists what waits for it", &|state| wait(state, true)),
            ("an origin lives while messages of it are under way", &|state| {
                wait(state, true);
                state.insert(Directory::mailbox(WHO), &[0; 8]);
            }),
            ("an actor counts the bytes it stores", &|state| {
                state.bytes(&Key::storage(governance_address(), &b"stray"[..]), b"bytes");
            }),
            ("an actor lists the keys it stores", &|state| {
                state.bytes(&Key::storage(governance_address(), &b"stray"[..]), b"bytes");
                state.change(&Key::of(Kind::Actor, governance_address()), |actor: &mut Actor| actor.storage_bytes.0 += 10);
            }),
            ("a record decodes", &|state| state.bytes(&keys::supply(), b"?")),
        ],
    );
}

fn governance_address() -> Address {
    Address::system(governance::NUMBER)
}

#[test]
fn records_of_timers() {
    let chain = Chain::new();
    let stray = |state: &mut State, sequence: u64, payload: u64| {
        state.put(&keys::timers(), &TimerBook { sequence: Count(1), live: Count(1) });
        state.make(&keys::timer(&ID), |timer: &mut Timer| {
            (timer.fee_payer, timer.sequence, timer.payload_bytes) = (governance_address(), Count(sequence), Count(payload));
        });
    };
    each_breaks(
        &chain.state,
        chain.height,
        basefee::invariants::check,
        &[
            ("the chain counts its timers", &|state| state.put(&keys::timers(), &TimerBook { sequence: Count(1), live: Count(1) })),
            ("a timer has the payload that it names", &|state| stray(state, 0, 1)),
            ("a timer's place was taken", &|state| stray(state, 1, 0)),
            ("every timer is listed once by height", &|state| stray(state, 0, 0)),
            ("an actor counts its live timers", &|state| {
                state.change(&Key::of(Kind::Actor, governance_address()), |actor: &mut Actor| actor.timers_live.0 = 1);
            }),
            ("an account without timers has none listed", &|state| state.insert(Directory::timers_of(governance_address()), &ID.0)),
            ("who pays for timers lists them", &|state| {
                stray(state, 0, 0);
                let timer: Timer = generate_value(7);
                state.insert(timers::line(&timer), &timers::listing(timer.height, Count(0), &ID));
                state.change(&Key::of(Kind::Actor, governance_address()), |actor: &mut Actor| actor.timers_live.0 = 1);
            }),
            ("an actor counts the bytes of its timers", &|state| {
                state.change(&Key::of(Kind::Actor, governance_address()), |actor: &mut Actor| actor.timer_bytes.0 = 1);
            }),
        ],
    );
}

#[test]
fn records_of_tokens() {
    let chain = Chain::new();
    let token = |state: &mut State, supply: u128, most: u128| {
        state.make(&tokens::state::token_key(&ID), |token: &mut Token| (token.supply, token.max_supply) = (supply, most));
    };
    each_breaks(
        &chain.state,
        chain.height,
        tokens::invariants::check,
        &[
            ("an account without tokens has no record of them", &|state| {
                state.put(&tokens::state::balance_key(&ID, WHO), &Units { amount: 0 });
            }),
            ("a token's supply is at most its most", &|state| token(state, 2, 1)),
            ("a token's supply is the sum of its balances", &|state| token(state, 1, 1)),
            ("balances are of tokens that exist", &|state| state.put(&tokens::state::balance_key(&ID, WHO), &Units { amount: 1 })),
            ("every token is listed once", &|state| token(state, 0, 0)),
            ("a creator counts the tokens that it made", &|state| state.put(&tokens::state::made_key(WHO), &Count(1))),
            ("an allowance of nothing has no record", &|state| {
                state.put(&tokens::state::allowance_key(&ID, WHO, WHO), &Allowed { amount: 0, deposit: Amount::ZERO });
            }),
            ("0x06 has the deposits of allowances", &|state| {
                state.put(&tokens::state::allowance_key(&ID, WHO, WHO), &Allowed { amount: 1, deposit: Amount(1) });
            }),
        ],
    );
}

#[test]
fn records_of_entitlements() {
    let chain = Chain::new();
    let grant = |state: &mut State| {
        let record: Permission = generate_value(7);
        let id = cowboy_types::permission::record_id(&record.grantee, &record.scope, &record.action, record.parent_id.as_ref());
        state.put(&entitlements::state::permission(&id), &record);
        id
    };
    let hold = |state: &mut State, permissions: Vec<Hash>, roles: Vec<Hash>| {
        state.put(&entitlements::state::holder(WHO), &Holder { permissions: list(permissions), roles: list(roles) });
    };
    each_breaks(
        &chain.state,
        chain.height,
        entitlements::invariants::check,
        &[
            ("a permission stands under its id", &|state| state.make(&entitlements::state::permission(&ID), |_: &mut Permission| ())),
            ("an assignment names its role", &|state| {
                state.make(&entitlements::state::assignment(&ID, WHO), |_: &mut Assignment| ());
            }),
            ("a holder of nothing has no record", &|state| hold(state, vec![], vec![])),
            ("a holder's list names its own permissions, each once", &|state| {
                let id = grant(state);
                hold(state, vec![id], vec![]);
            }),
            ("a holder's list names its own roles, each once", &|state| hold(state, vec![], vec![ID])),
            ("permissions that stand in no holder's list are listed as open", &|state| {
                grant(state);
            }),
            ("what stands in no holder's list is counted as its grantor's", &|state| {
                state.put(&entitlements::state::grantor(WHO), &Grantor { open: Count(1) });
            }),
            ("an assignment is of a role", &|state| {
                let change = |assignment: &mut Assignment| (assignment.role, assignment.issuer) = (ID, WHO);
                state.make(&entitlements::state::assignment(&ID, WHO), change);
                state.put(&entitlements::state::grantor(WHO), &Grantor { open: Count(1) });
            }),
            ("a role counts its assignments", &|state| state.put(&entitlements::state::assigned(&ID), &Count(1))),
            ("0x07 has the deposits of roles", &|state| {
                state.make(&entitlements::state::role(&ID), |role: &mut Role| role.deposit = Amount(1));
            }),
        ],
    );
}

#[test]
fn records_of_the_treasury() {
    let chain = Chain::new();
    let claim = |amount| VestingClaim { beneficiary: None, released: Amount::from_cby(amount).expect("fits") };
    each_breaks(
        &chain.state,
        chain.height,
        treasury::invariants::check,
        &[
            ("every bucket has a schedule", &|state| state.drop(&keys::vesting("team"))),
            ("a schedule is that of genesis", &|state| state.change(&keys::vesting("team"), |team: &mut Vesting| team.total.0 += 1)),
            ("no more leaves a bucket by its schedule than the bucket", &|state| {
                // Of the treasury more may: it earns.
                state.put(&keys::vesting_claim("treasury"), &claim(500_000_000));
                state.put(&keys::vesting_claim("team"), &claim(200_000_001));
            }),
        ],
    );
}

#[test]
fn records_of_rent() {
    let chain = Chain::new();
    let dormant = |state: &mut State, chunks: u64, missing: u64| {
        state.make(&storage::state::dormancy_key(WHO), |dormancy: &mut Dormancy| {
            (dormancy.chunks, dormancy.missing) = (Count(chunks), Count(missing));
        });
    };
    each_breaks(
        &chain.state,
        chain.height,
        storage::invariants::check,
        &[
            ("every rent account is listed once, by its height", &|state| {
                state.make(&storage::state::account_key(WHO), |account: &mut RentAccount| {
                    (account.prepaid, account.bond) = Default::default()
                });
            }),
            ("0x0A has what is prepaid, for timers too, bonded and in escrow", &|state| {
                state.make(&storage::state::account_key(WHO), |account: &mut RentAccount| account.next_at = Height(9));
                state.insert(Directory::rents(), &storage::state::listing(Height(9), WHO));
            }),
            ("0x0A has what is prepaid, for timers too, bonded and in escrow", &|state| {
                state.make(&keys::timer(&ID), |timer: &mut Timer| timer.rent = Some(TimerRent { held: Amount(1), since: Height(1) }));
            }),
            ("a dormant actor counts the chunks that it misses", &|state| dormant(state, 1, 1)),
            ("no more chunks are missing than were pruned", &|state| {
                dormant(state, 0, 1);
                state.bytes(&storage::state::chunk_key(WHO, 0), &[0; 32]);
            }),
            ("who misses chunks is dormant", &|state| state.bytes(&storage::state::chunk_key(WHO, 0), &[0; 32])),
        ],
    );
}

#[test]
fn records_of_names() {
    let chain = Chain::new();
    let claim = |state: &mut State, deposit: u64| {
        state.make(&names::domains::claim_key("example.com", "mysite"), |claim: &mut DomainClaim| claim.deposit = Amount(deposit));
    };
    each_breaks(
        &chain.state,
        chain.height,
        names::invariants::check,
        &[
            ("every name is listed once", &|state| state.make(&names::state::key("mysite"), |_: &mut Registration| ())),
            ("a name is listed for no other actor than its own", &|state| state.insert(names::state::names_of_actors(), &[7; 44])),
            ("a domain counts its claims", &|state| claim(state, 0)),
            ("a name counts the domains that it claims", &|state| {
                claim(state, 0);
                state.put(&names::domains::claims_key("example.com"), &Count(1));
            }),
            ("0x0E has the deposits of claims and names", &|state| {
                claim(state, 1);
                state.put(&names::domains::claims_key("example.com"), &Count(1));
                state.put(&of(names::NUMBER, b"claimed_domains:mysite"), &Count(1));
            }),
            ("a deposit for a name's record is of a record", &|state| {
                let deposit = names::release::Deposit { payer: WHO, amount: Amount(1) };
                state.put(&names::release::key("a.mysite"), &deposit);
            }),
        ],
    );
}

#[test]
fn records_of_gateways() {
    let chain = Chain::new();
    each_breaks(
        &chain.state,
        chain.height,
        gateways::invariants::check,
        &[
            ("the stakes of gateways are there", &|state| {
                state.make(&gateways::state::gateway_key(WHO), |gateway: &mut Gateway| gateway.stake = Amount(1));
            }),
            ("who is listed as active is a gateway", &|state| state.insert(gateways::state::active(), &WHO.0)),
            ("whose stake waits for a decision is a gateway", &|state| {
                let hold = Hold { proposal: Count(1), until: Height(1) };
                state.put(
                    &gateways::state::held_key(WHO),
                    &Holds { gave_way: Height::ZERO, proposals: List::new(vec![hold]).expect("one fits") },
                );
            }),
            ("a stake that waits for no decision has no record", &|state| {
                state.make(&gateways::state::gateway_key(WHO), |gateway: &mut Gateway| gateway.stake = Amount::ZERO);
                state.put(&gateways::state::held_key(WHO), &Holds { gave_way: Height::ZERO, proposals: List::default() });
            }),
            ("every request that is remembered is listed by its height", &|state| {
                state.make(&gateways::state::request_key("one"), |_: &mut Request| ());
            }),
        ],
    );
}

#[test]
fn records_of_images_and_environments() {
    let chain = Chain::new();
    each_breaks(
        &chain.state,
        chain.height,
        containers::invariants::check,
        &[
            ("an image stands under a digest", &|state| state.make(&of(containers::NUMBER, b"image:short"), |_: &mut Image| ())),
            ("an image was decided about in a block that was", &|state| {
                state.make(&containers::state::image_key(&ID), |image: &mut Image| image.since = Height(1));
            }),
        ],
    );
    let market = Market::new(1);
    let attest = |state: &mut State, at: u64, who: Address, is_known: bool| {
        let attestation: Attestation = generate_value(7);
        let policy = tee::state::policy_key(&tee::state::policy_id(&attestation.environment, &attestation.measurement));
        state.put(&tee::state::attestation_key(who), &Attestation { at: Height(at), valid_until: Height(1), ..attestation });
        if is_known {
            state.bytes(&policy, b"");
        }
    };
    each_breaks(
        &market.chain.state,
        Height(9),
        tee::invariants::check,
        &[
            ("who attested an environment is a runner", &|state| attest(state, 1, WHO, true)),
            ("governance decided about an attested program", &|state| attest(state, 1, address(10), false)),
            ("an attestation was made before it lapses", &|state| attest(state, 2, address(10), true)),
        ],
    );
}
