//! The files of a node: its genesis, its settings, and a validator's secrets.

use super::node_failure;
use crate::address::HostPort;
use commonware_codec::{DecodeExt as _, Encode as _};
use commonware_cryptography::ed25519;
use cowboy_api::{Hex, HexBytes};
use cowboy_chain::GenesisConfig;
use cowboy_console::failure::Failure;
use cowboy_host::files;
use cowboy_node::{Genesis, committee::ValidatorKeys, peers, votes::LISTENING_TIME};
use cowboy_types::signing::PrivateKey;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    str::FromStr,
};

/// `genesis.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct GenesisFile {
    /// The configuration in its canonical encoding.
    config: HexBytes,
    /// The public half of the group key.
    sharing: HexBytes,
}

impl GenesisFile {
    /// The genesis in the file at this path.
    pub(super) fn genesis(self, path: &Path) -> Result<Genesis, Failure> {
        let damaged =
            |error: &dyn std::fmt::Display| node_failure(format_args!("{} has no valid genesis: {error}; copy it again", path.display()));
        let config = GenesisConfig::decode(self.config.0).map_err(|error| damaged(&error))?;
        Genesis::new(config, self.sharing.0).map_err(|error| damaged(&error))
    }

    /// The file of a genesis.
    pub(super) fn of(genesis: &Genesis) -> Self {
        Self { config: Hex(genesis.config.encode().to_vec()), sharing: Hex(genesis.sharing.clone()) }
    }
}

/// `validator-N.json`: one validator's secrets and settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ValidatorFile {
    /// The genesis file, beside this one.
    pub(super) genesis: PathBuf,
    /// Where the node keeps its chain, beside this file.
    pub(super) state: PathBuf,
    /// Where it listens for the others, over QUIC.
    pub(super) listen: SocketAddr,
    /// Milliseconds between blocks, where it is not as `consensus.block_time` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) block_time_ms: Option<u64>,
    /// Milliseconds for which it listens before it votes where the record of its votes is lost.
    #[serde(default = "default_listening_ms")]
    pub(super) listen_before_voting_ms: u64,
    /// The other validators.
    pub(super) peers: Vec<Peer>,
    /// The secrets.
    pub(super) secrets: Secrets,
}

impl ValidatorFile {
    /// The other validators, with the addresses to which the names of their hosts lead now.
    pub(super) fn peers(&self) -> Result<Vec<peers::Peer>, Failure> {
        let located = |peer: &Peer| {
            let key = ed25519::PublicKey::decode(peer.key.0.clone())
                .map_err(|_| node_failure(format_args!("the key {} of a peer is not valid", peer.key)))?;
            Ok((key, peer.address.resolve()?))
        };
        self.peers.iter().map(located).collect()
    }
}

pub(super) fn default_listening_ms() -> u64 {
    u64::try_from(LISTENING_TIME.as_millis()).expect("some seconds")
}

/// `node.json`: a follower's settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FollowerFile {
    /// The genesis file, beside this one.
    pub(super) genesis: PathBuf,
    /// Where the node keeps its chain, beside this file.
    pub(super) state: PathBuf,
    /// The node that it follows.
    pub(super) follow: String,
}

/// What `start` takes.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub(super) enum NodeFile {
    /// A validator's.
    Validator(ValidatorFile),
    /// A follower's.
    Follower(FollowerFile),
}

/// One that says whom it follows is a follower's. What is wrong with a file is then said of the kind that it is.
impl TryFrom<serde_json::Value> for NodeFile {
    type Error = serde_json::Error;

    fn try_from(file: serde_json::Value) -> Result<Self, Self::Error> {
        match file.get("follow") {
            Some(_) => serde_json::from_value(file).map(Self::Follower),
            None => serde_json::from_value(file).map(Self::Validator),
        }
    }
}

/// Another validator, and where it listens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Peer {
    /// Its Ed25519 key.
    pub(super) key: HexBytes,
    /// Where it listens. The name of a host is looked up at each start.
    pub(super) address: HostPort,
}

/// A peer as `key@host:port`.
impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not KEY@HOST:PORT, as in 0x12ab…@192.0.2.7:3000");
        let (key, address) = text.split_once('@').ok_or_else(wrong)?;
        Ok(Self { key: key.parse().map_err(|_| wrong())?, address: address.parse().map_err(|_| wrong())? })
    }
}

/// A validator's secret keys.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Secrets {
    /// Ed25519: the network.
    network: HexBytes,
    /// BLS: the proposer's VRF.
    vrf: HexBytes,
    /// secp256k1: headers.
    signer: HexBytes,
    /// The share of the group key; absent before one was dealt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) share: Option<HexBytes>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets")
    }
}

impl Secrets {
    pub(super) fn of(keys: &ValidatorKeys) -> Self {
        Self {
            network: Hex(keys.network.encode().to_vec()),
            vrf: Hex(keys.bls.encode().to_vec()),
            signer: Hex(keys.signer.to_bytes().to_vec()),
            share: keys.share.as_ref().map(|share| Hex(share.encode().to_vec())),
        }
    }

    pub(super) fn keys(&self) -> Result<ValidatorKeys, Failure> {
        let bad = |kind: &str| node_failure(format_args!("the {kind} key of the validator's file is not valid: copy the file again"));
        let signer: [u8; 32] = self.signer.0.clone().try_into().map_err(|_| bad("signer"))?;
        Ok(ValidatorKeys {
            network: ed25519::PrivateKey::decode(self.network.0.clone()).map_err(|_| bad("network"))?,
            bls: commonware_codec::DecodeExt::decode(self.vrf.0.clone()).map_err(|_| bad("vrf"))?,
            signer: PrivateKey::from_bytes(signer).ok_or_else(|| bad("signer"))?,
            share: match &self.share {
                Some(share) => Some(commonware_codec::DecodeExt::decode(share.0.clone()).map_err(|_| bad("share"))?),
                None => None,
            },
        })
    }
}

/// Writes a file that is not there yet, for its owner only: it may hold secrets. A crash leaves the whole file or none.
pub(super) fn write_new(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).expect("files are JSON");
    files::create(path, format!("{text}\n").as_bytes()).map_err(Failure::file(path))
}

/// Writes a file for its owner only, in place of what is there. A crash leaves the old file or the new one.
pub(super) fn replace(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).expect("files are JSON");
    replace_text(path, &format!("{text}\n"))
}

/// The same with any text.
pub(super) fn replace_text(path: &Path, text: &str) -> Result<(), Failure> {
    files::replace(path, text.as_bytes()).map_err(Failure::file(path))
}

pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    read_written(path, "`cowboyd genesis` or `cowboyd init` writes")
}

/// The same of a file that another command writes, as in "`cowboyd keys backup` writes".
pub(super) fn read_written<T: DeserializeOwned>(path: &Path, written: &str) -> Result<T, Failure> {
    let bytes = std::fs::read(path).map_err(Failure::file(path))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| node_failure(format_args!("{} is not what {written}: {error}; copy it again", path.display())))
}

/// The genesis in a file.
pub(super) fn read_genesis(path: &Path) -> Result<Genesis, Failure> {
    read::<GenesisFile>(path)?.genesis(path)
}

/// The folder in which the node of this configuration keeps its chain.
pub(super) fn state_of(config: &Path) -> Result<PathBuf, Failure> {
    let state = match read(config)? {
        NodeFile::Validator(file) => file.state,
        NodeFile::Follower(file) => file.state,
    };
    Ok(config.parent().unwrap_or(Path::new(".")).join(state))
}

/// The chain of a node with this configuration, and the folder where the node keeps it.
pub(super) fn chain_of(config: &Path) -> Result<(Genesis, PathBuf), Failure> {
    let folder = config.parent().unwrap_or(Path::new("."));
    let genesis = match read(config)? {
        NodeFile::Validator(file) => file.genesis,
        NodeFile::Follower(file) => file.genesis,
    };
    Ok((read_genesis(&folder.join(genesis))?, state_of(config)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A file that is cut off is refused with the command that writes such files.
    #[test]
    fn a_file_says_who_writes_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("backup.json");
        std::fs::write(&path, "{\"genesis\":").expect("it writes");
        for (read, words) in [
            (read::<serde_json::Value>(&path), "`cowboyd genesis` or `cowboyd init` writes"),
            (read_written(&path, "`cowboyd keys backup` writes"), "is not what `cowboyd keys backup` writes"),
        ] {
            let failure = read.expect_err("it is cut off").to_string();
            assert!(failure.contains(words), "{failure}");
        }
    }

    /// A file that lacks something is refused by the name of what it lacks.
    #[test]
    fn a_file_says_what_it_lacks() {
        let follower = json!({ "genesis": "genesis.json", "state": "state", "follow": "http://localhost:4000" });
        assert!(matches!(serde_json::from_value(follower).expect("a follower's"), NodeFile::Follower(_)));
        let keys = json!({ "network": "0x", "vrf": "0x", "signer": "0x" });
        let validator = json!({ "genesis": "g", "state": "s", "listen": "127.0.0.1:3000", "peers": [], "secrets": keys });
        assert!(matches!(serde_json::from_value(validator.clone()).expect("a validator's"), NodeFile::Validator(_)));
        for lacks in ["genesis", "state", "listen", "peers", "secrets"] {
            let mut file = validator.clone();
            file.as_object_mut().expect("a map").remove(lacks);
            let error = serde_json::from_value::<NodeFile>(file).expect_err("it is not whole").to_string();
            assert!(error.contains(&format!("missing field `{lacks}`")), "{error}");
        }
    }
}
