//! Unpacked images are kept, bounded, and never used after they were changed.

use crate::support::{Image, Layer, Tar, descriptor, image, options, tree};
use cowboy_image::{BlobKind, BlobReader, Digest, ImageError, Layout, Options, Source, Store, pull};
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::sync::Semaphore;

const LARGE: u64 = 1 << 30;

/// A source that counts, waits where it is told to, and changes what it is told to.
struct Watched {
    layout: Layout,
    opened: AtomicUsize,
    /// How many of them were configs and layers.
    blobs: AtomicUsize,
    gate: Arc<Semaphore>,
    instead: Mutex<Option<(Digest, Vec<u8>)>>,
}

impl Watched {
    fn new(image: &Image) -> Self {
        let gate = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
        Self { layout: image.open(), opened: AtomicUsize::new(0), blobs: AtomicUsize::new(0), gate, instead: Mutex::new(None) }
    }

    fn opened(&self) -> usize {
        self.opened.swap(0, Ordering::SeqCst)
    }
}

#[async_trait::async_trait]
impl Source for Watched {
    async fn open(&self, kind: BlobKind, digest: &Digest) -> Result<BlobReader, ImageError> {
        self.gate.acquire().await.expect("it is open").forget();
        self.opened.fetch_add(1, Ordering::SeqCst);
        self.blobs.fetch_add(usize::from(kind == BlobKind::Blob), Ordering::SeqCst);
        let instead = self.instead.lock().expect("no panic").clone();
        match instead {
            Some((changed, bytes)) if changed == *digest => Ok(Box::new(std::io::Cursor::new(bytes))),
            _ => self.layout.open(kind, digest).await,
        }
    }
}

fn store(directory: &Path, max_bytes: u64) -> Store {
    Store::open(directory.join("store"), options(), max_bytes).expect("it opens")
}

/// How many images and unfinished directories lie in a store.
fn lying(directory: &Path) -> (usize, usize) {
    let count = |name: &str| fs::read_dir(directory.join("store").join(name)).expect("it is there").count();
    (count("images"), count("staging"))
}

fn program(content: &str) -> Image {
    image(&[Tar::default().file("app", content).directory("etc")])
}

/// An image is fetched and unpacked once, and also found after the store was opened again.
#[tokio::test]
async fn images_are_kept() {
    let image = program("1");
    let source = Watched::new(&image);
    let here = tempfile::tempdir().expect("a directory");
    for opened in [3, 0] {
        let store = store(here.path(), LARGE);
        for opened in [opened, 0] {
            let kept = store.obtain(&image.manifest, &source).await.expect("it is right");
            assert_eq!((kept.digest, kept.config.entrypoint), (image.manifest, vec!["/app".to_owned()]));
            assert_eq!(fs::read_to_string(kept.rootfs.join("app")).expect("a file"), "1");
            assert_eq!(source.opened(), opened);
        }
        assert_eq!(store.images(), [image.manifest]);
        assert_eq!(lying(here.path()), (1, 0));
        assert!(matches!(Store::open(here.path().join("store"), options(), LARGE), Err(ImageError::StoreInUse { .. })));
    }
    let blobs = here.path().join("store/images").join(image.manifest.hex()).join("layout/blobs/sha256");
    assert_eq!(fs::read_dir(blobs).expect("it is there").count(), 2, "no layer is kept");
    let other = Options { owner: rustix::process::geteuid().is_root().then_some((70_000, 70_000)), ..options() };
    let store = Store::open(here.path().join("store"), other, LARGE).expect("it opens");
    assert_eq!(store.images().is_empty(), other.owner.is_some(), "files of another owner are unpacked again");
}

/// An image is the same under its own digest and that of an index, which is remembered.
#[tokio::test]
async fn indexes_name_kept_images() {
    let image = program("1");
    let source = Watched::new(&image);
    let manifest = fs::read(image.blob(&image.manifest)).expect("a file");
    let entry = descriptor("application/vnd.oci.image.manifest.v1+json", &manifest)
        .replace("}", r#","platform":{"os":"linux","architecture":"amd64"}}"#);
    let index = image.add(format!(r#"{{"schemaVersion":2,"manifests":[{entry}]}}"#).as_bytes());
    let here = tempfile::tempdir().expect("a directory");
    for (first, expected) in [(image.manifest, [3, 2, 0]), (index, [4, 0, 0])] {
        let directory = here.path().join(first.hex());
        fs::create_dir(&directory).expect("a directory");
        let store = store(&directory, LARGE);
        for (digest, opened) in [(first, expected[0]), (index, expected[1]), (image.manifest, expected[2]), (index, 0)] {
            assert_eq!(store.obtain(&digest, &source).await.expect("it is right").digest, image.manifest);
            assert_eq!(source.opened(), opened);
        }
        drop(store);
        let store = self::store(&directory, LARGE);
        store.obtain(&index, &source).await.expect("it is right");
        assert_eq!((source.opened(), lying(&directory)), (0, (1, 0)));
    }
}

/// Of many calls at once, one fetches; a call that is given up leaves nothing and does not stop the others.
#[tokio::test]
async fn one_call_unpacks() {
    let image = program("1");
    let mut source = Watched::new(&image);
    source.gate = Arc::new(Semaphore::new(0));
    let (source, here) = (Arc::new(source), tempfile::tempdir().expect("a directory"));
    let store = store(here.path(), LARGE);
    let given_up = tokio::spawn({
        let (store, source, digest) = (store.clone(), source.clone(), image.manifest);
        async move { store.obtain(&digest, &*source).await }
    });
    tokio::task::yield_now().await;
    given_up.abort();
    assert!(given_up.await.is_err());
    assert_eq!(lying(here.path()), (0, 0));
    source.gate.add_permits(1_000);
    let calls = (0..8).map(|_| store.obtain(&image.manifest, &*source));
    let images = futures::future::join_all(calls).await;
    assert!(images.iter().all(Result::is_ok));
    assert_eq!(lying(here.path()), (1, 0));
    assert_eq!(source.blobs.load(Ordering::SeqCst), 2, "one of them asked for the config and the layer");
}

/// Layers that are fetched have the room of the images together: an image waits for one that is fetched slowly, and is not refused.
#[tokio::test]
async fn layers_under_way_have_a_limit() {
    let images = ["1", "2"].map(program);
    let [mut slow, other] = [0, 1].map(|number| Watched::new(&images[number]));
    slow.gate = Arc::new(Semaphore::new(2));
    let (slow, other, here) = (Arc::new(slow), Arc::new(other), tempfile::tempdir().expect("a directory"));
    // Room for one MiB, which each layer begins.
    let store = store(here.path(), 1 << 20);
    let obtain = |source: &Arc<Watched>, digest: Digest| {
        let (store, source) = (store.clone(), source.clone());
        tokio::spawn(async move { store.obtain(&digest, &*source).await })
    };
    let first = obtain(&slow, images[0].manifest);
    while slow.blobs.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let second = obtain(&other, images[1].manifest);
    while other.opened.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(other.blobs.load(Ordering::SeqCst), 0, "it has its manifest, and waits");
    slow.gate.add_permits(10);
    first.await.expect("no panic").expect("it is right");
    second.await.expect("no panic").expect("it is right");
}

/// What is changed in a kept image is noticed at the next use, by whatever change; the image is unpacked again.
#[tokio::test]
async fn changed_images_do_not_run() {
    let image = image(&[Tar::default().file("app", "1").directory("etc").symlink("link", "app").file("other", "2")]);
    let source = Watched::new(&image);
    let here = tempfile::tempdir().expect("a directory");
    let mut open = store(here.path(), LARGE);
    let root = open.obtain(&image.manifest, &source).await.expect("it is right").rootfs;
    let before = tree(&root);
    let documents = root.with_file_name("layout");
    let changes: [&dyn Fn(); 9] = [
        &|| fs::write(root.join("app"), "3").expect("written"),
        &|| fs::write(root.join("new"), "").expect("written"),
        &|| fs::remove_file(root.join("app")).expect("removed"),
        &|| fs::set_permissions(root.join("app"), fs::Permissions::from_mode(0o777)).expect("changed"),
        &|| fs::rename(root.join("app"), root.join("etc/app")).expect("renamed"),
        &|| {
            fs::remove_file(root.join("link")).expect("removed");
            std::os::unix::fs::symlink("other", root.join("link")).expect("a link");
        },
        &|| fs::remove_dir_all(&root).expect("removed"),
        &|| fs::write(documents.join("blobs/sha256").join(image.manifest.hex()), "{}").expect("written"),
        &|| fs::remove_dir_all(&documents).expect("removed"),
    ];
    for is_opened_again in [false, true] {
        for (number, change) in changes.iter().enumerate() {
            source.opened();
            change();
            if is_opened_again {
                drop(open);
                open = store(here.path(), LARGE);
            }
            open.obtain(&image.manifest, &source).await.expect("it is unpacked again");
            assert_eq!((source.opened(), tree(&root)), (3, before.clone()), "change {number}");
        }
    }
    // A file that keeps its length and its times differs in the time of its last change.
    let times = fs::metadata(root.join("app")).expect("it is there").modified().expect("a time");
    fs::write(root.join("app"), "3").expect("written");
    fs::File::options().write(true).open(root.join("app")).and_then(|file| file.set_modified(times)).expect("set");
    open.obtain(&image.manifest, &source).await.expect("it is unpacked again");
    assert_eq!((source.opened(), tree(&root)), (3, before.clone()));
    // Where only the file system's notes differ, contents are compared, and nothing is fetched.
    fs::File::options().write(true).open(root.join("app")).and_then(|file| file.set_modified(times)).expect("set");
    open.obtain(&image.manifest, &source).await.expect("it is the same");
    assert_eq!(source.opened(), 0);
    let in_use = open.obtain(&image.manifest, &source).await.expect("it is right");
    fs::write(root.join("app"), "3").expect("written");
    assert!(matches!(open.obtain(&image.manifest, &source).await, Err(ImageError::ChangedInUse { .. })));
    drop(in_use);
    open.obtain(&image.manifest, &source).await.expect("it is unpacked again");
    assert_eq!(tree(&root), before);
}

/// The least recently used image goes first, one in use never, and what does not fit is refused.
#[tokio::test]
async fn old_images_are_removed() {
    let images = ["1", "2", "3", "4"].map(program);
    let digest = |number: usize| images[number].manifest;
    let here = tempfile::tempdir().expect("a directory");
    let one = {
        let store = store(here.path(), LARGE);
        store.obtain(&digest(0), &images[0].open()).await.expect("it is right");
        store.bytes()
    };
    let open = store(here.path(), 3 * one);
    for number in [1, 2, 0] {
        open.obtain(&digest(number), &images[number].open()).await.expect("it is right");
    }
    assert_eq!(open.images(), [digest(1), digest(2), digest(0)]);
    let in_use = open.obtain(&digest(1), &images[1].open()).await.expect("it is right");
    open.obtain(&digest(2), &images[2].open()).await.expect("it is right");
    open.obtain(&digest(3), &images[3].open()).await.expect("there is room");
    assert_eq!((open.images(), open.bytes()), (vec![digest(1), digest(2), digest(3)], 3 * one));
    open.obtain(&digest(0), &images[0].open()).await.expect("there is room");
    assert_eq!(open.images(), [digest(1), digest(3), digest(0)], "the oldest is in use");
    assert_eq!(lying(here.path()), (3, 0));
    drop(open);
    let small = store(here.path(), one);
    assert_eq!(small.images(), [digest(0)], "a store whose limit was lowered keeps the latest");
    assert!(in_use.rootfs.starts_with(here.path()));
    let held = small.obtain(&digest(0), &images[0].open()).await.expect("it is right");
    let error = small.obtain(&digest(3), &images[3].open()).await.expect_err("there is no room");
    assert!(matches!(error, ImageError::StoreFull { free: 0, .. }), "{error}");
    assert_eq!((small.images(), lying(here.path())), (vec![digest(0)], (1, 0)));
    drop(held);
    small.obtain(&digest(3), &images[3].open()).await.expect("there is room");
}

/// The order of uses survives a restart: a use is noted on disk, too.
#[tokio::test]
async fn uses_are_remembered() {
    let images = ["1", "2", "3", "4"].map(program);
    let digest = |number: usize| images[number].manifest;
    let here = tempfile::tempdir().expect("a directory");
    let open = store(here.path(), LARGE);
    for (number, image) in images.iter().take(3).enumerate() {
        open.obtain(&digest(number), &image.open()).await.expect("it is right");
    }
    let one = open.bytes() / 3;
    drop(open);
    // What the file system notes may be as coarse as the ticks of its clock, so the notes are set far apart.
    let now = std::time::SystemTime::now();
    for (number, hours) in [(0, 3), (1, 2), (2, 1)] {
        let record = here.path().join("store/images").join(digest(number).hex()).join("record.json");
        let used = now - std::time::Duration::from_secs(hours * 3_600);
        fs::File::open(record).and_then(|file| file.set_modified(used)).expect("set");
    }
    let open = store(here.path(), LARGE);
    assert_eq!(open.images(), [digest(0), digest(1), digest(2)]);
    open.obtain(&digest(0), &images[0].open()).await.expect("it is kept");
    assert_eq!(open.images(), [digest(1), digest(2), digest(0)]);
    drop(open);
    let open = store(here.path(), 3 * one);
    assert_eq!(open.images(), [digest(1), digest(2), digest(0)], "the use was noted on disk");
    open.obtain(&digest(3), &images[3].open()).await.expect("there is room");
    assert_eq!(open.images(), [digest(2), digest(0), digest(3)], "the one whose use was longest ago has gone");
}

/// After a crash, what is not complete is removed.
#[tokio::test]
async fn leftovers_are_removed() {
    let image = program("1");
    let here = tempfile::tempdir().expect("a directory");
    store(here.path(), LARGE).obtain(&image.manifest, &image.open()).await.expect("it is right");
    let at = |name: &str| here.path().join("store").join(name);
    for name in ["staging/7/rootfs/a/b", "images/junk", &format!("images/{}/rootfs", Digest::of(b"").hex())] {
        fs::create_dir_all(at(name)).expect("a directory");
    }
    fs::set_permissions(at("staging/7/rootfs/a"), fs::Permissions::from_mode(0o000)).expect("changed");
    fs::write(at("images/file"), "").expect("written");
    assert_eq!(store(here.path(), LARGE).images(), [image.manifest]);
    assert_eq!(lying(here.path()), (1, 0));
    fs::write(at("images").join(image.manifest.hex()).join("record.json"), "{").expect("written");
    assert!(store(here.path(), LARGE).images().is_empty());
    assert_eq!(lying(here.path()), (0, 0));
}

/// A source that changes, lengthens or shortens any blob is noticed, and nothing of it is kept.
#[tokio::test]
async fn sources_are_not_trusted() {
    let tar = Tar::default().file("app", "1");
    let image = image(std::slice::from_ref(&tar));
    let manifest = fs::read(image.blob(&image.manifest)).expect("a file");
    let text = String::from_utf8(manifest.clone()).expect("a text");
    let config: Digest = text.split("digest\":\"").nth(1).and_then(|rest| rest.get(..71)).expect("it has one").parse().expect("a digest");
    let source = Watched::new(&image);
    let here = tempfile::tempdir().expect("a directory");
    let store = store(here.path(), LARGE);
    for digest in [image.manifest, config, Layer::from(&tar).diff_id] {
        let good = fs::read(image.blob(&digest)).expect("a file");
        let mut changed = good.clone();
        changed[0] ^= 1;
        for bytes in [changed, [&good[..], b" "].concat(), good[1..].to_vec(), Vec::new(), vec![b' '; 5 << 20]] {
            *source.instead.lock().expect("no panic") = Some((digest, bytes));
            let error = store.obtain(&image.manifest, &source).await.expect_err("it is wrong");
            let is_noticed =
                matches!(error, ImageError::WrongDigest { .. } | ImageError::WrongSize { .. } | ImageError::LargeDocument { .. });
            assert!(is_noticed, "{error}");
            assert_eq!((lying(here.path()), store.images()), ((0, 0), Vec::new()));
        }
    }
    *source.instead.lock().expect("no panic") = None;
    store.obtain(&image.manifest, &source).await.expect("it is right");
    assert!(matches!(store.obtain(&Digest::of(b"none"), &source).await, Err(ImageError::MissingBlob { .. })));

    let into = here.path().join("pulled");
    let pulled = pull(&source, &image.manifest, options().platform, options().limits, &into).await.expect("it is right");
    assert_eq!(pulled.only().expect("one is listed"), image.manifest);
    assert!(pull(&source, &Digest::of(b"none"), options().platform, options().limits, &here.path().join("none")).await.is_err());
    assert!(!here.path().join("none").exists());
}
