//! Clients that ask too much, too slowly, or from the wrong place: each is bounded, and others are served.

use crate::devnet::Devnet;
use cowboy_api::model;
use cowboy_rpc::Config;
use cowboy_serve::Slots;
use cowboy_types::{Address, Amount, Instruction, System};
use futures::{SinkExt as _, StreamExt as _, future::join_all};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest as _};

const ENDLESS: &str = "from cowboy_sdk import actor, public


@actor
class Endless:
    @public
    def spin(self, argument=None):
        while True:
            pass
";

fn address(devnet: &Devnet) -> SocketAddr {
    devnet.client.url().trim_start_matches("http://").parse().expect("an address")
}

/// What comes back for these bytes, to the end of the connection.
async fn told(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    // A connection that is refused is closed before all is written.
    let _ = stream.write_all(bytes).await;
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text).await;
    String::from_utf8_lossy(&text).into_owned()
}

/// Endless queries fill their client's share of the queue and no more; health and transactions do not stand in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_queries_have_a_bounded_queue_of_their_own() {
    let devnet = Devnet::start(None).await;
    let actor = devnet.deploy(&devnet.keys[0], 0, ENDLESS).await;
    let url = format!("{}/actor/{actor}/read_handler", devnet.client.url());
    let body = json!({ "selector": "spin", "payload": "", "max_cycles": 100_000_000 });
    let http = reqwest::Client::new();
    let ask = || async { http.post(&url).json(&body).send().await.expect("the node answers") };
    let one: Value = ask().await.json().await.expect("JSON");
    assert_eq!(one["category"], "execution", "it runs to a limit of the protocol: {one}");
    let is_over = Arc::new(AtomicBool::new(false));
    let flood = (0..70).map(|_| {
        let (http, url, body, is_over) = (http.clone(), url.clone(), body.clone(), is_over.clone());
        tokio::spawn(async move {
            let mut statuses = BTreeSet::new();
            while !is_over.load(Ordering::Relaxed) {
                statuses.insert(http.post(&url).json(&body).send().await.expect("the node answers").status().as_u16());
            }
            statuses
        })
    });
    let flood: Vec<_> = flood.collect();
    // The share is full once a query is refused at once.
    while ask().await.status().as_u16() != 429 {}
    devnet.client.get::<Value>("/health").await.expect("health stands in no queue");
    let transfer = Instruction::System(System::Transfer { to: devnet.keys[1].address(), amount: Amount(1) });
    let sent = devnet.transaction(&devnet.keys[0], 1, transfer);
    let tried = devnet.client.simulate(&sent).await.expect("a transfer is tried meanwhile");
    assert_eq!(tried.receipt.status, "success");
    devnet.client.submit_wait(&sent, Duration::from_secs(60)).await.expect("transactions are included meanwhile");
    is_over.store(true, Ordering::Relaxed);
    // What waits or runs is answered with its limit, or late; the rest is refused at once.
    for statuses in join_all(flood).await {
        let statuses = statuses.expect("no panic");
        assert!(statuses.iter().all(|status| [400, 429, 503].contains(status)), "{statuses:?}");
    }
    devnet.stop().await;
}

/// One client's connections are bounded, heads must come in time, and what is left idle ends.
#[tokio::test(flavor = "multi_thread")]
async fn connections_are_bounded_and_end() {
    let devnet = Devnet::start_with(|config| Config {
        slots: Slots::new(8),
        connections: cowboy_serve::Settings {
            per_client: 4,
            head_timeout: Duration::from_millis(300),
            idle_timeout: Duration::from_millis(300),
            ..config.connections
        },
        ..config
    })
    .await;
    let here = address(&devnet);
    let mut idle = Vec::new();
    for _ in 0..12 {
        idle.push(TcpStream::connect(here).await.expect("the system takes it"));
    }
    // All twelve end: four by their deadline, the others at once.
    for mut stream in idle {
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text).await;
        let text = String::from_utf8_lossy(&text);
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 503") || text.starts_with("HTTP/1.1 408"), "{text}");
        if let Some((_, body)) = text.split_once("\r\n\r\n").filter(|_| text.starts_with("HTTP/1.1 503")) {
            let error: cowboy_api::ApiError = serde_json::from_str(body).expect("an error of the API");
            assert_eq!(error.slug, "too_many_connections");
        }
    }
    let half = told(here, b"GET /health HTTP/1.1\r\nhost: a\r\nx-slow: ").await;
    assert!(!half.starts_with("HTTP/1.1 200"), "{half}");
    let kept = told(here, b"GET /health HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert!(kept.starts_with("HTTP/1.1 200"), "the answer comes, and the idle connection ends: {kept}");
    let long = told(here, format!("GET /health HTTP/1.1\r\nhost: a\r\nx: {}\r\n\r\n", "y".repeat(100_000)).as_bytes()).await;
    assert!(long.is_empty() || long.starts_with("HTTP/1.1 431"), "{long}");
    devnet.stop().await;
}

/// A reader of `/ws` that does not read is disconnected; one that reads, and says nothing, stays.
#[tokio::test(flavor = "multi_thread")]
async fn readers_that_do_not_read_are_disconnected() {
    let devnet = Devnet::start_with(|config| Config {
        connections: cowboy_serve::Settings { idle_timeout: Duration::from_millis(900), ..config.connections },
        ..config
    })
    .await;
    let url = devnet.client.url().replace("http", "ws") + "/ws";
    let (mut silent, _) = tokio_tungstenite::connect_async(&url).await.expect("the socket opens");
    let mut stuck = TcpStream::connect(address(&devnet)).await.expect("it listens");
    let upgrade = "GET /ws HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stuck.write_all(upgrade.as_bytes()).await.expect("it reads");
    // The pings of the silent reader are answered while it reads.
    let reading = tokio::spawn(async move {
        while let Some(message) = silent.next().await {
            if message.is_err() {
                return false;
            }
        }
        false
    });
    // Each wish that is none is answered, at many times its length. Whoever does not read that is given up, and cannot write any more.
    let wishes: Vec<u8> = [0x81, 0x81, 0, 0, 0, 0, b'x'].repeat(1_000);
    while stuck.write_all(&wishes).await.is_ok() {}
    assert!(!reading.is_finished(), "the one that reads stays");
    reading.abort();
    devnet.stop().await;
}

/// Decision 704: of what a reader of `/ws` sends, 4,000 messages are read between two pings. The others wait, and none is lost.
#[tokio::test(flavor = "multi_thread")]
async fn readers_that_send_much_wait() {
    const SENT: usize = 9_000;
    let devnet = Devnet::start_with(|config| Config {
        connections: cowboy_serve::Settings { idle_timeout: Duration::from_millis(1_500), ..config.connections },
        ..config
    })
    .await;
    let url = devnet.client.url().replace("http", "ws") + "/ws";
    let (socket, _) = tokio_tungstenite::connect_async(&url).await.expect("the socket opens");
    let (mut sender, mut reader) = socket.split();
    let sending = tokio::spawn(async move {
        for _ in 0..SENT {
            sender.send(Message::text("x")).await.expect("it is read, sooner or later");
        }
        sender
    });
    let (mut answers, mut since) = (0, 0);
    while answers < SENT {
        match reader.next().await.expect("it stays").expect("a message") {
            Message::Ping(_) => since = 0,
            Message::Text(text) if text.contains("reason") => (answers, since) = (answers + 1, since + 1),
            // Blocks come meanwhile.
            _ => {}
        }
        assert!(since <= 4_000, "{since} answers between two pings");
    }
    drop(sending.await.expect("no panic"));
    devnet.stop().await;
}

/// A page of a stranger, in the developer's browser, steers nothing and listens to nothing.
#[tokio::test(flavor = "multi_thread")]
async fn pages_of_strangers_are_refused() {
    let devnet = Devnet::start(None).await;
    let (http, url) = (reqwest::Client::new(), devnet.client.url().to_owned());
    let height = devnet.node.head().height;
    let rows: [(&str, &[(&str, &str)], u16); 5] = [
        ("/dev/mine", &[("host", "evil.example.com"), ("content-type", "application/json")], 403),
        ("/dev/mine", &[("origin", "http://evil.example.com"), ("content-type", "application/json")], 403),
        ("/dev/mine", &[("content-type", "text/plain")], 415),
        ("/dev/snapshot", &[], 415),
        ("/faucet", &[("origin", "http://evil.example.com"), ("content-type", "application/json")], 403),
    ];
    for (path, headers, status) in rows {
        let request = headers.iter().fold(http.post(format!("{url}{path}")), |request, (name, value)| request.header(*name, *value));
        let answer = request.body(r#"{"blocks":1}"#).send().await.expect("the node answers");
        assert_eq!(answer.status().as_u16(), status, "{path} {headers:?}");
    }
    let mut request = (url.replace("http", "ws") + "/ws").into_client_request().expect("a request");
    request.headers_mut().insert("origin", "http://evil.example.com".parse().expect("a header"));
    assert!(tokio_tungstenite::connect_async(request).await.is_err(), "a foreign page may not listen");
    assert_eq!(devnet.node.head().height, height, "nothing was mined");
    let mined = http.post(format!("{url}/dev/mine")).json(&json!({ "blocks": 1 })).send().await.expect("the node answers");
    assert_eq!(mined.status().as_u16(), 200, "the developer's own request is taken");
    devnet.stop().await;
}

/// Without any option the faucet stops giving to who asks again and again.
#[tokio::test(flavor = "multi_thread")]
async fn the_faucet_has_a_limit_by_default() {
    let devnet = Devnet::start(None).await;
    let wish = model::FaucetRequest { address: cowboy_api::Hex(Address([7; 20])) };
    let mut given = 0;
    let refused = loop {
        match devnet.client.post::<model::FaucetAnswer>("/faucet", &wish).await {
            Ok(_) => given += 1,
            Err(error) => break error.code,
        }
    };
    assert_eq!(refused, 2005, "after {given}");
    assert!(given >= cowboy_rpc::FAUCET_PER_MINUTE);
    devnet.stop().await;
}

/// Proofs are answered while blocks come as quickly as they can.
#[tokio::test(flavor = "multi_thread")]
async fn proofs_are_made_while_blocks_come() {
    let devnet = Devnet::start(None).await;
    let sender = devnet.keys[0].address();
    let mining = {
        let client = devnet.client.clone();
        tokio::spawn(async move { client.post::<model::Height>("/dev/mine", &model::Mine { blocks: 400 }).await })
    };
    let mut made = 0;
    while !mining.is_finished() {
        let accounts: Vec<_> = (0..32).map(|_| sender.to_string()).collect();
        let proof: model::Proof = devnet.client.post("/proof/multi", &json!({ "accounts": accounts })).await.expect("a proof");
        assert_eq!(proof.items.len(), 32);
        made += 1;
    }
    assert!(made > 0);
    mining.await.expect("no panic").expect("blocks are mined");
    let key = format!("0x{}", "ab".repeat(5_000));
    devnet.client.get::<model::Proof>(&format!("/proof/storage/{sender}/{key}")).await.expect("that a long key has no value is proven too");
    devnet.stop().await;
}

/// Health says where the node stands; a chain that idles is well.
#[tokio::test(flavor = "multi_thread")]
async fn health_says_where_the_node_stands() {
    let devnet = Devnet::start(None).await;
    let health: model::HealthDetailed = devnet.client.get("/health/detailed").await.expect("health");
    assert_eq!((health.status.as_str(), health.waits_for, health.peers, health.peers_connected), ("ok", None, 0, 0));
    assert!(health.view > 0, "a round was seen");
    assert!(devnet.client.get::<model::Ready>("/health/ready").await.expect("it is ready").ready);
    devnet.stop().await;
}
