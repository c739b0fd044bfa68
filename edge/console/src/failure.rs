//! What goes wrong in a command.

use cowboy_api::{ApiError, keystore::KeyError};
use std::{path::PathBuf, process::ExitCode};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The node refuses, or nobody answers.
    #[error(transparent)]
    Api(Box<ApiError>),
    /// There is no key, or a bad one.
    #[error("{0}\n  fix: {fix}", fix = fix_of_key(.0))]
    Key(#[from] KeyError),
    /// A file cannot be read or written.
    #[error("{path}: {source}\n  fix: {}", fix_of(.source))]
    File {
        /// The file's path.
        path: PathBuf,
        /// The underlying error.
        source: std::io::Error,
    },
    /// An argument, or a file that it names, is not what the command takes, whatever the state of the chain and of this computer.
    #[error("{what}\n  fix: {fix}")]
    Argument {
        /// What is wrong with it.
        what: String,
        /// What to give instead.
        fix: String,
    },
    /// An argument that the chain would refuse whatever its state, in the chain's words.
    #[error(transparent)]
    Mistake(Box<ApiError>),
    /// The command was called rightly, and is refused for now: for what is there, is not there yet, or belongs to somebody else.
    #[error("{what}\n  fix: {fix}")]
    Refused {
        /// What is in the way.
        what: String,
        /// What to do.
        fix: String,
    },
    /// A proof does not hold.
    #[error("{0}\n  why: the node's answer is not what the validators agreed on\n  fix: ask another node, with --rpc-url")]
    Proof(String),
    /// A gateway's answer does not hold.
    #[error("{0}\n  why: the gateway's answer is not that of the actor\n  fix: do not use this answer; ask another gateway")]
    Witness(String),
    /// The node does not start.
    #[error("{0}")]
    Node(String),
    /// Another program has to do something about this one, so it has an exit code of its own.
    #[error("{message}")]
    Coded {
        /// What went wrong.
        message: String,
        /// The exit code.
        code: u8,
    },
    /// It was said already, like a script's traceback.
    #[error("")]
    Said,
    /// The same, with an exit code of its own.
    #[error("")]
    Silent(u8),
}

/// What to do about a file that cannot be used.
fn fix_of(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::NotFound => "check the path; there is no such file or folder",
        std::io::ErrorKind::PermissionDenied => "give yourself access to it, or choose another path",
        std::io::ErrorKind::AlreadyExists => "move it away, or choose another name",
        std::io::ErrorKind::NotADirectory => "a part of the path is a file; choose another path",
        std::io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only; choose another path",
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => "free some space on the disk",
        _ => "check the path and its permissions",
    }
}

/// What to do about a key that cannot be used.
fn fix_of_key(error: &KeyError) -> &'static str {
    match error {
        KeyError::At { source, .. } | KeyError::In { source, .. } => fix_of_key(source),
        KeyError::Missing => "create one with `cowboy wallet create`, or give one with --private-key",
        KeyError::Format => "give 64 hex digits, a PEM block, or the path of an existing key file",
        KeyError::Label(_) | KeyError::Curve(_) | KeyError::Checksum | KeyError::OutOfRange => {
            "give the file that `cowboy wallet create` wrote, unchanged"
        }
        KeyError::Mnemonic(_) => "give all words in order, in quotes",
        KeyError::File { source, .. } => fix_of(source),
        KeyError::Exists(_) => "move it away, give another path with --out, or replace it with --force",
        KeyError::Config { .. } => "correct the file, or create a new one with `cowboy init local`",
        KeyError::Encrypted | KeyError::NoPassphrase(_) => "set COWBOY_PASSPHRASE, or COWBOY_PASSPHRASE_FILE to the file that contains it",
        KeyError::Keystore(_) => "give the file that the wallet wrote, unchanged",
        KeyError::Passphrase | KeyError::EmptyPassphrase | KeyError::Differ => "give the right passphrase; nobody can recover a lost one",
        KeyError::Random(_) => "try again",
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::Api(Box::new(error))
    }
}

impl Failure {
    /// A file that cannot be read or written.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }

    /// An argument that is wrong, and what to do about it.
    pub fn argument(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::Argument { what: what.into(), fix: fix.into() }
    }

    /// A refusal for what the state of the chain or of this computer is, and what to do about it.
    pub fn refused(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::Refused { what: what.into(), fix: fix.into() }
    }

    /// 2 where no state would accept how the command was called, its own where it has one, else 1: the same call may succeed later, or elsewhere.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code())
    }

    fn code(&self) -> u8 {
        match self {
            Self::Silent(code) | Self::Coded { code, .. } => *code,
            Self::Argument { .. } | Self::Mistake(_) => 2,
            _ => 1,
        }
    }

    /// The failure as JSON: the node's own words where they are its.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Api(error) | Self::Mistake(error) => serde_json::json!({ "error": error }),
            Self::Argument { what, fix } | Self::Refused { what, fix } => serde_json::json!({ "error": { "what": what, "fix": fix } }),
            Self::File { path, source } => {
                serde_json::json!({ "error": { "what": format!("{}: {source}", path.display()), "fix": fix_of(source) } })
            }
            Self::Key(error) => serde_json::json!({ "error": { "what": error.to_string(), "fix": fix_of_key(error) } }),
            other => serde_json::json!({ "error": { "what": other.to_string() } }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scripts try again what the state refuses, and not what was called wrongly.
    #[test]
    fn mistakes_and_refusals_have_codes_of_their_own() {
        let codes = [
            Failure::argument("\"x\" is not a hash", "give 64 hex digits"),
            Failure::refused("there is no such job", "check the id"),
            Failure::Node("nobody answers".into()),
            Failure::Coded { message: "the next block needs another build".into(), code: 3 },
        ];
        assert_eq!(codes.map(|failure| failure.code()), [2, 1, 1, 3]);
    }
}
