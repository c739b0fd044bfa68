//! Jobs without a chain: what they are refused for, and the values of their secrets.

use crate::http::serve;
use cowboy_runner::{
    Config,
    config::Http,
    execute::Fault,
    local::{self, Answer, Given, LocalError},
};
use cowboy_types::cbor::Value;
use serde_json::json;
use std::sync::atomic::Ordering;

/// A submission with this work, and with secrets of these names.
fn submission(work: serde_json::Value, secrets: &[&str]) -> Vec<u8> {
    let job = json!({
        "job_type": work,
        "bounds": { "max_wall_time_seconds": 20 },
        "result_schema": { "max_return_bytes": 4_096, "expected_execution_ms": 1_000, "data_format": "" },
        "verification": { "mode": "none" },
        "max_price": 1_000_000,
        "timeout_blocks": 30,
    });
    let job = cowboy_types::cbor::decode(&cowboy_api::cbor::encode(&job)).expect("it is canonical");
    let Value::Map(pairs) = job else { panic!("a job is a map") };
    let secret = |name: &&str| Value::map([("as", Value::text(*name)), ("name_hash", Value::Bytes(vec![8; 32]))]);
    let secrets = Value::Array(secrets.iter().map(secret).collect());
    let pairs = pairs.iter().filter_map(|(name, value)| Some((name.as_text()?, value.clone())));
    Value::dict(pairs.chain([("secrets", secrets)])).encode()
}

/// Does a web job with this header, with these values.
async fn ask(port: u16, path: &str, header: &str, secrets: &[&str], values: &[(&str, &str)]) -> Result<Answer, LocalError> {
    let config = Config { http: Some(Http { allow_private: true, ..Http::default() }), ..Config::default() };
    let work = json!({ "type": "Http", "url": format!("http://127.0.0.1:{port}{path}"), "headers": { "authorization": header } });
    let given: Given = values.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec().into())).collect();
    local::run(&config, &submission(work, secrets), &given).await
}

/// A placeholder is never sent as it stands: without a value there is no request.
#[tokio::test]
async fn a_secret_without_a_value_is_refused() {
    let (port, asked) = serve().await;
    let found = ask(port, "/hello", "Bearer ${KEY}", &["KEY"], &[]).await;
    assert!(matches!(&found, Err(LocalError::NoValue(name)) if name == "KEY"), "{found:?}");
    let found = ask(port, "/hello", "Bearer ${KEY}", &["KEY"], &[("KEY", "sk-12345"), ("OTHER", "x")]).await;
    assert!(matches!(&found, Err(LocalError::NoSecret(name)) if name == "OTHER"), "{found:?}");
    let found = ask(port, "/hello", "Bearer ${OTHER} ${KEY}", &["KEY"], &[("KEY", "sk-12345")]).await;
    assert!(matches!(&found, Err(LocalError::Refused(..))), "the chain refuses it: {found:?}");
    let found = ask(port, "/hello", "Bearer KEY", &["KEY"], &[("KEY", "sk-12345")]).await;
    assert!(matches!(&found, Err(LocalError::Refused(..))), "nothing uses it: {found:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 0, "nothing was sent");
}

/// The value is sent, and a result that contains it is none, as with a runner.
#[tokio::test]
async fn a_secret_has_the_value_that_was_given() {
    let (port, _) = serve().await;
    let answer = ask(port, "/hello", "Bearer ${KEY}", &["KEY"], &[("KEY", "sk-12345")]).await.expect("it is done");
    assert_eq!((answer.result.as_deref(), answer.fault), (Some("hello"), None));
    let echoed = ask(port, "/headers", "Bearer ${KEY}", &["KEY"], &[("KEY", "sk-12345")]).await.expect("it is done");
    let expected = Fault::Actor("what the work answered contains the value of the secret KEY".into()).to_string();
    assert_eq!((echoed.result, echoed.fault), (None, Some(expected)), "so the value was sent");
}

/// A job of another kind than the configuration has is refused before anything is done.
#[tokio::test]
async fn a_job_of_another_kind_is_refused() {
    let config = Config { http: Some(Http::default()), ..Config::default() };
    let work = submission(json!({ "type": "Custom", "tool": "sum", "input": [1, 2] }), &[]);
    let found = local::run(&config, &work, &Given::new()).await;
    assert!(matches!(&found, Err(LocalError::OtherWork(kind)) if kind.name() == "Custom"), "{found:?}");
}
