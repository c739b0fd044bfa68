//! The API of a node that follows another one.

use crate::devnet::Devnet;
use cowboy_api::{Client, follow::Frame};
use cowboy_node::{Feed, NodeConfig, NodeHandle};
use cowboy_overlay::{HttpSource, Pool, Source};
use cowboy_rpc::{Backend, Config, Listeners};
use cowboy_serve::Slots;
use cowboy_types::{Amount, Instruction, System};
use futures::StreamExt as _;
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

/// A transaction that a follower takes is in the next block of the node it follows; one that it cannot forward it refuses.
#[tokio::test(flavor = "multi_thread")]
async fn a_follower_forwards_transactions_or_refuses_them() {
    let devnet = Devnet::start(None).await;
    let (genesis, folder) = (devnet.node.config().genesis.clone(), tempfile::tempdir().expect("a directory for the test"));
    let (chain, state) = (genesis.chain.clone(), folder.path().join("state"));
    let started = tokio::task::spawn_blocking(move || NodeHandle::follow(NodeConfig::follower(state, genesis)))
        .await
        .expect("starting does not panic");
    let (node, fed) = started.expect("the follower starts");
    let fed = tokio::spawn(feed(devnet.client.clone(), fed));
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
    server.stop().await;
    tokio::task::spawn_blocking(move || node.shutdown()).await.expect("stopping does not panic");
}
