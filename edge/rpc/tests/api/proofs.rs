//! Proofs, verified by the light client, which has none of the node's code.

use crate::devnet::Devnet;
use cowboy_api::{
    Hex,
    model::{self, Proof},
    verify::{Claim, Verified, VerifyError, verify},
};
use cowboy_light::{GroupKey, Mismatch, Refused};
use cowboy_state::{Key, Kind};
use cowboy_types::{Address, Amount, Hash, Instruction, System};
use serde_json::json;
use std::time::Duration;

const KEEPER: &str = r#"
from cowboy_sdk import actor, public

@actor
class Keeper:
    @public
    def keep(self, key: str, value: int) -> None:
        self.storage[key] = value
"#;

pub(crate) async fn validators(devnet: &Devnet) -> GroupKey {
    let genesis: model::Genesis = devnet.client.get("/genesis").await.expect("the genesis is known");
    let key = genesis.group_key.0.as_slice().try_into().expect("the key has 96 bytes");
    GroupKey::new(&genesis.hash, key).expect("the key is a key")
}

fn state(key: &Key) -> Claim {
    Claim::State(Hash(key.digest().0))
}

/// Every proof of the API leads to a header that the validators' certificate finalizes, checked in pure Rust from the bytes alone
/// (A-142, A-161, A-163, A-164).
#[tokio::test(flavor = "multi_thread")]
async fn proofs_hold_against_the_validators_certificate() {
    let devnet = Devnet::start(None).await;
    let (client, key) = (&devnet.client, &devnet.keys[0]);
    let actor = devnet.deploy(key, 0, KEEPER).await;
    devnet.execute(key, 1, actor, "keep", json!(["color", 7])).await;
    let to = devnet.keys[1].address();
    let sent = devnet.transaction(key, 2, Instruction::System(System::Transfer { to, amount: Amount(1) }));
    let receipt = client.submit_wait(&sent, Duration::from_secs(30)).await.expect("the transfer is included");
    let absent = Address([9; 20]);
    let validators = validators(&devnet).await;
    let (account, record) = (|of| state(&Key::account(of)), |of| state(&Key::of(Kind::Actor, of)));
    let entry = |of, name: &str| state(&Key::storage(of, name.as_bytes().to_vec()));
    let rows = [
        (format!("/proof/account/{to}"), account(to), true),
        (format!("/proof/account/{absent}"), account(absent), false),
        (format!("/proof/actor/{actor}"), record(actor), true),
        (format!("/proof/actor/{absent}"), record(absent), false),
        (format!("/proof/storage/{actor}/color"), entry(actor, "color"), true),
        (format!("/proof/storage/{actor}/0x636f6c6f72"), entry(actor, "color"), true),
        (format!("/proof/storage/{actor}/shape"), entry(actor, "shape"), false),
        (format!("/proof/storage/{absent}/color"), entry(absent, "color"), false),
        (format!("/proof/tx/{}", sent.digest()), Claim::Transaction(sent.digest()), true),
        (format!("/proof/receipt/{}", receipt.tx_hash), Claim::Receipt(receipt.tx_hash.0), true),
    ];
    let mut proofs = Vec::new();
    for (path, claim, is_there) in rows {
        let proof: Proof = client.get(&path).await.expect("the proof is made");
        let verified = verify(&proof, &validators, &[claim]).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!((verified.header.height().get(), proof.items[0].value.is_some()), (proof.height, is_there), "{path}");
        proofs.push((claim, proof));
    }
    // No proof answers another question than its own, of the same root or of another one.
    for (asked, _) in &proofs {
        for (proven, proof) in proofs.iter().filter(|(proven, _)| proven != asked) {
            assert!(verify(proof, &validators, &[*asked]).is_err(), "{proven:?} for {asked:?}");
        }
    }
    let keys = json!({
        "accounts": [to.to_string(), absent.to_string()],
        "actors": [actor.to_string()],
        "storage": [{ "address": actor.to_string(), "key": "0x636f6c6f72" }, { "address": absent.to_string(), "key": "0x01" }],
    });
    let many: Proof = client.post("/proof/multi", &keys).await.expect("the proofs are made");
    let claims = [account(to), account(absent), record(actor), entry(actor, "color"), entry(absent, "\u{1}")];
    assert!(verify(&many, &validators, &claims).is_ok());
    assert_eq!(verify(&many, &validators, &claims[..4]).err(), Some(VerifyError::Count { found: 5, asked: 4 }));
    assert_eq!(many.items.iter().map(|item| item.value.is_some()).collect::<Vec<_>>(), [true, false, true, true, false]);
    devnet.stop().await;
}

/// A proof in which anything is changed is no proof (A-142, A-163).
#[tokio::test(flavor = "multi_thread")]
async fn changed_proofs_are_refused() {
    let devnet = Devnet::start(None).await;
    let (client, key) = (&devnet.client, &devnet.keys[0]);
    let sent = devnet.transaction(key, 0, Instruction::System(System::Transfer { to: devnet.keys[1].address(), amount: Amount(1) }));
    client.submit_wait(&sent, Duration::from_secs(30)).await.expect("the transfer is included");
    let account: Proof = client.get(&format!("/proof/account/{}", key.address())).await.expect("the proof is made");
    let included: Proof = client.get(&format!("/proof/tx/{}", sent.digest())).await.expect("the proof is made");
    client.post::<model::Height>("/dev/mine", &model::Mine { blocks: 1 }).await.expect("a block is mined");
    let later: Proof = client.get(&format!("/proof/account/{}", key.address())).await.expect("the proof is made");
    let (validators, own) = (validators(&devnet).await, state(&Key::account(key.address())));
    let changed = |proof: &Proof, change: &dyn Fn(&mut Proof)| -> Result<Verified, VerifyError> {
        let claim = if proof.root == "state" { own } else { Claim::Transaction(sent.digest()) };
        let mut proof = proof.clone();
        change(&mut proof);
        verify(&proof, &validators, &[claim])
    };
    let last = |bytes: &mut Vec<u8>| *bytes.last_mut().expect("not empty") ^= 1;
    type Row<'a> = (&'a str, &'a Proof, &'a dyn Fn(&mut Proof), Option<VerifyError>);
    let rows: &[Row<'_>] = &[
        ("as it is", &account, &|_| (), None),
        ("another value", &account, &|proof| last(&mut proof.items[0].value.as_mut().expect("there").0), Some(VerifyError::Item(0))),
        ("no value", &account, &|proof| proof.items[0].value = None, Some(VerifyError::Item(0))),
        ("another key", &account, &|proof| proof.items[0].key = Hex(Hash([1; 32])), Some(VerifyError::Item(0))),
        ("another path", &account, &|proof| last(&mut proof.items[0].proof.0), Some(VerifyError::Item(0))),
        ("no path", &account, &|proof| proof.items[0].proof.0.clear(), Some(VerifyError::Item(0))),
        ("another root", &account, &|proof| proof.root = "receipt".into(), Some(VerifyError::Root)),
        ("no such root", &account, &|proof| proof.root = "wish".into(), Some(VerifyError::Root)),
        ("another transaction", &included, &|proof| proof.items[0].key = Hex(Hash([1; 32])), Some(VerifyError::Item(0))),
        ("other bytes", &included, &|proof| proof.items[0].value = Some(Hex(vec![0])), Some(VerifyError::Item(0))),
        ("no header", &account, &|proof| proof.headers.clear(), Some(VerifyError::Headers(Mismatch::Empty))),
        ("half a header", &account, &|proof| proof.headers[0].0.truncate(90), Some(VerifyError::Header(0))),
        (
            "headers apart",
            &account,
            &|proof| proof.headers.push(proof.headers[0].clone()),
            Some(VerifyError::Headers(Mismatch::Broken { place: account.headers.len() })),
        ),
        ("no certificate", &account, &|proof| proof.finalization.0.clear(), Some(VerifyError::Certificate(Refused::Malformed))),
        ("more bytes", &account, &|proof| proof.finalization.0.push(0), Some(VerifyError::Certificate(Refused::Malformed))),
    ];
    for (name, proof, change, expected) in rows {
        assert_eq!(changed(proof, change).err(), *expected, "{name}");
    }
    let stolen = changed(&account, &|proof| proof.finalization = later.finalization.clone());
    assert!(matches!(stolen, Err(VerifyError::Certificate(Refused::OtherBlock { .. }))), "{stolen:?}");
    // The header of another block under a certificate that was cut to fit: the signature is of other bytes.
    let mut forged = later.clone();
    let digest = cowboy_types::blake3(&[&account.headers.last().expect("a header").0]);
    let place = forged.finalization.0.len() - 96 - 32;
    forged.finalization.0[place..place + 32].copy_from_slice(&digest.0);
    forged.headers = account.headers.clone();
    forged.items = account.items.clone();
    assert_eq!(verify(&forged, &validators, &[own]).err(), Some(VerifyError::Certificate(Refused::Signature)));
    let genesis: model::Genesis = client.get("/genesis").await.expect("the genesis is known");
    let key: &[u8; 96] = genesis.group_key.0.as_slice().try_into().expect("96 bytes");
    let elsewhere = GroupKey::new(&Hash([1; 32]), key).expect("the key is a key");
    assert_eq!(verify(&account, &elsewhere, &[own]).err(), Some(VerifyError::Certificate(Refused::Signature)), "another chain's votes");
    let mut damaged = *key;
    damaged[95] ^= 1;
    assert_eq!(GroupKey::new(&genesis.hash, &damaged), None);
    devnet.stop().await;
}
