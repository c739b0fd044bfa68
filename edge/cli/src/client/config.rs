//! `cowboy config`: the networks of a folder, and which one its commands use.

use super::session::Session;
use clap::Subcommand;
use cowboy_api::{
    Client,
    keystore::{CONFIG_DIRECTORY, Config as Folder, DEFAULT_RPC_URL},
};
use cowboy_console::{failure::Failure, output::table};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  cowboy config add test https://rpc.test.example.com --key-file ~/keys/test
  cowboy config use test
  cowboy --network test status
  cowboy config show")]
pub(crate) enum Config {
    /// Print the node, the key and the networks that commands in this folder use
    Show,
    /// Add a network, or change its address
    Add {
        /// The name
        name: String,
        /// Its node's address
        url: String,
        /// The file of the key for this network [default: the folder's key]
        #[arg(long, value_name = "FILE")]
        key_file: Option<PathBuf>,
    },
    /// Make a network the default
    Use {
        /// The network's name, as given to `config add`
        name: String,
    },
    /// Remove a network
    Remove {
        /// The network's name
        name: String,
    },
}

/// A network that a folder knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Network {
    /// Its node's address.
    rpc_url: String,
    /// The file of the key that signs on it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    key_file: Option<PathBuf>,
}

/// `.cowboy/networks.json`: networks by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Networks(BTreeMap<String, Network>);

impl Networks {
    fn path(project: &Path) -> PathBuf {
        project.join(CONFIG_DIRECTORY).join("networks.json")
    }

    /// Those of a folder; none where it has no file of them.
    pub(super) fn load(project: &Path) -> Result<Self, Failure> {
        let path = Self::path(project);
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                Failure::argument(format!("{} cannot be read: {error}", path.display()), "correct it, or remove it and add networks again")
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Failure::file(path)(error)),
        }
    }

    fn save(&self, project: &Path) -> Result<(), Failure> {
        let path = Self::path(project);
        let text = serde_json::to_string_pretty(self).expect("names and addresses are JSON");
        std::fs::write(&path, text + "\n").map_err(Failure::file(path))
    }

    fn named(&self, name: &str) -> Result<&Network, Failure> {
        self.0.get(name).ok_or_else(|| {
            if is_url(name) {
                return named_by_url(name, "config use and --network take the name of a network");
            }
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
            Failure::refused(
                format!("this folder has no network named {name:?} ({known})"),
                format!("add it: cowboy config add {name} URL"),
            )
        })
    }

    /// The folder's settings with those of a network in their place: of the named one, or of the one in use where the folder has it.
    pub(super) fn applied(&self, named: Option<&str>, folder: &Folder) -> Result<Folder, Failure> {
        let network = match named {
            Some(name) => Some(self.named(name)?),
            None => folder.network.as_ref().and_then(|name| self.0.get(name)),
        };
        let Some(network) = network else { return Ok(folder.clone()) };
        Ok(Folder {
            rpc_url: Some(network.rpc_url.clone()),
            key_file: network.key_file.clone().or_else(|| folder.key_file.clone()),
            ..folder.clone()
        })
    }
}

fn is_url(text: &str) -> bool {
    text.contains("://")
}

/// The refusal of an address where a name belongs.
fn named_by_url(url: &str, what: &str) -> Failure {
    Failure::argument(
        format!("{url} is an address, and {what}"),
        format!("cowboy config add test {url}, then cowboy config use test; for one command: --rpc-url {url}"),
    )
}

impl Config {
    pub(crate) fn run(self, session: &Session) -> Result<(), Failure> {
        let mut networks = Networks::load(&session.project)?;
        match self {
            Self::Show => return show(session, &networks),
            Self::Add { name, url, key_file } => {
                if is_url(&name) {
                    return Err(named_by_url(&name, "config add takes a name before the address"));
                }
                // A bad address is refused now, and not by the first command that uses it.
                Client::new(&url)?;
                networks.0.insert(name, Network { rpc_url: url, key_file });
                session.config.save(&session.project)?;
                networks.save(&session.project)?;
            }
            Self::Use { name } => {
                networks.named(&name)?;
                Folder { network: Some(name), ..session.config.clone() }.save(&session.project)?;
            }
            Self::Remove { name } => {
                networks.named(&name)?;
                networks.0.remove(&name);
                networks.save(&session.project)?;
            }
        }
        show(&Session::open(&session.globals, session.output)?, &networks)
    }
}

fn show(session: &Session, networks: &Networks) -> Result<(), Failure> {
    let key = session.key_source().unwrap_or_else(|_| "none yet: cowboy wallet create".to_owned());
    let used = session.config.network.clone().unwrap_or_default();
    let mut rows = vec![("node", session.client.url().to_owned()), ("key", key.clone())];
    rows.extend(networks.0.iter().map(|(name, network)| {
        let mark = if *name == used { " (in use)" } else { "" };
        (name.as_str(), format!("{}{mark}", network.rpc_url))
    }));
    let value = json!({ "rpc_url": session.client.url(), "default": DEFAULT_RPC_URL, "key": key, "network": used, "networks": networks });
    session.output.result(&value, table(rows));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_no_name() {
        let refused = Networks::default().named("http://a").expect_err("no network has such a name").to_string();
        let (what, fix) = refused.split_once("\n  fix: ").expect("a refusal says what to do");
        assert_eq!(what, "http://a is an address, and config use and --network take the name of a network");
        assert_eq!(fix, "cowboy config add test http://a, then cowboy config use test; for one command: --rpc-url http://a");
    }

    #[test]
    fn a_network_stands_in_the_place_of_the_folders_settings() {
        let network = |url: &str, key: Option<&str>| Network { rpc_url: url.into(), key_file: key.map(Into::into) };
        let all = [("a".to_owned(), network("http://a", None)), ("b".to_owned(), network("http://b", Some("b.key")))];
        let networks = Networks(all.into_iter().collect());
        let folder =
            |name: &str| Folder { network: Some(name.into()), rpc_url: Some("http://own".into()), key_file: Some("own.key".into()) };
        let rows = [
            (None, "local", Some(("http://own", "own.key"))),
            (None, "a", Some(("http://a", "own.key"))),
            (Some("b"), "a", Some(("http://b", "b.key"))),
            (Some("c"), "a", None),
        ];
        for (named, used, expected) in rows {
            let found = networks.applied(named, &folder(used)).ok();
            let found = found.map(|found| (found.rpc_url.unwrap_or_default(), found.key_file.unwrap_or_default()));
            assert_eq!(found, expected.map(|(url, key)| (url.to_owned(), PathBuf::from(key))), "{named:?} {used}");
        }
    }
}
