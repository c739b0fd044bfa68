//! A layout as one file: a tar archive of its directory, as other tools call `oci-archive`.

use crate::{
    digest::Digest,
    documents::MAX_DOCUMENT_BYTES,
    error::ImageError,
    layout::{INDEX_FILE, Layout, MARKER, open_file},
    tarball::{add_file, append, header},
    unpack::Limits,
    walk,
};
use sha2::{Digest as _, Sha256};
use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Read, Write},
    path::Path,
};
use tar::{Archive, Builder, EntryType};

/// Writes a layout into a file that it creates: the same bytes for the same layout on every computer.
///
/// # Errors
///
/// If the file exists, or the layout cannot be read.
pub fn write_archive(layout: &Layout, to: &Path) -> Result<(), ImageError> {
    let file = File::options().write(true).create_new(true).open(to).map_err(ImageError::io("create", to))?;
    let written = write(layout, file, to);
    if written.is_err() {
        // The reason of the failure says more than a failure to remove what there is.
        let _ = std::fs::remove_file(to);
    }
    written
}

fn write(layout: &Layout, file: File, to: &Path) -> Result<(), ImageError> {
    let mut builder = Builder::new(BufWriter::with_capacity(64 << 10, file));
    for name in [MARKER, INDEX_FILE] {
        add_file(&mut builder, &layout.directory().join(name), name.as_bytes(), 0o644)?;
    }
    let blobs = layout.blobs();
    for name in ["blobs/", "blobs/sha256/"] {
        append(&mut builder, &blobs, &header(EntryType::Directory, 0o755, 0), name.as_bytes(), None, &mut io::empty())?;
    }
    let entries = std::fs::read_dir(&blobs).map_err(ImageError::io("read", &blobs))?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    let mut names = names.collect::<Result<Vec<_>, _>>().map_err(ImageError::io("read", &blobs))?;
    names.sort_unstable();
    for digest in names.iter().filter_map(|name| named(name.to_str()?)) {
        add_file(&mut builder, &layout.blob_path(&digest), format!("blobs/sha256/{}", digest.hex()).as_bytes(), 0o644)?;
    }
    let mut writer = builder.into_inner().map_err(ImageError::io("write", to))?;
    writer.flush().map_err(ImageError::io("write", to))
}

/// The digest of a blob with this file name.
fn named(name: &str) -> Option<Digest> {
    format!("sha256:{name}").parse().ok()
}

/// Reads a layout out of a file into a directory that it creates. Blobs are verified; what does not belong to a layout is left out. On an error, nothing is left.
///
/// # Errors
///
/// If the directory exists, or the file is not an archive of a layout, or has more entries or bytes than the limits.
pub fn read_archive(archive: &Path, into: &Path, limits: Limits) -> Result<Layout, ImageError> {
    let file = open_file(archive)?;
    let refused = |reason: String| ImageError::NotLayout { path: archive.to_owned(), reason };
    if file.metadata().map_err(ImageError::io("read", archive))?.len() > limits.bytes {
        return Err(refused(format!("it has more than {} bytes, which is the limit", limits.bytes)));
    }
    std::fs::create_dir(into).map_err(ImageError::io("create", into))?;
    let read = || {
        let layout = Layout::create(into)?;
        for name in [MARKER, INDEX_FILE] {
            let path = into.join(name);
            std::fs::remove_file(&path).map_err(ImageError::io("remove", path))?;
        }
        let mut archive = Archive::new(BufReader::with_capacity(64 << 10, file));
        let mut number = 0;
        for entry in archive.entries().map_err(|error| refused(error.to_string()))?.raw(true) {
            number += 1;
            if number > limits.entries {
                return Err(ImageError::TooManyEntries { limit: limits.entries });
            }
            read_entry(&layout, &mut entry.map_err(|error| refused(error.to_string()))?, &refused)?;
        }
        Layout::open(into)
    };
    let layout = read();
    if layout.is_err() {
        // The reason of the failure says more than a failure to remove what there is.
        let _ = walk::remove_path(into);
    }
    layout
}

/// Copies an entry whose name is one that a layout has. Only these names are ever used as paths.
fn read_entry<R: Read>(layout: &Layout, entry: &mut tar::Entry<'_, R>, refused: &dyn Fn(String) -> ImageError) -> Result<(), ImageError> {
    let name = entry.path_bytes().into_owned();
    let Ok(name) = std::str::from_utf8(name.strip_prefix(b"./").unwrap_or(&name)) else { return Ok(()) };
    let digest = name.strip_prefix("blobs/sha256/").and_then(named);
    let path = match (&digest, name) {
        (Some(digest), _) => layout.blob_path(digest),
        (None, MARKER | INDEX_FILE) => layout.directory().join(name),
        _ => return Ok(()),
    };
    if entry.header().entry_type() != EntryType::Regular {
        return Err(refused(format!("{name} is not a file")));
    }
    let size = entry.size();
    if digest.is_none() && size > MAX_DOCUMENT_BYTES {
        return Err(ImageError::LargeDocument { what: "index", size, limit: MAX_DOCUMENT_BYTES });
    }
    let mut file = File::options().write(true).create_new(true).open(&path).map_err(ImageError::io("create", &path))?;
    let (mut hash, mut copied, mut buffer) = (Sha256::new(), 0_u64, vec![0; 64 << 10]);
    loop {
        let length = entry.read(&mut buffer).map_err(|error| refused(error.to_string()))?;
        let bytes = buffer.get(..length).unwrap_or_default();
        if bytes.is_empty() {
            break;
        }
        hash.update(bytes);
        copied += u64::try_from(length).unwrap_or(u64::MAX);
        file.write_all(bytes).map_err(ImageError::io("write", &path))?;
    }
    if copied != size {
        return Err(refused(format!("it ends after {copied} of the {size} bytes of {name}")));
    }
    let found = Digest(hash.finalize().into());
    match digest {
        Some(expected) if expected != found => Err(ImageError::WrongDigest { expected, found }),
        _ => Ok(()),
    }
}
