//! `cowboyd follow`: a full node that verifies and executes the blocks of other nodes.

use super::{
    checkpoint, node_failure, not_running,
    overlay::{Joined, OverlayArgs},
    serving::{self, Serving, StopSignals},
    sync::{self, Received},
};
use clap::Args;
use cowboy_console::{
    failure::Failure,
    output::{self, Output},
};
use cowboy_node::{Genesis, NodeConfig, NodeHandle};
use cowboy_overlay::{HttpSource, Pool, Source};
use cowboy_rpc::{Backend, Listeners};
use cowboy_serve::limits::MAX_CONNECTIONS;
use cowboy_types::Hash;
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Follows other nodes: takes their finalized blocks, verifies every certificate, executes everything, and serves the API.
///
/// It trusts the key of the validators in the genesis, for all blocks: name the genesis with --genesis, and a recent block with --checkpoint.
#[derive(Args, Debug)]
pub(crate) struct Follow {
    /// The nodes to follow, like http://localhost:4000. Where there are several, one that is away, behind or lies is left for another
    #[arg(required = true)]
    urls: Vec<String>,
    /// The genesis hash that the chain must have [default: trust the first node's, and print it]
    #[arg(long, value_name = "HASH")]
    genesis: Option<Hash>,
    /// The hash of a recent block that you trust: the chain that is in --state already must have it. A first start takes none: name it at a later one, when the
    /// node has caught up
    #[arg(long, value_name = "HASH", requires = "state")]
    checkpoint: Option<Hash>,
    /// Keep the chain in this folder
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(flatten)]
    serving: Serving,
    /// Do not print a line for each block
    #[arg(long, short)]
    quiet: bool,
}

impl Follow {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        serving::runtime()?.block_on(self.serve(output))
    }

    async fn serve(self, output: Output) -> Result<(), Failure> {
        let pool = pool_of(&self.urls)?;
        let first = HttpSource::new(self.urls.first().map_or("", String::as_str))?;
        let genesis = sync::fetch_genesis(&first, self.genesis).await?;
        output.progress(format_args!("genesis {}", genesis.hash()));
        if let (Some(state), Some(trusted)) = (&self.state, self.checkpoint) {
            checkpoint::check_whole(state, &genesis.hash(), trusted)?;
        }
        let folder = super::state::Folder::open(self.state.as_deref())?;
        let following = Following {
            genesis,
            pool,
            overlay: None,
            received: Received::default(),
            directory: folder.path(),
            blocks: u64::MAX,
            quiet: self.quiet,
            named: self.urls.join(", "),
        };
        let done = following.run(&self.serving, output).await;
        drop(folder);
        done
    }
}

/// The nodes at these addresses as the only sources.
pub(crate) fn pool_of(urls: &[String]) -> Result<Arc<Pool>, Failure> {
    let sources = urls.iter().map(|url| Ok(Arc::new(HttpSource::new(url)?) as Arc<dyn Source>));
    Ok(Arc::new(Pool::fixed(sources.collect::<Result<Vec<_>, Failure>>()?)))
}

/// A full node that is about to run.
pub(super) struct Following {
    /// The chain.
    pub(super) genesis: Genesis,
    /// Where blocks come from, and where transactions go.
    pub(super) pool: Arc<Pool>,
    /// The node of the overlay, where it is one.
    pub(super) overlay: Option<Joined>,
    /// What came so far.
    pub(super) received: Received,
    /// The folder of the chain.
    pub(super) directory: PathBuf,
    /// How many blocks it keeps.
    pub(super) blocks: u64,
    /// Whether no line is printed for a block.
    pub(super) quiet: bool,
    /// Whom it follows, in words.
    pub(super) named: String,
}

impl Following {
    /// Runs the node until it is told to stop.
    pub(super) async fn run(self, serving: &Serving, output: Output) -> Result<(), Failure> {
        let Self { genesis, pool, overlay, received, directory, blocks, quiet, named } = self;
        let mut signals = StopSignals::listen()?;
        let slots = serving::claim(MAX_CONNECTIONS)?;
        let listeners = Listeners::bind(&serving.config(&slots)).await.map_err(node_failure)?;
        let chain = genesis.chain.clone();
        let mut config = NodeConfig::follower(directory, genesis);
        config.retention.blocks = blocks;
        let started = tokio::task::spawn_blocking(move || NodeHandle::follow(config)).await.map_err(node_failure)?;
        let (node, feed) = started.map_err(not_running)?;
        let own = format!("http://{}", listeners.address());
        let is_source_away = Arc::new(AtomicBool::new(false));
        let backend = Backend {
            node: node.clone(),
            chain,
            faucet: None,
            upstream: Some(pool.clone()),
            is_source_away: is_source_away.clone(),
            admin: serving::admin([Some(pool.clone()), overlay.as_ref().map(|overlay| overlay.pool().clone())].into_iter().flatten()),
        };
        let server = listeners.serve(backend);
        if let Some(overlay) = &overlay {
            overlay.provide(server.provider());
        }
        let note = |is_away| is_source_away.store(is_away, Ordering::Relaxed);
        output::line(format_args!("following {named} from height {}\nready: {own}", node.head().height));
        let printer = (!quiet).then(|| tokio::spawn(serving::print_blocks(node.clone(), None)));
        let done = tokio::select! {
            failure = sync::feed_for_ever(&pool, &node, &feed, &received, output, &note) => Err(failure),
            never = sync::fetch_again(&pool, &node, &feed) => match never {},
            never = sync::print_progress(&pool, &node, &received, output) => match never {},
            told = signals.told(&node) => told,
        };
        if let Some(printer) = printer {
            printer.abort();
        }
        drop(feed);
        if let Some(overlay) = overlay {
            overlay.stop().await;
        }
        serving::stop(server, node).await?;
        done
    }
}

/// Follows the node at `url` with a chain in this folder, until told to stop.
pub(super) async fn follow(
    genesis: Genesis,
    url: &str,
    directory: PathBuf,
    (serving, overlay): (&Serving, &OverlayArgs),
    quiet: bool,
    output: Output,
) -> Result<(), Failure> {
    let pool = pool_of(&[url.to_owned()])?;
    let overlay = overlay.start(&directory, genesis.block.hash()).await?;
    let following =
        Following { genesis, pool, overlay, received: Received::default(), directory, blocks: u64::MAX, quiet, named: url.to_owned() };
    following.run(serving, output).await
}
