//! Every method of the table answers, and answers what its type says.

use crate::devnet::Devnet;
use cowboy_api::{
    Endpoint, Hex,
    error::{NO_SUCH_METHOD, WRONG_VERB},
    model,
    table::Verb,
};
use cowboy_types::{Address, Amount, Instruction, System};
use serde_json::{Value, json};
use std::time::Duration;

fn transfer(to: Address, amount: u64) -> Instruction {
    Instruction::System(System::Transfer { to, amount: Amount(amount) })
}

/// The OpenAPI document and the server have the same methods: every row is served, and what is served says so in the document.
#[tokio::test(flavor = "multi_thread")]
async fn every_row_is_served_and_documented() {
    let devnet = Devnet::start(None).await;
    let document: Value = devnet.client.get("/api-docs/openapi.json").await.expect("the document is served");
    let paths = document["paths"].as_object().expect("the document has paths");
    let documented: usize = paths.values().map(|path| path.as_object().map_or(0, serde_json::Map::len)).sum();
    let views = cowboy_system::ACTORS.iter().flat_map(|actor| actor.methods()).filter(|method| method.is_view).count();
    assert_eq!(documented, Endpoint::ALL.len() + views, "the document has no more methods than the tables");
    let http = reqwest::Client::new();
    for endpoint in Endpoint::ALL {
        let method = endpoint.method();
        if *endpoint == Endpoint::Follow {
            continue; // Never ends; see streams.rs.
        }
        let path: Vec<&str> = method.path.split('/').map(|part| if part.starts_with('{') { "0x00" } else { part }).collect();
        let url = format!("{}{}", devnet.client.url(), path.join("/"));
        let request = if method.verb == Verb::Get { http.get(&url) } else { http.post(&url).body("[]") };
        let response = request.send().await.expect("the server answers");
        let status = response.status().as_u16();
        let answer: Value = response.json().await.unwrap_or_default();
        for absent in [NO_SUCH_METHOD, WRONG_VERB] {
            assert_ne!(answer["code"], absent.code, "{} {}", method.path, status);
        }
        assert!(status < 500, "{} answers {status} {answer}", method.path);
    }
    devnet.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transfer_is_seen_everywhere() {
    let devnet = Devnet::start(None).await;
    let (client, key) = (&devnet.client, &devnet.keys[0]);
    let to: Address = "0x1100000000000000000000000000000000000011".parse().expect("an address");
    let sent = devnet.transaction(key, 0, transfer(to, 5));

    let tried = client.simulate(&sent).await.expect("the transfer can be tried");
    assert_eq!((tried.receipt.status.as_str(), tried.receipt.cycles_used), ("success", 21_000));
    let receipt = client.submit_wait(&sent, Duration::from_secs(30)).await.expect("the transfer is included");
    assert_eq!((receipt.tx_hash.0, receipt.status.as_str(), receipt.value), (sent.digest(), "success", 5));
    assert_eq!(receipt.fee.total, tried.fee, "trying tells the price");
    assert_eq!(client.submit(&sent).await.ok(), Some(sent.digest()), "sending it again is no mistake");

    assert_eq!(client.account(&to).await.map(|account| account.balance).ok(), Some(5));
    assert_eq!(client.account(&key.address()).await.map(|account| account.nonce).ok(), Some(1));
    assert_eq!(client.receipt(&sent.digest()).await.ok().as_ref(), Some(&receipt));
    let shown = client.transaction(&sent.digest()).await.expect("the transaction is known");
    assert_eq!((shown.status.as_str(), shown.instruction.name.as_str(), shown.instruction.value), ("success", "Transfer", Some(5)));
    for id in [receipt.block_height.to_string(), receipt.block_hash.to_string()] {
        let block = client.block(&id).await.expect("the block is known");
        assert_eq!(block.receipts, vec![receipt.clone()], "{id}");
        assert_eq!(block.transactions, vec![shown.clone()], "{id}");
    }
    let history: model::History = client.get(&format!("/account/{to}/history")).await.expect("the account has a history");
    assert_eq!(history.entries.iter().map(|entry| entry.id.0).collect::<Vec<_>>(), vec![sent.digest()]);

    let supply: model::Supply = client.get("/supply").await.expect("the supply is known");
    assert_eq!((supply.circulating, supply.burned), (supply.genesis + supply.minted - receipt.fee.burned, receipt.fee.burned));
    assert!(supply.last_mint > 0 && supply.last_mint < supply.minted, "each block mints: {supply:?}");
    // Dev accounts and the validator's stake came out of the buckets.
    assert!(supply.locked > 0 && supply.locked < supply.circulating);
    devnet.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_answers_each_for_itself() {
    let devnet = Devnet::start(None).await;
    let to = devnet.keys[1].address();
    let good: Vec<_> = (0..3).map(|nonce| devnet.transaction(&devnet.keys[0], nonce, transfer(to, 1))).collect();
    let mut forged = devnet.transaction(&devnet.keys[0], 3, transfer(to, 1));
    forged.from = to;
    let transactions: Vec<_> = good.iter().chain([&forged]).map(|transaction| Hex(transaction.to_bytes().to_vec())).collect();
    let submitted: model::Submitted =
        devnet.client.post("/submit_wait?timeout_ms=30000", &model::Submission { transactions }).await.expect("some are good");
    let found: Vec<_> = submitted
        .results
        .iter()
        .map(|result| (result.receipt.as_ref().map(|receipt| receipt.tx_hash.0), result.error.as_ref().map(|error| error.slug.as_str())))
        .collect();
    let mut expected: Vec<_> = good.iter().map(|transaction| (Some(transaction.digest()), None)).collect();
    expected.push((None, Some("invalid_signature")));
    assert_eq!(found, expected);
    devnet.stop().await;
}

/// Decision 768: who waits for a receipt in vain learns what its transaction waits for.
#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_is_over_says_what_for() {
    let devnet = Devnet::start(None).await;
    let sent = devnet.transaction(&devnet.keys[0], 1, transfer(devnet.keys[1].address(), 1));
    let late = devnet.client.submit_wait(&sent, Duration::from_millis(1)).await.expect_err("a nonce is missing");
    assert_eq!((late.slug.as_str(), &late.context["waits"]), ("timeout", &json!("nonce 0 is missing")));
    assert!(late.context["height"].as_u64().is_some_and(|height| height > 0), "{late:?}");
    devnet.stop().await;
}

/// Blocks on order, later times, and back again.
#[tokio::test(flavor = "multi_thread")]
async fn a_dev_chain_is_steered() {
    let devnet = Devnet::start(None).await;
    let client = &devnet.client;
    let before = client.height().await.expect("the node answers");
    let mined: model::Height = client.post("/dev/mine", &model::Mine { blocks: 3 }).await.expect("blocks are mined");
    assert!(mined.height >= before + 3, "{before} then {}", mined.height);
    let snapshot: model::Snapshot = client.post("/dev/snapshot", &json!({})).await.expect("a snapshot is taken");
    let target = mined.height + 10_000;
    let warped: model::Height =
        client.post("/dev/warp", &model::Warp { height: Some(target), ..model::Warp::default() }).await.expect("time passes");
    assert!(warped.height >= target);
    let skipped = client.block(&(mined.height + 5_000).to_string()).await.expect_err("the height was skipped");
    assert_eq!((skipped.slug.as_str(), skipped.status()), ("skipped_by_warp", 404));
    let back: model::Height = client.post("/dev/revert", &model::Revert { id: snapshot.id }).await.expect("the chain goes back");
    assert!(back.height < target);

    let account = Address([7; 20]);
    let set: model::SubmitResult =
        client.post("/dev/balance", &model::SetBalance { address: Hex(account), balance: 70 }).await.expect("the balance is set");
    assert_eq!(set.receipt.map(|receipt| receipt.status).as_deref(), Some("success"));
    assert_eq!(client.account(&account).await.map(|account| account.balance).ok(), Some(70));
    let supply: model::Supply = client.get("/supply").await.expect("the supply is known");
    assert!(supply.minted >= 70, "what set-balance makes is minted, beside the rewards of blocks");
    let instruction = cowboy_types::instruction::Ordinary::System(System::Transfer { to: devnet.keys[0].address(), amount: Amount(60) });
    let wish = model::Impersonate { sender: Hex(account), instruction: Hex(commonware_codec::Encode::encode(&instruction).to_vec()) };
    let acted: model::SubmitResult = client.post("/dev/impersonate", &wish).await.expect("the account acts");
    assert_eq!(acted.receipt.map(|receipt| receipt.status).as_deref(), Some("success"));
    assert_eq!(client.account(&account).await.map(|account| account.balance).ok(), Some(10));
    devnet.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_faucet_gives_its_fixed_sum() {
    let devnet = Devnet::start(None).await;
    let wish = Address([8; 20]);
    let given = devnet.client.faucet(&wish).await.expect("the faucet has enough");
    assert_eq!((given.status.as_str(), given.amount, given.amount_cby), ("success", 5_000_000_000_000, 5_000));
    assert_eq!(devnet.client.account(&wish).await.map(|account| account.balance).ok(), Some(5_000_000_000_000));
    assert_eq!(devnet.client.receipt(&given.tx_hash).await.map(|receipt| receipt.status).ok().as_deref(), Some("success"));
    // Many at once each get theirs, though all are paid from one account; ten a minute is the limit of an address.
    let wishes: Vec<Address> = (20..29).map(|byte| Address([byte; 20])).collect();
    let given = futures::future::join_all(wishes.iter().map(|wish| devnet.client.faucet(wish))).await;
    assert_eq!(given.iter().filter(|given| given.is_ok()).count(), wishes.len(), "{given:?}");
    devnet.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_are_served_without_the_internet() {
    let devnet = Devnet::start(None).await;
    let http = reqwest::Client::new();
    let rows = [
        ("/", "text/html"),
        ("/explorer/", "text/html"),
        ("/explorer/main.js", "text/javascript"),
        ("/swagger-ui/", "text/html"),
        ("/swagger-ui/swagger-ui-bundle.js", "javascript"),
    ];
    for (path, content_type) in rows {
        let response = http.get(format!("{}{path}", devnet.client.url())).send().await.expect("the server answers");
        let headers = response.headers().clone();
        let found = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        assert!(response.status().is_success() && found.contains(content_type), "{path}: {found}");
        if path.starts_with("/explorer") {
            let policy = headers.get("content-security-policy").and_then(|value| value.to_str().ok()).unwrap_or_default();
            assert!(policy.starts_with("default-src 'self'"), "{path}: {policy}");
        }
    }
    devnet.stop().await;
}
