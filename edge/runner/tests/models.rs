//! Jobs for a language model, against a server with OpenAI's interface in a process of its own.

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
    process::{Child, Command, Stdio},
    time::Duration,
};

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
