//! What 0x07 keeps, and under which keys.

use commonware_codec::Encode as _;
use cowboy_state::records::ManifestBytes;
use cowboy_state::{Directory, Key, Kind};
use cowboy_types::permission::{Action, Constraints, Name, Scope};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, List, Text, record, variants};

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::ENTITLEMENTS;

record! {
    /// A curated set of domains as governance left it (000 §8.4).
    pub struct DomainSet {
        /// Canonical host names and wildcards.
        pub patterns: List<Text<255>, 256>,
    }
}

variants! {
    /// How far the announcement of a removal is.
    pub enum Sweep {
        /// The removal lies ahead.
        0 Waiting,
        /// Actors below this address were looked at.
        1 At {
            /// The next address to look at.
            next: Address,
        },
        /// An event was emitted for every actor that holds it.
        2 Done,
    }
}

record! {
    /// An entitlement that governance takes out of the registry (000 §9.11).
    pub struct Deprecation {
        /// The id.
        pub id: Text<64>,
        /// The first height at which it is deprecated.
        pub from: Height,
        /// The first height at which it is gone.
        pub removed_at: Height,
        /// How far events for its holders were emitted.
        pub sweep: Sweep,
    }
}

record! {
    /// Every deprecation there was, ascending by id.
    pub struct Deprecations {
        /// The rows.
        pub rows: List<Deprecation, 64>,
    }
}

record! {
    /// A manifest that an actor had.
    pub struct PastManifest {
        /// The first height at which it held.
        pub since: Height,
        /// The height at which another took its place.
        pub until: Height,
        /// The manifest, empty where there was none.
        pub manifest: ManifestBytes,
    }
}

record! {
    /// The manifests that an actor had before its present one: the newest of them, oldest first.
    pub struct ManifestHistory {
        /// The manifests.
        pub past: List<PastManifest, 16>,
    }
}

/// A curated set, by its name.
pub fn domain_set(name: &str) -> Key {
    Key::named(Kind::System, Address::system(NUMBER), [b"system:domain_set:", name.as_bytes()].concat())
}

/// Every deprecation.
pub fn deprecations() -> Key {
    Key::system(NUMBER, "system:entitlements:deprecations")
}

/// An actor's manifest.
pub fn manifest(actor: Address) -> Key {
    Key::of(Kind::Manifest, actor)
}

/// The manifests that an actor had before.
pub fn manifest_history(actor: Address) -> Key {
    Key::named(Kind::Manifest, actor, &b"history"[..])
}

record! {
    /// A permission that an address holds (002 §7.1).
    pub struct Permission {
        /// The account that holds it.
        pub grantee: Address,
        /// What it is about.
        pub scope: Scope,
        /// What it allows.
        pub action: Action,
        /// Under which conditions, with what was used of them.
        pub constraints: Constraints,
        /// The record that it was delegated from.
        pub parent_id: Option<Hash>,
        /// Who granted or delegated it.
        pub issuer: Address,
        /// How often it was passed on.
        pub depth: u8,
        /// The window of its rate limit that is under way.
        pub window: Option<Window>,
        /// The height of the grant.
        pub granted_at: Height,
        /// The number of the grant, which no other grant or delegation has: the id stays where a record is granted again.
        pub number: Count,
        /// The number of the grant that it was delegated from; zero where it was not.
        pub parent_number: Count,
        /// Who ruled the issuer at the grant, where it is an actor.
        pub ruler: Option<Address>,
    }
}

record! {
    /// A window of a rate limit.
    pub struct Window {
        /// Its first height.
        pub start: Height,
        /// Uses in it.
        pub uses: Count,
    }
}

record! {
    /// A named set of permissions (002 §7.1).
    pub struct Role {
        /// Its name.
        pub name: Name,
        /// What it is about.
        pub scopes: List<Scope, 16>,
        /// What it allows there.
        pub actions: List<Action, 16>,
        /// Under which conditions, for each assignment anew.
        pub constraints: Constraints,
        /// The creator's address.
        pub creator: Address,
        /// Who ruled the creator when it made the role, where it is an actor.
        pub ruler: Option<Address>,
        /// What the creator put down for the record (decision 744).
        pub deposit: Amount,
    }
}

record! {
    /// A role that an address has.
    pub struct Assignment {
        /// The role's id.
        pub role: Hash,
        /// The account that assigned it.
        pub issuer: Address,
        /// Its conditions, with what was used of them.
        pub constraints: Constraints,
        /// The window of its rate limit that is under way.
        pub window: Option<Window>,
        /// The height of the assignment.
        pub assigned_at: Height,
    }
}

record! {
    /// What an address holds.
    pub struct Holder {
        /// Its permissions, the oldest first.
        pub permissions: List<Hash, 10_000>,
        /// Its roles, the oldest first.
        pub roles: List<Hash, 10_000>,
    }
}

record! {
    /// What a grantor's holders did not accept yet (decision 332).
    pub struct Grantor {
        /// Records, permissions and assignments together.
        pub open: Count,
    }
}

record! {
    /// Grantors whose records an address accepts without looking.
    pub struct Accepts {
        /// Ascending.
        pub grantors: List<Address, 256>,
    }
}

record! {
    /// The newest delegation of an action in a scope that its holder did not accept yet.
    pub struct OpenDelegation {
        /// The permission's id.
        pub id: Hash,
    }
}

/// What the names of permissions begin with.
pub(super) const PERMISSION: &str = "system:entitlement:";

/// What the names of holders begin with.
pub(super) const HOLDER: &str = "system:holder:";

/// What the names of grantors begin with.
pub(super) const GRANTOR: &str = "system:grantor:";

/// What the names of roles begin with.
pub(super) const ROLE: &str = "system:role:";

/// What the names of the counts of assignments begin with.
pub(super) const ASSIGNED: &str = "system:assigned:";

/// What the names of assignments begin with.
pub(super) const ASSIGNMENT: &str = "system:assignment:";

fn registry_key(prefix: &str, parts: &[&[u8]]) -> Key {
    let mut name = prefix.as_bytes().to_vec();
    parts.iter().for_each(|part| name.extend_from_slice(part));
    Key::named(Kind::System, Address::system(NUMBER), name)
}

/// A permission by its id.
pub fn permission(id: &Hash) -> Key {
    registry_key(PERMISSION, &[&id.0])
}

/// How many permissions were granted or delegated so far.
pub fn granted() -> Key {
    Key::system(NUMBER, "system:entitlements:granted")
}

/// What an address holds.
pub fn holder(address: Address) -> Key {
    registry_key(HOLDER, &[&address.0])
}

/// A role by its id.
pub fn role(id: &Hash) -> Key {
    registry_key(ROLE, &[&id.0])
}

/// How many addresses have a role, or may accept it.
pub fn assigned(id: &Hash) -> Key {
    registry_key(ASSIGNED, &[&id.0])
}

/// An address's role.
pub fn assignment(role: &Hash, assignee: Address) -> Key {
    registry_key(ASSIGNMENT, &[&role.0, &assignee.0])
}

/// How many of a grantor's records are open.
pub fn grantor(address: Address) -> Key {
    registry_key(GRANTOR, &[&address.0])
}

/// The permissions that their holders did not accept yet: the holder, then the permission's id.
pub const fn open() -> Directory {
    Directory::of_system(Address::system(NUMBER), 32)
}

/// Whose records an address accepts.
pub fn accepts(address: Address) -> Key {
    registry_key("system:accepts:", &[&address.0])
}

/// The newest open delegation of an action in a scope to an address.
pub fn open_delegation(grantee: Address, scope: &Scope, action: &Action) -> Key {
    registry_key("system:open:", &[&cowboy_types::keccak256(&[&grantee.0, &scope.encode(), &action.encode()]).0])
}
