//! What this node serves to the peers of the overlay: the same as its API, without HTTP.

use crate::{
    App, Server,
    limits::{Limits, Peer},
    methods::{streams, transactions},
    read,
};
use bytes::Bytes;
use commonware_codec::Encode as _;
use cowboy_api::model::SubmitResult;
use cowboy_node::reader::Wanted;
use cowboy_overlay::{Busy, GenesisParts, Operations, Position, Provider};
use cowboy_serve::Client;
use cowboy_types::{Blob, Hash};
use futures::{FutureExt as _, future::BoxFuture};
use std::{net::SocketAddr, sync::Arc};

impl Server {
    /// What this server's node serves to peers.
    pub fn provider(&self) -> Arc<dyn Provider> {
        Arc::new(Peers(self.app.clone()))
    }
}

struct Peers(App);

impl Provider for Peers {
    fn head(&self) -> Position {
        let head = self.0.node.head();
        Position { number: head.number, height: head.height.get() }
    }

    fn genesis(&self) -> GenesisParts {
        let genesis = &self.0.node.config().genesis;
        GenesisParts {
            config: Blob::new(genesis.config.encode()).unwrap_or_default(),
            sharing: Blob::new(genesis.sharing.clone()).unwrap_or_default(),
        }
    }

    fn find(&self, block: Hash, client: Client) -> BoxFuture<'static, Result<Option<Position>, Busy>> {
        let app = self.0.clone();
        async move {
            let reading = app.clone();
            look_up(&app.limits, client, move || position(&reading, &block)).await
        }
        .boxed()
    }

    fn block(&self, number: u64, client: Client) -> BoxFuture<'static, Option<Bytes>> {
        let app = self.0.clone();
        async move { streams::frame_of_stream(&app, client, number).await }.boxed()
    }

    fn operations(&self, Operations { size, start, most }: Operations, client: Client) -> BoxFuture<'static, Option<Bytes>> {
        let app = self.0.clone();
        async move {
            let state = app.node.chain().ok()?.state()?.clone();
            let wanted = Wanted { size, start, most };
            app.limits.read_state(client, async move { state.operations(wanted).await }).await.ok()?
        }
        .boxed()
    }

    fn copy(&self, number: u64, client: Client) -> BoxFuture<'static, Result<Option<Bytes>, Busy>> {
        let app = self.0.clone();
        async move {
            let reading = app.clone();
            let found = look_up(&app.limits, client, move || read::ledger(&reading).ok()?.copy(number).ok()?).await?;
            Ok(found.map(|copy| copy.encode().into()))
        }
        .boxed()
    }

    fn submit(&self, transactions: Vec<Vec<u8>>, hops: u8, peer: SocketAddr) -> BoxFuture<'static, Option<Vec<SubmitResult>>> {
        let app = self.0.clone();
        async move { transactions::take(&app, Peer(peer), transactions, hops.min(transactions::MAX_HOPS - 1)).await.ok() }.boxed()
    }
}

/// What `look` finds in the ledger, on the readers. Where they have no room for it, nobody may conclude that there is nothing.
async fn look_up<T: Send + 'static>(
    limits: &Limits,
    client: Client,
    look: impl FnOnce() -> Option<T> + Send + 'static,
) -> Result<Option<T>, Busy> {
    limits.read(client, look).await.map_err(|_| Busy)
}

/// Where the final block of this hash is.
fn position(app: &App, block: &Hash) -> Option<Position> {
    let view = read::ledger(app).ok()?;
    let header = read::header(&view, view.number_of(block).ok()??).ok()?;
    Some(Position { number: header.number.0, height: header.height().get() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::testing::occupy;
    use std::net::IpAddr;

    /// Decision 758: whoever has its share of the readers gets `Busy`, and not that there is no such block.
    #[tokio::test]
    async fn no_room_to_look_is_not_nothing_found() {
        let limits = Limits::start(None).expect("the system has threads");
        let client = |number: u8| Client::from(IpAddr::from([192, 0, 2, number]));
        let occupied = occupy(&limits, client(1));
        assert_eq!(look_up(&limits, client(1), || Some(7)).await, Err(Busy));
        drop(occupied);
        assert_eq!(look_up(&limits, client(2), || Some(7)).await, Ok(Some(7)));
        assert_eq!(look_up(&limits, client(2), || None::<u8>).await, Ok(None));
    }
}
