//! The messages of a ceremony as files: a line of JSON, and a line with its author's signature.

use crate::daemon::{
    node_failure,
    node_files::{Secrets, read, replace, replace_text},
};
use commonware_codec::DecodeExt as _;
use commonware_cryptography::{Signer as _, Verifier as _, ed25519};
use cowboy_api::{Hex, HexBytes, HexHash};
use cowboy_console::failure::Failure;
use cowboy_node::{committee::ValidatorKeys, founding::Messages};
use cowboy_types::Hash;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    io::Read as _,
    path::{Path, PathBuf},
};

/// What founders sign with their network keys, apart from everything else signed with them.
const NAMESPACE: &[u8] = b"cowboy-founding-message";

/// Bytes of a message's file. The largest, a log of 100 founders, has less than 40,000.
const MAX_BYTES: u64 = 262_144;

/// The messages of a ceremony, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Card,
    Dealing,
    Acknowledgement,
    Log,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Dealing => "dealing",
            Self::Acknowledgement => "acknowledgement",
            Self::Log => "log",
        }
    }
}

/// The first line of a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message<T> {
    kind: Kind,
    /// The settings for a card; what all cards make together for the others.
    ceremony: HexHash,
    founder: HexBytes,
    body: T,
}

/// A founder's own file, until the ceremony is over.
#[derive(Serialize, Deserialize)]
struct Own {
    secrets: Secrets,
    seed: HexBytes,
    /// What was sent, as it stands in the exchange folder.
    sent: BTreeMap<Kind, (HexHash, String)>,
}

/// The folder with everybody's messages, and this founder's own record of what it sent.
pub(super) struct Exchange {
    folder: PathBuf,
    path: PathBuf,
    own: Own,
    seed: [u8; 32],
    network: ed25519::PrivateKey,
}

impl Exchange {
    /// Opens the folder. The founder's own file is made where it is not there.
    pub(super) fn open(
        folder: &Path,
        path: &Path,
        new: impl FnOnce() -> Result<(ValidatorKeys, [u8; 32]), Failure>,
    ) -> Result<(Self, ValidatorKeys), Failure> {
        std::fs::create_dir_all(folder).map_err(Failure::file(folder))?;
        if !path.exists() {
            let (keys, seed) = new()?;
            replace(path, &Own { secrets: Secrets::of(&keys), seed: Hex(seed.to_vec()), sent: BTreeMap::new() })?;
        }
        let damaged = || node_failure(format_args!("{} is damaged: restore it, or begin the ceremony again without it", path.display()));
        let own: Own = read(path).map_err(|_| damaged())?;
        let keys = own.secrets.keys()?;
        let seed = own.seed.0.clone().try_into().map_err(|_| damaged())?;
        Ok((Self { folder: folder.to_owned(), path: path.to_owned(), own, seed, network: keys.network.clone() }, keys))
    }

    pub(super) fn seed(&self) -> [u8; 32] {
        self.seed
    }

    /// Makes this founder's message where it did not do so before, and puts it into the folder.
    pub(super) fn send<T: Serialize>(
        &mut self,
        kind: Kind,
        ceremony: Hash,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<(), Failure> {
        if !self.own.sent.contains_key(&kind) {
            let founder = Hex(self.network.public_key().as_ref().to_vec());
            let line =
                serde_json::to_string(&Message { kind, ceremony: Hex(ceremony), founder, body: make()? }).expect("messages are JSON");
            let signature = Hex(self.network.sign(NAMESPACE, line.as_bytes()).as_ref().to_vec());
            self.own.sent.insert(kind, (Hex(ceremony), format!("{line}\n{signature}\n")));
            // Before anybody else has it: a second message of this kind would be another.
            replace(&self.path, &self.own)?;
        }
        let (sent_for, text) = &self.own.sent[&kind];
        if sent_for.0 != ceremony {
            return Err(node_failure(format_args!(
                "this founder's {} was made for other founders or other settings: {}",
                kind.name(),
                super::AGAIN
            )));
        }
        let path = self.path(kind, self.network.public_key().as_ref());
        match std::fs::read_to_string(&path) {
            Ok(there) if there == *text => Ok(()),
            Ok(_) => Err(node_failure(format_args!(
                "{} is not what this founder sent: two processes have one key, or the file was changed; stop the other one and delete the file",
                path.display()
            ))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => replace_text(&path, text),
            Err(error) => Err(Failure::file(path)(error)),
        }
    }

    /// The messages of this kind that are in the folder, by founder. One that its author did not sign for this ceremony is refused.
    pub(super) fn received<T: DeserializeOwned>(&self, kind: Kind, ceremony: Hash) -> Result<Messages<T>, Failure> {
        let mut messages = Messages::new();
        let prefix = format!("{}-", kind.name());
        for entry in std::fs::read_dir(&self.folder).map_err(Failure::file(&self.folder))? {
            let path = entry.map_err(Failure::file(&self.folder))?.path();
            let is_one = |name: &str| name.starts_with(&prefix) && name.ends_with(".txt");
            if !path.file_name().and_then(|name| name.to_str()).is_some_and(is_one) {
                continue;
            }
            let wrong = |why: &str| node_failure(format_args!("{} {why}", path.display()));
            let (founder, message) =
                parse::<T>(&path)?.ok_or_else(|| wrong("is not signed by its founder: copy it again from that one"))?;
            if message.kind != kind {
                return Err(wrong("has another message than its name says: copy it again from its founder"));
            }
            if message.ceremony.0 != ceremony {
                return Err(wrong(
                    "was made with other settings or for other founders: compare the settings file and the cards with its founder's",
                ));
            }
            if messages.insert(founder, message.body).is_some() {
                return Err(wrong("is the second of one founder: remove one of them"));
            }
        }
        Ok(messages)
    }

    fn path(&self, kind: Kind, founder: &[u8]) -> PathBuf {
        let founder: String = founder.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{}-{founder}.txt", kind.name()))
    }
}

/// The message in a file, and who signed it. `None` where it is too long, malformed, or not signed by its founder.
fn parse<T: DeserializeOwned>(path: &Path) -> Result<Option<(ed25519::PublicKey, Message<T>)>, Failure> {
    let file = std::fs::File::open(path).map_err(Failure::file(path))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(Failure::file(path))?;
    let message = || {
        let text = std::str::from_utf8(&bytes).ok().filter(|text| u64::try_from(text.len()).is_ok_and(|length| length <= MAX_BYTES))?;
        let (line, signature) = text.split_once('\n')?;
        let message: Message<T> = serde_json::from_str(line).ok()?;
        let founder = ed25519::PublicKey::decode(message.founder.0.clone()).ok()?;
        let signature: HexBytes = signature.trim_end().parse().ok()?;
        let signature = ed25519::Signature::decode(signature.0).ok()?;
        founder.verify(NAMESPACE, line.as_bytes(), &signature).then_some((founder, message))
    };
    Ok(message())
}
