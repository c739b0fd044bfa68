//! A relay that answers with something else than what it was asked for: nothing of it is used.

use bao::encode::{SliceExtractor, encode};
use commonware_codec::Encode as _;
use cowboy_service::tls::Identity;
use cowboy_system::volumes::types::Relay;
use cowboy_types::signing::PrivateKey;
use cowboy_types::units::Height;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Blob, Hash, List, Text};
use cowboy_volume::wire::{self, ALPN, Answer, Request};
use cowboy_volume::{Link, LinkError, Tree};
use cowboy_volumes::{Code, Leaf, Node, Page, Token, Top};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Endpoint, ServerConfig};
use std::io::{Cursor, Read as _};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

const CODE: Code = Code { data: 2, parity: 1 };
const PARTITION: Hash = Hash([3; 32]);
const RELAY: Address = Address([4; 20]);

/// What the relay answers to every request but the first one of a connection.
type Said = Arc<Mutex<Vec<u8>>>;

async fn answer(connection: quinn::Connection, said: Said) -> Option<()> {
    loop {
        let (mut sending, mut receiving) = connection.accept_bi().await.ok()?;
        match wire::read::<Request>(&mut receiving).await.ok()? {
            Request::Hello { .. } => wire::send(&mut sending, &Answer::Done {}).await.ok()?,
            _ => {
                let body = said.lock().expect("nobody failed").clone();
                wire::send(&mut sending, &Answer::Body {}).await.ok()?;
                wire::send_body(&mut sending, &body).await.ok()?;
            }
        }
        sending.finish().ok()?;
    }
}

/// A relay on this machine, as the chain names it, and its folder.
fn relay(said: &Said) -> (Endpoint, Relay, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let identity = Identity::open(folder.path()).expect("a certificate");
    let mut tls = identity.config;
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).expect("TLS 1.3")));
    let endpoint = Endpoint::server(config, (Ipv4Addr::LOCALHOST, 0).into()).expect("it listens");
    let port = endpoint.local_addr().expect("it has an address").port();
    let (accepting, said) = (endpoint.clone(), said.clone());
    tokio::spawn(async move {
        while let Some(incoming) = accepting.accept().await {
            if let Ok(connection) = incoming.await {
                tokio::spawn(answer(connection, said.clone()));
            }
        }
    });
    let relay = Relay {
        endpoint: Text::new("127.0.0.1").expect("short"),
        port,
        certificate: identity.certificate,
        ..Relay::new(Height::ZERO, Height::ZERO)
    };
    (endpoint, relay, folder)
}

async fn open(relay: &Relay) -> Result<Link, LinkError> {
    let key = PrivateKey::from_bytes([7; 32]).expect("a key");
    let token = Token { genesis: Hash([1; 32]), volume: Hash([2; 32]), capability: Fixed([0; 16]), holder: key.address() };
    Link::open(RELAY, relay, &token, &key).await
}

/// A page of one file, whose name begins with this byte.
fn page(first: u8) -> (Page, Node) {
    let mut tag = [0; 32];
    tag[16] = first;
    let leaf = Leaf {
        tag: Fixed(tag),
        write_id: Fixed([2; 16]),
        ciphertext_bytes: 100,
        shard_bytes: CODE.shard_bytes(100),
        shards: List::new(vec![Hash([first; 32]); 3]).expect("few"),
        meta: Blob::default(),
    };
    let page = Page { leaves: List::new(vec![leaf]).expect("one") };
    let node = page.node().expect("small");
    (page, node)
}

fn tree(node: Node) -> Tree {
    Tree { top: Top::of(0, 1, vec![node]).expect("a tree"), nodes: vec![node] }
}

fn slice(shard: &[u8], start: u64, length: u64) -> Vec<u8> {
    let mut slice = Vec::new();
    SliceExtractor::new(Cursor::new(encode(shard).0), start, length).read_to_end(&mut slice).expect("in memory");
    slice
}

fn is_false<T>(answer: Result<T, LinkError>) -> bool {
    matches!(answer, Err(LinkError::False))
}

/// An old root, another page, one of another place, no tree at all.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_root_is_not_taken_for_the_standing_one() {
    let said = Said::default();
    let (_endpoint, relay, _folder) = relay(&said);
    let link = open(&relay).await.expect("it is there");
    let says = |bytes: Vec<u8>| *said.lock().expect("nobody failed") = bytes;
    let ((old, old_node), (new, new_node)) = (page(1), page(2));
    let (old_tree, new_tree) = (tree(old_node), tree(new_node));

    says(new_tree.to_bytes());
    assert_eq!(link.tree(PARTITION, new_tree.top.root()).await.expect("the right one"), new_tree);
    let wrong_sum = Tree { top: new_tree.top, nodes: vec![Node { sum: new_node.sum + 1, ..new_node }] };
    for wrong in [old_tree.to_bytes(), wrong_sum.to_bytes(), new_tree.to_bytes()[1..].to_vec(), Vec::new()] {
        says(wrong);
        assert!(is_false(link.tree(PARTITION, new_tree.top.root()).await));
    }

    says(new.encode().to_vec());
    assert_eq!(link.page(PARTITION, CODE, 0, 0, &new_node).await.expect("the right one"), new);
    assert!(is_false(link.page(PARTITION, CODE, 1, 1, &new_node).await), "it belongs to the other half");
    for wrong in [old.encode().to_vec(), new.encode()[1..].to_vec(), Page { leaves: List::default() }.encode().to_vec()] {
        says(wrong);
        assert!(is_false(link.page(PARTITION, CODE, 0, 0, &new_node).await));
    }
}

/// Another shard, another part of it, any bit of it flipped, less of it.
#[tokio::test(flavor = "multi_thread")]
async fn no_byte_of_another_shard_is_used() {
    let said = Said::default();
    let (_endpoint, relay, _folder) = relay(&said);
    let link = open(&relay).await.expect("it is there");
    let says = |bytes: Vec<u8>| *said.lock().expect("nobody failed") = bytes;
    let shard: Vec<u8> = (0..5_000_u32).map(|at| at.wrapping_mul(31).to_le_bytes()[0]).collect();
    let hash = Hash(*encode(&shard).1.as_bytes());
    let good = slice(&shard, 1_024, 2_000);
    let asked = async || link.part(&hash, 5_000, 1_024, 2_000).await;
    says(good.clone());
    assert_eq!(asked().await.expect("the right one"), shard[1_024..3_024]);
    let mut other = shard.clone();
    other[2_000] ^= 1;
    let mut wrong = vec![slice(&other, 1_024, 2_000), slice(&shard, 3_072, 1_000), good[..good.len() - 1].to_vec(), Vec::new()];
    wrong.extend((0..good.len()).step_by(97).map(|place| {
        let mut flipped = good.clone();
        flipped[place] ^= 0x10;
        flipped
    }));
    for (number, wrong) in wrong.into_iter().enumerate() {
        says(wrong);
        assert!(is_false(asked().await), "{number}");
    }
}

/// Whoever has another certificate than the chain names is not spoken to.
#[tokio::test(flavor = "multi_thread")]
async fn a_relay_has_the_certificate_that_the_chain_names() {
    let said = Said::default();
    let (_endpoint, relay, _folder) = relay(&said);
    assert!(open(&relay).await.is_ok());
    let other = Relay { certificate: Hash([9; 32]), ..relay };
    assert!(matches!(open(&other).await, Err(LinkError::Unreachable { .. })));
}
