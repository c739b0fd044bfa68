//! The logs of dealers on their way into blocks, whoever proposes these (decision 385).
//!
//! The library puts a dealer's log into a block that the dealer proposes. Leaders are drawn by stake, so a dealer with little stake may
//! have no turn in the second half of an epoch. So every dealer tells the others its log, and a proposer that has no log of its own to
//! include takes one of theirs.

use super::dealing::Mailbox;
use crate::{
    block::SealedBlock,
    chain::Chain,
    committees::Term,
    dealer_logs::{Log, takes_logs},
    epoch::Payload,
};
use commonware_codec::Encode as _;
use commonware_consensus::types::Height;
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_glue::dkg::ReshareBlock as _;
use commonware_p2p::{Receiver, Recipients, Sender};
use commonware_runtime::{Clock, Spawner, Supervisor};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// How often a dealer tells the others its log, until a block has it.
const RETELL: Duration = Duration::from_secs(2);

impl Chain {
    /// The log that a block after these, the newest first, may contain where its proposer has none of its own.
    pub(crate) fn next_log(&self, blocks: &[SealedBlock]) -> Option<Payload> {
        let number = blocks.first()?.header().number.0.saturating_add(1);
        let length = self.committees.length();
        if !takes_logs(length, number) {
            return None;
        }
        let term = self.committees.term(number / length)?;
        self.logs.next(&term, &self.namespace, blocks).map(Payload::DealerLog)
    }

    /// Takes note of the log in a final block, where it has one.
    pub(crate) fn note_log(&self, block: &SealedBlock) {
        let number = block.header().number.0;
        if !takes_logs(self.committees.length(), number) {
            return;
        }
        if let (Some(Payload::DealerLog(log)), Some(term)) = (block.payload(), self.committees.term(self.committees.epoch_of(number))) {
            self.logs.note(&term, &self.namespace, log);
        }
    }
}

impl Chain {
    /// The signers of an epoch whose share is public, with the dealers that had no acknowledgement from them when it was dealt: as far as this node has
    /// seen their logs since it started ([decision 711](../../../../docs/decisions/0711-who-lacked-an-acknowledgement.md)).
    pub fn lacking(&self, term: &Term) -> BTreeMap<PublicKey, Vec<PublicKey>> {
        // Where the dealing failed, the shares are those of an earlier epoch.
        let dealt_in = term.info.epoch.get().checked_sub(1).filter(|_| term.is_dealt());
        let of = |player: &PublicKey| dealt_in.map_or_else(Vec::new, |epoch| self.logs.lacking(epoch, player));
        term.info.output.revealed().iter().map(|player| (player.clone(), of(player))).collect()
    }

    /// Says in the node's log which shares are public in the epoch that a final block introduces, and who lacked an acknowledgement.
    pub(crate) fn log_revealed(&self, block: &SealedBlock) {
        let number = block.header().number.0;
        if !self.committees.is_boundary(number) {
            return;
        }
        let Some(term) = self.committees.term(self.committees.epoch_of(number.saturating_add(1))) else { return };
        if !term.is_dealt() {
            return;
        }
        let own = self.keys.as_ref().map(|keys| keys.network.public_key());
        for (validator, dealers) in self.lacking(&term) {
            let (epoch, dealers) = (term.info.epoch.get(), dealers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
            if own.as_ref() == Some(&validator) {
                tracing::warn!(
                    epoch,
                    dealers,
                    "this validator's share is public: these dealers had no acknowledgement from it by the middle of the epoch before; the node was behind, was started again, or was not connected to them"
                );
            } else {
                tracing::info!(epoch, %validator, dealers, "the share of a validator is public: these dealers had no acknowledgement from it");
            }
        }
    }
}

/// Tells this validator's log to the others, and takes in theirs.
pub(crate) fn start<E: Spawner + Supervisor + Clock>(
    context: E,
    chain: Arc<Chain>,
    dealer: Mailbox,
    (sender, receiver): (impl Sender<PublicKey = PublicKey>, impl Receiver<PublicKey = PublicKey>),
) {
    let heard = chain.clone();
    context.child("tell").spawn(move |clock| tell(clock, chain, dealer, sender));
    context.child("listen").spawn(move |_| listen(heard, receiver));
}

async fn tell(clock: impl Clock, chain: Arc<Chain>, mut dealer: Mailbox, mut sender: impl Sender<PublicKey = PublicKey>) {
    let mut own: Option<(u64, Log)> = None;
    loop {
        clock.sleep(RETELL).await;
        let number = chain.head.borrow().number.saturating_add(1);
        let term = chain.term();
        let epoch = term.info.epoch.get();
        if !takes_logs(chain.committees.length(), number) {
            own = None;
            continue;
        }
        if own.as_ref().is_none_or(|(of, _)| *of != epoch) {
            // It is given back at once, for a proposal of this validator.
            let reserved = dealer.next_log(Height::new(number)).await;
            own = reserved.and_then(|mut reserved| reserved.take_payload()).and_then(|payload| match payload {
                Payload::DealerLog(log) => Some((epoch, log)),
                Payload::EpochInfo(_) => None,
            });
        }
        let Some((_, log)) = &own else { continue };
        let me = chain.keys.as_ref().map(|keys| keys.network.public_key());
        if me.is_some_and(|me| !chain.logs.is_included(&term, &chain.namespace, &me)) {
            let _ = sender.send(Recipients::All, log.encode(), false);
        }
    }
}

async fn listen(chain: Arc<Chain>, mut receiver: impl Receiver<PublicKey = PublicKey>) {
    while let Ok((dealer, message)) = receiver.recv().await {
        if takes_logs(chain.committees.length(), chain.head.borrow().number.saturating_add(2)) {
            chain.logs.take(&chain.term(), &chain.namespace, &dealer, message);
        }
    }
}
