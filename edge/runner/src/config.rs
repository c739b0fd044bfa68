//! What a runner is told: its node, its stake and prices, its limits, and what it can reach.
//!
//! The file is TOML. Every table may be left out; what is left out has the default of its field.

mod container;
#[cfg(test)]
mod tests;

pub use container::Container;
pub(crate) use container::{own_platform, registry};
use cowboy_api::model::ContainerCapacity;
use cowboy_system::offchain::ENVIRONMENTS;
use cowboy_types::{
    Address, Amount,
    entitlement::domain,
    job::{JobKind, RateCard},
};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

/// Everything that a runner is told.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The node it works with.
    pub node: Node,
    /// What it says of itself, and its limits.
    pub runner: Work,
    /// What it asks for its work, in base units.
    pub rates: Rates,
    /// Web addresses. Absent: it does no such jobs.
    pub http: Option<Http>,
    /// A language model. Absent: it does no such jobs.
    pub llm: Option<Llm>,
    /// Servers of tools (MCP). None: it does no such jobs.
    pub mcp: BTreeMap<String, McpServer>,
    /// Registered WebAssembly tools. None: it does no such jobs.
    pub tools: BTreeMap<String, Tool>,
    /// Containers. Absent: it does no such jobs.
    pub container: Option<Container>,
    /// The trusted environment that it works in. Absent: none.
    pub tee: Option<Tee>,
}

/// The node that a runner works with.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Node {
    /// Its API.
    pub url: String,
    /// Milliseconds between questions while the node pushes nothing.
    pub poll_ms: u64,
}

impl Default for Node {
    fn default() -> Self {
        Self { url: cowboy_api::keystore::DEFAULT_RPC_URL.into(), poll_ms: 1_000 }
    }
}

/// What a runner says of itself, and its limits.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Work {
    /// The file of its key. `COWBOY_PRIVATE_KEY` goes before it.
    pub key: PathBuf,
    /// The folder of its journal.
    pub state: PathBuf,
    /// What it stakes, in CBY. More is added where the chain has less.
    pub stake_cby: u64,
    /// Jobs at once.
    pub max_concurrent: u64,
    /// Jobs that are executed at once; the others wait.
    pub max_executing: usize,
    /// Blocks between two heartbeats.
    pub heartbeat_blocks: u64,
    /// The longest that one job may take, in milliseconds, whatever it asks for: by default as long as any job's timeout lets it. The
    /// chain does not know of a shorter one, and draws the runner all the same.
    pub max_wall_ms: u64,
    /// Where it answers other runners, and shows its status and its metrics. Absent: nowhere.
    pub listen: Option<SocketAddr>,
    /// How others reach that, like `https://runner.example.com`. Absent: `http://` and the address it listens at.
    pub endpoint: Option<String>,
    /// Whether other runners may be reached at private addresses, as on a network of one's own.
    pub private_peers: bool,
    /// The regions where it runs.
    pub regions: Vec<String>,
    /// Trusted environments that it says it has, beside that of the table `[tee]`.
    pub tee: Vec<String>,
    /// Models that it has, 32 bytes in hex each, and what its model server calls them.
    pub models: BTreeMap<String, String>,
    /// Submitters whose jobs it does not work for: it reports that something outside is missing.
    pub deny_submitters: Vec<String>,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            key: "runner.key".into(),
            state: "runner-state".into(),
            stake_cby: 10_000,
            max_concurrent: 16,
            max_executing: 16,
            heartbeat_blocks: 100,
            max_wall_ms: 14_400_000,
            listen: None,
            endpoint: None,
            private_peers: false,
            regions: Vec::new(),
            tee: Vec::new(),
            models: BTreeMap::new(),
            deny_submitters: Vec::new(),
        }
    }
}

/// What a runner asks for its work, in base units.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rates {
    /// A token into a model.
    pub llm_input_token: u64,
    /// A token out of a model.
    pub llm_output_token: u64,
    /// A web request or a tool's call.
    pub http_request_base: u64,
    /// A second of work.
    pub compute_second: u64,
    /// A mebibyte of memory, for a job.
    pub memory_mb: u64,
    /// The smallest job it takes.
    pub min_job_value: u64,
    /// The largest job it takes. The stake must be one and a half times as much.
    pub max_job_value: u64,
}

impl Default for Rates {
    fn default() -> Self {
        Self {
            llm_input_token: 10,
            llm_output_token: 30,
            http_request_base: 10_000,
            compute_second: 10_000,
            memory_mb: 10,
            min_job_value: 0,
            max_job_value: 5_000_000_000_000,
        }
    }
}

impl Rates {
    /// The same as the chain has it.
    pub fn card(&self) -> RateCard {
        RateCard {
            llm_input_token: Amount(self.llm_input_token),
            llm_output_token: Amount(self.llm_output_token),
            http_request_base: Amount(self.http_request_base),
            compute_second: Amount(self.compute_second),
            memory_mb: Amount(self.memory_mb),
            min_job_value: Amount(self.min_job_value),
            max_job_value: Amount(self.max_job_value),
        }
    }
}

/// How a runner uses the web.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Http {
    /// Hosts that it asks, like `api.example.com` or `*.example.com`; none means all.
    pub allow: Vec<String>,
    /// Hosts that it never asks.
    pub deny: Vec<String>,
    /// Whether it asks hosts at private, loopback and link-local addresses.
    pub allow_private: bool,
    /// Hosts that it asks although they are at such addresses, by name.
    pub private_hosts: Vec<String>,
    /// Hosts that are at an address which it is told here, with the port, whatever the system's resolver says. They may be private.
    pub hosts: BTreeMap<String, SocketAddr>,
    /// How many redirections it follows.
    pub max_redirects: usize,
    /// The most bytes that it reads of an answer from which something is extracted.
    pub max_download_bytes: usize,
    /// Milliseconds until the head of an answer, and between two parts of its body, at most.
    pub max_silence_ms: u64,
    /// A PEM file of further certificate authorities.
    pub extra_ca: Option<PathBuf>,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            deny: Vec::new(),
            allow_private: false,
            private_hosts: Vec::new(),
            hosts: BTreeMap::new(),
            max_redirects: 5,
            max_download_bytes: 4 * 1024 * 1024,
            max_silence_ms: 60_000,
            extra_ca: None,
        }
    }
}

impl Http {
    /// The first entry that is no host, with the field that has it.
    fn wrong_host(&self) -> Option<(&'static str, &str)> {
        let lists = [("http.allow", &self.allow), ("http.deny", &self.deny), ("http.private_hosts", &self.private_hosts)];
        let listed = lists.into_iter().flat_map(|(field, hosts)| hosts.iter().map(move |host| (field, host)));
        let mut all = listed.chain(self.hosts.keys().map(|host| ("http.hosts", host)));
        all.find(|(_, host)| !domain::is_canonical_pattern(host)).map(|(field, host)| (field, host.as_str()))
    }
}

/// A server of models, anything that speaks OpenAI's HTTP interface.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Llm {
    /// Its address up to and with the version, like `http://127.0.0.1:11434/v1`.
    pub url: String,
    /// The environment variable that has its key. Absent: it asks for none.
    pub key_env: Option<String>,
    /// The model of jobs that name none.
    pub model: String,
    /// The model of embeddings. Absent: it does no jobs that compare meanings.
    pub embedding_model: Option<String>,
    /// What the chain calls that model, 32 bytes in hex, where governance names one.
    pub embedding_model_id: Option<String>,
    /// How often a failed question is asked again.
    pub retries: u32,
}

impl Default for Llm {
    fn default() -> Self {
        Self {
            url: "http://127.0.0.1:11434/v1".into(),
            key_env: None,
            model: "default".into(),
            embedding_model: None,
            embedding_model_id: None,
            retries: 2,
        }
    }
}

/// A server of tools: a program that talks over its standard streams, or an address.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpServer {
    /// The program with its arguments.
    pub command: Vec<String>,
    /// Variables of its environment; it gets `PATH` and nothing else beside them.
    pub env: BTreeMap<String, String>,
    /// Its address, where it is reached over HTTP.
    pub url: Option<String>,
    /// The tools that jobs may call; none means all.
    pub tools: Vec<String>,
    /// Patterns of the hosts that its tools reach; empty for none. Left out, it does no job that names its hosts.
    pub reaches: Option<Vec<String>>,
    /// Whether its program runs without a network, in a network namespace of its own (Linux). It then reaches no host, whatever it tries.
    pub isolated: bool,
}

impl McpServer {
    /// Patterns of the hosts that its tools reach, where that is known.
    pub fn reached(&self) -> Option<&[String]> {
        if self.isolated { Some(&[]) } else { self.reaches.as_deref() }
    }
}

/// A registered tool: a WebAssembly module without imports.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tool {
    /// The module.
    pub file: PathBuf,
    /// Instructions that a call may run.
    pub fuel: u64,
    /// Mebibytes that it may use.
    pub memory_mb: u64,
}

impl Default for Tool {
    fn default() -> Self {
        Self { file: PathBuf::new(), fuel: 1_000_000_000, memory_mb: 64 }
    }
}

/// A trusted environment: who proves it, and with which key it signs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tee {
    /// `sgx`, `sev`, `tdx` or `nitro`.
    pub environment: String,
    /// The file of the Ed25519 key that only the measured program has, 32 bytes in hex. Absent: it follows from the runner's own key.
    pub key: Option<PathBuf>,
    /// A document of the hardware that was made before.
    pub document: Option<PathBuf>,
    /// A program that has the hardware make one. It reads the data that go into it from its standard input, 32 bytes in hex, and writes the
    /// document's bytes.
    pub command: Vec<String>,
    /// A file of the manufacturer's collateral, where documents need it.
    pub collateral: Option<PathBuf>,
}

/// Why a configuration is none.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The file's path.
        path: PathBuf,
        /// The underlying error.
        source: std::io::Error,
    },
    /// It is no TOML, or has fields that are none.
    #[error("{path}: {reason}")]
    Syntax {
        /// The file's path.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// A value is out of its range.
    #[error("{field} = {value} is not possible: {reason}")]
    Value {
        /// The field's name.
        field: &'static str,
        /// What it is.
        value: String,
        /// What it must be.
        reason: &'static str,
    },
}

impl ConfigError {
    /// What to do about it.
    pub const fn fix(&self) -> &'static str {
        match self {
            Self::File { .. } => "correct the path; `cowboy-runner example > runner.toml` writes a configuration to start from",
            Self::Syntax { .. } => "compare it with the example in docs/runners.md",
            Self::Value { .. } => "correct the value; docs/runners.md has each field",
        }
    }
}

impl Config {
    /// Reads a file. Paths in it are relative to its folder.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::File { path: path.into(), source })?;
        let mut config: Self =
            toml::from_str(&text).map_err(|error| ConfigError::Syntax { path: path.into(), reason: error.to_string() })?;
        let folder = path.parent().unwrap_or(Path::new("."));
        config.runner.key = folder.join(&config.runner.key);
        config.runner.state = folder.join(&config.runner.state);
        for tool in config.tools.values_mut() {
            tool.file = folder.join(&tool.file);
        }
        if let Some(file) = config.http.as_mut().and_then(|http| http.extra_ca.as_mut()) {
            *file = folder.join(&*file);
        }
        if let Some(container) = &mut config.container {
            for path in container.layouts.iter_mut().chain(&mut container.cache) {
                *path = folder.join(&*path);
            }
        }
        if let Some(tee) = &mut config.tee {
            for file in [&mut tee.key, &mut tee.document, &mut tee.collateral].into_iter().flatten() {
                *file = folder.join(&*file);
            }
        }
        config.check()?;
        Ok(config)
    }

    /// Checks every value that types do not.
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |field: &'static str, value: &dyn ToString, reason: &'static str| ConfigError::Value {
            field,
            value: value.to_string(),
            reason,
        };
        let work = &self.runner;
        if self.kinds().is_empty() {
            return Err(wrong(
                "kinds",
                &"none",
                "a runner does some kind of job: give it one of [http], [llm], [mcp.NAME], [tools.NAME], [container]",
            ));
        }
        if work.max_concurrent == 0 {
            return Err(wrong("runner.max_concurrent", &work.max_concurrent, "a runner takes at least one job at once"));
        }
        if work.max_executing == 0 {
            return Err(wrong("runner.max_executing", &work.max_executing, "a runner executes at least one job at once"));
        }
        if !(1..=250).contains(&work.heartbeat_blocks) {
            return Err(wrong("runner.heartbeat_blocks", &work.heartbeat_blocks, "from 1 to 250; after 300 the chain draws it no more"));
        }
        if !(10..=60_000).contains(&self.node.poll_ms) {
            return Err(wrong("node.poll_ms", &self.node.poll_ms, "from 10 to 60000"));
        }
        if let Some(denied) = work.deny_submitters.iter().find(|denied| denied.parse::<Address>().is_err()) {
            return Err(wrong("runner.deny_submitters", denied, "addresses, 0x and 40 hex digits each"));
        }
        if let Some(tee) = &self.tee {
            if cowboy_system::offchain::environment(&tee.environment).is_none() {
                return Err(wrong("tee.environment", &tee.environment, "sgx, sev, tdx or nitro"));
            }
            if tee.document.is_some() != tee.command.is_empty() {
                return Err(wrong("tee.document", &tee.command.join(" "), "give a document, or a command that has one made"));
            }
        }
        if let Some(name) =
            self.mcp.iter().find(|(_, server)| server.isolated && (server.url.is_some() || server.reaches.iter().flatten().count() > 0))
        {
            return Err(wrong(
                "mcp.isolated",
                &name.0,
                "a server without a network is a program that reaches no host: leave out url and reaches",
            ));
        }
        let mut reached = self.mcp.values().flat_map(|server| server.reaches.iter().flatten());
        if let Some(host) = reached.find(|host| !domain::is_canonical_pattern(host)) {
            return Err(wrong("mcp.reaches", host, "a host in lower case, like api.example.com or *.example.com"));
        }
        if self.http.as_ref().is_some_and(|http| http.max_silence_ms == 0) {
            return Err(wrong("http.max_silence_ms", &0, "at least 1"));
        }
        if let Some((field, host)) = self.http.as_ref().and_then(Http::wrong_host) {
            return Err(wrong(field, &host, "a host in lower case, like api.example.com or *.example.com"));
        }
        self.container.as_ref().map_or(Ok(()), Container::check)
    }

    /// The kinds of job it does.
    pub fn kinds(&self) -> Vec<JobKind> {
        let has = [
            (self.llm.is_some(), JobKind::Llm),
            (self.http.is_some(), JobKind::Http),
            (!self.mcp.is_empty(), JobKind::Mcp),
            (!self.tools.is_empty(), JobKind::Custom),
            (self.container.is_some(), JobKind::Container),
        ];
        has.into_iter().filter(|(has, _)| *has).map(|(_, kind)| kind).collect()
    }

    /// What it gives to one container, where it executes any.
    pub fn container_capacity(&self) -> Option<ContainerCapacity> {
        self.container.as_ref().map(|given| ContainerCapacity {
            cpu_millicores: given.cpu_millicores.into(),
            memory_mib: given.memory_mib.into(),
            scratch_mib: given.scratch_mib.into(),
            platforms: own_platform().into_iter().map(|(name, _)| name.to_owned()).collect(),
            volumes: given.volumes_mib > 0,
        })
    }

    /// The trusted environments that it has, in the order of the chain's.
    pub fn environments(&self) -> Vec<String> {
        let has =
            |name: &str| self.runner.tee.iter().any(|named| named == name) || self.tee.as_ref().is_some_and(|tee| tee.environment == name);
        ENVIRONMENTS.iter().map(|(name, _)| (*name).to_owned()).filter(|name| has(name)).collect()
    }

    /// How often a node is asked that pushes nothing.
    pub fn poll_every(&self) -> Duration {
        Duration::from_millis(self.node.poll_ms)
    }
}

/// A file to begin with.
pub const EXAMPLE: &str = include_str!("../runner.toml");
