//! Documents and layers of images that anybody could have written: unpacking them panics never, and changes nothing outside the directory.

use cowboy_image::{Digest, Layout, Limits, Options, Platform, unpack};
use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

const TYPES: &[u8] = b"0125gxLK3467VS\0";
/// Names that lead into each other, and out of the image if that were possible.
const NAMES: [&str; 16] = [
    "a",
    "b",
    "a/b",
    "b/a",
    "a/b/a",
    "..",
    "../a",
    "/a",
    "a/../b",
    ".wh.a",
    "a/.wh.b",
    ".wh..wh..opq",
    "b/.wh..wh..opq",
    "./",
    "/tmp",
    "a//./b/",
];

pub(crate) fn body(bytes: &[u8]) {
    let directory = tempfile::tempdir().expect("a directory");
    let here = directory.path();
    fs::create_dir_all(here.join("layout/blobs/sha256")).expect("a directory");
    fs::write(here.join("layout/oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).expect("written");

    attempt(here, &add(here, bytes));
    attempt(here, &image(here, bytes, &[]));
    let Some((kind, rest)) = bytes.split_first() else { return };
    let suffix = ["", "+gzip", "+zstd"][usize::from(kind % 3)];
    let tar = archive(rest);
    let layers = [(suffix, rest), ("", rest), ("", tar.as_slice()), ("", tar.as_slice())];
    let diff_ids: Vec<String> = layers.iter().map(|(_, layer)| format!("\"{}\"", Digest::of(layer))).collect();
    for range in [0..1, 1..2, 2..3, 2..4] {
        let ids = diff_ids[range.clone()].join(",");
        let config = format!(r#"{{"architecture":"amd64","os":"linux","rootfs":{{"type":"layers","diff_ids":[{ids}]}}}}"#);
        attempt(here, &image(here, config.as_bytes(), &layers[range]));
    }
}

fn add(here: &Path, bytes: &[u8]) -> Digest {
    let digest = Digest::of(bytes);
    fs::write(here.join("layout/blobs/sha256").join(digest.hex()), bytes).expect("written");
    digest
}

/// An image of this config and these layers.
fn image(here: &Path, config: &[u8], layers: &[(&str, &[u8])]) -> Digest {
    let descriptor = |media_type: &str, bytes: &[u8]| {
        format!(r#"{{"mediaType":"application/vnd.oci.image.{media_type}","digest":"{}","size":{}}}"#, add(here, bytes), bytes.len())
    };
    let layers: Vec<String> = layers.iter().map(|(suffix, bytes)| descriptor(&format!("layer.v1.tar{suffix}"), bytes)).collect();
    let config = descriptor("config.v1+json", config);
    add(here, format!(r#"{{"schemaVersion":2,"config":{config},"layers":[{}]}}"#, layers.join(",")).as_bytes())
}

/// Unpacks an image, and looks at what is there.
fn attempt(here: &Path, digest: &Digest) {
    let layout = Layout::open(here.join("layout")).expect("it was written");
    let limits = Limits { bytes: 1 << 20, entries: 1_000, ..Limits::default() };
    let root = here.join("root");
    let is_unpacked = unpack(&layout, digest, &root, &Options { limits, ..Options::new(Platform::Amd64) }).is_ok();
    assert_eq!(root.exists(), is_unpacked, "an image that is refused leaves nothing");
    assert_eq!(fs::read_dir(here).expect("a directory").count(), 1 + usize::from(is_unpacked), "nothing is written beside");
    let mut open: Vec<_> = is_unpacked.then(|| root.clone()).into_iter().collect();
    while let Some(directory) = open.pop() {
        // A directory may have no permissions; its owner can give them back.
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).expect("it is ours");
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let metadata = fs::symlink_metadata(&path).expect("it is there");
            assert!(metadata.is_symlink() || metadata.permissions().mode() & 0o7000 == 0);
            assert!(metadata.is_file() || metadata.is_dir() || metadata.is_symlink());
            if metadata.is_dir() {
                open.push(path);
            }
        }
    }
    if is_unpacked {
        fs::remove_dir_all(root).expect("it is ours");
    }
}

/// An archive with right checksums: four bytes are an entry, and the last is how much of the rest is its content.
fn archive(mut bytes: &[u8]) -> Vec<u8> {
    let mut tar = Vec::new();
    while let [kind, name, target, length, rest @ ..] = bytes {
        let content = &rest[..rest.len().min(usize::from(length % 8))];
        bytes = &rest[content.len()..];
        let mut header = [0; 512];
        let texts = [(0, NAMES[usize::from(name % 16)]), (157, NAMES[usize::from(target % 16)]), (100, "0004755"), (257, "ustar\u{0}00")];
        for (offset, text) in texts {
            header[offset..offset + text.len()].copy_from_slice(text.as_bytes());
        }
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[136..147].copy_from_slice(b"00000000000");
        header[156] = TYPES[usize::from(*kind) % TYPES.len()];
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        tar.extend(header);
        tar.extend(content);
        tar.resize(tar.len().next_multiple_of(512), 0);
    }
    tar.resize(tar.len() + 1_024, 0);
    tar
}
