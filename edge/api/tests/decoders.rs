//! Every decoder of the API: what it encodes comes back, and whatever bytes come, it answers or refuses.

#![allow(clippy::result_large_err, reason = "a refusal is the rare way out")]

use cowboy_api::{
    Hex, HexAddress, HexBytes, HexHash, cbor,
    follow::{Frame, FrameError},
    keystore, model, source,
    verify::{Claim, verify},
    wake::wake,
};
use cowboy_light::GroupKey;
use cowboy_types::{Address, Hash};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

/// All frames of the bytes, when they arrive cut at these places, and what ends them.
fn frames(bytes: &[u8], cuts: &[usize]) -> (Vec<Frame>, Result<usize, FrameError>) {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).chain([bytes.len()]).collect();
    places.sort_unstable();
    let (mut buffer, mut found, mut from) = (Vec::new(), Vec::new(), 0);
    for place in places {
        buffer.extend_from_slice(&bytes[from..place]);
        from = place;
        loop {
            match Frame::take(&mut buffer) {
                Ok(Some(frame)) => found.push(frame),
                Ok(None) => break,
                Err(error) => return (found, Err(error)),
            }
        }
    }
    (found, Ok(buffer.len()))
}

/// JSON as an argument can be: integers within 64 bits, no floats.
fn argument() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~äß∂€]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map("[a-z]{0,6}", inner, 0..6).prop_map(|map| json!(map)),
        ]
    })
}

/// The JSON of a value in the vectors, and whether JSON has all of it: then it is what [`cbor::encode`] writes.
fn json_of(marked: &Value) -> (Value, bool) {
    let Some((kind, inner)) = marked.as_object().and_then(|fields| fields.iter().next()) else { return (marked.clone(), true) };
    let text = || inner.as_str().expect("text");
    let items = || inner.as_array().expect("a list").iter();
    match kind.as_str() {
        "int" => match (text().parse::<u64>(), text().parse::<i64>()) {
            (Ok(number), _) => (number.into(), true),
            (_, Ok(number)) => (number.into(), true),
            _ => (text().into(), false),
        },
        "float" => (f64::from_bits(u64::from_str_radix(text(), 16).expect("hex")).into(), true),
        "bytes" => (format!("0x{}", text()).into(), false),
        "text" => (text().into(), true),
        "list" => {
            let (items, are_whole): (Vec<Value>, Vec<bool>) = items().map(json_of).unzip();
            (items.into(), are_whole.into_iter().all(|is_whole| is_whole))
        }
        "map" => {
            let mut is_whole = true;
            let entry = |pair: &Value| {
                let ((key, _), (item, is_whole_item)) = (json_of(&pair[0]), json_of(&pair[1]));
                is_whole &= key.is_string() && is_whole_item;
                (key.as_str().map_or_else(|| key.to_string(), str::to_owned), item)
            };
            let fields: serde_json::Map<String, Value> = items().map(entry).collect();
            (fields.into(), is_whole)
        }
        "deep" => {
            let levels = inner[0].as_u64().expect("a number");
            let (innermost, is_whole) = json_of(&inner[1]);
            ((0..levels).fold(innermost, |value, _| Value::Array(vec![value])), is_whole)
        }
        other => panic!("no row has a {other}"),
    }
}

/// The vectors that `cowboy_sdk.codec` and the explorer's codec are held to as well.
#[test]
fn cbor_is_as_the_vectors_say() {
    let vectors: Value = serde_json::from_str(include_str!("../../../tests/vectors/cbor.json")).expect("JSON");
    for (group, rows) in vectors.as_object().expect("groups of rows") {
        for row in rows.as_array().expect("rows") {
            let about = &row["about"];
            let bytes = row["hex"].as_str().map(|digits| hex::decode(digits).expect("hex")).unwrap_or_default();
            let protocol = cowboy_types::cbor::decode(&bytes);
            let (value, is_whole) = json_of(&row["value"]);
            match group.as_str() {
                "both" | "read" => {
                    let read = protocol.expect("the protocol reads it");
                    assert_eq!(cbor::to_json(&read), value, "{about}");
                    assert!(cbor::decode(&bytes).is_some(), "{about}");
                    assert!(group == "read" || read.encode() == bytes, "{about}");
                    assert!(group == "read" || !is_whole || cbor::encode(&value) == bytes, "{about}");
                }
                "written" => assert!(!is_whole || cbor::encode(&value) == bytes, "{about}"),
                "refused" => assert!(protocol.is_err() && cbor::decode(&bytes).is_none(), "{about}"),
                // JSON has no such numbers, and what is too deep is refused where it is read.
                "unwritten" => {}
                other => panic!("no test has the group {other}"),
            }
        }
    }
}

proptest! {
    #[test]
    fn frames_come_back_however_they_are_cut(
        sent in vec((vec(any::<u8>(), 0..200), vec(any::<u8>(), 0..120)), 0..6),
        cuts in vec(any::<usize>(), 0..8),
    ) {
        let sent: Vec<Frame> = sent.into_iter().map(|(block, certificate)| Frame { block, certificate }).collect();
        let bytes: Vec<u8> = sent.iter().flat_map(Frame::encode).collect();
        prop_assert_eq!(frames(&bytes, &cuts), (sent, Ok(0)));
    }

    #[test]
    fn any_bytes_are_frames_or_refused_alike(bytes in vec(any::<u8>(), 0..400), small in 0u8..4, cuts in vec(any::<usize>(), 0..8)) {
        // Small lengths, so that more than refusals come out.
        let mut bytes = bytes;
        for place in (0..bytes.len()).step_by(97) {
            bytes[place] = 0;
            if let Some(next) = bytes.get_mut(place + 1) { *next = 0 }
            if let Some(next) = bytes.get_mut(place + 2) { *next = small & 1 }
        }
        let whole = frames(&bytes, &[]);
        prop_assert_eq!(&frames(&bytes, &cuts), &whole);
        let encoded: Vec<u8> = whole.0.iter().flat_map(Frame::encode).collect();
        prop_assert!(bytes.starts_with(&encoded));
    }

    #[test]
    fn hex_comes_back_with_and_without_its_prefix(bytes in vec(any::<u8>(), 0..64), address in any::<[u8; 20]>(), hash in any::<[u8; 32]>()) {
        let texts = [Hex(bytes.clone()).to_string(), HexAddress::from(Address(address)).to_string(), HexHash::from(Hash(hash)).to_string()];
        for (text, is_prefixed) in texts.iter().map(|text| (text.as_str(), true)).chain(texts.iter().map(|text| (&text[2..], false))) {
            let upper = if is_prefixed { format!("0x{}", text[2..].to_uppercase()) } else { text.to_uppercase() };
            for text in [text, upper.as_str()] {
                let decoded: HexBytes = serde_json::from_value(json!(text)).expect("hex is hex");
                prop_assert!([bytes.as_slice(), &address, &hash].contains(&decoded.0.as_slice()));
            }
        }
        prop_assert_eq!(texts[1].parse::<HexAddress>(), Ok(Hex(Address(address))));
        prop_assert_eq!(texts[2].parse::<HexHash>(), Ok(Hex(Hash(hash))));
    }

    #[test]
    fn any_text_is_hex_or_refused(text in "\\PC{0,80}") {
        let is_hex = |text: &str| text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let digits = text.strip_prefix("0x").unwrap_or(&text);
        prop_assert_eq!(text.parse::<HexBytes>().is_ok(), is_hex(digits));
        prop_assert_eq!(text.parse::<HexAddress>().is_ok(), is_hex(digits) && digits.len() == 40);
        prop_assert_eq!(text.parse::<HexHash>().is_ok(), is_hex(digits) && digits.len() == 64);
    }

    #[test]
    fn arguments_come_back_from_cbor(value in argument()) {
        let bytes = cbor::encode(&value);
        prop_assert_eq!(cbor::decode(&bytes), Some(value.clone()));
        prop_assert_eq!(cowboy_types::cbor::decode(&bytes).map(|canonical| canonical.encode()), Ok(bytes.clone()), "the protocol reads it");
        let json = serde_json::to_vec(&value).expect("a value is JSON");
        prop_assert_eq!(cbor::decode_payload(&json), Some(value));
    }

    #[test]
    fn any_bytes_are_read_or_left(bytes in vec(any::<u8>(), 0..300)) {
        let _ = (cbor::decode_payload(&bytes), cbor::decode_or_hex(&bytes));
        if let Some(wake) = wake(&bytes) {
            prop_assert!(wake.data.len() < bytes.len());
        }
        let tagged = [b"\x00CINT".as_slice(), &bytes].concat();
        let named = [b"\xa2\x68_handler".as_slice(), &bytes].concat();
        let _ = (wake(&tagged), wake(&named));
    }

    #[test]
    fn any_text_is_a_key_or_refused(text in "\\PC{0,120}") {
        let _ = keystore::decode(&text);
        let _ = keystore::decode(&format!("-----BEGIN COWBOY PRIVATE KEY-----\n{text}\n-----END COWBOY PRIVATE KEY-----"));
    }

    #[test]
    fn any_text_is_a_source_with_handlers_or_without(text in "(@|actor|class |def |:|\n|    |\\(|\\)|self|[a-z\"'#]){0,60}") {
        let _ = (source::handlers(&text), source::infer(&text), source::format(&text, "init"));
    }

    #[test]
    fn any_bytes_are_no_proof(parts in vec(vec(any::<u8>(), 0..300), 4), root in "state|transaction|receipt|[a-z]{0,3}") {
        let key = cowboy_light::GroupKey::new(&Hash::ZERO, &generator());
        let key: GroupKey = key.expect("the generator is a point");
        let item = model::ProofItem { key: Hex(Hash::ZERO), value: Some(Hex(parts[0].clone())), proof: Hex(parts[1].clone()) };
        let proof = model::Proof { height: 1, root, items: vec![item], headers: vec![Hex(parts[2].clone())], finalization: Hex(parts[3].clone()) };
        for claim in [Claim::State(Hash::ZERO), Claim::Transaction(Hash::ZERO), Claim::Receipt(Hash::ZERO)] {
            prop_assert!(verify(&proof, &key, &[claim]).is_err());
        }
    }
}

/// The generator of G2, compressed: a key whose secret is 1.
fn generator() -> [u8; 96] {
    let digits = "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e\
                  024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8";
    let bytes: HexBytes = digits.parse().expect("hex");
    bytes.0.try_into().expect("96 bytes")
}
