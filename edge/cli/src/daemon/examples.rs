//! The examples, part of the program.

use cowboy_console::failure::Failure;
use cowboy_devtools::deploy::Deployment;
use cowboy_types::Amount;
use include_dir::{Dir, include_dir};

static EXAMPLES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../examples");

/// What an example begins with where it may hold CBY: fuel for its timers.
const ENDOWMENT_CBY: u64 = 50;

/// The examples' names.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = EXAMPLES
        .dirs()
        .filter(|folder| folder.get_file(folder.path().join("actor.py")).is_some())
        .filter_map(|folder| folder.path().to_str())
        .collect();
    names.sort_unstable();
    names
}

/// The deployment of an example.
pub(crate) fn deployment(name: &str) -> Result<Deployment, Failure> {
    let text = |file: &str| EXAMPLES.get_file(format!("{name}/{file}")).and_then(|file| file.contents_utf8());
    let source = text("actor.py")
        .ok_or_else(|| Failure::argument(format!("there is no example {name:?}"), format!("choose one of {}", names().join(", "))))?;
    let mut deployment = Deployment::of(source.to_owned());
    if let Some(manifest) = text("manifest.json") {
        deployment.use_manifest(manifest, "its manifest.json")?;
    }
    if deployment.grants().iter().any(|grant| grant.id == "econ.hold_balance") {
        deployment.endow(Amount::from_cby(ENDOWMENT_CBY).expect("a small amount"));
    }
    Ok(deployment)
}
