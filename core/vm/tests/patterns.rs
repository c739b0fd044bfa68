//! Random patterns on random texts against CPython 3.11's `re`: the same matches, groups, splits, replacements and refusals.
//!
//! `PATTERN_SEED` and `PATTERN_COUNT` choose other patterns, or more.

use cowboy_vm::{Entry, Limits, Vm, compile, script_image};
use std::{env, fs, path::Path, process::Command};

/// patterns nobody thought of.
#[test]
fn random_patterns_match_as_on_cpython() {
    let version = Command::new("python3").arg("--version").output();
    if !version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("3.11.")) {
        println!("skipped: python3 on this machine is not 3.11, which patterns are compared with");
        return;
    }
    let number = |name: &str, otherwise: u32| env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (seed, count) = (number("PATTERN_SEED", 1), number("PATTERN_COUNT", 600));
    println!("PATTERN_SEED={seed} PATTERN_COUNT={count}");
    let written = Command::new("python3")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/patterns.py"))
        .args([seed.to_string(), count.to_string()])
        .env("PYTHONIOENCODING", "utf-8")
        .output()
        .expect("python3 was found before");
    let source = String::from_utf8(written.stdout).expect("UTF-8 was asked for");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("patterns-{seed}-{count}-{}.py", std::process::id()));
    fs::write(&program, &source).expect("the scratch folder can be written");
    let theirs = Command::new("python3").args(["-W", "ignore"]).arg(&program).env("PYTHONIOENCODING", "utf-8").output();
    let _ = fs::remove_file(&program);
    let theirs = String::from_utf8(theirs.expect("python3 was found before").stdout).expect("UTF-8 was asked for");
    let unit = compile(&source, "patterns.py").expect("the program compiles");
    let limits = Limits { cycles: 1 << 34, memory_bytes: 1 << 28, weight_ns: 1 << 50, ..Limits::default() };
    let mut vm = Vm::start(script_image(&unit), Entry::Script, limits);
    let exit = vm.run();
    let ours = vm.take_output();
    for (one, other) in ours.lines().zip(theirs.lines()) {
        assert_eq!(one, other, "here, and on CPython");
    }
    assert_eq!(ours.lines().count(), theirs.lines().count(), "{exit:?}");
}
