//! A node of the network of full nodes that serves another node's chain and lies about its state: `liar --bootstrap RECORD --dir FOLDER`.
//!
//! Blocks, certificates and the genesis are the other node's. In operations of the state the last bit is another one. `./bench network` starts some
//! beside honest nodes. It runs until its input ends.

#![allow(clippy::print_stdout, reason = "its output is how it is used")]

use bytes::Bytes;
use clap::Parser;
use cowboy_api::model::SubmitResult;
use cowboy_node::reader::MAX_OPERATIONS_BYTES;
use cowboy_overlay::{Busy, Config, GenesisParts, Operations, Overlay, Position, Provider, Record, Source};
use cowboy_serve::Client;
use cowboy_types::Hash;
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture};
use std::{
    error::Error,
    io,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// How often the honest node is asked how far it is.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Debug, Parser)]
struct Arguments {
    /// The record of an honest node
    #[arg(long)]
    bootstrap: Record,
    /// The folder of the key
    #[arg(long)]
    dir: PathBuf,
}

/// The chain of an honest node.
struct Liar {
    honest: Arc<dyn Source>,
    genesis: GenesisParts,
    head: Mutex<Position>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { bootstrap, dir } = Arguments::parse();
    let chain = *bootstrap.chain();
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let config = Config { directory: dir, listen, discovery_port: 0, advertise: None, chain, bootstrap: vec![bootstrap] };
    let overlay = Overlay::start(config).await?;
    let honest = loop {
        if let Some(source) = overlay.pool().choose() {
            break source;
        }
        tokio::time::sleep(LOOK).await;
    };
    let (genesis, head) = (honest.genesis().await?, honest.head().await?);
    let liar = Arc::new(Liar { honest, genesis, head: Mutex::new(head) });
    overlay.provide(liar.clone());
    println!("ready: {}", overlay.record());
    let follow = async {
        loop {
            tokio::time::sleep(LOOK).await;
            if let Ok(head) = liar.honest.head().await {
                *liar.head.lock().unwrap_or_else(PoisonError::into_inner) = head;
            }
        }
    };
    let input = tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink()));
    tokio::select! {
        () = follow => {}
        _ = input => {}
    }
    overlay.stop().await;
    Ok(())
}

impl Provider for Liar {
    fn head(&self) -> Position {
        self.head.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn genesis(&self) -> GenesisParts {
        self.genesis.clone()
    }

    fn find(&self, _: Hash, _: Client) -> BoxFuture<'static, Result<Option<Position>, Busy>> {
        std::future::ready(Ok(None)).boxed()
    }

    fn block(&self, number: u64, _: Client) -> BoxFuture<'static, Option<Bytes>> {
        let honest = self.honest.clone();
        async move {
            // The chain has not jumped over heights: a number is a height.
            let mut blocks = honest.blocks(Position { number, height: number }).await.ok()?;
            Some(blocks.next().await?.ok()?.encode().into())
        }
        .boxed()
    }

    fn operations(&self, wanted: Operations, _: Client) -> BoxFuture<'static, Option<Bytes>> {
        let honest = self.honest.clone();
        async move {
            let mut bytes = honest.operations(wanted, MAX_OPERATIONS_BYTES).await.ok()?.to_vec();
            *bytes.last_mut()? ^= 1;
            Some(bytes.into())
        }
        .boxed()
    }

    fn copy(&self, _: u64, _: Client) -> BoxFuture<'static, Result<Option<Bytes>, Busy>> {
        std::future::ready(Ok(None)).boxed()
    }

    fn submit(&self, _: Vec<Vec<u8>>, _: u8, _: SocketAddr) -> BoxFuture<'static, Option<Vec<SubmitResult>>> {
        std::future::ready(None).boxed()
    }
}
