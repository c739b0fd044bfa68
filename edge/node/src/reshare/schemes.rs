//! The signing scheme of each epoch.

use crate::{
    application::Marshal,
    chain::Chain,
    ending,
    seeds::Scheme,
    voted::Voted,
    votes::{self, Role},
};
use commonware_consensus::types::{Epoch, Height};
use commonware_cryptography::{
    bls12381::primitives::variant::MinSig,
    certificate::{Provider, Scheme as _, Scoped},
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

/// What the names of the engine's partitions begin with.
pub struct Partitions {
    /// Those with the records of votes.
    pub votes: String,
    /// Those with what was heard while the validator listened.
    pub heard: String,
    /// The name of the one that says that a record of votes was discarded ([`votes::DISCARDED`]).
    pub discarded: String,
}

impl Partitions {
    /// The partitions of a validator.
    pub fn new(prefix: &str) -> Self {
        let named = |name| format!("{prefix}-{name}");
        Self { votes: named("simplex"), heard: named("heard"), discarded: named("discarded") }
    }

    /// Those that the engine writes. Who listens has no key that its own votes could be read with, so their record stays as it is until it votes
    /// again.
    pub fn written(&self, role: Role) -> String {
        match role {
            Role::Votes => self.votes.clone(),
            Role::Listens => self.heard.clone(),
        }
    }

    /// Removes the record of votes of an epoch that nobody votes in any more.
    async fn forget(&self, storage: &impl Storage, epoch: u64) {
        for records in [&self.votes, &self.heard] {
            if let Err(error) = remove(storage, &votes::partition(records, epoch)).await {
                tracing::warn!(epoch, %error, "the votes of an epoch that is over cannot be removed");
            }
        }
    }

    /// Discards the record of votes of an epoch in which this validator has no share: the engine cannot read its own votes without it. Where it voted in this
    /// epoch, it is noted first, so that the validator listens before it votes where it gets the share back
    /// ([decision 429](../../../../docs/decisions/0429-a-record-without-its-share-is-discarded.md)). What somebody heard who never had a share is no vote
    /// ([decision 699](../../../../docs/decisions/0699-who-never-voted-need-not-listen.md)).
    async fn discard(&self, storage: &impl Storage, voted: &Voted, epoch: Epoch) -> Result<(), Error> {
        let record = votes::partition(&self.votes, epoch.get());
        match storage.scan(&record).await {
            Ok(blobs) if !blobs.is_empty() => {}
            Ok(_) | Err(Error::PartitionMissing(_)) => return Ok(()),
            Err(error) => return Err(error),
        }
        if !voted.since(epoch.get()).is_empty() {
            tracing::warn!(%epoch, "this validator has no share of this epoch: the record of its votes is discarded, and it listens before it votes");
            storage.open(&self.discarded, &epoch.get().to_be_bytes()).await?;
        }
        remove(storage, &record).await
    }
}

async fn remove(storage: &impl Storage, partition: &str) -> Result<(), Error> {
    match storage.remove(partition, None).await {
        Ok(()) | Err(Error::PartitionMissing(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes the scheme of an epoch that begins, and takes note of who signs in it.
pub struct Enrolled<E> {
    /// Where the engine keeps its records of votes.
    pub storage: E,
    /// The engine's partitions.
    pub partitions: Partitions,
    /// Where the schemes are put.
    pub schemes: Schemes,
    /// Who signs in which epoch, and what this validator voted for.
    pub chain: Arc<Chain>,
    /// Where the block stands that introduces the epoch.
    pub marshal: Marshal,
    /// Whether this node may vote.
    pub role: Role,
}

impl<E: Storage> Enrolled<E> {
    /// A scheme that signs where this node has a share that lies on the public polynomial, and may vote.
    fn scheme(&self, epoch: Epoch, info: SchemeInfo<MinSig, PublicKey>) -> Scheme {
        let (participants, sharing, share) = match info {
            SchemeInfo::Verifier { participants, sharing } | SchemeInfo::Member { participants, sharing, .. } => {
                (participants, sharing, None)
            }
            SchemeInfo::Signer { participants, sharing, share } => (participants, sharing, Some(share)),
        };
        let namespace = &self.chain.namespace;
        let verifier = || Scheme::verifier(namespace, participants.clone(), sharing.clone());
        let Some(share) = share.filter(|_| self.role == Role::Votes) else { return verifier() };
        // An index beyond the participants would be a panic of the library.
        let is_placed = usize::from(share.index) < participants.len();
        let signer = is_placed.then(|| Scheme::signer(namespace, participants.clone(), sharing.clone(), share)).flatten();
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
        let committees = &self.chain.committees;
        let number = if epoch.is_zero() { 0 } else { committees.boundary(epoch.get()) };
        let block = self.marshal.get_block(Height::new(number)).await;
        let block = block.expect("the block that introduces an epoch is final here when the epoch begins");
        committees.learn(block.inner()).expect("a final boundary block introduces an epoch");
        let scheme = self.scheme(epoch, info);
        if self.role == Role::Votes && scheme.me().is_none() {
            let discarded = self.partitions.discard(&self.storage, &self.chain.voted, epoch).await;
            discarded.unwrap_or_else(|error| ending::end(format!("the record of votes of epoch {epoch} cannot be discarded: {error}")));
        }
        self.schemes.put(epoch, scheme);
        if let Some(over) = epoch.get().checked_sub(2) {
            self.partitions.forget(&self.storage, over).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::voted::Sent;
    use commonware_runtime::{Runner as _, deterministic};

    /// A record of votes is found on the disk by the names of the partitions in which the engine keeps it.
    #[test]
    fn records_of_votes_are_found_by_their_names() {
        let Partitions { votes, heard, discarded } = Partitions::new("cowboy");
        assert_eq!([votes, heard, discarded], [votes::RECORD, votes::HEARD, votes::DISCARDED]);
    }

    /// Without a share the record of an epoch goes. Only who voted in it listens for that: a joiner, whose engine heard the votes of others, does not.
    #[test]
    fn who_never_voted_need_not_listen() {
        for (voted_in, listens) in [(None, false), (Some(6), false), (Some(7), true), (Some(8), true)] {
            deterministic::Runner::default().start(|context| async move {
                let (partitions, voted, epoch) = (Partitions::new("cowboy"), Voted::default(), Epoch::new(7));
                if let Some(epoch) = voted_in {
                    voted.note(Sent { epoch, view: 9, kinds: 1 }).expect("it is in memory");
                }
                partitions.discard(&context, &voted, epoch).await.expect("there is no record");
                assert!(context.scan(votes::DISCARDED).await.is_err(), "nothing was discarded");
                let record = votes::record(epoch.get());
                context.open(&record, &[1]).await.expect("it is made");
                partitions.discard(&context, &voted, epoch).await.expect("it is removed");
                assert!(context.scan(&record).await.is_err());
                assert_eq!(context.scan(votes::DISCARDED).await.is_ok(), listens, "voted in {voted_in:?}");
            });
        }
    }
}
