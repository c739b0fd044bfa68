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
        assert_eq!(names(&second, "notes").await, ["c"]);
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
