//! Why a node that ran has ended by itself, in words.
//!
//! The engine stops at the first error of the disk, by a panic, so that nothing is half-written: what was not acknowledged is
//! executed again at the next start. Here its exit reason becomes an error with a name, and the report that a panic prints is left out
//! where the error says as much ([decision 715](../../../docs/decisions/0715-failures-are-one-sentence.md)), for panics of a node alone
//! ([decision 738](../../../docs/decisions/0738-panics-elsewhere-are-reported.md)).

use crate::error::NodeError;
use cowboy_store::StoreError;
use rustix::process::{Resource, getrlimit};
use std::{
    any::Any,
    cell::RefCell,
    fs,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::runtime::{Handle, Id};

/// How operating systems say that a file may not grow, in the words of the standard library's errors.
const NO_ROOM: [&str; 2] = ["StorageFull", "QuotaExceeded"];

/// What the system calls a write beyond the limit of a file's size.
const FILE_TOO_LARGE: &str = "File too large";

/// How the standard library and the engine say that a limit of this process was met, which limit that is, and what to do.
const LIMITS: [(&[&str], &str, &str); 2] = [
    (
        &["Too many open files", "os error 24", "os error 23"],
        "the process has no file descriptors left (RLIMIT_NOFILE)",
        "raise the limit with `ulimit -n 4096`, or with LimitNOFILE=4096 in the systemd unit",
    ),
    (
        &["FileTooLarge", FILE_TOO_LARGE, "os error 27"],
        "a file may not grow beyond this process's limit of a file's size (RLIMIT_FSIZE)",
        "remove the limit with `ulimit -f unlimited`, or with LimitFSIZE=infinity in the systemd unit",
    ),
];

/// How the engine says that a write failed where it leaves the system's reason out.
const WRITE_FAILED: &str = "WriteFailed";

/// With less space than this a node does not start, and a write of the engine may have failed for want of it: more than the engine writes at once.
const FULL_BELOW: u64 = 8 << 20;

/// How the engine's parts say that what they find on the disk does not fit together.
const DAMAGED: [&str; 13] = [
    "marshal must return",
    "BlobCorrupt",
    "database init failed",
    "stateful actor dropped",
    "Corruption",
    "ChecksumMismatch",
    "the archive of",
    "failed to initialize",
    "failed to load",
    "failed to replay",
    "unable to open",
    "unable to replay",
    LOST_VOTES,
];

/// How the operating system's own refusals look: they are no damage.
const SYSTEM: &str = "os error";

/// What is said of a port that cannot be had.
const PORT: &str = "bind";

/// What a lone validator says whose votes are gone.
const LOST_VOTES: &str = "the engine's record of its votes is lost";

/// Where a node is between its start and its end. Clones share it.
///
/// A process has one hook for panics. What panics on the node's thread or in the runtime there ends the node, whose error tells of it; what panics anywhere else
/// in the process is none of its business.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phase {
    is_running: Arc<AtomicBool>,
}

thread_local! {
    /// The node whose thread this is.
    static OF_THREAD: RefCell<Option<Phase>> = const { RefCell::new(None) };
}

/// The runtimes of the nodes of this process.
static RUNTIMES: Mutex<Vec<(Id, Phase)>> = Mutex::new(Vec::new());

fn runtimes() -> MutexGuard<'static, Vec<(Id, Phase)>> {
    RUNTIMES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Phase {
    /// The node runs: an error that it ends with from now on is one while running.
    pub(crate) fn run(&self) {
        self.is_running.store(true, Ordering::Release);
    }

    fn is_running(&self) -> bool {
        self.is_running.load(Ordering::Acquire)
    }

    /// As long as this is held, the thread that asks is the node's.
    pub(crate) fn of_thread(&self) -> OfThread {
        OF_THREAD.set(Some(self.clone()));
        OfThread(self.clone())
    }

    /// From now on the runtime of the task that asks is the node's: until its thread is no more, because what panics while a runtime ends belongs to it, too.
    pub(crate) fn of_runtime(&self) {
        runtimes().push((Handle::current().id(), self.clone()));
    }

    /// The phase of the node of which this thread runs a part; none where it runs something else.
    fn current() -> Option<Self> {
        // A thread that ends has none any more.
        if let Ok(Some(phase)) = OF_THREAD.try_with(|phase| phase.borrow().clone()) {
            return Some(phase);
        }
        let current = Handle::try_current().ok()?.id();
        runtimes().iter().find(|(id, _)| *id == current).map(|(_, phase)| phase.clone())
    }
}

/// The thread of a node.
pub(crate) struct OfThread(Phase);

impl Drop for OfThread {
    fn drop(&mut self) {
        OF_THREAD.set(None);
        runtimes().retain(|(_, phase)| !Arc::ptr_eq(&phase.is_running, &self.0.is_running));
    }
}

/// Whether the error with which a node ends, or does not start, tells what the panic of this thread says: a report of the panic is of use only to who develops
/// the node. What panics outside of a node is never explained, whatever it says.
pub fn is_explained(payload: &(dyn Any + Send)) -> bool {
    Phase::current().is_some_and(|phase| !phase.is_running() || has_name(&last_words(payload)))
}

/// Whether these words are about the disk, a limit or damaged files, which no defect of the node is.
fn has_name(words: &str) -> bool {
    let is_known = [WRITE_FAILED, SYSTEM].iter().chain(&DAMAGED).any(|sign| words.contains(sign));
    is_known || !matches!(named(words), NodeError::Ended(_))
}

/// What a thread said when it panicked.
pub(crate) fn last_words(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_else(|| "the log says why".into())
}

/// The error that a node ended with, from its exit reason.
pub(crate) fn named(last_words: &str) -> NodeError {
    let met = LIMITS.iter().find(|(signs, ..)| signs.iter().any(|sign| last_words.contains(sign)));
    if let Some((_, limit, fix)) = met {
        return NodeError::Limit { limit, fix };
    }
    let full = StoreError::DiskFull;
    let is_full = NO_ROOM.iter().any(|kind| last_words.contains(kind)) || last_words.contains(&full.to_string());
    if is_full { full.into() } else { NodeError::Ended(last_words.to_owned()) }
}

/// The error of a node in this folder that ended with these words while it ran; this block is the newest final one.
pub(crate) fn while_running(last_words: &str, directory: &Path, number: u64) -> NodeError {
    named_in(last_words, directory, number, DAMAGED.iter().any(|word| last_words.contains(word)))
}

/// The same of a node that ended before it was ready. The engine's parts stop in many words over files that do not fit together; with
/// whole files only the system's refusals and ports keep them from starting.
pub(crate) fn at_start(last_words: &str, directory: &Path, number: u64) -> NodeError {
    named_in(last_words, directory, number, !last_words.contains(PORT))
}

fn named_in(last_words: &str, directory: &Path, number: u64, is_damage: bool) -> NodeError {
    match named(last_words) {
        NodeError::Ended(words) if (is_damage || words.contains(WRITE_FAILED)) && is_on_full_disk(directory) => StoreError::DiskFull.into(),
        NodeError::Ended(words) if words.contains(WRITE_FAILED) && has_file_at_limit(directory) => named(FILE_TOO_LARGE),
        NodeError::Ended(words) if is_damage && !words.contains(SYSTEM) => {
            let reason = words.lines().next().unwrap_or_default().to_owned();
            NodeError::Damaged { directory: directory.to_owned(), number, reason }
        }
        other => other,
    }
}

/// Whether the disk of this folder has no space left. It is not where nobody can tell.
pub(crate) fn is_on_full_disk(directory: &Path) -> bool {
    cowboy_serve::free_bytes(directory).is_ok_and(|free| free < FULL_BELOW)
}

/// Whether a file in this folder or below it has reached the size that this process's files may have.
fn has_file_at_limit(directory: &Path) -> bool {
    let Some(limit) = getrlimit(Resource::Fsize).current else { return false };
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) if found.len() >= limit => return true,
                // What cannot be read is not what was written.
                Ok(_) | Err(_) => {}
            }
        }
    }
    false
}

/// Ends a lone validator that is asked to build on a block long final: the engine has lost its votes, and would write
/// another history beside the one that was acknowledged.
///
/// A block or two may be final and not yet known to the engine that was stopped then.
pub(crate) fn assert_goes_on(parent: u64, newest: u64) {
    assert!(parent.saturating_add(2) >= newest, "{LOST_VOTES}: it asks for block {} and block {newest} is final", parent + 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn last_words_get_a_name() {
        let of_kind = |kind: io::ErrorKind| format!("unable to sync journal: Runtime(Io({:?}))", io::Error::from(kind));
        let rows = [
            (of_kind(io::ErrorKind::StorageFull), true),
            (of_kind(io::ErrorKind::QuotaExceeded), true),
            (format!("a final block cannot be written to the ledger: {}", StoreError::DiskFull), true),
            // As the system itself says it, for Linux: ENOSPC.
            (format!("failed: {:?}", io::Error::from_raw_os_error(28)), cfg!(target_os = "linux")),
            (of_kind(io::ErrorKind::PermissionDenied), false),
            ("anything else".into(), false),
        ];
        for (words, is_full) in rows {
            let named = named(&words);
            assert_eq!(matches!(named, NodeError::Store(StoreError::DiskFull)), is_full, "{words}");
            assert!(is_full || named.to_string().contains(&words), "{named}");
        }
    }

    /// The engine does not say why a write failed. Where the disk has no space left, it was that: `/proc` is a file system without any.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_write_that_failed_on_a_full_disk_gets_a_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let words = "unable to append to journal: Runtime(WriteFailed)";
        for (folder, words, is_full) in
            [(Path::new("/proc"), words, true), (Path::new("/proc"), "anything", false), (folder.path(), words, false)]
        {
            let error = while_running(words, folder, 80);
            assert_eq!(matches!(error, NodeError::Store(StoreError::DiskFull)), is_full, "{words}: {error}");
        }
        let cut = at_start("failed to initialize verified archive", Path::new("/proc"), 80);
        assert!(matches!(cut, NodeError::Store(StoreError::DiskFull)), "nothing is damaged: {cut}");
    }

    /// Limits of the process are told by name, with what to do.
    #[test]
    fn limits_get_a_name() {
        let rows = [
            (
                "unable to append to journal: Runtime(BlobOpenFailed(\"cowboy-simplex\", \"00\", Os { code: 24, kind: Uncategorized, message: \"Too many open files\" }))".to_owned(),
                "ulimit -n",
            ),
            (format!("cannot open: {}", io::Error::from_raw_os_error(24)), "ulimit -n"),
            (format!("unable to sync journal: Runtime(Io({:?}))", io::Error::from(io::ErrorKind::FileTooLarge)), "ulimit -f"),
            (format!("the ledger cannot be used: I/O error: {}", io::Error::from_raw_os_error(27)), "ulimit -f"),
        ];
        for (words, fix) in rows {
            for error in [named(&words), at_start(&words, Path::new("/chains/one"), 80)] {
                assert!(matches!(error, NodeError::Limit { .. }) && error.to_string().contains(fix), "{words}: {error}");
            }
        }
    }

    /// What the engine says of damaged files gets a name, with the folder and the way out.
    #[test]
    fn damage_gets_a_name() {
        let rows = [
            ("database init failed: TargetMismatch { expected: 1, recovered: 0 }", true),
            ("database init failed: Database(Journal(Corruption(\"blob 0\")))\nmore", true),
            ("stateful actor dropped during subscribe_databases: RecvError(())", true),
            ("the archive of blocks opens: ChecksumMismatch(1, 2)", true),
            ("the engine's record of its votes is lost: it asks for block 1 and block 80 is final", true),
            ("failed to initialize verified archive: Journal(MissingBlob(3))", true),
            ("marshal must return completed state sync block", true),
            ("the engine failed: Runtime(BlobCorrupt(\"cowboy-simplex\", \"03\", \"invalid header padding\"))", true),
            ("unable to open voter journal: Runtime(BlobOpenFailed(\"cowboy-simplex\", Too many open files (os error 24)))", false),
            ("unable to bind 127.0.0.1:3000", false),
        ];
        for (words, is_damaged) in rows {
            for error in [at_start(words, Path::new("/chains/one"), 80), while_running(words, Path::new("/chains/one"), 80)] {
                assert_eq!(matches!(error, NodeError::Damaged { number: 80, .. }), is_damaged, "{words}");
                let said = error.to_string();
                assert!(
                    !is_damaged || said.contains("/chains/one") && said.contains("snapshot import") && !said.contains("more"),
                    "{said}"
                );
            }
        }
        let unknown = "processed position must be backed by a stored block";
        assert!(matches!(at_start(unknown, Path::new("/chains/one"), 80), NodeError::Damaged { .. }), "whatever is said at the start");
        assert!(matches!(while_running(unknown, Path::new("/chains/one"), 80), NodeError::Ended(_)));
        let full = format!("database init failed: {:?}", io::Error::from(io::ErrorKind::StorageFull));
        assert!(matches!(at_start(&full, Path::new("/chains/one"), 80), NodeError::Store(StoreError::DiskFull)), "{full}");
    }

    /// Decision 715: what the node's error tells is not reported as a panic, and defects are.
    #[test]
    fn panics_with_a_name_are_explained_by_the_error() {
        let rows = [
            ("a final block cannot be written to the ledger: I/O error: No space left on device (os error 28)", true),
            ("unable to append to journal: Runtime(WriteFailed)", true),
            ("stateful actor dropped during subscribe_databases: RecvError(())", true),
            ("cannot open: Os { code: 24, kind: Uncategorized, message: \"Too many open files\" }", true),
            ("index out of bounds: the len is 3 but the index is 7", false),
        ];
        for (words, is_named) in rows {
            assert_eq!(has_name(words), is_named, "{words}");
        }
        let ended = std::panic::catch_unwind(|| -> u8 { crate::ending::end("epoch-2 cannot be read".to_owned()) }).expect_err("it ends");
        assert_eq!(last_words(&*ended), "epoch-2 cannot be read");
    }

    /// Decision 738: only what panics on a node's own thread, or in its runtime, is explained by the node's error, and by its name alone once the node runs.
    #[test]
    fn panics_outside_of_a_node_are_reported() {
        let [named, unknown] =
            ["cannot open: No space left on device (os error 28)", "processed position must be backed by a stored block"];
        let explained = move || [named, unknown].map(|words| is_explained(&words));
        let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("a runtime");
        let inside = |runtime: &tokio::runtime::Runtime| {
            let task = runtime.block_on(async move { tokio::spawn(async move { explained() }).await.expect("it ends") });
            let blocking = runtime.block_on(async move { tokio::task::spawn_blocking(explained).await.expect("it ends") });
            [task, blocking]
        };
        let (node, other, phase) = (runtime(), runtime(), Phase::default());
        let elsewhere = || (std::thread::spawn(explained).join().expect("it ends"), inside(&other));
        let reported = ([false; 2], [[false; 2]; 2]);
        assert_eq!((explained(), inside(&node)), reported, "no node is here");
        let thread = phase.of_thread();
        node.block_on(async { phase.of_runtime() });
        assert_eq!((explained(), inside(&node)), ([true; 2], [[true; 2]; 2]), "the error of the start tells everything");
        assert_eq!(elsewhere(), reported);
        phase.run();
        assert_eq!((explained(), inside(&node)), ([true, false], [[true, false]; 2]), "a defect, though the node runs");
        assert_eq!(elsewhere(), reported);
        drop(thread);
        assert_eq!((explained(), inside(&node)), reported, "the node is gone");
    }

    #[test]
    fn a_lone_validator_rewrites_no_history() {
        for (parent, newest) in [(0, 0), (0, 2), (80, 82), (83, 82)] {
            assert_goes_on(parent, newest);
        }
        let words = std::panic::catch_unwind(|| assert_goes_on(0, 80)).expect_err("eighty blocks would be written anew");
        assert!(last_words(&*words).starts_with(LOST_VOTES));
    }
}
