//! Whether one list of grants lies within another (000 §7, §8).

use super::registry::{DOMAIN_SETS, Param, Schema};
use super::{Grant, Grants, domain};
use crate::cbor::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Curated sets of domains by name: those of genesis, where governance has not replaced them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainSets(BTreeMap<String, Vec<String>>);

impl Default for DomainSets {
    fn default() -> Self {
        let owned = |patterns: &[&str]| patterns.iter().map(|pattern| (*pattern).to_string()).collect();
        Self(DOMAIN_SETS.iter().map(|(name, patterns)| ((*name).to_string(), owned(patterns))).collect())
    }
}

impl DomainSets {
    /// Replaces or adds a set.
    pub fn put(&mut self, name: &str, patterns: Vec<String>) {
        self.0.insert(name.to_string(), patterns);
    }

    /// A set's patterns, `None` where there is no such set.
    pub fn get(&self, name: &str) -> Option<&[String]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// Every set, by name.
    pub fn all(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(name, patterns)| (name.as_str(), patterns.as_slice()))
    }
}

/// The hosts that a grant of `http.fetch` reaches: its list and its set together (000 §8.4). One that names neither reaches all.
fn reach<'a>(grant: &'a Grant, sets: &'a DomainSets) -> Vec<&'a str> {
    let (listed, set) = (grant.list("allowlist_domains"), grant.text("domain_set"));
    if listed.is_none() && set.is_none() {
        return vec![domain::ANY];
    }
    let listed = listed.unwrap_or_default().iter().filter_map(Value::as_text);
    // A set that nobody defines reaches nothing.
    listed.chain(set.and_then(|name| sets.get(name)).unwrap_or_default().iter().map(String::as_str)).collect()
}

/// Whether each pattern of one list is covered by some of the other.
fn reaches_all(outer: &[&str], inner: &[&str]) -> bool {
    let outer = Patterns::of(outer);
    inner.iter().all(|pattern| outer.covers(pattern))
}

/// Patterns of hosts in ascending order: what covers a pattern is found by its own suffixes, whatever the number of patterns.
struct Patterns<'a>(Vec<&'a str>);

impl<'a> Patterns<'a> {
    fn of(patterns: &[&'a str]) -> Self {
        let mut patterns = patterns.to_vec();
        patterns.sort_unstable();
        Self(patterns)
    }

    fn has(&self, pattern: &str) -> bool {
        self.0.binary_search(&pattern).is_ok()
    }

    /// Whether one of the patterns covers this one, as [`domain::covers`] has it.
    fn covers(&self, pattern: &str) -> bool {
        if self.has(domain::ANY) || self.has(pattern) {
            return true;
        }
        let host = pattern.strip_prefix("*.").unwrap_or(pattern);
        // `*.b.c` and `*.c` are what covers `a.b.c` and `*.a.b.c`.
        host.match_indices('.').any(|(dot, _)| self.0.binary_search_by(|wider| wider.bytes().cmp(wider_of(&host[dot..]))).is_ok())
    }
}

/// The pattern that covers whatever ends in a suffix, which begins with a dot.
fn wider_of(suffix: &str) -> impl Iterator<Item = u8> + '_ {
    domain::ANY.bytes().chain(suffix.bytes())
}

impl Grant {
    /// Patterns of the hosts that a grant of `http.fetch` reaches: its list and its set together (000 §8.4).
    pub fn hosts<'a>(&'a self, sets: &'a DomainSets) -> Vec<&'a str> {
        reach(self, sets)
    }

    /// Whether the grant lets a job fetch from all of these canonical hosts (000 §8.2, §8.4).
    pub fn reaches(&self, hosts: &[&str], sets: &DomainSets) -> bool {
        reaches_all(&reach(self, sets), hosts)
    }
}

/// Whether a list has all that another has, or `*`. No list at all is every text.
fn contains(outer: Option<&[Value]>, inner: Option<&[Value]>) -> bool {
    let is_any = |items: &[Value]| items.iter().any(|item| item.as_text() == Some(domain::ANY));
    match (outer, inner) {
        (None, _) => true,
        (Some(outer), _) if is_any(outer) => true,
        (Some(_), None) => false,
        (Some(outer), Some(inner)) => {
            // Lists hold texts or byte strings: both are in the set by their bytes.
            let outer: BTreeSet<&[u8]> = outer.iter().filter_map(bytes_of).collect();
            inner.iter().all(|item| bytes_of(item).is_some_and(|item| outer.contains(item)))
        }
    }
}

/// A text or byte string by its bytes. No list may have items of both kinds.
fn bytes_of(item: &Value) -> Option<&[u8]> {
    item.as_bytes().or_else(|| item.as_text().map(str::as_bytes))
}

/// Whether a parameter's schema is part of a host list: those are compared together.
fn is_of_hosts(param: &Param) -> bool {
    matches!(param.schema, Schema::Domains | Schema::SetName)
}

impl Grants {
    /// Whether a child may have these: each inheritable, held by the parent, and no wider than the parent's (000 §7).
    pub fn are_within(&self, parent: &Self, sets: &DomainSets) -> bool {
        self.all().iter().all(|grant| {
            let held = parent.get(grant.entitlement.id).filter(|held| held.entitlement.inheritable);
            held.is_some_and(|held| is_within(grant, held, sets))
        })
    }

    /// Whether a runner that provides these may be given a job of an actor that requires those (000 §6.2, §8). Only what runners can
    /// provide is compared: whether an actor may keep storage is nothing to a runner.
    pub fn provide(&self, required: &Self, sets: &DomainSets) -> bool {
        let asked = required.all().iter().filter(|grant| grant.entitlement.attested);
        asked.into_iter().all(|grant| self.get(grant.entitlement.id).is_some_and(|held| provides(held, grant, sets)))
    }
}

/// Whether nothing in a grant is wider than in another of the same id.
fn is_within(grant: &Grant, held: &Grant, sets: &DomainSets) -> bool {
    let narrow = |param: &Param| match param.schema {
        Schema::Number | Schema::Positive => match (held.number(param.name), grant.number(param.name)) {
            (None, _) => true,
            (Some(most), asked) => asked.is_some_and(|asked| asked <= most),
        },
        Schema::Text(_) => held.text(param.name).is_none_or(|held| grant.text(param.name) == Some(held)),
        Schema::Texts | Schema::Words(_) | Schema::Addresses => contains(held.list(param.name), grant.list(param.name)),
        Schema::Domains | Schema::SetName => true,
    };
    let hosts = || {
        let outer = reach(held, sets);
        // Governance may widen a set later: a child shares its parent's, or has none.
        let same_set = grant.text("domain_set").is_none_or(|set| outer.contains(&domain::ANY) || held.text("domain_set") == Some(set));
        same_set && reaches_all(&outer, &reach(grant, sets))
    };
    let params = grant.entitlement.params;
    params.iter().all(narrow) && (!params.iter().any(is_of_hosts) || hosts())
}

/// Whether a runner's grant is a superset of what an actor requires (000 §8.3). What either leaves open fits (decision 53), but for
/// hosts: an actor that may fetch from anywhere needs a runner that does.
fn provides(held: &Grant, required: &Grant, sets: &DomainSets) -> bool {
    let fits = |param: &Param| match param.schema {
        Schema::Number | Schema::Positive => match (held.number(param.name), required.number(param.name)) {
            (Some(most), Some(asked)) => most >= asked,
            _ => true,
        },
        Schema::Text(_) => required.text(param.name).is_none_or(|asked| held.text(param.name) == Some(asked)),
        Schema::Texts | Schema::Words(_) | Schema::Addresses => contains(held.list(param.name), required.list(param.name)),
        Schema::Domains | Schema::SetName => true,
    };
    let params = required.entitlement.params;
    params.iter().all(fits) && (!params.iter().any(is_of_hosts) || reaches_all(&reach(held, sets), &reach(required, sets)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Patterns found by their suffixes are those that cover, pair by pair.
    #[test]
    fn suffixes_find_what_covers() {
        let all = ["*", "a", "a.b", "*.b", "x.a.b", "*.a.b", "*.x.a.b", "*.com", "com", "ab.com", "b.com", "*.b.com", "1.2.3.4", "*.xa.b"];
        for kept in 0..1_u32 << all.len() {
            // Every list of at most three patterns.
            if kept.count_ones() > 3 {
                continue;
            }
            let outer: Vec<&str> = (0..all.len()).rev().filter(|place| kept >> place & 1 == 1).map(|place| all[place]).collect();
            let patterns = Patterns::of(&outer);
            for inner in all {
                assert_eq!(patterns.covers(inner), outer.iter().any(|wider| domain::covers(wider, inner)), "{inner} in {outer:?}");
            }
        }
    }
}
