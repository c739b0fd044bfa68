//! The state of a running engine, for queries.

use crate::{
    application::Machine,
    chain::Chain,
    execute::Databases,
    reader::{Batch, MAX_OPERATIONS_BYTES, StateProver, StateReader, Wanted, proven_bytes},
};
use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_cryptography::blake3::Digest;
use commonware_glue::stateful::{
    self,
    db::{AttachableResolver, Shared},
};
use commonware_runtime::{Clock, Metrics, Spawner, Storage};
use commonware_storage::qmdb::sync::{Request, Source, source};
use cowboy_chain::StateKey;
use cowboy_store::{
    proof::{self, StateProof},
    state::{self, Family, raw},
};
use cowboy_types::Hash;
use futures::future::BoxFuture;
use std::{num::NonZeroU64, sync::Arc};

/// Hands the state to the chain's queries once the state machine has opened it.
pub(super) fn open_state<E: Spawner + Clock + Storage + Metrics>(context: E, machine: stateful::Mailbox<E, Machine>, chain: Arc<Chain>) {
    context.spawn(move |_| async move {
        let state = machine.subscribe_databases().await;
        chain.attach_state(Arc::new(State::<E>(state))).await;
    });
}

/// The database of one runtime, behind [`StateReader`].
pub(crate) struct State<E: Spawner + Clock + Storage + Metrics>(pub(crate) Databases<E>);

impl<E: Spawner + Clock + Storage + Metrics> StateProver for State<E> {
    fn prove(&self, keys: Vec<StateKey>, batch: Batch) -> BoxFuture<'_, Vec<StateProof>> {
        Box::pin(async move {
            let state = self.0.read().await;
            let (mut proofs, mut bytes) = (Vec::new(), 0_usize);
            for key in keys.iter().take(batch.proofs) {
                let proven = proof::prove(&*state, key).await.expect("the state can be read: a disk that fails stops the node");
                bytes = bytes.saturating_add(proven_bytes(&proven));
                proofs.push(proven);
                if bytes >= batch.bytes {
                    break;
                }
            }
            proofs
        })
    }
}

impl<E: Spawner + Clock + Storage + Metrics> StateReader for State<E> {
    fn read(&self, keys: Vec<StateKey>) -> BoxFuture<'_, Vec<Option<Bytes>>> {
        Box::pin(async move {
            let keys: Vec<_> = keys.iter().map(raw).collect();
            let keys: Vec<_> = keys.iter().collect();
            let state = self.0.read().await;
            state.get_many(&keys).await.expect("the state can be read: a disk that fails stops the node")
        })
    }

    fn root(&self) -> BoxFuture<'_, Hash> {
        Box::pin(async move { state::hash(self.0.read().await.root()) })
    }

    fn operations(&self, wanted: Wanted) -> BoxFuture<'_, Option<Bytes>> {
        Box::pin(async move {
            let state = self.0.read().await;
            let mut request = wanted.request()?;
            loop {
                let (response, _) = state.serve(request).await.ok()?;
                let bytes = response.encode();
                match halved(&request, bytes.len()) {
                    Some(less) => request = less,
                    None => return Some(bytes),
                }
            }
        })
    }
}

/// The first half of a request whose response has this many bytes. `None` where they are not too many, or are of one operation.
fn halved(request: &Request<Family>, bytes: usize) -> Option<Request<Family>> {
    let Request::Operations { size, start, max_ops } = request else { return None };
    let half = NonZeroU64::new(max_ops.get() / 2).filter(|_| bytes > MAX_OPERATIONS_BYTES)?;
    Some(Request::Operations { size: *size, start: *start, max_ops: half })
}

/// No state is fetched from peers: a node that is behind executes every block.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoSync;

/// Nobody is asked for state.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("state is not fetched from peers")]
pub(super) struct NotFetched;

impl Source for NoSync {
    type Family = Family;
    type Digest = Digest;
    type Op = commonware_storage::qmdb::any::ordered::variable::Operation<Family, state::RawKey, Bytes>;
    type Error = NotFetched;

    async fn serve(&self, _: Request<Family>) -> source::Result<Self> {
        Err(NotFetched)
    }
}

impl<D: Send + Sync + 'static> AttachableResolver<D> for NoSync {
    async fn attach_database(&self, _: Shared<D>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_storage::merkle::Location;

    /// Operations that are too large together are given one by one at last, and what is small enough is given whole.
    #[test]
    fn large_operations_are_given_in_smaller_batches() {
        let of = |max_ops| Request::Operations {
            size: Location::new(100),
            start: Location::new(7),
            max_ops: NonZeroU64::new(max_ops).expect("there are some"),
        };
        assert_eq!(halved(&of(64), MAX_OPERATIONS_BYTES), None);
        assert_eq!(halved(&of(64), MAX_OPERATIONS_BYTES + 1), Some(of(32)));
        assert_eq!(halved(&of(3), usize::MAX), Some(of(1)));
        assert_eq!(halved(&of(1), usize::MAX), None, "one alone is given whatever its size");
        let boundary = Request::Boundary { size: Location::new(100), start: Location::new(7) };
        assert_eq!(halved(&boundary, usize::MAX), None);
    }
}
