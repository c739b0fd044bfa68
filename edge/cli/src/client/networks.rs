//! The networks that a folder knows.

use cowboy_api::keystore::{CONFIG_DIRECTORY, Config as Folder};
use cowboy_console::failure::Failure;
use cowboy_host::files;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// A network that a folder knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Network {
    /// Its node's address.
    pub(super) rpc_url: String,
    /// The file of the key that signs on it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) key_file: Option<PathBuf>,
}

/// `.cowboy/networks.json`: networks by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Networks(pub(super) BTreeMap<String, Network>);

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

    /// Replaces the file as a whole: a full disk leaves the old one.
    pub(super) fn save(&self, project: &Path) -> Result<(), Failure> {
        let path = Self::path(project);
        let text = serde_json::to_string_pretty(self).expect("names and addresses are JSON");
        files::replace(&path, (text + "\n").as_bytes()).map_err(Failure::file(path))
    }

    pub(super) fn named(&self, name: &str) -> Result<&Network, Failure> {
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

/// Whether a text is an address and no name.
pub(super) fn is_url(text: &str) -> bool {
    text.contains("://")
}

/// The refusal of an address where a name belongs.
pub(super) fn named_by_url(url: &str, what: &str) -> Failure {
    Failure::argument(
        format!("{url} is an address, and {what}"),
        format!("cowboy config add test {url}, then cowboy config use test; for one command: --rpc-url {url}"),
    )
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
