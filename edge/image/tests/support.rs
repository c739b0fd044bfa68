//! Images for tests, written byte by byte, so that they can be wrong in any way.

use cowboy_image::{Digest, ImageError, Layout, Options, Platform, unpack};
use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
};
use tar::{EntryType, Header};
use tempfile::TempDir;

/// A tar archive.
#[derive(Clone, Default)]
pub(crate) struct Tar(pub(crate) Vec<u8>);

impl Tar {
    /// An entry as it stands: the name and the target are not changed, and may not be longer than 100 bytes.
    pub(crate) fn entry(mut self, kind: EntryType, name: &[u8], target: &[u8], mode: u32, content: &[u8]) -> Self {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(u64::try_from(content.len()).expect("short"));
        header.set_mtime(1_000_000_000);
        let fields = header.as_gnu_mut().expect("it is");
        fields.name[..name.len()].copy_from_slice(name);
        fields.linkname[..target.len()].copy_from_slice(target);
        header.set_cksum();
        self.0.extend(header.as_bytes());
        self.0.extend(content);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    pub(crate) fn file(self, name: &str, content: &str) -> Self {
        self.entry(EntryType::Regular, name.as_bytes(), b"", 0o644, content.as_bytes())
    }

    pub(crate) fn directory(self, name: &str) -> Self {
        self.entry(EntryType::Directory, name.as_bytes(), b"", 0o755, b"")
    }

    pub(crate) fn symlink(self, name: &str, target: &str) -> Self {
        self.entry(EntryType::Symlink, name.as_bytes(), target.as_bytes(), 0o777, b"")
    }

    pub(crate) fn link(self, name: &str, target: &str) -> Self {
        self.entry(EntryType::Link, name.as_bytes(), target.as_bytes(), 0o644, b"")
    }

    /// A file whose name may be long.
    pub(crate) fn long(self, name: &[u8]) -> Self {
        self.entry(EntryType::GNULongName, b"././@LongLink", b"", 0o644, &[name, &[0]].concat()).entry(
            EntryType::Regular,
            &name[..name.len().min(100)],
            b"",
            0o644,
            b"x",
        )
    }

    pub(crate) fn pax(self, records: &[u8]) -> Self {
        self.entry(EntryType::XHeader, b"PaxHeaders.0/x", b"", 0o644, records)
    }

    /// The archive with its end.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        [&self.0[..], &[0; 1_024]].concat()
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect("memory")
}

/// A layer: its media type, its bytes, and its `diff_id`.
#[derive(Clone)]
pub(crate) struct Layer {
    pub(crate) media_type: String,
    pub(crate) blob: Vec<u8>,
    pub(crate) diff_id: Digest,
}

impl Layer {
    pub(crate) fn new(suffix: &str, blob: Vec<u8>, uncompressed: &[u8]) -> Self {
        Self { media_type: format!("application/vnd.oci.image.layer.v1.tar{suffix}"), blob, diff_id: Digest::of(uncompressed) }
    }
}

impl From<&Tar> for Layer {
    fn from(tar: &Tar) -> Self {
        Self::new("", tar.bytes(), &tar.bytes())
    }
}

/// An image in a layout of its own, below a temporary directory that tests may use, too.
pub(crate) struct Image {
    pub(crate) directory: TempDir,
    pub(crate) layout: PathBuf,
    pub(crate) manifest: Digest,
}

pub(crate) fn descriptor(media_type: &str, bytes: &[u8]) -> String {
    format!(r#"{{"mediaType":"{media_type}","digest":"{}","size":{}}}"#, Digest::of(bytes), bytes.len())
}

impl Image {
    pub(crate) fn new(layers: &[Layer]) -> Self {
        Self::with(layers, r#"{"Entrypoint":["/app"]}"#, "amd64")
    }

    pub(crate) fn with(layers: &[Layer], execution: &str, architecture: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let layout = directory.path().join("layout");
        fs::create_dir_all(layout.join("blobs/sha256")).expect("a directory");
        fs::write(layout.join("oci-layout"), r#"{"imageLayoutVersion": "1.0.0"}"#).expect("written");
        let mut image = Self { directory, layout, manifest: Digest::of(b"") };
        image.manifest = image.add_image(layers, execution, architecture);
        let listed = fs::read(image.blob(&image.manifest)).expect("it was written");
        let index = format!(r#"{{"schemaVersion":2,"manifests":[{}]}}"#, descriptor("application/vnd.oci.image.manifest.v1+json", &listed));
        fs::write(image.layout.join("index.json"), index).expect("written");
        image
    }

    /// Adds another image to the layout, without listing it.
    pub(crate) fn add_image(&self, layers: &[Layer], execution: &str, architecture: &str) -> Digest {
        let diff_ids: Vec<String> = layers.iter().map(|layer| format!("\"{}\"", layer.diff_id)).collect();
        let config = format!(
            r#"{{"architecture":"{architecture}","os":"linux","config":{execution},"rootfs":{{"type":"layers","diff_ids":[{}]}}}}"#,
            diff_ids.join(",")
        );
        self.add(config.as_bytes());
        let layers: Vec<String> = layers
            .iter()
            .map(|layer| {
                self.add(&layer.blob);
                descriptor(&layer.media_type, &layer.blob)
            })
            .collect();
        let manifest = format!(
            r#"{{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{},"layers":[{}]}}"#,
            descriptor("application/vnd.oci.image.config.v1+json", config.as_bytes()),
            layers.join(",")
        );
        self.add(manifest.as_bytes())
    }

    pub(crate) fn add(&self, bytes: &[u8]) -> Digest {
        let digest = Digest::of(bytes);
        fs::write(self.blob(&digest), bytes).expect("written");
        digest
    }

    pub(crate) fn blob(&self, digest: &Digest) -> PathBuf {
        self.layout.join("blobs/sha256").join(digest.hex())
    }

    pub(crate) fn open(&self) -> Layout {
        Layout::open(&self.layout).expect("it is a layout")
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().join("root")
    }

    pub(crate) fn unpack(&self) -> Result<BTreeMap<String, String>, ImageError> {
        self.unpack_with(&options())
    }

    /// What the unpacked tree has.
    pub(crate) fn unpack_with(&self, options: &Options) -> Result<BTreeMap<String, String>, ImageError> {
        unpack(&self.open(), &self.manifest, &self.root(), options).map(|_| tree(&self.root()))
    }
}

pub(crate) fn options() -> Options {
    Options::new(Platform::Amd64)
}

/// Each path with what it is: `755/`, `644 content`, `-> target`.
pub(crate) fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let metadata = fs::symlink_metadata(&path).expect("it is there");
            let mode = metadata.mode() & 0o7777;
            let text = if metadata.is_symlink() {
                format!("-> {}", fs::read_link(&path).expect("a link").display())
            } else if metadata.is_dir() {
                open.push(path.clone());
                format!("{mode:o}/")
            } else {
                format!("{mode:o} {}", String::from_utf8_lossy(&fs::read(&path).expect("a file")))
            };
            let name = path.strip_prefix(root).expect("it is below").as_os_str().as_bytes().escape_ascii().to_string();
            found.insert(name, text);
        }
    }
    found
}

/// An image of these archives, as layers that are not compressed.
pub(crate) fn image(layers: &[Tar]) -> Image {
    Image::new(&layers.iter().map(Layer::from).collect::<Vec<_>>())
}

/// Checks the tree that layers make: each line is a path and what it is.
pub(crate) fn check(layers: &[Tar], expected: &[(&str, &str)]) {
    let found = image(layers).unpack().expect("it is right");
    let expected: BTreeMap<String, String> = expected.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
    assert_eq!(found, expected);
}

/// Checks that layers are refused for this reason, and nothing is left.
pub(crate) fn check_refused(layers: &[Tar], reason: &str) {
    let image = image(layers);
    let error = image.unpack().expect_err(reason).to_string();
    assert!(error.contains(reason), "{error}\nis not for the reason: {reason}");
    assert!(!image.root().exists(), "what was unpacked is removed");
}
