//! `cowboy test --network dev`: the same files of tests as real transactions on a devnet, by pytest with the SDK's plugin.

use cowboy_console::failure::Failure;
use std::{
    ffi::OsString,
    path::PathBuf,
    process::{Command, Stdio},
};

/// The name of the network that stands for a devnet.
pub const NETWORK: &str = "dev";

/// Says whether the SDK is installed as a plugin of pytest; fails where one of them is missing.
const PROBE: &str = "import importlib.metadata, pytest, cowboy_sdk.pytest_plugin
print(any(found.value == 'cowboy_sdk.pytest_plugin' for found in importlib.metadata.entry_points(group='pytest11')))";

/// Runs pytest with these arguments on the node of `url`. Its exit code is this program's.
pub(super) fn run(arguments: &[OsString], url: &str) -> Result<(), Failure> {
    let missing = || Failure::argument("python3 does not have pytest and cowboy_sdk", "install both: pip install pytest ./sdk/python");
    let probe = Command::new("python3").args(["-c", PROBE]).stderr(Stdio::null()).output().map_err(|_| missing())?;
    let is_installed = match (probe.status.success(), probe.stdout.as_slice()) {
        (true, b"True\n") => true,
        (true, _) => false,
        (false, _) => return Err(missing()),
    };
    let mut command = Command::new("python3");
    command.args(["-m", "pytest", "--network=dev"]).args(arguments).env(cowboy_api::keystore::ENV_RPC_URL, url);
    if !is_installed {
        command.args(["-p", "cowboy_sdk.pytest_plugin"]);
    }
    if let Some(path) = own_first() {
        command.env("PATH", path);
    }
    let status = command.status().map_err(|error| Failure::Node(format!("python3 does not start: {error}")))?;
    match status.code() {
        Some(0) => Ok(()),
        code => Err(Failure::Silent(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))),
    }
}

/// The search path with this program's folder first: the plugin runs `cowboy` for each step.
fn own_first() -> Option<OsString> {
    let own = std::env::current_exe().ok()?.parent()?.to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::iter::once(own).chain(std::env::split_paths(&path)).collect();
    std::env::join_paths(folders).ok()
}
