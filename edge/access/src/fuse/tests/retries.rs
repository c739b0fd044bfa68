//! What fails is tried again: commits of files, and removals.

use super::*;
use crate::fuse::journal::Failed;
use crate::fuse::staged::Staged;

/// A file whose commit failed is tried again by itself, and with the next commit to its partition; until then it is counted, and its failures are.
#[test]
fn commits_are_tried_again() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        mounted.retry.set(Duration::ZERO);
        kept.put(&[("notes/other", b"o")]);
        kept.is_broken.set(true);
        put(&mounted, "notes/a", b"hello").await;
        while kept.tries.get() < 3 {
            tokio::task::yield_now().await;
        }
        assert!(mounted.failed.borrow().contains_key("notes/a"));
        assert_eq!(mounted.waiting.get(), 1);
        kept.is_broken.set(false);
        while kept.content("notes/a").is_none() {
            tokio::task::yield_now().await;
        }
        mounted.settle().await;
        assert!(mounted.failed.borrow().is_empty() && mounted.left_over().is_none());
        assert_eq!((mounted.waiting.get(), left(&mounted).await), (0, 0));
    });
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("notes/other", b"o"), ("more/other", b"o")]);
        kept.is_broken.set(true);
        let mut open = Vec::new();
        for path in ["notes/a", "more/a"] {
            let handle = create(&mounted, path).await;
            write(&mounted, handle, 0, b"hello").await.expect("it is open for writing");
            assert_eq!(mounted.sync(0, handle).await, Err(Errno::EIO));
            open.push(mounted.staged_at(path).expect("it is written"));
        }
        let said = mounted.left_over().expect("both are left");
        assert_eq!(said.matches("no relay answers").count(), 1, "a reason is said once: {said}");
        kept.is_broken.set(false);
        let handle = create(&mounted, "notes/b").await;
        mounted.sync(0, handle).await.expect("it is committed");
        let is_woken = |staged: &Rc<Staged>| futures::FutureExt::now_or_never(staged.again.notified()).is_some();
        assert_eq!(open.iter().map(is_woken).collect::<Vec<_>>(), [true, false]);
        assert_eq!(mounted.waiting.get(), 2);
        mounted.unlink("notes/a").await.expect("its owner may");
        mounted.rename("more/a", "more/b", true).await.expect("its owner may");
        mounted.settle().await;
        assert_eq!((mounted.waiting.get(), kept.content("more/b")), (0, Some(b"hello".to_vec())));
        assert!(mounted.failed.borrow().is_empty());
    });
}

/// A removal that fails is tried again by itself, and the file is gone for whoever looks, until it is gone in the volume.
#[test]
fn removals_are_tried_again() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        mounted.retry.set(Duration::ZERO);
        kept.put(&[("notes/a", b"a"), ("notes/b", b"b")]);
        kept.is_broken.set(true);
        mounted.unlink("notes/a").await.expect("its owner may");
        while kept.tries.get() < 3 {
            tokio::task::yield_now().await;
        }
        assert_eq!((names(&mounted, "notes").await, kept.paths().len()), (vec!["b".to_owned()], 2));
        assert!(mounted.failed.borrow().contains_key("notes/a"), "and it is said");
        kept.is_broken.set(false);
        while kept.content("notes/a").is_some() {
            tokio::task::yield_now().await;
        }
        mounted.settle().await;
        assert!(mounted.failed.borrow().is_empty() && mounted.removed.borrow().is_empty());
    });
}

/// What was removed and is still in the volume at the end is removed by the next mount, and nothing else that came in its place.
#[test]
fn removals_are_found_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("removals");
    let open = || Journal::open(&place).expect("it is read");
    locally(async {
        let (engine, kept) = engine(OWNER, false);
        kept.put(&[("notes/a", b"a"), ("notes/b", b"b"), ("notes/c", b"c")]);
        let first = over(engine, open().0);
        kept.is_broken.set(true);
        put(&first, "notes/new", b"new").await;
        for path in ["notes/a", "notes/b", "notes/new"] {
            first.unlink(path).await.expect("its owner may");
        }
        first.settle().await;
        assert!(first.failed.borrow().contains_key("notes/a"));
    });
    locally(async {
        let (journal, failed) = open();
        let left: Vec<&str> = failed.keys().map(cowboy_volumes::Path::as_str).collect();
        assert_eq!(left, ["notes/a", "notes/b"], "what was never committed is nowhere");
        let (reader, _) = engine(Rights { removes: false, ..OWNER }, false);
        over(reader, Journal::default()).adopt(failed.clone());
        let (engine, kept) = engine(OWNER, false);
        kept.put(&[("notes/a", b"a"), ("notes/b", b"another"), ("notes/c", b"c")]);
        let second = over(engine, journal);
        second.adopt(failed);
        assert_eq!(names(&second, "notes").await, ["b", "c"], "another file is shown from the beginning");
        second.settle().await;
        assert_eq!(kept.paths(), ["notes/b", "notes/c"]);
        assert_eq!(names(&second, "notes").await, ["b", "c"]);
    });
    assert_eq!(open().1, Failed::new());
}

/// Whoever makes a file where one is removed does not wait for that, and the new file stays.
#[test]
fn a_new_file_ends_the_removal_of_the_old_one() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("notes/a", b"same"), ("notes/b", b"b"), ("notes/c", b"c")]);
        kept.is_broken.set(true);
        for path in ["notes/a", "notes/b"] {
            mounted.unlink(path).await.expect("its owner may");
        }
        mounted.settle().await;
        put(&mounted, "notes/a", b"same").await;
        kept.is_broken.set(false);
        mounted.rename("notes/c", "notes/b", true).await.expect("its owner may");
        assert!(mounted.removed.borrow().is_empty());
        mounted.settle().await;
        assert_eq!((kept.content("notes/a"), kept.content("notes/b")), (Some(b"same".to_vec()), Some(b"c".to_vec())));
        assert!(mounted.failed.borrow().is_empty());
    });
}

/// What could not be committed is missed no more once another file is moved in its place.
#[test]
fn what_failed_is_over_where_another_file_comes() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("notes/a", b"a")]);
        kept.is_broken.set(true);
        put(&mounted, "notes/b", b"b").await;
        mounted.settle().await;
        assert!(mounted.failed.borrow().contains_key("notes/b"));
        kept.is_broken.set(false);
        mounted.rename("notes/a", "notes/b", true).await.expect("its owner may");
        assert!(mounted.failed.borrow().is_empty());
        mounted.settle().await;
        assert_eq!((kept.content("notes/b"), mounted.left_over()), (Some(b"a".to_vec()), None));
    });
}

/// A file that was to replace another one, and is removed before it was committed, takes the other one with it, also where that fails at first.
#[test]
fn what_was_to_be_replaced_is_removed() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        kept.put(&[("notes/a", b"old")]);
        kept.is_broken.set(true);
        put(&mounted, "notes/new", b"new").await;
        mounted.rename("notes/new", "notes/a", true).await.expect("its owner may");
        mounted.unlink("notes/a").await.expect("its owner may");
        mounted.settle().await;
        assert_eq!(kept.content("notes/a"), Some(b"old".to_vec()), "it failed");
        kept.is_broken.set(false);
        mounted.settle().await;
        assert_eq!((kept.content("notes/a"), names(&mounted, "notes").await), (None, Vec::new()));
    });
}

/// A mounted volume in which nothing is tried again by itself while a test runs.
fn slow() -> (Rc<Mounted>, Rc<Kept>) {
    let (mounted, kept) = mounted(OWNER);
    mounted.retry.set(Duration::from_secs(300));
    (mounted, kept)
}

/// Commits what can be committed, and waits until nothing is on its way.
async fn settle(mounted: &Rc<Mounted>) {
    mounted.settle().await;
    left(mounted).await;
}

/// Opens a file for writing, empties it, and writes this into it, as `echo > path` does where there is one.
async fn overwrite(mounted: &Rc<Mounted>, path: &str, content: &'static [u8]) {
    let handle = mounted.open(path, true, true).await.expect("it is there");
    write(mounted, handle, 0, content).await.expect("it is open for writing");
    mounted.close(handle);
}

/// Has what others committed seen, however short ago it was looked at.
async fn look(mounted: &Mounted) {
    let notes = cowboy_volumes::Name::new("notes").expect("a name");
    mounted.engine.listing(&notes, Duration::ZERO).await.expect("it is there");
}

/// How many files went beside the version of another writer.
fn conflicts(mounted: &Mounted) -> usize {
    let page = mounted.metrics.page(&mounted.spool);
    let line = page.lines().find_map(|line| line.strip_prefix("cowboy_volume_conflicts_total "));
    line.and_then(|number| number.parse().ok()).expect("it has a line")
}

/// A commit that is tried again replaces what its writer has seen, and no version that another writer committed meanwhile: then both are kept, the later
/// one beside the other, with the content that it has in the folder.
#[test]
fn what_another_writer_committed_stays() {
    locally(async {
        let (mounted, kept) = slow();
        kept.put(&[("notes/a.txt", b"old"), ("notes/b.txt", b"old"), ("notes/c.txt", b"old")]);
        kept.is_broken.set(true);
        for path in ["notes/a.txt", "notes/b.txt"] {
            overwrite(&mounted, path, b"ours").await;
        }
        put(&mounted, "notes/new", b"ours").await;
        let open = mounted.open("notes/c.txt", true, false).await.expect("it is there");
        write(&mounted, open, 0, b"our").await.expect("it is open for writing");
        assert_eq!(mounted.sync(0, open).await, Err(Errno::EIO));
        settle(&mounted).await;
        kept.put(&[("notes/a.txt", b"theirs"), ("notes/a.conflict-1.txt", b"other"), ("notes/c.txt", b"theirs"), ("notes/new", b"theirs")]);
        look(&mounted).await;
        kept.is_broken.set(false);
        settle(&mounted).await;
        for (path, expected) in [
            ("notes/a.txt", "theirs"),
            ("notes/a.conflict-1.txt", "other"),
            ("notes/a.conflict-2.txt", "ours"),
            ("notes/b.txt", "ours"),
            ("notes/c.txt", "theirs"),
            ("notes/c.conflict-1.txt", "our"),
            ("notes/new", "theirs"),
            ("notes/new.conflict-1", "ours"),
        ] {
            assert_eq!(kept.content(path).as_deref(), Some(expected.as_bytes()), "{path}");
            assert_eq!(cat(&mounted, path).await.as_deref(), Ok(expected.as_bytes()), "{path}");
        }
        assert_eq!((conflicts(&mounted), mounted.waiting.get(), mounted.left_over()), (3, 0, None));
        // Whoever has it open writes to where it is now.
        write(&mounted, open, 3, b"s").await.expect("it is open for writing");
        mounted.sync(0, open).await.expect("it is committed");
        mounted.close(open);
        assert_eq!(kept.content("notes/c.conflict-1.txt").as_deref(), Some(&b"ours"[..]));
    });
}

/// A first commit replaces what is there: whoever closes a file last has written it. A commit of which nobody heard is no other writer's.
#[test]
fn own_commits_are_no_conflicts() {
    locally(async {
        let (mounted, kept) = slow();
        kept.put(&[("notes/a", b"old"), ("notes/gone", b"old")]);
        let open = mounted.open("notes/a", true, true).await.expect("it is there");
        write(&mounted, open, 0, b"one").await.expect("it is open for writing");
        kept.put(&[("notes/a", b"theirs")]);
        kept.is_deaf.set(true);
        assert_eq!(mounted.sync(0, open).await, Err(Errno::EIO));
        assert_eq!(kept.content("notes/a").as_deref(), Some(&b"one"[..]));
        write(&mounted, open, 0, b"two").await.expect("it is open for writing");
        mounted.sync(0, open).await.expect("it is committed");
        mounted.close(open);
        // What another writer removed is not there to be replaced.
        kept.is_broken.set(true);
        overwrite(&mounted, "notes/gone", b"ours").await;
        settle(&mounted).await;
        kept.is_broken.set(false);
        let notes = cowboy_volumes::Path::new("notes/gone").expect("a path");
        mounted.engine.remove(&notes.partition(), vec![(notes, crate::engine::Condition::Any)]).await.expect("its owner may");
        settle(&mounted).await;
        assert_eq!((kept.content("notes/a"), kept.content("notes/gone")), (Some(b"two".to_vec()), Some(b"ours".to_vec())));
        assert_eq!((conflicts(&mounted), kept.paths().len()), (0, 2));
    });
}

/// Whoever removes a file whose commit failed, or moves another one in its place, takes what was seen there, and no other writer's version.
#[test]
fn what_was_not_seen_is_not_removed() {
    locally(async {
        let (mounted, kept) = slow();
        kept.put(&[("notes/a", b"old"), ("notes/b", b"old"), ("notes/c", b"old"), ("notes/d", b"d")]);
        kept.is_broken.set(true);
        for path in ["notes/a", "notes/b", "notes/c"] {
            overwrite(&mounted, path, b"ours").await;
        }
        put(&mounted, "notes/tmp", b"tmp").await;
        settle(&mounted).await;
        kept.put(&[("notes/a", b"theirs"), ("notes/b", b"theirs"), ("notes/c", b"theirs")]);
        look(&mounted).await;
        mounted.unlink("notes/a").await.expect("its owner may");
        assert_eq!(cat(&mounted, "notes/a").await, Ok(b"theirs".to_vec()));
        assert_eq!(mounted.rename("notes/d", "notes/b", true).await, Err(Errno::EEXIST));
        mounted.rename("notes/tmp", "notes/b", true).await.expect("its owner may");
        mounted.rename("notes/c", "notes/e", true).await.expect("its owner may");
        kept.is_broken.set(false);
        settle(&mounted).await;
        for path in ["notes/a", "notes/b", "notes/c"] {
            assert_eq!(kept.content(path).as_deref(), Some(&b"theirs"[..]), "{path}");
        }
        assert_eq!(kept.content("notes/b.conflict-1").as_deref(), Some(&b"tmp"[..]));
        assert_eq!(kept.content("notes/e").as_deref(), Some(&b"ours"[..]));
        assert_eq!((kept.content("notes/tmp"), mounted.left_over()), (None, None));
    });
}

/// The first try to remove a file whose commit failed does not take what another writer commits at the same moment.
#[test]
fn what_comes_after_a_failed_commit_is_not_removed() {
    locally(async {
        let (mounted, kept) = slow();
        kept.put(&[("notes/a", b"old"), ("notes/b", b"old")]);
        kept.is_broken.set(true);
        for path in ["notes/a", "notes/b"] {
            overwrite(&mounted, path, b"ours").await;
        }
        settle(&mounted).await;
        // The last one is not tried before the other writer's commit.
        for path in ["notes/b", "notes/a"] {
            mounted.unlink(path).await.expect("its owner may");
        }
        kept.put(&[("notes/a", b"theirs")]);
        kept.is_broken.set(false);
        settle(&mounted).await;
        assert_eq!((kept.content("notes/a"), kept.content("notes/b")), (Some(b"theirs".to_vec()), None));
        assert_eq!((names(&mounted, "notes").await, mounted.left_over()), (vec!["a".to_owned()], None));
    });
}

/// What the relays have of a file is not sent again for another try, unless they lost it, or it was written to.
#[test]
fn what_was_sent_is_not_sent_again() {
    locally(async {
        let (mounted, kept) = slow();
        kept.put(&[("notes/other", b"o")]);
        kept.is_broken.set(true);
        let open = create(&mounted, "notes/a").await;
        write(&mounted, open, 0, b"hello").await.expect("it is open for writing");
        for (sends, is_lost) in [(1, false), (1, false), (2, true), (2, false)] {
            kept.is_lost.set(is_lost);
            assert_eq!((mounted.sync(0, open).await, kept.sends.get()), (Err(Errno::EIO), sends));
        }
        write(&mounted, open, 0, b"j").await.expect("it is open for writing");
        assert_eq!((mounted.sync(0, open).await, kept.sends.get()), (Err(Errno::EIO), 3));
        kept.is_broken.set(false);
        assert_eq!((mounted.sync(0, open).await, kept.sends.get()), (Ok(()), 3));
        assert_eq!(kept.content("notes/a").as_deref(), Some(&b"jello"[..]));
        mounted.close(open);
    });
}

/// What can never be committed is tried once and named, and stays in the folder: only what is done about it brings another try.
#[test]
fn what_cannot_succeed_is_given_up() {
    locally(async {
        let (mounted, kept) = mounted(OWNER);
        mounted.retry.set(Duration::ZERO);
        kept.put(&[("notes/other", b"o")]);
        let refusals = [Fault::Clash("notes/a cannot be a file".to_owned()), Fault::Forbidden("the right is lost"), Fault::TooLong];
        for refusal in refusals {
            kept.tries.set(0);
            kept.refusal.replace(Some(refusal.clone()));
            put(&mounted, "notes/a", b"hello").await;
            while kept.tries.get() == 0 {
                tokio::task::yield_now().await;
            }
            left(&mounted).await;
            assert_eq!(kept.tries.get(), 1, "{refusal}");
            assert!(mounted.left_over().is_some_and(|said| said.contains("notes/a") && said.contains(&refusal.to_string())), "{refusal}");
            assert_eq!((cat(&mounted, "notes/a").await, mounted.waiting.get()), (Ok(b"hello".to_vec()), 1));
            kept.refusal.take();
            settle(&mounted).await;
            assert_eq!((kept.content("notes/a"), mounted.left_over()), (Some(b"hello".to_vec()), None));
            mounted.unlink("notes/a").await.expect("its owner may");
            settle(&mounted).await;
        }
    });
}

/// A removal is left for the next mount until the file that came in its place is committed.
#[test]
fn a_removal_is_kept_until_its_path_has_another_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("removals");
    locally(async {
        let (engine, kept) = engine(OWNER, false);
        kept.put(&[("notes/a", b"a"), ("notes/b", b"b"), ("notes/c", b"c")]);
        let mounted = over(engine, Journal::open(&place).expect("it is made").0);
        mounted.retry.set(Duration::from_secs(300));
        let noted = || crate::fuse::left_behind(&place);
        kept.is_broken.set(true);
        for path in ["notes/a", "notes/b"] {
            mounted.unlink(path).await.expect("its owner may");
        }
        settle(&mounted).await;
        put(&mounted, "notes/a", b"new").await;
        put(&mounted, "notes/tmp", b"tmp").await;
        mounted.rename("notes/tmp", "notes/b", true).await.expect("its owner may");
        settle(&mounted).await;
        assert!(mounted.removed.borrow().is_empty());
        assert!(noted().is_some_and(|said| said.contains("2 files, notes/a")), "a program that is killed now leaves what it removed");
        kept.is_broken.set(false);
        settle(&mounted).await;
        assert_eq!((kept.content("notes/a"), kept.content("notes/b")), (Some(b"new".to_vec()), Some(b"tmp".to_vec())));
        assert_eq!((noted(), conflicts(&mounted)), (None, 0));
    });
}

/// A file whose commit seemed to fail is removed with its content that was committed nevertheless.
#[test]
fn what_was_committed_unheard_is_removed() {
    locally(async {
        let (mounted, kept) = slow();
        kept.put(&[("notes/a", b"old"), ("notes/b", b"b")]);
        let open = mounted.open("notes/a", true, true).await.expect("it is there");
        write(&mounted, open, 0, b"ours").await.expect("it is open for writing");
        kept.is_deaf.set(true);
        assert_eq!(mounted.sync(0, open).await, Err(Errno::EIO));
        kept.is_broken.set(true);
        mounted.unlink("notes/a").await.expect("its owner may");
        mounted.close(open);
        settle(&mounted).await;
        look(&mounted).await;
        assert_eq!((kept.content("notes/a"), names(&mounted, "notes").await), (Some(b"ours".to_vec()), vec!["b".to_owned()]));
        kept.is_broken.set(false);
        settle(&mounted).await;
        assert_eq!((kept.paths(), mounted.left_over()), (vec!["notes/b".to_owned()], None));
    });
}

/// What another writer put where a file was removed is shown, as soon as the removal failed, and stays.
#[test]
fn a_removal_hides_what_was_removed() {
    locally(async {
        let (mounted, kept) = slow();
        kept.put(&[("notes/a", b"a"), ("notes/b", b"b")]);
        kept.is_broken.set(true);
        mounted.unlink("notes/a").await.expect("its owner may");
        settle(&mounted).await;
        assert_eq!(names(&mounted, "notes").await, ["b"]);
        kept.put(&[("notes/a", b"theirs")]);
        look(&mounted).await;
        assert_eq!((names(&mounted, "notes").await.len(), cat(&mounted, "notes/a").await), (2, Ok(b"theirs".to_vec())));
        overwrite(&mounted, "notes/a", b"ours").await;
        settle(&mounted).await;
        kept.is_broken.set(false);
        settle(&mounted).await;
        assert_eq!((kept.content("notes/a").as_deref(), conflicts(&mounted)), (Some(&b"ours"[..]), 0));
    });
}
