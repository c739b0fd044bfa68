//! The tree of an image while it is unpacked.
//!
//! Every path is resolved by the kernel with the tree as its root (`openat2` with `RESOLVE_IN_ROOT`), so that no link of a layer leads out of
//! it. Only the directory of an entry is resolved; the last name is used relative to it and never followed.

use crate::{
    entries::{Budget, EntryPath},
    error::ImageError,
    walk,
};
use rustix::{
    fd::{AsFd as _, OwnedFd},
    fs::{AtFlags, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Timespec, Timestamps, Uid},
    io::Errno,
};
use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, Read, Write as _},
    path::Path,
};

/// How deep directories may nest. Walks over a tree keep one file open for each level.
pub const MAX_TREE_DEPTH: u16 = 256;
/// As many entries count where links are followed on the way to one: there may be forty, each with a thousand names.
const LINK_ENTRIES: u64 = 100;
/// The latest time that file systems keep.
const MAX_SECONDS: u64 = 0x3_7FFF_FFFF;

/// Why an entry cannot be put into the tree.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The entry is refused.
    Refused(String),
    /// A limit, with its own error.
    Limit(ImageError),
}

impl From<Errno> for Failure {
    fn from(error: Errno) -> Self {
        Self::from(io::Error::from(error))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

fn refused<T>(reason: &str) -> Result<T, Failure> {
    Err(Failure::Refused(reason.into()))
}

/// The tree of an image while it is unpacked.
pub(crate) struct Tree<'a> {
    root: OwnedFd,
    owner: Option<(Uid, Gid)>,
    budget: &'a RefCell<Budget>,
    /// The depth of each directory, by inode.
    depths: HashMap<u64, u16>,
    /// Directories whose owner may not write into them: they get their permissions at the end. By inode, because a layer may have many with long paths.
    restricted: HashMap<u64, Mode>,
    /// What the current layer has put where: the directory's inode, and the name.
    written: HashSet<(u64, Vec<u8>)>,
}

/// An open directory of the tree.
pub(crate) struct Directory {
    fd: OwnedFd,
    inode: u64,
    depth: u16,
}

impl<'a> Tree<'a> {
    /// A tree in this directory, which has to be empty and seen by nobody else.
    pub(crate) fn new(root: &Path, owner: Option<(u32, u32)>, budget: &'a RefCell<Budget>) -> Result<Self, ImageError> {
        let owner = owner.map(|(user, group)| (Uid::from_raw(user), Gid::from_raw(group)));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::open(root, flags, Mode::empty()).map_err(ImageError::io("open", root))?;
        let inode = rustix::fs::fstat(&fd).map_err(ImageError::io("read", root))?.st_ino;
        if let Some((user, group)) = owner {
            rustix::fs::fchown(&fd, Some(user), Some(group)).map_err(ImageError::io("change the owner of", root))?;
        }
        rustix::fs::fchmod(&fd, Mode::from_raw_mode(0o755)).map_err(ImageError::io("change the mode of", root))?;
        let depths = HashMap::from([(inode, 0)]);
        Ok(Self { root: fd, owner, budget, depths, restricted: HashMap::new(), written: HashSet::new() })
    }

    /// From here on, whiteouts hide everything that is in the tree.
    pub(crate) fn next_layer(&mut self) {
        self.written.clear();
    }

    /// Gives directories the permissions that would have been in the way.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        if self.restricted.is_empty() {
            return Ok(());
        }
        walk::each_directory(self.root.as_fd(), &mut |inode, directory| match self.restricted.get(&inode) {
            Some(mode) => rustix::fs::fchmod(directory, *mode).map_err(io::Error::from),
            None => Ok(()),
        })?;
        Ok(())
    }

    /// Opens a path inside the tree: its links are followed as if the tree were the whole file system.
    fn resolve(&self, path: &[u8], flags: OFlags, without: ResolveFlags) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS | without;
        // The kernel asks to try again if something on the way was renamed, anywhere on the computer.
        let mut attempts = 0;
        loop {
            match rustix::fs::openat2(&self.root, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
                Err(Errno::AGAIN) if attempts < 128 => attempts += 1,
                result => return result,
            }
        }
    }

    /// Counts work that no entry stands for.
    fn spend(&self, entries: u64) -> Result<(), Failure> {
        self.budget.borrow_mut().take_many(entries).map_err(Failure::Limit)
    }

    fn directory(&self, names: &[Vec<u8>]) -> Result<Option<Directory>, Failure> {
        let path = EntryPath(names.to_vec()).bytes();
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let found = match self.resolve(&path, flags, ResolveFlags::NO_SYMLINKS) {
            Err(Errno::LOOP) => {
                self.spend(LINK_ENTRIES)?;
                self.resolve(&path, flags, ResolveFlags::empty())
            }
            found => found,
        };
        let fd = match found {
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::NOTDIR) => return refused("its path leads through something that is not a directory"),
            Err(Errno::LOOP) => return refused("its path leads through symbolic links without end"),
            fd => fd?,
        };
        let inode = rustix::fs::fstat(&fd)?.st_ino;
        match self.depths.get(&inode) {
            Some(depth) => Ok(Some(Directory { fd, inode, depth: *depth })),
            None => refused("its directory is not one that was unpacked; another process changes the tree"),
        }
    }

    /// The directory of a path, and the last name. Missing directories are made, or are the answer `None`.
    pub(crate) fn parent<'p>(&mut self, path: &'p EntryPath, is_made: bool) -> Result<Option<(Directory, &'p [u8])>, Failure> {
        let Some((name, above)) = path.0.split_last() else { return refused("it is the root of the image and not a directory") };
        if let Some(directory) = self.directory(above)? {
            return Ok(Some((directory, name)));
        }
        if !is_made {
            return Ok(None);
        }
        let mut current = self.directory(&[])?;
        for length in 1..=above.len() {
            let next = above.get(..length).unwrap_or(above);
            let below = self.directory(next)?;
            current = match (below, current, next.last()) {
                (Some(directory), ..) => Some(directory),
                (None, Some(parent), Some(name)) => {
                    self.spend(1)?;
                    self.make_directory(&parent, name, Mode::from_raw_mode(0o755))?;
                    self.directory(next)?
                }
                _ => None,
            };
        }
        match current {
            Some(directory) => Ok(Some((directory, name))),
            None => refused("its directory is a symbolic link that leads nowhere"),
        }
    }

    fn make_directory(&mut self, parent: &Directory, name: &[u8], mode: Mode) -> Result<(), Failure> {
        if parent.depth >= MAX_TREE_DEPTH {
            return refused(&format!("directories nest deeper than {MAX_TREE_DEPTH}, which is the limit"));
        }
        match rustix::fs::mkdirat(&parent.fd, name, Mode::RWXU) {
            Err(Errno::EXIST) => return refused("its directory is a symbolic link that leads nowhere"),
            result => result?,
        }
        let fd = self.open_directory(parent, name)?;
        let inode = rustix::fs::fstat(&fd)?.st_ino;
        self.depths.insert(inode, parent.depth + 1);
        self.restricted.remove(&inode);
        self.own(parent, name)?;
        rustix::fs::fchmod(&fd, mode)?;
        self.written.insert((parent.inode, name.to_vec()));
        Ok(())
    }

    fn open_directory(&self, parent: &Directory, name: &[u8]) -> Result<OwnedFd, Failure> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&parent.fd, name, flags, Mode::empty())?)
    }

    fn own(&self, parent: &Directory, name: &[u8]) -> Result<(), Failure> {
        let Some((user, group)) = self.owner else { return Ok(()) };
        Ok(rustix::fs::chownat(&parent.fd, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Makes the name free, whatever has it.
    fn clear(&self, parent: &Directory, name: &[u8]) -> Result<(), Failure> {
        walk::remove(parent.fd.as_fd(), parent.inode, name, &|_, _| false)?;
        Ok(())
    }

    fn put(&mut self, parent: &Directory, name: &[u8], modified: Option<u64>) -> Result<(), Failure> {
        self.own(parent, name)?;
        if let Some(modified) = modified {
            let seconds = i64::try_from(modified.min(MAX_SECONDS)).unwrap_or_default();
            let time = Timespec { tv_sec: seconds, tv_nsec: 0 };
            let times = Timestamps { last_access: time, last_modification: time };
            rustix::fs::utimensat(&parent.fd, name, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        self.written.insert((parent.inode, name.to_vec()));
        Ok(())
    }

    /// Makes a directory, or changes the permissions of the one that is there.
    pub(crate) fn add_directory(&mut self, path: &EntryPath, mode: u32) -> Result<(), Failure> {
        let mode = Mode::from_raw_mode(mode);
        let fd = match self.target_directory(path)? {
            Some(fd) => fd,
            None => return Ok(rustix::fs::fchmod(&self.root, mode)?),
        };
        let inode = rustix::fs::fstat(&fd)?.st_ino;
        if mode.contains(Mode::RWXU) {
            self.restricted.remove(&inode);
            rustix::fs::fchmod(&fd, mode)?;
        } else {
            rustix::fs::fchmod(&fd, mode | Mode::RWXU)?;
            self.restricted.insert(inode, mode);
        }
        Ok(())
    }

    /// Opens the directory of this path, which is made if something else is there; none for the root.
    fn target_directory(&mut self, path: &EntryPath) -> Result<Option<OwnedFd>, Failure> {
        if path.0.is_empty() {
            return Ok(None);
        }
        let Some((parent, name)) = self.parent(path, true)? else { return refused("its directory is missing") };
        let stands = walk::stat(parent.fd.as_fd(), name).is_ok_and(|stat| walk::is_directory(&stat));
        if stands {
            self.written.insert((parent.inode, name.to_vec()));
        } else {
            self.clear(&parent, name)?;
            self.make_directory(&parent, name, Mode::RWXU)?;
        }
        self.open_directory(&parent, name).map(Some)
    }

    /// Makes a file, never by writing into one that is there: that one may have other names.
    pub(crate) fn add_file(&mut self, path: &EntryPath, mode: u32, modified: u64, size: u64, bytes: &mut dyn Read) -> Result<(), Failure> {
        let Some((parent, name)) = self.parent(path, true)? else { return refused("its directory is missing") };
        self.clear(&parent, name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&parent.fd, name, flags, Mode::RUSR | Mode::WUSR)?);
        let copied = io::copy(bytes, &mut file)?;
        if copied != size {
            return refused(&format!("the archive ends after {copied} of its {size} bytes"));
        }
        file.flush()?;
        self.put(&parent, name, Some(modified))?;
        // After the owner, which takes permissions away.
        Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?)
    }

    /// Makes a symbolic link to any text.
    pub(crate) fn add_symlink(&mut self, path: &EntryPath, target: &[u8], modified: u64) -> Result<(), Failure> {
        let Some((parent, name)) = self.parent(path, true)? else { return refused("its directory is missing") };
        self.clear(&parent, name)?;
        rustix::fs::symlinkat(target, &parent.fd, name)?;
        self.put(&parent, name, Some(modified))
    }

    /// Gives a file or a symbolic link of the tree a second name.
    pub(crate) fn add_hard_link(&mut self, path: &EntryPath, target: &EntryPath) -> Result<(), Failure> {
        let missing =
            || Failure::Refused(format!("it links to {:?}, which the image does not have", String::from_utf8_lossy(&target.bytes())));
        let Some((from, old)) = self.parent(target, false)? else { return Err(missing()) };
        let stat: Stat = match walk::stat(from.fd.as_fd(), old) {
            Err(Errno::NOENT) => return Err(missing()),
            stat => stat?,
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile | FileType::Symlink => {}
            _ => return refused("it links to something that is neither a file nor a symbolic link"),
        }
        let Some((parent, name)) = self.parent(path, true)? else { return refused("its directory is missing") };
        if (from.inode, old) == (parent.inode, name) {
            return refused("it links to itself");
        }
        self.clear(&parent, name)?;
        match rustix::fs::linkat(&from.fd, old, &parent.fd, name, AtFlags::empty()) {
            Err(Errno::NOENT) => return refused("it replaces the directory of the file that it links to"),
            result => result?,
        }
        self.put(&parent, name, None)
    }

    /// Removes what lower layers have under this name. What it goes past and keeps is counted: a layer may say the same again and again.
    pub(crate) fn hide(&mut self, path: &EntryPath) -> Result<(), Failure> {
        let Some((parent, name)) = self.parent(path, false)? else { return Ok(()) };
        self.spend(walk::remove(parent.fd.as_fd(), parent.inode, name, &|inode, name| self.is_written(inode, name))?)
    }

    /// Removes what lower layers have in this directory.
    pub(crate) fn hide_all(&mut self, names: &[Vec<u8>]) -> Result<(), Failure> {
        let Some(directory) = self.directory(names)? else { return Ok(()) };
        let opened = rustix::fs::openat(&directory.fd, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        for name in walk::names(opened.as_fd())? {
            self.spend(walk::remove(directory.fd.as_fd(), directory.inode, &name, &|inode, name| self.is_written(inode, name))?)?;
        }
        Ok(())
    }

    fn is_written(&self, inode: u64, name: &[u8]) -> bool {
        self.written.contains(&(inode, name.to_vec()))
    }
}
