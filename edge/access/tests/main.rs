//! The program as it is started. What it does with a volume, `tests/market` shows with real processes.

use std::process::{Command, Output};

/// A key that everybody knows.
const KEY: &str = "0x0000000000000000000000000000000000000000000000000000000000000001";

fn program(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cowboy-volume"));
    command.args(arguments).current_dir(folder.path()).env_remove("COWBOY_RPC_URL").env_remove("COWBOY_PRIVATE_KEY");
    command.output().expect("it starts")
}

/// It says what it does, and its mistakes have codes of their own.
#[test]
fn it_has_a_command_line() {
    let help = program(&["--help"]);
    let text = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(help.status.success() && text.contains("serve") && text.contains("mount"), "{text}");
    for arguments in [&["serve"][..], &["mount", "memory"], &["volume", "serve", "memory", "--s3", "nowhere"], &["put"]] {
        assert_eq!(program(arguments).status.code(), Some(2), "{arguments:?}");
    }
    // Nobody answers at this port.
    for before in [&[][..], &["volume"]] {
        let arguments = [before, &["serve", "memory", "--rpc-url", "http://127.0.0.1:1", "--private-key", KEY, "--json"]].concat();
        let failed = program(&arguments);
        assert_eq!(failed.status.code(), Some(1), "{}", String::from_utf8_lossy(&failed.stderr));
        assert!(failed.stdout.is_empty() && failed.stderr.starts_with(b"{"), "{}", String::from_utf8_lossy(&failed.stderr));
    }
}
