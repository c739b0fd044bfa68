//! The Entitlement Registry 0x07 at work: grants, delegations, roles, pools, use (002 §7).

use commonware_codec::Encode as _;
use cowboy_params::Params;
use cowboy_state::World;
use cowboy_system::entitlements::{check, holders, state};
use cowboy_testkit::chain::{Chain, address, execution, parameters, signed};
use cowboy_types::cbor::{self, Value};
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::permission::{Action, Constraints, Name, RateLimit, Scope, record_id, role_id};
use cowboy_types::units::{Amount, Cells, Count, Cycles, Height};
use cowboy_types::{Abort, Address, Blob, Hash, List, Receipt, error};
use proptest::prelude::*;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    instructions_30_to_35,
    scopes_have_their_masters,
    a_record_is_one_scope_and_one_action,
    constraints_bind_to_the_unit,
    delegations_get_narrower_and_end,
    a_chain_does_no_more_than_its_first_link,
    a_record_has_one_issuer,
    an_address_holds_so_many,
    roles_are_bound_to_their_maker,
    pools_admit_members_only,
];

pub(super) fn name(text: &str) -> Name {
    Name::new(text.as_bytes().to_vec()).expect("a name")
}

/// A namespace of account 1.
pub(super) fn space(text: &str) -> Scope {
    Scope::Namespace { name: of(1, text) }
}

/// The name of an account's pool or namespace.
pub(super) fn of(number: u8, label: &str) -> Name {
    name(&format!("{}/{label}", address(number).to_string().trim_start_matches("0x")))
}

/// A method of the registry, asked by an account.
pub(super) fn method(chain: &mut Chain, from: u8, name: &str, argument: Vec<(&'static str, Value)>) -> Option<Abort> {
    chain.send(from, execution(Address::system(7), name, &Value::dict(argument).encode(), 0)).abort
}

pub(super) fn id_argument(name: &'static str, id: &Hash) -> Vec<(&'static str, Value)> {
    vec![(name, Value::Bytes(id.0.to_vec()))]
}

pub(super) fn accept_from(chain: &mut Chain, holder: u8, grantor: u8, accepted: bool) {
    let argument = vec![("grantor", Value::Bytes(address(grantor).0.to_vec())), ("accepted", Value::Bool(accepted))];
    assert_eq!(method(chain, holder, "accept_from", argument), None);
}

pub(super) fn paint() -> Action {
    Action::Custom { name: name("paint") }
}

fn encoded<const MAX: usize>(value: &impl commonware_codec::Encode) -> Blob<MAX> {
    Blob::new(value.encode()).expect("an operand fits")
}

pub(super) fn granting(grantee: Address, scope: &Scope, action: &Action, constraints: &Constraints) -> Instruction {
    let (scope, action, constraints) = (encoded(scope), encoded(action), encoded(constraints));
    Instruction::System(System::EntitlementGrant { grantee, scope, action, constraints })
}

/// The same as the argument of 0x07's method.
pub(super) fn grant_argument(grantee: Address, scope: &Scope, action: &Action, constraints: &Constraints) -> Value {
    let bytes = |bytes: bytes::Bytes| Value::Bytes(bytes.to_vec());
    Value::map([
        ("grantee", Value::Bytes(grantee.0.to_vec())),
        ("scope", bytes(scope.encode())),
        ("action", bytes(action.encode())),
        ("constraints", bytes(constraints.encode())),
    ])
}

pub(super) fn revoking(entitlement_id: Hash) -> Instruction {
    Instruction::System(System::EntitlementRevoke { entitlement_id })
}

pub(super) fn delegating(entitlement_id: Hash, delegatee: Address, constraints: &Constraints) -> Instruction {
    Instruction::System(System::EntitlementDelegate { entitlement_id, delegatee, constraints: encoded(constraints) })
}

pub(super) fn making(role: &str, scopes: Vec<Scope>, actions: Vec<Action>, constraints: &Constraints) -> Instruction {
    let scopes: List<Scope, 16> = List::new(scopes).expect("few");
    let actions: List<Action, 16> = List::new(actions).expect("few");
    let (scopes, actions, constraints) = (encoded(&scopes), encoded(&actions), encoded(constraints));
    Instruction::System(System::EntitlementCreateRole { name: name(role), scopes, actions, constraints })
}

/// The id that a receipt answers.
pub(super) fn id_of(receipt: &Receipt) -> Hash {
    assert_eq!(receipt.abort, None);
    Hash(receipt.return_data[..].try_into().expect("an id"))
}

fn asking(grantee: Address, scope: &Scope, action: &Action, amount: Option<u64>) -> Value {
    let mut pairs = vec![
        ("grantee", Value::Bytes(grantee.0.to_vec())),
        ("scope", Value::text(scope.to_string())),
        ("action", Value::text(action.to_string())),
    ];
    pairs.extend(amount.map(|amount| ("amount", Value::uint(amount))));
    Value::dict(pairs)
}

/// What the registry says of permissions.
pub(super) trait Permissions {
    /// Whether the registry says that an address may do something.
    fn allows(&mut self, grantee: Address, scope: &Scope, action: &Action) -> bool;

    /// A use, asked for by an account.
    fn uses(&mut self, from: u8, grantee: Address, action: &Action, amount: u64) -> Option<Abort>;

    fn permission(&self, id: &Hash) -> Option<state::Permission>;
}

impl Permissions for Chain {
    fn allows(&mut self, grantee: Address, scope: &Scope, action: &Action) -> bool {
        let receipt = self.send(8, execution(Address::system(7), "check", &asking(grantee, scope, action, None).encode(), 0));
        cbor::decode(&receipt.return_data) == Ok(Value::Bool(true))
    }

    fn uses(&mut self, from: u8, grantee: Address, action: &Action, amount: u64) -> Option<Abort> {
        let argument = asking(grantee, &space("art"), action, Some(amount)).encode();
        self.send(from, execution(Address::system(7), "consume", &argument, 0)).abort
    }

    fn permission(&self, id: &Hash) -> Option<state::Permission> {
        self.record(&state::permission(id))
    }
}

pub(super) fn passable(depth: u8) -> Constraints {
    Constraints { delegatable: true, delegation_depth_max: depth, ..Constraints::default() }
}

/// A-271, A-276: each instruction does what it says, says it in an event, and costs its row of 002 §7.4.
#[test]
fn instructions_30_to_35() {
    let mut chain = Chain::new();
    let check = |receipt: &Receipt, event: &str, cycles: u64, cells: u64| {
        assert_eq!((receipt.abort.clone(), &*receipt.events[0].name, receipt.events[0].emitter), (None, event, Address::system(7)));
        assert_eq!((receipt.cycles_used, receipt.cells_used, receipt.target), (Cycles(cycles), Cells(cells), Address::system(7)));
    };
    let granted = chain.send(1, granting(address(2), &space("art"), &paint(), &passable(2)));
    check(&granted, "EntitlementGranted", 5_000, 500);
    let id = id_of(&granted);
    assert_eq!(id, record_id(&address(2), &space("art"), &paint(), None), "A-279");
    let record = chain.permission(&id).expect("granted");
    assert_eq!((record.issuer, record.grantee, record.depth, record.granted_at), (address(1), address(2), 0, chain.height));
    let delegated = chain.send(2, delegating(id, address(3), &passable(1)));
    check(&delegated, "EntitlementDelegated", 3_000, 300);
    assert_eq!(id_of(&delegated), record_id(&address(3), &space("art"), &paint(), Some(&id)));
    assert!(chain.allows(address(3), &space("art"), &paint()));
    let revoked = chain.send(1, revoking(id));
    check(&revoked, "EntitlementRevoked", 2_000, 100);
    assert!(!chain.allows(address(2), &space("art"), &paint()));
    assert!(!chain.allows(address(3), &space("art"), &paint()), "what was passed on goes with it");
    assert_eq!(chain.permission(&id_of(&delegated)), None, "and is deleted by who comes across it");
    let made = chain.send(1, making("painter", vec![space("art")], vec![paint()], &Constraints::default()));
    check(&made, "RoleCreated", 5_000, 500);
    let role = id_of(&made);
    assert_eq!(role, role_id(&address(1), &name("painter")));
    let assigned = chain.send(1, Instruction::System(System::EntitlementAssignRole { role_id: role, assignee: address(4) }));
    check(&assigned, "RoleAssigned", 2_000, 100);
    assert!(!chain.allows(address(4), &space("art"), &paint()), "a role has effect when it is accepted (decision 332)");
    assert_eq!(method(&mut chain, 4, "accept_role", id_argument("role_id", &role)), None);
    assert!(chain.allows(address(4), &space("art"), &paint()) && !chain.allows(address(4), &space("art"), &Action::TokenMint));
    let unassigned = chain.send(1, Instruction::System(System::EntitlementRevokeRole { role_id: role, assignee: address(4) }));
    check(&unassigned, "RoleRevoked", 2_000, 100);
    assert!(!chain.allows(address(4), &space("art"), &paint()));
    for nonsense in [
        Instruction::System(System::EntitlementGrant {
            grantee: address(2),
            scope: Blob::default(),
            action: encoded(&paint()),
            constraints: encoded(&Constraints::default()),
        }),
        Instruction::System(System::EntitlementDelegate {
            entitlement_id: id,
            delegatee: address(2),
            constraints: Blob::new(vec![9]).expect("short"),
        }),
    ] {
        assert_eq!(chain.send(1, nonsense).abort, Some(error::INVALID_ARGUMENT));
    }
}

/// Who may grant in which scope.
#[test]
fn scopes_have_their_masters() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler run\n try call 0x0000000000000000000000000000000000000007 'grant' $payload 0\n return $last\n");
    let pool = || Scope::RunnerPool { pool: of(2, "eu") };
    let refused = || Some(error::GRANT_UNAUTHORIZED);
    let rows: [(u8, Scope, Option<Abort>); 14] = [
        (2, Scope::RunnerPool { pool: name("eu") }, refused()),
        (2, Scope::RunnerPool { pool: of(2, "") }, refused()),
        (2, Scope::RunnerPool { pool: name(&address(2).to_string()) }, refused()),
        (2, Scope::RunnerPool { pool: name(&format!("{}/eu", address(2))) }, refused()),
        (1, Scope::Global, Some(error::GRANT_UNAUTHORIZED)),
        (1, Scope::Token { token: Hash([1; 32]) }, Some(error::GRANT_UNAUTHORIZED)),
        (2, Scope::Actor { actor }, Some(error::GRANT_UNAUTHORIZED)),
        (1, Scope::Actor { actor }, None),
        (3, Scope::Runner { runner: address(2) }, Some(error::GRANT_UNAUTHORIZED)),
        (2, Scope::Runner { runner: address(2) }, None),
        (2, pool(), None),
        (3, pool(), Some(error::GRANT_UNAUTHORIZED)),
        (3, Scope::Namespace { name: of(3, "eu") }, None),
        (4, Scope::Namespace { name: of(3, "eu") }, Some(error::GRANT_UNAUTHORIZED)),
    ];
    for (place, (from, scope, expected)) in rows.into_iter().enumerate() {
        let grantee = Address([u8::try_from(place).expect("few"); 20]);
        assert_eq!(chain.send(from, granting(grantee, &scope, &paint(), &Constraints::default())).abort, expected, "row {place}: {scope}");
    }
    // Governance grants everywhere.
    for scope in [Scope::Global, pool()] {
        assert!(chain.decide(7, "grant", &grant_argument(address(8), &scope, &paint(), &Constraints::default())), "{scope}");
    }
    // An actor grants within its own scope, by the method of the same name.
    let own = Scope::Actor { actor };
    let argument = |scope: &Scope| grant_argument(address(5), scope, &paint(), &Constraints::default());
    assert!(chain.call(actor, "run", &argument(&own).encode()).is_success());
    assert!(chain.allows(address(5), &own, &paint()));
    assert_eq!(chain.call(actor, "run", &argument(&pool()).encode()).return_data[..], *b"grant_unauthorized");
}

/// A-272: one record, one scope, one action; wildcards cover, and nothing else does.
#[test]
fn a_record_is_one_scope_and_one_action() {
    let mut chain = Chain::new();
    let handler = |text: &str| Action::ActorExecuteHandler { handler: Blob::new(text.as_bytes().to_vec()).expect("short") };
    for (grantee, scope, action) in [
        (2, space("art"), handler("ask")),
        (3, space("art"), Action::All),
        (4, Scope::Global, handler("ask")),
        (5, Scope::Global, Action::All),
    ] {
        assert!(chain.decide(7, "grant", &grant_argument(address(grantee), &scope, &action, &Constraints::default())));
    }
    let rows = [
        (2, space("art"), handler("ask"), true),
        (2, space("art"), handler("tell"), false),
        (2, space("war"), handler("ask"), false),
        (3, space("art"), handler("tell"), true),
        (3, space("war"), handler("tell"), false),
        (4, space("war"), handler("ask"), true),
        (4, space("war"), handler("tell"), false),
        (5, space("war"), handler("tell"), true),
        (6, space("art"), handler("ask"), false),
    ];
    for (grantee, scope, action, expected) in rows {
        assert_eq!(chain.allows(address(grantee), &scope, &action), expected, "{grantee} {scope} {action}");
    }
}

/// A-273: heights, uses, amounts and rates, each to the last one and one beyond.
#[test]
fn constraints_bind_to_the_unit() {
    let mut chain = Chain::new();
    let grant = |chain: &mut Chain, constraints: Constraints| {
        assert_eq!(chain.send(1, granting(address(2), &space("art"), &paint(), &constraints)).abort, None);
    };
    let none = Constraints::default;
    grant(&mut chain, Constraints { max_uses: Count(2), ..none() });
    let uses: Vec<_> = (0..3).map(|_| chain.uses(1, address(2), &paint(), 0)).collect();
    assert_eq!(uses, [None, None, Some(error::MISSING_ENTITLEMENT)], "two uses");
    assert!(!chain.allows(address(2), &space("art"), &paint()));
    grant(&mut chain, Constraints { max_amount_per_use: Some(Amount(10)), max_total_amount: Some(Amount(25)), ..none() });
    let uses: Vec<_> = [11, 10, 10, 6, 5, 1].into_iter().map(|amount| chain.uses(1, address(2), &paint(), amount)).collect();
    let refused = Some(error::PERMISSION_UNUSABLE);
    assert_eq!(uses, [refused.clone(), None, None, refused.clone(), None, refused.clone()], "ten a use, 25 in all");
    let id = record_id(&address(2), &space("art"), &paint(), None);
    let spent = chain.permission(&id).expect("granted").constraints;
    assert_eq!((spent.used_count, spent.total_amount_used), (Count(3), Amount(25)));
    grant(&mut chain, Constraints { rate_limit: Some(RateLimit { uses: Count(2), blocks: Count(4) }), ..none() });
    // A block each: the window is the first use's block and the three after it.
    let uses: Vec<_> = (0..6).map(|_| chain.uses(1, address(2), &paint(), 0)).collect();
    assert_eq!(uses, [None, None, refused.clone(), refused, None, None], "two in four blocks");
    let now = chain.height.0;
    grant(&mut chain, Constraints { valid_from: Some(Height(now + 4)), valid_until: Some(Height(now + 5)), ..none() });
    let seen: Vec<_> = (0..5).map(|_| chain.allows(address(2), &space("art"), &paint())).collect();
    assert_eq!(seen, [false, false, true, true, false], "heights count at both ends");
    assert_eq!(chain.permission(&id), None, "A-275: the first look after the end deletes it");
    assert_eq!(chain.record::<state::Holder>(&state::holder(address(2))), None, "and its holder's list with it");
    let ended = Constraints { valid_until: Some(Height(now)), ..none() };
    assert_eq!(chain.send(1, granting(address(2), &space("art"), &paint(), &ended)).abort, Some(error::CONSTRAINTS_INVALID));
    assert_eq!(chain.uses(2, address(2), &paint(), 0), Some(error::GRANT_UNAUTHORIZED), "who rules the scope counts uses");
}

/// A-274: narrower at every link, five links at most, by the holder, of what is alive.
#[test]
fn delegations_get_narrower_and_end() {
    let mut chain = Chain::new();
    let mut id = id_of(&chain.send(1, granting(address(2), &space("art"), &paint(), &passable(5))));
    let first = id;
    assert_eq!(chain.send(3, delegating(id, address(4), &passable(1))).abort, Some(error::GRANT_UNAUTHORIZED), "not the holder");
    assert_eq!(chain.send(2, delegating(id, address(3), &passable(5))).abort, Some(error::CONSTRAINTS_WIDER), "as deep");
    assert_eq!(chain.send(2, delegating(id, address(2), &passable(1))).abort, Some(error::NOT_DELEGATABLE), "to oneself");
    assert_eq!(chain.send(2, delegating(Hash::ZERO, address(3), &passable(1))).abort, Some(error::PERMISSION_NOT_FOUND));
    assert_eq!(
        chain.send(1, granting(address(2), &space("art"), &paint(), &passable(6))).abort,
        Some(error::CONSTRAINTS_INVALID),
        "six deep"
    );
    let mut ids = vec![id];
    for (from, depth) in [(2, 4), (3, 3), (4, 2), (5, 1), (6, 0)] {
        let constraints = if depth == 0 { Constraints::default() } else { passable(depth) };
        id = id_of(&chain.send(from, delegating(id, address(from + 1), &constraints)));
        ids.push(id);
    }
    assert_eq!(chain.permission(&id).map(|record| record.depth), Some(5));
    assert!(chain.allows(address(7), &space("art"), &paint()));
    assert_eq!(
        chain.send(7, delegating(id, address(8), &Constraints::default())).abort,
        Some(error::NOT_DELEGATABLE),
        "the end of the chain"
    );
    // A use at the end counts at every link.
    assert_eq!(chain.uses(1, address(7), &paint(), 3), None);
    for id in &ids {
        assert_eq!(chain.permission(id).map(|record| record.constraints.total_amount_used), Some(Amount(3)));
    }
    // Taking a link out of the middle ends everything below it, and nothing above.
    assert!(chain.send(1, revoking(ids[2])).is_success());
    let alive: Vec<bool> = (2..8).map(|holder| chain.allows(address(holder), &space("art"), &paint())).collect();
    assert_eq!(alive, [true, true, false, false, false, false]);
    assert!(chain.permission(&first).is_some());
}

/// A-274: together, all links do no more than the first may.
#[test]
fn a_chain_does_no_more_than_its_first_link() {
    let mut chain = Chain::new();
    let id = id_of(&chain.send(1, granting(address(2), &space("art"), &paint(), &Constraints { max_uses: Count(3), ..passable(1) })));
    for delegatee in [3, 4] {
        let narrower = Constraints { max_uses: Count(3), ..Constraints::default() };
        assert!(chain.send(2, delegating(id, address(delegatee), &narrower)).is_success());
    }
    let uses: Vec<_> = [3, 4, 3, 4, 2].into_iter().map(|grantee| chain.uses(1, address(grantee), &paint(), 0)).collect();
    let gone = Some(error::MISSING_ENTITLEMENT);
    assert_eq!(uses, [None, None, None, gone.clone(), gone]);
    let wider = Constraints { max_uses: Count(4), ..Constraints::default() };
    assert_eq!(chain.send(2, delegating(id, address(5), &wider)).abort, Some(error::PERMISSION_UNUSABLE), "used up");
}

/// Decision 100, and what cannot be taken back.
#[test]
fn a_record_has_one_issuer() {
    let mut chain = Chain::new();
    let grant = |constraints: &Constraints| granting(address(2), &space("art"), &paint(), constraints);
    let id = id_of(&chain.send(1, grant(&Constraints { max_uses: Count(1), ..Constraints::default() })));
    assert_eq!(chain.uses(1, address(2), &paint(), 0), None);
    let governance_grants = grant_argument(address(2), &space("art"), &paint(), &Constraints::default());
    assert!(!chain.decide(7, "grant", &governance_grants), "governance is another issuer");
    assert_eq!(id_of(&chain.send(1, grant(&Constraints::default()))), id, "the issuer replaces it");
    assert_eq!(chain.send(2, revoking(id)).abort, Some(error::GRANT_UNAUTHORIZED), "the holder cannot");
    let revoke = Value::map([("entitlement_id", Value::Bytes(id.0.to_vec()))]);
    assert!(chain.decide(7, "revoke", &revoke), "governance can");
    assert!(!chain.decide(7, "revoke", &revoke), "once");
    let fixed = Constraints { revocable: false, ..Constraints::default() };
    assert!(chain.send(1, grant(&fixed)).is_success());
    assert_eq!(chain.send(1, revoking(id)).abort, Some(error::NOT_REVOCABLE));
    assert!(!chain.decide(7, "revoke", &revoke), "not even governance");
    assert_eq!(chain.send(1, grant(&Constraints::default())).abort, Some(error::NOT_REVOCABLE), "nor narrowed");
}

/// A-275: the limits of an address, to the last one; what has expired makes room.
#[test]
fn an_address_holds_so_many() {
    let rows = [("entitlements.records_per_address", 3), ("entitlements.roles_per_address", 2)];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    accept_from(&mut chain, 2, 1, true);
    accept_from(&mut chain, 3, 1, true);
    let until = chain.height.0 + 6;
    for place in 0..3u8 {
        let valid_until = (place == 0).then_some(Height(until));
        let grant = granting(address(2), &space(&format!("s{place}")), &paint(), &Constraints { valid_until, ..Constraints::default() });
        assert!(chain.send(1, grant).is_success());
    }
    let fourth = granting(address(2), &space("s3"), &paint(), &Constraints::default());
    assert_eq!(chain.send(1, fourth.clone()).abort, Some(error::TOO_MANY_PERMISSIONS));
    chain.idle(until - chain.height.0);
    assert!(chain.send(1, fourth).is_success(), "the first expired");
    let roles: Vec<Hash> = (0..3)
        .map(|place| id_of(&chain.send(1, making(&format!("r{place}"), vec![space("s1")], vec![paint()], &Constraints::default()))))
        .collect();
    let assign = |role: Hash| Instruction::System(System::EntitlementAssignRole { role_id: role, assignee: address(3) });
    let results: Vec<_> = roles.iter().map(|role| chain.send(1, assign(*role)).abort).collect();
    assert_eq!(results, [None, None, Some(error::TOO_MANY_ROLES)]);
    assert!(chain.send(1, assign(roles[0])).is_success(), "again is not one more");
}

/// Roles are made and assigned by who rules their scopes.
#[test]
fn roles_are_bound_to_their_maker() {
    let mut chain = Chain::new();
    assert!(chain.send(1, granting(address(8), &space("art"), &paint(), &Constraints::default())).is_success());
    let make = |name: &str, scopes: Vec<Scope>, constraints: &Constraints| making(name, scopes, vec![paint()], constraints);
    let once = Constraints { max_uses: Count(1), ..Constraints::default() };
    let role = id_of(&chain.send(1, make("r", vec![space("art")], &once)));
    let rows: [(u8, Instruction, Abort); 5] = [
        (1, make("r", vec![space("art")], &once), error::PERMISSION_EXISTS),
        (2, make("r", vec![space("art")], &once), error::GRANT_UNAUTHORIZED),
        (1, make("none", vec![], &once), error::CONSTRAINTS_INVALID),
        (1, make("deep", vec![space("art")], &passable(1)), error::CONSTRAINTS_INVALID),
        (2, Instruction::System(System::EntitlementAssignRole { role_id: role, assignee: address(3) }), error::GRANT_UNAUTHORIZED),
    ];
    for (from, instruction, expected) in rows {
        assert_eq!(chain.send(from, instruction).abort, Some(expected));
    }
    let unassign = |assignee: u8| Instruction::System(System::EntitlementRevokeRole { role_id: role, assignee: address(assignee) });
    assert_eq!(chain.send(1, unassign(3)).abort, Some(error::ROLE_NOT_FOUND));
    for assignee in [3, 4] {
        assert!(
            chain.send(1, Instruction::System(System::EntitlementAssignRole { role_id: role, assignee: address(assignee) })).is_success()
        );
        assert_eq!(method(&mut chain, assignee, "accept_role", id_argument("role_id", &role)), None);
    }
    let uses: Vec<_> = [3, 3, 4].into_iter().map(|grantee| chain.uses(1, address(grantee), &paint(), 0)).collect();
    assert_eq!(uses, [None, Some(error::MISSING_ENTITLEMENT), None], "each assignment counts for itself");
}

/// A-277, A-278: exactly this scope and action makes a member; no wildcard, no role, no other pool; looking counts no use.
#[test]
fn pools_admit_members_only() {
    let mut chain = Chain::new();
    let (pool, join) = (Scope::RunnerPool { pool: name("eu") }, Action::RunnerJoinPool { pool: name("eu") });
    let member = |chain: &mut Chain, runner: u8| {
        let argument = Value::map([("runner", Value::Bytes(address(runner).0.to_vec())), ("pool", Value::Bytes(b"eu".to_vec()))]);
        let receipt = chain.send(8, execution(Address::system(7), "is_member", &argument.encode(), 0));
        cbor::decode(&receipt.return_data) == Ok(Value::Bool(true))
    };
    assert!(!member(&mut chain, 2), "nobody granted anything");
    let once = Constraints { max_uses: Count(1), ..Constraints::default() };
    let until = Constraints { valid_until: Some(Height(chain.height.0 + 12)), ..Constraints::default() };
    for (runner, scope, action, constraints) in
        [(2, &pool, &join, &once), (3, &pool, &join, &until), (4, &pool, &Action::All, &once), (5, &Scope::Global, &join, &once)]
    {
        let is_granted = chain.decide(7, "grant", &grant_argument(address(runner), scope, action, constraints));
        assert_eq!(is_granted, runner != 5, "{scope} {action}");
    }
    let passed = Constraints { delegatable: true, delegation_depth_max: 1, ..Constraints::default() };
    assert!(!chain.decide(7, "grant", &grant_argument(address(6), &pool, &join, &passed)), "not to be passed on");
    let members: Vec<bool> = (2..7).map(|runner| member(&mut chain, runner)).collect();
    assert_eq!(members, [true, true, false, false, false]);
    assert!(member(&mut chain, 2), "looking counts no use");
    chain.idle(10);
    assert!(member(&mut chain, 2) && !member(&mut chain, 3), "a term ends");
    assert_eq!(chain.permission(&record_id(&address(3), &pool, &join, None)), None, "and is deleted");
    let mut world = World::default();
    assert!(
        check::is_member(&mut world, &Params::GENESIS, Height(1), address(2), &[0; 65]).is_ok_and(|is_member| !is_member),
        "a name too long is no pool"
    );
    assert!(holders::holder(&world, address(2)).is_err(), "a state that was not fetched is asked for");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// A-271: whatever is granted, passed on, used and taken back, every record stands where it belongs, and maker and checker agree.
    #[test]
    fn the_registry_keeps_its_records(acts in prop::collection::vec((1u8..6, 1u8..6, 0u8..9, 0u8..3, 0u8..3), 1..40)) {
        let rows = [("entitlements.open_per_grantor", 3), ("entitlements.records_per_address", 4), ("entitlements.roles_per_address", 2)];
        let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
        let mut ids: Vec<Hash> = vec![Hash::ZERO];
        for (from, to, kind, which, depth) in acts {
            let scope = Scope::Namespace { name: of(from, ["a", "b", "c"][usize::from(which)]) };
            let constraints = Constraints { max_uses: Count(2), valid_until: Some(Height(chain.height.0 + 6)), ..if depth > 0 { passable(depth) } else { Constraints::default() } };
            let id = ids[usize::from(to) * 7 % ids.len()];
            let instruction = match kind {
                0 => granting(address(to), &scope, &paint(), &constraints),
                1 => revoking(id),
                2 => delegating(id, address(to), &Constraints { max_uses: Count(1), valid_until: Some(Height(chain.height.0 + 2)), ..Constraints::default() }),
                3 => making("r", vec![scope], vec![paint()], &Constraints { valid_until: Some(Height(chain.height.0 + 5)), ..Constraints::default() }),
                4 => Instruction::System(System::EntitlementAssignRole { role_id: id, assignee: address(to) }),
                6 => execution(Address::system(7), ["accept", "accept_role", "renounce"][usize::from(which)], &Value::dict([("entitlement_id", Value::Bytes(id.0.to_vec())), ("role_id", Value::Bytes(id.0.to_vec()))]).encode(), 0),
                7 => execution(Address::system(7), "renounce_role", &Value::dict(id_argument("role_id", &id)).encode(), 0),
                8 => execution(Address::system(7), "accept_from", &Value::dict([("grantor", Value::Bytes(address(to).0.to_vec())), ("accepted", Value::Bool(depth > 0))]).encode(), 0),
                _ => execution(Address::system(7), "consume", &asking(address(to), &scope, &paint(), Some(1)).encode(), 0),
            };
            let nonce = chain.nonce(from);
            let outcome = chain.block(vec![signed(from, nonce, instruction)]);
            ids.extend(<[u8; 32]>::try_from(&outcome.receipts[0].return_data[..]).ok().map(Hash));
        }
    }
}
