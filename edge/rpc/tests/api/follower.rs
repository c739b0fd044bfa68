//! The API of a node that follows another one.

use crate::{devnet::Devnet, proofs::validators};
use cowboy_api::{
    Client,
    follow::Frame,
    model::Proof,
    verify::{Claim, verify},
};
use cowboy_node::{Feed, Fetched, NodeConfig, NodeHandle};
use cowboy_overlay::{HttpSource, Pool, Source};
use cowboy_rpc::{Backend, Config, Listeners, Server};
use cowboy_serve::Slots;
use cowboy_state::Key;
use cowboy_types::{Address, Amount, Hash, Instruction, System};
use futures::StreamExt as _;
use serde_json::json;
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

/// Feeds a follower with every block of a node, for as long as the node lives.
async fn feed(source: Client, feed: Feed) {
    let mut stream = Box::pin(source.stream("/follow?from=1").await.expect("the stream opens"));
    let mut buffer = Vec::new();
    while let Some(Ok(bytes)) = stream.next().await {
        buffer.extend(bytes);
        while let Some(frame) = Frame::take(&mut buffer).expect("frames are whole") {
            feed.push(frame.block, frame.certificate).await.expect("the blocks are good");
        }
    }
}

/// A follower of a devnet, with its API.
struct Follower {
    node: NodeHandle,
    client: Client,
    server: Server,
    _folder: tempfile::TempDir,
}

impl Follower {
    async fn start(devnet: &Devnet) -> (Self, Feed) {
        let (genesis, folder) = (devnet.node.config().genesis.clone(), tempfile::tempdir().expect("a directory for the test"));
        let (chain, state) = (genesis.chain.clone(), folder.path().join("state"));
        let started = tokio::task::spawn_blocking(move || NodeHandle::follow(NodeConfig::follower(state, genesis)))
            .await
            .expect("starting does not panic");
        let (node, fed) = started.expect("the follower starts");
        let listen = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
        let listeners = Listeners::bind(&Config::new(listen, Slots::new(100))).await.expect("the loopback has free ports");
        let client = Client::new(&format!("http://{}", listeners.address())).expect("the address is good");
        let server = listeners.serve(Backend {
            node: node.clone(),
            chain,
            faucet: None,
            upstream: Some(Arc::new(Pool::fixed([
                Arc::new(HttpSource::new(devnet.client.url()).expect("the address is good")) as Arc<dyn Source>
            ]))),
            is_source_away: Arc::default(),
            admin: Default::default(),
        });
        (Self { node, client, server, _folder: folder }, fed)
    }

    async fn stop(self) {
        self.server.stop().await;
        tokio::task::spawn_blocking(move || self.node.shutdown()).await.expect("stopping does not panic");
    }
}

/// A transaction that a follower takes is in the next block of the node it follows; one that it cannot forward it refuses.
#[tokio::test(flavor = "multi_thread")]
async fn a_follower_forwards_transactions_or_refuses_them() {
    let devnet = Devnet::start(None).await;
    let (follower, fed) = Follower::start(&devnet).await;
    let client = &follower.client;
    let fed = tokio::spawn(feed(devnet.client.clone(), fed));

    let transfer = Instruction::System(System::Transfer { to: devnet.keys[1].address(), amount: Amount(5) });
    let sent = devnet.transaction(&devnet.keys[0], 0, transfer.clone());
    let receipt = client.submit_wait(&sent, Duration::from_secs(60)).await.expect("it is forwarded, and its block comes back");
    assert_eq!((receipt.tx_hash.0, receipt.status.as_str()), (sent.digest(), "success"));
    let mut unsigned = sent.clone();
    unsigned.nonce.0 = 1;
    let results = client.submit_all(vec![vec![1], unsigned.to_bytes().to_vec(), sent.to_bytes().to_vec()]).await.expect("it answers");
    let is_taken: Vec<bool> = results.iter().map(|result| result.tx_hash.is_some()).collect();
    assert_eq!(is_taken, [false, false, true], "each has its own result: {results:?}");

    let next = devnet.transaction(&devnet.keys[0], 1, transfer);
    // A server that stops waits for its streams.
    fed.abort();
    let _ = fed.await;
    devnet.stop().await;
    let refusal = client.submit(&next).await.expect_err("nobody proposes it");
    assert_eq!(refusal.slug, "unreachable", "{refusal:?}");
    follower.stop().await;
}

/// Decisions 637 and 662: proofs of more keys than a small batch proves hold against the newest block while runs of blocks arrive; or they are refused in words that say why. Once no
/// blocks come, they are made.
#[tokio::test(flavor = "multi_thread")]
async fn a_follower_proves_its_state_while_it_catches_up() {
    let devnet = Devnet::start(None).await;
    let validators = validators(&devnet).await;
    for nonce in 0..24 {
        let transfer = Instruction::System(System::Transfer { to: devnet.keys[1].address(), amount: Amount(1) });
        devnet.send(&devnet.keys[0], nonce, transfer).await;
    }
    // The certificate of the newest block may be on its way.
    let last = devnet.node.head().number - 1;
    let view = devnet.node.view().expect("the ledger opens");
    let mut blocks: Vec<Fetched> = (1..=last)
        .map(|number| Fetched {
            block: view.block_bytes(number).expect("the ledger reads").expect("it is there"),
            certificate: view.certificate(number).expect("the ledger reads").expect("a lone validator certifies every block"),
        })
        .collect();
    drop(view);
    let (follower, fed) = Follower::start(&devnet).await;
    let later = blocks.split_off(4);
    fed.push_run(blocks).await.expect("the blocks are good");
    let push = tokio::spawn(async move {
        for run in later.chunks(5) {
            fed.push_run(run.to_vec()).await.expect("the blocks are good");
        }
        fed
    });
    let addresses: Vec<Address> = (0..60).map(|number| Address([number; 20])).collect();
    let asked = json!({ "accounts": addresses.iter().map(Address::to_string).collect::<Vec<_>>() });
    let claims: Vec<Claim> = addresses.iter().map(|address| Claim::State(Hash(Key::account(*address).digest().0))).collect();
    let mut height = 0;
    for _ in 0..10 {
        let proof = match follower.client.post::<Proof>("/proof/multi", &asked).await {
            Ok(proof) => proof,
            Err(refusal) => {
                assert_eq!(refusal.slug, "busy", "{refusal:?}");
                continue;
            }
        };
        assert!(verify(&proof, &validators, &claims).is_ok());
        assert!(proof.height >= height, "{} after {height}", proof.height);
        height = proof.height;
    }
    let fed = push.await.expect("it does not panic");
    let proof = loop {
        match follower.client.post::<Proof>("/proof/multi", &asked).await {
            Ok(proof) => break proof,
            Err(refusal) => assert_eq!(refusal.slug, "busy", "{refusal:?}"),
        }
    };
    assert!(verify(&proof, &validators, &claims).is_ok());
    assert_eq!(follower.node.head().number, last);
    drop(fed);
    follower.stop().await;
    devnet.stop().await;
}
