//! Entitlements of manifests, and permissions of the Entitlement Registry.

use super::Entitlement;
use crate::hex_text::{HexAddress, HexBytes, HexHash};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What an actor may do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Entitlements {
    /// The grants, by name.
    pub entitlements: Vec<Entitlement>,
    /// The manifest as it stands in the state: canonical CBOR.
    pub manifest: HexBytes,
    /// The manifests that it had before, oldest first: only the newest are kept.
    pub history: Vec<PastManifest>,
}

/// A manifest that an actor had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PastManifest {
    /// The first height at which it held.
    pub since: u64,
    /// The height at which another took its place.
    pub until: u64,
    /// The grants, by name.
    pub entitlements: Vec<Entitlement>,
    /// The manifest: canonical CBOR.
    pub manifest: HexBytes,
}

/// Every entitlement that a manifest may name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EntitlementRegistry {
    /// The rows, by id.
    pub entitlements: Vec<RegistryRow>,
    /// The curated sets of domains.
    pub domain_sets: Vec<DomainSet>,
}

/// A row of the registry of entitlements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RegistryRow {
    /// The dotted id.
    pub id: String,
    /// What it allows.
    pub what: String,
    /// Whether a child may have it because its parent has.
    pub inheritable: bool,
    /// Whether runners provide it, and have to prove it.
    pub attested: bool,
    /// Whether its parameters are quotas or lists.
    pub quota: bool,
    /// Its parameters.
    pub params: Vec<RegistryParam>,
    /// `current`, `deprecated` or `removed`.
    pub standing: String,
    /// The first height at which it is gone, where that is decided.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub removed_at: Option<u64>,
}

/// A parameter of an entitlement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RegistryParam {
    /// Its name in `params`.
    pub name: String,
    /// What it holds.
    pub r#type: String,
    /// What it bounds.
    pub what: String,
}

/// A curated set of domains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DomainSet {
    /// What a manifest names as `domain_set`.
    pub name: String,
    /// Host names and wildcards.
    pub domains: Vec<String>,
}

/// What an address holds in the Entitlement Registry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Permissions {
    /// Its permissions, the oldest first. What has expired stands here until somebody comes across it.
    pub permissions: Vec<Permission>,
    /// Its roles, the oldest first.
    pub roles: Vec<Role>,
}

/// One action in one scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Permission {
    /// Its name.
    pub id: HexHash,
    /// What it is about, like `pool:eu`.
    pub scope: String,
    /// What it allows, like `join_pool:eu`.
    pub action: String,
    /// Under which conditions, with what was used of them.
    #[schema(value_type = Object)]
    pub constraints: serde_json::Value,
    /// Who granted or delegated it.
    pub issuer: HexAddress,
    /// The permission that it was delegated from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent_id: Option<HexHash>,
    /// How often it was passed on.
    pub depth: u8,
    /// The block it was granted in.
    pub granted_at: u64,
}

/// A role that an address has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Role {
    /// The role's id.
    pub role_id: HexHash,
    /// Its name.
    pub name: String,
    /// What it is about.
    pub scopes: Vec<String>,
    /// What it allows there.
    pub actions: Vec<String>,
    /// Under which conditions, with what this address used of them.
    #[schema(value_type = Object)]
    pub constraints: serde_json::Value,
    /// The creator's address.
    pub creator: HexAddress,
    /// The block it was assigned in.
    pub assigned_at: u64,
}
