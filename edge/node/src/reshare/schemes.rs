//! The signing scheme of each epoch.

use crate::{
    application::Marshal,
    committees::Committees,
    seeds::Scheme,
    votes::{self, Role},
};
use commonware_consensus::types::{Epoch, Height};
use commonware_cryptography::{
    bls12381::primitives::variant::MinSig,
    certificate::{Provider, Scoped},
    ed25519::PublicKey,
};
use commonware_glue::dkg::{Registrar, types::SchemeInfo};
use commonware_runtime::{Error, Storage};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// Epochs whose scheme is held.
const HELD: usize = 4;

/// The schemes of the newest epochs. Clones share them.
#[derive(Clone, Default)]
pub struct Schemes(Arc<Mutex<BTreeMap<u64, Arc<Scheme>>>>);

impl Schemes {
    fn put(&self, epoch: Epoch, scheme: Scheme) {
        let mut schemes = self.0.lock().expect("nothing panics while it holds the lock");
        schemes.insert(epoch.get(), Arc::new(scheme));
        while schemes.len() > HELD {
            schemes.pop_first();
        }
    }
}

impl Provider for Schemes {
    type Scope = Epoch;
    type Scheme = Scheme;

    fn scoped(&self, epoch: Epoch) -> Option<Scoped<Scheme>> {
        self.scheme(epoch).map(Scoped::scheme)
    }

    fn scheme(&self, epoch: Epoch) -> Option<Arc<Scheme>> {
        self.0.lock().expect("nothing panics while it holds the lock").get(&epoch.get()).cloned()
    }
}

/// Makes the scheme of an epoch that begins, and takes note of who signs in it.
pub struct Enrolled<E> {
    /// Where the engine keeps its records of votes.
    pub storage: E,
    /// What the partitions with these records begin with, and those with what was heard while it listened.
    pub records: [String; 2],
    /// Where the schemes are put.
    pub schemes: Schemes,
    /// Who signs in which epoch.
    pub committees: Committees,
    /// Where the block stands that introduces the epoch.
    pub marshal: Marshal,
    /// What separates this chain's votes from every other's.
    pub namespace: Vec<u8>,
    /// Whether this node may vote.
    pub role: Role,
}

impl<E: Storage> Enrolled<E> {
    /// Removes the record of votes of an epoch that nobody votes in any more.
    async fn forget(&self, epoch: u64) {
        for records in &self.records {
            match self.storage.remove(&votes::partition(records, epoch), None).await {
                Ok(()) | Err(Error::PartitionMissing(_)) => {}
                Err(error) => tracing::warn!(epoch, %error, "the votes of an epoch that is over cannot be removed"),
            }
        }
    }

    /// A scheme that signs where this node has a share that lies on the public polynomial, and may vote.
    fn scheme(&self, epoch: Epoch, info: SchemeInfo<MinSig, PublicKey>) -> Scheme {
        let (participants, sharing, share) = match info {
            SchemeInfo::Verifier { participants, sharing } | SchemeInfo::Member { participants, sharing, .. } => {
                (participants, sharing, None)
            }
            SchemeInfo::Signer { participants, sharing, share } => (participants, sharing, Some(share)),
        };
        let verifier = || Scheme::verifier(&self.namespace, participants.clone(), sharing.clone());
        let Some(share) = share.filter(|_| self.role == Role::Votes) else { return verifier() };
        // An index beyond the participants would be a panic of the library.
        let is_placed = usize::from(share.index) < participants.len();
        let signer = is_placed.then(|| Scheme::signer(&self.namespace, participants.clone(), sharing.clone(), share)).flatten();
        signer.unwrap_or_else(|| {
            tracing::error!(%epoch, "this validator's share is not the one that the chain says it has: it does not sign in this epoch");
            verifier()
        })
    }
}

impl<E: Storage> Registrar for Enrolled<E> {
    type Variant = MinSig;
    type PublicKey = PublicKey;

    async fn register(&self, epoch: Epoch, info: SchemeInfo<MinSig, PublicKey>) {
        let number = if epoch.is_zero() { 0 } else { self.committees.boundary(epoch.get()) };
        let block = self.marshal.get_block(Height::new(number)).await;
        let block = block.expect("the block that introduces an epoch is final here when the epoch begins");
        self.committees.learn(block.inner()).expect("a final boundary block introduces an epoch");
        self.schemes.put(epoch, self.scheme(epoch, info));
        if let Some(over) = epoch.get().checked_sub(2) {
            self.forget(over).await;
        }
    }
}
