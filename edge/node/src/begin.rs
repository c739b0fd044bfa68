//! A follower that begins at a final block instead of genesis: it fetches the operations that made the state, and verifies each.
//!
//! The block's header, which the validators finalized, names the root and the range of the operations that the state consists of
//! (decision 116). Each batch of them comes with a proof against that root, and what they make together has the header's state root;
//! or nothing is kept.

use crate::{
    application::Machine,
    block::SealedBlock,
    certificate::is_certificate,
    chain::{Carry, Head},
    epoch,
    follow::STATE,
    genesis::Genesis,
    protocol::Outdated,
    reader::{MAX_OPERATIONS, Wanted},
};
use bytes::Bytes;
use commonware_codec::Decode as _;
use commonware_glue::stateful::Application;
use commonware_runtime::{Runner as _, Supervisor as _, tokio as runtime};
use commonware_storage::qmdb::sync::{
    self, Database, EngineError, Error as SyncError, Request, Response, Source, engine,
    source::{Feedback, ResponseOf},
};
use commonware_utils::{
    NZU64, NZUsize,
    channel::{mpsc, oneshot},
};
use cowboy_chain::input::BaseFees;
use cowboy_store::{
    Directory, Ledger, StoreError,
    state::{self, Db, Family, MAX_VALUE_BYTES},
};
use futures::future::BoxFuture;
use rand_core::CryptoRng;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// The stack of the thread that fetches: unoptimised, its futures are large.
const STACK_BYTES: usize = 32 * 1024 * 1024;

/// How many answers to one request may be wrong before the state sync fails.
const MAX_REJECTED: usize = 16;

/// Operations that a source gave, unverified.
pub struct Batch {
    /// As [`crate::chain::StateReader::operations`] encodes them.
    pub bytes: Bytes,
    /// Called where they do not verify. The request is made again, of another source.
    pub reject: Box<dyn FnOnce() + Send>,
}

impl From<Bytes> for Batch {
    /// Operations of the only source.
    fn from(bytes: Bytes) -> Self {
        Self { bytes, reject: Box::new(|| ()) }
    }
}

/// Where operations come from, or why there are none.
pub type Fetch = Arc<dyn Fn(Wanted) -> BoxFuture<'static, Result<Batch, String>> + Send + Sync>;

/// Why a follower does not begin at a block. Nothing is kept, except verified operations where the source went away.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// The bytes are no block.
    #[error("the bytes are not a block: {0}")]
    NotABlock(String),
    /// The certificate is not one of this block by this chain's validators.
    #[error("the certificate of block {0} does not hold: the source lies, or follows another chain")]
    Certificate(u64),
    /// The block that says who signs in the running epoch is missing, or is not the one that the validators finalized.
    #[error("block {0} says who signs in the running epoch, and the source gives no such block with its certificate: name another source")]
    Boundary(u64),
    /// The operations are not those that the header names.
    #[error("the operations are not those that the header of block {0} names: the source lies")]
    Operations(u64),
    /// They are, and the state is another.
    #[error("the operations of block {0} make another state than its header names: the validators run another protocol")]
    State(u64),
    /// There are none.
    #[error("the source gives no operations: {0}; ask again, or begin at genesis")]
    Source(String),
    /// The chain runs a protocol version that this build does not know.
    #[error(transparent)]
    Outdated(#[from] Outdated),
    /// The disk cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The same, of the state.
    #[error("the state cannot be written: {0}")]
    Disk(String),
}

impl BeginError {
    /// Whether the operations that were fetched are of no use.
    fn is_final(&self) -> bool {
        !matches!(self, Self::Source(_))
    }
}

/// A final block in its canonical encoding, with a certificate of exactly this block.
#[derive(Clone, Debug)]
pub struct Certified {
    /// The block.
    pub block: Vec<u8>,
    /// Its certificate.
    pub certificate: Vec<u8>,
}

impl Certified {
    fn sealed(&self) -> Result<SealedBlock, BeginError> {
        let bytes = Bytes::copy_from_slice(&self.block);
        SealedBlock::decode_cfg(bytes, &()).map_err(|error| BeginError::NotABlock(error.to_string()))
    }

    /// Whether the certificate is a finalization of exactly this block by the validators of a chain.
    pub fn is_final(&self, genesis: &Genesis, random: &mut impl CryptoRng) -> bool {
        let verifier = genesis.committee.verifier(&genesis.namespace());
        self.sealed().is_ok_and(|block| is_certificate(random, &verifier, &block.hash(), &self.certificate))
    }

    /// The block's number.
    pub fn number(&self) -> Result<u64, BeginError> {
        Ok(self.sealed()?.header().number.0)
    }
}

/// The number of the block that says who signs after block `number`: a follower that begins there needs both. `None` where genesis
/// or the block itself says it.
pub fn boundary(genesis: &Genesis, number: u64) -> Option<u64> {
    let length = epoch::length(&genesis.chain).get();
    let boundary = (number.saturating_add(1) / length).saturating_mul(length).checked_sub(1)?;
    (boundary < number).then_some(boundary)
}

/// Fills a new folder with the state after a final block, so that a follower continues from there. Blocks the thread.
///
/// `introduces` is the block that [`boundary`] names, where it names one.
pub fn begin(
    directory: &Path,
    genesis: &Genesis,
    newest: &Certified,
    introduces: Option<&Certified>,
    fetch: Fetch,
) -> Result<Head, BeginError> {
    let block = newest.sealed()?;
    let introduces = introduction(genesis, &block, introduces)?;
    let draft = directory.with_extension("part");
    // Verified operations of an earlier try, also of one that was killed, are not fetched again.
    let is_resumed = draft.exists();
    let attempt = || fill(&draft, genesis, (block.clone(), newest.certificate.clone()), introduces.clone(), fetch.clone());
    let mut done = attempt();
    if is_resumed && done.as_ref().is_err_and(BeginError::is_final) {
        // What the earlier try left may be damaged.
        Directory::wipe(&draft)?;
        done = attempt();
    }
    if done.as_ref().is_err_and(BeginError::is_final) {
        Directory::wipe(&draft)?;
    }
    done?;
    std::fs::rename(&draft, directory).map_err(|error| StoreError::file(directory, error))?;
    Ok(Head::of(&block))
}

/// A final block with its certificate, which is not verified yet.
type Claimed = (SealedBlock, Vec<u8>);

/// The block that says who signs after `block`, where a follower needs one.
fn introduction(genesis: &Genesis, block: &SealedBlock, given: Option<&Certified>) -> Result<Option<Claimed>, BeginError> {
    let Some(number) = boundary(genesis, block.header().number.0) else { return Ok(None) };
    let given = given.ok_or(BeginError::Boundary(number))?;
    let sealed = given.sealed()?;
    if sealed.header().number.0 == number { Ok(Some((sealed, given.certificate.clone()))) } else { Err(BeginError::Boundary(number)) }
}

fn fill(
    draft: &Path,
    genesis: &Genesis,
    (block, certificate): Claimed,
    introduces: Option<Claimed>,
    fetch: Fetch,
) -> Result<(), BeginError> {
    let claimed = Directory::open(draft, &genesis.hash())?;
    let (newest, genesis) = ((block.clone(), certificate.clone()), genesis.clone());
    let task = Task { storage: claimed.engine(), genesis, newest, introduces: introduces.clone(), fetch };
    let thread = std::thread::Builder::new().name("begin".into()).stack_size(STACK_BYTES).spawn(move || task.run());
    let ended = thread.map_err(|error| StoreError::file(draft, error))?.join();
    ended.unwrap_or_else(|_| Err(BeginError::Disk("the log says why".into())))?;
    // The state knows what is due; a follower proposes nothing, and its pool learns the prices with the next block.
    let header = block.header();
    let carry =
        Carry { has_work: true, next_timer: None, base_fees: BaseFees { cycle: header.base_fee_cycle, cell: header.base_fee_cell } };
    // An earlier try that was killed at the end may have left one, of an older block.
    match std::fs::remove_file(claimed.ledger()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(StoreError::file(claimed.ledger(), error).into()),
        _ => {}
    }
    Ok(Ledger::open(&claimed.ledger())?.begin(
        block.block(),
        &certificate,
        &carry.to_bytes(),
        introduces.as_ref().map(|(block, _)| block.block()),
    )?)
}

struct Task {
    storage: PathBuf,
    genesis: Genesis,
    newest: Claimed,
    introduces: Option<Claimed>,
    fetch: Fetch,
}

impl Task {
    fn run(self) -> Result<(), BeginError> {
        let runtime = runtime::Config::new().with_storage_directory(&self.storage).with_worker_threads(2);
        runtime::Runner::new(runtime).start(|context| self.take(context))
    }

    async fn take(self, mut context: runtime::Context) -> Result<(), BeginError> {
        let header = self.newest.0.header();
        let number = header.number.0;
        let verifier = self.genesis.committee.verifier(&self.genesis.namespace());
        let mut is_certified = |(block, certificate): &Claimed| is_certificate(&mut context, &verifier, &block.hash(), certificate);
        if let Some(introduces) = self.introduces.as_ref().filter(|introduces| !is_certified(introduces)) {
            return Err(BeginError::Boundary(introduces.0.header().number.0));
        }
        if !is_certified(&self.newest) {
            return Err(BeginError::Certificate(number));
        }
        // Before the certificate is verified, anyone may have chosen the version.
        let (version, versions) = (header.version, self.genesis.chain.versions);
        if versions.rules(version).is_none() {
            return Err(Outdated { version, height: header.height(), newest: versions.newest() }.into());
        }
        if number == 0 || header.ops_start >= header.ops_end {
            return Err(BeginError::Certificate(number));
        }
        let pages = state::page_cache(&context, STATE).await;
        let config = engine::Config {
            context: context.child("begin"),
            source: Fetched { fetch: self.fetch.clone() },
            target: <Machine as Application<runtime::Context>>::sync_targets(&self.newest.0),
            max_outstanding_requests: NZUsize!(4),
            fetch_batch_size: NZU64!(MAX_OPERATIONS),
            apply_batch_size: NZU64!(1_024),
            db_config: state::config(STATE, pages),
            update_rx: None,
            finish_rx: None,
            reached_target_tx: None,
        };
        let state: Db<runtime::Context> = sync::sync(config).await.map_err(|error| match error {
            SyncError::Source(Lost::Away(reason)) => BeginError::Source(reason),
            SyncError::Source(Lost::Malformed) => BeginError::Operations(number),
            SyncError::Engine(EngineError::InvalidResponse | EngineError::RootMismatch { .. }) => BeginError::Operations(number),
            other => BeginError::Disk(other.to_string()),
        })?;
        // The operations' root is the one that the header names; that of the state is made of them, and of what they leave.
        if state::hash(state.root()) == header.state_root { Ok(()) } else { Err(BeginError::State(number)) }
    }
}

/// Why a batch of operations is not there.
#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error("{0}")]
    Away(String),
    #[error("the bytes are not valid operations")]
    Malformed,
}

/// Operations from elsewhere.
struct Fetched {
    fetch: Fetch,
}

type State = Db<runtime::Context>;

impl Source for Fetched {
    type Family = Family;
    type Digest = <State as Database>::Digest;
    type Op = <State as Database>::Op;
    type Error = Lost;

    async fn serve(&self, request: Request<Family>) -> sync::source::Result<Self> {
        let (response, reject) = fetch(&self.fetch, request).await?;
        let (verdict, judged) = oneshot::channel();
        let (candidates, later) = mpsc::channel(1);
        tokio::spawn(replace_rejected(self.fetch.clone(), request, (judged, reject), candidates));
        Ok((response, Some(Feedback::new(verdict, later))))
    }
}

type Operations = ResponseOf<Fetched>;

type Reject = Box<dyn FnOnce() + Send>;

/// Operations of a request that decode, and whom to tell where they do not verify.
async fn fetch(fetch: &Fetch, request: Request<Family>) -> Result<(Operations, Reject), Lost> {
    let max = usize::try_from(request.max_ops().get()).map_err(|_| Lost::Malformed)?;
    for _ in 0..MAX_REJECTED {
        let Batch { bytes, reject } = fetch(Wanted::of(&request)).await.map_err(Lost::Away)?;
        let values = ((), (0..=MAX_VALUE_BYTES).into());
        match Response::decode_cfg(bytes, &(max, values)) {
            Ok(response) => return Ok((response, reject)),
            Err(_) => reject(),
        }
    }
    Err(Lost::Malformed)
}

/// Rejects operations that do not verify, and gives others for them.
async fn replace_rejected(
    source: Fetch,
    request: Request<Family>,
    (mut judged, mut reject): (oneshot::Receiver<bool>, Reject),
    candidates: mpsc::Sender<(Operations, oneshot::Sender<bool>)>,
) {
    for _ in 0..MAX_REJECTED {
        // A request that is given up is not judged.
        if !matches!(judged.await, Ok(false)) {
            return;
        }
        reject();
        let Ok((response, next)) = fetch(&source, request).await else { return };
        let (verdict, next_judged) = oneshot::channel();
        if candidates.send((response, verdict)).await.is_err() {
            return;
        }
        (judged, reject) = (next_judged, next);
    }
}
