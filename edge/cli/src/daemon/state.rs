//! Where a devnet keeps its chain, and what the chain began with.

use super::{node_failure, node_files::write_new, temporary::Temporary};
use cowboy_api::keystore::Mnemonic;
use cowboy_chain::genesis::Funded;
use cowboy_console::failure::Failure;
use cowboy_node::{
    Genesis,
    committee::ValidatorKeys,
    genesis::{self, DevGenesis},
};
use cowboy_params::Params;
use cowboy_store::{Directory, StoreError};
use cowboy_types::{Amount, ChainId, TimestampMs, signing::PrivateKey};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Accounts of the mnemonic that begin with CBY where nothing else is said.
pub(super) const DEV_ACCOUNTS: u32 = 10;

/// Which accounts of the mnemonic the services pay from: far from those that people use.
pub(super) mod account_index {
    /// The faucet's.
    pub(crate) const FAUCET: u32 = 1_000;
    /// The first gateway's.
    pub(crate) const GATEWAY: u32 = 1_001;
    /// The first runner's.
    pub(crate) const RUNNER: u32 = 2_000;
    /// The first proxy's.
    pub(crate) const PROXY: u32 = 3_000;
    /// The first relay's.
    pub(crate) const RELAY: u32 = 4_000;
}

/// What the faucet begins with.
const FAUCET_CBY: u64 = 20_000_000;

/// What each runner begins with: its stake, and fees for a long time.
const RUNNER_CBY: u64 = 20_000;

/// What each proxy begins with: its stake, and fees for a long time.
const PROXY_CBY: u64 = 20_000;

/// What each relay begins with: its stake, and fees for a long time.
const RELAY_CBY: u64 = 20_000;

/// What the gateway begins with: its stake, and fees for many requests.
const GATEWAY_CBY: u64 = 100_000;

/// What a devnet's chain begins with. Kept beside the chain, because the genesis hash follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Beginning {
    /// The chain id in every signature.
    pub(crate) chain_id: u64,
    /// The chain's start time in ms since 1970.
    pub(crate) timestamp_ms: u64,
    /// The mnemonic of the accounts.
    pub(crate) mnemonic: String,
    /// The number of funded accounts.
    pub(crate) accounts: u32,
    /// What each of them begins with.
    pub(crate) balance_cby: u64,
    /// Parameters of the chain that begin with another value, by name.
    #[serde(default)]
    pub(crate) parameters: BTreeMap<String, u64>,
    /// How many runners have what they stake.
    #[serde(default)]
    pub(crate) runners: u32,
    /// How many proxies have what they stake.
    #[serde(default)]
    pub(crate) proxies: u32,
    /// How many relays have what they stake.
    #[serde(default)]
    pub(crate) relays: u32,
}

/// A folder for the chain: one that stays, or one that goes with the process.
#[derive(Debug)]
pub(crate) enum Folder {
    /// `--state`.
    Kept(PathBuf),
    /// Gone at the end.
    Temporary {
        /// The chain's own.
        chain: Temporary,
        /// What services keep, which may be large.
        services: Option<Temporary>,
    },
}

impl Folder {
    /// The named folder, or a temporary one on the disk.
    pub(crate) fn open(named: Option<&Path>) -> Result<Self, Failure> {
        if let Some(path) = named {
            return Ok(Self::Kept(path.to_owned()));
        }
        Ok(Self::Temporary { chain: Temporary::on_disk().map_err(Failure::file(std::env::temp_dir()))?, services: None })
    }

    /// The named folder of a devnet, emptied where `reset` asks for it, or a temporary one. A chain that goes with its process gains nothing from waiting
    /// for a disk: a temporary one is in memory.
    pub(crate) fn of_devnet(named: Option<&Path>, reset: bool) -> Result<Self, Failure> {
        let Some(path) = named else {
            let services = Some(Temporary::on_disk().map_err(Failure::file(std::env::temp_dir()))?);
            return Ok(Self::Temporary { chain: Temporary::in_memory().map_err(Failure::file(std::env::temp_dir()))?, services });
        };
        if reset {
            Directory::wipe(path).map_err(node_failure)?;
        }
        Ok(Self::Kept(path.to_owned()))
    }

    /// Where the chain is.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::Kept(path) => path.clone(),
            Self::Temporary { chain, .. } => chain.path(),
        }
    }

    /// Where services of the devnet keep their files.
    pub(crate) fn services_path(&self) -> PathBuf {
        match self {
            Self::Temporary { services: Some(services), .. } => services.path(),
            Self::Kept(_) | Self::Temporary { .. } => self.path(),
        }
    }

    fn beginning_path(&self) -> PathBuf {
        self.path().join("dev.json")
    }

    /// What the chain in the folder began with, or `wanted` for a new one, with what follows from it.
    pub(crate) fn beginning(&self, wanted: Beginning) -> Result<(Beginning, Devnet), Failure> {
        let path = self.beginning_path();
        match std::fs::read(&path) {
            Ok(bytes) => {
                let kept: Beginning = serde_json::from_slice(&bytes)
                    .map_err(|error| node_failure(format_args!("{} is damaged: {error}; wipe the folder with --reset", path.display())))?;
                let devnet = kept.devnet()?;
                Ok((kept, devnet))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.refuse_foreign()?;
                // What makes no genesis is not kept: the next start would find it.
                let devnet = wanted.devnet()?;
                std::fs::create_dir_all(self.path()).map_err(Failure::file(self.path()))?;
                // Whoever reads the mnemonic has the accounts.
                write_new(&path, &wanted)?;
                Ok((wanted, devnet))
            }
            Err(error) => Err(Failure::file(path)(error)),
        }
    }

    /// Fails where the folder has files that no devnet put there.
    fn refuse_foreign(&self) -> Result<(), Failure> {
        if let Some(found) = Directory::genesis_of(&self.path()).map_err(node_failure)? {
            return Err(node_failure(StoreError::OtherChain {
                path: self.path(),
                found: found.to_string(),
                expected: "a devnet's".into(),
            }));
        }
        let is_used = std::fs::read_dir(self.path()).is_ok_and(|mut entries| entries.next().is_some());
        if is_used { Err(node_failure(StoreError::NotAChain { path: self.path() })) } else { Ok(()) }
    }
}

/// A devnet's keys and genesis.
pub(crate) struct Devnet {
    /// What the chain starts from.
    pub(crate) genesis: Genesis,
    /// The validator's secrets.
    pub(crate) validator: ValidatorKeys,
    /// The funded accounts.
    pub(crate) accounts: Vec<PrivateKey>,
    /// The faucet's account.
    pub(crate) faucet: PrivateKey,
    /// The runners' accounts.
    pub(crate) runners: Vec<PrivateKey>,
    /// The proxies' accounts.
    pub(crate) proxies: Vec<PrivateKey>,
    /// The relays' accounts.
    pub(crate) relays: Vec<PrivateKey>,
    /// The gateway's account.
    pub(crate) gateway: PrivateKey,
}

impl Beginning {
    /// The keys and the genesis that follow from it.
    pub(crate) fn devnet(&self) -> Result<Devnet, Failure> {
        let mnemonic = Mnemonic::parse(&self.mnemonic, "")?;
        let accounts: Vec<PrivateKey> = (0..self.accounts).map(|index| mnemonic.key(index)).collect::<Result<_, _>>()?;
        let faucet = mnemonic.key(account_index::FAUCET)?;
        let runners: Vec<PrivateKey> =
            (0..self.runners).map(|index| mnemonic.key(account_index::RUNNER + index)).collect::<Result<_, _>>()?;
        let proxies: Vec<PrivateKey> =
            (0..self.proxies).map(|index| mnemonic.key(account_index::PROXY + index)).collect::<Result<_, _>>()?;
        let relays: Vec<PrivateKey> = (0..self.relays).map(|index| mnemonic.key(account_index::RELAY + index)).collect::<Result<_, _>>()?;
        let cby = |cby: u64| {
            Amount::from_cby(cby)
                .ok_or_else(|| Failure::argument(format!("{cby} CBY is more than the total supply"), "give the accounts less"))
        };
        let gateway = mnemonic.key(account_index::GATEWAY)?;
        let mut funded = vec![
            Funded { address: faucet.address(), amount: cby(FAUCET_CBY)? },
            Funded { address: gateway.address(), amount: cby(GATEWAY_CBY)? },
        ];
        for key in &accounts {
            funded.push(Funded { address: key.address(), amount: cby(self.balance_cby)? });
        }
        for key in &runners {
            funded.push(Funded { address: key.address(), amount: cby(RUNNER_CBY)? });
        }
        for key in &proxies {
            funded.push(Funded { address: key.address(), amount: cby(PROXY_CBY)? });
        }
        for key in &relays {
            funded.push(Funded { address: key.address(), amount: cby(RELAY_CBY)? });
        }
        let mut parameters = BTreeMap::new();
        for (name, value) in &self.parameters {
            parameters.insert(row_of(name)?, *value);
        }
        let dev = DevGenesis {
            chain_id: ChainId(self.chain_id),
            timestamp_ms: TimestampMs(self.timestamp_ms),
            accounts: funded,
            deployers: accounts.first().map(PrivateKey::address).into_iter().collect(),
            validators: 1,
            parameters,
        };
        let (genesis, validators) = genesis::dev(dev).map_err(node_failure)?;
        let validator = validators.into_iter().next().ok_or_else(|| node_failure("a devnet has a validator"))?;
        Ok(Devnet { genesis, validator, accounts, faucet, gateway, runners, proxies, relays })
    }

    /// The value with which the parameter of this name begins.
    pub(crate) fn parameter(&self, name: &str) -> Result<u64, Failure> {
        let row = row_of(name)?;
        Ok(self.parameters.get(name).copied().or_else(|| Params::GENESIS.get(row)).unwrap_or_default())
    }
}

/// The id of the parameter of this name.
fn row_of(name: &str) -> Result<u16, Failure> {
    let unknown = || Failure::argument(format!("there is no parameter {name}"), "GET /params lists them, like lanes.user_cycles");
    Params::row(name).map(|row| row.id).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beginning(chain_id: u64) -> Beginning {
        Beginning {
            chain_id,
            timestamp_ms: 5,
            mnemonic: cowboy_api::keystore::DEV_MNEMONIC.into(),
            accounts: 2,
            balance_cby: 10,
            parameters: BTreeMap::new(),
            runners: 0,
            proxies: 0,
            relays: 0,
        }
    }

    /// What the chain of the folder began with, where it is that of the devnet which is handed out with it.
    fn kept(folder: &Folder, wanted: Beginning) -> Option<Beginning> {
        let (kept, devnet) = folder.beginning(wanted).ok()?;
        let again = kept.devnet().ok()?;
        (devnet.genesis.hash() == again.genesis.hash()).then_some(kept)
    }

    #[test]
    fn a_folder_keeps_the_beginning_of_its_chain() {
        let parent = tempfile::tempdir().expect("a directory for the test");
        let folder = Folder::open(Some(&parent.path().join("chain"))).expect("a new folder");
        assert_eq!(kept(&folder, beginning(1)), Some(beginning(1)));
        assert_eq!(kept(&folder, beginning(2)), Some(beginning(1)), "the first one holds");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(folder.beginning_path()).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "it has the words of the accounts");
        }
    }

    /// What makes no genesis is refused before anything is written, so that the next start begins anew.
    #[test]
    fn what_makes_no_genesis_is_not_kept() {
        let parent = tempfile::tempdir().expect("a directory for the test");
        let path = parent.path().join("chain");
        let folder = Folder::open(Some(&path)).expect("a new folder");
        let unknown = Beginning { parameters: BTreeMap::from([("no.such".to_owned(), 1)]), ..beginning(1) };
        assert!(folder.beginning(unknown).is_err() && !path.exists());
        assert_eq!(kept(&folder, beginning(1)), Some(beginning(1)));
    }

    #[test]
    fn a_folder_with_other_files_is_left_alone() {
        let folder = tempfile::tempdir().expect("a directory for the test");
        std::fs::write(folder.path().join("thesis.txt"), "years of work").expect("the directory is writable");
        let found = Folder::open(Some(folder.path())).expect("opening looks at nothing");
        assert!(found.beginning(beginning(1)).is_err());
        assert!(Folder::of_devnet(Some(folder.path()), true).is_err(), "not even with --reset");
        assert!(folder.path().join("thesis.txt").exists());
    }

    #[test]
    fn the_same_beginning_is_the_same_chain() {
        let genesis = |chain_id| beginning(chain_id).devnet().map(|devnet| devnet.genesis.hash()).ok();
        assert_eq!(genesis(1), genesis(1));
        assert_ne!(genesis(1), genesis(2));
    }
}
