//! `cowboy volume serve` and `cowboy volume mount`: the program `cowboy-volume` does both, with what this one knows of keys, nodes and commits. Its
//! dependencies are built with it alone.

pub use super::rights::Rights;

use super::files::was_second;
use super::rights::Use;
use super::{MERGES, Which, act_encoded, keys, local, rights, size};
use crate::client::{Globals, labels, labels::Labels, session::Session};
use crate::daemon::serving::StopSignals;
use crate::send::Terms;
use clap::{Args, Parser, Subcommand};
use cowboy_api::keystore::CONFIG_DIRECTORY;
use cowboy_console::{failure::Failure, output::Output};
use cowboy_types::{Hash, Text};
use cowboy_volume::keys::PartitionKey;
use cowboy_volume::{Commit, Volume};
use cowboy_volumes::{Name, Path};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command as Process;
use tokio::sync::Mutex;

/// The program's name.
const PROGRAM: &str = "cowboy-volume";

/// What both take.
#[derive(Args, Clone, Debug)]
pub struct Common {
    #[command(flatten)]
    which: Which,
    /// Change nothing, whatever the account may do
    #[arg(long)]
    pub read_only: bool,
    /// The folder for files that are not committed yet [default: .cowboy/spool of the project]
    #[arg(long, value_name = "FOLDER")]
    pub spool: Option<PathBuf>,
    /// The most bytes of such files, like 500MiB or 4GiB
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size)]
    pub spool_size: u64,
    /// Answer with what is counted, for Prometheus, at /metrics of this address
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    #[command(flatten)]
    terms: Terms,
}

/// The arguments of `serve`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  cowboy volume serve memory --s3 127.0.0.1:9000 --credentials s3.ini")]
pub struct Serve {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9000")]
    pub s3: SocketAddr,
    /// The file with the credentials that clients sign with, in the format of AWS; made where it is missing [default: new ones, which are printed]
    #[arg(long, value_name = "FILE")]
    pub credentials: Option<PathBuf>,
    /// Listen to other computers too: what is sent there and back is not encrypted
    #[arg(long)]
    pub expose: bool,
    /// What both take.
    #[command(flatten)]
    pub common: Common,
}

/// The arguments of `mount`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  cowboy volume mount memory ./memory")]
pub struct Mount {
    /// The folder
    // Before what both take: what follows that would stand below its last heading.
    #[arg(index = 2)]
    pub folder: PathBuf,
    /// What both take.
    #[command(flatten)]
    pub common: Common,
}

/// What `cowboy-volume` does.
#[derive(Clone, Debug, Subcommand)]
pub enum Access {
    /// Serve a volume to programs that speak S3, such as rclone and boto3
    ///
    /// A partition is a bucket, and the rest of a path is a key. What is put is committed before it is answered.
    Serve(Serve),
    /// Mount a volume as a folder, where this computer has /dev/fuse
    ///
    /// A file is committed after it was closed, and before fsync returns. Ctrl-C commits what is left and unmounts.
    Mount(Mount),
}

/// Serves a volume over S3, or mounts it. `cowboy volume serve` and `cowboy volume mount` start it.
#[derive(Debug, Parser)]
#[command(name = "cowboy-volume", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Direct(Access),
    /// As `cowboy` is called
    #[command(subcommand, hide = true)]
    Volume(Access),
}

impl Access {
    /// What both take.
    pub fn common(&self) -> &Common {
        match self {
            Self::Serve(serve) => &serve.common,
            Self::Mount(mount) => &mount.common,
        }
    }
}

impl Cli {
    /// How results are printed.
    pub fn output(&self) -> Output {
        Output { json: self.globals.json }
    }

    /// What is to be done, and the volume.
    ///
    /// # Errors
    ///
    /// If the folder's configuration cannot be read, or there is no key.
    pub fn open(self) -> Result<(Access, Files), Failure> {
        let output = self.output();
        let (Command::Direct(access) | Command::Volume(access)) = self.command;
        let session = Session::open(&self.globals, output)?;
        let common = access.common();
        // Nobody is asked, each transaction has a nonce of its own, and all are waited for.
        let terms = Terms { nonce: None, no_wait: false, yes: true, ..common.terms.clone() };
        let files = Files { session, which: common.which.clone(), terms, sending: Mutex::default() };
        Ok((access, files))
    }
}

/// Has `cowboy-volume` do what the arguments say. Returns only where it does not start.
pub(super) fn hand_over() -> Failure {
    let program = match std::env::current_exe() {
        Ok(program) => program.with_file_name(PROGRAM),
        Err(error) => return Failure::Node(format!("cannot tell where this program is: {error}")),
    };
    let error = Process::new(&program).args(std::env::args_os().skip(1)).exec();
    Failure::refused(format!("{}: {error}", program.display()), "build it: cargo build --release -p cowboy-access")
}

/// A volume, for the account of this folder.
pub struct Files {
    session: Session,
    which: Which,
    terms: Terms,
    /// One transaction of the account at a time.
    sending: Mutex<()>,
}

/// The name of a volume's file in a folder of the project.
fn file_of(volume: &Volume) -> String {
    let part = |hash: &Hash| hex::encode(&hash.0[..8]);
    format!("{}-{}-{}", part(&volume.chain().genesis), part(volume.id()), volume.record().generation.0)
}

impl Files {
    /// How results are printed.
    pub fn output(&self) -> Output {
        self.session.output
    }

    /// The volume, as the chain has it now.
    ///
    /// # Errors
    ///
    /// If the chain cannot be read, or has no such volume.
    pub async fn open(&self) -> Result<Volume, Failure> {
        self.which.open(&self.session).await
    }

    /// The key of a partition. The committee is asked for it where it makes the keys and this folder has not kept it.
    ///
    /// # Errors
    ///
    /// If there is none for this account.
    pub async fn key(&self, volume: &Volume, partition: &Name) -> Result<PartitionKey, Failure> {
        let _one = self.sending.lock().await;
        // Which of its uses the account may make of it, the program knows since it began.
        keys::partition(&self.session, &self.which, volume, (partition, Use::List), &self.terms).await
    }

    /// What the account may do.
    ///
    /// # Errors
    ///
    /// If that is nothing, or the chain cannot be read.
    pub async fn rights(&self, volume: &Volume) -> Result<Rights, Failure> {
        rights::of(&self.session, &self.which, volume).await
    }

    /// Commits a change. False where somebody else was first, or another transaction of the account is under way: it has to be made anew.
    ///
    /// # Errors
    ///
    /// If the chain refuses it.
    pub async fn commit(&self, commit: &Commit) -> Result<bool, Failure> {
        let _one = self.sending.lock().await;
        match act_encoded(&self.session, "commit", &commit.argument, &self.terms).await {
            Ok(_) => Ok(true),
            Err(Failure::Api(failed)) if was_second(failed.code).is_some() => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// How often a change is made anew.
    pub const MERGES: usize = MERGES;

    /// The names of the volume's partitions that this folder knows.
    pub fn names(&self, volume: &Volume) -> Vec<Name> {
        let labels = Labels::load(&self.session.project);
        let partitions = volume.record().partitions.iter();
        let known = partitions.filter_map(|listed| labels.named(&listed.partition.to_string()).and_then(Name::new));
        let mut names: Vec<Name> = known.collect();
        names.sort();
        names
    }

    fn kept(&self, name: &str) -> PathBuf {
        self.session.project.join(CONFIG_DIRECTORY).join(name)
    }

    /// The folder of the project for files that are not committed yet.
    pub fn spool(&self) -> PathBuf {
        self.kept("spool")
    }

    /// The file of the project with removals that failed. A volume that was created again or handed over has another one.
    pub fn removals(&self, volume: &Volume) -> PathBuf {
        self.kept("removals").join(file_of(volume))
    }

    /// The same with the newest requests of S3 under conditions.
    pub fn requests(&self, volume: &Volume) -> PathBuf {
        self.kept("requests").join(file_of(volume))
    }

    /// What kind of content a file of this name is, where nobody says it.
    pub fn kind_of(path: &Path) -> Text<64> {
        local::kind_of(path)
    }

    /// Remembers the name of a partition in this folder.
    pub fn remember(&self, partition: &Name) {
        labels::keep(&self.session, &partition.partition(), partition.as_str());
    }
}

/// Ctrl-C, and what else ends a program.
pub struct Stop(StopSignals);

impl Stop {
    /// Begins to listen.
    ///
    /// # Errors
    ///
    /// If the system does not let it.
    pub fn listen() -> Result<Self, Failure> {
        StopSignals::listen().map(Self)
    }

    /// Waits for one of them.
    ///
    /// # Errors
    ///
    /// If the system does not tell.
    pub async fn wait(&mut self) -> Result<(), Failure> {
        self.0.signalled().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cowboy-volume` takes the arguments of `cowboy`, and its own without `volume`.
    #[test]
    fn both_programs_take_the_same_arguments() {
        let plain = ["serve", "memory", "--s3", "127.0.0.1:0", "--read-only", "--json"];
        for before in [&["cowboy-volume"][..], &["cowboy-volume", "volume"], &["cowboy-volume", "--network", "volume", "volume"]] {
            let arguments: Vec<&str> = before.iter().copied().chain(plain).collect();
            let cli = Cli::try_parse_from(&arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
            assert!(cli.output().json);
            let (Command::Direct(access) | Command::Volume(access)) = cli.command;
            assert!(access.common().read_only && access.common().spool_size == 4 << 30);
            assert!(matches!(access, Access::Serve(serve) if serve.s3.port() == 0 && !serve.expose));
        }
        let mount = Cli::try_parse_from(["cowboy-volume", "mount", "memory", "here"]).expect("a volume and a folder").command;
        assert!(matches!(mount, Command::Direct(Access::Mount(mount)) if mount.folder.as_os_str() == "here"));
        for wrong in [&["cowboy-volume", "mount", "memory"][..], &["cowboy-volume", "serve"], &["cowboy-volume", "volume", "list"]] {
            assert!(Cli::try_parse_from(wrong).is_err(), "{wrong:?}");
        }
    }
}
