//! Inline blobs: bytes under the hash of their content, in the actor's own storage (003 §7.1 to §7.3; decisions 160 and 510).

use super::storage::too_long;
use super::{Arguments, length, read};
use crate::delivery::frames::{Price, Reply};
use crate::delivery::{Machine, Step};
use crate::engine::HostValue;
use cowboy_state::Key;
use cowboy_system::entitlements::needs;
use sha2::{Digest as _, Sha256};

/// What a multihash of SHA-256 begins with: the number of the hash, and its length.
const SHA2_256: [u8; 2] = [0x12, 0x20];

impl Machine {
    /// (data): stores it under its multihash, which it returns.
    pub(super) fn blob_commit(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let data = read!(arguments.bytes(0));
        let size = length(data);
        needs::check_blob(&self.top().grants.clone(), size)?;
        let max = self.environment.params.execution.return_bytes;
        if size > max {
            return too_long("blob", size, max, Price::default());
        }
        let (name, hashing) = (multihash(data), self.hashing(size));
        Ok(match self.store(&name, data)? {
            Reply::Value(_, storing) => Reply::Value(HostValue::Bytes(name), storing.with(hashing)),
            refusal => refusal,
        })
    }

    /// (multihash): the bytes with this hash, if the actor stores them. `set_state` may have written others under the same key.
    pub(super) fn blob_read(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let name = read!(arguments.bytes(0));
        self.top().grants.require("storage.blob")?;
        let actor = self.actor_address();
        let data = self.world.get(&Key::storage(actor, name.to_vec()))?.cloned();
        let size = data.as_ref().map_or(0, |data| length(data));
        let price = self.read_price(size).with(self.hashing(size));
        let data = data.filter(|data| multihash(data) == name);
        Ok(Reply::Value(data.map_or(HostValue::None, |data| HostValue::Bytes(data.to_vec())), price))
    }

    /// The price of hashing a blob.
    fn hashing(&self, size: u64) -> Price {
        let params = &self.environment.params;
        let cycles = params.costs.blob_kib.saturating_mul(size.div_ceil(1_024));
        Price::cycles(cycles).with(Price::weight(params.weights.signed_byte.saturating_mul(size)))
    }
}

fn multihash(data: &[u8]) -> Vec<u8> {
    [&SHA2_256[..], &Sha256::digest(data)].concat()
}
