//! Answers with proofs, checked as a client does, and every lie that a gateway could try.

use super::World;
use bytes::Bytes;
use commonware_codec::Encode as _;
use cowboy_ingress::{
    Asked, Checked, Refused, Step, Trust, Witness,
    check::check,
    signed::{NotSigned, SIGNATURE_HEADER, check_witness},
    witness::CONTENT_TYPE,
};
use cowboy_state::{Key, Kind};
use cowboy_types::{
    Hash,
    units::Count,
    wire::{Blob, List, Text},
};
use hyper::{HeaderMap, header::HeaderValue};
use std::path::PathBuf;

/// Where the cases are written for programs in other languages, where that is asked for.
const CASES: &str = "COWBOY_WITNESS_CASES";

fn trust(world: &World) -> Trust {
    let genesis = &world.node.config().genesis;
    Trust::new(&genesis.config.encode(), &genesis.committee.group_key().0).expect("the genesis is one")
}

async fn asked(world: &World, host: &str, path: &str) -> Bytes {
    asked_signed(world, host, path).await.0
}

/// The witness, and what the gateway signed beside it.
async fn asked_signed(world: &World, host: &str, path: &str) -> (Bytes, HeaderValue) {
    let response = world.request("GET", host, path).header("cowboy-verify", "1").send().await.expect("the gateway answers");
    assert_eq!(response.status().as_u16(), 200);
    assert_eq!(response.headers()["content-type"], CONTENT_TYPE);
    assert_eq!(response.headers()["access-control-allow-origin"], "*");
    assert_eq!(response.headers()["access-control-expose-headers"], SIGNATURE_HEADER);
    let signature = response.headers()[SIGNATURE_HEADER].clone();
    (response.bytes().await.expect("a body"), signature)
}

fn url(host: &str, path: &str) -> Asked {
    Asked::of_url(&format!("http://{host}{path}"), &["localhost"]).expect("a URL")
}

/// Every answer that only reads can be proven: pages, failures, names that nobody has.
pub(crate) async fn proving(world: &World) {
    let trust = trust(world);
    let rows = [
        ("mysite.localhost", "/"),
        ("blog.mysite.localhost:8080", "/?x=1&x=2"),
        ("rogue.localhost", "/echo/a?b=c"),
        ("rogue.localhost", "/status/204"),
        ("rogue.localhost", "/raise"),
        ("rogue.localhost", "/write"),
        ("rogue.localhost", "/loop"),
        ("rogue.localhost", "/inject"),
        ("unknown-name.localhost", "/"),
    ];
    for (host, path) in rows {
        let (bytes, signature) = asked_signed(world, host, path).await;
        signed_for(world, &trust, &bytes, &signature);
        let plain = world.request("GET", host, path).send().await.expect("the gateway answers");
        let checked = check(bytes.clone(), &trust, Some(&url(host, path)), 1).unwrap_or_else(|error| panic!("{host}{path}: {error}"));
        same(&checked, plain).await;
        let sent = HeaderMap::from_iter([("accept", "*/*"), ("host", host)].map(|(name, value)| {
            (name.parse::<hyper::header::HeaderName>().expect("a name"), value.parse::<hyper::header::HeaderValue>().expect("a value"))
        }));
        check(bytes.clone(), &trust, Some(&url(host, path).with_headers(sent)), 1).expect("these headers were sent");
        let other = url(host, path).with_headers(HeaderMap::new());
        assert_eq!(check(bytes, &trust, Some(&other), 1).err(), Some(Refused::OtherRequest("headers")));
    }
    lying(world, &trust).await;
}

/// Proofs that are asked for while blocks change what they prove: each is of one block, and of none that was old when it was asked.
pub(crate) async fn moving(world: &World) {
    let trust = trust(world);
    let (host, mut shown) = ("mysite.localhost", std::collections::BTreeMap::new());
    let mut look = async || {
        let least = world.node.head().height.0;
        let bytes = asked(world, host, "/").await;
        let checked = check(bytes, &trust, Some(&url(host, "/")), least).unwrap_or_else(|error| panic!("after block {least}: {error}"));
        let page = String::from_utf8(checked.body.to_vec()).expect("a page");
        let count: u64 =
            page.split("<p id='count'>").nth(1).and_then(|rest| rest.split(' ').next()).expect("a count").parse().expect("a number");
        let height = checked.header.height().0;
        assert_eq!(*shown.entry(height).or_insert(count), count, "block {height} has one answer");
        assert!(shown.values().is_sorted(), "entries are only added: {shown:?}");
        count
    };
    let before = look().await;
    for number in before + 1..before + 6 {
        let signed = world.request("POST", host, "/sign").body(format!("text=Line {number}")).send();
        let (signed, _) = tokio::join!(signed, look());
        assert_eq!(signed.expect("the gateway answers").status().as_u16(), 202);
        // Asked again and again until the block is there: the last answer of the old state, and the first of the new one.
        let mut asked = 0;
        while look().await < number {
            asked += 1;
            assert!(asked < 1_000, "the command is in a block soon");
        }
    }
}

/// The gateway signs what it proves: for this answer, request, block and name, and for no other.
fn signed_for(world: &World, trust: &Trust, bytes: &Bytes, signature: &HeaderValue) {
    let witness = Witness::read(bytes.clone()).expect("a witness");
    let check = |witness: &Witness| check_witness(signature.as_bytes(), trust.signing(), witness);
    assert_eq!(check(&witness), Ok(world.keys[1].address()));
    let after = |change: Lie| {
        let mut other = witness.clone();
        change(&mut other);
        check(&other).err()
    };
    assert_eq!(after(|witness| witness.status = 418), Some(NotSigned::OtherAnswer("status")));
    assert_eq!(after(|witness| witness.name = Text::new("other").expect("short")), Some(NotSigned::OtherAnswer("name")));
    assert_eq!(after(|witness| witness.request = flipped(&witness.request, 9)), Some(NotSigned::OtherRequest));
    let of_later_block = after(|witness| {
        let mut headers = witness.anchor.headers.to_vec();
        headers[0].number = Count(headers[0].number.0 + 1);
        witness.anchor.headers = List::new(headers).expect("as many");
    });
    assert_eq!(of_later_block, Some(NotSigned::OtherAnswer("block")));
    assert_eq!(check_witness(b"zz", trust.signing(), &witness), Err(NotSigned::Malformed));
}

async fn same(checked: &Checked, plain: reqwest::Response) {
    assert_eq!(checked.status, plain.status().as_u16());
    for (name, value) in &checked.headers {
        assert!(plain.headers().get_all(name).iter().any(|other| other == value), "{name}");
    }
    assert_eq!(checked.body, plain.bytes().await.expect("a body"), "proven or not, it is the same answer");
}

/// A change of a witness.
type Lie = fn(&mut Witness);

/// Everything that a gateway could change: each is found, at the step where it shows.
async fn lying(world: &World, trust: &Trust) {
    let (truth, signature) = asked_signed(world, "mysite.localhost", "/").await;
    let witness = Witness::read(truth.clone()).expect("a witness");
    assert_eq!(witness.encode(), truth);
    let before = std::env::var_os(CASES).map(PathBuf::from);
    let lies: [(&str, Step, Lie); 14] = [
        ("one byte of the body", Step::Answer, |witness| witness.body = flipped(&witness.body, 40)),
        ("a body without its end", Step::Answer, |witness| witness.body = Blob::new(witness.body.bytes().slice(..9)).expect("short")),
        ("the status", Step::Answer, |witness| witness.status = 404),
        ("a header", Step::Answer, |witness| {
            let mut lines = witness.headers.to_vec();
            lines[0].value = flipped(&lines[0].value, 0);
            witness.headers = List::new(lines).expect("as many");
        }),
        ("one value of the storage", Step::State, |witness| change(witness, Kind::Storage, |value| Some(flipped(value, value.len() - 1)))),
        ("a value that is not there", Step::State, |witness| change(witness, Kind::Storage, |_| None)),
        ("the code", Step::State, |witness| change(witness, Kind::Code, |value| Some(flipped(value, value.len() / 2)))),
        ("the proof", Step::State, |witness| {
            let mut entries = witness.entries.to_vec();
            entries[0].proof = flipped(&entries[0].proof, 50);
            witness.entries = List::new(entries).expect("as many");
        }),
        ("the order", Step::State, |witness| {
            let mut entries = witness.entries.to_vec();
            entries.swap(0, 1);
            witness.entries = List::new(entries).expect("as many");
        }),
        ("a record left out", Step::Replay, |witness| {
            let kept = witness.entries.iter().filter(|entry| kind(entry) != Some(Kind::Code)).cloned().collect();
            witness.entries = List::new(kept).expect("fewer");
        }),
        ("the height", Step::Certificate, |witness| {
            let mut headers = witness.anchor.headers.to_vec();
            headers[0].number = Count(headers[0].number.0 + 1);
            witness.anchor.headers = List::new(headers).expect("as many");
        }),
        ("another chain", Step::Certificate, |witness| {
            let mut headers = witness.anchor.headers.to_vec();
            headers[0].genesis = Hash([7; 32]);
            witness.anchor.headers = List::new(headers).expect("as many");
        }),
        ("the certificate", Step::Certificate, |witness| {
            witness.anchor.certificate = flipped(&witness.anchor.certificate, witness.anchor.certificate.len() - 1);
        }),
        ("another name", Step::Request, |witness| witness.name = Text::new("rogue").expect("short")),
    ];
    let asked_for = url("mysite.localhost", "/");
    let mut cases = vec![("the truth".to_owned(), None, truth.clone())];
    for (what, step, lie) in lies {
        let mut changed = witness.clone();
        lie(&mut changed);
        assert_ne!(changed, witness, "{what}");
        cases.push((what.to_owned(), Some(step), changed.encode()));
    }
    // An answer to another question, and one that was true before.
    cases.push(("another request".into(), Some(Step::Request), asked(world, "mysite.localhost", "/?page=2").await));
    cases.push(("another site".into(), Some(Step::Request), asked(world, "rogue.localhost", "/").await));
    cases.push(("a page".into(), Some(Step::Request), Bytes::from_static(b"<!doctype html>")));
    cases.push(("bytes behind".into(), Some(Step::Request), [truth.as_ref(), b"\0"].concat().into()));
    cases.push(("a later version".into(), Some(Step::Request), [&[2], &truth[1..]].concat().into()));
    for (what, step, bytes) in &cases {
        let found = check(bytes.clone(), trust, Some(&asked_for), 1).err();
        assert_eq!(found.as_ref().map(Refused::step), *step, "{what}: {found:?}");
    }
    let old = check(truth, trust, Some(&asked_for), u64::MAX).err();
    assert_eq!(old.map(|error| error.step()), Some(Step::Certificate), "what was true once may be too old");
    if let Some(folder) = before {
        write(world, &folder, &cases, &signature);
    }
}

/// The cases as files: what a checker needs, the bytes of each, and what is expected of it.
fn write(world: &World, folder: &std::path::Path, cases: &[(String, Option<Step>, Bytes)], signature: &HeaderValue) {
    let genesis = &world.node.config().genesis;
    std::fs::create_dir_all(folder).expect("a folder");
    let mut rows = Vec::new();
    for (place, (what, step, bytes)) in cases.iter().enumerate() {
        let file = format!("{place:02}.witness");
        std::fs::write(folder.join(&file), bytes).expect("a file");
        rows.push(serde_json::json!({ "what": what, "fails": step.map(Step::name), "file": file }));
    }
    let (config, key) = (hex::encode(genesis.config.encode()), hex::encode(genesis.committee.group_key().0));
    let all = serde_json::json!({
        "url": "http://mysite.localhost/",
        "genesis": { "hash": genesis.hash().to_string(), "config": format!("0x{config}"), "sharing": "0x", "group_key": format!("0x{key}") },
        "cases": rows,
        "signature": signature.to_str().expect("digits"),
        "gateway": world.keys[1].address().to_string(),
    });
    std::fs::write(folder.join("cases.json"), all.to_string()).expect("a file");
}

fn flipped<const MAX: usize>(bytes: &Blob<MAX>, place: usize) -> Blob<MAX> {
    let mut bytes = bytes.to_vec();
    bytes[place] ^= 1;
    Blob::new(bytes).expect("as long")
}

fn kind(entry: &cowboy_ingress::witness::Entry) -> Option<Kind> {
    entry.value.as_ref().and_then(|value| Key::open(value.bytes())).map(|(key, _)| key.kind)
}

/// Changes the first record of a kind.
fn change(
    witness: &mut Witness,
    of: Kind,
    to: impl Fn(&Blob<{ cowboy_ingress::witness::MAX_RECORD_BYTES }>) -> Option<Blob<{ cowboy_ingress::witness::MAX_RECORD_BYTES }>>,
) {
    let mut entries = witness.entries.to_vec();
    let entry = entries.iter_mut().find(|entry| kind(entry) == Some(of)).expect("the handler reads one");
    entry.value = entry.value.as_ref().and_then(to);
    witness.entries = List::new(entries).expect("as many");
}
