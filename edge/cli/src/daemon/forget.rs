//! A validator's file loses the share that genesis dealt when later shares sign.

use super::node_files::{ValidatorFile, read, replace};
use cowboy_console::failure::Failure;
use cowboy_node::NodeHandle;
use std::path::{Path, PathBuf};

/// Removes the share that genesis dealt from the validator's file as soon as the shares of a later epoch sign: enough old shares are the
/// group key (decision 428).
pub(super) async fn forget_genesis_share(node: NodeHandle, config: PathBuf, file: ValidatorFile) {
    if file.secrets.share.is_none() {
        return;
    }
    let mut head = node.watch_head();
    while node.chain().map_or(true, |chain| chain.needs_genesis_share()) {
        if head.changed().await.is_err() {
            return;
        }
    }
    match without_share(&config) {
        Ok(()) => tracing::info!("the share of genesis is over and was removed from the validator's file"),
        Err(error) => tracing::warn!(%error, "the share of genesis is over and cannot be removed from the validator's file: remove it"),
    }
}

/// Replaces a validator's file by one without a share. A crash leaves the old file or the new one.
fn without_share(config: &Path) -> Result<(), Failure> {
    let mut file: ValidatorFile = read(config)?;
    file.secrets.share = None;
    replace(config, &file)
}
