//! Every command of the client that takes `--json` fails with one object of one form. The commands are those of the program itself.

use clap::{
    Command as Tree,
    error::{ContextKind, ContextValue, Error, ErrorKind},
};
use serde_json::Value;
use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

/// Where nothing listens.
const NOWHERE: &str = "http://127.0.0.1:1";

const KEY: &str = "1111111111111111111111111111111111111111111111111111111111111111";

/// What an argument is tried with, one after the other: an address, a hash, a number, a word, an amount, and what else the client reads.
const VALUES: [&str; 11] = [
    "0x1111111111111111111111111111111111111111",
    "0x1111111111111111111111111111111111111111111111111111111111111111",
    "1",
    "x",
    "1cby",
    "{}",
    "0x11111111111111111111111111111111",
    "32MiB",
    "rw",
    "global",
    "127.0.0.1:1",
];

/// Processes at the same time.
const AT_ONCE: usize = 4;

/// The commands below one that do something themselves and take `--json`.
fn leaves(tree: &Tree, path: &[String], found: &mut Vec<Vec<String>>) {
    let mut is_leaf = true;
    for below in tree.get_subcommands().filter(|below| below.get_name() != "help") {
        is_leaf = false;
        leaves(below, &[path, &[below.get_name().to_owned()][..]].concat(), found);
    }
    if is_leaf && tree.get_arguments().any(|argument| argument.get_id() == "json") {
        found.push(path.to_vec());
    }
}

/// The arguments of a command, by the names that refusals have for them.
#[derive(Default)]
struct Line(Vec<(String, String)>);

impl Line {
    /// Options with their values, then the others.
    fn arguments(&self) -> Vec<String> {
        let (options, others): (Vec<_>, Vec<_>) = self.0.iter().partition(|(name, _)| name.starts_with("--"));
        let options = options.into_iter().flat_map(|(name, value)| [name.clone(), value.clone()]);
        options.chain(others.into_iter().map(|(_, value)| value.clone())).collect()
    }

    /// Adds what is missing, or tries the next value of what is wrong. Nothing where the refusal names neither.
    fn mend(&mut self, refusal: &Error) -> Option<()> {
        let name_of = |shown: &str| match shown.find("--") {
            Some(start) => {
                let is_of_name = |letter: char| letter == '-' || letter.is_ascii_alphanumeric();
                shown[start..].split(|letter: char| !is_of_name(letter)).next().unwrap_or_default().to_owned()
            }
            None => shown.to_owned(),
        };
        match (refusal.kind(), refusal.get(ContextKind::InvalidArg)?) {
            (ErrorKind::MissingRequiredArgument, ContextValue::Strings(missing)) => {
                self.0.extend(missing.iter().map(|shown| (name_of(shown), VALUES[0].to_owned())));
                Some(())
            }
            (ErrorKind::ValueValidation | ErrorKind::InvalidValue, ContextValue::String(shown)) => {
                let name = name_of(shown);
                let (_, value) = self.0.iter_mut().find(|(own, _)| *own == name)?;
                *value = match refusal.get(ContextKind::ValidValue) {
                    Some(ContextValue::Strings(valid)) => valid.first().filter(|first| *first != value)?.clone(),
                    _ => {
                        let tried = VALUES.iter().position(|known| known == value)?;
                        (*VALUES.get(tried + 1)?).to_owned()
                    }
                };
                Some(())
            }
            _ => None,
        }
    }
}

/// Arguments with which a command can be called, where those that are tried are enough.
fn filled(root: &Tree, path: &[String]) -> Option<Vec<String>> {
    let mut line = Line::default();
    for _ in 0..100 {
        let whole = [&["cowboy".to_owned()][..], path, &line.arguments()[..]].concat();
        match root.clone().try_get_matches_from(&whole) {
            Ok(_) => return Some(line.arguments()),
            Err(refusal) => line.mend(&refusal)?,
        }
    }
    None
}

/// Runs a command in a folder of its own, without a node, and with nothing of the environment.
fn run(folder: &Path, path: &[String], arguments: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cowboy"))
        .args(path)
        .args(["--json", "--rpc-url", NOWHERE, "--private-key", KEY])
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the client runs")
}

/// The one object on stderr, of the form that every failure has.
fn error_of(path: &[String], output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    let value: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{path:?}: {error}: {said}"));
    let error = &value["error"];
    let has_texts = ["slug", "what", "fix"].iter().all(|field| error[field].as_str().is_some_and(|text| !text.is_empty()));
    assert!(has_texts && error["code"].as_u64().is_some_and(|code| code > 0), "{path:?}: {said}");
    error.clone()
}

/// Tries a command with a mistaken argument and, where its arguments can be made up, without a node. Answers whether it missed the node.
fn tried(root: &Tree, path: &[String]) -> bool {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let mistaken = run(folder.path(), path, &["--no-such-option".to_owned()]);
    assert_eq!((mistaken.status.code(), &error_of(path, &mistaken)["slug"]), (Some(2), &"argument".into()), "{path:?}");
    assert!(mistaken.stdout.is_empty(), "{path:?}");
    let Some(arguments) = filled(root, path) else { return false };
    let ended = run(folder.path(), path, &arguments);
    if ended.status.success() {
        return false;
    }
    let error = error_of(path, &ended);
    // A test run has codes of its own, and says why in its result.
    assert!(error["slug"] == "reported" || matches!(ended.status.code(), Some(1 | 2)), "{path:?}: {ended:?}");
    error["slug"] == cowboy_api::error::UNREACHABLE.slug
}

#[test]
fn every_command_fails_with_one_object() {
    let mut root = cowboy_cli::client_command();
    root.build();
    let mut all = Vec::new();
    leaves(&root, &[], &mut all);
    let unreachable: usize = std::thread::scope(|scope| {
        let part = |share: usize| {
            let (root, all) = (&root, &all);
            scope.spawn(move || all.iter().skip(share).step_by(AT_ONCE).filter(|path| tried(root, path)).count())
        };
        let parts: Vec<_> = (0..AT_ONCE).map(part).collect();
        parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).sum()
    });
    assert!(unreachable > all.len() / 4, "{unreachable} of {} commands ask a node", all.len());
}
