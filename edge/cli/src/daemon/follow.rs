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
use cowboy_node::{
    Feed, FollowError, Genesis, Head, NodeHandle,
    begin::{self, BeginError, Certified, Fetch, MAX_OPERATIONS_BYTES},
    refetch::MAX_COPY_BYTES,
};
use cowboy_rpc::{Backend, Listeners};
use cowboy_serve::limits::MAX_CONNECTIONS;
use cowboy_types::Hash;
use futures::{Stream, StreamExt as _};
use std::{
    convert::Infallible,
    path::{Path, PathBuf},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// How many of the newest blocks are looked at for one with a certificate of its own.
const CERTIFIED_WITHIN: u64 = 16;

/// How often a block is taken to begin at: its operations go while newer ones come.
const BEGINNINGS: usize = 5;

/// How long the source has for a block, and for each batch of operations.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the source may say nothing, several block times, before it is asked whether it has anything to say.
const SILENCE: Duration = Duration::from_secs(15);

/// The wait before the source is asked again.
const RETRY: Duration = Duration::from_secs(1);

/// Follows another node: takes its finalized blocks, verifies every certificate, executes everything, and serves the API.
#[derive(Args, Debug)]
pub(crate) struct Follow {
    /// The node to follow, like http://localhost:4000
    url: String,
    /// The genesis hash that the chain must have [default: trust the source's, and print it]
    #[arg(long, value_name = "HASH")]
    genesis: Option<Hash>,
    /// Keep the chain in this folder
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(flatten)]
    serving: Serving,
    /// Do not print a line for each block
    #[arg(long, short)]
    quiet: bool,
}

/// Why following stops for a while, or for good.
enum Stop {
    /// The source is away.
    Away(ApiError),
    /// The source cannot be trusted, or the follower cannot continue.
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
    let slots = serving::claim(MAX_CONNECTIONS)?;
    let listeners = Listeners::bind(&serving.config(&slots)).await.map_err(node_failure)?;
    let chain = genesis.chain.clone();
    let started = tokio::task::spawn_blocking(move || NodeHandle::follow(directory, genesis)).await.map_err(node_failure)?;
    let (node, feed) = started.map_err(node_failure)?;
    let own = format!("http://{}", listeners.address());
    let is_source_away = Arc::new(AtomicBool::new(false));
    let server = listeners.serve(Backend {
        node: node.clone(),
        chain,
        faucet: None,
        upstream: Some(source.clone()),
        is_source_away: is_source_away.clone(),
    });
    let note = |is_away| is_source_away.store(is_away, Ordering::Relaxed);
    output::line(format_args!("following {url} from height {}\nready: {own}", node.head().height));
    let printer = (!quiet).then(|| tokio::spawn(serving::print_blocks(node.clone(), None)));
    let done = tokio::select! {
        failure = feed_for_ever(&source, &node, &feed, output, &note) => Err(failure),
        never = fetch_again(&source, &node, &feed) => match never {},
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

/// Feeds blocks as they come; a source that goes away is asked again. `note` learns whether it is away.
pub(crate) async fn feed_for_ever(
    source: &Client,
    node: &NodeHandle,
    feed: &Feed,
    output: Output,
    note: &(dyn Fn(bool) + Sync),
) -> Failure {
    loop {
        match feed_once(source, node, feed, note).await {
            Stop::Never(failure) => return failure,
            Stop::Away(error) => {
                note(true);
                output.progress(format_args!("the source does not answer ({}); trying again", error.slug));
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

async fn feed_once(source: &Client, node: &NodeHandle, feed: &Feed, note: &(dyn Fn(bool) + Sync)) -> Stop {
    let next = node.head().height.next();
    let stream = match in_time(SILENCE, source.stream(&format!("/follow?from={next}"))).await {
        Ok(stream) => stream,
        Err(error) => return Stop::Away(error),
    };
    match has_nothing(source, next.get(), SILENCE).await {
        Ok(rests) => note(!rests),
        Err(error) => return Stop::Away(error),
    }
    let mut stream = pin!(stream);
    let mut buffer = Vec::new();
    while let Some(bytes) = more(&mut stream, source, || node.head().height.next().get(), SILENCE).await {
        match bytes {
            Ok(bytes) => buffer.extend(bytes),
            Err(error) => return Stop::Away(error),
        }
        note(false);
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

/// What comes next of a stream of blocks; an error where the source is silent though it has the block of height `next`, or does not
/// answer any more. A connection that breaks without a word never ends by itself.
async fn more(
    stream: &mut (impl Stream<Item = Result<Vec<u8>, ApiError>> + Unpin),
    source: &Client,
    next: impl Fn() -> u64,
    silence: Duration,
) -> Option<Result<Vec<u8>, ApiError>> {
    loop {
        if let Ok(bytes) = tokio::time::timeout(silence, stream.next()).await {
            return bytes;
        }
        match has_nothing(source, next(), silence).await {
            Ok(true) => {}
            Ok(false) => return Some(Err(ApiError::of_fault(cowboy_api::error::UNREACHABLE))),
            Err(error) => return Some(Err(error)),
        }
    }
}

/// Whether the source's chain rests below this height.
async fn has_nothing(source: &Client, next: u64, time: Duration) -> Result<bool, ApiError> {
    Ok(in_time(time, source.height()).await? < next)
}

/// What the source answers in this time.
async fn in_time<T>(time: Duration, answer: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
    match tokio::time::timeout(time, answer).await {
        Ok(answer) => answer,
        Err(_) => Err(ApiError::of_fault(cowboy_api::error::UNREACHABLE)),
    }
}

/// Fetches blocks again of which a damaged row was read, or which a repair could not save, as long as the node runs.
async fn fetch_again(source: &Client, node: &NodeHandle, feed: &Feed) -> Infallible {
    loop {
        // The newest first: a block without a certificate is proven by the next one.
        for number in node.missing().unwrap_or_default().into_iter().rev() {
            match fetch_copy(source, feed, number).await {
                Ok(()) => tracing::info!(number, "a damaged block of the ledger was fetched again from the source"),
                Err(reason) => tracing::warn!(number, reason, "a damaged block of the ledger cannot be fetched again"),
            }
        }
        tokio::time::sleep(RETRY).await;
    }
}

async fn fetch_copy(source: &Client, feed: &Feed, number: u64) -> Result<(), String> {
    let path = format!("/copy?number={number}");
    let asked = tokio::time::timeout(PATIENCE, one_frame(source, &path, MAX_COPY_BYTES)).await;
    let copy = asked.map_err(|_| "it takes too long".to_owned())?.map_err(|error| error.to_string())?;
    feed.restore(number, copy).await.map_err(|error| error.to_string())
}

/// Fills a new folder with the state after one of the source's newest blocks. Nothing where the chain has not begun.
pub(crate) async fn begin_at_newest(source: &Client, genesis: &Genesis, directory: &Path) -> Result<Option<Head>, Failure> {
    let runtime = tokio::runtime::Handle::current();
    let client = source.clone();
    // The batches are asked for on this runtime: the node's own ends with its work.
    let fetch: Fetch = Arc::new(move |wanted| {
        let (runtime, client) = (runtime.clone(), client.clone());
        let path = format!("/operations?size={}&start={}&count={}", wanted.size, wanted.start, wanted.most);
        let asked = async move { tokio::time::timeout(PATIENCE, one_frame(&client, &path, MAX_OPERATIONS_BYTES)).await };
        Box::pin(async move {
            let answered = runtime.spawn(asked).await.map_err(|error| error.to_string())?;
            let found = answered.map_err(|_| "it takes too long".to_owned())?.map_err(|error| error.to_string())?;
            Ok(found.into())
        })
    });
    for attempt in 1.. {
        let Some(newest) = newest_certified(source).await? else { return Ok(None) };
        let introduces = match begin::boundary(genesis, newest.number().map_err(node_failure)?) {
            Some(number) => Some(certified_from(source, number).await?),
            None => None,
        };
        let (directory, genesis, fetch) = (directory.to_owned(), genesis.clone(), fetch.clone());
        let begun = tokio::task::spawn_blocking(move || begin::begin(&directory, &genesis, &newest, introduces.as_ref(), fetch));
        match begun.await.map_err(node_failure)? {
            Ok(head) => return Ok(Some(head)),
            Err(BeginError::Source(reason)) if attempt < BEGINNINGS => {
                tracing::warn!(reason, "the source was left behind; a newer block is taken")
            }
            Err(error) => return Err(node_failure(error)),
        }
    }
    Ok(None)
}

/// One of the newest blocks that has a certificate of its own; nothing where the chain has not begun.
async fn newest_certified(source: &Client) -> Result<Option<Certified>, Failure> {
    let height = source.height().await?;
    if height == 0 {
        return Ok(None);
    }
    certified_from(source, height.saturating_sub(CERTIFIED_WITHIN).max(1)).await.map(Some)
}

/// The first of the source's blocks from this height on that has a certificate of its own.
async fn certified_from(source: &Client, first: u64) -> Result<Certified, Failure> {
    let found = async {
        let mut stream = pin!(source.stream(&format!("/follow?from={first}")).await?);
        let mut buffer = Vec::new();
        while let Some(bytes) = stream.next().await {
            buffer.extend(bytes?);
            while let Some(frame) = Frame::take(&mut buffer).map_err(node_failure)? {
                if !frame.certificate.is_empty() {
                    return Ok(Certified { block: frame.block, certificate: frame.certificate });
                }
            }
        }
        Err(Failure::from(ApiError::of_fault(cowboy_api::error::UNREACHABLE)))
    };
    let late = |_| node_failure("the source returns no block with a certificate");
    tokio::time::timeout(PATIENCE, found).await.map_err(late)?
}

/// The bytes of an answer of one frame: a length as 4 bytes big-endian, then that number of bytes.
async fn one_frame(source: &Client, path: &str, most: usize) -> Result<Vec<u8>, ApiError> {
    let mut stream = pin!(source.stream(path).await?);
    let mut bytes = Vec::new();
    while let Some(more) = stream.next().await {
        bytes.extend(more?);
        if bytes.len() > most {
            break;
        }
    }
    let cut = || ApiError::of_fault(cowboy_api::error::UNREACHABLE);
    let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
    let is_whole = usize::try_from(u32::from_be_bytes(*length)).is_ok_and(|length| length == rest.len());
    if is_whole { Ok(rest.to_vec()) } else { Err(cut()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    /// A source that streams one chunk and falls silent, and says that its chain is this high; no height is no answer.
    async fn source(heights: Vec<Option<u64>>) -> (Client, tokio::task::JoinHandle<()>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("the loopback has free ports");
        let url = format!("http://{}", listener.local_addr().expect("it listens"));
        let serving = tokio::spawn(async move {
            let (mut heights, mut open) = (heights.into_iter(), Vec::new());
            while let Ok((mut connection, _)) = listener.accept().await {
                let mut asked = [0; 1_024];
                let length = connection.read(&mut asked).await.unwrap_or(0);
                let answer = match asked[..length].starts_with(b"GET /follow") {
                    true => "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n".to_owned(),
                    false => match heights.next().flatten() {
                        Some(height) => {
                            let body = format!("{{\"height\":{height}}}");
                            format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())
                        }
                        None => String::new(),
                    },
                };
                let _ = connection.write_all(answer.as_bytes()).await;
                // It stays open: nothing tells the follower.
                open.push(connection);
            }
        });
        (Client::new(&url).expect("the address is good"), serving)
    }

    /// A source that falls silent while its chain continues, or answers nothing, is left; one whose chain rests is not.
    #[tokio::test]
    async fn silence_ends() {
        let silence = Duration::from_millis(50);
        for heights in [vec![Some(7)], vec![None], vec![Some(6), Some(6), Some(7)]] {
            let (source, serving) = source(heights).await;
            let mut stream = pin!(source.stream("/follow?from=7").await.expect("it streams"));
            assert_eq!(more(&mut stream, &source, || 7, silence).await, Some(Ok(b"abc".to_vec())));
            let ended = tokio::time::timeout(Duration::from_secs(30), more(&mut stream, &source, || 7, silence)).await;
            assert!(matches!(ended, Ok(Some(Err(_)))), "{ended:?}");
            serving.abort();
        }
    }
}
