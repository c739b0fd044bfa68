//! The mounted folder, as the kernel asks for it, over a volume in memory.

use super::*;
use crate::fault::Fault;
use crate::testing::{Kept, OWNER, engine, locally, spool};
use cowboy_cli::volumes::Rights;
use cowboy_volumes::code::OBJECT_BYTES;

mod retries;

/// A mounted volume, and what a test sees of it.
fn mounted(rights: Rights) -> (Rc<Mounted>, Rc<Kept>) {
    let (engine, kept) = engine(rights, false);
    (over(engine, Journal::default()), kept)
}

/// A mounted volume that keeps removals that failed in a journal.
fn over(engine: Rc<Engine>, journal: Journal) -> Rc<Mounted> {
    Mounted::new(engine, spool(4 << 20), journal, Metrics::new(), Output { json: true })
}

async fn create(mounted: &Mounted, path: &str) -> u64 {
    mounted.create(path).await.unwrap_or_else(|error| panic!("{path}: {error:?}")).1
}

async fn write(mounted: &Rc<Mounted>, handle: u64, offset: u64, bytes: &'static [u8]) -> Result<u32, Errno> {
    mounted.write(handle, Some(offset), Bytes::from_static(bytes)).await
}

/// Makes a file as `echo > path` does, without waiting for its commit.
async fn put(mounted: &Rc<Mounted>, path: &str, content: &'static [u8]) {
    let handle = create(mounted, path).await;
    write(mounted, handle, 0, content).await.expect("it is open for writing");
    mounted.close(handle);
}

/// Reads a file as `cat` does.
async fn cat(mounted: &Rc<Mounted>, path: &str) -> Result<Vec<u8>, Errno> {
    let handle = mounted.open(path, false, false).await?;
    let found = mounted.read(handle, 0, u32::MAX).await;
    mounted.close(handle);
    found
}

async fn names(mounted: &Mounted, folder: &str) -> Vec<String> {
    mounted.names(folder).await.map(|names| names.into_keys().collect()).unwrap_or_default()
}

/// What is left in the spool once what ran in the background has let go of it.
async fn left(mounted: &Mounted) -> u64 {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    mounted.spool.used()
}

/// Files that are written are there at once, and are committed once they are closed.
#[test]
fn files_are_written_and_committed() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        mounted.mkdir("notes").await.expect("its owner may");
        mounted.mkdir("notes/deep").await.expect("its owner may");
        for path in ["notes/a", "notes/b", "notes/c", "notes/d", "notes/deep/e"] {
            put(&mounted, path, b"hello").await;
        }
        assert_eq!(names(&mounted, "").await, ["notes"]);
        assert_eq!(names(&mounted, "notes").await, ["a", "b", "c", "d", "deep"]);
        assert_eq!(cat(&mounted, "notes/deep/e").await, Ok(b"hello".to_vec()));
        mounted.settle().await;
        assert_eq!(kept.paths().len(), 5);
        assert_eq!(left(&mounted).await, 0, "what is committed is not kept here");
        assert_eq!(cat(&mounted, "notes/deep/e").await, Ok(b"hello".to_vec()));
        assert!(mounted.failed.borrow().is_empty());
    });
}

/// Bytes land where they are written, holes are zeros, and a file can be cut and made longer, open or not.
#[test]
fn files_are_changed_at_any_place() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("notes/a", b"0123456789")]);
        let handle = mounted.open("notes/a", true, false).await.expect("it is there");
        assert_eq!(write(&mounted, handle, 3, b"abc").await, Ok(3));
        assert_eq!(write(&mounted, handle, 12, b"z").await, Ok(1));
        assert_eq!(mounted.read(handle, 2, 6).await, Ok(b"2abc67".to_vec()));
        assert_eq!(kept.content("notes/a").as_deref(), Some(&b"0123456789"[..]), "nothing is committed before it is closed");
        mounted.sync(0, handle).await.expect("it is committed");
        assert_eq!(kept.content("notes/a").as_deref(), Some(&b"012abc6789\0\0z"[..]));
        mounted.close(handle);
        mounted.settle().await;
        assert_eq!(kept.commits.borrow().len(), 1, "closing it changes nothing more");
        mounted.truncate("notes/a", 4).await.expect("its owner may");
        mounted.settle().await;
        assert_eq!(kept.content("notes/a").as_deref(), Some(&b"012a"[..]));
        let handle = mounted.open("notes/a", true, true).await.expect("it is there");
        mounted.close(handle);
        mounted.settle().await;
        assert_eq!(kept.content("notes/a").as_deref(), Some(&b""[..]));
        let handle = mounted.open("notes/a", true, false).await.expect("it is there");
        let commits = kept.commits.borrow().len();
        mounted.close(handle);
        mounted.settle().await;
        assert_eq!(kept.commits.borrow().len(), commits, "what nobody wrote to is not committed");
    });
}

/// Offsets at the end of what numbers can say, and sizes that no volume takes, are errors.
#[test]
fn offsets_have_limits() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("notes/a", b"hello")]);
        let reading = mounted.open("notes/a", false, false).await.expect("it is there");
        for (offset, expected) in [
            (5, Ok(Vec::new())),
            (1 << 63, Ok(Vec::new())),
            (u64::MAX - u64::from(u32::MAX), Ok(Vec::new())),
            (u64::MAX, Err(Errno::EINVAL)),
        ] {
            assert_eq!(mounted.read(reading, offset, u32::MAX).await, expected, "{offset}");
        }
        assert_eq!(write(&mounted, reading, 0, b"x").await, Err(Errno::EBADF), "it is open for reading");
        let writing = mounted.open("notes/a", true, false).await.expect("it is there");
        for offset in [OBJECT_BYTES, 1 << 63, u64::MAX] {
            assert_eq!(write(&mounted, writing, offset, b"x").await, Err(Errno::EFBIG), "{offset}");
            assert_eq!(mounted.truncate("notes/a", offset.saturating_add(1)).await, Err(Errno::EFBIG), "{offset}");
        }
        assert_eq!(write(&mounted, writing, 5 << 20, b"x").await, Err(Errno::ENOSPC), "the spool has four");
        assert_eq!(mounted.read(writing, 1 << 63, 1).await, Ok(Vec::new()));
        assert_eq!(mounted.read(99, 0, 1).await, Err(Errno::EBADF));
        assert_eq!(cat(&mounted, "notes/a").await, Ok(b"hello".to_vec()));
    });
}

/// Files move within their partition with one commit, in the place of others, before and after they are committed. Folders and other partitions are for
/// the programs that move.
#[test]
fn files_move() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("notes/a", b"a"), ("notes/b", b"b"), ("other/x", b"x"), ("notes/f/g", b"g")]);
        assert_eq!(mounted.rename("notes/a", "notes/b", false).await, Err(Errno::EEXIST));
        mounted.rename("notes/a", "notes/b", true).await.expect("its owner may");
        assert_eq!((kept.content("notes/b"), kept.content("notes/a")), (Some(b"a".to_vec()), None));
        assert_eq!(*kept.commits.borrow(), [2], "one commit has both");
        put(&mounted, "notes/new", b"new").await;
        mounted.rename("notes/new", "notes/b", true).await.expect("its owner may");
        mounted.settle().await;
        assert_eq!(kept.content("notes/b"), Some(b"new".to_vec()));
        assert_eq!(names(&mounted, "notes").await, ["b", "f"]);
        for (from, to, expected) in [
            ("notes/b", "other/b", Errno::EXDEV),
            ("notes/f", "notes/h", Errno::EXDEV),
            ("notes/b", "notes/f", Errno::EISDIR),
            ("notes/none", "notes/c", Errno::ENOENT),
            ("notes/b", "notes/none/c", Errno::ENOENT),
        ] {
            assert_eq!(mounted.rename(from, to, true).await, Err(expected), "{from} to {to}");
        }
    });
}

/// What is removed is gone at once, its folder stays until it is removed itself, and its name can be used again.
#[test]
fn files_and_folders_go() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("notes/f/a", b"a"), ("notes/f/b", b"b"), ("notes/c", b"c")]);
        assert_eq!(mounted.rmdir("notes/f").await, Err(Errno::ENOTEMPTY));
        assert_eq!(mounted.unlink("notes/f").await, Err(Errno::EISDIR));
        mounted.unlink("notes/f/a").await.expect("its owner may");
        mounted.unlink("notes/f/b").await.expect("its owner may");
        assert_eq!(mounted.unlink("notes/f/b").await, Err(Errno::ENOENT));
        assert!(names(&mounted, "notes/f").await.is_empty());
        put(&mounted, "notes/f/a", b"again").await;
        mounted.settle().await;
        assert_eq!(kept.paths(), ["notes/c", "notes/f/a"]);
        mounted.unlink("notes/f/a").await.expect("its owner may");
        mounted.rmdir("notes/f").await.expect("it is empty");
        mounted.settle().await;
        assert_eq!(names(&mounted, "notes").await, ["c"]);
        assert_eq!(mounted.rmdir("notes/c").await, Err(Errno::ENOTDIR));
        assert_eq!(mounted.mkdir("notes/c").await, Err(Errno::EEXIST));
        assert_eq!(mounted.mkdir("none/f").await, Err(Errno::ENOENT));
        mounted.mkdir("more").await.expect("its owner may");
        mounted.rmdir("more").await.expect("the chain does not know it");
        mounted.unlink("notes/c").await.expect("its owner may");
        mounted.settle().await;
        assert_eq!(names(&mounted, "").await, ["notes"], "a folder that lost its files is there");
        mounted.rmdir("notes").await.expect("it is empty");
        assert!(names(&mounted, "").await.is_empty(), "the chain keeps a partition without files, and it is not shown");
        assert_eq!(mounted.rmdir("notes").await, Err(Errno::ENOENT));
        mounted.mkdir("notes").await.expect("its name is free");
    });
}

/// A file that was unlinked while it is open is read and written, and comes back no more.
#[test]
fn an_unlinked_file_is_not_committed() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("notes/other", b"o")]);
        let handle = create(&mounted, "notes/a").await;
        write(&mounted, handle, 0, b"hello").await.expect("it is open for writing");
        mounted.unlink("notes/a").await.expect("its owner may");
        assert_eq!(mounted.read(handle, 0, 9).await, Ok(b"hello".to_vec()));
        assert!(mounted.set(99, Some(FileHandle(handle)), Some(2), None).await.is_ok(), "it is cut as well");
        assert_eq!(mounted.read(handle, 0, 9).await, Ok(b"he".to_vec()));
        mounted.close(handle);
        mounted.settle().await;
        assert_eq!(kept.paths(), ["notes/other"]);
        assert_eq!(left(&mounted).await, 0);
    });
}

/// What cannot be committed is kept, is said, and is committed later; fsync says it to whoever asks.
#[test]
fn what_is_not_committed_is_said() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("notes/other", b"o")]);
        kept.is_broken.set(true);
        let handle = create(&mounted, "notes/a").await;
        write(&mounted, handle, 0, b"hello").await.expect("it is open for writing");
        assert_eq!(mounted.sync(0, handle).await, Err(Errno::EIO));
        mounted.close(handle);
        mounted.settle().await;
        assert!(mounted.failed.borrow().contains_key("notes/a"));
        assert_eq!(cat(&mounted, "notes/a").await, Ok(b"hello".to_vec()), "nothing is lost while it is mounted");
        kept.is_broken.set(false);
        mounted.settle().await;
        assert!(mounted.failed.borrow().is_empty());
        assert_eq!(kept.content("notes/a"), Some(b"hello".to_vec()));
        kept.quota.set(6);
        let handle = create(&mounted, "notes/b").await;
        write(&mounted, handle, 0, b"too long").await.expect("it is open for writing");
        assert_eq!(mounted.sync(0, handle).await, Err(Errno::ENOSPC));
    });
}

/// Without a right, nothing is changed; and a partition is no file.
#[test]
fn rights_are_errors() {
    locally(async {
        let reader = Rights { writes: false, removes: false, ..OWNER };
        let (mounted, kept) = mounted(reader);
        kept.put(&[("notes/a", b"a")]);
        assert_eq!(mounted.create("notes/b").await, Err(Errno::EACCES));
        assert_eq!(mounted.open("notes/a", true, false).await, Err(Errno::EACCES));
        assert_eq!(mounted.truncate("notes/a", 0).await, Err(Errno::EACCES));
        assert_eq!(mounted.unlink("notes/a").await, Err(Errno::EACCES));
        assert_eq!(mounted.rename("notes/a", "notes/b", true).await, Err(Errno::EACCES));
        assert_eq!(mounted.mkdir("notes/f").await, Err(Errno::EACCES));
        assert_eq!(cat(&mounted, "notes/a").await, Ok(b"a".to_vec()));
    });
    locally(async {
        let (mounted, _) = mounted(OWNER);
        assert_eq!(mounted.create("file").await, Err(Errno::EACCES), "the first part of a path is a partition");
        assert_eq!(mounted.create("none/file").await, Err(Errno::ENOENT));
        assert_eq!(mounted.lookup(names::ROOT, OsStr::new("a b")).await, Err(Errno::ENOENT));
        assert_eq!(mounted.lookup(names::ROOT, OsStr::new(&"a".repeat(65))).await, Err(Errno::ENAMETOOLONG));
        assert_eq!(mounted.lookup(77, OsStr::new("a")).await, Err(Errno::ENOENT));
    });
}

/// Decision 747: what was read of one file is never shown as another one, though a writer says that both have the same content.
#[test]
fn a_file_is_not_read_out_of_another_one() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("drop/a", b"hello"), ("notes/a", b"hello")]);
        assert_eq!(cat(&mounted, "drop/a").await, Ok(b"hello".to_vec()));
        kept.forget_contents();
        assert_eq!(cat(&mounted, "drop/a").await, Ok(b"hello".to_vec()), "it was read before");
        assert_eq!(cat(&mounted, "notes/a").await, Ok(Vec::new()), "it was not");
    });
}

/// A committed file is fetched in blocks that are kept, and a part of it is what it is in the file.
#[test]
fn reading_fetches_blocks() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        let content: &'static [u8] = (0..3_000_000_u32).flat_map(u32::to_le_bytes).take(3_000_000).collect::<Vec<u8>>().leak();
        kept.put(&[("notes/a", content)]);
        let handle = mounted.open("notes/a", false, false).await.expect("it is there");
        for (offset, size) in [(0, 1), (1_048_575, 2), (1_048_576, 1_048_576), (2_999_999, 100), (0, 3_000_000)] {
            let end = (offset + size).min(content.len());
            let found = mounted.read(handle, u64::try_from(offset).expect("short"), u32::try_from(size).expect("short")).await;
            assert_eq!(found.as_deref(), Ok(&content[offset..end]), "{size} at {offset}");
        }
        // Nobody fetches them again.
        kept.forget_contents();
        assert_eq!(mounted.read(handle, 1_048_570, 12).await.as_deref(), Ok(&content[1_048_570..1_048_582]));
    });
}

/// The number by which the kernel knows a path.
fn number(mounted: &Mounted, path: &str) -> u64 {
    mounted.numbers.borrow_mut().looked_up(path)
}

/// Whoever reads a file sees what somebody else writes to it, with its length; and what is appended goes behind all of it, whatever length the kernel knows.
#[test]
fn readers_follow_writers() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("notes/log", b"0123456789")]);
        let number = number(&mounted, "notes/log");
        let reading = mounted.open("notes/log", false, false).await.expect("it is there");
        let writing = mounted.open("notes/log", true, false).await.expect("it is there");
        let append = async |bytes: &'static [u8]| mounted.write(writing, None, Bytes::from_static(bytes)).await;
        assert_eq!(append(b"ab").await, Ok(2));
        assert_eq!(mounted.known(number, Some(reading)).await.map(|node| matches!(node, Node::File { size: 12, .. })), Ok(true));
        mounted.follow(number, reading);
        assert_eq!(mounted.read(reading, 8, 9).await, Ok(b"89ab".to_vec()));
        assert_eq!(append(b"cd").await, Ok(2));
        mounted.close(writing);
        mounted.sync(number, reading).await.expect("it is committed, whoever wrote it");
        assert_eq!(kept.content("notes/log").as_deref(), Some(&b"0123456789abcd"[..]));
        // Whoever has it open keeps it when it is removed.
        mounted.unlink("notes/log").await.expect("its owner may");
        assert_eq!(mounted.known(number, Some(reading)).await.map(|node| matches!(node, Node::File { size: 14, .. })), Ok(true));
    });
}

/// What is on its way to a path is not committed over a file that is moved there.
#[test]
fn what_is_replaced_stays_replaced() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("notes/other", b"o")]);
        put(&mounted, "notes/file", b"old").await;
        // It is on its way for as long as it is held here.
        let old = mounted.staged_at("notes/file").expect("it is written");
        let held = old.storing.lock().await;
        let handle = create(&mounted, "notes/tmp").await;
        write(&mounted, handle, 0, b"new").await.expect("it is open for writing");
        let (renamed, ()) = tokio::join!(mounted.rename("notes/tmp", "notes/file", true), async {
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            assert!(old.path.borrow().is_some(), "the rename waits");
            drop(held);
        });
        renamed.expect("its owner may");
        mounted.close(handle);
        mounted.settle().await;
        assert_eq!(kept.content("notes/file").as_deref(), Some(&b"new"[..]));
        assert_eq!(kept.content("notes/tmp"), None);
    });
}

/// Where the spool is full of files that are on their way, whoever writes waits for them.
#[test]
fn writers_wait_for_room() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("notes/other", b"o")]);
        let large: &'static [u8] = vec![b'x'; 3 << 20].leak();
        for path in ["notes/a", "notes/b", "notes/c"] {
            put(&mounted, path, large).await;
        }
        mounted.settle().await;
        assert_eq!(kept.paths().len(), 4);
    });
}

/// fsync of a folder says what could not be committed.
#[test]
fn folders_are_synced() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("notes/other", b"o")]);
        kept.is_broken.set(true);
        put(&mounted, "notes/a", b"a").await;
        assert_eq!(mounted.sync_all().await, Err(Errno::EIO));
        kept.is_broken.set(false);
        assert_eq!(mounted.sync_all().await, Ok(()));
    });
}

/// What somebody commits to a file while it is moved is moved with it.
#[test]
fn what_is_written_while_it_is_moved_is_moved() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("notes/a", b"first")]);
        assert_eq!(mounted.lookup(number(&mounted, "notes"), OsStr::new("a")).await.map(drop), Ok(()));
        kept.before.borrow_mut().push(("notes/a", b"second"));
        mounted.rename("notes/a", "notes/b", true).await.expect("its owner may");
        assert_eq!((kept.content("notes/a"), kept.content("notes/b")), (None, Some(b"second".to_vec())));
        // One that nobody heard of was moved, too.
        kept.is_unheard.set(true);
        mounted.rename("notes/b", "notes/c", true).await.expect("its owner may");
        assert_eq!((kept.content("notes/b"), kept.content("notes/c")), (None, Some(b"second".to_vec())));
    });
}

/// A disk that is full is one without room, for whoever writes.
#[test]
fn a_full_disk_is_no_room() {
    assert_eq!(names::errno(&Fault::DiskFull), Errno::ENOSPC);
}
