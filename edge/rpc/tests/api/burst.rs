//! Many transactions at once, over many connections.

use crate::devnet::Devnet;
use cowboy_types::{Address, Amount, Instruction, System};
use std::{sync::Arc, time::Duration};

const TRANSACTIONS: usize = 5_000;
const CONNECTIONS: usize = 10;
const SENDERS: usize = 3;

const RECEIVER: Address = Address([0x42; 20]);

/// After a burst, whose transactions come in any order, every one is included, the pool is empty, and the chain idles.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_burst_the_pool_empties_and_the_chain_idles() {
    let devnet = Devnet::start(None).await;
    let transfer = |number: usize| {
        let nonce = u64::try_from(number / SENDERS).expect("small");
        let instruction = Instruction::System(System::Transfer { to: RECEIVER, amount: Amount(1) });
        devnet.transaction(&devnet.keys[number % SENDERS], nonce, instruction).to_bytes().to_vec()
    };
    let transactions: Arc<Vec<Vec<u8>>> = Arc::new((0..TRANSACTIONS).map(transfer).collect());
    let url = format!("{}/submit", devnet.client.url());
    let connections = (0..CONNECTIONS).map(|connection| {
        let (transactions, url) = (transactions.clone(), url.clone());
        tokio::spawn(async move {
            // A client of its own, so that no connection is shared.
            let client = reqwest::Client::new();
            for transaction in transactions.iter().skip(connection).step_by(CONNECTIONS) {
                let request = client.post(&url).header("content-type", "application/octet-stream").body(transaction.clone());
                let answer = request.send().await.expect("the node answers");
                assert!(answer.status().is_success(), "{}", answer.text().await.unwrap_or_default());
                answer.bytes().await.expect("the answer is whole");
            }
        })
    });
    for connection in connections.collect::<Vec<_>>() {
        connection.await.expect("everything is taken");
    }
    let mut blocks = devnet.node.watch_head();
    loop {
        blocks.borrow_and_update();
        let received = devnet.node.account(RECEIVER).await.expect("the node runs").balance;
        if received == Amount(u64::try_from(TRANSACTIONS).expect("small")) {
            break;
        }
        blocks.changed().await.expect("the node runs");
    }
    // The state is read as soon as it is committed: a moment before the block is booked and its transactions leave the pool.
    let chain = devnet.node.chain().expect("the node runs");
    chain.wait_until_quiet().await;
    let size = chain.mempool.size();
    assert_eq!((size.transactions, size.bytes, size.senders), (0, 0, 0), "the pool is empty");
    // A chain that did not idle would show it as a block before the next transaction's.
    let idle = devnet.node.head().number;
    let next = cowboy_types::Transaction::from_bytes(&transfer(TRANSACTIONS.next_multiple_of(SENDERS))).expect("it was just made");
    let receipt = devnet.client.submit_wait(&next, Duration::from_secs(30)).await.expect("it is included");
    assert_eq!(receipt.block_height, idle + 1, "no block stands between");
    devnet.stop().await;
}
