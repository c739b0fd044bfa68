//! `cowboy image`: container images are packed, verified, pushed to registries, and allowed (003 §9; decision 162).

mod allow;
mod local;
mod transfer;

use super::session::Session;
use crate::send::Terms;
use clap::{Args, Subcommand};
use cowboy_console::failure::Failure;
use cowboy_image::{Digest, ImageError, Layout, Limits, Platform, read_archive};
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
#[command(after_help = "A job names an image by its digest, and the chain has to allow it:
  cowboy image pack --program target/x86_64-unknown-linux-musl/release/app --out app.tar
  cowboy image verify app.tar
  cowboy image push app.tar oci://registry.example.com/team/app:v1
  cowboy image allow app.tar
  cowboy image list")]
pub(crate) enum Image {
    /// Make an image out of a directory or a program; the same files give the same bytes on every computer
    #[command(after_help = "Examples:
  cowboy image pack --program ./app --out app.tar
  cowboy image pack --rootfs ./rootfs --entrypoint /app --env LANG=C --cmd --all --out app.tar
  cowboy image pack --rootfs ./rootfs --entrypoint python3 --entrypoint /main.py --out app.tar")]
    Pack(Pack),
    /// Check an image as a runner does: digests, layers, links, limits
    #[command(after_help = "Example:
  cowboy image verify app.tar")]
    Verify {
        #[command(flatten)]
        which: Which,
    },
    /// Show what an image is, without reading its layers
    Show {
        #[command(flatten)]
        which: Which,
    },
    /// Push an image to a registry
    #[command(after_help = "Examples:
  cowboy image push app.tar oci://registry.example.com/team/app:v1 --user me --password-file token.txt
  cowboy image push app.tar oci://localhost:5000/app")]
    Push {
        #[command(flatten)]
        which: Which,
        /// Where it goes: oci://HOST/NAME, and :TAG if you like; without TLS on this computer only
        #[arg(value_name = "ADDRESS")]
        to: String,
        #[command(flatten)]
        credentials: Credentials,
    },
    /// Get an image from a registry into a file, to look at it before it is allowed
    #[command(after_help = "Example:
  cowboy image pull oci://registry.example.com/team/app@sha256:… --out app.tar")]
    Pull {
        /// oci://HOST/NAME@sha256:…
        #[arg(value_name = "ADDRESS")]
        from: String,
        /// The file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// linux/amd64 or linux/arm64, of an image for both
        #[arg(long, value_parser = platform, default_value = "linux/amd64")]
        platform: Platform,
        #[command(flatten)]
        credentials: Credentials,
    },
    /// Have jobs run an image: at once on a dev chain, elsewhere by a proposal to governance
    #[command(after_help = "Examples:
  cowboy image allow app.tar
  cowboy image allow app@sha256:…")]
    Allow(Decide),
    /// Forbid an image that was allowed, in the same way
    Forbid(Decide),
    /// List the images that jobs may run
    List {
        /// Forbidden images, too
        #[arg(long)]
        all: bool,
    },
}

/// What becomes an image.
#[derive(Args, Debug)]
pub(crate) struct Pack {
    /// The directory whose contents are the root of the image
    #[arg(long, value_name = "DIR", required_unless_present = "program")]
    rootfs: Option<PathBuf>,
    /// A statically linked program, which becomes /app
    #[arg(long, value_name = "FILE", conflicts_with = "rootfs")]
    program: Option<PathBuf>,
    /// What starts: a program of the image; again for its first arguments
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    entrypoint: Vec<String>,
    /// An argument after the entrypoint, which a job may replace; again for more
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    cmd: Vec<String>,
    /// A variable; again for more
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// The directory in which the program starts
    #[arg(long, value_name = "DIR", default_value = "/")]
    workdir: String,
    /// linux/amd64 or linux/arm64 [default: what the program is for]
    #[arg(long, value_parser = platform)]
    platform: Option<Platform>,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Do not look whether the entrypoint is in the directory and can start
    #[arg(long)]
    unchecked: bool,
}

/// An image on this computer.
#[derive(Args, Debug)]
pub(crate) struct Which {
    /// The image: a file, or the directory of an OCI layout
    #[arg(value_name = "IMAGE")]
    image: PathBuf,
    /// Which one, if there are several
    #[arg(long, value_name = "DIGEST")]
    digest: Option<Digest>,
}

/// Who asks a registry.
#[derive(Args, Debug)]
pub(crate) struct Credentials {
    /// Your name at the registry
    #[arg(long, env = "COWBOY_REGISTRY_USER", requires = "password_file")]
    user: Option<String>,
    /// The file with your password or token there
    #[arg(long, value_name = "FILE", env = "COWBOY_REGISTRY_PASSWORD_FILE", requires = "user")]
    password_file: Option<PathBuf>,
}

/// A decision about an image.
#[derive(Args, Debug)]
pub(crate) struct Decide {
    /// The image: a file, a directory, or NAME@sha256:…
    #[arg(value_name = "IMAGE")]
    image: String,
    /// Its name in the list [default: that of the file, or what stands before the @]
    #[arg(long)]
    name: Option<String>,
    /// The deposit of the proposal: base units, or CBY like 1000cby [default: that of its tier]
    #[arg(long)]
    deposit: Option<String>,
    #[command(flatten)]
    terms: Terms,
}

fn platform(text: &str) -> Result<Platform, String> {
    Platform::ALL
        .into_iter()
        .find(|platform| platform.to_string() == text)
        .ok_or_else(|| format!("{text:?} is not a platform of runners: give linux/amd64 or linux/arm64"))
}

impl Image {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Pack(pack) => local::pack(session, &pack),
            Self::Verify { which } => local::verify(session, &which),
            Self::Show { which } => local::show(session, &which),
            Self::Push { which, to, credentials } => transfer::push(session, &which, &to, &credentials).await,
            Self::Pull { from, out, platform, credentials } => transfer::pull(session, &from, &out, platform, &credentials).await,
            Self::Allow(decide) => allow::decide(session, &decide, true).await,
            Self::Forbid(decide) => allow::decide(session, &decide, false).await,
            Self::List { all } => allow::list(session, all).await,
        }
    }
}

/// An image of a file or a directory. A file is read into a temporary directory, which is removed with this value.
struct Opened {
    layout: Layout,
    digest: Digest,
    _folder: Option<tempfile::TempDir>,
}

impl Which {
    fn open(&self) -> Result<Opened, Failure> {
        let (layout, folder) = if self.image.is_dir() {
            (Layout::open(&self.image).map_err(failure)?, None)
        } else {
            let folder = tempfile::tempdir().map_err(Failure::file(std::env::temp_dir()))?;
            (read_archive(&self.image, &folder.path().join("layout"), Limits::default()).map_err(failure)?, Some(folder))
        };
        let digest = self.digest.map_or_else(|| layout.only(), Ok).map_err(failure)?;
        Ok(Opened { layout, digest, _folder: folder })
    }

    /// How a job names the image.
    fn reference(&self, digest: &Digest) -> String {
        format!("{}@{digest}", name_of(&self.image))
    }
}

/// A name for people out of a file's: printable, and without an @, which separates names from digests.
fn name_of(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name: String = stem.chars().filter(|letter| letter.is_ascii_graphic() && *letter != '@').take(128).collect();
    if name.is_empty() { "image".into() } else { name }
}

/// Why an image is refused, and what to do about it.
fn failure(error: ImageError) -> Failure {
    let fix = match &error {
        ImageError::WrongDigest { .. } | ImageError::WrongSize { .. } | ImageError::WrongDiffId { .. } | ImageError::MissingBlob { .. } => {
            "it was damaged or changed: get it again, or pack it again"
        }
        ImageError::NotLayout { .. } => {
            "give a file of `cowboy image pack`, of `docker buildx build --output type=oci` or of `skopeo copy … oci-archive:`, or the directory of an OCI layout"
        }
        ImageError::TooLarge { .. } | ImageError::TooCompressed { .. } | ImageError::TooManyEntries { .. } => {
            "make it smaller; a job's files can be in a volume"
        }
        ImageError::Registry { .. } => "check the address, and the name and password there",
        _ => "docs/images.md says what an image must be",
    };
    match error {
        ImageError::Io { path, error, .. } => Failure::File { path, source: error },
        error => Failure::Refused { what: error.to_string(), fix: fix.into() },
    }
}
