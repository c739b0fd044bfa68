//! The runners inside a devnet: the real ones, in this process, honest or not as they are told.

use super::{demo::Demo, temporary::Temporary};
use clap::Args;
use cowboy_api::Client;
use cowboy_console::failure::Failure;
use cowboy_runner::{Config, Feed, Runner, RunnerError, config, execute::Executors};
use cowboy_simulator::{FaultPlan, JobNumbers};
use cowboy_types::signing::PrivateKey;
use std::{
    convert::Infallible,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

/// How many jobs one of them takes at once: a devnet is for trying much.
const MAX_CONCURRENT: u64 = 1_000;

/// Runners inside the devnet.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Runners")]
pub(crate) struct Runners {
    /// The number of runners in the process [default: 5]
    #[arg(long = "runners", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(0..=50))]
    pub(crate) count: Option<u32>,
    /// Further configuration of these runners: [http], [llm], [mcp.…], [tools.…], [container], [rates]; demo services that it does not replace stay
    #[arg(long, value_name = "FILE")]
    runner_config: Option<PathBuf>,
    /// Provide no demo pages, model and tools
    #[arg(long)]
    no_demo: bool,
    /// Allow hosts at private addresses, such as servers on this computer
    #[arg(long)]
    allow_private: bool,
    /// The share of jobs in which a runner returns a false result
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    lie: f64,
    /// … in which it returns a slightly different result
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    disagree: f64,
    /// … in which its commitment comes too late
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    late: f64,
    /// … in which it commits, loses its result, and says so
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    crash: f64,
    /// … in which it commits and never reveals
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    withhold: f64,
    /// … in which it commits to what another one committed to
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    copy: f64,
    /// … in which it answers what all who collude answer
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    collude: f64,
    /// The seed of the random choice of those jobs, and of what relays lose
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
}

impl Runners {
    /// Fails where the shares are none, or the file is.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if !self.fault_plan().is_possible() {
            return Err(Failure::argument("the shares are not possible", "give each a value between 0 and 1, with a sum of at most 1"));
        }
        self.base().map(drop)
    }

    /// Fails where what the file of `--runner-config` names cannot be used on this computer. Nothing is changed by that.
    pub(crate) async fn check_ready(&self) -> Result<(), Failure> {
        if self.runner_config.is_none() || self.count() == 0 {
            return Ok(());
        }
        let mut config = self.base()?;
        // What executors keep has its place in the chain's folder, which a file that is wrong leaves alone.
        let folder = Temporary::on_disk().map_err(Failure::file(std::env::temp_dir()))?;
        config.runner.state = folder.path();
        Executors::of(&config).map_err(not_ready)?.prepare().await.map_err(not_ready)
    }

    /// The seed of what misbehaves.
    pub(crate) const fn seed(&self) -> u64 {
        self.seed
    }

    /// How many of them a new chain begins with.
    pub(crate) fn count(&self) -> u32 {
        self.count.unwrap_or(5)
    }

    /// Whether the runners use the demo services.
    pub(crate) fn wants_demo(&self) -> bool {
        self.count() > 0 && !self.no_demo
    }

    fn fault_plan(&self) -> FaultPlan {
        FaultPlan {
            lie: self.lie,
            disagree: self.disagree,
            late: self.late,
            crash: self.crash,
            withhold: self.withhold,
            copy: self.copy,
            collude: self.collude,
            seed: self.seed,
        }
    }

    /// What all of them are told.
    fn base(&self) -> Result<Config, Failure> {
        let mut config = match &self.runner_config {
            Some(path) => Config::read(path).map_err(|error| Failure::argument(error.to_string(), error.fix()))?,
            None => Config { http: Some(config::Http::default()), ..Config::default() },
        };
        if self.wants_demo() {
            config.http.get_or_insert_default();
        }
        if let Some(http) = &mut config.http {
            http.allow_private |= self.allow_private;
        }
        config.runner.private_peers = true;
        config.runner.max_concurrent = MAX_CONCURRENT;
        config.runner.listen = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        config.runner.endpoint = None;
        config.runner.tee = vec!["dev".into()];
        Ok(config)
    }
}

/// What the file of `--runner-config` names cannot be used.
fn not_ready(reason: impl std::fmt::Display) -> Failure {
    Failure::refused(format!("the devnet's runners do not work: {reason}"), "correct the file of --runner-config")
}

/// Works until it is dropped. Ends only where an executor cannot be made ready, with the reason: no waiting would help. Runners that do not start
/// for another reason are reported, and the devnet continues without them.
pub(crate) async fn work(told: Runners, url: String, folder: PathBuf, keys: Vec<PrivateKey>, demo: Option<Demo>) -> Failure {
    if keys.is_empty() {
        return std::future::pending().await;
    }
    let mut base = match told.base() {
        Ok(base) => base,
        Err(failure) => return failure,
    };
    if let Some(demo) = &demo {
        demo.configure(&mut base);
    }
    base.node.url = url;
    match start(&told, &base, &folder, keys).await {
        Ok(never) => match never {},
        Err(RunnerError::NotReady(reason)) => return not_ready(reason),
        Err(error) => tracing::error!(%error, "the devnet's runners do not work"),
    }
    std::future::pending().await
}

async fn start(told: &Runners, base: &Config, folder: &Path, keys: Vec<PrivateKey>) -> Result<Infallible, RunnerError> {
    let client = Client::new(&base.node.url)?;
    // Before the first block there is nobody with any CBY.
    while client.height().await.unwrap_or(0) == 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let numbers = JobNumbers::default();
    let feed = Feed::observed(client, base.poll_every(), numbers.observer());
    let behaviour = told.fault_plan().behaviour(&numbers);
    let starting = keys.into_iter().enumerate().map(|(number, key)| {
        let mut config = base.clone();
        config.runner.state = folder.join("runners").join(number.to_string());
        Runner::start_with(config, key, &feed, behaviour.clone())
    });
    let mut runners = Vec::new();
    for started in futures::future::join_all(starting).await {
        runners.push(started?);
    }
    tracing::info!(runners = runners.len(), "the devnet's runners work");
    // They work in tasks of their own; one that ends is said by itself.
    Err(futures::future::select_all(runners.iter_mut().map(|runner| Box::pin(runner.ended()))).await.0)
}
