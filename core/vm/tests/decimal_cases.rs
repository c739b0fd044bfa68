//! The operands of the General Decimal Arithmetic test cases, all that come with CPython, under the chain's one context:
//! `decimal_cases.py` writes them as programs with what CPython's `decimal` answers under it, and the VM gives the same answers.

use cowboy_vm::{Entry, Exit, Limits, Vm, compile, script_image};
use std::{fmt::Write as _, fs, path::Path, process::Command};

/// Cases that answer otherwise, each with its reason: name, reason.
const DIFFERENT: &[(&str, &str)] = &[];

fn ours(program: &Path) -> String {
    let source = fs::read_to_string(program).expect("a readable program");
    let unit = compile(&source, "cases.py").expect("the cases are Python");
    let limits = Limits { cycles: 1 << 36, weight_ns: 1 << 50, memory_bytes: 64 << 20, ..Limits::default() };
    let mut vm = Vm::start(script_image(&unit), Entry::Script, limits);
    let exit = vm.run();
    let output = vm.take_output();
    match exit {
        Exit::Return(_) => output,
        other => format!("{output}{other:?}\n"),
    }
}

///
#[test]
fn every_case_of_the_specification_answers_as_cpython() {
    let there = Command::new("python3").args(["-c", "import sys, test; print(sys.version_info[:2] == (3, 11))"]).output();
    if !there.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == "True") {
        println!("skipped: python3 on this machine is not 3.11, or comes without its folder Lib/test");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("decimal-cases-{}", std::process::id()));
    let mut write = Command::new("python3");
    write.args(["-W", "ignore", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/decimal_cases.py")]).arg(&folder);
    assert!(write.status().is_ok_and(|status| status.success()), "the cases are written");
    let mut programs: Vec<_> = fs::read_dir(&folder).expect("they are there").flatten().map(|entry| entry.path()).collect();
    programs.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    programs.sort();
    let (mut count, mut wrong) = (0, String::new());
    for program in &programs {
        let expected = fs::read_to_string(program.with_extension("out")).expect("the expectation is beside its program");
        let got = ours(program);
        assert_eq!(got.lines().count(), expected.lines().count(), "{}: {}", program.display(), got.lines().last().unwrap_or_default());
        for (got, expected) in got.lines().zip(expected.lines()) {
            count += 1;
            let known = DIFFERENT.iter().any(|(name, _)| expected.starts_with(&format!("{name} ")));
            if (got == expected) == known {
                writeln!(wrong, "{got}, CPython: {expected}").expect("a string");
            }
        }
    }
    let _ = fs::remove_dir_all(&folder);
    println!("{count} cases");
    assert!(count > 30_000, "the cases of CPython 3.11 are many more than {count}");
    assert!(wrong.is_empty(), "{wrong}");
}
