//! What proxies and runners ask 0x04.

use super::{Request, request};
use crate::secrets::api::{
    Accuse, Ack, CloseRelease, Confirm, Deal, Heartbeat, Join, Log, RegisterProxy, ReleasePartition, ReleaseToRunner, Serve, UpdateProxy,
};
use cowboy_types::Hash;
use cowboy_types::wire::Fixed;

/// Where a service is reached.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// A host name or an IPv6 address.
    pub endpoint: String,
    /// The port of its server.
    pub port: u16,
    /// The SHA-256 hash of the public key of its TLS certificate.
    pub certificate: Hash,
}

/// The key to which answers are encrypted, and the proof that the sender has its secret.
#[derive(Clone, Copy, Debug)]
pub struct Transport {
    /// A point of G1.
    pub key: Fixed<48>,
    /// A point of G2.
    pub proof: Fixed<96>,
}

/// A dealing of a key.
#[derive(Clone, Copy, Debug)]
pub struct Dealing {
    /// The number of the key.
    pub key_id: u64,
    /// The number of the dealing.
    pub round: u64,
}

/// Registers a proxy, with the stake as value.
pub fn register_proxy(at: Endpoint, key: Fixed<32>, proof: Fixed<64>) -> Request {
    let Endpoint { endpoint, port, certificate } = at;
    request(&RegisterProxy { endpoint, port: u64::from(port), certificate, key, proof })
}

/// Says where a proxy is reached.
pub fn update_proxy(at: Endpoint) -> Request {
    let Endpoint { endpoint, port, certificate } = at;
    request(&UpdateProxy { endpoint, port: u64::from(port), certificate })
}

/// Says that a proxy is up.
pub fn heartbeat() -> Request {
    request(&Heartbeat {})
}

/// Answers a demand.
pub fn serve(release_id: Hash, answer: Fixed<192>) -> Request {
    request(&Serve { release_id, answer })
}

impl Dealing {
    /// Gives the key to which shares are encrypted.
    pub fn join(self, key: Fixed<32>) -> Request {
        request(&Join { key_id: self.key_id, round: self.round, key })
    }

    /// Deals.
    pub fn deal(self, message: Vec<u8>) -> Request {
        request(&Deal { key_id: self.key_id, round: self.round, message })
    }

    /// Acknowledges shares.
    pub fn acknowledge(self, message: Vec<u8>) -> Request {
        request(&Ack { key_id: self.key_id, round: self.round, message })
    }

    /// Publishes the log of a dealer.
    pub fn log(self, message: Vec<u8>) -> Request {
        request(&Log { key_id: self.key_id, round: self.round, message })
    }

    /// Confirms what the dealing came to.
    pub fn confirm(self, digest: Hash, outcome: Option<Vec<u8>>) -> Request {
        request(&Confirm { key_id: self.key_id, round: self.round, digest, outcome })
    }
}

/// Has a secret of a job released to a runner that was drawn for it.
pub fn release_to_runner(job: Hash, index: u64, transport: Transport) -> Request {
    request(&ReleaseToRunner { job, index, transport: transport.key, proof: transport.proof })
}

/// Has the key of a partition released to who holds a capability for it.
pub fn release_partition(
    (volume, partition): (Hash, Hash),
    capability: Option<Fixed<16>>,
    key_version: Option<u64>,
    transport: Transport,
) -> Request {
    request(&ReleasePartition { volume, partition, capability, key_version, transport: transport.key, proof: transport.proof })
}

/// Says who answered a release, and pays them.
pub fn close_release(release_id: Hash, epoch: u64, served: u16) -> Request {
    request(&CloseRelease { release_id, epoch, served })
}

/// Shows an answer to a release that a member of a committee signed, and that does not hold. The member is its number of the committee, and its place.
pub fn accuse(release_id: Hash, (epoch, index): (u64, u16), answer: Fixed<192>, signature: Fixed<64>) -> Request {
    request(&Accuse { release_id, epoch, index, answer, signature })
}
