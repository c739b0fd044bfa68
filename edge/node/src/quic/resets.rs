//! How a node that was killed ends the connections of its earlier run.

use cowboy_host::clock;
use cowboy_types::{Hash, keccak256};
use quinn::{
    ConnectionId, ConnectionIdGenerator, EndpointConfig,
    crypto::{CryptoError, HmacKey},
};
use std::{sync::Arc, time::Duration};

/// Connection ids that nobody can guess, and reset tokens that a later run of the same node makes again.
pub(super) fn settings(secret: &[u8]) -> EndpointConfig {
    let mut settings = EndpointConfig::new(Arc::new(ResetKey(keccak256(&[b"cowboy-quic-resets:", secret]))));
    let secret = secret.to_vec();
    settings.cid_generator(move || Box::new(Ids::new(&secret)));
    settings
}

/// Makes connection ids from the node's secret, the moment of its start and a count. Whoever has not the secret sees random bytes.
struct Ids {
    seed: Hash,
    made: u64,
}

impl Ids {
    fn new(secret: &[u8]) -> Self {
        let (now, process) = (clock::now().as_nanos().to_be_bytes(), std::process::id().to_be_bytes());
        Self { seed: keccak256(&[b"cowboy-quic-ids:", &now, &process, secret]), made: 0 }
    }
}

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        self.made += 1;
        let id = keccak256(&[&self.seed.0, &self.made.to_be_bytes()]);
        ConnectionId::new(&id.0[..self.cid_len()])
    }

    fn cid_len(&self) -> usize {
        16
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// Makes reset tokens: Keccak-256 of the key and the connection id. The sponge needs no HMAC around it.
struct ResetKey(Hash);

impl ResetKey {
    fn tag(&self, data: &[u8]) -> Hash {
        keccak256(&[&self.0.0, data])
    }
}

impl HmacKey for ResetKey {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        signature_out.copy_from_slice(&self.tag(data).0);
    }

    fn signature_len(&self) -> usize {
        self.0.0.len()
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        if self.tag(data).0 == signature { Ok(()) } else { Err(CryptoError) }
    }
}
