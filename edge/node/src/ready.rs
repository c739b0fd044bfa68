//! When a node that starts can answer.

use crate::chain::Chain;
use std::time::Duration;

/// Waits until the node can answer. False where it is alone and stalled.
///
/// Alone, it is ready when the engine asked it for a block, the accounts of genesis are in its state, and it has told of all that an earlier run may have told of.
pub(crate) async fn wait_until_ready(chain: &Chain, is_alone: bool, wanted: u64, stall: Duration) -> bool {
    if !chain.wait_until_open().await {
        return false;
    }
    let wanted = wanted.max(1).max(*chain.archived.borrow());
    let (mut asked, mut told) = (chain.asked.subscribe(), chain.told.subscribe());
    let going = async {
        let is_asked = !is_alone || asked.wait_for(|is_asked| *is_asked).await.is_ok();
        is_asked && chain.wait_until_current().await && (!is_alone || told.wait_for(|told| *told >= wanted).await.is_ok())
    };
    match is_alone {
        true => tokio::time::timeout(stall, going).await.unwrap_or(false),
        false => going.await,
    }
}
