//! The node's part in the network of full nodes.

use super::node_failure;
use clap::Args;
use cowboy_console::{failure::Failure, output};
use cowboy_overlay::{Config, Overlay, Record};
use cowboy_types::Hash;
use std::{
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};

/// How a node takes part in the network of full nodes.
#[derive(Args, Clone, Debug)]
pub(crate) struct OverlayArgs {
    /// Serve full nodes at this address, like 0.0.0.0:4300, over QUIC; discovery is at the next port. Port 0 takes any
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// The address in this node's record [default: where it listens, or what its peers see]
    #[arg(long, value_name = "ADDRESS")]
    advertise: Option<IpAddr>,
    /// Records of nodes to find others by, separated by commas; each node prints its own
    #[arg(long, value_name = "RECORD", value_delimiter = ',')]
    pub(crate) bootstrap: Vec<Record>,
}

/// A node that takes part.
pub(super) type Joined = Overlay;

/// Where a node with this state folder keeps its key and the records that it knows.
pub(super) fn folder_of(state: &Path) -> PathBuf {
    state.with_extension("overlay")
}

/// The file where it keeps its own record, for others to join by.
pub(super) fn record_file(state: &Path) -> PathBuf {
    folder_of(state).join(Overlay::RECORD_FILE)
}

impl OverlayArgs {
    /// Starts, where it is asked for, and prints the node's record.
    pub(super) async fn start(&self, state: &Path, chain: Hash) -> Result<Option<Joined>, Failure> {
        let Some(listen) = self.listen else {
            return match self.bootstrap.is_empty() {
                true => Ok(None),
                false => Err(Failure::argument("--bootstrap needs --listen".to_owned(), "add --listen 0.0.0.0:4300")),
            };
        };
        let config = Config {
            directory: folder_of(state),
            listen,
            discovery_port: if listen.port() == 0 { 0 } else { listen.port().saturating_add(1) },
            advertise: self.advertise,
            chain,
            bootstrap: self.bootstrap.clone(),
        };
        let overlay = Overlay::start(config).await.map_err(node_failure)?;
        output::line(format_args!("record {}", overlay.record()));
        Ok(Some(overlay))
    }
}
