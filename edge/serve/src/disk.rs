//! The space on a disk.

use std::{io, path::Path};

/// The bytes that this process may still write to the file system of a path, which must exist.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(path)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// The bytes of the whole file system of a path, which must exist.
pub fn total_bytes(path: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(path)?;
    Ok(found.f_blocks.saturating_mul(found.f_frsize))
}
