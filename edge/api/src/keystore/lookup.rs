//! Where the CLI finds its key and its node.

use super::{KeyError, file};
use cowboy_host::files;
use cowboy_types::signing::PrivateKey;
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// The directory of a project's key and configuration.
pub const CONFIG_DIRECTORY: &str = ".cowboy";

/// The environment's key.
pub const ENV_KEY: &str = "COWBOY_PRIVATE_KEY";

/// The environment's node.
pub const ENV_RPC_URL: &str = "COWBOY_RPC_URL";

/// The node where nothing names another.
pub const DEFAULT_RPC_URL: &str = "http://localhost:4000";

/// `.cowboy/config.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// The network it was made for: `local` or `dev`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// The node's address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpc_url: Option<String>,
    /// The key's file; a relative path begins at the directory that holds `.cowboy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_file: Option<PathBuf>,
}

impl Config {
    /// The configuration of a project's directory; empty where there is none.
    pub fn load(project: &Path) -> Result<Self, KeyError> {
        let path = project.join(CONFIG_DIRECTORY).join("config.json");
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| KeyError::Config { path, reason: error.to_string() }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(KeyError::ConfigFile { path, source }),
        }
    }

    /// Writes the configuration. A crash leaves the old one or the new one.
    pub fn save(&self, project: &Path) -> Result<PathBuf, KeyError> {
        let directory = project.join(CONFIG_DIRECTORY);
        let path = directory.join("config.json");
        let text = serde_json::to_string_pretty(self).expect("the configuration is JSON");
        files::create_folder(&directory)
            .and_then(|()| file::keep_out_of_git(&directory))
            .and_then(|()| files::replace(&path, (text + "\n").as_bytes()))
            .map_err(|source| KeyError::ConfigFile { path: path.clone(), source })?;
        Ok(path)
    }
}

/// Where a key came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `--private-key`.
    Argument,
    /// The environment.
    Environment,
    /// The file that `.cowboy/config.json` names.
    Configured(PathBuf),
    /// `.cowboy/key`.
    Default(PathBuf),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument => f.write_str("--private-key"),
            Self::Environment => f.write_str(ENV_KEY),
            Self::Configured(path) => write!(f, "{} (named by .cowboy/config.json)", path.display()),
            Self::Default(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A key, and where it was.
#[derive(Clone, Debug)]
pub struct Found {
    /// The key.
    pub key: PrivateKey,
    /// Where it was.
    pub source: Source,
}

/// The places to look in.
#[derive(Clone, Debug, Default)]
pub struct Lookup {
    /// `--private-key`: hex, PEM, or a file's path.
    pub argument: Option<String>,
    /// What the environment says.
    pub environment: Option<String>,
    /// The directory that holds `.cowboy`.
    pub project: PathBuf,
    /// Its configuration.
    pub config: Config,
}

impl Lookup {
    /// Where the key is, which is not read for it: an encrypted one asks for a passphrase.
    pub fn source(&self) -> Result<Source, KeyError> {
        let default = self.project.join(CONFIG_DIRECTORY).join("key");
        if self.argument.is_some() {
            Ok(Source::Argument)
        } else if self.environment.is_some() {
            Ok(Source::Environment)
        } else if let Some(path) = &self.config.key_file {
            Ok(Source::Configured(self.project.join(path)))
        } else if default.exists() {
            Ok(Source::Default(default))
        } else {
            Err(KeyError::Missing)
        }
    }

    /// The first key in the order: argument, environment, configured file, default file. A bad key ends the search.
    pub fn key(&self) -> Result<Found, KeyError> {
        let source = self.source()?;
        let key = match &source {
            Source::Argument => given(self.argument.as_deref().unwrap_or_default()),
            Source::Environment => given(self.environment.as_deref().unwrap_or_default()),
            Source::Configured(path) | Source::Default(path) => file::read(path),
        };
        match key {
            Ok(key) => Ok(Found { key, source }),
            Err(error) => Err(KeyError::At { place: source, source: Box::new(error) }),
        }
    }
}

/// A key given as text, or the path of a file that has it.
fn given(text: &str) -> Result<PrivateKey, KeyError> {
    let path = Path::new(text);
    let is_key = text.trim_start().starts_with("-----BEGIN") || cowboy_types::hash::parse_hex::<32>(text.trim()).is_ok();
    if !is_key && path.is_file() { file::read(path) } else { file::decode(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 4] = [
        "0x0000000000000000000000000000000000000000000000000000000000000001",
        "0x0000000000000000000000000000000000000000000000000000000000000002",
        "0x0000000000000000000000000000000000000000000000000000000000000003",
        "0x0000000000000000000000000000000000000000000000000000000000000004",
    ];

    fn write(path: &Path, index: usize) {
        file::write(path, &file::decode(KEYS[index]).expect("the key is good"), None).expect("a new file");
    }

    #[test]
    fn the_first_place_wins() {
        let project = tempfile::tempdir().expect("a directory for the test");
        write(&project.path().join("configured.pem"), 2);
        let config = Config { key_file: Some("configured.pem".into()), ..Config::default() };
        let all = Lookup { argument: Some(KEYS[0].into()), environment: Some(KEYS[1].into()), project: project.path().into(), config };
        let no_argument = Lookup { argument: None, ..all.clone() };
        let no_environment = Lookup { environment: None, ..no_argument.clone() };
        let nothing = Lookup { config: Config::default(), ..no_environment.clone() };
        assert!(matches!(nothing.key(), Err(KeyError::Missing)));
        write(&project.path().join(".cowboy/key"), 3);
        for (lookup, expected) in [(all, 0), (no_argument, 1), (no_environment, 2), (nothing, 3)] {
            let found = lookup.key().expect("there is a key");
            assert_eq!(file::encode_hex(&found.key), KEYS[expected], "{}", found.source);
        }
    }

    #[test]
    fn a_bad_key_is_named_with_its_place_and_ends_the_search() {
        let lookup = Lookup { environment: Some("nonsense".into()), ..Lookup::default() };
        let error = lookup.key().err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.starts_with("COWBOY_PRIVATE_KEY: this is not a private key"), "{error}");
    }

    #[test]
    fn an_argument_may_name_a_file() {
        let project = tempfile::tempdir().expect("a directory for the test");
        let path = project.path().join("mine.pem");
        write(&path, 1);
        let lookup = Lookup { argument: Some(path.display().to_string()), ..Lookup::default() };
        assert_eq!(lookup.key().map(|found| file::encode_hex(&found.key)).ok().as_deref(), Some(KEYS[1]));
    }

    #[test]
    fn a_configuration_survives_and_a_damaged_one_is_named() {
        let project = tempfile::tempdir().expect("a directory for the test");
        assert_eq!(Config::load(project.path()).ok(), Some(Config::default()));
        let config = Config { network: Some("local".into()), rpc_url: Some("http://localhost:1".into()), key_file: None };
        let path = config.save(project.path()).expect("the directory is writable");
        assert_eq!(files::mode_for_others(&project.path().join(CONFIG_DIRECTORY)), None, "others do not enter it");
        assert_eq!(Config::load(project.path()).ok(), Some(config));
        std::fs::write(&path, "{").expect("the file is writable");
        let error = Config::load(project.path()).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("config.json"), "{error}");
    }

    /// A place without access is told apart from a configuration that is damaged: to create it again would not help.
    #[test]
    fn a_configuration_that_cannot_be_written_or_read_is_not_damaged() {
        let project = tempfile::tempdir().expect("a directory for the test");
        std::fs::write(project.path().join(CONFIG_DIRECTORY), "a file").expect("the directory is writable");
        assert!(matches!(Config::default().save(project.path()), Err(KeyError::ConfigFile { .. })));
        assert!(matches!(Config::load(project.path()), Err(KeyError::ConfigFile { .. })));
    }
}
