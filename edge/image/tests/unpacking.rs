//! Layers become the tree that the OCI specification describes.

use crate::support::{Image, Layer, Tar, check, gzip, image, options, tree, zstd};
use cowboy_image::{Config, Digest, ImageError, Layout, Limits, Options, Platform, unpack, verify};
use std::{fs, os::unix::fs::MetadataExt as _};
use tar::EntryType;

/// Files, directories and links of all kinds, with names of all kinds, in one layer.
#[test]
fn a_layer_is_unpacked() {
    let tar = Tar::default()
        .directory("./")
        .directory("bin/")
        .entry(EntryType::Regular, b"bin/tool", b"", 0o4755, b"#!")
        .entry(EntryType::Regular, b"old/", b"", 0o700, b"")
        .symlink("out", "/etc/passwd")
        .symlink("up", "../../../..")
        .link("bin/same", "bin/tool")
        .link("second", "/out")
        .file("/absolute", "a")
        .file("implied/dirs/./file", "b")
        .entry(EntryType::Regular, b"\xff\xfe", b"", 0o666, b"c")
        .entry(EntryType::Directory, b"sticky", b"", 0o3777, b"")
        .entry(EntryType::Directory, b"closed", b"", 0o555, b"")
        .file("closed/file", "d");
    let expected = [
        ("bin", "755/"),
        ("bin/tool", "755 #!"),
        ("bin/same", "755 #!"),
        ("old", "700/"),
        ("out", "-> /etc/passwd"),
        ("up", "-> ../../../.."),
        ("second", "-> /etc/passwd"),
        ("absolute", "644 a"),
        ("implied", "755/"),
        ("implied/dirs", "755/"),
        ("implied/dirs/file", "644 b"),
        ("\\xff\\xfe", "666 c"),
        ("sticky", "777/"),
        ("closed", "555/"),
        ("closed/file", "644 d"),
    ];
    check(&[tar], &expected);
}

/// Links of directories are followed inside the image, and the last name of a path never is.
#[test]
fn links_stay_inside() {
    let lower = Tar::default().directory("usr/lib").symlink("lib", "usr/lib").symlink("abs", "/usr/lib").symlink("climb", "../../usr/lib");
    let upper = Tar::default().file("lib/a", "1").file("abs/b", "2").file("climb/c", "3").file("lib/../x".trim_end_matches("/../x"), "4");
    let expected = [
        ("usr", "755/"),
        ("usr/lib", "755/"),
        ("usr/lib/a", "644 1"),
        ("usr/lib/b", "644 2"),
        ("usr/lib/c", "644 3"),
        ("abs", "-> /usr/lib"),
        ("climb", "-> ../../usr/lib"),
        ("lib", "644 4"),
    ];
    check(&[lower, upper], &expected);
}

/// The last entry of a name counts, whatever was there; other names of a file that is replaced keep its content.
#[test]
fn entries_replace_each_other() {
    let lower = Tar::default().file("a", "1").link("b", "a").directory("d").file("d/x", "2").symlink("s", "d").file("f", "3");
    let upper = Tar::default().file("a", "4").file("d", "5").directory("s").file("s/y", "6").directory("f").file("f/z", "7").file("a", "8");
    let expected = [("a", "644 8"), ("b", "644 1"), ("d", "644 5"), ("s", "755/"), ("s/y", "644 6"), ("f", "755/"), ("f/z", "644 7")];
    check(&[lower, upper], &expected);
    // A directory that comes twice keeps what is in it and gets the later permissions.
    let again = Tar::default().directory("d").file("d/x", "1").entry(EntryType::Directory, b"d", b"", 0o750, b"");
    check(&[again], &[("d", "750/"), ("d/x", "644 1")]);
    let looser = Tar::default().entry(EntryType::Directory, b"d", b"", 0o111, b"").directory("d");
    check(&[looser], &[("d", "755/")]);
    let replaced = Tar::default().entry(EntryType::Directory, b"d", b"", 0o111, b"").file("d", "1");
    check(&[replaced], &[("d", "644 1")]);
}

/// Whiteouts hide what lower layers have, never what their own layer has, in any order.
#[test]
fn whiteouts_hide_lower_layers() {
    let lower = Tar::default()
        .directory("d")
        .file("d/a", "1")
        .directory("d/e")
        .file("d/e/b", "2")
        .file("d/e/c", "3")
        .file("f", "4")
        .symlink("s", "d");
    let rest = [("f", "644 4"), ("s", "-> d")];
    let with = |more: &[(&'static str, &'static str)]| [&rest[..], more].concat();
    let all = with(&[("d", "755/"), ("d/a", "644 1"), ("d/e", "755/"), ("d/e/b", "644 2"), ("d/e/c", "644 3")]);
    let check = |upper: Tar, expected: &[(&str, &str)]| check(&[lower.clone(), upper], expected);
    check(Tar::default(), &all);
    check(Tar::default().file(".wh.d", ""), &rest);
    check(Tar::default().file(".wh.nothing", "").file("nothing/.wh.x", ""), &all);
    check(Tar::default().file("d/.wh.e", ""), &with(&[("d", "755/"), ("d/a", "644 1")]));
    check(Tar::default().file("s/.wh.e", ""), &with(&[("d", "755/"), ("d/a", "644 1")]));
    check(Tar::default().file("d/.wh..wh..opq", ""), &with(&[("d", "755/")]));
    check(Tar::default().file(".wh..wh..opq", ""), &[]);
    check(Tar::default().file("g", "5").file(".wh..wh..opq", ""), &[("g", "644 5")]);
    check(Tar::default().file(".wh..wh..opq", "").file("g", "5"), &[("g", "644 5")]);
    let inside = with(&[("d", "755/"), ("d/e", "755/"), ("d/e/n", "644 6")]);
    check(Tar::default().file("d/e/n", "6").file("d/.wh..wh..opq", ""), &inside);
    check(Tar::default().file("d/e/n", "6").file(".wh.d", ""), &inside);
    check(
        Tar::default().file("d/.wh.a", "").file("d/a", "7"),
        &with(&[("d", "755/"), ("d/a", "644 7"), ("d/e", "755/"), ("d/e/b", "644 2"), ("d/e/c", "644 3")]),
    );
    check(
        Tar::default().file("d/a", "7").file("d/.wh.a", ""),
        &with(&[("d", "755/"), ("d/a", "644 7"), ("d/e", "755/"), ("d/e/b", "644 2"), ("d/e/c", "644 3")]),
    );
    check(
        Tar::default().link("l", "f").file(".wh.f", ""),
        &[("l", "644 4"), ("s", "-> d"), ("d", "755/"), ("d/a", "644 1"), ("d/e", "755/"), ("d/e/b", "644 2"), ("d/e/c", "644 3")],
    );
}

/// Directories that nobody may write into are filled first, also one within another, and by a later layer.
#[test]
fn directories_are_closed_at_the_end() {
    let closed = Tar::default().entry(EntryType::Directory, b"a", b"", 0o555, b"").entry(EntryType::Directory, b"a/b", b"", 0o500, b"");
    let layers = [closed.file("a/b/c", "1"), Tar::default().file("a/b/d", "2").directory("e")];
    check(&layers, &[("a", "555/"), ("a/b", "500/"), ("a/b/c", "644 1"), ("a/b/d", "644 2"), ("e", "755/")]);
}

/// Long names, extended headers with binary values, and other headers that say nothing about files.
#[test]
fn extended_headers_are_read() {
    let name = format!("{}/{}", "d".repeat(255), "n".repeat(255));
    let found = image(&[Tar::default().long(name.as_bytes())]).unpack().expect("it is right");
    assert_eq!(found.get(&name).map(String::as_str), Some("644 x"));
    let tar = Tar::default()
        .entry(EntryType::XGlobalHeader, b"pax_global_header", b"", 0o644, b"13 comment=a\n")
        .pax(b"14 path=other\n29 SCHILY.xattr.a.b=\x00\n\n\x01\n\xff\xff\xff\n9 size=1\n")
        .entry(EntryType::Regular, b"name", b"", 0o644, b"x")
        .pax(b"19 linkpath=target\n")
        .symlink("s", "x");
    check(&[tar], &[("other", "644 x"), ("s", "-> target")]);
}

/// All compressions, media types and platforms, named by the manifest and by an index.
#[test]
fn compressions_and_indexes() {
    let tar = Tar::default().file("a", "1").bytes();
    let two_members = [gzip(&tar[..512]), gzip(&tar[512..])].concat();
    let layers = [("", tar.clone()), ("+gzip", gzip(&tar)), ("+gzip", two_members), ("+zstd", zstd(&tar))];
    for (suffix, blob) in layers {
        let oci = Layer::new(suffix, blob.clone(), &tar);
        let docker =
            Layer { media_type: format!("application/vnd.docker.image.rootfs.diff.tar{}", suffix.replace('+', ".")), ..oci.clone() };
        for layer in [oci, docker] {
            assert_eq!(Image::new(&[layer]).unpack().expect("it is right").len(), 1);
        }
    }
    let foreign =
        Layer { media_type: "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip".into(), ..Layer::new("", gzip(&tar), &tar) };
    assert!(matches!(Image::new(&[foreign]).unpack(), Err(ImageError::MediaType { .. })));

    let image = Image::with(&[Layer::new("", tar.clone(), &tar)], r#"{"Cmd":["amd"]}"#, "amd64");
    let arm = image.add_image(&[Layer::new("", tar.clone(), &tar)], r#"{"Cmd":["arm"]}"#, "arm64");
    let entry = |digest: &Digest, platform: &str| {
        let size = fs::metadata(image.blob(digest)).expect("it is there").len();
        format!(r#"{{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"{digest}","size":{size},"platform":{platform}}}"#)
    };
    let index = |entries: &[String]| image.add(format!(r#"{{"schemaVersion":2,"manifests":[{}]}}"#, entries.join(",")).as_bytes());
    let all = index(&[
        entry(&arm, r#"{"os":"unknown","architecture":"unknown"}"#),
        entry(&arm, r#"{"os":"linux","architecture":"amd64","variant":"v3"}"#),
        entry(&image.manifest, r#"{"os":"linux","architecture":"amd64"}"#),
        entry(&arm, r#"{"os":"linux","architecture":"arm64","variant":"v8"}"#),
    ]);
    let run = |digest: &Digest, platform: Platform| {
        let into = tempfile::tempdir().expect("a directory");
        unpack(&image.open(), digest, &into.path().join("root"), &Options::new(platform)).map(|config| config.command.concat())
    };
    assert_eq!(run(&all, Platform::Amd64).expect("it has it"), "amd");
    assert_eq!(run(&all, Platform::Arm64).expect("it has it"), "arm");
    assert_eq!(run(&arm, Platform::Arm64).expect("it is it"), "arm");
    assert!(matches!(run(&arm, Platform::Amd64), Err(ImageError::Platform { .. })));
    let false_platform = index(&[entry(&arm, r#"{"os":"linux","architecture":"amd64"}"#)]);
    assert!(matches!(run(&false_platform, Platform::Amd64), Err(ImageError::Platform { .. })), "the config decides");
    let nested = index(&[entry(&all, r#"{"os":"linux","architecture":"amd64"}"#)]);
    assert!(run(&nested, Platform::Amd64).is_err_and(|error| error.to_string().contains("an index in an index")));
    let verified = verify(&image.open(), &all, Limits::default()).expect("both are right");
    assert_eq!(
        verified.iter().map(|one| (one.described.manifest, one.described.layers)).collect::<Vec<_>>(),
        [(image.manifest, 1), (arm, 1)]
    );
    assert_eq!(image.open().only().expect("one is listed"), image.manifest);
    assert!(verify(&image.open(), &index(&[]), Limits::default()).is_err());
}

/// Times are kept, and everything has the owner that was asked for.
#[test]
fn times_and_owners() {
    let tar = Tar::default().directory("d").file("d/f", "1").symlink("l", "d");
    let image = image(&[tar]);
    let owner = rustix::process::geteuid().is_root().then_some((70_000, 70_001));
    image.unpack_with(&Options { owner, ..options() }).expect("it is right");
    for path in ["", "d", "d/f", "l"] {
        let metadata = fs::symlink_metadata(image.root().join(path)).expect("it is there");
        let own = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        assert_eq!((metadata.uid(), metadata.gid()), owner.unwrap_or(own), "{path}");
        if path.ends_with('f') || path == "l" {
            assert_eq!(metadata.mtime(), 1_000_000_000);
        }
    }
}

/// A layout is read whatever wrote it, and a directory that exists is not unpacked into.
#[test]
fn layouts_and_directories() {
    let image = image(&[Tar::default().file("a", "1")]);
    assert_eq!(unpack(&image.open(), &image.manifest, &image.root(), &options()).expect("it is right"), {
        Config { entrypoint: vec!["/app".into()], ..Config::new(Platform::Amd64) }
    });
    assert!(matches!(image.unpack(), Err(ImageError::Io { .. })), "it exists");
    assert_eq!(tree(&image.root()).len(), 1, "and stays");
    assert!(Layout::open(image.directory.path()).is_err());
    for marker in ["", "{}", r#"{"imageLayoutVersion":"2.0.0"}"#] {
        fs::write(image.layout.join("oci-layout"), marker).expect("written");
        assert!(Layout::open(&image.layout).is_err(), "{marker}");
    }
}
