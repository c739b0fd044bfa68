//! Entitlements: what actors require and runners provide (000).
//!
//! - [`registry`]: every entitlement of this version, one row each, and the parameters' schemas.
//! - [`domain`]: host names in their canonical form, and what a pattern covers.
//! - [`matching`]: whether one list of grants lies within another: a child's within its parent's, a job's within a runner's.
//! - [`attestation`]: what a runner signs.
//! - [`page`]: the documentation that derives from the rows.
//!
//! A grant is an id and parameters. Grants come as canonical CBOR, ascending by id, each id once; everything else is refused.

pub mod attestation;
pub mod domain;
pub mod matching;
pub mod page;
pub mod registry;

pub use attestation::Attestation;
pub use matching::DomainSets;
pub use registry::{Entitlement, REGISTRY, Schema, entitlement};

use crate::cbor::{self, Value};
use crate::{Abort, Address, error};

/// The most that a list of grants may be, as the parameter rows and the protocol version say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Encoded bytes.
    pub bytes: u64,
    /// Grants.
    pub grants: u64,
    /// Items of a list among the parameters of a grant.
    pub items: u64,
    /// The protocol version: entitlements of later ones are unknown.
    pub version: u8,
}

impl Bounds {
    /// No bounds: for what was checked before it was stored. Governance may have lowered the bounds since.
    pub const NONE: Self = Self { bytes: u64::MAX, grants: u64::MAX, items: u64::MAX, version: u8::MAX };
}

/// One grant: an entitlement, and what narrows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// What it grants.
    pub entitlement: &'static Entitlement,
    /// Its parameters, a map; empty where it names none.
    pub params: Value,
}

impl Grant {
    /// A number among the parameters.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.params.get(name).and_then(Value::as_u64)
    }

    /// A text among the parameters.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.params.get(name).and_then(Value::as_text)
    }

    /// The items of a list among the parameters, `None` where the grant names no such list.
    pub fn list(&self, name: &str) -> Option<&[Value]> {
        match self.params.get(name) {
            Some(Value::Array(items)) => Some(items),
            _ => None,
        }
    }

    /// Whether a list among the parameters has a text, or `*`. A grant that names no list has every text.
    pub fn lists_text(&self, name: &str, text: &str) -> bool {
        let Some(items) = self.list(name) else { return true };
        items.iter().filter_map(Value::as_text).any(|item| item == text || item == domain::ANY)
    }

    /// Whether a list among the parameters has an address. A grant that names no list has every address.
    pub fn lists_address(&self, name: &str, address: &Address) -> bool {
        let Some(items) = self.list(name) else { return true };
        items.iter().filter_map(Value::as_bytes).any(|item| item == address.0)
    }

    /// The grant as it stands on the wire.
    pub fn to_value(&self) -> Value {
        let id = ("id", Value::text(self.entitlement.id));
        match &self.params {
            Value::Map(pairs) if !pairs.is_empty() => Value::map([id, ("params", self.params.clone())]),
            _ => Value::map([id]),
        }
    }

    fn read(bounds: Bounds, item: &Value) -> Result<Self, Abort> {
        let Value::Map(pairs) = item else { return Err(error::MANIFEST_INVALID) };
        let id = item.get("id").and_then(Value::as_text).ok_or(error::MANIFEST_INVALID)?;
        let given = item.get("params");
        if pairs.len() != if given.is_some() { 2 } else { 1 } {
            return Err(error::MANIFEST_INVALID);
        }
        let entitlement = entitlement(id).filter(|row| row.since <= bounds.version).ok_or(error::ENTITLEMENT_UNKNOWN)?;
        let params = given.cloned().unwrap_or(Value::Map(Vec::new()));
        let Value::Map(pairs) = &params else { return Err(error::ENTITLEMENT_PARAM) };
        for (key, value) in pairs {
            let name = key.as_text().ok_or(error::ENTITLEMENT_PARAM)?;
            let param = entitlement.param(name).ok_or(error::ENTITLEMENT_PARAM)?;
            let is_long = matches!(value, Value::Array(items) if u64::try_from(items.len()).unwrap_or(u64::MAX) > bounds.items);
            if is_long || !param.schema.accepts(value) {
                return Err(error::ENTITLEMENT_PARAM);
            }
        }
        Ok(Self { entitlement, params })
    }
}

/// A list of grants: what an actor may, or what a runner can. None at all is what an actor without a manifest has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grants(Vec<Grant>);

impl Grants {
    /// Reads a manifest (000 §3.3, §10): canonical CBOR `{"entitlements": [{"id", "params"?}, …]}`.
    pub fn parse_manifest(bounds: Bounds, bytes: &[u8]) -> Result<Self, Abort> {
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > bounds.bytes {
            return Err(error::MANIFEST_INVALID);
        }
        let manifest = cbor::decode(bytes).map_err(|_| error::MANIFEST_INVALID)?;
        match (&manifest, manifest.get("entitlements")) {
            (Value::Map(pairs), Some(list)) if pairs.len() == 1 => Self::read(bounds, list),
            _ => Err(error::MANIFEST_INVALID),
        }
    }

    /// Reads a list of grants (000 §10, appendix A): ids known, ascending and single, parameters as their schema says.
    pub fn read(bounds: Bounds, list: &Value) -> Result<Self, Abort> {
        let Value::Array(items) = list else { return Err(error::MANIFEST_INVALID) };
        if u64::try_from(items.len()).unwrap_or(u64::MAX) > bounds.grants {
            return Err(error::MANIFEST_INVALID);
        }
        let grants = items.iter().map(|item| Grant::read(bounds, item)).collect::<Result<Vec<_>, _>>()?;
        for (one, next) in grants.iter().zip(grants.iter().skip(1)) {
            match one.entitlement.id.cmp(next.entitlement.id) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => return Err(error::ENTITLEMENT_DUPLICATE),
                std::cmp::Ordering::Greater => return Err(error::ENTITLEMENTS_UNSORTED),
            }
        }
        Ok(Self(grants))
    }

    /// All grants, ascending by id.
    pub fn all(&self) -> &[Grant] {
        &self.0
    }

    /// The grant of an id.
    pub fn get(&self, id: &str) -> Option<&Grant> {
        self.0.iter().find(|grant| grant.entitlement.id == id)
    }

    /// The grant of an id, or the failure that its absence is (000 §11).
    pub fn require(&self, id: &str) -> Result<&Grant, Abort> {
        self.get(id).ok_or(error::MISSING_ENTITLEMENT)
    }

    /// The list as it stands on the wire (000 appendix A).
    pub fn to_value(&self) -> Value {
        Value::Array(self.0.iter().map(Grant::to_value).collect())
    }

    /// The canonical manifest of these grants.
    pub fn to_manifest(&self) -> Vec<u8> {
        Value::map([("entitlements", self.to_value())]).encode()
    }

    /// The curated sets of domains that the grants name.
    pub fn domain_sets(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|grant| grant.text("domain_set"))
    }
}
