//! Sources that claim what they do not have, and one that is honest.

use super::*;
use crate::daemon::sync::feed_for_ever;
use bytes::Bytes;
use commonware_codec::Encode as _;
use cowboy_chain::GenesisConfig;
use cowboy_console::output::Output;
use cowboy_node::{
    BlockTime, NodeConfig, NodeHandle,
    genesis::{DevGenesis, dev},
};
use cowboy_overlay::{BlockStream, GenesisParts};
use futures::{
    FutureExt as _,
    future::{BoxFuture, ready},
    stream,
};

/// How long a test may take where a fault makes it hang.
const LIMIT: Duration = Duration::from_secs(120);

/// How long a source that drips takes for each block: less than it is waited for.
const DRIP: Duration = Duration::from_secs(10);

/// What a source does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behaviour {
    /// It answers what it has.
    Honest,
    /// It claims blocks, and has none of them.
    Missing,
    /// Its newest block has a version that nobody knows, and the certificate of another block.
    Version,
    /// Its newest block is the first.
    Old,
    /// It says that the chain has not begun.
    Empty,
    /// It does not have the checkpoint.
    Forgets,
    /// Its blocks after the checkpoint are invented, and all have the same number.
    Invents,
    /// Its newest block is invented, very far from the checkpoint, and the blocks between the two come slowly, each after the one that it names.
    Drips,
    /// It is honest, and has no certificates of its first 20 to 30 blocks.
    Boundary,
    /// It is honest, and has no certificates of its first 300 blocks.
    Uncertified,
    /// Every seventh block has the certificate of the one before it.
    Misfiles,
    /// One block is invented, and those after it are not.
    Forks,
    /// It says that its fifth block is the checkpoint.
    Pretends,
}

impl Behaviour {
    /// What it adds to the height of the chain.
    fn claims(self) -> u64 {
        match self {
            Self::Honest | Self::Uncertified | Self::Empty | Self::Misfiles | Self::Forks | Self::Pretends => 0,
            Self::Missing | Self::Version | Self::Old | Self::Drips => 1 << 62,
            Self::Forgets | Self::Invents | Self::Boundary => 8,
        }
    }
}

struct Scripted {
    name: String,
    node: NodeHandle,
    behaviour: Behaviour,
}

impl Scripted {
    fn frame(&self, number: u64) -> Option<Frame> {
        let view = self.node.view().expect("the ledger opens");
        let block = view.block_bytes(number).expect("the ledger reads")?;
        let is_uncertified = match self.behaviour {
            Behaviour::Boundary => (20..=30).contains(&number),
            Behaviour::Uncertified => number <= 300,
            _ => false,
        };
        if self.behaviour == Behaviour::Forks && number == 20 {
            let mut block = checkpoint::decoded(&block).expect("a block");
            block.header.timestamp_ms.0 += 1;
            return Some(Frame { block: block.encode().to_vec(), certificate: Vec::new() });
        }
        let certified = if self.behaviour == Behaviour::Misfiles && number.is_multiple_of(7) { number - 1 } else { number };
        let certificate = view.certificate(certified).expect("the ledger reads").filter(|_| !is_uncertified);
        Some(Frame { block, certificate: certificate.unwrap_or_default() })
    }

    fn claimed(&self) -> Position {
        let place = match self.behaviour {
            Behaviour::Empty => 0,
            behaviour => self.node.head().number + behaviour.claims(),
        };
        Position { number: place, height: place }
    }

    /// The chain from this block on.
    fn genuine(&self, from: u64) -> BlockStream {
        let frames: Vec<_> = (from..=self.node.head().number).filter_map(|number| self.frame(number)).map(Ok).collect();
        stream::iter(frames).chain(stream::pending()).boxed()
    }

    fn newest(&self) -> (Block, Vec<u8>) {
        let frame = self.frame(self.node.head().number).expect("there is one");
        (checkpoint::decoded(&frame.block).expect("a block"), frame.certificate)
    }

    /// The checkpoint, and blocks that name the one before them, without an end. Where they have a drip each has the next number, else that of the first.
    fn invented(&self, from: u64, drip: Option<Duration>) -> BlockStream {
        let (first, block) = (self.frame(from).expect("it is there"), self.newest().0);
        let parent = checkpoint::decoded(&first.block).expect("a block").digest();
        let more = stream::unfold((from, parent), move |(number, parent)| {
            let mut block = block.clone();
            let number = drip.map_or(0, |_| number + 1);
            (block.header.number.0, block.header.parent) = (number, parent);
            let frame = Frame { block: block.encode().to_vec(), certificate: Vec::new() };
            async move {
                if let Some(drip) = drip {
                    sleep(drip).await;
                }
                Some((Ok(frame), (number, block.digest())))
            }
        });
        stream::once(ready(Ok(first))).chain(more).boxed()
    }
}

impl Source for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    fn head(&self) -> BoxFuture<'_, Result<Position, Failed>> {
        ready(Ok(self.claimed())).boxed()
    }

    fn genesis(&self) -> BoxFuture<'_, Result<GenesisParts, Failed>> {
        ready(Err(Failed::Missing)).boxed()
    }

    fn find(&self, block: Hash) -> BoxFuture<'_, Result<Position, Failed>> {
        if self.behaviour == Behaviour::Pretends {
            return ready(Ok(Position { number: 5, height: 5 })).boxed();
        }
        let number = self.node.view().expect("the ledger opens").number_of(&block).expect("the ledger reads");
        let number = number.filter(|_| self.behaviour != Behaviour::Forgets).ok_or(Failed::Missing);
        ready(number.map(|number| Position { number, height: number })).boxed()
    }

    fn blocks(&self, from: Position) -> BoxFuture<'_, Result<BlockStream, Failed>> {
        let found = match self.behaviour {
            Behaviour::Missing => Err(Failed::Missing),
            Behaviour::Old => Ok(self.genuine(1)),
            Behaviour::Drips if from.number < 10 => Ok(self.invented(from.number, Some(DRIP))),
            Behaviour::Version | Behaviour::Drips => {
                let (mut block, certificate) = self.newest();
                block.header.number.0 = from.number;
                if self.behaviour == Behaviour::Version {
                    block.header.version = 255;
                }
                let frame = Frame { block: block.encode().to_vec(), certificate };
                Ok(stream::once(ready(Ok(frame))).chain(stream::pending()).boxed())
            }
            Behaviour::Invents if from.number < 10 => Ok(self.invented(from.number, None)),
            _ => Ok(self.genuine(from.number)),
        };
        ready(found).boxed()
    }

    fn operations(&self, wanted: Operations, _: usize) -> BoxFuture<'_, Result<Bytes, Failed>> {
        async move {
            let state = self.node.chain().expect("it runs").state().expect("the state is open").clone();
            let found = state.operations(Wanted { size: wanted.size, start: wanted.start, most: wanted.most }).await;
            found.ok_or(Failed::Missing)
        }
        .boxed()
    }

    fn copy(&self, _: u64, _: usize) -> BoxFuture<'_, Result<Bytes, Failed>> {
        ready(Err(Failed::Missing)).boxed()
    }

    fn submit(&self, _: Vec<Vec<u8>>, _: u8) -> BoxFuture<'_, Result<Vec<cowboy_api::model::SubmitResult>, Failed>> {
        ready(Err(Failed::Missing)).boxed()
    }
}

/// A lone validator with epochs of 24 blocks where it is no devnet, once it has this many blocks.
fn validator(directory: &Path, is_dev: bool, gap_ms: u64, blocks: u64) -> NodeHandle {
    let row = cowboy_params::Params::row("consensus.epoch").expect("a row of the table").id;
    let parameters = if is_dev { Default::default() } else { [(row, 24)].into() };
    let (made, mut keys) = dev(DevGenesis { parameters, validators: 1, ..DevGenesis::default() }).expect("a genesis");
    let genesis = Genesis::new(GenesisConfig { is_dev, ..made.config }, made.sharing).expect("a genesis");
    let mut config = NodeConfig::alone(directory.to_owned(), genesis, keys.remove(0));
    config.block_time = BlockTime::Every(Duration::from_millis(gap_ms));
    let node = NodeHandle::start(config).expect("it starts");
    let mut head = node.watch_head();
    runtime().block_on(head.wait_for(|head| head.number >= blocks)).expect("it lives");
    node
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(2).build().expect("a runtime")
}

/// A pool of sources of one node, named in order.
fn pool_of(node: &NodeHandle, behaviours: &[Behaviour]) -> Arc<Pool> {
    let pool = Pool::default();
    for (index, behaviour) in behaviours.iter().enumerate() {
        pool.add(Arc::new(Scripted { name: format!("{index} {behaviour:?}"), node: node.clone(), behaviour: *behaviour }));
    }
    Arc::new(pool)
}

fn begun(node: &NodeHandle, pool: &Arc<Pool>, checkpoint: Option<Hash>) -> Result<Option<Head>, Failure> {
    let folder = tempfile::tempdir().expect("a folder");
    let directory = folder.path().join("state");
    let genesis = node.config().genesis.clone();
    runtime().block_on(async {
        let received = Received::default();
        let beginning = begin_at_newest(pool, (&genesis, checkpoint), &directory, &received);
        timeout(LIMIT, beginning).await.expect("it ends")
    })
}

/// A reason for which a source is excluded round after round is logged once, and counted from then on.
#[test]
fn a_reason_is_logged_once() {
    let (mut excluded, unknown, silent) = (Excluded::default(), node_failure("no such block"), node_failure("it does not answer"));
    assert!(excluded.add("one", &unknown) && excluded.add("two", &unknown), "the first round");
    for round in 1..ROUNDS {
        assert_eq!(excluded.names.len(), 2);
        excluded.names.clear();
        assert!(!excluded.add("one", &unknown) && !excluded.add("two", &unknown), "round {round}");
    }
    assert_eq!(excluded.repeated, 2 * (ROUNDS - 1));
    assert!(excluded.add("two", &silent), "that is another reason");
}

/// However many sources claim to be furthest and do not have the blocks, a node begins with the one that does.
#[test]
fn claims_without_blocks_do_not_stop_a_state_sync() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = validator(folder.path(), true, 50, 40);
    let liars = [Behaviour::Missing, Behaviour::Version, Behaviour::Old].repeat(3);
    let pool = pool_of(&node, &[&liars[..], &[Behaviour::Honest]].concat());
    let head = begun(&node, &pool, None).expect("one is honest").expect("the chain has begun");
    assert!(head.number >= 24, "it begins far back, at {}", head.number);
    assert!(!pool.is_banned("9 Honest", None) && pool.is_banned("1 Version", None), "{:?}", pool.standing());
    // Where nobody is honest it ends, and says why.
    let liar: Arc<dyn Source> = Arc::new(Scripted { name: "liar".into(), node: node.clone(), behaviour: Behaviour::Missing });
    assert!(begun(&node, &Arc::new(Pool::fixed([liar])), None).is_err());
    node.shutdown();
}

/// Sources that hide the trusted block, or invent blocks after it without an end, do not stop a node that names one.
#[test]
fn a_checkpoint_is_found_where_one_source_has_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = validator(folder.path(), true, 50, 40);
    let liars = [Behaviour::Forgets, Behaviour::Invents, Behaviour::Drips].repeat(3);
    let pool = pool_of(&node, &[&liars[..], &[Behaviour::Honest]].concat());
    let view = node.view().expect("the ledger opens");
    let checkpoint = view.block(5).expect("the ledger reads").expect("it is there").digest();
    let head = begun(&node, &pool, Some(checkpoint)).expect("one is honest").expect("the chain has begun");
    assert!(head.number >= 24, "{head:?}");
    assert!(pool.is_banned("1 Invents", None) && pool.is_banned("2 Drips", None), "they lied");
    assert!(!pool.is_banned("0 Forgets", None), "a node may have pruned the block");
    let unknown = begun(&node, &pool_of(&node, &[Behaviour::Honest]), Some(Hash([7; 32]))).expect_err("nobody has it");
    assert!(unknown.to_string().contains("no block with the hash of the checkpoint"), "{unknown}");
    node.shutdown();
}

/// Whoever kept all shares of an earlier time certifies another chain from the first block on, and a longer one. A node that names a block of the right
/// chain begins with that one, and bans who pretends to have the block.
#[test]
fn a_fork_with_all_shares_of_the_past_is_not_begun_with() {
    let folder = tempfile::tempdir().expect("a folder");
    // One key signs both.
    let fork = validator(&folder.path().join("fork"), true, 50, 40);
    let node = validator(&folder.path().join("chain"), true, 50, 40);
    assert_eq!(fork.config().genesis.hash(), node.config().genesis.hash());
    let pool = pool_of(&fork, &[Behaviour::Honest, Behaviour::Pretends]);
    pool.add(Arc::new(Scripted { name: "right".into(), node: node.clone(), behaviour: Behaviour::Honest }));
    let block = |node: &NodeHandle, number: u64| {
        node.view().expect("the ledger opens").block(number).expect("the ledger reads").expect("it is there").digest()
    };
    let checkpoint = block(&node, 5);
    assert!(block(&fork, 5) != checkpoint && fork.head().number > node.head().number, "it is another chain, and longer");
    let head = begun(&node, &pool, Some(checkpoint)).expect("one is right").expect("the chain has begun");
    assert_eq!(head.digest, block(&node, head.number));
    assert!(pool.is_banned("1 Pretends", None) && !pool.is_banned("right", None), "{:?}", pool.standing());
    fork.shutdown();
    node.shutdown();
}

/// Until several rounds agree that the chain has not begun, another source may come that has blocks.
#[test]
fn one_source_without_blocks_does_not_end_a_state_sync() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = validator(folder.path(), true, 50, 40);
    let pool = pool_of(&node, &[Behaviour::Empty]);
    let (more, honest, mut head) = (pool.clone(), node.clone(), node.watch_head());
    let adding = std::thread::spawn(move || {
        // Several blocks later, when the first source was asked.
        runtime().block_on(head.wait_for(|head| head.number >= 60)).expect("it lives");
        more.add(Arc::new(Scripted { name: "honest".into(), node: honest, behaviour: Behaviour::Honest }));
    });
    assert!(begun(&node, &pool, None).expect("one is honest").is_some());
    adding.join().expect("it does not panic");
    assert!(begun(&node, &pool_of(&node, &[Behaviour::Empty]), None).expect("all agree").is_none());
    node.shutdown();
}

/// Decision 759: a chain of which a block is trusted has begun, though all sources say that it has not. Whoever has all of them would give another chain later.
#[test]
fn a_trusted_block_is_of_a_chain_that_has_begun() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = validator(folder.path(), true, 50, 1);
    let refused = begun(&node, &pool_of(&node, &[Behaviour::Empty]), Some(Hash([7; 32]))).expect_err("nobody has the block");
    assert!(refused.to_string().contains("its chain has not begun"), "{refused}");
    node.shutdown();
}

/// A source without the certificate of the block that says who signs is passed over, and is no liar.
#[test]
fn a_boundary_block_without_a_certificate_is_no_lie() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = validator(folder.path(), false, 100, 42);
    let pool = pool_of(&node, &[Behaviour::Boundary, Behaviour::Honest]);
    let head = begun(&node, &pool, None).expect("one has it").expect("the chain has begun");
    assert!(head.number > 24, "{head:?}");
    assert!(!pool.is_banned("0 Boundary", None), "a validator that caught up has no certificates");
    node.shutdown();
}

/// A follower passes a run of blocks without certificates with another source, and does not ban the one that has none.
#[test]
fn blocks_without_certificates_are_no_lie() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = validator(&folder.path().join("source"), true, 10, 310);
    let config = NodeConfig::follower(folder.path().join("follower"), node.config().genesis.clone());
    let (follower, feed) = NodeHandle::follow(config).expect("it starts");
    let pool = pool_of(&node, &[Behaviour::Uncertified, Behaviour::Honest]);
    runtime().block_on(async {
        let (mut head, received) = (follower.watch_head(), Received::default());
        let note = |_| ();
        tokio::select! {
            failure = feed_for_ever(&pool, &follower, &feed, &received, Output { json: true }, &note) => panic!("{failure}"),
            passed = timeout(LIMIT, head.wait_for(|head| head.number >= 310)) => drop(passed.expect("it follows").expect("it lives")),
        }
    });
    assert!(!pool.is_banned("0 Uncertified", None), "{:?}", pool.standing());
    drop(feed);
    follower.shutdown();
    node.shutdown();
}

/// Of three sources one gives another block's certificate within a run of blocks, and one mixes in an invented block: each is banned, and loses only
/// what it lied about and what came after it.
#[test]
fn who_lies_within_a_run_is_banned() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = validator(&folder.path().join("source"), true, 10, 100);
    let config = NodeConfig::follower(folder.path().join("follower"), node.config().genesis.clone());
    let (follower, feed) = NodeHandle::follow(config).expect("it starts");
    let pool = pool_of(&node, &[Behaviour::Misfiles, Behaviour::Forks, Behaviour::Honest]);
    runtime().block_on(async {
        let (mut head, received) = (follower.watch_head(), Received::default());
        let note = |_| ();
        tokio::select! {
            failure = feed_for_ever(&pool, &follower, &feed, &received, Output { json: true }, &note) => panic!("{failure}"),
            passed = timeout(LIMIT, head.wait_for(|head| head.number >= 100)) => drop(passed.expect("it follows").expect("it lives")),
        }
    });
    assert!(pool.is_banned("0 Misfiles", None) && pool.is_banned("1 Forks", None), "{:?}", pool.standing());
    assert!(!pool.is_banned("2 Honest", None));
    let hash =
        |node: &NodeHandle| node.view().expect("the ledger opens").block(100).expect("the ledger reads").expect("it is there").digest();
    assert_eq!(hash(&follower), hash(&node));
    drop(feed);
    follower.shutdown();
    node.shutdown();
}
