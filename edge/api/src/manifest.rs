//! Manifests as people write them, and as the chain takes them.
//!
//! In JSON hosts may be in any case and script, and addresses are hex; on the wire hosts are in their canonical form, addresses are bytes,
//! grants ascend by id and maps by key. What has no canonical form goes as it is: the chain says what is wrong with it.

use crate::{cbor, model::Entitlement};
use cowboy_types::Address;
use cowboy_types::cbor::Value as Wire;
use cowboy_types::entitlement::{Schema, entitlement};
use serde_json::{Value, json};

/// The manifest of these grants as JSON.
pub fn manifest(grants: &[Entitlement]) -> Value {
    let grants: Vec<Value> = grants
        .iter()
        .map(|grant| match &grant.params {
            Value::Object(params) if !params.is_empty() => json!({ "id": grant.id, "params": params }),
            _ => json!({ "id": grant.id }),
        })
        .collect();
    json!({ "entitlements": grants })
}

/// The canonical bytes of a manifest.
pub fn manifest_bytes(manifest: &Value) -> Vec<u8> {
    let mut manifest = manifest.clone();
    if let Some(grants) = manifest.get_mut("entitlements").and_then(Value::as_array_mut) {
        grants.sort_by(|one, other| one["id"].as_str().cmp(&other["id"].as_str()));
        grants.iter_mut().for_each(normalise);
    }
    let Ok(mut wire) = cowboy_types::cbor::decode(&cbor::encode(&manifest)) else { return cbor::encode(&manifest) };
    each_grant(&mut wire, |schema, value| {
        if schema == Schema::Addresses
            && let Wire::Array(items) = value
        {
            items.iter_mut().for_each(to_bytes);
        }
    });
    wire.encode()
}

/// Brings a grant's hosts into their canonical form.
fn normalise(grant: &mut Value) {
    let Some(row) = grant["id"].as_str().and_then(entitlement) else { return };
    for param in row.params.iter().filter(|param| param.schema == Schema::Domains) {
        let hosts = grant.pointer_mut(&format!("/params/{}", param.name)).and_then(Value::as_array_mut);
        for host in hosts.into_iter().flatten() {
            if let Some(canonical) = host.as_str().and_then(canonical_pattern) {
                *host = canonical.into();
            }
        }
    }
}

/// Calls a function for every parameter of a manifest whose schema is known.
fn each_grant(manifest: &mut Wire, mut change: impl FnMut(Schema, &mut Wire)) {
    let Wire::Map(pairs) = manifest else { return };
    let Some((_, Wire::Array(grants))) = pairs.iter_mut().find(|(key, _)| key.as_text() == Some("entitlements")) else { return };
    for grant in grants {
        let Some(row) = grant.get("id").and_then(Wire::as_text).and_then(entitlement) else { continue };
        let Wire::Map(pairs) = grant else { continue };
        let Some((_, Wire::Map(params))) = pairs.iter_mut().find(|(key, _)| key.as_text() == Some("params")) else { continue };
        for (name, value) in params {
            if let Some(param) = name.as_text().and_then(|name| row.param(name)) {
                change(param.schema, value);
            }
        }
    }
}

fn to_bytes(item: &mut Wire) {
    if let Some(address) = item.as_text().and_then(|text| text.parse::<Address>().ok()) {
        *item = Wire::Bytes(address.0.to_vec());
    }
}

/// The canonical form of a host, or of `*.` and one: lower-case, punycode, no final dot (000 §8.2). `None` where it has none.
pub fn canonical_pattern(text: &str) -> Option<String> {
    if text == "*" {
        return Some(text.to_owned());
    }
    let (wildcard, host) = text.strip_prefix("*.").map_or(("", text), |host| ("*.", host));
    let host = idna::domain_to_ascii_strict(host.strip_suffix('.').unwrap_or(host)).ok()?;
    let pattern = format!("{wildcard}{host}");
    cowboy_types::entitlement::domain::is_canonical_pattern(&pattern).then_some(pattern)
}

/// What is wrong with a manifest as it was written: the chain would refuse it by a number, or a key would count as nothing. Ids that no
/// entitlement has are left for the chain.
pub fn check(manifest: &Value) -> Result<(), String> {
    let Some(fields) = manifest.as_object() else { return Err("it is not an object".to_owned()) };
    if let Some(key) = fields.keys().find(|key| *key != "entitlements") {
        return Err(format!("it has the key {key:?}, which no manifest has"));
    }
    let Some(grants) = fields.get("entitlements") else { return Ok(()) };
    let grants = grants.as_array().ok_or_else(|| "its entitlements are not a list".to_owned())?;
    grants.iter().try_for_each(check_grant)
}

fn check_grant(grant: &Value) -> Result<(), String> {
    let id = grant.get("id").and_then(Value::as_str).ok_or_else(|| format!("the grant {grant} is not an object with an id"))?;
    let other = grant.as_object().and_then(|fields| fields.keys().find(|key| !matches!(key.as_str(), "id" | "params")));
    if let Some(key) = other {
        return Err(format!("the grant of {id} has the key {key:?}: it takes id and params"));
    }
    let (Some(params), Some(row)) = (grant.get("params"), entitlement(id)) else { return Ok(()) };
    let params = params.as_object().ok_or_else(|| format!("the params of {id} are not an object"))?;
    let Some(unknown) = params.keys().find(|name| row.param(name).is_none()) else { return Ok(()) };
    let known: Vec<&str> = row.params.iter().map(|param| param.name).collect();
    let known = if known.is_empty() { "no parameters".to_owned() } else { known.join(", ") };
    Err(format!("{id} has no parameter {unknown:?}: it takes {known}"))
}

/// The grants in a manifest; what is malformed is left out.
pub fn grants(manifest: &Value) -> Vec<Entitlement> {
    let grants = manifest.get("entitlements").unwrap_or(manifest).as_array();
    let grant = |value: &Value| {
        let id = value.get("id")?.as_str()?.to_owned();
        let params = value.get("params").cloned().unwrap_or_else(|| json!({}));
        Some(Entitlement { id, params, deprecated: false })
    };
    grants.into_iter().flatten().filter_map(grant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::entitlement::{Bounds, Grants};

    #[test]
    fn a_manifest_survives_its_bytes_in_order() {
        let written = json!({ "entitlements": [{ "id": "storage.kv", "params": { "max_bytes": 10 } }, { "id": "econ.transfer" }] });
        let read = cbor::decode(&manifest_bytes(&written)).expect("the bytes are CBOR");
        let ids: Vec<String> = grants(&read).into_iter().map(|grant| grant.id).collect();
        assert_eq!(ids, ["econ.transfer", "storage.kv"]);
        assert_eq!(manifest(&grants(&read)), read);
    }

    /// what people write becomes what the chain takes.
    #[test]
    fn manifests_become_canonical() {
        let bounds = Bounds { bytes: 16_384, grants: 64, items: 256, version: u8::MAX };
        let written = json!({ "entitlements": [
            { "id": "http.fetch", "params": { "allowlist_domains": ["API.Example.COM", "*.bücher.example", "*", "xn--exmple-cua.com", "a.com."] } },
            { "id": "bridge.subscribe_event", "params": { "allowlist_contracts": ["0x1111111111111111111111111111111111111111"] } },
        ]});
        let bytes = manifest_bytes(&written);
        let read = Grants::parse_manifest(bounds, &bytes).expect("the chain takes it");
        assert!(read.get("bridge.subscribe_event").is_some_and(|grant| grant.lists_address("allowlist_contracts", &Address([0x11; 20]))));
        let shown = cbor::decode(&bytes).expect("CBOR");
        let hosts = json!(["api.example.com", "*.xn--bcher-kva.example", "*", "xn--exmple-cua.com", "a.com"]);
        assert_eq!(shown["entitlements"][1]["params"]["allowlist_domains"], hosts);
        assert_eq!(shown["entitlements"][0]["params"]["allowlist_contracts"], json!(["0x1111111111111111111111111111111111111111"]));
    }

    /// what has no canonical form is left for the chain to refuse.
    #[test]
    fn hosts_have_one_form_or_none() {
        let rows = [
            ("Straße.de", Some("xn--strae-oqa.de")),
            ("ПРИМЕР.рф", Some("xn--e1afmkfd.xn--p1ai")),
            ("*.Example.com", Some("*.example.com")),
            ("a..b", None),
            ("https://a.com", None),
            ("a b", None),
            ("*.*", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(canonical_pattern(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn mistakes_in_manifests_are_named() {
        let rows = [
            (json!({}), None),
            (
                json!({ "entitlements": [{ "id": "storage.kv", "params": { "max_bytes": 10 } }, { "id": "no.such", "params": { "x": 1 } }] }),
                None,
            ),
            (json!([{ "id": "storage.kv" }]), Some("it is not an object")),
            (json!({ "entitlement": [] }), Some("it has the key \"entitlement\", which no manifest has")),
            (json!({ "entitlements": {} }), Some("its entitlements are not a list")),
            (json!({ "entitlements": ["storage.kv"] }), Some("the grant \"storage.kv\" is not an object with an id")),
            (
                json!({ "entitlements": [{ "id": "storage.kv", "param": {} }] }),
                Some("the grant of storage.kv has the key \"param\": it takes id and params"),
            ),
        ];
        for (manifest, expected) in rows {
            assert_eq!(check(&manifest).err().as_deref(), expected, "{manifest}");
        }
        let wrong = json!({ "entitlements": [{ "id": "storage.kv", "params": { "max_byte": 10 } }] });
        let refused = check(&wrong).expect_err("there is no such parameter");
        assert!(refused.starts_with("storage.kv has no parameter \"max_byte\": it takes ") && refused.contains("max_bytes"), "{refused}");
    }
}
