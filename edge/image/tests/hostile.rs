//! Images that want to leave their directory, take too much, or are not what their digests say.

use crate::support::{Image, Layer, Tar, check, check_refused, descriptor, gzip, image, options, zstd};
use cowboy_image::{Digest, ImageError, Limits, Options};
use std::fs;
use tar::EntryType;

/// Paths that climb, and names that no file system has.
#[test]
fn names_are_refused() {
    for name in ["..", "../x", "a/../../x", "a/..", "/../x", "./../x"] {
        check_refused(&[Tar::default().file(name, "")], "the name ..");
        check_refused(&[Tar::default().directory(name)], "the name ..");
        check_refused(&[Tar::default().symlink(name, "x")], "the name ..");
        check_refused(&[Tar::default().file("x", "").link("y", name)], "the name ..");
    }
    check_refused(&[Tar::default().long(&[b'n'; 256])], "a name has 256 bytes");
    check_refused(&[Tar::default().long(format!("{}dd", "d/".repeat(2_047)).as_bytes())], "its path has 4096 bytes");
    check_refused(&[Tar::default().long(b"a\0b")], "zero byte");
    check_refused(&[Tar::default().pax(b"12 path=a\0b\n").file("x", "")], "zero byte");
    check_refused(&[Tar::default().pax(b"16 linkpath=a\0b\n").symlink("x", "")], "zero byte");
    check_refused(&[Tar::default().pax(b"13 path=../x\n").file("x", "")], "the name ..");
    check_refused(&[Tar::default().file("", "")], "the root of the image");
    check_refused(&[Tar::default().symlink("/", "x")], "the root of the image");
    check_refused(&[Tar::default().symlink("x", "")], "without a target");
}

/// A link to a place outside is a link inside: what goes through it stays in the image.
#[test]
fn files_through_links_stay_inside() {
    let outside = tempfile::tempdir().expect("a directory");
    let target = outside.path().to_str().expect("a text");
    let through = Tar::default().symlink("out", target).file("out/file", "x");
    check_refused(&[through], "leads nowhere");
    let with_own = Tar::default().directory(target.trim_start_matches('/')).symlink("out", target).file("out/file", "x");
    let found = image(&[with_own]).unpack().expect("it has a directory of this name itself");
    assert!(found.contains_key(&format!("{}/file", target.trim_start_matches('/'))));
    let climbing = Tar::default().symlink("up", "../../../../../../..").file("up/file", "x");
    check(&[climbing], &[("up", "-> ../../../../../../.."), ("file", "644 x")]);
    // The last name is replaced and never written through.
    let victim = outside.path().join("victim");
    fs::write(&victim, "before").expect("written");
    let last = Tar::default().symlink("v", victim.to_str().expect("a text")).file("v", "after");
    check(&[last], &[("v", "644 after")]);
    let layers = [Tar::default().symlink("v", victim.to_str().expect("a text")), Tar::default().file("v", "after")];
    check(&layers, &[("v", "644 after")]);
    let whiteout = Tar::default().symlink("out", target).file("out/.wh.victim", "").file("out/.wh..wh..opq", "");
    check(&[whiteout], &[("out", &format!("-> {target}"))]);
    assert_eq!(fs::read_to_string(&victim).expect("it is there"), "before");
    assert_eq!(fs::read_dir(outside.path()).expect("it is there").count(), 1);
    // Links of /proc would lead anywhere; a tree has none, and the kernel would not follow them.
    check_refused(&[Tar::default().symlink("p", "/proc/self/root").file("p/file", "x")], "leads nowhere");
}

#[test]
fn links_without_end_are_refused() {
    let circular = Tar::default().symlink("a", "b").symlink("b", "a").file("a/x", "");
    check_refused(&[circular], "without end");
    check_refused(&[Tar::default().symlink("a", "a").file("a/x", "")], "without end");
    let mut chain = Tar::default().directory("l0");
    for number in 0..60 {
        chain = chain.symlink(&format!("l{}", number + 1), &format!("l{number}"));
    }
    check_refused(&[chain.file("l60/x", "")], "without end");
    check_refused(&[Tar::default().file("a", "").file("a/x", "")], "not a directory");
}

#[test]
fn hard_links_stay_inside() {
    check_refused(&[Tar::default().link("x", "/etc/passwd")], "which the image does not have");
    check_refused(&[Tar::default().symlink("e", "/etc").link("x", "e/passwd")], "which the image does not have");
    check_refused(&[Tar::default().directory("d").link("x", "d")], "neither a file nor a symbolic link");
    check_refused(&[Tar::default().file("x", "").link("x", "x")], "links to itself");
    check_refused(&[Tar::default().file("x", "").link("./x", "/x")], "links to itself");
    check_refused(&[Tar::default().file("d/x", "").link("d", "d/x")], "replaces the directory");
    check_refused(&[Tar::default().file("x", "").entry(EntryType::Link, b"y", b"x", 0o644, b"content")], "is not a file");
    check(&[Tar::default().symlink("s", "/etc/passwd").link("x", "s")], &[("s", "-> /etc/passwd"), ("x", "-> /etc/passwd")]);
}

#[test]
fn other_types_are_refused() {
    let cases = [
        (EntryType::Char, "a device"),
        (EntryType::Block, "a device"),
        (EntryType::Fifo, "a named pipe"),
        (EntryType::GNUSparse, "sparse"),
        (EntryType::Continuous, "'7' is not supported"),
        (EntryType::new(b'V'), "'V' is not supported"),
    ];
    for (kind, reason) in cases {
        check_refused(&[Tar::default().entry(kind, b"x", b"", 0o644, b"")], reason);
    }
    check_refused(&[Tar::default().entry(EntryType::Directory, b"x", b"", 0o755, b"hidden")], "is not a file");
    check_refused(&[Tar::default().pax(b"22 GNU.sparse.major=1\n").file("x", "")], "sparse");
    check_refused(&[Tar::default().pax(b"9 size=9\n").file("x", "1")], "different sizes");
    check_refused(&[Tar::default().pax(b"10 path=a\n10 path=b\n").file("x", "")], "say the same");
    check_refused(&[Tar::default().pax(b"10 path=a\n").pax(b"10 path=b\n").file("x", "")], "say the same");
    check_refused(&[Tar::default().pax(b"junk").file("x", "")], "malformed");
    check_refused(&[Tar::default().pax(b"10 path=a\n")], "ends after an extended header");
    check_refused(&[Tar::default().entry(EntryType::XGlobalHeader, b"g", b"", 0o644, b"10 path=a\n")], "a global header");
    check_refused(&[Tar::default().pax(&vec![b'x'; (1 << 20) + 1])], "the limit is 1048576");
}

#[test]
fn whiteouts_of_directories_above_are_refused() {
    for name in [".wh.", "a/.wh.", ".wh..", ".wh...", "a/.wh..", "a/.wh..."] {
        check_refused(&[Tar::default().directory("a"), Tar::default().file(name, "")], "a whiteout of no name");
    }
    check_refused(&[Tar::default().file(".wh..wh.plnk", "")], "unknown kind");
    check_refused(&[Tar::default().file(".wh.a/b", "")], "the name of a whiteout");
    check_refused(&[Tar::default().file(".wh.a", "x")], "an empty file");
    check_refused(&[Tar::default().symlink(".wh.a", "x")], "an empty file");
    check_refused(&[Tar::default().directory(".wh.a")], "an empty file");
}

/// Directories nest up to a depth, also where each path is short.
#[test]
fn depth_is_bounded() {
    let deep = |depth: usize| Tar::default().long(format!("{}f", "d/".repeat(depth)).as_bytes());
    assert_eq!(image(&[deep(256)]).unpack().expect("it is right").len(), 257);
    check_refused(&[deep(257)], "deeper than 256");
    let mut steps = Tar::default();
    for number in 0..4 {
        let here = if number == 0 { String::new() } else { format!("l{number}/") };
        let path = format!("{here}{}", "d/".repeat(80));
        let target = if number == 0 { path.clone() } else { format!("l{number}/{}", "d/".repeat(80)) };
        steps = steps.long(format!("{path}f").as_bytes()).pax(format!("{} linkpath={target}\n", target.len() + 14).as_bytes());
        steps = steps.symlink(&format!("l{}", number + 1), "x");
    }
    check_refused(&[steps], "deeper than 256");
}

fn with_limits(layers: &[Layer], limits: Limits) -> Result<usize, ImageError> {
    let image = Image::new(layers);
    let result = image.unpack_with(&Options { limits, ..options() }).map(|tree| tree.len());
    assert!(result.is_ok() || !image.root().exists());
    result
}

/// Limits hold at their values, over all layers, and reading stops there.
#[test]
fn sizes_are_bounded() {
    let tar = Tar::default().file("a", "1");
    let length = u64::try_from(tar.bytes().len()).expect("short");
    let layers = [Layer::from(&tar), Layer::from(&tar)];
    let limits = |bytes: u64, entries: u64| Limits { bytes, entries, ..Limits::default() };
    assert!(with_limits(&layers, limits(2 * length, 2)).is_ok());
    assert!(matches!(with_limits(&layers, limits(2 * length - 1, 2)), Err(ImageError::TooLarge { .. })));
    assert!(matches!(with_limits(&layers, limits(2 * length, 1)), Err(ImageError::TooManyEntries { limit: 1 })));
    let implied = [Layer::from(&Tar::default().file("a/b/c", "1"))];
    assert!(with_limits(&implied, limits(1 << 20, 3)).is_ok());
    assert!(matches!(with_limits(&implied, limits(1 << 20, 2)), Err(ImageError::TooManyEntries { .. })));
    let mut many = Tar::default();
    for number in 0..2_000 {
        many = many.file(&format!("f{number}"), "");
    }
    assert_eq!(with_limits(&[Layer::from(&many)], limits(1 << 30, 2_000)).expect("it is right"), 2_000);
    assert!(matches!(with_limits(&[Layer::from(&many)], limits(1 << 30, 1_999)), Err(ImageError::TooManyEntries { .. })));
}

/// Decision 706: whiteouts go past the same names again and again, and links lead on to others, without an entry for each.
#[test]
fn work_beside_entries_is_bounded() {
    let mut whiteouts = Tar::default();
    for number in 0..100 {
        whiteouts = whiteouts.file(&format!("d/f{number}"), "");
    }
    for _ in 0..100 {
        whiteouts = whiteouts.file("d/.wh..wh..opq", "").file(".wh.d", "");
    }
    let mut links = Tar::default().directory("a").symlink("l", "a");
    for number in 0..10 {
        links = links.file(&format!("l/f{number}"), "");
    }
    // The directory of the files is one of both.
    for (tar, entries) in [(whiteouts, 301 + 100 * (100 + 101)), (links, 12 + 10 * 100)] {
        let with = |entries: u64| with_limits(&[Layer::from(&tar)], Limits { entries, ..Limits::default() });
        assert!(with(entries).is_ok(), "{entries}");
        assert!(matches!(with(entries - 1), Err(ImageError::TooManyEntries { .. })), "{entries}");
    }
}

/// A bomb is noticed after a mebibyte, or twenty times its size, and not after its end.
#[test]
fn bombs_are_refused() {
    let zeros = Tar::default().entry(EntryType::Regular, b"zeros", b"", 0o644, &vec![0; 8 << 20]).bytes();
    let bombs = [("+gzip", gzip(&zeros)), ("+zstd", zstd(&zeros))];
    for (suffix, blob) in bombs {
        let error = with_limits(&[Layer::new(suffix, blob.clone(), &zeros)], Limits::default()).expect_err("it is a bomb");
        assert!(matches!(error, ImageError::TooCompressed { limit: ..2_097_152, .. }), "{error}");
        let limits = Limits { ratio: 1_000_000, ..Limits::default() };
        assert!(with_limits(&[Layer::new(suffix, blob.clone(), &zeros)], limits).is_ok());
        let limits = Limits { ratio: 1_000_000, bytes: 1 << 20, ..Limits::default() };
        assert!(matches!(with_limits(&[Layer::new(suffix, blob, &zeros)], limits), Err(ImageError::TooLarge { .. })));
    }
    // A bomb in the header of an entry, and one after the end of the archive.
    let name = Tar::default().entry(EntryType::GNULongName, b"x", b"", 0o644, &vec![b'n'; 8 << 20]).bytes();
    assert!(matches!(with_limits(&[Layer::new("+gzip", gzip(&name), &name)], Limits::default()), Err(ImageError::Entry { .. })));
    let tail = [Tar::default().file("a", "").bytes(), vec![0; 8 << 20]].concat();
    assert!(matches!(with_limits(&[Layer::new("+gzip", gzip(&tail), &tail)], Limits::default()), Err(ImageError::TooCompressed { .. })));
    // A frame that wants a window of 128 MiB.
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("memory");
    encoder.window_log(27).expect("a window");
    std::io::Write::write_all(&mut encoder, &zeros).expect("memory");
    let wide = encoder.finish().expect("memory");
    let limits = Limits { ratio: 1_000_000, ..Limits::default() };
    let error = with_limits(&[Layer::new("+zstd", wide, &zeros)], limits).expect_err("the window is too large").to_string();
    assert!(error.contains("too much memory"), "{error}");
}

/// What ends early, has bytes after its end, or is nothing at all.
#[test]
fn broken_layers_are_refused() {
    let tar = Tar::default().file("a", &"x".repeat(2_000)).bytes();
    let refused = |suffix: &str, blob: Vec<u8>, uncompressed: &[u8]| {
        with_limits(&[Layer::new(suffix, blob, uncompressed)], Limits::default()).expect_err("it is broken").to_string()
    };
    for (suffix, blob) in [("+gzip", gzip(&tar)), ("+zstd", zstd(&tar))] {
        for length in [0, 1, 5, blob.len() / 2, blob.len() - 1] {
            let error = refused(suffix, blob[..length].to_vec(), &tar);
            assert!(
                error.contains("cannot be read") || error.contains("is refused") || error.contains("does not match"),
                "{length}: {error}"
            );
        }
        assert!(refused(suffix, [&blob[..], b"garbage!"].concat(), &tar).contains("cannot be read"));
    }
    for length in [1, 511, 513, 600, 2_511, 2_600] {
        refused("", tar[..length].to_vec(), &tar[..length]);
    }
    let after_end = [&tar[..], b"x"].concat();
    assert!(refused("", after_end.clone(), &after_end).contains("bytes follow the end"));
    let second = [tar.clone(), tar.clone()].concat();
    assert!(refused("", second.clone(), &second).contains("bytes follow the end"));
    let mut wrong_sum = tar.clone();
    wrong_sum[0] ^= 1;
    assert!(refused("", wrong_sum.clone(), &wrong_sum).contains("checksum"));
    assert!(with_limits(&[Layer::new("", Vec::new(), b"")], Limits::default()).is_ok(), "an empty layer has no entries");
}

/// Every blob is what its digest, its size and its `diff_id` say, or nothing is unpacked.
#[test]
fn changed_blobs_are_refused() {
    let tar = Tar::default().file("a", "1").bytes();
    let layer = Layer::new("+gzip", gzip(&tar), &tar);
    let wrong = Layer { diff_id: Digest::of(b"other"), ..layer.clone() };
    assert!(matches!(Image::new(&[wrong]).unpack(), Err(ImageError::WrongDiffId { .. })));
    // Gzip has a byte for the system that wrote it, which changes nothing else.
    let image = Image::new(std::slice::from_ref(&layer));
    let mut changed = layer.blob.clone();
    changed[9] ^= 1;
    fs::write(image.blob(&Digest::of(&layer.blob)), &changed).expect("written");
    assert!(matches!(image.unpack(), Err(ImageError::WrongDigest { .. })));
    fs::write(image.blob(&Digest::of(&layer.blob)), [&layer.blob[..], b"x"].concat()).expect("written");
    assert!(matches!(image.unpack(), Err(ImageError::WrongSize { .. })));
    fs::remove_file(image.blob(&Digest::of(&layer.blob))).expect("it is there");
    assert!(matches!(image.unpack(), Err(ImageError::MissingBlob { .. })));
    std::os::unix::fs::symlink("/etc/passwd", image.blob(&Digest::of(&layer.blob))).expect("a link");
    assert!(matches!(image.unpack(), Err(ImageError::Io { .. })), "a link is not followed");
    fs::write(image.blob(&image.manifest), b"{}").expect("written");
    assert!(matches!(image.unpack(), Err(ImageError::WrongDigest { .. })));
}

/// Descriptors and configs that do not fit each other.
#[test]
fn documents_that_disagree_are_refused() {
    let tar = Tar::default().file("a", "1").bytes();
    let image = Image::new(&[]);
    let config = |diff_ids: &str| {
        let text = format!(r#"{{"architecture":"amd64","os":"linux","rootfs":{{"type":"layers","diff_ids":[{diff_ids}]}}}}"#);
        image.add(text.as_bytes());
        text
    };
    let layer = descriptor("application/vnd.oci.image.layer.v1.tar", &tar);
    image.add(&tar);
    let diff_id = format!("\"{}\"", Digest::of(&tar));
    let config_type = "application/vnd.oci.image.config.v1+json";
    let unpack = |config: String, layers: &str| {
        let digest = image.add(format!(r#"{{"schemaVersion":2,"config":{config},"layers":[{layers}]}}"#).as_bytes());
        let _ = fs::remove_dir_all(image.root());
        cowboy_image::unpack(&image.open(), &digest, &image.root(), &options()).map(|_| ())
    };
    let good = config(&diff_id);
    unpack(descriptor(config_type, good.as_bytes()), &layer).expect("it is right");
    let cases = [
        (descriptor(config_type, config("").as_bytes()), layer.clone(), "0 diff_ids"),
        (descriptor(config_type, good.as_bytes()), String::new(), "0 layers"),
        (descriptor("application/json", good.as_bytes()), layer.clone(), "media type"),
        (descriptor(config_type, good.as_bytes()).replace("\"size\":", "\"size\":1"), layer.clone(), "its descriptor says"),
        (descriptor(config_type, good.as_bytes()), layer.replace("\"size\":", "\"size\":1"), "its descriptor says"),
    ];
    for (config, layers, reason) in cases {
        let error = unpack(config, &layers).expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
    }
}
