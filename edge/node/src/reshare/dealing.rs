//! Starts the part of a node that deals shares and receives them.

use super::{NoPlan, participants::Players, schemes::Enrolled, secrets::Secrets};
use crate::{
    block::SealedBlock,
    chain::Chain,
    dealer_logs::{REVEAL, SHARING},
    epoch::{self, MAX_MEMBERS, roll::Roll},
};
use commonware_consensus::types::Epoch;
use commonware_cryptography::{
    bls12381::primitives::variant::MinSig,
    ed25519::{PrivateKey, PublicKey},
};
use commonware_glue::dkg::{fence::Fence, network::Manager, reshare};
use commonware_p2p::{Blocker, Receiver, Sender};
use commonware_parallel::Sequential;
use commonware_runtime::{Clock, Metrics, Spawner, Storage, buffer::paged::CacheRef};
use commonware_utils::NZUsize;
use rand_core::CryptoRng;
use std::{num::NonZeroUsize, sync::Arc};

const BUFFER: NonZeroUsize = NZUsize!(64 * 1024);
/// After how many blocks of an epoch nothing of the one before is needed. More than the library's parts are ever apart.
const SETTLED: u64 = 16;

/// Where blocks are reported to, and where proposals get their payloads from.
pub(crate) type Mailbox = reshare::Mailbox<SealedBlock, MinSig, PrivateKey>;

/// What dealing needs beside the chain.
pub(crate) struct Dealing<E, O, B> {
    /// Which peers there are.
    pub(crate) peers: O,
    /// Shuts out peers that misbehave.
    pub(crate) blocker: B,
    /// Shares and dealings on the disk.
    pub(crate) secrets: Secrets,
    /// Makes the scheme of each epoch.
    pub(crate) registrar: Enrolled<E>,
    /// Opens when an epoch has its scheme.
    pub(crate) fence: Fence,
    /// What the journal's partition begins with.
    pub(crate) partition: String,
    /// The page cache of the journal.
    pub(crate) pages: CacheRef,
}

impl<E, O, B> Dealing<E, O, B>
where
    E: Spawner + Clock + Storage + Metrics + CryptoRng,
    O: Manager<PublicKey = PublicKey, Directory = Roll>,
    B: Blocker<PublicKey = PublicKey>,
{
    /// Starts to deal and to receive on this channel.
    pub(crate) fn start<S, R>(self, context: E, chain: &Arc<Chain>, channel: (S, R)) -> Mailbox
    where
        S: Sender<PublicKey = PublicKey>,
        R: Receiver<PublicKey = PublicKey>,
    {
        let keys = chain.keys.as_ref().expect("a validator has keys");
        context.child("secrets").spawn({
            let (chain, secrets) = (chain.clone(), self.secrets.clone());
            move |_| forget_old(chain, secrets)
        });
        let config = reshare::Config {
            signer: keys.network.clone(),
            manager: self.peers,
            blocker: self.blocker,
            participants_provider: Players::new(chain.clone()),
            secret_store: self.secrets.proven_by(chain.committees.clone()),
            strategy: Sequential,
            marshal: self.registrar.marshal.clone(),
            registrar: self.registrar,
            state_sync: NoPlan::disabled(),
            fence: self.fence,
            // Lives as long as the process: the library asks for no less, and a node starts its engine a few times at most.
            namespace: chain.namespace.clone().leak(),
            sharing_mode: SHARING,
            reveal: REVEAL,
            mailbox_size: chain.mailbox(),
            partition_prefix: self.partition,
            page_cache: self.pages,
            write_buffer: BUFFER,
            replay_buffer: BUFFER,
            max_participants: MAX_MEMBERS,
            blocks_per_epoch: epoch::length(&chain.config),
        };
        let (actor, mailbox) = reshare::Actor::new(context, config);
        actor.start(channel);
        mailbox
    }
}

impl Chain {
    /// The newest epoch that every restart begins in or after.
    fn settled_epoch(&self) -> u64 {
        self.committees.epoch_of(self.head.borrow().number.saturating_sub(SETTLED))
    }

    /// Whether a validator may still need the share that genesis dealt to it.
    pub fn needs_genesis_share(&self) -> bool {
        self.settled_epoch() == 0
    }
}

/// Removes the secrets of an epoch when the next one has some final blocks, so that no restart begins before it.
async fn forget_old(chain: Arc<Chain>, secrets: Secrets) {
    let mut head = chain.head.subscribe();
    let mut forgotten = 0;
    loop {
        head.borrow_and_update();
        let epoch = chain.settled_epoch();
        if epoch > forgotten {
            secrets.forget_before(Epoch::new(epoch));
            forgotten = epoch;
        }
        if head.changed().await.is_err() {
            return;
        }
    }
}
