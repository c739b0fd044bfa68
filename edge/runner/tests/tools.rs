//! Registered tools: what they may do, and what they may not.

use cowboy_runner::{
    config::Tool,
    execute::{Executor as _, Fault, Limits, Task, Usage, custom::CustomExecutor},
    request::Request,
};
use cowboy_types::{Hash, job::JobKind};
use serde_json::json;
use std::{collections::BTreeMap, path::Path, time::Duration};

/// Answers its input, turned around.
const TURN: &str = r#"(module
  (memory (export "memory") 1)
  (global $free (mut i32) (i32.const 1024))
  (func (export "alloc") (param $size i32) (result i32)
    (local $place i32)
    (local.set $place (global.get $free))
    (global.set $free (i32.add (global.get $free) (local.get $size)))
    (local.get $place))
  (func (export "run") (param $at i32) (param $size i32) (result i64)
    (local $i i32) (local $to i32)
    (local.set $to (i32.const 32768))
    (block $done (loop $next
      (br_if $done (i32.eq (local.get $i) (local.get $size)))
      (i32.store8 (i32.add (local.get $to) (local.get $i))
        (i32.load8_u (i32.sub (i32.add (local.get $at) (local.get $size)) (i32.add (local.get $i) (i32.const 1)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $next)))
    (i64.or (i64.shl (i64.extend_i32_u (local.get $to)) (i64.const 32)) (i64.extend_i32_u (local.get $size)))))"#;

/// A tool whose `run` is this.
fn running(body: &str) -> String {
    format!(
        r#"(module (memory (export "memory") 1) (func (export "alloc") (param i32) (result i32) (i32.const 0))
        (func (export "run") (param i32 i32) (result i64) {body}))"#
    )
}

fn registered(folder: &Path, name: &str, text: &str) -> BTreeMap<String, Tool> {
    let file = folder.join(format!("{name}.wasm"));
    std::fs::write(&file, wat::parse_str(text).expect("a module")).expect("the folder is writable");
    BTreeMap::from([(name.to_owned(), Tool { file, fuel: 10_000_000, memory_mb: 2 })])
}

fn task(tool: &str, input: &str, result_bytes: usize) -> Task {
    Task {
        request: Request { kind: JobKind::Custom, fields: json!({ "tool": tool, "input": input }).as_object().expect("fields").clone() },
        hosts: None,
        limits: Limits { wall: Duration::from_secs(5), result_bytes, input_tokens: 0, output_tokens: 0, memory_mb: 0 },
        format: String::new(),
        is_semantic: false,
        model: Hash::ZERO,
        container: None,
    }
}

/// A-206: a tool has fuel, memory and its input, and nothing else.
#[tokio::test]
async fn tools_stay_within_their_machine() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let forever = running("(loop $l (br $l)) (unreachable)");
    let hungry = running("(if (i32.eq (memory.grow (i32.const 1000)) (i32.const -1)) (then (unreachable))) (i64.const 5)");
    let outside = running("(i64.const 0xffffffff00000005)");
    let long = running("(i64.const 0x0000000000001000)");
    let rows: &[(&str, &str, Result<&str, &str>)] = &[
        ("turn", TURN, Ok("olleh")),
        ("forever", &forever, Err("not done after")),
        ("hungry", &hungry, Err("failed")),
        ("outside", &outside, Err("not in its memory")),
        ("long", &long, Err("may have 100")),
        ("other", TURN, Err("no tool")),
    ];
    for (name, text, expected) in rows {
        let executor = CustomExecutor::new(&registered(folder.path(), if *name == "other" { "another" } else { name }, text));
        let executor = executor.unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut usage = Usage::default();
        let found: Result<Vec<u8>, Fault> = executor.execute(&task(name, "hello", 100), &mut usage).await;
        match expected {
            Ok(text) => assert_eq!(found.as_deref(), Ok(text.as_bytes()), "{name}"),
            Err(part) => assert!(found.as_ref().is_err_and(|fault| fault.to_string().contains(part)), "{name}: {found:?}"),
        }
    }
    let asks = r#"(module (import "env" "open" (func)) (memory (export "memory") 1))"#;
    let refused = CustomExecutor::new(&registered(folder.path(), "asks", asks));
    assert!(refused.is_err_and(|error| error.to_string().contains("imports env.open")));
}
