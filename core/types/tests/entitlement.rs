//! Lists of grants: their wire form, every rule of 000 §10, matching, attestations, and the published vectors of all that.
#![allow(clippy::disallowed_methods, reason = "a test reads its vectors from a file")]

use crate::entitlement_vectors::{self, from_json, manifest};
use cowboy_types::block::FIRST_VERSION;
use cowboy_types::cbor::Value;
use cowboy_types::entitlement::{Attestation, Bounds, DomainSets, Grants, REGISTRY, Schema};
use cowboy_types::signing::PrivateKey;
use cowboy_types::units::Height;
use cowboy_types::{Abort, error};
use proptest::prelude::*;

const BOUNDS: Bounds = Bounds { bytes: 16_384, grants: 64, items: 256, version: FIRST_VERSION };

fn parse(json: &str) -> Result<Grants, Abort> {
    Grants::parse_manifest(BOUNDS, &manifest(json))
}

fn grants(json: &str) -> Grants {
    parse(json).unwrap_or_else(|abort| panic!("{json}: {}", error::row(abort.code).slug))
}

/// A-245, A-246, A-247, A-249, A-268: every rule of 000 §10, row by row: a list of grants and why it is refused.
#[test]
fn manifests_are_validated() {
    for (json, expected) in entitlement_vectors::MANIFESTS {
        let found = parse(json).err().map(|abort| error::row(abort.code).slug);
        assert_eq!(found.unwrap_or("valid"), *expected, "{json}");
    }
}

/// A-269: bytes that are not the one encoding of a list of grants.
#[test]
fn other_encodings_are_refused() {
    let good = grants(r#"[{"id":"storage.kv","params":{"max_bytes":5}}]"#);
    let bytes = good.to_manifest();
    assert_eq!(Grants::parse_manifest(BOUNDS, &bytes), Ok(good));
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut changed = bytes.clone();
        change(&mut changed);
        changed
    };
    let rows = [
        ("nothing", vec![]),
        ("no map", vec![0x80]),
        ("another key", Value::map([("grants", Value::Array(vec![]))]).encode()),
        ("a key more", Value::map([("entitlements", Value::Array(vec![])), ("note", Value::Null)]).encode()),
        ("a byte more", with(&|bytes| bytes.push(0))),
        ("a byte less", with(&|bytes| bytes.truncate(bytes.len() - 1))),
        (
            "an indefinite map",
            with(&|bytes| {
                bytes[0] = 0xBF;
                bytes.push(0xFF);
            }),
        ),
        (
            "a longer number",
            with(&|bytes| {
                bytes.pop();
                bytes.extend([0x18, 0x05]);
            }),
        ),
        ("too many bytes", vec![0; 16_385]),
        ("too many grants", Value::map([("entitlements", Value::Array(vec![Value::Null; 65]))]).encode()),
    ];
    for (case, bytes) in rows {
        assert_eq!(Grants::parse_manifest(BOUNDS, &bytes), Err(error::MANIFEST_INVALID), "{case}");
    }
}

/// A-250, A-251, A-253, A-264: what a runner must provide for what an actor requires.
#[test]
fn a_runner_provides_a_superset() {
    for (required, provided, expected) in entitlement_vectors::MATCHES {
        assert_eq!(grants(provided).provide(&grants(required), &DomainSets::default()), *expected, "{required} by {provided}");
    }
}

/// A-260: a child has only what its parent has, may pass on, and no more of it.
#[test]
fn a_child_stays_within_its_parent() {
    for (child, parent, expected) in entitlement_vectors::CHILDREN {
        assert_eq!(grants(child).are_within(&grants(parent), &DomainSets::default()), *expected, "{child} of {parent}");
    }
}

/// A-251: a set that governance replaced is what a grant of it reaches.
#[test]
fn sets_are_governed() {
    let grant = grants(r#"[{"id":"http.fetch","params":{"domain_set":"price_feeds"}}]"#);
    let fetch = grant.get("http.fetch").expect("granted");
    let mut sets = DomainSets::default();
    assert!(fetch.reaches(&["api.coingecko.com"], &sets) && !fetch.reaches(&["example.org"], &sets));
    sets.put("price_feeds", vec!["*.example.org".to_string()]);
    assert!(!fetch.reaches(&["api.coingecko.com"], &sets) && fetch.reaches(&["a.example.org"], &sets));
    sets.put("price_feeds", vec![]);
    assert!(!fetch.reaches(&["a.example.org"], &sets), "an empty set reaches nothing");
}

fn attestation() -> (PrivateKey, Attestation) {
    let key = PrivateKey::from_bytes([7; 32]).expect("a key");
    let mut attestation = entitlement_vectors::attestation(&key);
    attestation.sign(&key);
    (key, attestation)
}

/// A-256, A-259: one encoding, signed over everything but the signature, by the runner alone.
#[test]
fn an_attestation_is_signed_whole() {
    let (key, signed) = attestation();
    assert_eq!(Attestation::decode(BOUNDS, &signed.encode()), Ok(signed.clone()));
    assert!(signed.is_signed());
    let changes: [(&str, fn(&mut Attestation)); 6] = [
        ("runner", |attestation| attestation.runner_id.0[0] ^= 1),
        ("capabilities", |attestation| attestation.capabilities = Grants::default()),
        ("from", |attestation| attestation.valid_from = Height(1)),
        ("until", |attestation| attestation.valid_until = Height(u64::MAX)),
        ("evidence", |attestation| attestation.evidence_hash = None),
        ("signature", |attestation| attestation.signature.0[64] ^= 1),
    ];
    for (case, change) in changes {
        let mut changed = signed.clone();
        change(&mut changed);
        assert!(!changed.is_signed(), "{case}");
        let mut of_other = changed;
        of_other.sign(&PrivateKey::from_bytes([8; 32]).expect("a key"));
        assert!(!of_other.is_signed(), "{case}, signed by another");
    }
    let mut without = signed;
    without.evidence_hash = None;
    without.sign(&key);
    assert_eq!(Attestation::decode(BOUNDS, &without.encode()), Ok(without));
}

/// A-257, A-258: heights count at both ends.
#[test]
fn an_attestation_has_a_span() {
    let (_, attestation) = attestation();
    let (from, until) = (attestation.valid_from.0, attestation.valid_until.0);
    for (height, expected) in [(from - 1, false), (from, true), (until, true), (until + 1, false)] {
        assert_eq!(attestation.is_valid_at(Height(height)), expected, "{height}");
    }
}

/// A-256: records with other fields than those of 000 appendix A.
#[test]
fn other_attestations_are_refused() {
    let (_, signed) = attestation();
    let record = cowboy_types::cbor::decode(&signed.encode()).expect("CBOR");
    let Value::Map(pairs) = record else { unreachable!("a record is a map") };
    for place in 0..pairs.len() {
        let mut fewer = pairs.clone();
        let (name, _) = fewer.remove(place);
        let is_optional = name.as_text() == Some("evidence_hash");
        assert_eq!(Attestation::decode(BOUNDS, &Value::Map(fewer).encode()).is_ok(), is_optional, "without {name:?}");
        let mut other = pairs.clone();
        other[place].1 = Value::Null;
        assert!(Attestation::decode(BOUNDS, &Value::Map(other).encode()).is_err(), "{name:?} is null");
    }
    let more = Value::dict(pairs.iter().map(|(name, value)| (name.as_text().expect("a text"), value.clone())).chain([("x", Value::Null)]));
    assert_eq!(Attestation::decode(BOUNDS, &more.encode()), Err(error::ATTESTATION_INVALID));
    let unsorted = Value::map([("id", Value::text("storage.nothing"))]);
    let mut unknown = pairs.clone();
    for pair in &mut unknown {
        if pair.0.as_text() == Some("capabilities") {
            pair.1 = Value::Array(vec![unsorted.clone()]);
        }
    }
    assert_eq!(Attestation::decode(BOUNDS, &Value::Map(unknown).encode()), Err(error::ENTITLEMENT_UNKNOWN));
}

#[test]
fn the_vectors_are_published() {
    let published = include_str!("../../../tests/vectors/entitlements.json");
    assert_eq!(
        published,
        entitlement_vectors::json(),
        "run: cargo run -p cowboy-types --example entitlement_vectors > tests/vectors/entitlements.json"
    );
}

#[test]
fn the_page_has_the_rows() {
    let page = include_str!("../../../docs/entitlements.md");
    let rows = cowboy_types::entitlement::page::markdown();
    assert!(page.contains(&rows), "put the output of `cargo run -p cowboy-types --example entitlement_page` between the marks");
}

/// A value that a schema accepts.
fn value_of(schema: Schema) -> BoxedStrategy<Value> {
    let hosts = prop::sample::select(vec!["*", "*.a.com", "a.com", "x.a.com", "*.x.a.com", "b.org"]);
    let list = |items: BoxedStrategy<Value>| prop::collection::vec(items, 0..4).prop_map(Value::Array).boxed();
    match schema {
        Schema::Number => (0..6u64).prop_map(Value::uint).boxed(),
        Schema::Positive => (1..6u64).prop_map(Value::uint).boxed(),
        Schema::Text(known) | Schema::Words(known) if matches!(schema, Schema::Text(_)) => {
            prop::sample::select(known).prop_map(Value::text).boxed()
        }
        Schema::Text(known) | Schema::Words(known) => list(prop::sample::select(known).prop_map(Value::text).boxed()),
        Schema::SetName => prop::sample::select(vec!["price_feeds", "social_apis", "nothing"]).prop_map(Value::text).boxed(),
        Schema::Texts => list(prop::sample::select(vec!["wETH", "*", "DAI"]).prop_map(Value::text).boxed()),
        Schema::Domains => list(hosts.prop_map(Value::text).boxed()),
        Schema::Addresses => list((0..3u8).prop_map(|byte| Value::Bytes(vec![byte; 20])).boxed()),
    }
}

/// Any valid list of grants.
fn any_grants() -> impl Strategy<Value = Grants> {
    let of_row = |row: &'static cowboy_types::entitlement::Entitlement| {
        let params: Vec<_> =
            row.params.iter().map(|param| prop::option::of(value_of(param.schema).prop_map(|value| (param.name, value)))).collect();
        prop::option::of(params.prop_map(|params| {
            let params: Vec<_> = params.into_iter().flatten().collect();
            let id = ("id", Value::text(row.id));
            if params.is_empty() { Value::map([id]) } else { Value::map([id, ("params", Value::dict(params))]) }
        }))
    };
    let rows: Vec<_> = REGISTRY.iter().map(of_row).collect();
    rows.prop_map(|grants| {
        Grants::read(BOUNDS, &Value::Array(grants.into_iter().flatten().collect())).expect("the rows are valid and in order")
    })
}

fn inheritable(grants: &Grants) -> Grants {
    let kept = grants.all().iter().filter(|grant| grant.entitlement.inheritable).map(|grant| grant.to_value()).collect();
    Grants::read(BOUNDS, &Value::Array(kept)).expect("a part of a valid list is valid")
}

proptest! {
    /// A-269: one list, one encoding.
    #[test]
    fn grants_survive_their_bytes(grants in any_grants()) {
        prop_assert_eq!(Grants::parse_manifest(BOUNDS, &grants.to_manifest()), Ok(grants));
    }

    /// A-250, A-260: being within is an order: everything within itself, and what lies within the middle lies within the outer.
    #[test]
    fn being_within_is_an_order(one in any_grants(), two in any_grants(), three in any_grants()) {
        let sets = DomainSets::default();
        let (one, two, three) = (inheritable(&one), inheritable(&two), inheritable(&three));
        prop_assert!(one.are_within(&one, &sets));
        prop_assert!(Grants::default().are_within(&one, &sets));
        if one.are_within(&two, &sets) && two.are_within(&three, &sets) {
            prop_assert!(one.are_within(&three, &sets));
        }
    }

    /// A-250: every runner provides what it has, and one that can do all provides to everybody.
    #[test]
    fn a_runner_provides_what_it_has(grants in any_grants()) {
        let sets = DomainSets::default();
        prop_assert!(grants.provide(&grants, &sets));
        prop_assert!(grants.provide(&Grants::default(), &sets));
        let open: Vec<Value> = grants.all().iter().filter(|grant| !matches!(grant.entitlement.id, "sec.tee_required" | "sec.data_residency"))
            .map(|grant| Value::map([("id", Value::text(grant.entitlement.id))])).collect();
        let open = Grants::read(BOUNDS, &Value::Array(open)).expect("ids in order");
        let asked: Vec<Value> = grants.all().iter().filter(|grant| open.get(grant.entitlement.id).is_some()).map(|grant| grant.to_value()).collect();
        prop_assert!(open.provide(&Grants::read(BOUNDS, &Value::Array(asked)).expect("ids in order"), &sets));
    }

    /// Whatever comes from outside is refused or understood, and what is understood has these bytes.
    #[test]
    fn any_bytes_are_met(bytes in prop::collection::vec(any::<u8>(), 0..64), json in "\\PC{0,20}") {
        if let Ok(grants) = Grants::parse_manifest(BOUNDS, &bytes) {
            prop_assert!(Grants::parse_manifest(BOUNDS, &grants.to_manifest()).is_ok());
        }
        let _ = Attestation::decode(BOUNDS, &bytes);
        let _ = cowboy_types::entitlement::domain::is_canonical_pattern(&json);
    }
}

#[test]
fn json_reads_as_the_vectors_do() {
    assert_eq!(from_json(r#"{"a":[1,"0x0102"]}"#), Value::map([("a", Value::Array(vec![Value::uint(1), Value::text("0x0102")]))]));
}

/// A-267: a change of the registry is a change of the protocol: an entitlement is unknown before the version that introduced it.
#[test]
fn entitlements_begin_with_a_protocol_version() {
    for row in REGISTRY {
        let before = Bounds { version: row.since - 1, ..BOUNDS };
        let granted = Value::Array(vec![Value::map([("id", Value::text(row.id))])]);
        assert_eq!(Grants::read(before, &granted), Err(error::ENTITLEMENT_UNKNOWN), "{}", row.id);
        assert!(Grants::read(Bounds { version: row.since, ..BOUNDS }, &granted).is_ok(), "{}", row.id);
    }
}
