//! Requests that are wrong: each is refused by name, and the node stays up.

use crate::devnet::Devnet;
use cowboy_types::{Amount, Instruction, System};

const OCTETS: &str = "application/octet-stream";
const JSON: &str = "application/json";

struct Row {
    path: &'static str,
    content_type: &'static str,
    body: Vec<u8>,
    status: u16,
    slug: &'static str,
}

fn post(path: &'static str, content_type: &'static str, body: impl Into<Vec<u8>>, status: u16, slug: &'static str) -> Row {
    Row { path, content_type, body: body.into(), status, slug }
}

/// A-24 to A-31 as far as one client can provoke them over HTTP, and bodies of the wrong shape.
#[tokio::test(flavor = "multi_thread")]
async fn wrong_bodies_are_refused_by_name() {
    let devnet = Devnet::start(None).await;
    let key = &devnet.keys[0];
    let transfer = Instruction::System(System::Transfer { to: devnet.keys[1].address(), amount: Amount(1) });
    let good = devnet.transaction(key, 0, transfer.clone());
    let changed = |change: &dyn Fn(&mut cowboy_types::Transaction)| {
        let mut transaction = good.clone();
        change(&mut transaction);
        key.sign_transaction(&mut transaction);
        transaction.to_bytes().to_vec()
    };
    let bytes = good.to_bytes().to_vec();
    let mut unsigned = good.clone();
    unsigned.signature = Default::default();
    let poor =
        devnet.transaction(key, 0, Instruction::System(System::Transfer { to: devnet.keys[1].address(), amount: Amount(u64::MAX / 2) }));
    let rows = vec![
        post("/submit", OCTETS, Vec::new(), 400, "not_canonical"),
        post("/submit", OCTETS, &bytes[..bytes.len() - 1], 400, "not_canonical"),
        post("/submit", OCTETS, [bytes.as_slice(), &[0]].concat(), 400, "not_canonical"),
        post("/submit", OCTETS, vec![0xff; 300], 400, "not_canonical"),
        post("/submit", OCTETS, vec![0; 200_000], 413, "transaction_too_large"),
        post("/submit", OCTETS, vec![0; 600_000], 413, "body_too_large"),
        post("/submit", OCTETS, unsigned.to_bytes().to_vec(), 400, "invalid_signature"),
        post("/submit", OCTETS, changed(&|transaction| transaction.chain_id.0 = 1), 400, "wrong_chain"),
        post("/submit", OCTETS, changed(&|transaction| transaction.origin_tx_hash = Some(Default::default())), 400, "origin_not_allowed"),
        post("/submit", OCTETS, changed(&|transaction| transaction.cycles_limit.0 = u64::MAX), 400, "limit_too_high"),
        post("/submit", OCTETS, changed(&|transaction| transaction.cycles_limit.0 = 1), 400, "limit_too_low"),
        post("/submit", OCTETS, changed(&|transaction| transaction.max_priority_fee_per_cycle.0 = u64::MAX), 400, "tip_above_max"),
        post("/submit", OCTETS, changed(&|transaction| transaction.max_fee_per_cycle.0 = u64::MAX), 400, "fee_overflow"),
        post("/submit", OCTETS, changed(&|transaction| transaction.max_fee_per_cycle.0 = 1), 400, "base_fee_too_low"),
        post("/submit", OCTETS, changed(&|transaction| transaction.nonce.0 = 1_000_000), 400, "nonce_gap"),
        post("/submit", OCTETS, poor.to_bytes().to_vec(), 400, "insufficient_balance_for_value"),
        post("/submit", JSON, "", 400, "bad_request"),
        post("/submit", JSON, "{", 400, "bad_request"),
        post("/submit", JSON, "[]", 400, "bad_request"),
        post("/submit", JSON, r#"{"transactions":[]}"#, 400, "bad_request"),
        post("/submit", JSON, r#"{"transactions":["0xzz"]}"#, 400, "bad_request"),
        post("/submit", JSON, r#"{"transactions":["0x00"]}"#, 400, "not_canonical"),
        post("/submit", JSON, r#"{"transactions":["0x00"],"extra":1}"#, 400, "bad_request"),
        post("/submit", JSON, format!(r#"{{"transactions":[{}"0x"]}}"#, r#""0x","#.repeat(200)), 413, "body_too_large"),
        post("/submit", JSON, "[".repeat(100_000), 400, "bad_request"),
        post("/submit_wait?timeout_ms=soon", JSON, r#"{"transactions":["0x00"]}"#, 400, "bad_request"),
        post("/simulate", JSON, r#"{"transaction":"0x00"}"#, 400, "not_canonical"),
        post("/faucet", JSON, r#"{"address":"0x12"}"#, 400, "bad_request"),
        post("/faucet", JSON, "{}", 400, "bad_request"),
        post(
            "/actor/0x1200000000000000000000000000000000000000/read_handler",
            JSON,
            r#"{"selector":"x","payload":"***"}"#,
            400,
            "bad_request",
        ),
        post("/actor/0x1200000000000000000000000000000000000000/read_handler", JSON, r#"{"selector":"x"}"#, 404, "actor_not_found"),
        post("/dev/mine", JSON, r#"{"blocks":0}"#, 400, "bad_request"),
        post("/dev/mine", JSON, r#"{"blocks":-1}"#, 400, "bad_request"),
        post("/dev/warp", JSON, "{}", 400, "bad_request"),
        post("/dev/warp", JSON, r#"{"height":1}"#, 400, "bad_request"),
        post("/dev/warp", JSON, r#"{"height":99,"blocks":1}"#, 400, "bad_request"),
        post("/dev/revert", JSON, r#"{"id":77}"#, 404, "not_found"),
        post(
            "/dev/impersonate",
            JSON,
            r#"{"sender":"0x1200000000000000000000000000000000000000","instruction":"0x09"}"#,
            400,
            "bad_request",
        ),
        post("/proof/multi", JSON, "{}", 400, "bad_request"),
        post("/proof/multi", JSON, r#"{"accounts":[],"wishes":[]}"#, 400, "bad_request"),
        post(
            "/proof/multi",
            JSON,
            format!(
                r#"{{"accounts":[{}"0x1200000000000000000000000000000000000000"]}}"#,
                r#""0x1200000000000000000000000000000000000000","#.repeat(256)
            ),
            400,
            "bad_request",
        ),
        post("/simulate", JSON, r#"{"transaction":"0x00","extra":1}"#, 400, "bad_request"),
        post("/simulate", JSON, r#"{"transaction":7}"#, 400, "bad_request"),
        post("/simulate", OCTETS, Vec::new(), 400, "not_canonical"),
        post("/faucet", JSON, r#"{"address":"0x1200000000000000000000000000000000000000","amount":1}"#, 400, "bad_request"),
        post("/faucet", JSON, vec![0xff, 0xfe, 0x00], 400, "bad_request"),
        post("/faucet", JSON, vec![b' '; 1_000_001], 413, "body_too_large"),
        post("/dev/mine", JSON, r#"{"blocks":1.5}"#, 400, "bad_request"),
        post("/dev/mine", JSON, r#"{"blocks":"3"}"#, 400, "bad_request"),
        post("/dev/mine", JSON, r#"{"blocks":18446744073709551616}"#, 400, "bad_request"),
        post("/dev/mine", JSON, r#"{"blocks":1,"blocks":1}"#, 400, "bad_request"),
        post("/dev/revert", JSON, r#"{"id":-1}"#, 400, "bad_request"),
        post("/dev/balance", JSON, r#"{"address":"0x1200000000000000000000000000000000000000","balance":-1}"#, 400, "bad_request"),
        post("/dev/balance", JSON, r#"{"balance":1}"#, 400, "bad_request"),
        post("/height", JSON, "", 405, "wrong_verb"),
        post("/nowhere", JSON, "", 404, "no_such_method"),
    ];
    let http = reqwest::Client::new();
    for row in rows {
        let request = http.post(format!("{}{}", devnet.client.url(), row.path)).header("content-type", row.content_type).body(row.body);
        let response = request.send().await.expect("the server answers");
        let status = response.status().as_u16();
        let is_unread = row.slug == "body_too_large" && row.content_type == OCTETS;
        assert!(
            !is_unread || response.headers().get("connection").is_some_and(|said| said == "close"),
            "a connection with an unread body is over"
        );
        let answer: serde_json::Value = response.json().await.expect("a refusal is JSON");
        let error = if answer["results"].is_array() { &answer["results"][0]["error"] } else { &answer };
        assert_eq!((status, error["slug"].as_str()), (row.status, Some(row.slug)), "{}: {answer}", row.path);
        for field in ["code", "category", "what", "why", "fix"] {
            assert!(!error[field].is_null(), "{}: no {field} in {answer}", row.path);
        }
    }
    let sent = devnet.client.submit_wait(&good, std::time::Duration::from_secs(30)).await;
    assert!(sent.is_ok(), "after all that a good transaction is taken: {sent:?}");
    devnet.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_names_are_refused_by_name() {
    let devnet = Devnet::start(None).await;
    let absent = "0x1200000000000000000000000000000000000000";
    let hash = format!("0x{}", "12".repeat(32));
    let rows = [
        ("/account/0x12".to_owned(), 400, "bad_request"),
        ("/account/zz".to_owned(), 400, "bad_request"),
        (format!("/account/{absent}"), 404, "not_found"),
        (format!("/account/{absent}/history?cursor=x"), 400, "bad_request"),
        (format!("/actor/{absent}"), 404, "actor_not_found"),
        (format!("/actor/{absent}/logs"), 404, "actor_not_found"),
        (format!("/actors/{absent}/storage"), 404, "actor_not_found"),
        (format!("/timers/{absent}?limit=no"), 400, "bad_request"),
        ("/timers?offset=-1".to_owned(), 400, "bad_request"),
        ("/timers?page=1".to_owned(), 400, "bad_request"),
        (format!("/actors/{absent}/mailbox?cursor=0xzz"), 404, "actor_not_found"),
        (format!("/proof/storage/{absent}/0xzz"), 400, "bad_request"),
        ("/proof/account/0x".to_owned(), 400, "bad_request"),
        ("/block/0".to_owned(), 404, "not_found"),
        ("/block/999999".to_owned(), 404, "not_found"),
        ("/block/newest".to_owned(), 400, "bad_request"),
        (format!("/block/{hash}"), 404, "not_found"),
        ("/blocks?limit=-1".to_owned(), 400, "bad_request"),
        ("/blocks?page=1".to_owned(), 400, "bad_request"),
        ("/transaction/0x12".to_owned(), 400, "bad_request"),
        (format!("/transaction/{hash}"), 404, "not_found"),
        (format!("/transaction/{hash}/receipt"), 404, "not_found"),
        (format!("/mempool/transaction/{hash}"), 404, "not_found"),
        (format!("/proof/tx/{hash}"), 404, "not_found"),
        ("/ws".to_owned(), 400, "bad_request"),
        ("/nowhere".to_owned(), 404, "no_such_method"),
        ("/submit".to_owned(), 405, "wrong_verb"),
    ];
    for (path, status, slug) in rows {
        let error = devnet.client.get::<serde_json::Value>(&path).await.expect_err("the request is wrong");
        assert_eq!((error.status(), error.slug.as_str()), (status, slug), "{path}: {error}");
    }
    // What is missing is named by the first sentence, which is all that some programs show.
    let missing = devnet.client.get::<serde_json::Value>("/block/999999").await.expect_err("it is not there yet");
    assert_eq!(missing.what, "The node has no block: 999999.");
    devnet.stop().await;
}

/// Beyond the limit requests are refused; probes never are, and the faucet has a limit of its own.
#[tokio::test(flavor = "multi_thread")]
async fn limits_hold() {
    let devnet = Devnet::start(Some(20)).await;
    let answers = futures::future::join_all((0..60).map(|_| devnet.client.get::<serde_json::Value>("/supply"))).await;
    let refused: Vec<_> = answers.into_iter().filter_map(Result::err).collect();
    assert!(!refused.is_empty() && refused.iter().all(|error| (error.code, error.status()) == (2005, 429)), "{refused:?}");
    let probes = futures::future::join_all((0..60).map(|_| devnet.client.get::<serde_json::Value>("/health"))).await;
    assert!(probes.iter().all(Result::is_ok));
    devnet.stop().await;
}
