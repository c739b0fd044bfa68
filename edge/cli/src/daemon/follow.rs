//! `cowboyd follow`: a node that verifies and executes another node's blocks.

use super::{
    node_failure,
    serving::{self, Serving, StopSignals},
};
use crate::{
    failure::Failure,
    output::{self, Output},
};
use clap::Args;
use commonware_codec::DecodeExt as _;
use cowboy_api::{ApiError, Client, follow::Frame, model};
use cowboy_chain::GenesisConfig;
use cowboy_node::{Feed, FollowError, Genesis, NodeHandle};
use cowboy_rpc::{Backend, Listeners};
use cowboy_types::Hash;
use futures::StreamExt as _;
use std::{path::PathBuf, pin::pin, time::Duration};

/// The wait before the source is asked again.
const RETRY: Duration = Duration::from_secs(1);

/// Follows another node: takes its finalized blocks, verifies every certificate, executes everything, and serves the API.
#[derive(Args, Debug)]
pub(crate) struct Follow {
    /// The node to follow, like http://localhost:4000
    url: String,
    /// The genesis hash that the chain must have; the source's is trusted, and printed, where left out
    #[arg(long, value_name = "HASH")]
    genesis: Option<Hash>,
    /// Keep the chain in this folder
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(flatten)]
    serving: Serving,
    /// Print no line a block
    #[arg(long, short)]
    quiet: bool,
}

/// Why following stops for a while, or for good.
enum Stop {
    /// The source is away.
    Away(ApiError),
    /// The source is not to be believed, or the follower cannot go on.
    Never(Failure),
}

impl Follow {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        serving::runtime()?.block_on(self.serve(output))
    }

    async fn serve(self, output: Output) -> Result<(), Failure> {
        let genesis = fetch_genesis(&Client::new(&self.url)?, self.genesis).await?;
        output.progress(format_args!("genesis {}", genesis.hash()));
        let folder = super::state::Folder::open(self.state.as_deref(), false)?;
        let done = follow(genesis, &self.url, folder.path().to_owned(), &self.serving, self.quiet, output).await;
        drop(folder);
        done
    }
}

/// Follows the node at `url` with a chain in this folder, until told to stop.
pub(super) async fn follow(
    genesis: Genesis,
    url: &str,
    directory: PathBuf,
    serving: &Serving,
    quiet: bool,
    output: Output,
) -> Result<(), Failure> {
    let mut signals = StopSignals::listen()?;
    let source = Client::new(url)?;
    let listeners = Listeners::bind(&serving.config()).await.map_err(node_failure)?;
    let chain = genesis.chain.clone();
    let started = tokio::task::spawn_blocking(move || NodeHandle::follow(directory, genesis)).await.map_err(node_failure)?;
    let (node, feed) = started.map_err(node_failure)?;
    let own = format!("http://{}", listeners.address());
    let server = listeners.serve(Backend { node: node.clone(), chain, faucet: None });
    output::line(format_args!("following {url} from height {}\nready: {own}", node.head().height));
    let printer = (!quiet).then(|| tokio::spawn(serving::print_blocks(node.clone())));
    let done = tokio::select! {
        failure = feed_for_ever(&source, &node, &feed, output) => Err(failure),
        told = signals.told(&node) => told,
    };
    if let Some(printer) = printer {
        printer.abort();
    }
    drop(feed);
    serving::stop(server, node).await?;
    done
}

/// What the source's chain began with, where its hash is the wanted one.
pub(crate) async fn fetch_genesis(source: &Client, wanted: Option<Hash>) -> Result<Genesis, Failure> {
    let fetched: model::Genesis = source.get("/genesis").await?;
    let config =
        GenesisConfig::decode(fetched.config.0).map_err(|error| node_failure(format_args!("the source's genesis is damaged: {error}")))?;
    let genesis = Genesis::new(config, fetched.sharing.0).map_err(node_failure)?;
    match wanted {
        Some(wanted) if wanted != genesis.hash() => {
            Err(node_failure(format_args!("the source's chain has genesis {}, not {wanted}: follow another node", genesis.hash())))
        }
        _ => Ok(genesis),
    }
}

/// Feeds blocks as they come; a source that goes away is asked again.
pub(crate) async fn feed_for_ever(source: &Client, node: &NodeHandle, feed: &Feed, output: Output) -> Failure {
    loop {
        match feed_once(source, node, feed).await {
            Stop::Never(failure) => return failure,
            Stop::Away(error) => {
                output.progress(format_args!("the source is away ({}); asking again", error.slug));
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

async fn feed_once(source: &Client, node: &NodeHandle, feed: &Feed) -> Stop {
    let next = node.head().height.next();
    let stream = match source.stream(&format!("/follow?from={next}")).await {
        Ok(stream) => stream,
        Err(error) => return Stop::Away(error),
    };
    let mut stream = pin!(stream);
    let mut buffer = Vec::new();
    while let Some(bytes) = stream.next().await {
        match bytes {
            Ok(bytes) => buffer.extend(bytes),
            Err(error) => return Stop::Away(error),
        }
        loop {
            let frame = match Frame::take(&mut buffer) {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(error) => return Stop::Never(node_failure(error)),
            };
            match feed.push(frame.block, frame.certificate).await {
                Ok(()) => {}
                // The source went back to a snapshot, or the stream began in the wrong place.
                Err(FollowError::NotNext { last, found }) if found > last => {
                    return Stop::Away(ApiError::of_fault(cowboy_api::error::BUSY));
                }
                Err(error) => return Stop::Never(node_failure(error)),
            }
        }
    }
    Stop::Away(ApiError::of_fault(cowboy_api::error::UNREACHABLE))
}
