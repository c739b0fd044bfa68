//! The files of a node: its configuration, its keys, its state.

use super::Findings;
use crate::daemon::node_files::{NodeFile, ValidatorFile, read, read_genesis};
use commonware_cryptography::Signer as _;
use cowboy_console::amount;
use cowboy_host::files::mode_for_others;
use cowboy_node::{Genesis, peers, reshare::secrets};
use cowboy_store::Directory;
use std::path::{Path, PathBuf};

/// What the configuration of a node names.
pub(super) struct Setup {
    pub(super) file: NodeFile,
    pub(super) genesis: Option<Genesis>,
    /// The folder of its state.
    pub(super) state: PathBuf,
}

impl Setup {
    /// The file of a validator; none for a full node.
    pub(super) fn validator(&self) -> Option<&ValidatorFile> {
        match &self.file {
            NodeFile::Validator(file) => Some(file),
            NodeFile::Follower(_) => None,
        }
    }
}

/// Checks everything that the configuration names. `None` where it cannot be read.
pub(super) fn check(config: &Path, findings: &mut Findings) -> Option<Setup> {
    let folder = config.parent().unwrap_or(Path::new("."));
    let file = match read::<NodeFile>(config) {
        Ok(file) => file,
        Err(failure) => {
            findings.failure("config", &failure, "name the file that `cowboyd genesis`, `keys new` or `init` wrote, or copy it again");
            return None;
        }
    };
    let (genesis, state, kind) = match &file {
        NodeFile::Validator(file) => (&file.genesis, &file.state, "validator"),
        NodeFile::Follower(file) => (&file.genesis, &file.state, "full node"),
    };
    let genesis = match read_genesis(&folder.join(genesis)) {
        Ok(genesis) => {
            findings.ok("config", format!("{}: a {kind} of the chain with genesis {}", config.display(), genesis.hash()));
            Some(genesis)
        }
        Err(failure) => {
            findings.failure("genesis", &failure, "copy the genesis.json again that the founders of the chain publish");
            None
        }
    };
    let setup = Setup { state: folder.join(state), file, genesis };
    if let (Some(file), Some(genesis)) = (setup.validator(), &setup.genesis) {
        keys(config, file, genesis, findings);
        shares(&setup.state, findings);
    }
    state_folder(&setup, findings);
    Some(setup)
}

/// Whether the keys are whole, of this chain, and their owner's only.
fn keys(config: &Path, file: &ValidatorFile, genesis: &Genesis, findings: &mut Findings) {
    if let Some(mode) = mode_for_others(config) {
        let fix = format!("chmod 600 {}; if others use this computer, replace the keys", config.display());
        findings.fail("keys", format!("other users can read {} (mode {mode:o})", config.display()), fix);
    }
    let keys = match file.secrets.keys() {
        Ok(keys) => keys,
        Err(failure) => {
            return findings.failure("keys", &failure, "copy the validator's file again, or restore it with `cowboyd keys restore`");
        }
    };
    match file.peers().map(|peers| peers::verify(&genesis.committee, &keys, &peers)) {
        Ok(Ok(())) => {
            let role = if keys.share.is_some() { "a validator of genesis" } else { "a validator that joined later" };
            findings.ok("keys", format!("network key {}, signer {}: {role}", keys.network.public_key(), keys.signer.address()));
        }
        Ok(Err(foreign)) => findings.fail("keys", foreign.to_string(), "use the validator's file that was made with this genesis"),
        Err(failure) => findings.failure("peers", &failure, "correct it in `peers` of the configuration, as KEY@HOST:PORT"),
    }
}

/// Whether every file of shares is whole and its owner's only.
fn shares(state: &Path, findings: &mut Findings) {
    let files = match secrets::files(state) {
        Ok(files) => files,
        Err(error) => return findings.fail("shares", format!("the shares cannot be read: {error}"), "give the node's user access to them"),
    };
    let folder = state.join(secrets::FOLDER);
    for (name, bytes) in &files {
        let path = folder.join(name);
        if !secrets::is_whole(name, bytes) {
            let fix = "restore it with `cowboyd keys restore`, or remove it to receive a new share";
            findings.fail("shares", format!("{} is damaged", path.display()), fix);
        } else if let Some(mode) = mode_for_others(&path) {
            let fix = format!("chmod 600 {}", path.display());
            findings.fail("shares", format!("other users can read {} (mode {mode:o})", path.display()), fix);
        }
    }
    findings.ok("shares", format!("{} with a file of shares or dealings", amount::counted(files.len(), "epoch")));
}

/// Whether the state is of this chain, and its owner's only.
fn state_folder(setup: &Setup, findings: &mut Findings) {
    let shown = setup.state.display();
    match Directory::genesis_of(&setup.state) {
        Ok(None) => findings.ok("state", format!("{shown} has no chain yet")),
        Ok(Some(found)) if setup.genesis.as_ref().is_some_and(|genesis| genesis.hash() != found) => {
            let fix = "name another folder as `state` in the configuration, or delete this one";
            findings.fail("state", format!("{shown} has another chain, with genesis {found}"), fix);
        }
        Ok(Some(_)) => findings.ok("state", shown.to_string()),
        Err(error) => findings.fail("state", error.to_string(), "see `cowboyd check --state DIR`"),
    }
    if let Some(mode) = mode_for_others(&setup.state) {
        findings.fail("state", format!("other users can read {shown} (mode {mode:o})"), format!("chmod 700 {shown}"));
    }
}
