//! `cowboyd join`: a full node that needs nothing but one record of another node.

use super::{
    checkpoint,
    follow::Following,
    kept, node_failure,
    node_files::{self, GenesisFile},
    overlay::{OverlayArgs, folder_of, record_file},
    serving::{self, Serving},
    state_sync,
    sync::{self, Received},
};
use clap::Args;
use cowboy_console::{
    amount,
    failure::Failure,
    output::{self, Output},
};
use cowboy_node::{Genesis, Head};
use cowboy_overlay::{Pool, Record};
use cowboy_store::Directory;
use cowboy_types::Hash;
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

/// Where a full node listens unless told otherwise.
const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 4300);

/// How often the progress of a state sync is printed.
const PROGRESS: Duration = Duration::from_secs(5);

/// How long a first start waits for a peer (decision 646). Later ones have a chain to serve, and wait for as long as it takes.
const FIRST_PEER: Duration = Duration::from_secs(120);

/// Joins a network as a full node: finds peers, fetches the state from them, verifies it and every block after it, and serves the API.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cowboyd join --bootstrap enr:… --dir node
  cowboyd join --dir node        (later: the peers are known)")]
pub(crate) struct Join {
    /// The folder of the chain, of this node's key and of the peers that it knows
    #[arg(long, value_name = "DIR", default_value = "node")]
    dir: PathBuf,
    /// The genesis file of the chain, instead of the one that peers give
    #[arg(long, value_name = "FILE")]
    genesis: Option<PathBuf>,
    /// The hash of a recent block that you trust: the fetched state must be of a block that descends from it. A chain that is in the folder already must have it.
    /// With --archive, a first start takes none: name it at a later start, when the node has caught up
    #[arg(long, value_name = "HASH")]
    checkpoint: Option<Hash>,
    /// Execute every block from the first one on instead of fetching the newest state, and keep all of them, also after later starts without this option
    #[arg(long)]
    archive: bool,
    /// How many blocks to keep with their receipts; older ones are pruned. At least two epochs are kept [default: 259200, and everything where the node
    /// was once started with --archive]
    #[arg(long, value_name = "N", conflicts_with = "archive")]
    keep_blocks: Option<u64>,
    #[command(flatten)]
    overlay: OverlayArgs,
    #[command(flatten)]
    serving: Serving,
    /// Do not print a line for each block
    #[arg(long, short)]
    quiet: bool,
}

impl Join {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        serving::runtime()?.block_on(self.serve(output))
    }

    async fn serve(mut self, output: Output) -> Result<(), Failure> {
        // The API listens only when the chain is fetched: a port that is taken is reported before that.
        serving::check_free("--port", SocketAddr::new(self.serving.host, self.serving.port))?;
        let (kept, state) = (self.dir.join("genesis.json"), self.dir.join("state"));
        let file = self.genesis.clone().or_else(|| kept.exists().then(|| kept.clone()));
        let known = file.as_deref().map(node_files::read_genesis).transpose()?;
        // With a record, the genesis is fetched again.
        let found = Directory::genesis_of(&state).map_err(node_failure)?;
        if found.is_none() && self.archive && self.checkpoint.is_some() {
            return Err(checkpoint::not_yet());
        }
        if known.is_none() && found.is_some() && self.overlay.bootstrap.is_empty() {
            return Err(no_genesis(&self.dir));
        }
        let chain = chain_of(known.as_ref(), &self.overlay.bootstrap)?;
        std::fs::create_dir_all(&self.dir).map_err(Failure::file(&self.dir))?;
        self.overlay.listen.get_or_insert(DEFAULT_LISTEN);
        let overlay = self.overlay.start(&state, chain).await?.expect("it listens");
        let (pool, received) = (overlay.pool().clone(), Received::default());
        if self.overlay.bootstrap.is_empty() && overlay.known() == 0 {
            return Err(Failure::refused(
                format!("no peer is known in {}", folder_of(&state).display()),
                "name a node with --bootstrap RECORD: `cowboyd record` prints its record",
            ));
        }
        let is_new = found.is_none();
        if is_new {
            let named: Vec<SocketAddr> = self.overlay.bootstrap.iter().filter_map(Record::quic).collect();
            first_peer(&pool, &named, FIRST_PEER, output).await?;
        }
        let genesis = match known {
            Some(genesis) => genesis,
            None => sync::fetch_genesis_of(&pool, &chain).await?,
        };
        if !kept.exists() {
            node_files::write_new(&kept, &GenesisFile::of(&genesis))?;
        }
        output::line(format_args!("genesis {}", genesis.hash()));
        match self.checkpoint {
            trusted if is_new => checkpoint::note_for_new(&self.dir, trusted)?,
            Some(trusted) => checkpoint::check_kept(&self.dir, &state, &genesis.hash(), trusted)?,
            None => {}
        }
        let choice = kept::Choice { is_archive: self.archive, blocks: self.keep_blocks };
        let (blocks, said) = kept::blocks(&self.dir, is_new, choice)?;
        said.into_iter().for_each(output::line);
        if self.archive && !is_new {
            kept::oldest(&state, &genesis.hash())?.into_iter().for_each(output::line);
        }
        if !self.archive && is_new {
            let begun = state_sync(&pool, (&genesis, self.checkpoint), &state, &received, output).await?;
            let said = begun.map_or("the chain has not begun".to_owned(), |head| format!("began at height {}", head.height));
            output::line(said);
        }
        let named = amount::counted(pool.standing().usable, "peer");
        let following = Following { genesis, pool, overlay: Some(overlay), received, directory: state, blocks, quiet: self.quiet, named };
        following.run(&self.serving, output).await
    }
}

/// The failure of a folder that has a chain and no genesis file.
fn no_genesis(folder: &Path) -> Failure {
    Failure::refused(
        format!("{} has a chain, but no genesis.json", folder.display()),
        "copy the file into the folder again, or name it with --genesis FILE",
    )
}

/// The hash of the chain's genesis block, on which the genesis file and all records must agree.
fn chain_of(genesis: Option<&Genesis>, bootstrap: &[Record]) -> Result<Hash, Failure> {
    let mut named = genesis.map(|genesis| genesis.block.hash()).into_iter().chain(bootstrap.iter().map(|record| *record.chain()));
    let no_chain = || Failure::argument("no chain is named".to_owned(), "name a node of it with --bootstrap RECORD");
    let chain = named.next().ok_or_else(no_chain)?;
    match named.find(|other| *other != chain) {
        None => Ok(chain),
        Some(other) => Err(Failure::argument(
            format!("the records and the genesis are of different chains: one has the genesis block {chain}, another {other}"),
            "name records of one chain, and another --dir for each chain",
        )),
    }
}

/// Waits until a peer is connected. Fails where none is in this time, with where the named nodes are.
async fn first_peer(pool: &Pool, named: &[SocketAddr], patience: Duration, output: Output) -> Result<(), Failure> {
    let (mut changes, mut ticks) = (pool.changes(), tokio::time::interval(PROGRESS));
    let come = async {
        while pool.standing().usable == 0 {
            tokio::select! {
                // The pool lives as long as this.
                _ = changes.changed() => {}
                _ = ticks.tick() => output.progress("looking for peers"),
            }
        }
    };
    tokio::time::timeout(patience, come).await.map_err(|_| {
        let places = named.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let named = if places.is_empty() { String::new() } else { format!(", also none at {places}") };
        Failure::refused(
            format!("no node answers over UDP in {} s{named}", patience.as_secs()),
            "check the addresses, that the nodes run there, and that UDP passes the firewalls; or name another node with --bootstrap RECORD",
        )
    })
}

/// Fetches the newest state, and prints how far it is.
async fn state_sync(
    pool: &Arc<Pool>,
    trusted: (&Genesis, Option<Hash>),
    state: &Path,
    received: &Received,
    output: Output,
) -> Result<Option<Head>, Failure> {
    let (mut ticks, begun) = (tokio::time::interval(PROGRESS), Instant::now());
    let mut syncing = std::pin::pin!(state_sync::begin_at_newest(pool, trusted, state, received));
    loop {
        tokio::select! {
            done = &mut syncing => return done,
            _ = ticks.tick() => {
                output.progress(progress(pool.standing().usable, received, begun.elapsed()));
            }
        }
    }
}

/// How far a state sync is after this time.
fn progress(peers: usize, received: &Received, elapsed: Duration) -> String {
    let said = format!("fetching the state: {}, {} MB", amount::counted(peers, "peer"), received.get() / 1_000_000);
    match received.operations() {
        None => said,
        Some((came, all)) => {
            let seconds = elapsed.as_secs().saturating_mul(all.saturating_sub(came)) / came;
            format!("{said}, {came} of {all} operations, about {seconds} s left")
        }
    }
}

/// Prints the record of a node, for others to join by.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cowboyd record --dir node
  cowboyd record --config network/validator-0.json")]
pub(crate) struct ShowRecord {
    /// The folder of a node that `cowboyd join` made
    #[arg(long, value_name = "DIR", required_unless_present = "config", conflicts_with = "config")]
    dir: Option<PathBuf>,
    /// The configuration of a node that `cowboyd start --listen` runs
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl ShowRecord {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        let state = match (&self.dir, &self.config) {
            (Some(dir), _) => dir.join("state"),
            (None, Some(config)) => node_files::state_of(config)?,
            (None, None) => unreachable!("one of them is required"),
        };
        let path = record_file(&state);
        let text = std::fs::read_to_string(&path).map_err(Failure::file(&path))?;
        let record: Record = text.parse().map_err(|error| node_failure(format_args!("{}: {error}", path.display())))?;
        output.result(&serde_json::json!({ "record": record.to_string(), "genesis_block": record.chain().to_string() }), &record);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Why `cowboyd join` with these options does not start in a folder.
    fn refused(dir: &Path, options: &[&str]) -> String {
        use clap::Parser as _;
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            join: Join,
        }
        let dir = dir.to_str().expect("a path of text");
        let join = Line::try_parse_from([&["join", "--dir", dir, "--port", "0"], options].concat()).expect("a command").join;
        join.run(Output { json: true }).expect_err("it does not start").to_string()
    }

    /// Decision 770: an archive that begins has no block that a checkpoint could be compared with.
    #[test]
    fn an_archive_that_begins_takes_no_checkpoint() {
        let (folder, checkpoint) = (tempfile::tempdir().expect("a folder"), Hash([7; 32]).to_string());
        let said = refused(folder.path(), &["--archive", "--checkpoint", &checkpoint]);
        assert!(said.contains("begins at the first one") && said.contains("start it without --checkpoint"), "{said}");
        let said = refused(folder.path(), &["--checkpoint", &checkpoint]);
        assert!(said.contains("no chain is named"), "who begins at a state has a checkpoint, and names a node: {said}");
    }

    /// A copied folder that lacks its genesis is named, with what to give.
    #[test]
    fn a_folder_without_its_genesis_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(Directory::open(folder.path().join("state"), &Hash([7; 32])).expect("a new folder"));
        let said = refused(folder.path(), &[]);
        assert!(said.contains("has a chain, but no genesis.json") && said.contains("--genesis FILE"), "{said}");
    }

    /// A first start that no node answers ends, and says where it looked and what to do.
    #[tokio::test]
    async fn a_first_start_without_an_answer_ends() {
        let (output, place) = (Output { json: true }, SocketAddr::from(([192, 0, 2, 7], 4300)));
        let refused = first_peer(&Pool::default(), &[place], Duration::ZERO, output).await.expect_err("nobody is there").to_string();
        assert!(refused.contains("none at 192.0.2.7:4300") && refused.contains("UDP passes the firewalls"), "{refused}");
        let pool = super::super::follow::pool_of(&["http://127.0.0.1:1".to_owned()]).expect("the address is good");
        assert!(first_peer(&pool, &[place], Duration::ZERO, output).await.is_ok(), "somebody is there");
    }

    /// The line of a state sync has peers, bytes, and, as soon as operations have come, how many are left and for how long.
    #[test]
    fn a_state_sync_says_how_far_it_is() {
        let received = Received::default();
        let said = || progress(3, &received, Duration::from_secs(10));
        assert_eq!(said(), "fetching the state: 3 peers, 0 MB");
        received.add(7_000_000);
        received.asks(1_000, 9_000);
        assert_eq!(said(), "fetching the state: 3 peers, 7 MB");
        // Batches that were asked for together arrive in any order.
        received.asks(3_000, 9_000);
        received.asks(2_000, 9_000);
        assert_eq!(said(), "fetching the state: 3 peers, 7 MB, 2000 of 8000 operations, about 30 s left");
        received.asks(9_500, 9_000);
        assert_eq!(said(), "fetching the state: 3 peers, 7 MB, 8000 of 8000 operations, about 0 s left");
    }
}
