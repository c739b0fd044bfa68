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
    /// What a script says of its own failure, like a traceback.
    #[error("{0}")]
    Told(String),
    /// The result that was printed says it, like a test that fails.
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
        std::io::ErrorKind::IsADirectory => "name a file: this is a folder",
        std::io::ErrorKind::InvalidData => "check that it is the file that you mean: its content is not as expected",
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
        KeyError::File { source, .. } | KeyError::ConfigFile { source, .. } => fix_of(source),
        KeyError::Exists(_) => "move it away, give another path with --out, or replace it with --force",
        KeyError::Config { .. } => "correct the file, or create a new one with `cowboy init local`",
        KeyError::Encrypted | KeyError::NoPassphrase(_) => "set COWBOY_PASSPHRASE, or COWBOY_PASSPHRASE_FILE to the file that contains it",
        KeyError::Keystore(_) => "give the file that the wallet wrote, unchanged",
        KeyError::Passphrase | KeyError::EmptyPassphrase | KeyError::Differ => "give the right passphrase; nobody can recover a lost one",
        KeyError::Random(_) => "try again",
    }
}

/// A failure of the command itself: its number and a stable name for programs. Numbers begin at 3000: those of the protocol and of the API are below.
type Row = (u16, &'static str);

const ARGUMENT: Row = (3000, "argument");
const REFUSED: Row = (3001, "refused");
const FILE: Row = (3002, "file");
const KEY: Row = (3003, "key");
const PROOF: Row = (3004, "proof");
const WITNESS: Row = (3005, "witness");
const FAILED: Row = (3006, "failed");
const REPORTED: Row = (3007, "reported");

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

    /// The operating system has no random bytes.
    pub fn no_random(error: impl std::fmt::Display) -> Self {
        Self::refused(error.to_string(), "the computer gives no random bytes; try again")
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

    /// The failure as JSON: the node's own words where they are its. Every failure has a code, a slug, and says what happened and what to do.
    pub fn to_json(&self) -> serde_json::Value {
        let (code, slug) = match self {
            Self::Api(error) | Self::Mistake(error) => return serde_json::json!({ "error": error }),
            Self::Argument { .. } => ARGUMENT,
            Self::Refused { .. } => REFUSED,
            Self::File { .. } => FILE,
            Self::Key(_) => KEY,
            Self::Proof(_) => PROOF,
            Self::Witness(_) => WITNESS,
            Self::Node(_) | Self::Told(_) | Self::Coded { .. } => FAILED,
            Self::Said | Self::Silent(_) => REPORTED,
        };
        let what = match self {
            Self::Argument { what, .. } | Self::Refused { what, .. } | Self::Proof(what) | Self::Witness(what) => what.clone(),
            Self::File { path, source } => format!("{}: {source}", path.display()),
            Self::Key(error) => error.to_string(),
            Self::Said | Self::Silent(_) => "the command failed, as its result says".to_owned(),
            other => other.to_string(),
        };
        let fix = match self {
            Self::Argument { fix, .. } | Self::Refused { fix, .. } => fix.as_str(),
            Self::File { source, .. } => fix_of(source),
            Self::Key(error) => fix_of_key(error),
            Self::Proof(_) => "the node's answer is not what the validators agreed on: ask another node, with --rpc-url",
            Self::Witness(_) => "the gateway's answer is not that of the actor: do not use this answer; ask another gateway",
            Self::Said | Self::Silent(_) => "correct what the result on stdout names",
            _ => "correct what the message names, and try again",
        };
        serde_json::json!({ "error": { "code": code, "slug": slug, "what": what, "fix": fix } })
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

    /// Where a configuration cannot be written, the fix is not the command that could not write it.
    #[test]
    fn a_folder_without_access_is_not_a_damaged_configuration() {
        let source = std::io::ErrorKind::PermissionDenied.into();
        let failure = Failure::from(KeyError::ConfigFile { path: "config.json".into(), source });
        assert!(failure.to_string().ends_with("fix: give yourself access to it, or choose another path"), "{failure}");
    }

    /// A folder in the place of a file, and a file that is no text, are reported as such: access is not what is wrong.
    #[test]
    fn what_is_wrong_with_a_file_has_its_remedy() {
        let rows = [(std::io::ErrorKind::IsADirectory, "this is a folder"), (std::io::ErrorKind::InvalidData, "not as expected")];
        for (kind, expected) in rows {
            let said = Failure::file("actor.py")(kind.into()).to_string();
            assert!(said.contains(expected), "{said}");
        }
    }

    /// Programs read code and slug of every failure, and people what to do.
    #[test]
    fn every_failure_is_an_object_of_one_form() {
        let failures = [
            Failure::from(ApiError::of_fault(cowboy_api::error::UNREACHABLE)),
            KeyError::Missing.into(),
            Failure::file("a")(std::io::ErrorKind::NotFound.into()),
            Failure::argument("\"x\" is not a hash", "give 64 hex digits"),
            Failure::refused("there is no such job", "check the id"),
            Failure::Proof("the root is another one".into()),
            Failure::Witness("the block is another one".into()),
            Failure::Node("nobody answers".into()),
            Failure::Coded { message: "the next block needs another build".into(), code: 3 },
            Failure::Told("Traceback".into()),
            Failure::Said,
            Failure::Silent(5),
        ];
        for failure in failures {
            let error = &failure.to_json()["error"];
            assert!(error["code"].as_u64().is_some_and(|code| code > 0), "{failure:?}: {error}");
            for field in ["slug", "what", "fix"] {
                let is_one_text = error[field].as_str().is_some_and(|text| !text.is_empty() && !text.contains("fix: "));
                assert!(is_one_text, "{failure:?}: {error}");
            }
        }
    }
}
