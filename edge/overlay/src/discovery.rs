//! Finds records of other nodes: Node Discovery v5 (`discv5`), in a network of its own.

use crate::{
    identity::NodeKey,
    record::{Addresses, Record},
};
use cowboy_types::Hash;
use discv5::{ConfigBuilder, Discv5, Enr, ListenConfig, ProtocolIdentity};
use enr::NodeId;
use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};
use tokio::net::UdpSocket;

/// Separates these packets from those of other networks of the same protocol.
const PROTOCOL: ProtocolIdentity = ProtocolIdentity { protocol_id: *b"cowboy", protocol_version: [0, 1] };

/// Discovery does not start.
#[derive(Debug, thiserror::Error)]
#[error("cannot start discovery at {address}: {reason}")]
pub struct DiscoveryError {
    address: SocketAddr,
    reason: String,
}

/// Discovery that runs.
pub(crate) struct Discovery {
    service: Discv5,
}

impl Discovery {
    /// Listens at `address`; port 0 takes any. The record names it, and the overlay's port.
    pub(crate) async fn start(
        key: &NodeKey,
        chain: &Hash,
        (address, advertised): (SocketAddr, Option<IpAddr>),
        quic: u16,
        sequence: u64,
    ) -> Result<Self, DiscoveryError> {
        let failed = |reason: String| DiscoveryError { address, reason };
        let socket = UdpSocket::bind(address).await.map_err(|error| failed(error.to_string()))?;
        let bound = socket.local_addr().map_err(|error| failed(error.to_string()))?;
        let ip = advertised.or((!address.ip().is_unspecified()).then_some(address.ip()));
        let addresses = Addresses { ip, discovery: bound.port(), quic };
        let own = Record::new(key, sequence, chain, addresses).map_err(|error| failed(error.to_string()))?;
        let socket = Some(Arc::new(socket));
        let listen = match address {
            SocketAddr::V4(_) => ListenConfig::FromSockets { ipv4: socket, ipv6: None },
            SocketAddr::V6(_) => ListenConfig::FromSockets { ipv4: None, ipv6: socket },
        };
        let mut config = ConfigBuilder::new(listen);
        config.protocol_identity(PROTOCOL).table_filter(is_ours).disable_report_discovered_peers();
        if ip.is_some() {
            config.disable_enr_update();
        }
        // On loopback all nodes share one address.
        if !address.ip().is_loopback() {
            config.ip_limit().enable_packet_filter().incoming_bucket_limit(8);
        }
        let mut service = Discv5::new(own.enr().clone(), key.combined(), config.build()).map_err(|error| failed(error.into()))?;
        service.start().await.map_err(|error| failed(error.to_string()))?;
        Ok(Self { service })
    }

    /// This node's record as it is now: discovery learns the address from peers.
    pub(crate) fn own(&self) -> Record {
        self.service.local_enr().try_into().expect("this node's record names its chain")
    }

    /// Adds a record to the routing table. One that the table has no room for is not added.
    pub(crate) fn add(&self, record: &Record) {
        if let Err(reason) = self.service.add_enr(record.enr().clone()) {
            tracing::debug!(reason, "a record is not added to the routing table");
        }
    }

    /// Looks for nodes near a random place. Answers the records that were found, of any chain; none where there is nobody to ask.
    pub(crate) fn look(&self) -> impl Future<Output = Vec<Record>> + Send + use<> {
        let is_alone = self.service.table_entries_enr().is_empty();
        let found = (!is_alone).then(|| self.service.find_node(NodeId::random()));
        async move {
            let found = match found {
                Some(found) => found.await.unwrap_or_default(),
                None => Vec::new(),
            };
            found.into_iter().filter_map(|enr| Record::try_from(enr).ok()).collect()
        }
    }
}

/// Whether a record may stand in the routing table: it is one of a Cowboy node.
fn is_ours(enr: &Enr) -> bool {
    Record::try_from(enr.clone()).is_ok()
}
