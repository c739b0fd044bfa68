//! Whether a program can run in an image that has nothing else.

use crate::{config::Platform, error::ImageError, layout::open_file};
use std::{
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// The segment that names the dynamic linker.
const INTERPRETER: u32 = 3;
/// What of a program is read: linkers put the table of segments at its start.
const HEAD_BYTES: u64 = 64 << 10;

/// The platform of a statically linked program. Others would not start in an image that has neither their linker nor their libraries.
///
/// # Errors
///
/// If it cannot be read, is linked dynamically, or is not a program of a platform that runners have.
pub fn program_platform(path: &Path) -> Result<Platform, ImageError> {
    match read(path)? {
        Some((platform, false)) => Ok(platform),
        Some((_, true)) => Err(refused(path, "it is linked dynamically; link it statically, or pack a directory that has its libraries")),
        None => Err(refused(path, "it is not an ELF program for linux/amd64 or linux/arm64")),
    }
}

fn refused(path: &Path, reason: &str) -> ImageError {
    ImageError::Pack { path: PathBuf::from(path), reason: reason.into() }
}

fn read(path: &Path) -> Result<Option<(Platform, bool)>, ImageError> {
    let mut head = Vec::new();
    open_file(path)?.take(HEAD_BYTES).read_to_end(&mut head).map_err(ImageError::io::<io::Error>("read", path))?;
    Ok(parse(&head))
}

/// The platform of a program, and whether it needs a dynamic linker.
fn parse(head: &[u8]) -> Option<(Platform, bool)> {
    // 64 bits, little endian.
    if head.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let field = |offset: usize| head.get(offset..offset.checked_add(2)?).and_then(|bytes| bytes.try_into().ok()).map(u16::from_le_bytes);
    let platform = match field(18)? {
        62 => Platform::Amd64,
        183 => Platform::Arm64,
        _ => return None,
    };
    let table = u64::from_le_bytes(head.get(32..40)?.try_into().ok()?);
    let (size, number) = (usize::from(field(54)?), usize::from(field(56)?));
    let mut offset = usize::try_from(table).ok()?;
    for _ in 0..number {
        let kind = u32::from_le_bytes(head.get(offset..offset.checked_add(4)?)?.try_into().ok()?);
        if kind == INTERPRETER {
            return Some((platform, true));
        }
        offset = offset.checked_add(size)?;
    }
    Some((platform, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(machine: u8, segments: &[u32]) -> Vec<u8> {
        let mut head = vec![0; 64];
        head[..6].copy_from_slice(b"\x7fELF\x02\x01");
        head[18] = machine;
        head[32] = 64;
        head[54] = 56;
        head[56] = u8::try_from(segments.len()).expect("few");
        for kind in segments {
            head.extend(kind.to_le_bytes());
            head.extend([0; 52]);
        }
        head
    }

    #[test]
    fn programs_are_static_or_refused() {
        assert_eq!(parse(&program(62, &[1, 2])), Some((Platform::Amd64, false)));
        assert_eq!(parse(&program(183, &[1])), Some((Platform::Arm64, false)));
        assert_eq!(parse(&program(62, &[6, INTERPRETER, 1])), Some((Platform::Amd64, true)));
        assert_eq!(parse(&program(3, &[1])), None);
        assert_eq!(parse(b"#!/bin/sh\n"), None);
        let good = program(62, &[1]);
        for length in 0..good.len() - 52 {
            assert_eq!(parse(&good[..length]), None, "{length}");
        }
        let mut far = good;
        far[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(parse(&far), None);
    }
}
