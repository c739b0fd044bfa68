//! What every node does: serve the API, print blocks, stop when told.

use super::{banner, node_failure, not_running};
use crate::log;
use clap::Args;
use cowboy_console::{amount, failure::Failure, output};
use cowboy_host::files;
use cowboy_node::NodeHandle;
use cowboy_overlay::Pool;
use cowboy_rpc::{Admin, Config, REQUESTS_PER_SECOND, ServeError, Server};
use cowboy_serve::{
    Slots,
    limits::{self, Limits},
};
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    sync::Arc,
    thread,
};
use tokio::sync::{broadcast::error::RecvError, watch};

/// Where the API is.
#[derive(Args, Clone, Debug)]
pub(crate) struct Serving {
    /// The API's port. 0 takes any
    #[arg(long, default_value_t = 4000)]
    pub(crate) port: u16,
    /// Where the operator's endpoint with the metrics is, on the loopback only [default: 127.0.0.1, at the port after the API's]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) admin: Option<SocketAddr>,
    /// The API's address
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub(crate) host: IpAddr,
    /// Limit requests per second
    #[arg(long, value_name = "RATE", num_args = 0..=1, default_missing_value = "100")]
    pub(crate) rate_limit: Option<u32>,
}

const _: () = assert!(REQUESTS_PER_SECOND == 100, "the help of --rate-limit names the default");

impl Serving {
    /// The server's settings.
    pub(crate) fn config(&self, slots: &Slots) -> Config {
        let usual = Config::new(SocketAddr::new(self.host, self.port), slots.clone());
        Config { admin: self.admin, requests_per_second: self.rate_limit, ..usual }
    }

    /// Where the operator's endpoint is, where that is known before it listens.
    pub(crate) fn admin_address(&self) -> Option<SocketAddr> {
        match self.admin {
            Some(address) => Some(address).filter(|address| address.port() != 0),
            None => self.port.checked_add(1).filter(|_| self.port != 0).map(|port| (Ipv4Addr::LOCALHOST, port).into()),
        }
    }
}

/// What the operator's endpoint sees of this process and of these sources, of which some may be the same.
pub(crate) fn admin(sources: impl IntoIterator<Item = Arc<Pool>>) -> Admin {
    let mut distinct: Vec<Arc<Pool>> = Vec::new();
    for pool in sources {
        if !distinct.iter().any(|known| Arc::ptr_eq(known, &pool)) {
            distinct.push(pool);
        }
    }
    Admin { log: log::filter(), sources: distinct }
}

/// What the server and everything around the node runs on. The node brings its own.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    cowboy_serve::runtime(Some(2)).map_err(threads)
}

/// The system has no room for the threads of a runtime.
pub(crate) fn threads(error: std::io::Error) -> Failure {
    node_failure(format_args!("cannot start threads: {error}; raise the limits of processes and memory (ulimit -u, ulimit -v)"))
}

/// Takes what the system lets this process have, and answers how many connections are left for servers, `most` at most. Fails, by the
/// limit's name, where that is too little to run a node. Needs a tokio runtime.
pub(crate) fn claim(most: usize) -> Result<Slots, Failure> {
    limits::keep_files_private();
    claim_limits(most)
}

/// The same for a program that makes files for others, as a runner does for containers: who may read them is left to each.
pub(crate) fn claim_limits(most: usize) -> Result<Slots, Failure> {
    limits::survive_file_size_limit().map_err(node_failure)?;
    let slots = Limits::raised().slots(most).map_err(node_failure)?;
    cowboy_serve::give_memory_back().map_err(threads)?;
    Ok(slots)
}

/// Warns of a file with a key that others on this computer can read.
pub(crate) fn warn_of_readers(key_file: &Path) {
    if let Some(mode) = files::mode_for_others(key_file) {
        let file = key_file.display();
        tracing::warn!("{file} has the mode {mode:o}, so others on this computer can use the key: chmod 600 {file}");
    }
}

/// Fails, by the option's name, where the API or another TCP server could not listen at this address.
pub(crate) fn check_free(option: &'static str, address: SocketAddr) -> Result<(), Failure> {
    TcpListener::bind(address).map(drop).map_err(|source| node_failure(ServeError::Listen { option, address, source }))
}

/// Prints a line a block; on a devnet, with the node's address, also what failed in it.
pub(crate) async fn print_blocks(node: NodeHandle, devnet: Option<String>) {
    let mut blocks = node.subscribe();
    loop {
        match blocks.recv().await {
            Ok(block) => {
                output::line(banner::block(&block));
                if let Some(url) = &devnet {
                    banner::failures(&node, &block, url).iter().for_each(output::line);
                }
            }
            Err(RecvError::Lagged(missed)) => output::line(format_args!("({})", amount::counted(missed, "block"))),
            Err(RecvError::Closed) => return,
        }
    }
}

/// The environment variable with which a process stops when its standard input ends, so that it does not outlive the one that started it.
pub(crate) const STOP_WITH_INPUT: &str = "COWBOY_STOP_WITH_INPUT";

/// Ctrl-C and SIGTERM, and the end of the input where [`STOP_WITH_INPUT`] says so. Heard from the moment this is made, so that a node that
/// says it is ready also stops cleanly.
pub(crate) struct StopSignals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    input: watch::Receiver<()>,
    /// Keeps the channel open where nobody waits for the end of the input.
    _input: Option<watch::Sender<()>>,
}

impl StopSignals {
    /// Begins to listen.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let (sender, input) = watch::channel(());
        let _input = match std::env::var_os(STOP_WITH_INPUT) {
            Some(_) => {
                thread::Builder::new().name("input".into()).spawn(move || until_input_ends(sender)).map_err(threads)?;
                None
            }
            None => Some(sender),
        };
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let terminate = signal(SignalKind::terminate()).map_err(node_failure)?;
            Ok(Self { terminate, interrupt: signal(SignalKind::interrupt()).map_err(node_failure)?, input, _input })
        }
        #[cfg(not(unix))]
        Ok(Self { input, _input })
    }

    /// Waits for one of them, or until the node ends by itself, which is a failure.
    pub(crate) async fn told(&mut self, node: &NodeHandle) -> Result<(), Failure> {
        tokio::select! {
            told = self.signalled() => told,
            ended = node.ended() => Err(not_running(ended)),
        }
    }

    /// Waits until one of them comes.
    pub(crate) async fn signalled(&mut self) -> Result<(), Failure> {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.input.changed() => {}
        }
        #[cfg(not(unix))]
        tokio::select! {
            told = tokio::signal::ctrl_c() => told.map_err(node_failure)?,
            _ = self.input.changed() => {}
        }
        Ok(())
    }
}

/// Reads the input to its end, and then drops the sender.
fn until_input_ends(_sender: watch::Sender<()>) {
    // Where it cannot be read, nobody is there either.
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}

/// Ends the server, then the node.
pub(crate) async fn stop(server: Server, node: NodeHandle) -> Result<(), Failure> {
    server.stop().await;
    tokio::task::spawn_blocking(move || node.shutdown()).await.map_err(node_failure)
}
