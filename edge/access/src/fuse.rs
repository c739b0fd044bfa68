//! `cowboy volume mount`: a volume as a folder, where this computer has /dev/fuse (decision 610).
//!
//! What the kernel asks comes on threads of its own and is done where connections to relays live.

mod changes;
mod commits;
mod files;
mod journal;
mod names;
mod outage;
mod place;
mod removals;
mod staged;
#[cfg(test)]
mod tests;
mod tree;

use crate::engine::{self, Engine, Handle};
use crate::metrics::Metrics;
use crate::spool::{Spool, apart};
use bytes::Bytes;
use cowboy_cli::volumes::{Mount, Stop};
use cowboy_console::{failure::Failure, output::Output};
use cowboy_host::clock;
use cowboy_volumes::name::NAME_BYTES;
use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    KernelConfig, LockOwner, MountOption, OpenAccMode, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, Session, TimeOrNow, WriteFlags,
};
use journal::Journal;
pub(crate) use journal::left_behind;
use place::place;
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{getgid, getuid};
use staged::{Node, Open};
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::oneshot;
use tree::{FRESH, Mounted};

/// The device by which a program serves a folder.
const DEVICE: &str = "/dev/fuse";

/// The most bytes that the kernel writes at once.
const WRITE_BYTES: u32 = 1 << 20;

/// The unit in which free room is told.
const UNIT: u32 = 4_096;

/// The number of what the kernel was not told of yet.
const UNTOLD: u64 = 0xFFFF_FFFF;

/// The latest time that the kernel is told: what a writer of the volume says may be any.
const LATEST_MS: u64 = 253_402_300_799_000;

/// Flags with which a program opens a file to empty it.
const TRUNCATE: i32 = libc::O_TRUNC;

/// Hands what the kernel asks to the thread that does it.
struct Bridge {
    mounted: Handle<Mounted>,
    owner: Arc<Owner>,
    /// Tells that the folder is not mounted any more.
    ended: Option<oneshot::Sender<()>>,
}

/// Whose the files are, and what may be done with them.
struct Owner {
    uid: u32,
    gid: u32,
    writes: bool,
}

impl Owner {
    /// What the kernel is told of something.
    fn attributes(&self, number: u64, node: Node) -> FileAttr {
        let (kind, size, written_ms, perm) = match node {
            Node::Folder => (FileType::Directory, 0, 0, 0o700),
            Node::File { size, written_ms } => (FileType::RegularFile, size, written_ms, 0o600),
        };
        let time = UNIX_EPOCH + Duration::from_millis(written_ms.min(LATEST_MS));
        FileAttr {
            ino: INodeNo(number),
            size,
            blocks: size.div_ceil(512),
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind,
            perm: if self.writes { perm } else { perm & 0o500 },
            nlink: 1,
            uid: self.uid,
            gid: self.gid,
            rdev: 0,
            blksize: UNIT,
            flags: 0,
        }
    }
}

impl Mounted {
    /// Finds a name in a folder. Answers its number, of which the kernel is told once more.
    async fn lookup(&self, folder: u64, name: &OsStr) -> Result<(u64, Node), Errno> {
        // A name that no volume has is not there.
        let missing = |error: Errno| if error == Errno::EINVAL { Errno::ENOENT } else { error };
        let path = self.child(folder, name).map_err(missing)?;
        let node = self.node(&path).await?;
        Ok((self.numbers.borrow_mut().looked_up(&path), node))
    }

    async fn set(
        self: &Rc<Self>,
        number: u64,
        handle: Option<FileHandle>,
        size: Option<u64>,
        time: Option<TimeOrNow>,
    ) -> Result<Node, Errno> {
        if let Some(size) = size {
            match handle.and_then(|handle| self.handle(handle.0).ok()) {
                // Also where it was removed.
                Some(Open::Staged(staged, true)) => self.resize(&staged, size).await?,
                _ => self.truncate(&self.path(number)?, size).await?,
            }
        }
        // The time of a file is committed with its content: that of one that is not open for writing stays.
        if let (Some(time), Some(staged)) = (time, self.path(number).ok().and_then(|path| self.staged_at(&path))) {
            staged.written_ms.set(match time {
                TimeOrNow::SpecificTime(time) => clock::ms(time),
                TimeOrNow::Now => clock::now_ms(),
            });
        }
        self.known(number, handle.map(|handle| handle.0)).await
    }

    async fn open_folder(&self, number: u64) -> Result<u64, Errno> {
        let names = self.names(&self.path(number)?).await?;
        Ok(self.opened(Open::Folder(Rc::new(names.into_iter().collect()))))
    }

    /// The names in a folder that was opened, from a place on: the folder itself and the one above it come first.
    fn list(&self, number: u64, handle: u64, from: u64, mut reply: ReplyDirectory) {
        let (path, names) = match (self.path(number), self.handle(handle)) {
            (Ok(path), Ok(Open::Folder(names))) => (path, names),
            (Err(error), _) => return reply.error(error),
            _ => return reply.error(Errno::EBADF),
        };
        let fixed = [(".", number, true), ("..", UNTOLD, true)];
        let numbers = self.numbers.borrow();
        let inner = names.iter().map(|(name, is_folder)| {
            let full = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            (name.as_str(), numbers.number(&full).unwrap_or(UNTOLD), *is_folder)
        });
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        for (place, (name, number, is_folder)) in (1..).zip(fixed.into_iter().chain(inner)).skip(from) {
            let kind = if is_folder { FileType::Directory } else { FileType::RegularFile };
            if reply.add(INodeNo(number), place, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}

/// Answers with what was found, or with why it was not.
macro_rules! answer {
    ($reply:ident, $found:expr, $pattern:pat => $done:expr) => {
        match $found {
            Ok($pattern) => $done,
            Err(error) => $reply.error(error),
        }
    };
}

impl Filesystem for Bridge {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // A kernel that takes less has said so.
        let _ = config.set_max_write(WRITE_BYTES);
        Ok(())
    }

    fn destroy(&mut self) {
        if let Some(ended) = self.ended.take() {
            let _ = ended.send(());
        }
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let (name, owner) = (name.to_owned(), self.owner.clone());
        self.mounted.post(move |mounted| async move {
            answer!(reply, mounted.lookup(parent.0, &name).await, (number, node) => {
                reply.entry(&FRESH, &owner.attributes(number, node), Generation(0));
            });
        });
    }

    fn forget(&self, _: &Request, number: INodeNo, times: u64) {
        self.mounted.post(move |mounted| async move { mounted.numbers.borrow_mut().forget(number.0, times) });
    }

    fn getattr(&self, _: &Request, number: INodeNo, handle: Option<FileHandle>, reply: ReplyAttr) {
        let owner = self.owner.clone();
        self.mounted.post(move |mounted| async move {
            answer!(reply, mounted.known(number.0, handle.map(|handle| handle.0)).await, node => {
                reply.attr(&FRESH, &owner.attributes(number.0, node));
            });
        });
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let owner = self.owner.clone();
        self.mounted.post(move |mounted| async move {
            answer!(reply, mounted.set(number.0, handle, size, mtime).await, node => {
                reply.attr(&FRESH, &owner.attributes(number.0, node));
            });
        });
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, _mode: u32, _umask: u32, reply: ReplyEntry) {
        let (name, owner) = (name.to_owned(), self.owner.clone());
        self.mounted.post(move |mounted| async move {
            let made = async {
                let path = mounted.child(parent.0, &name)?;
                mounted.mkdir(&path).await?;
                Ok::<_, Errno>(mounted.numbers.borrow_mut().looked_up(&path))
            };
            answer!(reply, made.await, number => {
                reply.entry(&FRESH, &owner.attributes(number, Node::Folder), Generation(0));
            });
        });
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let name = name.to_owned();
        self.mounted.post(move |mounted| async move {
            let done = match mounted.child(parent.0, &name) {
                Ok(path) => mounted.unlink(&path).await,
                Err(error) => Err(error),
            };
            answer!(reply, done, () => reply.ok());
        });
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let name = name.to_owned();
        self.mounted.post(move |mounted| async move {
            let done = match mounted.child(parent.0, &name) {
                Ok(path) => mounted.rmdir(&path).await,
                Err(error) => Err(error),
            };
            answer!(reply, done, () => reply.ok());
        });
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let (name, newname) = (name.to_owned(), newname.to_owned());
        self.mounted.post(move |mounted| async move {
            let done = async {
                if !RenameFlags::RENAME_NOREPLACE.contains(flags) {
                    return Err(Errno::EINVAL);
                }
                let (from, to) = (mounted.child(parent.0, &name)?, mounted.child(newparent.0, &newname)?);
                mounted.rename(&from, &to, flags.is_empty()).await
            };
            answer!(reply, done.await, () => reply.ok());
        });
    }

    fn open(&self, _: &Request, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let (writes, truncates) = (flags.acc_mode() != OpenAccMode::O_RDONLY, flags.0 & TRUNCATE != 0);
        self.mounted.post(move |mounted| async move {
            let opened = match mounted.path(number.0) {
                Ok(path) => mounted.open(&path, writes, truncates && writes).await,
                Err(error) => Err(error),
            };
            answer!(reply, opened, handle => reply.opened(FileHandle(handle), FopenFlags::empty()));
        });
    }

    fn create(&self, _: &Request, parent: INodeNo, name: &OsStr, _mode: u32, _umask: u32, _flags: i32, reply: ReplyCreate) {
        let (name, owner) = (name.to_owned(), self.owner.clone());
        self.mounted.post(move |mounted| async move {
            let made = async {
                let path = mounted.child(parent.0, &name)?;
                let (node, handle) = mounted.create(&path).await?;
                Ok::<_, Errno>((mounted.numbers.borrow_mut().looked_up(&path), node, handle))
            };
            answer!(reply, made.await, (number, node, handle) => {
                reply.created(&FRESH, &owner.attributes(number, node), Generation(0), FileHandle(handle), FopenFlags::empty());
            });
        });
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.mounted.post(move |mounted| async move {
            mounted.follow(number.0, handle.0);
            answer!(reply, mounted.read(handle.0, offset, size).await, bytes => reply.data(&bytes));
        });
    }

    fn write(
        &self,
        _: &Request,
        _number: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        write_flags: WriteFlags,
        flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let data = Bytes::copy_from_slice(data);
        // The kernel may know an older length. What comes out of its cache has its place.
        let appends = flags.0 & libc::O_APPEND != 0 && !write_flags.contains(WriteFlags::FUSE_WRITE_CACHE);
        let offset = Some(offset).filter(|_| !appends);
        self.mounted.post(move |mounted| async move {
            answer!(reply, mounted.write(handle.0, offset, data).await, length => reply.written(length));
        });
    }

    fn flush(&self, _: &Request, _number: INodeNo, _handle: FileHandle, _owner: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        _number: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        self.mounted.post(move |mounted| async move {
            mounted.close(handle.0);
            reply.ok();
        });
    }

    fn fsync(&self, _: &Request, number: INodeNo, handle: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        self.mounted.post(move |mounted| async move {
            answer!(reply, mounted.sync(number.0, handle.0).await, () => reply.ok());
        });
    }

    fn opendir(&self, _: &Request, number: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        self.mounted.post(move |mounted| async move {
            let opened = mounted.open_folder(number.0).await;
            answer!(reply, opened, handle => reply.opened(FileHandle(handle), FopenFlags::empty()));
        });
    }

    fn readdir(&self, _: &Request, number: INodeNo, handle: FileHandle, offset: u64, reply: ReplyDirectory) {
        self.mounted.post(move |mounted| async move { mounted.list(number.0, handle.0, offset, reply) });
    }

    fn releasedir(&self, _: &Request, _number: INodeNo, handle: FileHandle, _flags: OpenFlags, reply: ReplyEmpty) {
        self.mounted.post(move |mounted| async move {
            mounted.close(handle.0);
            reply.ok();
        });
    }

    fn fsyncdir(&self, _: &Request, _number: INodeNo, _handle: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        self.mounted.post(move |mounted| async move {
            answer!(reply, mounted.sync_all().await, () => reply.ok());
        });
    }

    fn statfs(&self, _: &Request, _number: INodeNo, reply: ReplyStatfs) {
        self.mounted.post(move |mounted| async move {
            answer!(reply, mounted.heard(mounted.engine.space().await), space => {
                let free = space.quota.saturating_sub(space.used) / u64::from(UNIT);
                let longest = u32::try_from(NAME_BYTES).unwrap_or(u32::MAX);
                reply.statfs(space.quota / u64::from(UNIT), free, free, 0, 0, UNIT, longest, UNIT);
            });
        });
    }
}

/// Mounts a folder and serves it.
fn session(folder: &Path, bridge: Bridge) -> io::Result<BackgroundSession> {
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName("cowboy-volume".to_owned()),
        MountOption::DefaultPermissions,
        MountOption::NoSuid,
        MountOption::NoDev,
        MountOption::NoAtime,
        if bridge.owner.writes { MountOption::RW } else { MountOption::RO },
    ];
    Session::new(bridge, folder, &config)?.spawn()
}

/// Mounts a volume until told to stop, or until somebody unmounts it; then commits what is left. Removals that fail are kept in the file `removals`.
pub(crate) async fn mount(
    options: &Mount,
    (engine, spool): (Rc<Engine>, Spool),
    removals: &Path,
    metrics: Arc<Metrics>,
    output: Output,
    mut stop: Stop,
) -> Result<(), Failure> {
    if !Path::new(DEVICE).exists() {
        return Err(Failure::refused(format!("this computer has no {DEVICE}"), "load the module fuse, or use `cowboy volume serve`"));
    }
    if !engine.rights().reads {
        return Err(Failure::refused(
            "the capability writes, and reads nothing",
            "use `cowboy volume put` or `cowboy volume serve` with it",
        ));
    }
    let folder = place(&options.folder, spool.folder())?;
    let (journal, failed) = Journal::open(removals).map_err(Failure::file(removals))?;
    let owner = Arc::new(Owner { uid: getuid().as_raw(), gid: getgid().as_raw(), writes: engine.rights().writes });
    let mounted = Mounted::new(engine, spool, journal, metrics, output);
    mounted.adopt(failed);
    let (handle, serving) = engine::serve(mounted.clone());
    let serving = tokio::task::spawn_local(serving);
    let (ended, is_over) = oneshot::channel();
    let bridge = Bridge { mounted: handle, owner, ended: Some(ended) };
    let place = folder.clone();
    let session = apart(move || session(&place, bridge)).await.map_err(Failure::file(&folder))?;
    output.result(&serde_json::json!({ "mounted": folder }), format_args!("ready: {}", folder.display()));
    let (stopped, is_mounted) = tokio::select! {
        stopped = stop.wait() => (stopped, true),
        _ = is_over => (Ok(()), false),
    };
    // What is in use is committed before it is unmounted, and what is written meanwhile after that.
    mounted.settle().await;
    // Where somebody unmounted it, what is at the folder now is another one's.
    if apart(move || session.umount_and_join()).await.is_err() && is_mounted {
        output.progress(format_args!("{} is in use: what is written from now on is lost", folder.display()));
        // Whoever has it open keeps it; the folder is free.
        let _ = unmount(&folder, UnmountFlags::DETACH);
    }
    mounted.settle().await;
    serving.abort();
    match mounted.left_over() {
        None => stopped,
        Some(said) => Err(Failure::Node(said)),
    }
}
