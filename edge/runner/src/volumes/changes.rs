//! The files that a program wrote to a mount. It chose their names, and what they are: nothing is followed, and only what a volume can have is kept.

use super::{FILES, outside};
use crate::execute::Fault;
use cowboy_system::offchain::container::Mount;
use cowboy_volumes::{Path, name::PATH_BYTES};
use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat2};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

/// The files that a program wrote to a mount.
pub(super) struct Written {
    folder: OwnedFd,
    /// The files, by path.
    pub(super) files: Vec<WrittenFile>,
}

/// A file that a program wrote.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WrittenFile {
    /// Where it goes.
    pub(super) path: Path,
    /// Where it is, below the mount.
    inside: String,
    /// Its length.
    pub(super) size: u64,
    /// When it was written: ms since 1970.
    pub(super) written_ms: u64,
}

/// Opens what is at a path below a folder, if no link leads there.
fn open_below(folder: &OwnedFd, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    // Opening a pipe would wait for who writes to it.
    openat2(folder, path, flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty(), resolve)
}

fn written_ms(found: &Stat) -> u64 {
    let seconds = u64::try_from(found.st_mtime).unwrap_or_default();
    seconds.saturating_mul(1_000).saturating_add(found.st_mtime_nsec / 1_000_000)
}

impl Written {
    /// Reads what there is in the upper layer of a mount. Folders matter only for the files in them; links, devices and removed files stay out.
    ///
    /// # Errors
    ///
    /// [`Fault::Actor`] for a name that no volume takes, and [`Fault::Impossible`] for more bytes than may be written.
    pub(super) fn read(folder: OwnedFd, mount: &Mount) -> Result<Self, Fault> {
        let (mut files, mut bytes, mut waiting) = (Vec::new(), 0_u64, vec![String::new()]);
        while let Some(at) = waiting.pop() {
            let opened = open_below(&folder, if at.is_empty() { "." } else { &at }, OFlags::RDONLY | OFlags::DIRECTORY);
            let opened = opened.map_err(outside)?;
            for entry in Dir::read_from(opened.as_fd()).map_err(outside)? {
                let entry = entry.map_err(outside)?;
                let name = entry.file_name().to_bytes();
                if matches!(name, b"." | b"..") {
                    continue;
                }
                let found = rustix::fs::statat(&opened, entry.file_name(), rustix::fs::AtFlags::SYMLINK_NOFOLLOW).map_err(outside)?;
                let kind = FileType::from_raw_mode(found.st_mode);
                if !matches!(kind, FileType::Directory | FileType::RegularFile) {
                    continue;
                }
                let (inside, path) = place(&at, name, mount)?;
                if kind == FileType::Directory {
                    waiting.push(inside);
                    continue;
                }
                let size = u64::try_from(found.st_size).unwrap_or_default();
                // A file with holes is longer than the memory that it takes.
                bytes = bytes.saturating_add(size);
                if bytes > mount.max_bytes || files.len() == FILES {
                    let (name, most) = (mount.name.as_str(), mount.max_bytes);
                    return Err(Fault::Impossible(format!("the program wrote more than {most} bytes, or {FILES} files, to {name}")));
                }
                files.push(WrittenFile { path, inside, size, written_ms: written_ms(&found) });
            }
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Self { folder, files })
    }

    /// The content of a file.
    pub(super) fn open(&self, file: &WrittenFile) -> io::Result<File> {
        let opened = open_below(&self.folder, &file.inside, OFlags::RDONLY)?;
        let found = fstat(&opened)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(opened.into())
    }
}

/// Where something is below a mount, and its path in the volume.
fn place(folder: &str, name: &[u8], mount: &Mount) -> Result<(String, Path), Fault> {
    let shown = String::from_utf8_lossy(name);
    let joined = std::str::from_utf8(name).ok().map(|name| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") });
    let placed = joined.and_then(|inside| Some((Path::new(&format!("{}/{inside}", mount.partition.as_str()))?, inside)));
    let (path, inside) = placed.ok_or_else(|| {
        let rule = format!("names have letters, digits, _, . and -, at most 64, and paths at most {PATH_BYTES} bytes");
        Fault::Actor(format!("{}/{folder}/{shown:?} cannot be kept in a volume: {rule}", mount.name.as_str()))
    })?;
    Ok((inside, path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_system::offchain::container::VolumeOf;
    use cowboy_volumes::Name;
    use std::io::Read as _;
    use std::os::unix::ffi::OsStrExt as _;

    fn mount(max_bytes: u64) -> Mount {
        let name = |text| Name::new(text).expect("a name");
        let volume = VolumeOf::Submitter(name("memory"));
        Mount { volume, name: name("out"), partition: name("notes"), mode: cowboy_volumes::Mode::ReadWrite, max_bytes }
    }

    fn read(folder: &std::path::Path, max_bytes: u64) -> Result<Written, Fault> {
        Written::read(File::open(folder).expect("a folder").into(), &mount(max_bytes))
    }

    /// C.7: whole files, by their places; what is no file stays out, and no link is followed.
    #[test]
    fn files_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        std::fs::create_dir_all(at("a/b/empty")).expect("it is made");
        std::fs::write(at("a/b/c.txt"), "text").expect("it is written");
        std::fs::write(at("d"), "").expect("it is written");
        std::os::unix::fs::symlink("/etc", at("a/etc")).expect("it is made");
        std::os::unix::fs::symlink("/etc/hostname", at("link")).expect("it is made");
        let _socket = std::os::unix::net::UnixListener::bind(at("a/socket")).expect("it is made");
        let written = read(folder.path(), 4).expect("it is read");
        let found: Vec<_> = written.files.iter().map(|file| (file.path.as_str(), file.size)).collect();
        assert_eq!(found, [("notes/a/b/c.txt", 4), ("notes/d", 0)]);
        assert!(written.files[0].written_ms > 1_600_000_000_000, "it is now");
        let mut text = String::new();
        written.open(&written.files[0]).expect("it opens").read_to_string(&mut text).expect("it is read");
        assert_eq!(text, "text");
        // Somebody else would have put a link there: it is not opened.
        std::fs::remove_file(at("d")).expect("it is removed");
        std::os::unix::fs::symlink("/etc/hostname", at("d")).expect("it is made");
        assert!(written.open(&written.files[1]).is_err());
    }

    /// Names that no volume takes, paths that are too long, and files with holes.
    #[test]
    fn what_no_volume_takes_is_refused() {
        let refused = |make: &dyn Fn(&std::path::Path)| {
            let folder = tempfile::tempdir().expect("a folder");
            make(folder.path());
            read(folder.path(), 1 << 20).map(|written| written.files).map_err(|fault| fault.number())
        };
        let long = |path: &std::path::Path| {
            let mut at = path.to_owned();
            (0..9).for_each(|_| at.push("d".repeat(60)));
            std::fs::create_dir_all(&at).expect("it is made");
        };
        let holes = |path: &std::path::Path| File::create(path.join("holes")).and_then(|file| file.set_len(1 << 40)).expect("it is made");
        let bytes = |path: &std::path::Path| std::fs::write(path.join(std::ffi::OsStr::from_bytes(b"\xff")), "").expect("it is made");
        let spaces = |path: &std::path::Path| std::fs::write(path.join("a b"), "").expect("it is made");
        let most = |path: &std::path::Path| std::fs::write(path.join("most"), vec![1; 1 << 20]).expect("it is made");
        assert_eq!(refused(&spaces), Err(1));
        assert_eq!(refused(&bytes), Err(1));
        assert_eq!(refused(&long), Err(1));
        assert_eq!(refused(&holes), Err(3));
        assert_eq!(refused(&most).map(|files| files.len()), Ok(1));
    }
}
