//! What this node serves to the peers of the overlay: the same as its API, without HTTP.

use crate::{
    App, Server,
    limits::Peer,
    methods::{streams, transactions},
    read,
};
use bytes::Bytes;
use commonware_codec::Encode as _;
use cowboy_api::model::SubmitResult;
use cowboy_node::reader::Wanted;
use cowboy_overlay::{GenesisParts, Operations, Position, Provider};
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

    fn find(&self, block: Hash) -> Option<Position> {
        let view = read::ledger(&self.0).ok()?;
        let header = read::block(&view, view.number_of(&block).ok()??).ok()?.header;
        Some(Position { number: header.number.0, height: header.height().get() })
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

    fn copy(&self, number: u64, client: Client) -> BoxFuture<'static, Option<Bytes>> {
        let app = self.0.clone();
        async move {
            let reading = app.clone();
            let found = app.limits.read(client, move || read::ledger(&reading).ok()?.copy(number).ok()?).await;
            Some(found.ok()??.encode().into())
        }
        .boxed()
    }

    fn submit(&self, transactions: Vec<Vec<u8>>, hops: u8, peer: SocketAddr) -> BoxFuture<'static, Option<Vec<SubmitResult>>> {
        let app = self.0.clone();
        async move { transactions::take(&app, Peer(peer), transactions, hops.min(transactions::MAX_HOPS - 1)).await.ok() }.boxed()
    }
}
