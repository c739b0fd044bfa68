//! What the online commands share: the folder's configuration, the key, the node.

use super::{Globals, networks::Networks};
use crate::{
    address,
    send::{self, Terms},
};
use cowboy_api::{
    ApiError, Client, HexAddress, HexHash,
    error::NOT_FOUND,
    keystore::{CONFIG_DIRECTORY, Config, DEFAULT_RPC_URL, ENV_KEY, ENV_RPC_URL, Lookup},
};
use cowboy_console::{failure::Failure, output::Output};
use cowboy_host::files;
use cowboy_types::{Address, error::ACTOR_NOT_FOUND, instruction::Instruction, signing::PrivateKey};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// One run of the client.
pub(crate) struct Session {
    /// How results are printed.
    pub(crate) output: Output,
    /// The node.
    pub(crate) client: Client,
    /// The folder that has, or will have, `.cowboy`.
    pub(crate) project: PathBuf,
    /// The folder's configuration.
    pub(crate) config: Config,
    /// What `--rpc-url` or the environment says.
    pub(crate) rpc_url: Option<String>,
    /// What every command takes, as it was given.
    pub(crate) globals: Globals,
    lookup: Lookup,
    /// The key, once it was read: a command asks for its passphrase once.
    key: OnceLock<PrivateKey>,
}

impl Session {
    /// Reads the configuration and picks the node.
    pub(crate) fn open(globals: &Globals, output: Output) -> Result<Self, Failure> {
        let project = project()?;
        let config = Config::load(&project)?;
        let named = globals.rpc_url.clone().or_else(|| std::env::var(ENV_RPC_URL).ok());
        let used = Networks::load(&project)?.applied(globals.network.as_deref(), &config)?;
        let url = named.clone().or_else(|| used.rpc_url.clone());
        let client = Client::new(url.as_deref().unwrap_or(DEFAULT_RPC_URL))?;
        let lookup = Lookup {
            argument: globals.private_key.clone(),
            environment: std::env::var(ENV_KEY).ok(),
            project: project.clone(),
            config: used,
        };
        Ok(Self { output, client, project, config, rpc_url: named, globals: globals.clone(), lookup, key: OnceLock::new() })
    }

    /// The key that signs.
    pub(crate) fn key(&self) -> Result<PrivateKey, Failure> {
        if let Some(key) = self.key.get() {
            return Ok(key.clone());
        }
        let found = self.lookup.key()?.key;
        Ok(self.key.get_or_init(|| found).clone())
    }

    /// Where the key was found, for people.
    pub(crate) fn key_source(&self) -> Result<String, Failure> {
        Ok(self.lookup.source()?.to_string())
    }

    /// Signs and sends an instruction, and prints the transaction's hash.
    pub(crate) async fn submit(&self, instruction: Instruction, terms: &Terms) -> Result<(), Failure> {
        let sent = send::send(&self.client, &self.key()?, instruction, terms).await?;
        self.output.result(&sent, format_args!("Transaction hash: {}", sent.tx_hash));
        Ok(())
    }

    /// The named address, or the key's own.
    pub(crate) fn address_or_own(&self, named: Option<&str>) -> Result<Address, Failure> {
        match named {
            Some(named) => self.address(named),
            None => Ok(self.key()?.address()),
        }
    }

    /// An address in hex, or the name of an actor that this folder deployed.
    pub(crate) fn address(&self, named: &str) -> Result<Address, Failure> {
        if let Ok(address) = named.parse() {
            return address::checked(named, address).map_err(|what| {
                Failure::argument(what, "copy the address again from its source; in lower case it is accepted without a checksum")
            });
        }
        if let Some(digits) = named.strip_prefix("0x") {
            let what = match digits.len() {
                40 => format!("{named:?} is not an address: it has characters that are not hex digits"),
                other => format!("{named:?} is not an address: it has {other} digits after 0x, and an address has 40"),
            };
            return Err(Failure::argument(what, "copy the complete address, as `cowboy wallet address` prints it"));
        }
        let known = self.deployed();
        known.get(named).map(|address| address.0).ok_or_else(|| {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            let names = if names.is_empty() { "none yet".to_owned() } else { names.join(", ") };
            Failure::argument(
                format!("{named:?} is neither an address nor an actor that this folder deployed ({names})"),
                "give 0x and 40 hex digits, or deploy first",
            )
        })
    }

    /// The actors that this folder deployed, by name.
    pub(crate) fn deployed(&self) -> BTreeMap<String, HexAddress> {
        self.kept().actors
    }

    /// What the folder keeps of its actors; nothing where it has no readable file of them.
    fn kept(&self) -> Kept {
        Kept::read(&self.deployed_path()).unwrap_or_default()
    }

    /// A failure to find an actor, with its address, and the reason where the folder's actors live on another chain.
    pub(crate) async fn of_another_chain(&self, failure: Failure, target: &Address) -> Failure {
        let genesis = self.kept().genesis;
        match failure {
            Failure::Api(mut error) if error.code == ACTOR_NOT_FOUND.code => {
                if !error.context.is_object() {
                    error.context = serde_json::json!({});
                }
                if error.context["actor"].is_null() {
                    error.context["actor"] = target.to_string().into();
                }
                if let (Some(kept), Ok(health)) = (genesis, self.client.health().await)
                    && kept != health.genesis
                {
                    error.why = format!(
                        "The actors of this folder were deployed on the chain with genesis {kept}, but this node runs the one with genesis {}. A devnet without --state starts a new chain each time.",
                        health.genesis
                    );
                    error.fix = "Deploy again on this chain, or give the node of the other one with --rpc-url.".into();
                }
                Failure::Api(error)
            }
            other => other,
        }
    }

    fn deployed_path(&self) -> PathBuf {
        self.project.join(CONFIG_DIRECTORY).join("actors.json")
    }

    /// Remembers an actor by its name, so that commands can use it, and answers which actor had the name; those of another chain are
    /// forgotten. What cannot be remembered is no failure: the address was printed.
    pub(crate) async fn remember(&self, name: &str, address: HexAddress) -> Option<HexAddress> {
        let genesis = self.client.health().await.ok().map(|health| health.genesis);
        let path = self.deployed_path();
        Kept::remember(&path, genesis, name, address).unwrap_or_else(|error| {
            self.output.progress(format_args!("warning: the name {name} is not remembered: {}: {error}", path.display()));
            None
        })
    }
}

/// What a folder keeps in `.cowboy/actors.json`.
#[derive(Default, Serialize, Deserialize)]
struct Kept {
    /// The chain that the actors live on.
    genesis: Option<HexHash>,
    actors: BTreeMap<String, HexAddress>,
    /// The actors that had a name before, the oldest first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    former: BTreeMap<String, Vec<HexAddress>>,
}

impl Kept {
    /// What a file has; nothing where there is none. An older one has the actors alone. A damaged one is an error: the names in it stand nowhere else.
    fn read(path: &Path) -> io::Result<Self> {
        let Some(bytes) = files::read(path)?.filter(|bytes| !bytes.is_empty()) else { return Ok(Self::default()) };
        let old = || serde_json::from_slice(&bytes).ok().map(|actors| Self { actors, ..Self::default() });
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "it is damaged: mend or remove it");
        serde_json::from_slice(&bytes).ok().or_else(old).ok_or_else(damaged)
    }

    /// Gives a name to an actor in a file, which is replaced as a whole, and answers which other one had it. Those of another chain are forgotten.
    fn remember(path: &Path, genesis: Option<HexHash>, name: &str, address: HexAddress) -> io::Result<Option<HexAddress>> {
        let mut known = Self::read(path)?;
        if genesis.is_some() && known.genesis != genesis {
            known = Self { genesis, ..Self::default() };
        }
        let former = known.named(name, address);
        let text = serde_json::to_string_pretty(&known).expect("names and addresses are JSON");
        path.parent().map_or(Ok(()), files::create_folder)?;
        files::replace(path, (text + "\n").as_bytes())?;
        Ok(former)
    }

    /// Gives a name to an actor, and answers which other one had it.
    fn named(&mut self, name: &str, address: HexAddress) -> Option<HexAddress> {
        let former = self.actors.insert(name.to_owned(), address).filter(|former| *former != address)?;
        let all = self.former.entry(name.to_owned()).or_default();
        all.retain(|one| *one != former && *one != address);
        all.push(former);
        Some(former)
    }
}

/// The failure to find an account in a registry. What is none of its kind is named, with the command that registers it.
pub(super) fn unregistered(mut error: ApiError, address: &Address, kind: &str) -> Failure {
    if error.slug == NOT_FOUND.slug {
        error.what = format!("{address} is not registered as a {kind}.");
        error.why = format!("An account is a {kind} from its registration until its stake is paid out.");
        error.fix = format!("Check the address, which is the key's account where none is given, or register it: cowboy {kind} register.");
        error.context = serde_json::Value::Null;
    }
    error.into()
}

/// The failure to find one of a kind that a command lists: the remedy names the command.
pub(super) fn unlisted(mut error: ApiError, list: &str) -> Failure {
    if error.slug == NOT_FOUND.slug {
        error.fix = format!("Check the id: `{list}` prints those that the node has.");
    }
    error.into()
}

/// The nearest folder upwards that has `.cowboy`, or the present one.
fn project() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir().map_err(Failure::file("."))?;
    Ok(here.ancestors().find(|folder| folder.join(CONFIG_DIRECTORY).is_dir()).map_or(here.clone(), Path::to_path_buf))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_api::{Hex, error::UNREACHABLE};

    /// A damaged file is left as it is, and a whole one is replaced as a whole.
    #[test]
    fn names_in_a_damaged_file_are_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(".cowboy/actors.json");
        let remember = |name: &str, byte| Kept::remember(&path, None, name, Hex(Address([byte; 20])));
        assert_eq!(remember("notes", 1).expect("it is written"), None);
        assert_eq!(remember("notes", 2).expect("it is written"), Some(Hex(Address([1; 20]))));
        assert_eq!(std::fs::read_dir(folder.path().join(".cowboy")).expect("a folder").count(), 1, "no draft is left");
        assert_eq!(files::mode_for_others(&folder.path().join(".cowboy")), None, "others do not enter it");
        std::fs::write(&path, "{ \"actors\": {").expect("it is written");
        assert!(remember("diary", 3).expect_err("it is damaged").to_string().contains("mend or remove it"));
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "{ \"actors\": {");
        std::fs::write(&path, "").expect("it is written");
        assert_eq!(remember("diary", 3).expect("nothing is lost"), None);
    }

    /// Who is no runner reads that, and not what nodes may have pruned; programs read the same slug as of anything that a node does not have.
    #[test]
    fn an_account_that_is_not_registered_is_named() {
        let error = ApiError::of_fault(NOT_FOUND).with(serde_json::json!({ "runner": "0x01" }));
        let said = unregistered(error, &Address([7; 20]), "runner").to_string();
        assert!(said.starts_with(&format!("{} is not registered as a runner. (2001 not_found)", Address([7; 20]))), "{said}");
        assert!(said.contains("cowboy runner register") && !said.contains("pruned"), "{said}");
        let other = unregistered(ApiError::of_fault(UNREACHABLE), &Address([7; 20]), "runner").to_string();
        assert!(other.contains("No node answers"), "{other}");
    }

    /// What there is not has a remedy of its own kind: nobody looks for a proposal in the height of the node.
    #[test]
    fn what_is_not_listed_names_the_list() {
        let said = unlisted(ApiError::of_fault(NOT_FOUND), "cowboy gov list").to_string();
        assert!(said.contains("`cowboy gov list` prints those") && !said.contains("cowboy status"), "{said}");
        assert!(unlisted(ApiError::of_fault(UNREACHABLE), "cowboy gov list").to_string().contains("No node answers"));
    }

    #[test]
    fn a_name_keeps_its_former_actors() {
        let actor = |byte| Hex(Address([byte; 20]));
        let mut kept = Kept::default();
        let given = [1, 2, 2, 3, 1].map(|byte| kept.named("notes", actor(byte)));
        assert_eq!(given, [None, Some(actor(1)), None, Some(actor(2)), Some(actor(3))]);
        assert_eq!(kept.former["notes"], [actor(2), actor(3)], "the one that has the name again is no former one");
        let text = serde_json::to_string(&kept).expect("names and addresses are JSON");
        let read: Kept = serde_json::from_str(&text).expect("it is what was written");
        assert_eq!((read.actors["notes"], read.former["notes"].len()), (actor(1), 2));
    }
}
