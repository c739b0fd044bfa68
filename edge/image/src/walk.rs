//! Walks over unpacked trees that follow no links and use no recursion: removal, and the digest of everything.

use crate::digest::Digest;
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat},
    io::Errno,
};
use sha2::{Digest as _, Sha256};
use std::{
    collections::HashMap,
    ffi::OsStr,
    fs::File,
    io::{self, Read as _},
    os::unix::ffi::OsStrExt as _,
    path::Path,
};

/// A directory of a walk: open, with the names that are still to be visited.
struct Open {
    fd: OwnedFd,
    inode: u64,
    name: Vec<u8>,
    names: Vec<Vec<u8>>,
}

impl Open {
    /// Opens a directory and reads its names, in descending order, so that the last is the first.
    fn new(parent: BorrowedFd<'_>, name: &[u8], inode: u64) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(parent, name, flags, Mode::empty())?;
        let names = names(fd.as_fd())?;
        Ok(Self { fd, inode, name: name.to_vec(), names })
    }
}

/// The names in a directory, in descending order.
pub(crate) fn names(directory: BorrowedFd<'_>) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(name.to_vec());
        }
    }
    names.sort_unstable_by(|left, right| right.cmp(left));
    Ok(names)
}

pub(crate) fn stat(parent: BorrowedFd<'_>, name: &[u8]) -> Result<Stat, Errno> {
    rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
}

pub(crate) fn is_directory(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

/// Removes what has this name in a directory, except what `keep` wants: it is asked with the inode of the directory and the name.
/// Directories in which something is kept stay, too. What does not exist is no error. Returns how many names stay of those that it went past.
pub(crate) fn remove(parent: BorrowedFd<'_>, inode: u64, name: &[u8], keep: &dyn Fn(u64, &[u8]) -> bool) -> io::Result<u64> {
    let (mut open, mut kept): (Vec<Open>, u64) = (Vec::new(), 0);
    open.extend(visit(parent, inode, name, keep, &mut kept)?);
    while let Some(top) = open.last_mut() {
        if let Some(name) = top.names.pop() {
            let child = visit(top.fd.as_fd(), top.inode, &name, keep, &mut kept)?;
            open.extend(child);
            continue;
        }
        let Some(done) = open.pop() else { break };
        let (above, inode) = open.last().map_or((parent, inode), |above| (above.fd.as_fd(), above.inode));
        if keep(inode, &done.name) {
            kept += 1;
            continue;
        }
        match rustix::fs::unlinkat(above, &done.name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::NOTEMPTY | Errno::EXIST) => kept += 1,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(kept)
}

/// Removes a file, or counts it where it is kept, or opens a directory.
fn visit(parent: BorrowedFd<'_>, inode: u64, name: &[u8], keep: &dyn Fn(u64, &[u8]) -> bool, kept: &mut u64) -> io::Result<Option<Open>> {
    let stat = match stat(parent, name) {
        Err(Errno::NOENT) => return Ok(None),
        stat => stat?,
    };
    if is_directory(&stat) {
        if stat.st_mode & 0o700 != 0o700 {
            // Without privileges, a directory without permissions cannot be emptied. It is not a link.
            rustix::fs::chmodat(parent, name, Mode::RWXU, AtFlags::empty())?;
        }
        return Open::new(parent, name, stat.st_ino).map(Some);
    }
    if keep(inode, name) {
        *kept += 1;
    } else {
        rustix::fs::unlinkat(parent, name, AtFlags::empty())?;
    }
    Ok(None)
}

/// Removes a tree, or a file, by the path of the host.
pub(crate) fn remove_path(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::other("it has no parent"));
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let parent = match rustix::fs::open(parent, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        parent => parent?,
    };
    remove(parent.as_fd(), 0, OsStr::as_bytes(name), &|_, _| false).map(drop)
}

/// Calls `apply` with each directory of a tree, after those in it: its inode, and the directory.
pub(crate) fn each_directory(root: BorrowedFd<'_>, apply: &mut dyn FnMut(u64, BorrowedFd<'_>) -> io::Result<()>) -> io::Result<()> {
    let mut open = vec![Open::new(root, b".", rustix::fs::fstat(root)?.st_ino)?];
    while let Some(top) = open.last_mut() {
        let Some(name) = top.names.pop() else {
            apply(top.inode, top.fd.as_fd())?;
            open.pop();
            continue;
        };
        let stat = stat(top.fd.as_fd(), &name)?;
        if is_directory(&stat) {
            let child = Open::new(top.fd.as_fd(), &name, stat.st_ino)?;
            open.push(child);
        }
    }
    Ok(())
}

/// What a tree is: with the contents of its files, or with what the file system says about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Names, types, permissions, owners, targets of links and all contents: what a container sees.
    Contents,
    /// The same without contents, but with inodes, sizes, and the times of the last changes, which no program can set.
    Stamp,
}

/// The digest of a tree, and the bytes that it takes.
pub(crate) fn measure(root: &Path, depth: Depth) -> io::Result<(Digest, u64)> {
    let mut measure = Measure { hash: Sha256::new(), seen: HashMap::new(), bytes: 0, depth, buffer: vec![0; 64 << 10] };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::open(root, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&fd)?;
    measure.metadata(b"", &stat);
    let names = names(fd.as_fd())?;
    let mut open = vec![Open { fd, inode: stat.st_ino, name: Vec::new(), names }];
    while let Some(top) = open.last_mut() {
        let Some(name) = top.names.pop() else {
            measure.hash.update([0xFF]);
            open.pop();
            continue;
        };
        let stat = self::stat(top.fd.as_fd(), &name)?;
        measure.metadata(&name, &stat);
        if is_directory(&stat) {
            let child = Open::new(top.fd.as_fd(), &name, stat.st_ino)?;
            open.push(child);
        } else {
            measure.leaf(top.fd.as_fd(), &name, &stat)?;
        }
    }
    Ok((Digest(measure.hash.finalize().into()), measure.bytes))
}

struct Measure {
    hash: Sha256,
    /// Files with several names: the number under which their content was hashed.
    seen: HashMap<u64, u64>,
    bytes: u64,
    depth: Depth,
    buffer: Vec<u8>,
}

/// What a name, an inode or a directory takes, about.
const BLOCK: u64 = 4_096;

impl Measure {
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "the types of the fields differ between architectures")]
    fn metadata(&mut self, name: &[u8], stat: &Stat) {
        // Numbers before names, and lengths before bytes, so that no two trees have the same bytes.
        let length = u32::try_from(name.len()).unwrap_or(u32::MAX);
        self.hash.update([0x01]);
        self.hash.update(length.to_be_bytes());
        self.hash.update(name);
        for number in [stat.st_mode, stat.st_uid, stat.st_gid] {
            self.hash.update(number.to_be_bytes());
        }
        if self.depth == Depth::Stamp {
            self.hash.update(u64::from(stat.st_ino).to_be_bytes());
            self.hash.update(i128::from(stat.st_size).to_be_bytes());
            self.hash.update(i128::from(stat.st_ctime).to_be_bytes());
            self.hash.update(i128::from(stat.st_ctime_nsec).to_be_bytes());
            self.hash.update(i128::from(stat.st_mtime).to_be_bytes());
        }
    }

    fn leaf(&mut self, parent: BorrowedFd<'_>, name: &[u8], stat: &Stat) -> io::Result<()> {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => self.file(parent, name, stat),
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(parent, name, Vec::new())?;
                let length = u32::try_from(target.as_bytes().len()).unwrap_or(u32::MAX);
                self.hash.update(length.to_be_bytes());
                self.hash.update(target.as_bytes());
                self.bytes = self.bytes.saturating_add(BLOCK);
                Ok(())
            }
            _ => Err(io::Error::other(format!("{} is not a file, directory or link", String::from_utf8_lossy(name)))),
        }
    }

    fn file(&mut self, parent: BorrowedFd<'_>, name: &[u8], stat: &Stat) -> io::Result<()> {
        if let Some(number) = self.seen.get(&stat.st_ino) {
            self.hash.update([0x02]);
            self.hash.update(number.to_be_bytes());
            return Ok(());
        }
        if stat.st_nlink > 1 {
            let number = u64::try_from(self.seen.len()).unwrap_or(u64::MAX);
            self.seen.insert(stat.st_ino, number);
        }
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        self.bytes = self.bytes.saturating_add(size.next_multiple_of(BLOCK)).saturating_add(BLOCK);
        self.hash.update([0x03]);
        self.hash.update(size.to_be_bytes());
        if self.depth == Depth::Stamp {
            return Ok(());
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(parent, name, flags, Mode::empty())?);
        let mut left = size;
        loop {
            let length = file.read(&mut self.buffer)?;
            self.hash.update(self.buffer.get(..length).unwrap_or_default());
            left = left.checked_sub(u64::try_from(length).unwrap_or(u64::MAX)).ok_or_else(|| io::Error::other("a file grew"))?;
            if length == 0 {
                return if left == 0 { Ok(()) } else { Err(io::Error::other("a file shrank")) };
            }
        }
    }
}
