//! A running runner: it registers, listens, works, and says what came of it.

use crate::{
    behaviour::{Behaviour, Honest},
    config::Config,
    execute::{Executors, NotReady},
    feed::Feed,
    journal::{Journal, JournalError, Owner},
    manager::{Context, JobManager},
    metrics::{Board, Status},
    peers::Peers,
    register::{self, RegisterError},
    releases::Releases,
    report::Environment,
    secrets::Secrets,
    server::{SHARES_WAITING, Server},
    tee::{Tee, TeeError},
    volumes::Volumes,
};
use cowboy_api::{ApiError, Client, Hex, sender::Sender};
use cowboy_types::{ChainId, keccak256, signing::PrivateKey};
use ed25519_consensus::SigningKey;
use std::sync::Arc;
use tokio::{sync::mpsc, task::JoinHandle};

/// Why a runner does not run.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// The node refuses or is silent.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// It is none on the chain.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// Its journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An executor has not what it needs.
    #[error(transparent)]
    NotReady(#[from] NotReady),
    /// Its trusted environment is none.
    #[error(transparent)]
    Tee(#[from] TeeError),
    /// Its folder cannot be used.
    #[error("runner.state cannot be used: {0}\n  fix: check the folder's permissions and space")]
    State(std::io::Error),
    /// It cannot listen.
    #[error("{address} cannot be listened at: {source}\n  fix: choose another runner.listen")]
    Listen {
        /// The socket address.
        address: std::net::SocketAddr,
        /// The underlying error.
        source: std::io::Error,
    },
    /// It ended by itself.
    #[error("the runner ended: {0}")]
    Ended(String),
}

/// A running runner. Dropping it ends it at once; the journal keeps what matters.
pub struct Runner {
    task: JoinHandle<()>,
    board: Arc<Board>,
    server: Option<Server>,
}

impl Runner {
    /// Starts one: journal, server, registration, and then the work, in the background.
    pub async fn start(config: Config, key: PrivateKey, feed: &Feed) -> Result<Self, RunnerError> {
        Self::start_with(config, key, feed, Arc::new(Honest)).await
    }

    /// Starts one whose decisions are replaced.
    pub async fn start_with(config: Config, key: PrivateKey, feed: &Feed, behaviour: Arc<dyn Behaviour>) -> Result<Self, RunnerError> {
        let client = Client::new(&config.node.url)?;
        let health = client.health().await?;
        let address = key.address();
        let owner = Owner { runner: Hex(address), genesis: health.genesis };
        let (journal, records) = Journal::open(&config.runner.state, &owner)?;
        let executors = Executors::of(&config)?;
        executors.prepare().await?;
        let tee = config.tee.as_ref().map(|settings| Tee::new(settings, &key)).transpose()?;
        let board = Board::new();
        let (shares, received) = mpsc::channel(SHARES_WAITING);
        let server = match config.runner.listen {
            Some(listen) => {
                let started = Server::start(listen, board.clone(), shares).await;
                Some(started.map_err(|source| RunnerError::Listen { address: listen, source })?)
            }
            None => None,
        };
        let listening = server.as_ref().map(|server| format!("http://{}", server.address)).unwrap_or_default();
        let endpoint = config.runner.endpoint.clone().unwrap_or(listening);
        let sender = Sender::start(client.clone(), key.clone(), ChainId(health.chain_id));
        let result_key = result_key(&key);
        // Heard from now on, so that nothing between registration and work is missed.
        let ticks = feed.subscribe();
        let params = client.params().await?;
        let record =
            register::register(&client, &sender, &params.jobs, &config, &address, &result_key.verification_key(), &endpoint).await?;
        tracing::info!(runner = %address, node = %config.node.url, endpoint, "registered");
        *board.status.lock().expect("nothing panics while it holds the lock") = Status {
            runner: Some(Hex(address)),
            node: config.node.url.clone(),
            height: health.height,
            health: record.health,
            jobs: Vec::new(),
        };
        let peers = Peers::new(config.runner.private_peers)?;
        let is_dev = config.runner.tee.iter().any(|name| name == cowboy_system::offchain::DEV_NAME);
        let secret = keccak256(&[b"cowboy-runner-secret:", &key.to_bytes()]).0;
        let releases = Releases::new(&config.node.url, address, secret, sender.poster());
        let secrets = Secrets::new(releases.clone());
        let room = config.container.as_ref().map_or(0, |given| given.volumes_mib);
        let volumes = Volumes::new(releases, key.clone(), &config.runner.state, room).map_err(RunnerError::State)?;
        let context = Context {
            client,
            address,
            genesis: health.genesis.0,
            secret,
            result_key,
            params,
            executors,
            sender,
            journal: Arc::new(journal),
            board: board.clone(),
            behaviour,
            environment: Environment { tee, is_dev, runner: address },
            secrets,
            volumes,
            peers,
            config,
        };
        let manager = JobManager::new(context, records, record.last_heartbeat);
        let task = tokio::spawn(manager.work(ticks, received));
        Ok(Self { task, board, server })
    }

    /// What it says of itself.
    pub fn status(&self) -> Status {
        self.board.status()
    }

    /// Where it listens, where it does.
    pub fn address(&self) -> Option<std::net::SocketAddr> {
        self.server.as_ref().map(|server| server.address)
    }

    /// Waits until it ends by itself, which it should not.
    pub async fn ended(&mut self) -> RunnerError {
        match (&mut self.task).await {
            Ok(()) => RunnerError::Ended("the feed is closed".into()),
            Err(error) => RunnerError::Ended(error.to_string()),
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The key of a runner's results: it follows from the key of its account, so that nothing else has to be kept.
pub fn result_key(key: &PrivateKey) -> SigningKey {
    SigningKey::from(keccak256(&[b"cowboy-runner-result-key:", &key.to_bytes()]).0)
}
