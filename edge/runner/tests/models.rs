//! Jobs for a language model, against a server with OpenAI's interface in a process of its own.

use axum::{
    Router,
    http::{StatusCode, header},
};
use cowboy_runner::{
    Config,
    config::Llm,
    execute::{Done, Executors, Limits, Task},
    request::Request,
};
use cowboy_types::{Hash, job::JobKind};
use serde_json::json;
use std::{
    io::{BufRead as _, BufReader},
    net::Ipv4Addr,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::net::TcpListener;

/// The server, ended with this value.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start() -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/market/servers.py");
        let mut child = Command::new("python3").args([script, "llm"]).stdout(Stdio::piped()).spawn().expect("python3 runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("it says something");
        let url = line.trim().strip_prefix("ready: ").expect("it is ready").to_owned();
        Self { child, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn task(fields: serde_json::Value, format: &str, is_semantic: bool) -> Task {
    Task {
        request: Request { kind: JobKind::Llm, fields: fields.as_object().expect("fields").clone() },
        hosts: None,
        limits: Limits { wall: Duration::from_secs(30), result_bytes: 4_096, input_tokens: 0, output_tokens: 500, memory_mb: 0 },
        format: format.to_owned(),
        is_semantic,
        model: Hash::ZERO,
        container: None,
    }
}

/// A-206, A-216: chat, JSON, schemas, retries, tokens, embeddings.
#[tokio::test]
async fn models_answer_in_the_form_that_was_asked_for() {
    let server = Server::start();
    let llm = Llm { url: format!("{}/v1", server.url), model: "echo-1".into(), embedding_model: Some("words-64".into()), ..Llm::default() };
    let executors = Executors::of(&Config { llm: Some(llm), ..Config::default() }).expect("the settings are right");
    assert!(executors.check().await.iter().all(|(_, found)| found.is_ok()));
    let mood = json!({ "type": "object", "required": ["mood"], "properties": { "mood": { "enum": ["good", "bad"] }, "score": { "type": "integer" } } });
    let rows = [
        (json!({ "prompt": "say: hello" }), "", Ok("hello"), 1),
        (json!({ "prompt": "anything", "system_prompt": "be short" }), "json", Ok(r#"{"echo":"anything"}"#), 1),
        (json!({ "prompt": "a bad day, 7", "response_model": mood }), "", Ok(r#"{"mood":"bad","score":7}"#), 1),
        (json!({ "prompt": "a fenced good day", "response_schema": mood.to_string() }), "json", Ok(r#"{"mood":"good","score":1}"#), 1),
        (json!({ "prompt": "first badly, then good", "response_model": mood }), "", Ok(r#"{"mood":"good","score":1}"#), 2),
        (json!({ "prompt": "busy twice, say: done" }), "", Ok("done"), 3),
        (json!({ "prompt": "always broken" }), "", Err("500"), 3),
        (json!({ "prompt": "stubborn", "response_model": mood }), "", Err("form"), 3),
        (json!({ "prompt": "x", "response_model": { "$ref": "#" } }), "", Err("response_model"), 0),
        (json!({ "prompt": "x", "model": "other" }), "", Err("no model"), 0),
        (json!({ "prompt": "x", "temperature": 5_000 }), "", Err("temperature"), 0),
        (json!({ "messages": [{ "role": "user", "content": "say: hello" }] }), "", Ok("hello"), 1),
        (json!({ "messages": "say: hello" }), "", Err("not a list"), 0),
        (json!({}), "", Err("no prompt"), 0),
    ];
    for (fields, format, expected, requests) in rows {
        let Done { result, usage, .. } = executors.run(&task(fields.clone(), format, false)).await;
        assert_eq!(usage.requests, requests, "{fields}: {result:?}");
        match expected {
            Ok(text) => {
                assert_eq!(result.as_deref(), Ok(text.as_bytes()), "{fields}");
                assert!(usage.input_tokens > 0 && usage.output_tokens > 0, "{fields}: tokens are counted");
            }
            Err(part) => assert!(result.as_ref().is_err_and(|fault| fault.to_string().contains(part)), "{fields}: {result:?}"),
        }
    }
    let answer = executors.run(&task(json!({ "prompt": "say: hats are good" }), "", true)).await.result.expect("an answer");
    let embedded = cowboy_system::offchain::similarity::Embedded::read(&answer).expect("an answer with its embedding");
    assert_eq!((embedded.answer.as_slice(), embedded.embedding.len()), (&b"hats are good"[..], 64));
}

/// Decision 684: a message is text. What else stands in one never reaches the server: it would fetch an address from within the operator's network.
#[tokio::test]
async fn messages_with_parts_are_not_asked() {
    let server = Server::start();
    let llm = Llm { url: format!("{}/v1", server.url), model: "echo-1".into(), ..Llm::default() };
    let executors = Executors::of(&Config { llm: Some(llm), ..Config::default() }).expect("the settings are right");
    let image = json!([{ "type": "image_url", "image_url": { "url": "http://10.0.0.1/private" } }]);
    let rows = [
        json!({ "role": "user", "content": image }),
        json!({ "role": "user", "content": "x", "name": "y" }),
        json!({ "role": "tool", "content": "x" }),
        json!({ "role": "user" }),
        json!({ "role": "user", "content": null }),
        json!("x"),
    ];
    for message in rows {
        let Done { result, usage, .. } = executors.run(&task(json!({ "messages": [message] }), "", false)).await;
        assert_eq!(usage.requests, 0, "{message}: {result:?}");
        assert!(
            result.as_ref().is_err_and(|fault| fault.number() == 1 && fault.to_string().contains("a message has")),
            "{message}: {result:?}"
        );
    }
}

/// Decision 684: a model that does not keep to the form is asked again only for tokens that the job still pays for.
#[tokio::test]
async fn a_form_is_asked_for_again_within_the_tokens_of_the_job() {
    let server = Server::start();
    let llm = Llm { url: format!("{}/v1", server.url), model: "echo-1".into(), ..Llm::default() };
    let executors = Executors::of(&Config { llm: Some(llm), ..Config::default() }).expect("the settings are right");
    for (tokens, requests, fault) in [(1, 1, 3), (500, 3, 2)] {
        let mut task = task(json!({ "prompt": "stubborn", "response_model": { "type": "integer" } }), "", false);
        task.limits.output_tokens = tokens;
        let Done { result, usage, .. } = executors.run(&task).await;
        assert_eq!((usage.requests, result.map_err(|fault| fault.number())), (requests, Err(fault)), "{tokens} tokens");
    }
}

/// Decision 684: an embedding reads no more than the job pays for, as little as a chat.
#[tokio::test]
async fn embeddings_keep_to_the_tokens_of_the_job() {
    let server = Server::start();
    let llm = Llm { url: format!("{}/v1", server.url), embedding_model: Some("words-64".into()), ..Llm::default() };
    let executors = Executors::of(&Config { llm: Some(llm), ..Config::default() }).expect("the settings are right");
    let prompt = "hats are good ".repeat(10);
    for (tokens, requests) in [(1, 0), (1_000, 1)] {
        let mut task = task(json!({ "task": "embedding", "prompt": prompt }), "", false);
        task.limits.input_tokens = tokens;
        let Done { result, usage, .. } = executors.run(&task).await;
        assert_eq!((usage.requests, result.is_ok()), (requests, requests == 1), "{tokens}: {result:?}");
    }
}

/// Decision 739: a server that redirects leads neither the key nor the prompt anywhere, and `doctor` does not take it for one that answers.
#[tokio::test]
async fn a_server_leads_to_no_other_one() {
    let listen = async || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("the loopback has room");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        (listener, url)
    };
    let ((first, url), (second, other)) = (listen().await, listen().await);
    let (asked, counted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (here, there) = (asked.clone(), counted.clone());
    let redirect = move || {
        here.fetch_add(1, Ordering::SeqCst);
        let location = format!("{other}/v1/chat/completions");
        async move { (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, location)]) }
    };
    let answer = move || {
        there.fetch_add(1, Ordering::SeqCst);
        async { r#"{"choices":[{"message":{"content":"from elsewhere"}}]}"# }
    };
    tokio::spawn(async move { axum::serve(first, Router::new().fallback(redirect)).await });
    tokio::spawn(async move { axum::serve(second, Router::new().fallback(answer)).await });
    let llm = Llm { url: format!("{url}/v1"), model: "echo-1".into(), ..Llm::default() };
    let executors = Executors::of(&Config { llm: Some(llm), ..Config::default() }).expect("the settings are right");
    let Done { result, usage, .. } = executors.run(&task(json!({ "prompt": "hello" }), "", false)).await;
    assert!(result.as_ref().is_err_and(|fault| fault.to_string().contains("307")), "{result:?}");
    let checked = executors.check().await;
    assert!(checked.iter().all(|(_, found)| found.as_ref().is_err_and(|reason| reason.contains("307"))), "{checked:?}");
    let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
    assert_eq!((usage.requests, count(&asked), count(&counted)), (1, 2, 0));
}
