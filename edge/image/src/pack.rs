//! Making an image with the same bytes on every computer.
//!
//! The one layer is not compressed: what a compressor writes depends on its version, and with some on the processor.

use crate::{
    config::{Config, Platform, variables},
    digest::Digest,
    documents::{
        CONFIG, ConfigDocument, Descriptor, Document, Execution, LAYER, List, MANIFEST, MAX_ITEMS, PlatformDocument, REF_NAME, RootFs,
        encode,
    },
    entries::EntryPath,
    error::ImageError,
    layout::Layout,
    program::program_platform,
    tarball::{add_file, append, header, refused},
    tree::MAX_TREE_DEPTH,
    walk,
};
use sha2::{Digest as _, Sha256};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::File,
    io::{self, BufWriter, Write},
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _},
    path::Path,
};
use tar::{Builder, EntryType};

/// Where a single program lies in its image.
pub const PROGRAM_PATH: &str = "/app";
/// The time of everything in a packed image.
const CREATED: &str = "1970-01-01T00:00:00Z";
/// What an image is made of.
#[derive(Clone, Copy, Debug)]
pub enum Contents<'a> {
    /// The directory whose contents are the root of the image.
    Directory(&'a Path),
    /// A statically linked program, which becomes `/app` and, if the config has no entrypoint, the entrypoint.
    Program(&'a Path),
}

/// Makes an image in a layout that it creates, and returns the digest of its manifest.
///
/// Names are sorted, times and owners are 0, and permissions are 0755 for directories and programs and 0644 for other files. Symbolic links are kept,
/// hard links become files of their own. `name` is how the layout's index calls the image.
///
/// # Errors
///
/// If the directory exists, the config is not one that [`crate::unpack`] takes, or the contents have devices, pipes, sockets, names of whiteouts, or a program
/// for another platform.
pub fn pack(contents: Contents<'_>, config: &Config, name: &str, into: &Path) -> Result<(Layout, Digest), ImageError> {
    std::fs::create_dir(into).map_err(ImageError::io("create", into))?;
    let packed = pack_into(contents, config, name, into);
    if packed.is_err() {
        // The reason of the failure says more than a failure to remove what there is.
        let _ = walk::remove_path(into);
    }
    packed
}

fn pack_into(contents: Contents<'_>, config: &Config, name: &str, into: &Path) -> Result<(Layout, Digest), ImageError> {
    let layout = Layout::create(into)?;
    let layer = write_layer(&layout, contents, config.platform)?;
    let mut config = config.clone();
    if matches!(contents, Contents::Program(_)) && config.entrypoint.is_empty() {
        config.entrypoint.push(PROGRAM_PATH.into());
    }
    let bytes = encode(&document(&config, layer.digest));
    let config_digest = layout.add(&bytes)?;
    let config_descriptor = descriptor(CONFIG, config_digest, bytes.len());
    let bytes = encode(&Document::manifest(config_descriptor, vec![layer]));
    let digest = layout.add(&bytes)?;
    // What unpacking would refuse is refused now.
    layout.resolve(&digest, config.platform)?;
    let listed = Descriptor {
        platform: Some(PlatformDocument { architecture: config.platform.architecture().into(), os: "linux".into(), variant: None }),
        annotations: Some(BTreeMap::from([(REF_NAME.into(), name.into())])),
        ..descriptor(MANIFEST, digest, bytes.len())
    };
    layout.list(vec![listed])?;
    Ok((layout, digest))
}

fn descriptor(media_type: &str, digest: Digest, length: usize) -> Descriptor {
    let size = u64::try_from(length).unwrap_or(u64::MAX);
    Descriptor { media_type: media_type.into(), digest, size, platform: None, annotations: None }
}

fn document(config: &Config, diff_id: Digest) -> ConfigDocument {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    ConfigDocument {
        created: Some(CREATED.into()),
        architecture: config.platform.architecture().into(),
        os: "linux".into(),
        variant: None,
        config: Some(Execution {
            user: text(&config.user),
            env: List(config.environment.iter().map(|(name, value)| format!("{name}={value}")).collect()),
            entrypoint: List(config.entrypoint.clone()),
            cmd: List(config.command.clone()),
            working_dir: text(&config.working_dir),
            stop_signal: config.stop_signal.clone(),
        }),
        rootfs: RootFs { kind: "layers".into(), diff_ids: List(vec![diff_id]) },
    }
}

/// Reads variables as people write them, `NAME=value`, for a config.
///
/// # Errors
///
/// If a text has another form, or there are more than an image may have.
pub fn environment(texts: &[String]) -> Result<Vec<(String, String)>, ImageError> {
    if texts.len() > MAX_ITEMS {
        return Err(ImageError::Document { what: "config", reason: format!("it has more than {MAX_ITEMS} variables, which is the limit") });
    }
    variables(texts)
}

/// Writes the layer and returns its descriptor. It is not compressed, so that its digest is its `diff_id`, too.
fn write_layer(layout: &Layout, contents: Contents<'_>, platform: Platform) -> Result<Descriptor, ImageError> {
    let directory = layout.blobs();
    let failed = |action| ImageError::io::<io::Error>(action, &directory);
    let mut temporary = tempfile::NamedTempFile::new_in(&directory).map_err(failed("create a file in"))?;
    let hashed = Hashed { inner: temporary.as_file_mut(), hash: Sha256::new(), size: 0 };
    let mut builder = Builder::new(BufWriter::with_capacity(64 << 10, hashed));
    match contents {
        Contents::Directory(path) => add_directory(&mut builder, path)?,
        Contents::Program(path) => {
            let found = program_platform(path)?;
            if found != platform {
                return Err(refused(path, format!("it is a program for {found}, and the image is for {platform}")));
            }
            let name = EntryPath::parse(PROGRAM_PATH.as_bytes()).expect("the constant is a path").bytes();
            add_file(&mut builder, path, &name, 0o755)?;
        }
    }
    let writer = builder.into_inner().map_err(failed("write a layer in"))?;
    let hashed = writer.into_inner().map_err(|error| failed("write a layer in")(error.into_error()))?;
    let (digest, size) = (Digest(hashed.hash.finalize().into()), hashed.size);
    temporary.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(failed("change the mode of a layer in"))?;
    temporary.persist(layout.blob_path(&digest)).map_err(|error| failed("rename a layer in")(error.error))?;
    Ok(Descriptor { media_type: LAYER.into(), digest, size, platform: None, annotations: None })
}

type Archive<'a> = Builder<BufWriter<Hashed<&'a mut File>>>;

/// A directory of the walk: the entry's path, and the names that are still to be added, the first one last.
type Open = (EntryPath, Vec<Vec<u8>>);

fn add_directory(builder: &mut Archive<'_>, root: &Path) -> Result<(), ImageError> {
    let mut open: Vec<Open> = vec![(EntryPath::default(), names(root)?)];
    while let Some((above, rest)) = open.last_mut() {
        let Some(name) = rest.pop() else {
            open.pop();
            continue;
        };
        let path = EntryPath([above.0.as_slice(), &[name]].concat());
        let host = root.join(OsStr::from_bytes(&path.bytes()));
        if add(builder, &host, &path)? {
            if path.0.len() > usize::from(MAX_TREE_DEPTH) {
                return Err(refused(&host, format!("directories nest deeper than {MAX_TREE_DEPTH}, which is the limit")));
            }
            let names = names(&host)?;
            open.push((path, names));
        }
    }
    Ok(())
}

/// The names in a directory, in descending order of their bytes.
fn names(directory: &Path) -> Result<Vec<Vec<u8>>, ImageError> {
    let failed = |error| ImageError::io::<io::Error>("read", directory)(error);
    let entries = std::fs::read_dir(directory).map_err(failed)?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name().as_bytes().to_vec()));
    let mut names = names.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    names.sort_unstable_by(|left, right| right.cmp(left));
    Ok(names)
}

/// Adds one entry; true if it is a directory.
fn add(builder: &mut Archive<'_>, host: &Path, path: &EntryPath) -> Result<bool, ImageError> {
    let name = path.bytes();
    EntryPath::parse(&name).map_err(|reason| refused(host, reason))?;
    if path.0.last().is_some_and(|name| name.starts_with(b".wh.")) {
        return Err(refused(host, "names that begin with .wh. hide files of other layers".into()));
    }
    let metadata = std::fs::symlink_metadata(host).map_err(ImageError::io("read", host))?;
    if metadata.is_dir() {
        append(builder, host, &header(EntryType::Directory, 0o755, 0), &[&name[..], b"/"].concat(), None, &mut io::empty())?;
        return Ok(true);
    }
    if metadata.is_symlink() {
        let target = std::fs::read_link(host).map_err(ImageError::io("read", host))?;
        let target = target.as_os_str().as_bytes();
        append(builder, host, &header(EntryType::Symlink, 0o777, 0), &name, Some(target), &mut io::empty())?;
        return Ok(false);
    }
    if !metadata.is_file() {
        return Err(refused(host, "it is not a file, directory or symbolic link".into()));
    }
    let mode = if metadata.permissions().mode() & 0o111 == 0 { 0o644 } else { 0o755 };
    add_file(builder, host, &name, mode)?;
    Ok(false)
}

/// Hashes and counts what is written.
struct Hashed<W> {
    inner: W,
    hash: Sha256,
    size: u64,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.inner.write(bytes)?;
        self.hash.update(bytes.get(..length).unwrap_or_default());
        self.size += u64::try_from(length).unwrap_or(u64::MAX);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
