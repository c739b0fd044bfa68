//! Other gateways of the same node, without a key.

use super::{World, taken};
use cowboy_gateway::{Backend, Config, Limits, Listener, Registration, Source, Upstream};
use cowboy_serve::Slots;
use cowboy_types::{Amount, Instruction, Nonce, System};
use std::{net::Ipv4Addr, time::Duration};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

fn reader(world: &World) -> Backend {
    Backend {
        node: world.node.clone(),
        upstream: Upstream::Own,
        key: None,
        journal: None,
        registration: None,
        keeps_up: false,
        source: Source::default(),
        slots: Slots::new(1_000),
    }
}

/// Handlers that are tried with few cycles first, on the thread that reads requests, answer as those that get all at once: what they
/// would catch, a call or the end of the cycles, no handler catches.
pub(crate) async fn on_large_stacks(world: &World) {
    let backend = reader(world);
    let runtime = cowboy_serve::runtime(Some(2)).expect("the system has threads");
    let served = runtime.spawn(async move {
        let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0).into()).await.expect("the loopback has free ports");
        let limits = Limits { requests_per_second: Some(0), ..Limits::default() };
        listener.serve(Config { limits, ..Config::default() }, backend).expect("it needs no certificate")
    });
    let other = served.await.expect("it starts");
    let rows = [
        ("/echo/a?b=c", 200, "", r#""path":"/echo/a""#),
        ("/middle", 200, "", "199990000"),
        ("/greedy", 422, "QUERY_CYCLE_LIMIT", "cycles"),
        ("/loop", 422, "QUERY_CYCLE_LIMIT", "cycles"),
        ("/nested", 500, "QUERY_SIDE_EFFECT_TRAP", "call_actor"),
    ];
    for (path, status, error, body) in rows {
        let url = format!("http://{}{path}", other.address());
        for request in [world.request("GET", "rogue.localhost", path), world.http.get(url).header("host", "rogue.localhost")] {
            let found = taken(request).await;
            assert_eq!((found.0, &*found.1), (status, error), "{path}: {}", found.2);
            assert!(found.2.contains(body), "{path}: {}", found.2);
        }
    }
    other.stop().await;
    runtime.shutdown_background();
}

/// Decision 574: names that lead nowhere have one rate together, and take nothing of others'; a witness counts as well.
pub(crate) async fn with_a_rate(world: &World) {
    let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0).into()).await.expect("the loopback has free ports");
    let limits = Limits { requests_per_second: Some(3), ..Limits::default() };
    let other = listener.serve(Config { limits, ..Config::default() }, reader(world)).expect("it needs no certificate");
    let ask = |host: String, verify: &'static str| {
        let url = format!("http://{}/", other.address());
        taken(world.http.get(url).header("host", host).header("cowboy-verify", verify))
    };
    let mut found = Vec::new();
    for number in 0..40 {
        let (status, error, _) = ask(format!("unknown-{number}.localhost"), if number % 2 == 0 { "0" } else { "1" }).await;
        found.push((status, error));
    }
    assert_eq!(found[0], (404, "UNKNOWN_NAME".to_owned()));
    assert!(found.contains(&(429, "RATE_LIMIT".to_owned())), "{found:?}");
    assert_eq!(ask("mysite.localhost".to_owned(), "0").await.0, 200);
    other.stop().await;
}

/// Decision 664: a command whose body takes its time is tried on the state of the moment when it is there, and keeps no older one.
pub(crate) async fn with_a_slow_body(world: &World) {
    let mut stream = tokio::net::TcpStream::connect(world.gateway.address()).await.expect("the gateway listens");
    let head = "POST /keep HTTP/1.1\r\nhost: rogue.localhost\r\nconnection: close\r\ncontent-length: 10\r\n\r\n01234";
    stream.write_all(head.as_bytes()).await.expect("the gateway reads");
    // Its answer comes behind what was read before.
    assert_eq!(world.visit("GET", "rogue.localhost", "/status/200").await.0, 200);
    let payee = world.keys[0].address();
    world.send(Instruction::System(System::Transfer { to: payee, amount: Amount(1) })).await;
    let height = world.node.head().height.0;
    stream.write_all(b"56789").await.expect("the gateway reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("the gateway answers");
    let said = answer.lines().find_map(|line| line.strip_prefix("x-cowboy-block: ")).expect("it says its block");
    assert!(answer.starts_with("HTTP/1.1 202") && said.parse::<u64>().is_ok_and(|said| said >= height), "{height}: {answer}");
}

/// While a gateway catches up it neither registers nor takes commands for which it would have to; as soon as it is level it registers, without waiting for a block.
pub(crate) async fn that_catches_up(world: &World) {
    let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0).into()).await.expect("the loopback has free ports");
    let key = world.keys[0].clone();
    let stake = Amount(world.node.config().genesis.chain.params.gateways.stake_min);
    let registration = Registration { endpoint: "localhost".into(), http_port: listener.address().port(), stake };
    let source = Source::default();
    source.note(true);
    let (of_key, registration) = (key.address(), Some(registration));
    let backend = Backend { key: Some(key), registration, keeps_up: true, source: source.clone(), ..reader(world) };
    let other = listener.serve(Config::default(), backend).expect("it needs no certificate");
    let nonce = async || world.node.account(of_key).await.expect("the node runs").nonce;
    let after = Nonce(nonce().await.0 + 1);
    let url = format!("http://{}/keep", other.address());
    let (status, error, body) = taken(world.http.post(url).header("host", "rogue.localhost")).await;
    assert_eq!((status, &*error), (503, "CATCHING_UP"), "{body}");
    world.send(Instruction::System(System::Transfer { to: of_key, amount: Amount(1) })).await;
    assert_eq!(nonce().await, after, "a block came, and it sent nothing");
    let mut heads = world.node.watch_head();
    source.note(false);
    let registered = async {
        while nonce().await == after {
            heads.changed().await.expect("the node runs");
        }
    };
    tokio::time::timeout(Duration::from_secs(20), registered).await.expect("it registers");
    other.stop().await;
}
