//! Signed node records (EIP-778): who a node is, where it listens, and of which chain it is.

use crate::NodeKey;
use cowboy_types::Hash;
use discv5::Enr;
use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

/// The record's entry with the hash of the chain's genesis block, which commits to the validators' group key.
const CHAIN: &str = "cowboy";

/// The record's entry with the UDP port of the overlay.
const QUIC: &str = "quic";

/// The most characters of a record as text: a record has at most 300 bytes.
pub(crate) const MAX_TEXT_BYTES: usize = 512;

/// A node's name: the Keccak-256 hash of its public key.
pub type NodeId = [u8; 32];

/// Where a node can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Its address; `None` where it learns it from its peers.
    pub ip: Option<IpAddr>,
    /// The UDP port of discovery.
    pub discovery: u16,
    /// The UDP port of the overlay.
    pub quic: u16,
}

/// A node record whose signature holds and that names a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    enr: Enr,
    chain: Hash,
}

/// A text or a record is not a record of a Cowboy node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The text is not a signed node record.
    #[error("not a signed node record: a record begins with enr: and is printed by `cowboyd record`")]
    Malformed,
    /// The record names no chain.
    #[error("the record is not one of a Cowboy node: it names no genesis")]
    NoChain,
    /// The record does not fit into 300 bytes.
    #[error("the record cannot be made")]
    TooLarge,
}

impl Record {
    /// The record of the node with this key.
    pub fn new(key: &NodeKey, sequence: u64, chain: &Hash, addresses: Addresses) -> Result<Self, RecordError> {
        let mut builder = Enr::builder();
        builder.seq(sequence).add_value(CHAIN, &chain.0.as_slice()).add_value(QUIC, &addresses.quic);
        match addresses.ip.map(|ip| ip.to_canonical()) {
            Some(ip @ IpAddr::V6(_)) => builder.ip(ip).udp6(addresses.discovery),
            Some(ip) => builder.ip(ip).udp4(addresses.discovery),
            None => builder.udp4(addresses.discovery),
        };
        let enr = builder.build(&key.combined()).map_err(|_| RecordError::TooLarge)?;
        Ok(Self { enr, chain: *chain })
    }

    /// The chain that the node has: the hash of its genesis block.
    pub fn chain(&self) -> &Hash {
        &self.chain
    }

    /// The node's name.
    pub fn id(&self) -> NodeId {
        self.enr.node_id().raw()
    }

    /// Where the node listens for peers, where the record says it.
    pub fn quic(&self) -> Option<SocketAddr> {
        let port = self.enr.get_decodable::<u16>(QUIC)?.ok().filter(|port| *port > 0)?;
        let ip = self.enr.ip4().map(IpAddr::V4).or_else(|| self.enr.ip6().map(IpAddr::V6))?;
        (!ip.is_unspecified() && !ip.is_multicast()).then_some(SocketAddr::new(ip, port))
    }

    /// Ascends with each change of the record.
    pub fn sequence(&self) -> u64 {
        self.enr.seq()
    }

    /// Whether the node signed this message.
    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        enr::EnrPublicKey::verify_v4(&self.enr.public_key(), message, signature)
    }

    pub(crate) fn enr(&self) -> &Enr {
        &self.enr
    }
}

impl TryFrom<Enr> for Record {
    type Error = RecordError;

    fn try_from(enr: Enr) -> Result<Self, RecordError> {
        let chain = enr
            .get_decodable::<bytes::Bytes>(CHAIN)
            .and_then(|bytes| <[u8; 32]>::try_from(&bytes.ok()?[..]).ok())
            .ok_or(RecordError::NoChain)?;
        Ok(Self { chain: Hash(chain), enr })
    }
}

impl FromStr for Record {
    type Err = RecordError;

    fn from_str(text: &str) -> Result<Self, RecordError> {
        let text = text.trim();
        if text.len() > MAX_TEXT_BYTES || !text.starts_with("enr:") {
            return Err(RecordError::Malformed);
        }
        let enr: Enr = text.parse().map_err(|_| RecordError::Malformed)?;
        if !enr.verify() { Err(RecordError::Malformed) } else { enr.try_into() }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.enr.to_base64())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The record of a node with this number, of chain 1, at this address.
    pub(crate) fn record(number: u32, ip: &str) -> Record {
        record_of(1, number, ip)
    }

    pub(crate) fn record_of(chain: u8, number: u32, ip: &str) -> Record {
        let mut secret = [1; 32];
        secret[..4].copy_from_slice(&number.to_be_bytes());
        let key = NodeKey::from_bytes(secret).expect("a key");
        let addresses = Addresses { ip: Some(ip.parse().expect("an address")), discovery: 9_000, quic: 9_001 };
        Record::new(&key, 1, &Hash([chain; 32]), addresses).expect("it fits")
    }

    #[test]
    fn a_record_is_text_and_back() {
        for ip in ["192.0.2.7", "2001:db8::7"] {
            let made = record(7, ip);
            let read: Record = made.to_string().parse().expect("it is a record");
            assert_eq!(read, made);
            assert_eq!((read.chain(), read.sequence()), (&Hash([1; 32]), 1));
            assert_eq!(
                read.quic().map(|address| address.to_string()),
                Some(SocketAddr::new(ip.parse().expect("an address"), 9_001).to_string())
            );
        }
    }

    /// A record that was changed on its way, that is cut off, or of another network is refused.
    #[test]
    fn other_records_are_refused() {
        let text = record(7, "192.0.2.7").to_string();
        for at in 4..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("ASCII");
            assert!(changed.parse::<Record>().map_or(true, |read| read == record(7, "192.0.2.7")), "place {at}");
            assert!(text[..at].parse::<Record>().is_err(), "cut at {at}");
        }
        let key = NodeKey::from_bytes([1; 32]).expect("a key");
        let foreign = Enr::builder().ip4([192, 0, 2, 1].into()).udp4(9_000).build(&key.combined()).expect("it fits");
        assert_eq!(foreign.to_base64().parse::<Record>(), Err(RecordError::NoChain));
        assert_eq!("https://example.com".parse::<Record>(), Err(RecordError::Malformed));
    }

    #[test]
    fn a_record_without_an_address_cannot_be_dialled() {
        let key = NodeKey::from_bytes([1; 32]).expect("a key");
        for ip in [None, Some("0.0.0.0"), Some("224.0.0.1"), Some("::")] {
            let ip = ip.map(|ip| ip.parse().expect("an address"));
            let made = Record::new(&key, 1, &Hash([1; 32]), Addresses { ip, discovery: 9_000, quic: 9_001 }).expect("it fits");
            assert_eq!(made.quic(), None, "{ip:?}");
        }
    }
}
