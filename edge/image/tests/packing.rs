//! Packed images have the same bytes everywhere, and other tools read them.

use crate::support::{Tar, tree};
use cowboy_image::{
    Config, Contents, Digest, ImageError, Layout, Limits, Options, Platform, describe, environment, pack, program_platform, read_archive,
    unpack, verify, write_archive,
};
use std::{
    fs,
    io::Write as _,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{PermissionsExt as _, symlink},
    },
    path::Path,
    process::{Command, Output},
    time::{Duration, SystemTime},
};

/// A directory with everything that an image can have, made in an order that depends on `turn`.
fn source(root: &Path, turn: usize) {
    let long = "l".repeat(200);
    let mut steps: Vec<Box<dyn Fn()>> = vec![
        Box::new(|| write(root, "app", "#!/bin/sh\n", 0o700)),
        Box::new(|| write(root, "etc/config", "a=1\n", 0o600)),
        Box::new(|| write(root, "etc-more", "", 0o666)),
        Box::new(|| fs::create_dir_all(root.join("empty")).expect("a directory")),
        Box::new(|| symlink("../app", root.join("link")).expect("a link")),
        Box::new(|| symlink(format!("/{long}"), root.join("long")).expect("a link")),
        Box::new(|| write(root, &format!("{long}/{long}"), "long", 0o444)),
        Box::new(|| fs::write(root.join(std::ffi::OsStr::from_bytes(b"\xff")), "bytes").expect("written")),
    ];
    let number = steps.len();
    steps.rotate_left(turn % number);
    steps.iter().for_each(|step| step());
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 * u64::try_from(turn).expect("small"));
    fs::File::open(root.join("app")).and_then(|file| file.set_modified(time)).expect("set");
}

fn write(root: &Path, name: &str, content: &str, mode: u32) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
    fs::write(&path, content).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("changed");
}

fn config() -> Config {
    Config {
        entrypoint: vec!["/app".into()],
        command: vec!["run".into()],
        environment: environment(&["PATH=/bin".into(), "A=\"é".into()]).expect("they are right"),
        working_dir: "/etc".into(),
        ..Config::new(Platform::Amd64)
    }
}

/// The digest of a packed image does not depend on the order, times and owners of files, and never changes.
#[test]
fn packed_images_are_frozen() {
    let here = tempfile::tempdir().expect("a directory");
    let mut packed = Vec::new();
    for turn in 0..8 {
        let root = here.path().join(format!("root{turn}"));
        fs::create_dir(&root).expect("a directory");
        source(&root, turn);
        let (layout, digest) =
            pack(Contents::Directory(&root), &config(), "latest", &here.path().join(format!("image{turn}"))).expect("it is right");
        packed.push((digest.to_string(), fs::read(layout.directory().join("index.json")).expect("a file")));
    }
    assert!(packed.iter().all(|image| *image == packed[0]));
    assert_eq!(packed[0].0, FROZEN);
}

const FROZEN: &str = "sha256:5005c3cb25424df6b8132d2855dbc71240ae72835ecf0dcf8e2584f1d2133dc6";

/// What was packed is unpacked.
#[test]
fn packed_images_are_unpacked() {
    let here = tempfile::tempdir().expect("a directory");
    let (root, image, out) = (here.path().join("root"), here.path().join("image"), here.path().join("out"));
    fs::create_dir(&root).expect("a directory");
    source(&root, 0);
    let (layout, digest) = pack(Contents::Directory(&root), &config(), "latest", &image).expect("it is right");
    assert_eq!(unpack(&layout, &digest, &out, &Options::new(Platform::Amd64)).expect("it is right"), config());
    let mut expected = tree(&root);
    for text in expected.values_mut() {
        let content = text.split_once(' ').map(|(_, content)| content.to_owned());
        *text = match (&text[..3], content) {
            ("700", Some(content)) => format!("755 {content}"),
            ("-> ", Some(content)) => format!("-> {content}"),
            (_, Some(content)) => format!("644 {content}"),
            _ => "755/".into(),
        };
    }
    assert_eq!(tree(&out), expected);
    let verified = verify(&layout, &digest, Limits::default()).expect("it is right");
    assert_eq!(verified.iter().map(|one| (&one.described.config, one.described.layers)).collect::<Vec<_>>(), [(&config(), 1)]);
    let described: Vec<_> = verified.into_iter().map(|one| one.described).collect();
    assert_eq!(describe(&layout, &digest).expect("it is right"), described);
    assert_eq!(Layout::open(&image).and_then(|layout| layout.only()).expect("one"), digest);
    let again = pack(Contents::Directory(&root), &config(), "latest", &image);
    assert!(matches!(again, Err(ImageError::Io { .. })) && image.exists(), "an image is not overwritten");
}

#[test]
fn other_contents_are_refused() {
    let here = tempfile::tempdir().expect("a directory");
    let refused = |contents: Contents<'_>, config: &Config, reason: &str| {
        let into = here.path().join("image");
        let error = pack(contents, config, "latest", &into).expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
        assert!(!into.exists());
    };
    let root = |name: &str| {
        let root = here.path().join(name);
        fs::create_dir(&root).expect("a directory");
        root
    };
    let whiteout = root("whiteout");
    write(&whiteout, "d/.wh.x", "", 0o644);
    refused(Contents::Directory(&whiteout), &config(), "names that begin with .wh.");
    let socket = root("socket");
    let _listener = std::os::unix::net::UnixListener::bind(socket.join("s")).expect("a socket");
    refused(Contents::Directory(&socket), &config(), "it is not a file, directory or symbolic link");
    let deep = root("deep");
    fs::create_dir_all(deep.join("d/".repeat(257))).expect("directories");
    refused(Contents::Directory(&deep), &config(), "deeper than 256");
    let empty = root("empty");
    refused(Contents::Directory(&empty), &Config { working_dir: "etc".into(), ..config() }, "not absolute");
    refused(Contents::Directory(&empty), &Config { command: vec!["\0".into()], ..config() }, "zero byte");
    refused(Contents::Directory(&empty), &Config { command: vec![String::new(); 1_001], ..config() }, "more than 1000 elements");
    refused(Contents::Directory(&here.path().join("none")), &config(), "No such file");
    let script = here.path().join("script");
    fs::write(&script, "#!/bin/sh\n").expect("written");
    refused(Contents::Program(&script), &config(), "not an ELF program");
    assert!(environment(&["A".into()]).is_err() && environment(&vec!["A=1".to_owned(); 1_001]).is_err());
}

/// A program of its own becomes an image that starts it.
#[test]
fn programs_are_packed() {
    let here = tempfile::tempdir().expect("a directory");
    let program = here.path().join("program");
    let mut bytes = vec![0; 64];
    bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
    bytes[18] = 183;
    fs::write(&program, &bytes).expect("written");
    let platform = program_platform(&program).expect("it is a program");
    let (layout, digest) =
        pack(Contents::Program(&program), &Config::new(platform), "latest", &here.path().join("image")).expect("it is right");
    let out = here.path().join("out");
    let config = unpack(&layout, &digest, &out, &Options::new(Platform::Arm64)).expect("it is right");
    assert_eq!(config.arguments(&["x".into()]), ["/app", "x"]);
    assert_eq!(fs::read(out.join("app")).expect("a file"), bytes);
    let other = Config { platform: Platform::Amd64, ..config };
    assert!(
        pack(Contents::Program(&program), &other, "latest", &here.path().join("other")).is_err(),
        "the program is for another platform"
    );
}

/// A layout in one file has the same bytes everywhere, and comes out as it went in.
#[test]
fn archives_have_layouts() {
    let here = tempfile::tempdir().expect("a directory");
    let at = |name: &str| here.path().join(name);
    fs::create_dir(at("root")).expect("a directory");
    source(&at("root"), 0);
    let (layout, digest) = pack(Contents::Directory(&at("root")), &config(), "latest", &at("image")).expect("it is right");
    write_archive(&layout, &at("image.tar")).expect("it is written");
    assert!(write_archive(&layout, &at("image.tar")).is_err(), "a file is not overwritten");
    let bytes = fs::read(at("image.tar")).expect("a file");
    assert_eq!(Digest::of(&bytes).to_string(), FROZEN_ARCHIVE);
    let again = read_archive(&at("image.tar"), &at("again"), Limits::default()).expect("it is right");
    assert_eq!((again.only().expect("one"), tree(&at("again"))), (digest, tree(&at("image"))));

    let read = |tar: &Tar, limits: Limits| {
        fs::write(at("other.tar"), tar.bytes()).expect("written");
        let read = read_archive(&at("other.tar"), &at("other"), limits);
        assert_eq!(read.is_ok(), at("other").exists());
        let _ = fs::remove_dir_all(at("other"));
        read.map(|_| ()).map_err(|error| error.to_string())
    };
    let good = Tar::default()
        .file("./oci-layout", r#"{"imageLayoutVersion":"1.0.0"}"#)
        .file("index.json", r#"{"schemaVersion":2,"manifests":[]}"#);
    let blob = |content: &str| good.clone().file(&format!("blobs/sha256/{}", Digest::of(b"x").hex()), content);
    let others = blob("x")
        .directory("blobs")
        .file("../../climb", "")
        .file("/absolute", "")
        .symlink("blobs/sha256/x", "/etc")
        .file("manifest.json", "");
    read(&others, Limits::default()).expect("what else is there is left out");
    assert!(!at("climb").exists());
    let mut truncated = bytes.clone();
    truncated.truncate(bytes.len() / 2);
    fs::write(at("truncated.tar"), truncated).expect("written");
    assert!(read_archive(&at("truncated.tar"), &at("truncated"), Limits::default()).is_err() && !at("truncated").exists());
    let cases = [
        (Tar::default(), Limits::default(), "not an OCI image layout"),
        (blob("y"), Limits::default(), "was changed"),
        (blob("x").file("index.json", ""), Limits::default(), "File exists"),
        (Tar::default().symlink("index.json", "/etc/passwd"), Limits::default(), "is not a file"),
        (Tar::default().file("index.json", &" ".repeat((4 << 20) + 1)), Limits::default(), "limit is 4194304"),
        (blob("x"), Limits { bytes: 2_048, ..Limits::default() }, "more than 2048 bytes"),
        (blob("x"), Limits { entries: 2, ..Limits::default() }, "more than 2 entries"),
    ];
    for (tar, limits, reason) in cases {
        let error = read(&tar, limits).expect_err(reason);
        assert!(error.contains(reason), "{error}");
    }
}

const FROZEN_ARCHIVE: &str = "sha256:6557af4161d335f21519c9ca718370b01b0a9081c2fb4ae5b568739155f69b3b";

fn run(program: &str, arguments: &[&str]) -> Option<Output> {
    match Command::new(program).args(arguments).output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let _ = writeln!(std::io::stderr(), "left out: no {program} here (Debian package: {program})");
            None
        }
        Err(error) => panic!("{program}: {error}"),
    }
}

/// skopeo reads a packed image, and umoci unpacks it to the same files. Where they are not installed, it says so and tests nothing.
#[test]
fn other_tools_read_packed_images() {
    let here = tempfile::tempdir().expect("a directory");
    let (root, image, bundle) = (here.path().join("root"), here.path().join("image"), here.path().join("bundle"));
    fs::create_dir(&root).expect("a directory");
    source(&root, 0);
    let (layout, digest) = pack(Contents::Directory(&root), &config(), "latest", &image).expect("it is right");
    let name = format!("{}:latest", layout.directory().display());
    if let Some(output) = run("skopeo", &["inspect", &format!("oci:{name}")]) {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(&digest.to_string()) && text.contains("PATH=/bin"), "{text}");
        let archive = here.path().join("image.tar");
        write_archive(&layout, &archive).expect("it is written");
        let output = run("skopeo", &["inspect", &format!("oci-archive:{}:latest", archive.display())]).expect("it was there before");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let rootless: &[&str] = if rustix::process::geteuid().is_root() { &[] } else { &["--rootless"] };
    let unpack_arguments = [&["unpack"], rootless, &["--image", &name, bundle.to_str().expect("a text")]].concat();
    if let Some(output) = run("umoci", &unpack_arguments) {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let out = here.path().join("out");
        unpack(&layout, &digest, &out, &Options::new(Platform::Amd64)).expect("it is right");
        assert_eq!(tree(&bundle.join("rootfs")), tree(&out));
    }
    assert_eq!(Digest::of(&layout.document(&digest).expect("it is there")), digest);
}
