//! The operator's endpoint: what it shows and changes, and whom it refuses.

use crate::devnet::Devnet;
use cowboy_api::Client;
use cowboy_overlay::{HttpSource, Offence, Pool, Source};
use cowboy_rpc::{
    Admin, Config, Listeners, LogFilter, ServeError,
    admin::{BanNow, LogLevel, Peers, PoolNow, Settings, Stores},
};
use cowboy_serve::Slots;
use cowboy_types::{Amount, Instruction, System};
use serde_json::json;
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

/// A log whose filter is a word.
struct Words(Mutex<String>);

impl LogFilter for Words {
    fn current(&self) -> String {
        self.0.lock().expect("nothing panics").clone()
    }

    fn replace(&self, filter: &str) -> Result<(), String> {
        if filter == "loud" {
            return Err("loud is no level".into());
        }
        *self.0.lock().expect("nothing panics") = filter.to_owned();
        Ok(())
    }
}

const SOURCE: &str = "http://127.0.0.1:1";

/// A devnet whose operator sees a log and one source, which is banned.
async fn devnet() -> (Devnet, Arc<Words>, Client) {
    let source: Arc<dyn Source> = Arc::new(HttpSource::new(SOURCE).expect("the address is good"));
    let pool = Arc::new(Pool::fixed([source.clone()]));
    pool.report(&*source, Offence::Lie);
    let log = Arc::new(Words(Mutex::new("warn".into())));
    let admin = Admin { log: Some(log.clone()), sources: vec![pool] };
    let devnet = Devnet::start_as(|config| Config { requests_per_second: Some(7), ..config }, admin).await;
    let client = Client::new(&devnet.admin_url()).expect("the address is good");
    (devnet, log, client)
}

/// Each part shows how the node is, and nothing of its keys.
#[tokio::test(flavor = "multi_thread")]
async fn an_operator_sees_the_node() {
    let (devnet, _, client) = devnet().await;
    let settings: Settings = client.get("/config").await.expect("it answers");
    assert!(settings.is_dev && settings.is_validator && settings.has_faucet && settings.keep_blocks.is_none());
    assert_eq!((settings.chain_id, settings.requests_per_second, settings.block_time.as_deref()), (1337, Some(7), Some("instant")));
    assert_eq!(settings.genesis.0, devnet.node.config().genesis.hash());
    assert_eq!(format!("http://{}", settings.admin), devnet.admin_url());
    assert_eq!(format!("http://{}", settings.api), devnet.client.url());
    let text = serde_json::to_string(&settings).expect("it is JSON");
    for key in &devnet.keys {
        let digits: String = key.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(!text.contains(&digits), "a secret is in {text}");
    }

    let stores: Stores = client.get("/stores").await.expect("it answers");
    assert!(stores.is_sound && stores.is_state_open && stores.is_state_current, "{stores:?}");
    assert_eq!((stores.first_block, stores.missing_blocks, stores.damages), (Some(1), 0, 0));
    assert_eq!(stores.newest_block, Some(devnet.node.head().number));
    assert!(stores.bytes > 0 && stores.disk_free_bytes > 0, "{stores:?}");

    // Behind a gap nothing is taken by a block.
    let transfer = Instruction::System(System::Transfer { to: devnet.keys[1].address(), amount: Amount(5) });
    for nonce in [5, 6] {
        devnet.client.submit(&devnet.transaction(&devnet.keys[0], nonce, transfer.clone())).await.expect("it waits");
    }
    let pool: PoolNow = client.get("/pool").await.expect("it answers");
    assert_eq!((pool.transactions, pool.senders, pool.taken), (2, 1, 0), "{pool:?}");
    assert_eq!((pool.largest_senders[0].address.0, pool.largest_senders[0].transactions), (devnet.keys[0].address(), 2));

    let missing = client.get::<serde_json::Value>("/health").await.expect_err("the API is elsewhere");
    assert_eq!(missing.slug, "no_such_method");
    let elsewhere = devnet.client.get::<serde_json::Value>("/config").await.expect_err("the API has no such path");
    assert_eq!(elsewhere.slug, "no_such_method");
    devnet.stop().await;
}

/// Bans are listed and end by order, each once; names have slashes.
#[tokio::test(flavor = "multi_thread")]
async fn an_operator_ends_a_ban() {
    let (devnet, _, client) = devnet().await;
    let peers: Peers = client.get("/peers").await.expect("it answers");
    assert!(peers.validators.is_empty(), "a lone validator");
    assert_eq!((peers.sources[0].name.as_str(), peers.sources[0].is_named, peers.sources[0].is_usable), (SOURCE, true, false));
    assert!(peers.bans[0].name == SOURCE && peers.bans[0].bans == 1 && peers.bans[0].seconds_left > 500, "{peers:?}");
    let path = "/peers/http%3A%2F%2F127.0.0.1%3A1/unban";
    assert_eq!(client.post::<Vec<BanNow>>(path, &json!({})).await.expect("it is banned"), []);
    assert_eq!(client.post::<Vec<BanNow>>(path, &json!({})).await.expect_err("no longer").slug, "not_found");
    let peers: Peers = client.get("/peers").await.expect("it answers");
    assert!(peers.sources[0].is_usable && peers.bans.is_empty(), "{peers:?}");
    devnet.stop().await;
}

/// What is logged changes while the node runs; what is no filter changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn an_operator_changes_the_log() {
    let (devnet, log, client) = devnet().await;
    let level = |filter: &str| LogLevel { filter: filter.into() };
    assert_eq!(client.get::<LogLevel>("/log-level").await.expect("it answers"), level("warn"));
    assert_eq!(client.put::<LogLevel>("/log-level", &level("info,a=debug")).await.expect("it is one"), level("info,a=debug"));
    assert_eq!(log.current(), "info,a=debug");
    let long = "a".repeat(1_025);
    for wrong in ["loud", "", " ", long.as_str()] {
        let refused = client.put::<LogLevel>("/log-level", &level(wrong)).await.expect_err("it is none");
        assert_eq!((refused.slug.as_str(), log.current().as_str()), ("bad_request", "info,a=debug"), "{wrong:?}");
    }
    let refused = client.put::<LogLevel>("/log-level", &json!({ "filter": "warn", "more": 1 })).await.expect_err("nobody reads it");
    assert_eq!(refused.slug, "bad_request");
    devnet.stop().await;
    let silent = Devnet::start(None).await;
    let client = Client::new(&silent.admin_url()).expect("the address is good");
    assert_eq!(client.get::<LogLevel>("/log-level").await.expect_err("nothing is logged").slug, "not_found");
    silent.stop().await;
}

/// A page in a browser of the operator's computer reads and changes nothing, by whatever name it asks.
#[tokio::test(flavor = "multi_thread")]
async fn pages_are_refused() {
    let (devnet, log, _) = devnet().await;
    let http = reqwest::Client::new();
    let url = |path: &str| devnet.admin_url() + path;
    for path in ["/metrics", "/peers", "/config", "/log-level", "/nothing"] {
        for (name, value) in [("host", "evil.example.com"), ("origin", "http://localhost:4001"), ("sec-fetch-site", "cross-site")] {
            let answer = http.get(url(path)).header(name, value).send().await.expect("it answers");
            assert_eq!(answer.status(), 403, "{path} {name}");
            assert!(answer.headers().keys().all(|name| !name.as_str().starts_with("access-control")), "{path}");
        }
    }
    let sent = |kind: &'static str| http.put(url("/log-level")).header("content-type", kind).body(r#"{"filter":"debug"}"#);
    assert_eq!(sent("text/plain").send().await.expect("it answers").status(), 415);
    assert_eq!(sent("application/json").header("origin", "null").send().await.expect("it answers").status(), 403);
    assert_eq!(http.request(reqwest::Method::OPTIONS, url("/log-level")).send().await.expect("it answers").status(), 405);
    assert_eq!(log.current(), "warn");
    let metrics = http.get(url("/metrics")).send().await.expect("it answers").text().await.expect("a text");
    assert!(metrics.contains("cowboy_node_height") && metrics.ends_with("# EOF\n"), "programs read it");
    devnet.stop().await;
}

/// The endpoint is on the loopback also where the API is for everybody, and starts nowhere else.
#[tokio::test]
async fn it_is_on_the_loopback_only() {
    let config = |admin: Option<&str>| {
        let everywhere: SocketAddr = "0.0.0.0:0".parse().expect("an address");
        Config { admin: admin.map(|text| text.parse().expect("an address")), ..Config::new(everywhere, Slots::new(100)) }
    };
    for exposed in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let refused = Listeners::bind(&config(Some(exposed))).await.err();
        assert!(matches!(refused, Some(ServeError::Exposed(_))), "{exposed}: {refused:?}");
    }
    assert!(Listeners::bind(&config(None)).await.is_ok());
    assert!(Listeners::bind(&config(Some("127.0.0.1:0"))).await.is_ok());
}
