//! The entries of a layer's tar archive, read strictly.
//!
//! Long names and extended headers are read here, with limits, because the reader of the `tar` crate takes them into memory whole.

use crate::{digest::Digest, error::ImageError, text::shortened};
use std::{
    cell::RefCell,
    io::{self, Read},
    rc::Rc,
};
use tar::{Archive, EntryType};

/// The longest name of a file or directory, in bytes.
pub const MAX_NAME_BYTES: usize = 255;
/// The longest path and the longest target of a link, in bytes.
pub const MAX_PATH_BYTES: usize = 4_095;
/// The largest extended header, in bytes. Extended attributes are in it, although they are ignored.
const MAX_EXTENSION_BYTES: u64 = 1 << 20;

/// A path below the root of an image: names without `.`, `..`, slashes and zero bytes. The root itself has no names.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct EntryPath(pub(crate) Vec<Vec<u8>>);

impl EntryPath {
    /// A leading slash is the root of the image.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > MAX_PATH_BYTES {
            return Err(format!("its path has {} bytes; the limit is {MAX_PATH_BYTES}", bytes.len()));
        }
        if bytes.contains(&0) {
            return Err("its path has a zero byte".into());
        }
        let names: Vec<Vec<u8>> =
            bytes.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".").map(<[u8]>::to_vec).collect();
        if names.iter().any(|name| name == b"..") {
            return Err("its path has the name .., which could leave the image".into());
        }
        match names.iter().map(Vec::len).max() {
            Some(longest) if longest > MAX_NAME_BYTES => Err(format!("a name has {longest} bytes; the limit is {MAX_NAME_BYTES}")),
            _ => Ok(Self(names)),
        }
    }

    /// The names joined by slashes, or a dot.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        if self.0.is_empty() { b".".to_vec() } else { self.0.join(&b'/') }
    }
}

/// What an entry is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File { size: u64 },
    Directory,
    Symlink { target: Vec<u8> },
    HardLink { target: EntryPath },
}

/// An entry of a layer.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) path: EntryPath,
    pub(crate) kind: Kind,
    /// Only the permissions: no set-user-id, set-group-id and sticky bits.
    pub(crate) mode: u32,
    /// Seconds since 1970.
    pub(crate) modified: u64,
}

/// How many entries may still be read, and the limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) left: u64,
    pub(crate) limit: u64,
}

impl Budget {
    pub(crate) fn take(&mut self) -> Result<(), ImageError> {
        self.take_many(1)
    }

    /// For work that takes as long as this many entries.
    pub(crate) fn take_many(&mut self, entries: u64) -> Result<(), ImageError> {
        self.left = self.left.checked_sub(entries).ok_or(ImageError::TooManyEntries { limit: self.limit })?;
        Ok(())
    }
}

/// What precedes an entry and is about it.
#[derive(Default)]
struct Extensions {
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    size: Option<u64>,
}

/// Calls `apply` with each entry of the archive and its bytes.
pub(crate) fn each<R: Read>(
    archive: &mut Archive<R>,
    layer: &Digest,
    stop: &Rc<RefCell<Option<ImageError>>>,
    budget: &RefCell<Budget>,
    apply: &mut dyn FnMut(Entry, &mut dyn Read) -> Result<(), ImageError>,
) -> Result<(), ImageError> {
    let failed = |error: &io::Error| {
        let stopped = stop.borrow_mut().take();
        stopped.unwrap_or_else(|| ImageError::Layer { layer: *layer, reason: error.to_string() })
    };
    let mut extensions = Extensions::default();
    for raw in archive.entries().map_err(|error| failed(&error))?.raw(true) {
        let mut raw = raw.map_err(|error| failed(&error))?;
        budget.borrow_mut().take()?;
        let refused = |path: &[u8], reason: String| match stop.borrow_mut().take() {
            Some(stopped) => stopped,
            None => ImageError::Entry { layer: *layer, path: shortened(path), reason },
        };
        let name = raw.path_bytes().into_owned();
        if extensions.read(&mut raw).map_err(|reason| refused(&name, reason))? {
            continue;
        }
        let extensions = std::mem::take(&mut extensions);
        let name = extensions.path.clone().unwrap_or(name);
        let entry = entry(&raw, &name, extensions).map_err(|reason| refused(&name, reason))?;
        apply(entry, &mut raw).map_err(|error| stop.borrow_mut().take().unwrap_or(error))?;
    }
    if extensions.path.is_some() || extensions.target.is_some() || extensions.size.is_some() {
        return Err(ImageError::Layer { layer: *layer, reason: "it ends after an extended header".into() });
    }
    Ok(())
}

impl Extensions {
    /// Reads an entry that is about the next one. Other entries are left unread.
    fn read<R: Read>(&mut self, raw: &mut tar::Entry<'_, R>) -> Result<bool, String> {
        let kind = raw.header().entry_type();
        if !matches!(kind, EntryType::GNULongName | EntryType::GNULongLink | EntryType::XHeader | EntryType::XGlobalHeader) {
            return Ok(false);
        }
        let size = raw.size();
        if size > MAX_EXTENSION_BYTES {
            return Err(format!("its extended header has {size} bytes; the limit is {MAX_EXTENSION_BYTES}"));
        }
        let mut bytes = Vec::new();
        raw.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        if u64::try_from(bytes.len()) != Ok(size) {
            return Err("the archive ends in its extended header".into());
        }
        match kind {
            EntryType::GNULongName => set(&mut self.path, long(bytes))?,
            EntryType::GNULongLink => set(&mut self.target, long(bytes))?,
            _ => self.pax(&bytes, kind == EntryType::XGlobalHeader)?,
        }
        Ok(true)
    }

    fn pax(&mut self, bytes: &[u8], is_global: bool) -> Result<(), String> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (key, value) = record(&mut rest).ok_or("its extended header is malformed")?;
            match key {
                b"path" | b"linkpath" | b"size" if is_global => return Err("a global header names or measures entries".into()),
                b"path" => set(&mut self.path, value.to_vec())?,
                b"linkpath" => set(&mut self.target, value.to_vec())?,
                b"size" => {
                    let size = number(value).and_then(|size| u64::try_from(size).ok());
                    set(&mut self.size, size.ok_or("the size in its extended header is not a number")?)?;
                }
                key if key.starts_with(b"GNU.sparse.") => return Err("sparse files are not supported".into()),
                // Times with fractions, names of owners, extended attributes, comments.
                _ => {}
            }
        }
        Ok(())
    }
}

/// Takes the first record, `LENGTH KEY=VALUE` and a newline, where the length is that of the whole record. A value may have newlines.
fn record<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let space = rest.iter().position(|byte| *byte == b' ')?;
    let (record, after) = rest.split_at_checked(number(rest.get(..space)?)?)?;
    let text = record.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = text.iter().position(|byte| *byte == b'=')?;
    *rest = after;
    Some((text.get(..equals)?, text.get(equals + 1..)?))
}

fn number(digits: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|digit| digit.is_ascii_digit()))?;
    text.parse().ok()
}

fn set<T>(field: &mut Option<T>, value: T) -> Result<(), String> {
    match field.replace(value) {
        None => Ok(()),
        Some(_) => Err("two extended headers say the same thing about it".into()),
    }
}

/// A long name ends with a zero byte.
fn long(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    bytes
}

fn entry<R: Read>(raw: &tar::Entry<'_, R>, name: &[u8], extensions: Extensions) -> Result<Entry, String> {
    let header = raw.header();
    let size = raw.size();
    if extensions.size.is_some_and(|extended| extended != size) {
        return Err("its header and its extended header have different sizes".into());
    }
    let target = || {
        let target = extensions.target.clone().or_else(|| raw.link_name_bytes().map(std::borrow::Cow::into_owned));
        target.filter(|target| !target.is_empty()).ok_or_else(|| "it is a link without a target".to_owned())
    };
    let kind = match header.entry_type() {
        // Old archives have directories as files whose name ends with a slash.
        EntryType::Regular if !name.ends_with(b"/") => Kind::File { size },
        EntryType::Directory | EntryType::Regular => Kind::Directory,
        EntryType::Symlink => Kind::Symlink { target: symlink(target()?)? },
        EntryType::Link => {
            Kind::HardLink { target: EntryPath::parse(&target()?).map_err(|reason| format!("the file that it links to: {reason}"))? }
        }
        EntryType::Char | EntryType::Block => return Err("it is a device".into()),
        EntryType::Fifo => return Err("it is a named pipe".into()),
        EntryType::GNUSparse => return Err("sparse files are not supported".into()),
        other => return Err(format!("its type {:?} is not supported", char::from(other.as_byte()))),
    };
    if size != 0 && !matches!(kind, Kind::File { .. }) {
        return Err(format!("it has {size} bytes of content, and is not a file"));
    }
    let path = EntryPath::parse(name)?;
    let mode = header.mode().map_err(|error| error.to_string())? & 0o777;
    let modified = header.mtime().map_err(|error| error.to_string())?;
    Ok(Entry { path, kind, mode, modified })
}

/// The target of a symbolic link, which is stored as it is.
fn symlink(target: Vec<u8>) -> Result<Vec<u8>, String> {
    if target.len() > MAX_PATH_BYTES {
        return Err(format!("its target has {} bytes; the limit is {MAX_PATH_BYTES}", target.len()));
    }
    if target.contains(&0) { Err("its target has a zero byte".into()) } else { Ok(target) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_headers_are_read_by_their_lengths() {
        let read = |bytes: &[u8]| {
            let mut extensions = Extensions::default();
            extensions.pax(bytes, false).map(|()| (extensions.path, extensions.size))
        };
        assert_eq!(read(b"10 path=a\n11 SCHI=\n\n\n9 size=7\n"), Ok((Some(b"a".to_vec()), Some(7))));
        let bad: [&[u8]; 10] = [
            b"x",
            b"10 path=a",
            b"10 path=ab\n",
            b"8 path=a\n",
            b"0 path=a\n",
            b"+10 path=a\n",
            b"99999999999999999999999 path=a\n",
            b"10 path=a\n10 path=b\n",
            b"10 size=x\n",
            b"22 GNU.sparse.major=1\n",
        ];
        for bytes in bad {
            assert!(read(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
        assert!(Extensions::default().pax(b"10 path=a\n", true).is_err());
        assert!(Extensions::default().pax(b"13 comment=a\n", true).is_ok());
    }

    #[test]
    fn paths_are_normal_or_refused() {
        let name = "n".repeat(255);
        let good: [(&[u8], &[u8]); 8] = [
            (b"a", b"a"),
            (b"./a//b/./c/", b"a/b/c"),
            (b"/etc/passwd", b"etc/passwd"),
            (b"", b"."),
            (b"./", b"."),
            (b"\xff\xfe/\x01", b"\xff\xfe/\x01"),
            (b"a..b/...", b"a..b/..."),
            (name.as_bytes(), name.as_bytes()),
        ];
        for (bytes, path) in good {
            assert_eq!(EntryPath::parse(bytes).map(|path| path.bytes()), Ok(path.to_vec()));
        }
        let longest = "d/".repeat(2_047);
        assert!(EntryPath::parse(longest.as_bytes()).is_ok());
        let bad = ["..", "../a", "a/..", "a/../b", "/..", "a\0b", &"n".repeat(256), &format!("{longest}dd")];
        for text in bad {
            assert!(EntryPath::parse(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
