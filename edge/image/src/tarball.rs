//! Entries of tar archives that are the same on every computer: without times and owners.

use crate::{error::ImageError, layout::open_file};
use std::{
    io::{self, Read as _, Write},
    path::{Path, PathBuf},
};
use tar::{Builder, EntryType, Header};

/// Names longer than this have an entry of their own before the file's.
const SHORT_NAME: usize = 100;

/// Appends a file of the host.
pub(crate) fn add_file<W: Write>(builder: &mut Builder<W>, host: &Path, name: &[u8], mode: u32) -> Result<(), ImageError> {
    let file = open_file(host)?;
    let size = file.metadata().map_err(ImageError::io("read", host))?.len();
    let mut bytes = file.take(size);
    append(builder, host, &header(EntryType::Regular, mode, size), name, None, &mut bytes)?;
    if bytes.limit() == 0 { Ok(()) } else { Err(refused(host, "it became shorter while it was read".into())) }
}

/// The error about something that cannot be packed.
pub(crate) fn refused(path: &Path, reason: String) -> ImageError {
    ImageError::Pack { path: PathBuf::from(path), reason }
}

/// A header without a name and a checksum.
pub(crate) fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header
}

/// Appends an entry; names and targets that do not fit the header go before it.
pub(crate) fn append<W: Write>(
    builder: &mut Builder<W>,
    host: &Path,
    header: &Header,
    name: &[u8],
    target: Option<&[u8]>,
    bytes: &mut dyn io::Read,
) -> Result<(), ImageError> {
    let mut header = header.clone();
    let texts = [(EntryType::GNULongLink, target.unwrap_or_default()), (EntryType::GNULongName, name)];
    for (kind, text) in texts {
        if text.len() > SHORT_NAME {
            let mut long = self::header(kind, 0o644, u64::try_from(text.len() + 1).unwrap_or(u64::MAX));
            fill(&mut long, EntryType::GNULongName, b"././@LongLink");
            long.set_cksum();
            builder.append(&long, [text, &[0]].concat().as_slice()).map_err(ImageError::io("pack", host))?;
        }
        fill(&mut header, kind, text);
    }
    header.set_cksum();
    builder.append(&header, bytes).map_err(ImageError::io("pack", host))
}

/// Writes the beginning of a name or target into its field.
fn fill(header: &mut Header, kind: EntryType, text: &[u8]) {
    let header = header.as_gnu_mut().expect("the header was made in this format");
    let field = if kind == EntryType::GNULongName { &mut header.name } else { &mut header.linkname };
    for (to, from) in field.iter_mut().zip(text) {
        *to = *from;
    }
}
