//! What a runner's trusted environment proves and says: a document of the hardware once in a while, and a statement of each result.
//!
//! The document binds a key to the runner and to the measured program; 0x05 checks it against the manufacturer's roots and governance's
//! policies. The key then signs what the program says of each result (`cowboy_system::offchain::statement`).

use crate::config;
use cowboy_system::offchain::{binding, statement};
use cowboy_system::requests::{Request, market as requests};
use cowboy_types::{Address, Hash, cbor::Value, hash::parse_hex, keccak256, signing::PrivateKey};
use ed25519_consensus::SigningKey;
use std::{path::PathBuf, process::Stdio, time::Duration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::Command,
};

/// How long the hardware's program may take.
const DOCUMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// The most bytes of a document: a transaction has not many more.
const DOCUMENT_BYTES: u64 = 100_000;

/// Why a trusted environment is none.
#[derive(Debug, thiserror::Error)]
pub enum TeeError {
    /// A file cannot be read.
    #[error("[tee] {path}: {source}\n  fix: correct the path, or leave it out")]
    File {
        /// The file's path.
        path: PathBuf,
        /// The underlying error.
        source: std::io::Error,
    },
    /// The key's file holds none.
    #[error("[tee] {0}: no key\n  fix: write 32 random bytes into it as 64 hex digits")]
    Key(PathBuf),
}

/// A trusted environment.
#[derive(Clone)]
pub struct Tee {
    settings: config::Tee,
    key: SigningKey,
}

impl Tee {
    /// The one that the configuration names, for the runner of this key.
    pub fn new(settings: &config::Tee, runner: &PrivateKey) -> Result<Self, TeeError> {
        let key = match &settings.key {
            // A runner that is itself within the environment has its account's key there as well.
            None => keccak256(&[b"cowboy-runner-tee-key:", &runner.to_bytes()]).0,
            Some(path) => {
                let text = std::fs::read_to_string(path).map_err(|source| TeeError::File { path: path.clone(), source })?;
                parse_hex(text.trim()).map_err(|_| TeeError::Key(path.clone()))?
            }
        };
        Ok(Self { settings: settings.clone(), key: SigningKey::from(key) })
    }

    /// The key that its documents bind.
    pub fn public_key(&self) -> [u8; 32] {
        self.key.verification_key().to_bytes()
    }

    /// The call of 0x05's `attest`, with a fresh document.
    pub async fn attestation(&self, runner: &Address) -> Result<Request, String> {
        let document = match &self.settings.document {
            Some(path) => read(path)?,
            None => {
                let data = binding(*runner, &self.public_key());
                let made = tokio::time::timeout(DOCUMENT_TIMEOUT, self.document(&data)).await;
                made.map_err(|_| format!("tee.command is not done after {} s", DOCUMENT_TIMEOUT.as_secs()))??
            }
        };
        let collateral = self.settings.collateral.as_deref().map_or_else(|| Ok(Vec::new()), read)?;
        let environment = &self.settings.environment;
        let request = requests::attest(environment, document, collateral, self.public_key());
        request.ok_or_else(|| format!("tee.environment: the chain has no environment {environment:?}"))
    }

    /// Has the hardware make a document with these data in it.
    async fn document(&self, data: &Hash) -> Result<Vec<u8>, String> {
        let said = |error: std::io::Error| format!("tee.command {}: {error}", self.settings.command.join(" "));
        let (program, arguments) = self.settings.command.split_first().ok_or("tee.command is empty")?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path))).kill_on_drop(true);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().map_err(said)?;
        let mut input = child.stdin.take().expect("its standard input is a pipe");
        input.write_all(format!("{}\n", hex::encode(data.0)).as_bytes()).await.map_err(said)?;
        drop(input);
        let mut document = Vec::new();
        let output = child.stdout.take().expect("its standard output is a pipe");
        output.take(DOCUMENT_BYTES + 1).read_to_end(&mut document).await.map_err(said)?;
        if document.len() as u64 > DOCUMENT_BYTES {
            return Err(format!("tee.command writes more than {DOCUMENT_BYTES} bytes"));
        }
        let status = child.wait().await.map_err(said)?;
        if status.success() { Ok(document) } else { Err(format!("tee.command ends with {status}")) }
    }

    /// What the program says of a result. No model is zeros.
    pub fn statement(&self, job: &Hash, runner: &Address, output: &[u8], model: &Hash) -> Vec<u8> {
        let output = keccak256(&[output]);
        let signature = self.key.sign(&statement::digest(job, *runner, &output, model).0);
        Value::dict([
            ("type", Value::text(self.settings.environment.clone())),
            ("runner", Value::Bytes(runner.0.to_vec())),
            ("output", Value::Bytes(output.0.to_vec())),
            ("model", Value::Bytes(model.0.to_vec())),
            ("signature", Value::Bytes(signature.to_bytes().to_vec())),
        ])
        .encode()
    }
}

fn read(path: &std::path::Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}
