//! Whether a program can start in an image.

use crate::{config::Platform, error::ImageError, layout::open_file};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use std::{
    fs::File,
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// The segment that names the dynamic linker.
const INTERPRETER: u32 = 3;
/// What of a program is read: linkers put the table of segments at its start.
const HEAD_BYTES: u64 = 64 << 10;

/// How many interpreters of interpreters Linux starts.
const MAX_INTERPRETERS: usize = 5;

/// What the head of a program says.
#[derive(Debug, PartialEq, Eq)]
struct Program {
    platform: Platform,
    /// The dynamic linker that it needs.
    linker: Option<String>,
}

/// The platform of a statically linked program. Others would not start in an image that has neither their linker nor their libraries.
///
/// # Errors
///
/// If it cannot be read, is linked dynamically, or is not a program of a platform that runners have.
pub fn program_platform(path: &Path) -> Result<Platform, ImageError> {
    match parse(&head(open_file(path)?, path)?) {
        Some(Program { platform, linker: None }) => Ok(platform),
        Some(_) => Err(refused(path, "it is linked dynamically; link it statically, or pack a directory that has its libraries")),
        None => Err(refused(path, "it is not an ELF program for linux/amd64 or linux/arm64")),
    }
}

/// The platform of a program in a directory that becomes the root of an image; for a script, that of its interpreter. Links are followed as
/// in the image. `search` has the directories in which a program without `/` is looked up.
///
/// # Errors
///
/// If it would not start: it is not there, may not be executed, is for another platform than runners have, or its interpreter or dynamic linker is not
/// there. Libraries that it needs are not looked up.
pub fn entrypoint_platform(root: &Path, program: &str, search: &[&str]) -> Result<Platform, ImageError> {
    let mut name = program.to_owned();
    if !name.contains('/') {
        let found = search.iter().map(|directory| format!("{directory}/{name}")).find(|path| open_in(root, path).is_ok());
        name = found.ok_or_else(|| refused(&root.join(&name), &format!("none of the directories {} has it", search.join(", "))))?;
    }
    for _ in 0..MAX_INTERPRETERS {
        let path = root.join(name.trim_start_matches('/'));
        let head = head(open_in(root, &name)?, &path)?;
        if let Some(script) = head.strip_prefix(b"#!") {
            let line = script.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let line = String::from_utf8_lossy(line);
            name = line.split_ascii_whitespace().next().unwrap_or_default().to_owned();
            continue;
        }
        let Some(Program { platform, linker }) = parse(&head) else {
            return Err(refused(&path, "it is neither a script nor an ELF program for linux/amd64 or linux/arm64"));
        };
        if let Some(linker) = linker {
            let missing =
                |_| refused(&path, &format!("its dynamic linker {linker} is not in the directory; link it statically, or add it"));
            open_in(root, &linker).map_err(missing)?;
        }
        return Ok(platform);
    }
    Err(refused(&root.join(program), "its interpreters are scripts of interpreters, too deep for Linux"))
}

/// Opens what may be executed in a directory, with the directory as the root of links.
fn open_in(root: &Path, name: &str) -> Result<File, ImageError> {
    let path = root.join(name.trim_start_matches('/'));
    let directory = File::open(root).map_err(ImageError::io("open", root))?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = rustix::fs::openat2(&directory, name, flags, Mode::empty(), ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS);
    let file = File::from(opened.map_err(|error| refused(&path, &format!("it cannot be opened: {}", io::Error::from(error))))?);
    let metadata = file.metadata().map_err(ImageError::io("read", &path))?;
    if !metadata.is_file() {
        return Err(refused(&path, "it is not a file"));
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err(refused(&path, "it may not be executed: give it the mode 0755"));
    }
    Ok(file)
}

fn refused(path: &Path, reason: &str) -> ImageError {
    ImageError::Pack { path: PathBuf::from(path), reason: reason.into() }
}

fn head(file: File, path: &Path) -> Result<Vec<u8>, ImageError> {
    let mut head = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut head).map_err(ImageError::io::<io::Error>("read", path))?;
    Ok(head)
}

/// What an ELF program says.
fn parse(head: &[u8]) -> Option<Program> {
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
    let wide = |offset: usize| head.get(offset..offset.checked_add(8)?).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    let table = wide(32)?;
    let (size, number) = (usize::from(field(54)?), usize::from(field(56)?));
    let mut offset = usize::try_from(table).ok()?;
    for _ in 0..number {
        let kind = u32::from_le_bytes(head.get(offset..offset.checked_add(4)?)?.try_into().ok()?);
        if kind == INTERPRETER {
            let start = usize::try_from(wide(offset.checked_add(8)?)?).ok()?;
            let length = usize::try_from(wide(offset.checked_add(32)?)?).ok()?;
            let name = head.get(start..start.checked_add(length)?)?;
            let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
            return Some(Program { platform, linker: Some(name) });
        }
        offset = offset.checked_add(size)?;
    }
    Some(Program { platform, linker: None })
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
        let read = |head: &[u8]| parse(head).map(|program| (program.platform, program.linker.is_some()));
        assert_eq!(read(&program(62, &[1, 2])), Some((Platform::Amd64, false)));
        assert_eq!(read(&program(183, &[1])), Some((Platform::Arm64, false)));
        assert_eq!(read(&program(62, &[6, INTERPRETER, 1])), Some((Platform::Amd64, true)));
        assert_eq!(read(&program(3, &[1])), None);
        assert_eq!(read(b"#!/bin/sh\n"), None);
        let good = program(62, &[1]);
        for length in 0..good.len() - 52 {
            assert_eq!(read(&good[..length]), None, "{length}");
        }
        let mut far = good;
        far[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(read(&far), None);
        let mut far = program(62, &[INTERPRETER]);
        far[64 + 8..64 + 16].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(read(&far), None);
    }

    /// What cannot start in an image is found before the image is packed.
    #[test]
    fn entrypoints_start_or_are_refused() {
        let here = tempfile::tempdir().expect("a directory");
        let root = here.path().join("root");
        let write = |name: &str, bytes: &[u8], mode: u32| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
            std::fs::write(&path, bytes).expect("written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("changed");
        };
        let linked = |linker: &[u8]| {
            let mut head = program(62, &[INTERPRETER]);
            let start = u64::try_from(head.len()).expect("short");
            head[64 + 8..64 + 16].copy_from_slice(&start.to_le_bytes());
            head[64 + 32..64 + 40].copy_from_slice(&u64::try_from(linker.len()).expect("short").to_le_bytes());
            [&head, linker].concat()
        };
        write("app", &program(62, &[1]), 0o755);
        write("arm", &program(183, &[1]), 0o755);
        write("plain", &program(62, &[1]), 0o644);
        write("bin/sh", &linked(b"/lib/ld.so\0"), 0o755);
        write("lib/ld.so", &program(62, &[1]), 0o755);
        write("script", b"#! /bin/sh -e\necho\n", 0o755);
        write("lost", &linked(b"/lib64/ld.so\0"), 0o755);
        write("other", b"#!/usr/bin/python3\n", 0o755);
        write("loop", b"#!/loop", 0o755);
        write("text", b"echo", 0o755);
        std::os::unix::fs::symlink("/bin/sh", root.join("absolute")).expect("a link");
        std::os::unix::fs::symlink("../../../app", root.join("climbing")).expect("a link");
        for (name, platform) in [
            ("/app", Platform::Amd64),
            ("/arm", Platform::Arm64),
            ("app", Platform::Amd64),
            ("sh", Platform::Amd64),
            ("/script", Platform::Amd64),
            ("/absolute", Platform::Amd64),
            ("/climbing", Platform::Amd64),
        ] {
            let found = entrypoint_platform(&root, name, &["/bin", "/"]);
            assert_eq!(found.map_err(|error| error.to_string()), Ok(platform), "{name}");
        }
        for (name, reason) in [
            ("/none", "it cannot be opened: No such file"),
            ("none", "none of the directories /bin, / has it"),
            ("/bin", "it is not a file"),
            ("/plain", "it may not be executed"),
            ("/lost", "its dynamic linker /lib64/ld.so is not in the directory"),
            ("/other", "usr/bin/python3 cannot be packed: it cannot be opened"),
            ("/loop", "too deep"),
            ("/text", "neither a script nor an ELF program"),
        ] {
            let error = entrypoint_platform(&root, name, &["/bin", "/"]).expect_err(reason).to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
