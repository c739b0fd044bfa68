//! Permissions that their holder did not accept yet, and whose pools and namespaces are (decisions 180, 332).

use super::permissions::{
    Permissions, accept_from, delegating, grant_argument, granting, id_argument, id_of, making, method, name, of, paint, passable,
    revoking, space,
};
use commonware_codec::Encode as _;
use cowboy_system::entitlements::state;
use cowboy_testkit::chain::{Chain, address, execution, parameters};
use cowboy_types::cbor::{self, Value};
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::permission::{Action, Constraints, Name, Scope, record_id, role_id};
use cowboy_types::units::Height;
use cowboy_types::{Address, Hash, List, error};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] =
    cowboy_testkit::scenarios![nobody_fills_anothers_list, unaccepted_records_lapse, a_name_names_its_owners_pool];

fn is_member(chain: &mut Chain, runner: u8, pool: &Name) -> bool {
    let argument = Value::map([("runner", Value::Bytes(address(runner).0.to_vec())), ("pool", Value::Bytes(pool.to_vec()))]);
    let receipt = chain.send(8, execution(Address::system(7), "is_member", &argument.encode(), 0));
    cbor::decode(&receipt.return_data) == Ok(Value::Bool(true))
}

/// Decisions 180 and 332: junk grants take their grantor's places and none of the holder's, whoever is granted something else has it at once,
/// and the holder accepts, refuses and gives up as it likes.
#[test]
fn nobody_fills_anothers_list() {
    let rows = [("entitlements.records_per_address", 2), ("entitlements.roles_per_address", 1), ("entitlements.open_per_grantor", 5)];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    let none = Constraints::default();
    let junk = |place: u8| Scope::Namespace { name: of(3, &format!("junk{place}")) };
    let filled: Vec<_> = (0..6).map(|place| chain.send(3, granting(address(2), &junk(place), &paint(), &none)).abort).collect();
    assert_eq!(filled, [None, None, None, None, None, Some(error::TOO_MANY_PERMISSIONS)], "the grantor's places are used up");
    let role = |chain: &mut Chain, from: u8, label: &str| {
        let scope = Scope::Namespace { name: of(from, "art") };
        let role = id_of(&chain.send(from, making(label, vec![scope], vec![paint()], &Constraints::default())));
        (role, Instruction::System(System::EntitlementAssignRole { role_id: role, assignee: address(2) }))
    };
    let (_, more) = role(&mut chain, 3, "junk");
    assert_eq!(chain.send(3, more).abort, Some(error::TOO_MANY_PERMISSIONS), "roles count with them");
    let wanted = id_of(&chain.send(1, granting(address(2), &space("art"), &paint(), &none)));
    assert!(chain.allows(address(2), &space("art"), &paint()), "it has effect at once");
    assert_eq!(chain.uses(1, address(2), &paint(), 1), None);
    assert_eq!(chain.record::<state::Holder>(&state::holder(address(2))), None, "and takes no place");
    assert_eq!(method(&mut chain, 4, "accept", id_argument("entitlement_id", &wanted)), Some(error::GRANT_UNAUTHORIZED));
    for _ in 0..2 {
        assert_eq!(method(&mut chain, 2, "accept", id_argument("entitlement_id", &wanted)), None, "once or again");
    }
    assert_eq!(chain.record::<state::Holder>(&state::holder(address(2))).map(|held| held.permissions.to_vec()), Some(vec![wanted]));
    let refused = record_id(&address(2), &junk(0), &paint(), None);
    assert_eq!(method(&mut chain, 2, "renounce", id_argument("entitlement_id", &refused)), None);
    assert!(chain.send(3, granting(address(4), &junk(0), &paint(), &none)).is_success(), "the grantor has the place again");
    let fixed = Constraints { revocable: false, ..Constraints::default() };
    accept_from(&mut chain, 2, 1, true);
    let bound = id_of(&chain.send(1, granting(address(2), &space("war"), &paint(), &fixed)));
    assert_eq!(
        chain.send(1, granting(address(2), &space("sea"), &paint(), &none)).abort,
        Some(error::TOO_MANY_PERMISSIONS),
        "the holder's are full"
    );
    assert_eq!(method(&mut chain, 2, "renounce", id_argument("entitlement_id", &bound)), None, "what its grantor may not take back, too");
    assert!(!chain.allows(address(2), &space("war"), &paint()));
    accept_from(&mut chain, 2, 1, false);
    let (mine, assign) = role(&mut chain, 1, "painter");
    assert!(chain.send(1, assign).is_success());
    for name in ["accept_role", "renounce_role"] {
        assert_eq!(method(&mut chain, 2, name, id_argument("role_id", &mine)), None);
    }
    assert_eq!(method(&mut chain, 2, "renounce_role", id_argument("role_id", &mine)), Some(error::ROLE_NOT_FOUND));
}

/// A permission that is over cannot be accepted, not even one that its holder had among its own: the list would name a record that is gone.
#[test]
fn what_is_over_is_not_accepted() {
    let mut chain = Chain::new();
    let soon = Constraints { valid_until: Some(Height(chain.height.0 + 2)), ..Constraints::default() };
    let own = id_of(&chain.send(1, granting(address(1), &space("art"), &paint(), &soon)));
    chain.idle(3);
    assert_eq!(method(&mut chain, 1, "accept", id_argument("entitlement_id", &own)), Some(error::PERMISSION_NOT_FOUND));
    assert!(chain.send(1, granting(address(1), &space("sea"), &paint(), &Constraints::default())).is_success());
}

/// Decision 180: what its holder did not accept lapses, and what it accepted does not.
#[test]
fn unaccepted_records_lapse() {
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[("entitlements.open_lapse", 100)]));
    let (pool, join) = (Scope::RunnerPool { pool: of(1, "eu") }, Action::RunnerJoinPool { pool: of(1, "eu") });
    let mut ids = Vec::new();
    for holder in [2, 3] {
        let constraints = passable(1);
        ids.push(id_of(&chain.send(1, granting(address(holder), &space("art"), &paint(), &constraints))));
        ids.push(id_of(&chain.send(1, granting(address(holder), &pool, &join, &Constraints::default()))));
        ids.push(id_of(&chain.send(holder, delegating(ids[ids.len() - 2], address(holder + 2), &Constraints::default()))));
    }
    for id in &ids[3..5] {
        assert_eq!(method(&mut chain, 3, "accept", id_argument("entitlement_id", id)), None);
    }
    assert_eq!(method(&mut chain, 5, "accept", id_argument("entitlement_id", &ids[5])), None);
    let seen = |chain: &mut Chain| {
        let arts: Vec<bool> = (2..6).map(|holder| chain.allows(address(holder), &space("art"), &paint())).collect();
        (arts, [2, 3].map(|runner| is_member(chain, runner, &of(1, "eu"))))
    };
    assert_eq!(seen(&mut chain), (vec![true; 4], [true; 2]));
    chain.height = Height(chain.height.0 + 100);
    assert_eq!(seen(&mut chain), (vec![false, true, false, true], [false, true]));
    assert_eq!(ids.iter().map(|id| chain.permission(id).is_some()).collect::<Vec<_>>(), [false, false, false, true, true, true]);
}

/// Decisions 180 and 580: a pool with a plain name is whose the name is in the Route Registry; nobody is first in another's, and members that its
/// owner admitted are members while it is the owner.
#[test]
fn a_name_names_its_owners_pool() {
    let mut chain = Chain::new();
    let pool = Scope::RunnerPool { pool: name("coinbase") };
    let grant = granting(address(5), &pool, &Action::RunnerJoinPool { pool: name("coinbase") }, &Constraints::default());
    assert_eq!(chain.send(2, grant.clone()).abort, Some(error::GRANT_UNAUTHORIZED), "nobody's");
    let site = chain.deploy_with("handler http.request\n return 'x'\n", &[("ingress.http", &[])], 0);
    let argument = Value::map([
        ("actor_address", Value::Bytes(site.0.to_vec())),
        ("duration_blocks", Value::uint(31_536_000)),
        ("name", Value::text("coinbase")),
    ]);
    assert_eq!(chain.send(1, execution(Address::system(0x0E), "register", &argument.encode(), 1_000_000_000_000)).abort, None);
    assert_eq!(chain.send(2, grant.clone()).abort, Some(error::GRANT_UNAUTHORIZED));
    let admitted = id_of(&chain.send(1, grant.clone()));
    assert_eq!(method(&mut chain, 5, "accept", id_argument("entitlement_id", &admitted)), None);
    assert!(is_member(&mut chain, 5, &name("coinbase")));
    chain.height = Height(chain.height.0 + 40_000_000);
    assert!(!is_member(&mut chain, 5, &name("coinbase")), "whoever admitted it owns no pool");
    assert_eq!(chain.send(1, grant).abort, Some(error::GRANT_UNAUTHORIZED), "the name has run out");
}

/// A list that names a record which is gone stops no block: what is gone is dropped from it.
#[test]
fn a_record_that_is_gone_is_dropped() {
    let mut chain = Chain::with(|_| {});
    accept_from(&mut chain, 2, 1, true);
    let role = id_of(&chain.send(1, making("r", vec![space("s")], vec![paint()], &Constraints::default())));
    let gone = || List::new(vec![Hash([9; 32])]).expect("fits");
    let key = state::holder(address(2));
    let put = |chain: &mut Chain, holder: &state::Holder| chain.state.insert(key.digest(), key.seal(&holder.encode()));
    put(&mut chain, &state::Holder { permissions: gone(), roles: List::default() });
    assert!(chain.send(1, granting(address(2), &space("s"), &paint(), &Constraints::default())).is_success());
    let held: state::Holder = chain.record(&key).expect("kept");
    assert_eq!((held.permissions.len(), held.permissions.contains(&Hash([9; 32]))), (1, false));
    put(&mut chain, &state::Holder { roles: gone(), ..held });
    assert!(chain.send(1, Instruction::System(System::EntitlementAssignRole { role_id: role, assignee: address(2) })).is_success());
    assert_eq!(chain.record::<state::Holder>(&key).expect("kept").roles.to_vec(), [role]);
}

/// Decision 571: who gave away what a role is about has given away its role with it.
#[test]
fn a_role_ends_with_its_creators_authority() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler x\n");
    let scope = Scope::Actor { actor };
    let made = chain.send(1, making("painter", vec![scope.clone()], vec![paint()], &Constraints::default()));
    let role = id_of(&made);
    assert!(chain.send(1, Instruction::System(System::EntitlementAssignRole { role_id: role, assignee: address(4) })).is_success());
    assert_eq!(method(&mut chain, 4, "accept_role", id_argument("role_id", &role)), None);
    assert!(chain.allows(address(4), &scope, &paint()));
    assert!(chain.send(1, Instruction::System(System::TransferActorOwnership { actor, owner: address(2) })).is_success());
    assert!(!chain.allows(address(4), &scope, &paint()), "its new owner never allowed it");
}

/// Decision 580: so it is with a permission and all that was passed on of it, also where nobody may take it back, and it is not in the way of the
/// new owner's.
#[test]
fn a_permission_ends_with_its_issuers_authority() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler x\n");
    let scope = Scope::Actor { actor };
    let fixed = Constraints { revocable: false, ..passable(2) };
    let id = id_of(&chain.send(1, granting(address(4), &scope, &paint(), &fixed)));
    assert!(chain.send(4, delegating(id, address(5), &Constraints::default())).is_success());
    let allowed = |chain: &mut Chain| [4, 5].map(|holder| chain.allows(address(holder), &scope, &paint()));
    assert_eq!(allowed(&mut chain), [true, true]);
    let transfer = |owner: u8| Instruction::System(System::TransferActorOwnership { actor, owner: address(owner) });
    assert!(chain.send(1, transfer(2)).is_success());
    assert_eq!(allowed(&mut chain), [false, false], "its new owner never allowed it");
    let more = delegating(id, address(6), &Constraints::default());
    assert_eq!(chain.send(4, more).abort, Some(error::PERMISSION_UNUSABLE));
    assert!(chain.send(2, transfer(1)).is_success());
    assert_eq!(allowed(&mut chain), [true, true], "it counts while its issuer rules the scope");
    assert_eq!(chain.send(1, revoking(id)).abort, Some(error::NOT_REVOCABLE));
    assert!(chain.send(1, transfer(2)).is_success());
    assert_eq!(id_of(&chain.send(2, granting(address(4), &scope, &paint(), &fixed))), id, "the new owner's takes its place");
    assert_eq!(allowed(&mut chain), [true, false], "what was passed on was of the other grant");
    assert!(chain.send(2, transfer(3)).is_success());
    assert!(chain.send(3, revoking(id)).is_success(), "what binds nobody is removed by whoever rules the scope");
    assert_eq!(chain.permission(&id), None);
}

/// Decision 580: what was passed on ends when its source is revoked or replaced, whatever is granted afterwards.
#[test]
fn delegations_end_with_their_grant() {
    let mut chain = Chain::new();
    let grant = |constraints: &Constraints| granting(address(2), &space("art"), &paint(), constraints);
    for (case, is_revoked, constraints) in [
        ("revoked, granted again as before", true, passable(1)),
        ("revoked, granted again not to be passed on", true, Constraints::default()),
        ("replaced by one not to be passed on", false, Constraints::default()),
    ] {
        let id = id_of(&chain.send(1, grant(&passable(1))));
        assert!(chain.send(2, delegating(id, address(3), &Constraints::default())).is_success(), "{case}");
        assert!(chain.allows(address(3), &space("art"), &paint()), "{case}");
        assert!(!is_revoked || chain.send(1, revoking(id)).is_success(), "{case}");
        assert_eq!(id_of(&chain.send(1, grant(&constraints))), id, "{case}");
        let allowed = [2, 3].map(|holder| chain.allows(address(holder), &space("art"), &paint()));
        assert_eq!(allowed, [true, false], "{case}");
        assert_eq!(chain.uses(1, address(3), &paint(), 0), Some(error::MISSING_ENTITLEMENT), "{case}");
    }
}

/// A role that is assigned again before it was accepted counts as whose who assigned it last: else the first grantor's place would stay taken for good.
#[test]
fn a_role_that_is_assigned_again_counts_once() {
    let mut chain = Chain::with(|genesis| genesis.deployers = List::new(vec![address(9)]).expect("one fits"));
    let role = id_of(&chain.send(1, making("painter", vec![space("art")], vec![paint()], &Constraints::default())));
    let assign = || Instruction::System(System::EntitlementAssignRole { role_id: role, assignee: address(2) });
    let open = |chain: &Chain| {
        [1, 9].map(|grantor| chain.record::<state::Grantor>(&state::grantor(address(grantor))).map_or(0, |grantor| grantor.open.0))
    };
    for (from, expected) in [(1, [1, 0]), (1, [1, 0]), (9, [0, 1])] {
        assert!(chain.send(from, assign()).is_success(), "{from}");
        assert_eq!(open(&chain), expected, "{from}");
    }
    assert_eq!(method(&mut chain, 2, "accept_role", id_argument("role_id", &role)), None);
    assert!(chain.send(1, assign()).is_success());
    assert_eq!(open(&chain), [0, 0], "one that is accepted is nobody's");
}

/// An actor that calls the registry as its callers say.
fn granting_actor(chain: &mut Chain) -> Address {
    let call =
        |name: &str| format!("handler {name}\n try call 0x0000000000000000000000000000000000000007 '{name}' $payload 0\n return $last\n");
    chain.deploy(&["grant", "delegate", "create_role", "assign_role"].map(call).concat())
}

fn pass_to(chain: &mut Chain, from: u8, actor: Address, owner: Address) {
    assert!(chain.send(from, Instruction::System(System::TransferActorOwnership { actor, owner })).is_success());
}

/// Decision 596: what an actor granted and passed on ends when another account rules the actor, directly or by way of an actor that owns it, also where
/// nobody may take it back. Who holds what the actor itself holds is not touched.
#[test]
fn what_an_actor_granted_ends_with_its_sale() {
    let mut chain = Chain::new();
    let (actor, above) = (granting_actor(&mut chain), chain.deploy("handler above\n"));
    let own = Scope::Actor { actor };
    let fixed = |depth: u8| Constraints { revocable: false, ..passable(depth) };
    let grant = grant_argument(address(4), &own, &paint(), &fixed(2)).encode();
    let id = record_id(&address(4), &own, &paint(), None);
    assert!(chain.call(actor, "grant", &grant).is_success());
    assert!(chain.send(4, delegating(id, address(5), &fixed(1))).is_success());
    let held = id_of(&chain.send(1, granting(actor, &space("art"), &paint(), &fixed(2))));
    let passed = [
        ("constraints", Value::Bytes(fixed(1).encode().to_vec())),
        ("delegatee", Value::Bytes(address(6).0.to_vec())),
        ("entitlement_id", Value::Bytes(held.0.to_vec())),
    ];
    assert!(chain.call(actor, "delegate", &Value::dict(passed).encode()).is_success());
    let allowed = |chain: &mut Chain| {
        let own = [4, 5].map(|holder| chain.allows(address(holder), &own, &paint()));
        (own, chain.allows(address(6), &space("art"), &paint()), chain.allows(actor, &space("art"), &paint()))
    };
    assert_eq!(allowed(&mut chain), ([true, true], true, true));
    pass_to(&mut chain, 1, actor, above);
    assert_eq!(allowed(&mut chain), ([true, true], true, true), "the same account rules it");
    assert_eq!(chain.send(1, revoking(id)).abort, Some(error::GRANT_UNAUTHORIZED), "as its owner's owner it is nobody");
    pass_to(&mut chain, 1, above, address(2));
    assert_eq!(allowed(&mut chain), ([false, false], false, true), "its new ruler never allowed it");
    assert!(chain.call(actor, "grant", &grant).is_success(), "what binds nobody is in nobody's way");
    assert_eq!(allowed(&mut chain), ([true, false], false, true));
    // An actor that owns itself, by way of another, is nobody's, and grants nothing.
    pass_to(&mut chain, 2, above, actor);
    assert_eq!(allowed(&mut chain), ([false, false], false, true));
    let refused = grant_argument(address(7), &own, &paint(), &Constraints::default()).encode();
    assert_eq!(chain.call(actor, "grant", &refused).return_data[..], *b"grant_unauthorized");
}

/// Decision 596: so it is with a role that an actor made, which nobody can assign any more.
#[test]
fn a_role_ends_with_the_sale_of_the_actor_that_made_it() {
    let mut chain = Chain::new();
    let actor = granting_actor(&mut chain);
    let own = Scope::Actor { actor };
    let (scopes, actions): (List<Scope, 16>, List<Action, 16>) =
        (List::new(vec![own.clone()]).expect("few"), List::new(vec![paint()]).expect("few"));
    let fixed = Constraints { revocable: false, ..Constraints::default() };
    let made = [
        ("actions", Value::Bytes(actions.encode().to_vec())),
        ("constraints", Value::Bytes(fixed.encode().to_vec())),
        ("name", Value::Bytes(b"painter".to_vec())),
        ("scopes", Value::Bytes(scopes.encode().to_vec())),
    ];
    assert!(chain.call(actor, "create_role", &Value::dict(made).encode()).is_success());
    let role = role_id(&actor, &name("painter"));
    let assign = |assignee: u8| {
        Value::dict([("assignee", Value::Bytes(address(assignee).0.to_vec())), ("role_id", Value::Bytes(role.0.to_vec()))]).encode()
    };
    assert!(chain.call(actor, "assign_role", &assign(4)).is_success());
    assert_eq!(method(&mut chain, 4, "accept_role", id_argument("role_id", &role)), None);
    assert!(chain.allows(address(4), &own, &paint()));
    pass_to(&mut chain, 1, actor, address(2));
    assert!(!chain.allows(address(4), &own, &paint()), "its new owner never allowed it");
    assert_eq!(chain.call(actor, "assign_role", &assign(5)).return_data[..], *b"grant_unauthorized");
    pass_to(&mut chain, 2, actor, address(1));
    assert!(chain.allows(address(4), &own, &paint()), "it counts while the account rules the actor that made it");
}
