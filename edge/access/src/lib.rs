//! Volumes for programs that do not know them: over S3, and as a mounted folder.
//!
//! `cowboy volume serve` and `cowboy volume mount` start the program `cowboy-volume`, so that what this crate depends on is
//! built only with it (decision 611).
//!
//! - `store`: a volume, with its relays.
//! - `engine`: finds files, sends them, and commits several changes at once.
//! - `spool`: files that are not committed yet.
//! - `s3`: the operations of S3. `fuse`: the mounted folder.
//! - `metrics`: what the program counts.

mod engine;
mod fault;
mod fuse;
mod metrics;
mod s3;
mod spool;
mod store;
#[cfg(any(test, feature = "testing"))]
mod testing;

#[cfg(test)]
extern crate self as cowboy_access;

#[cfg(any(test, feature = "testing"))]
pub use s3::probe;

use clap::Parser as _;
use cowboy_cli::volumes::{Access, Cli, Common, Files, Stop};
use cowboy_console::{failure::Failure, output::Output};
use engine::{Engine, Requests};
use metrics::Metrics;
use spool::Spool;
use std::ffi::OsString;
use std::process::ExitCode;
use store::Remote;
use tokio::runtime::Builder;
use tokio::task::LocalSet;

/// Does what the arguments say. Answers the exit code: 0 done, 1 failed, 2 usage.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(refusal) => {
            // Help goes to stdout with code 0, mistakes to stderr with code 2. A closed pipe is no failure.
            let _ = refusal.print();
            return ExitCode::from(u8::try_from(refusal.exit_code()).unwrap_or(2));
        }
    };
    let output = cli.output();
    match act(cli, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output.failure(&failure);
            failure.exit_code()
        }
    }
}

fn act(cli: Cli, output: Output) -> Result<(), Failure> {
    let (access, files) = cli.open()?;
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| Failure::Node(error.to_string()))?;
    LocalSet::new().block_on(&runtime, work(access, files, output))
}

/// The room for files that are not committed yet: the folder that was named, or the project's.
fn room(common: &Common, files: &Files) -> Result<Spool, Failure> {
    match &common.spool {
        Some(folder) => Spool::open(folder, common.spool_size).map_err(Failure::file(folder)),
        None => {
            let folder = files.spool();
            Spool::own(&folder, common.spool_size).map_err(Failure::file(folder))
        }
    }
}

/// Serves or mounts the volume until told to stop.
async fn work(access: Access, files: Files, output: Output) -> Result<(), Failure> {
    let volume = files.open().await?;
    let rights = files.rights(&volume).await?;
    // Not before: at the question for a passphrase, the system ends the program at once.
    let stop = Stop::listen()?;
    let common = access.common();
    let (spool, removals, metrics) = (room(common, &files)?, files.removals(&volume), Metrics::new());
    let requests = files.requests(&volume);
    if let Some(address) = common.metrics {
        let (metrics, spool) = (metrics.clone(), spool.clone());
        let listening = cowboy_serve::metrics::listen(address, move || metrics.page(&spool)).await;
        let (address, answering) = listening.map_err(|error| Failure::Node(format!("cannot listen at {address}: {error}")))?;
        tokio::task::spawn_local(answering);
        output.progress(format_args!("metrics: http://{address}{}", cowboy_serve::metrics::PATH));
    }
    let engine = Engine::new(Box::new(Remote::new(files, volume, rights)), common.read_only);
    if !engine.rights().writes {
        output.progress("files may be read, and not written");
    }
    match &access {
        Access::Serve(options) => {
            if let Some(said) = fuse::left_behind(&removals) {
                output.progress(said);
            }
            engine.remember(Requests::open(&requests).map_err(Failure::file(&requests))?);
            let (handle, serving) = engine::serve(engine.clone());
            let serving = tokio::task::spawn_local(serving);
            let served = s3::serve(options, handle, spool, output, stop).await;
            engine.settle().await;
            serving.abort();
            served
        }
        Access::Mount(options) => fuse::mount(options, (engine, spool), &removals, metrics, output, stop).await,
    }
}
