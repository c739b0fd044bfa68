//! Servers of tools that mean no good.

use axum::{
    Json, Router,
    body::{Body, Bytes},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::post,
};
use cowboy_runner::{
    Config,
    config::McpServer,
    execute::{Executors, Fault, Limits, Task},
    request::Request,
};
use cowboy_types::{Hash, job::JobKind};
use futures::{StreamExt as _, stream};
use serde_json::{Value, json};
use std::{
    convert::Infallible,
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::net::TcpListener;

/// A part of an answer that has no end.
static PART: [u8; 65_536] = [b'x'; 65_536];

/// The most bytes that a runner may take of one answer, those on the way included.
const MAX_TAKEN: usize = 64 << 20;

/// Answers a message. The tool `endless` begins a text and never ends it, and all that it sends is counted.
fn answer(message: &Value, sent: Arc<AtomicUsize>) -> Response {
    let Some(id) = message.get("id") else { return StatusCode::ACCEPTED.into_response() };
    let result = match (message["method"].as_str(), message["params"]["name"].as_str()) {
        (Some("initialize"), _) => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "test", "version": "1" },
        }),
        (Some("tools/call"), Some("endless")) => {
            let begin = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":""#);
            let more = stream::repeat_with(move || {
                sent.fetch_add(PART.len(), Ordering::SeqCst);
                Ok::<_, Infallible>(Bytes::from_static(&PART))
            });
            let body = stream::iter([Ok(Bytes::from(begin))]).chain(more);
            return ([(header::CONTENT_TYPE, "application/json")], Body::from_stream(body)).into_response();
        }
        _ => json!({ "content": [{ "type": "text", "text": "done" }] }),
    };
    Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response()
}

fn task(tool: &str) -> Task {
    let fields = json!({ "server": "test", "tool": tool });
    Task {
        request: Request { kind: JobKind::Mcp, fields: fields.as_object().expect("fields").clone() },
        hosts: None,
        limits: Limits { wall: Duration::from_secs(30), result_bytes: 4_096, input_tokens: 0, output_tokens: 0, memory_mb: 0 },
        format: String::new(),
        is_semantic: false,
        model: Hash::ZERO,
        container: None,
    }
}

/// An answer that has no end fills no memory: the runner stops reading, and the job fails by what is outside.
#[tokio::test]
async fn an_endless_answer_is_left() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = sent.clone();
    let handler = move |Json(message): Json<Value>| {
        let counted = counted.clone();
        async move { answer(&message, counted) }
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("the loopback has room");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it is bound"));
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/mcp", post(handler))).await });
    let server = McpServer { url: Some(url), ..McpServer::default() };
    let config = Config { mcp: [("test".to_owned(), server)].into(), ..Config::default() };
    let executors = Executors::of(&config).expect("the settings are right");
    assert_eq!(executors.run(&task("short")).await.result.as_deref(), Ok(&b"done"[..]));
    let done = executors.run(&task("endless")).await;
    assert!(matches!(done.result, Err(Fault::External(_))), "{:?}", done.result);
    let taken = sent.load(Ordering::SeqCst);
    assert!((1..MAX_TAKEN).contains(&taken), "{taken} bytes were taken");
}
