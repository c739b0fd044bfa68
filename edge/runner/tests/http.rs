//! Web jobs against servers on the loopback that mean no good.

use cowboy_runner::{
    config::Http,
    execute::{
        Executor as _, Fault, Limits, Task, Usage,
        guard::{Lookup, SystemLookup},
        http::HttpExecutor,
    },
    request::Request,
};
use cowboy_types::{Hash, job::JobKind};
use futures::future::BoxFuture;
use serde_json::json;
use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// A resolver that answers what the test says, another thing each time where it says several.
#[derive(Default)]
struct Names {
    answers: Mutex<BTreeMap<String, Vec<Vec<IpAddr>>>>,
    asked: AtomicUsize,
}

impl Names {
    fn of(names: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let addresses = |texts: &&[&str]| texts.iter().map(|text| text.parse().expect("an address")).collect();
        let answers = names.iter().map(|(name, answers)| ((*name).to_owned(), answers.iter().map(addresses).collect())).collect();
        Arc::new(Self { answers: Mutex::new(answers), asked: AtomicUsize::new(0) })
    }
}

impl Lookup for Names {
    fn lookup(&self, name: String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().expect("no test panics here");
        let answer = answers.get_mut(&name).map(|answers| if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() });
        Box::pin(async move { answer.ok_or_else(|| std::io::Error::other("no such host")) })
    }
}

/// A server that answers by path, and counts what it was asked. Answers its port.
pub(crate) async fn serve() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("the loopback has room");
    let port = listener.local_addr().expect("it is bound").port();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, port, counted.clone()));
        }
    });
    (port, asked)
}

async fn answer(mut stream: TcpStream, port: u16, asked: Arc<AtomicUsize>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    asked.fetch_add(1, Ordering::SeqCst);
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let ok = |body: &str| format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    let to = |location: &str| format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let said = match path.as_str() {
        "/hello" => ok("hello"),
        "/headers" => ok(&head),
        "/json" => ok(r#"{"b": {"price": 42}}"#),
        "/exact" => ok(&"x".repeat(65_536)),
        "/long" => ok(&"x".repeat(65_537)),
        // No length, so that only reading shows it.
        "/endless" => format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}", "x".repeat(200_000)),
        "/deep" => ok(&format!("{}{}", "[".repeat(10_000), "]".repeat(10_000))),
        "/missing" => "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\nconnection: close\r\n\r\nnone".into(),
        "/loop" => to("/loop"),
        "/near" => to("/hello"),
        "/loopback" => to(&format!("http://127.0.0.1:{port}/hello")),
        "/metadata" => to("http://169.254.169.254/latest/meta-data"),
        "/mapped" => to(&format!("http://[::ffff:127.0.0.1]:{port}/hello")),
        "/named" => to(&format!("http://inside.test:{port}/hello")),
        "/other" => to(&format!("http://other.test:{port}/headers")),
        "/file" => to("file:///etc/passwd"),
        "/silent" => return std::future::pending().await,
        "/interim" | "/heads" => {
            let (first, more) = match path.as_str() {
                "/interim" => ("", "HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n".repeat(100)),
                _ => ("HTTP/1.1 200 OK\r\n", "x-more: 1\r\n".repeat(1_000)),
            };
            let _ = stream.write_all(first.as_bytes()).await;
            while stream.write_all(more.as_bytes()).await.is_ok() {}
            return;
        }
        "/drip" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n").await;
            while stream.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            return;
        }
        _ => "HTTP/1.1 500 Internal\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".into(),
    };
    let _ = stream.write_all(said.as_bytes()).await;
}

fn task(fields: serde_json::Value) -> Task {
    Task {
        request: Request { kind: JobKind::Http, fields: fields.as_object().expect("fields").clone() },
        hosts: None,
        limits: Limits { wall: Duration::from_secs(5), result_bytes: 65_536, input_tokens: 0, output_tokens: 0, memory_mb: 0 },
        format: String::new(),
        is_semantic: false,
        model: Hash::ZERO,
        container: None,
    }
}

/// 000 §9.3: an address that the actor's manifest grants may lead on only to others that it grants.
#[tokio::test]
async fn redirections_stay_within_the_manifest() {
    let (port, asked) = serve().await;
    let names = Names::of(&[("page.test", &[&["127.0.0.1"]]), ("other.test", &[&["127.0.0.1"]])]);
    let settings = Http { private_hosts: vec!["page.test".into(), "other.test".into()], ..Http::default() };
    let executor = HttpExecutor::new(&settings, names).expect("the settings are right");
    let ask = async |hosts: &[&str]| {
        let granted = hosts.iter().map(|host| (*host).to_owned()).collect();
        let task = Task { hosts: Some(granted), ..task(json!({ "url": format!("http://page.test:{port}/other") })) };
        executor.execute(&task, &mut Usage::default()).await
    };
    assert!(ask(&["page.test", "*.test"]).await.is_ok());
    let before = asked.load(Ordering::SeqCst);
    let led = ask(&["page.test"]).await;
    assert!(led.as_ref().is_err_and(|fault| fault.to_string().contains("leads to other.test")), "{led:?}");
    assert_eq!(asked.load(Ordering::SeqCst), before + 1, "the first was asked, the second not");
    assert!(ask(&[]).await.is_err());
}

async fn ask(executor: &HttpExecutor, fields: serde_json::Value) -> Result<String, Fault> {
    let bytes = executor.execute(&task(fields), &mut Usage::default()).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A-229, A-238: what a job reaches, and what it does not, wherever it is led.
#[tokio::test]
async fn pages_lead_nowhere_private() {
    let (port, _) = serve().await;
    let names = Names::of(&[
        ("page.test", &[&["127.0.0.1"]]),
        ("other.test", &[&["127.0.0.1"]]),
        ("inside.test", &[&["127.0.0.1"]]),
        ("half.test", &[&["93.184.216.34", "10.0.0.1"]]),
        ("metadata.test", &[&["169.254.169.254"]]),
    ]);
    let settings = Http { private_hosts: vec!["page.test".into(), "other.test".into()], ..Http::default() };
    let executor = HttpExecutor::new(&settings, names).expect("the settings are right");
    let rows: &[(&str, Result<&str, &str>)] = &[
        ("http://page.test/hello", Ok("hello")),
        ("http://page.test/near", Ok("hello")),
        ("http://page.test/exact", Ok("xxx")),
        ("http://page.test/long", Err("more than 65536")),
        ("http://page.test/endless", Err("more than 65536")),
        ("http://page.test/missing", Err("404")),
        ("http://page.test/loop", Err("more than 5 times")),
        ("http://page.test/loopback", Err("private")),
        ("http://page.test/metadata", Err("private")),
        ("http://page.test/mapped", Err("private")),
        ("http://page.test/named", Err("private")),
        ("http://page.test/file", Err("not a web address")),
        ("http://127.0.0.1/hello", Err("private")),
        ("http://localhost/hello", Err("no such host")),
        ("http://inside.test/hello", Err("private")),
        ("http://half.test/hello", Err("private")),
        ("http://metadata.test/", Err("private")),
        ("gopher://page.test/hello", Err("begins with http://")),
        ("http://user@page.test/hello", Err("without the name of a user")),
    ];
    for (url, expected) in rows {
        let with_port = url.replacen(".test/", &format!(".test:{port}/"), 1).replacen("127.0.0.1/", &format!("127.0.0.1:{port}/"), 1);
        let found = ask(&executor, json!({ "url": with_port })).await;
        match expected {
            Ok(beginning) => assert!(found.as_ref().is_ok_and(|text| text.starts_with(beginning)), "{url}: {found:?}"),
            Err(part) => assert!(found.as_ref().is_err_and(|fault| fault.to_string().contains(part)), "{url}: {found:?}"),
        }
    }
    let secret = json!({ "url": format!("http://page.test:{port}/other"), "headers": { "authorization": "Bearer x", "x-plain": "y" } });
    let seen = ask(&executor, secret).await.expect("it leads to another of ours").to_lowercase();
    assert!(seen.contains("x-plain: y") && !seen.contains("authorization"), "secrets do not go to another host: {seen}");
}

/// A name that changes its mind: what was looked at is what is asked, and it is looked at once for a connection.
#[tokio::test]
async fn names_that_rebind_are_not_asked_twice() {
    let (port, asked) = serve().await;
    let names = Names::of(&[("page.test", &[&["127.0.0.1"], &["127.0.0.2"]]), ("turn.test", &[&["192.0.2.1"], &["127.0.0.1"]])]);
    let settings = Http { private_hosts: vec!["page.test".into()], ..Http::default() };
    let executor = HttpExecutor::new(&settings, names.clone()).expect("the settings are right");
    assert_eq!(ask(&executor, json!({ "url": format!("http://page.test:{port}/hello") })).await.as_deref(), Ok("hello"));
    assert_eq!(names.asked.load(Ordering::SeqCst), 1, "one connection, one question");
    for _ in 0..2 {
        let found = ask(&executor, json!({ "url": format!("http://turn.test:{port}/hello") })).await;
        assert!(found.as_ref().is_err_and(|fault| fault.to_string().contains("private")), "neither first nor second: {found:?}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1, "nothing else reached the server");
}

/// A host of one's own: it is asked where the configuration says, and nowhere that a resolver says; others are not.
#[tokio::test]
async fn hosts_that_are_told_are_not_looked_up() {
    let (port, _) = serve().await;
    let names = Names::of(&[("other.test", &[&["127.0.0.1"]])]);
    let settings = Http { hosts: [("page.test".to_owned(), (Ipv4Addr::LOCALHOST, port).into())].into(), ..Http::default() };
    let executor = HttpExecutor::new(&settings, names.clone()).expect("the settings are right");
    assert_eq!(ask(&executor, json!({ "url": "http://page.test/hello" })).await.as_deref(), Ok("hello"));
    assert_eq!(names.asked.load(Ordering::SeqCst), 0, "nobody was asked where it is");
    let found = ask(&executor, json!({ "url": format!("http://other.test:{port}/hello") })).await;
    assert!(found.as_ref().is_err_and(|fault| fault.to_string().contains("private")), "another host is held to the rules: {found:?}");
}

/// A byte now and then holds a runner only as long as the job may take.
#[tokio::test]
async fn a_dripping_server_meets_the_deadline() {
    let (port, _) = serve().await;
    let config = cowboy_runner::Config { http: Some(Http { allow_private: true, ..Http::default() }), ..Default::default() };
    let executors = cowboy_runner::execute::Executors::of(&config).expect("the settings are right");
    let mut slow = task(json!({ "url": format!("http://127.0.0.1:{port}/drip") }));
    slow.limits.wall = Duration::from_millis(300);
    let done = executors.run(&slow).await;
    assert!(matches!(done.result, Err(Fault::External(_))), "{:?}", done.result);
}

/// Decision 739: a server that never comes to its answer holds a runner for a while, and not for the time of the job.
#[tokio::test]
async fn servers_that_never_answer_are_left() {
    let (port, _) = serve().await;
    let http = Http { allow_private: true, max_silence_ms: 300, ..Http::default() };
    let config = cowboy_runner::Config { http: Some(http), ..Default::default() };
    let executors = cowboy_runner::execute::Executors::of(&config).expect("the settings are right");
    for (path, reason) in [("/silent", "timed out"), ("/interim", "timed out"), ("/heads", "head is too large")] {
        let mut slow = task(json!({ "url": format!("http://127.0.0.1:{port}{path}") }));
        slow.limits.wall = Duration::from_secs(120);
        let done = executors.run(&slow).await;
        assert!(matches!(&done.result, Err(Fault::External(said)) if said.contains(reason)), "{path}: {:?}", done.result);
    }
}

/// What is taken out of a page, and what a page may not do to who takes it.
#[tokio::test]
async fn extraction_over_the_wire() {
    let (port, _) = serve().await;
    let settings = Http { allow_private: true, ..Http::default() };
    let executor = HttpExecutor::new(&settings, Arc::new(SystemLookup)).expect("the settings are right");
    let url = |path: &str| format!("http://127.0.0.1:{port}{path}");
    let rows = [
        (json!({ "url": url("/json"), "extract": [{ "name": "price", "type": "jsonpath", "rule": "$.b.price" }] }), Ok(r#"{"price":42}"#)),
        (json!({ "url": url("/json"), "selector": "$.b.price" }), Ok("42")),
        (json!({ "url": url("/missing"), "envelope": true }), Ok(r#"{"body":"none","status":404}"#)),
        (json!({ "url": url("/deep"), "extract": [{ "name": "all", "type": "jsonpath", "rule": "$" }] }), Err("recursion")),
        (json!({ "url": url("/json"), "extract": 1 }), Err("a list of 1 to 32")),
        (json!({ "url": url("/json"), "method": "DANCE" }), Err("is not a method")),
        (json!({ "url": url("/json"), "headers": { "host": "x" } }), Err("cannot be sent")),
        (json!({ "url": url("/json"), "headers": { "x": "a\r\nb: c" } }), Err("cannot be sent")),
        (json!({}), Err("no url")),
    ];
    for (fields, expected) in rows {
        let found = ask(&executor, fields.clone()).await;
        match expected {
            Ok(text) => assert_eq!(found.as_deref(), Ok(text), "{fields}"),
            Err(part) => assert!(found.as_ref().is_err_and(|fault| fault.to_string().contains(part)), "{fields}: {found:?}"),
        }
    }
}
