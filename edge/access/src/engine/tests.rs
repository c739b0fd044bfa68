//! What waits for a commit, and what it is told.

use super::*;
use crate::testing::{OWNER, again, engine, entry, locally, spool};
use bytes::Bytes;
use cowboy_types::Hash;
use cowboy_types::Text;
use futures::future::join_all;

fn about() -> About {
    About { written_ms: 7, kind: Text::new("text/plain").expect("short") }
}

fn path(text: &str) -> Path {
    Path::new(text).expect("a path")
}

async fn body(content: &'static [u8]) -> Body {
    let spooled = spool(1 << 20).file().await.expect("there is room");
    spooled.write(0, Bytes::from_static(content)).await.expect("there is room");
    Body::whole(spooled)
}

async fn put(engine: &Rc<Engine>, to: &str, content: &'static [u8], condition: Condition) -> Result<Hash, Fault> {
    put_as(engine, to, content, (condition, None)).await
}

/// The same, of a client that names the request.
async fn put_as(engine: &Rc<Engine>, to: &str, content: &'static [u8], asked: (Condition, Option<&str>)) -> Result<Hash, Fault> {
    engine.put(&path(to), &body(content).await, &about(), asked).await.map(|entry| entry.meta.hash)
}

/// Changes that come while a commit is under way go into the next one together, and each is answered when it is final.
#[test]
fn commits_are_shared() {
    locally(async {
        let (engine, kept) = engine(OWNER, false);
        let names: Vec<String> = (0..20).map(|number| format!("notes/{number}")).collect();
        let puts = join_all(names.iter().map(|name| put(&engine, name, b"x", Condition::Any))).await;
        assert!(puts.iter().all(Result::is_ok));
        assert_eq!(kept.paths().len(), 20);
        let commits = kept.commits.borrow().clone();
        assert!(commits.len() < 20 && commits.iter().sum::<usize>() == 20, "{commits:?}");
        engine.settle().await;
        // Both of one name: one of them stands, and nothing is lost on the way.
        let both = join_all([put(&engine, "notes/a", b"one", Condition::Any), put(&engine, "notes/a", b"two", Condition::Any)]).await;
        assert!(both.iter().all(Result::is_ok));
        assert!(kept.content("notes/a").is_some_and(|content| content == b"one" || content == b"two"));
    });
}

/// Who commits second has its conditions looked at again: what somebody else made meanwhile is not overwritten.
#[test]
fn conditions_hold_at_the_commit() {
    locally(async {
        let (engine, kept) = engine(OWNER, false);
        kept.before.borrow_mut().push(("notes/a", b"theirs"));
        let second = put(&engine, "notes/a", b"ours", Condition::Absent).await;
        assert!(matches!(second, Err(Fault::Condition)));
        assert_eq!(kept.content("notes/a").as_deref(), Some(&b"theirs"[..]));
        let theirs = Hash(*blake3::hash(b"theirs").as_bytes());
        assert!(put(&engine, "notes/a", b"ours", Condition::Content(theirs)).await.is_ok());
        assert!(matches!(put(&engine, "notes/a", b"x", Condition::Content(theirs)).await, Err(Fault::Condition)));
        assert!(matches!(put(&engine, "notes/b", b"x", Condition::Present).await, Err(Fault::Condition)));
        assert!(put(&engine, "notes/a", b"x", Condition::Present).await.is_ok());
        // A commit of which nobody heard was the first, too.
        kept.is_unheard.set(true);
        assert!(put(&engine, "notes/first", b"1", Condition::Absent).await.is_ok());
        // One of two that both want to be the first is.
        let both = join_all([put(&engine, "notes/c", b"1", Condition::Absent), put(&engine, "notes/c", b"2", Condition::Absent)]).await;
        assert_eq!(both.iter().filter(|put| put.is_ok()).count(), 1);
        // Without conditions, what others did is merged.
        kept.before.borrow_mut().push(("notes/d", b"theirs"));
        assert!(put(&engine, "notes/e", b"ours", Condition::Any).await.is_ok());
        assert!(kept.content("notes/d").is_some() && kept.content("notes/e").is_some());
    });
}

/// A request that is repeated finds the file that it put itself, and is told so, under any condition. Nobody else is, however equal the contents are.
#[test]
fn a_request_that_is_repeated_has_its_file() {
    locally(async {
        let (engine, kept) = engine(OWNER, false);
        let absent =
            async |to: &str, content: &'static [u8], caller: Option<&str>| put_as(&engine, to, content, (Condition::Absent, caller)).await;
        // Nobody heard what came of the commit. Of two clients that do not name their requests, one has the file.
        kept.is_deaf.set(true);
        assert!(matches!(absent("notes/a", b"x", None).await, Err(Fault::Outside(_))));
        assert_eq!(kept.content("notes/a").as_deref(), Some(&b"x"[..]));
        assert!(matches!(absent("notes/a", b"other", None).await, Err(Fault::Condition)));
        assert!(absent("notes/a", b"x", None).await.is_ok());
        assert!(matches!(absent("notes/a", b"x", None).await, Err(Fault::Condition)));
        // The client did not hear what this program answered.
        assert!(absent("notes/b", b"x", Some("1")).await.is_ok() && absent("notes/b", b"x", Some("1")).await.is_ok());
        for other in [None, Some("2")] {
            assert!(matches!(absent("notes/b", b"x", other).await, Err(Fault::Condition)), "{other:?}");
        }
        let before = (Condition::Content(Hash(*blake3::hash(b"x").as_bytes())), Some("3"));
        kept.is_deaf.set(true);
        assert!(put_as(&engine, "notes/b", b"y", before).await.is_err());
        assert!(put_as(&engine, "notes/b", b"y", before).await.is_ok() && put_as(&engine, "notes/b", b"y", before).await.is_ok());
        // The same content from elsewhere is another file.
        kept.put(&[("notes/b", b"y")]);
        assert!(matches!(put_as(&engine, "notes/b", b"y", before).await, Err(Fault::Condition)));
        assert_eq!(kept.commits.borrow().len(), 3, "nothing was committed twice");
    });
}

/// Decision 747: a request that is repeated after the program was started anew has its file, whatever was heard of its commit. Nobody else has it, and no
/// request that its client does not name.
#[test]
fn a_restart_forgets_no_request() {
    locally(async {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("requests");
        let open = || Requests::open(&place).expect("it opens");
        let absent = async |engine: &Rc<Engine>, to: &str, content: &'static [u8], caller: Option<&str>| {
            put_as(engine, to, content, (Condition::Absent, caller)).await
        };
        let (first, kept) = engine(OWNER, false);
        first.remember(open());
        assert!(absent(&first, "notes/a", b"x", Some("1")).await.is_ok() && absent(&first, "notes/c", b"x", None).await.is_ok());
        kept.is_deaf.set(true);
        assert!(absent(&first, "notes/b", b"x", Some("2")).await.is_err());
        drop(first);
        let second = again(&kept);
        second.remember(open());
        for (to, caller) in [("notes/a", "1"), ("notes/a", "1"), ("notes/b", "2")] {
            assert!(absent(&second, to, b"x", Some(caller)).await.is_ok(), "{to}");
        }
        let others: [(&str, &'static [u8], Option<&str>); 4] =
            [("notes/a", b"x", Some("2")), ("notes/a", b"x", None), ("notes/a", b"y", Some("1")), ("notes/c", b"x", None)];
        for (to, content, caller) in others {
            assert!(matches!(absent(&second, to, content, caller).await, Err(Fault::Condition)), "{to} {caller:?}");
        }
        kept.put(&[("notes/a", b"x")]);
        assert!(matches!(absent(&second, "notes/a", b"x", Some("1")).await, Err(Fault::Condition)), "it is another writer's by now");
        assert_eq!(kept.commits.borrow().len(), 3, "nothing was committed twice");
    });
}

/// One change that cannot be made takes no other with it, and one without a chain is told so.
#[test]
fn failures_concern_who_made_them() {
    locally(async {
        let (engine, kept) = engine(OWNER, false);
        kept.quota.set(5);
        let contents: [&'static [u8]; 3] = [b"ab", b"too long", b"cd"];
        let puts = ["notes/a", "notes/b", "notes/c"].into_iter().zip(contents);
        let puts = join_all(puts.map(|(name, content)| put(&engine, name, content, Condition::Any))).await;
        assert!(puts[0].is_ok() && puts[2].is_ok());
        assert!(matches!(puts[1], Err(Fault::OverQuota(_))));
        assert_eq!(kept.paths(), ["notes/a", "notes/c"]);
        kept.is_broken.set(true);
        assert!(matches!(put(&engine, "notes/a", b"x", Condition::Any).await, Err(Fault::Outside(_))));
        kept.is_broken.set(false);
        assert!(put(&engine, "notes/a", b"x", Condition::Any).await.is_ok(), "the queue continues");
    });
}

/// Who may only read writes nothing, who may write removes nothing, and nobody leaves the partition of a capability.
#[test]
fn rights_are_kept() {
    locally(async {
        let notes = Name::new("notes").expect("a name");
        let remove = async |engine: &Rc<Engine>| engine.remove(&notes, vec![(path("notes/a"), Condition::Any)]).await;
        let reader = Rights { writes: false, removes: false, ..OWNER };
        for (rights, is_read_only) in [(reader, false), (OWNER, true)] {
            let (engine, kept) = engine(rights, is_read_only);
            kept.put(&[("notes/a", b"a")]);
            assert!(matches!(put(&engine, "notes/a", b"b", Condition::Any).await, Err(Fault::Forbidden(_))));
            assert!(matches!(remove(&engine).await, Err(Fault::Forbidden(_))));
            assert!(engine.make_partition(&notes).is_err());
            assert!(engine.find(&path("notes/a")).await.is_ok_and(|found| found.is_some()));
        }
        let (writer, kept) = engine(Rights { partition: Some(notes.partition()), reads: false, removes: false, ..OWNER }, false);
        kept.put(&[("notes/a", b"a"), ("other/a", b"a")]);
        assert!(put(&writer, "notes/a", b"b", Condition::Any).await.is_ok());
        assert!(matches!(put(&writer, "other/a", b"b", Condition::Any).await, Err(Fault::Forbidden(_))));
        assert!(matches!(writer.find(&path("notes/a")).await, Err(Fault::Forbidden(_))));
        assert!(matches!(writer.listing(&notes, Duration::ZERO).await, Err(Fault::Forbidden(_))));
        assert!(matches!(remove(&writer).await, Err(Fault::Forbidden(_))));
    });
}

/// A list has what this program and what others committed, and what is removed is gone; a partition that is not there has nothing to remove.
#[test]
fn lists_follow_commits() {
    locally(async {
        let (engine, kept) = engine(OWNER, false);
        let notes = Name::new("notes").expect("a name");
        let listed = async || engine.listing(&notes, Duration::ZERO).await.map(|listing| listing.keys().cloned().collect::<Vec<_>>());
        assert!(matches!(listed().await, Err(Fault::NoPartition(_))));
        assert!(engine.remove(&notes, vec![(path("notes/a"), Condition::Any)]).await.is_ok() && kept.commits.borrow().is_empty());
        engine.make_partition(&notes).expect("its owner may");
        assert!(listed().await.is_ok_and(|files| files.is_empty()));
        put(&engine, "notes/a", b"a", Condition::Any).await.expect("there is room");
        kept.put(&[("notes/b", b"b")]);
        assert_eq!(listed().await.ok(), Some(vec!["notes/a".to_owned(), "notes/b".to_owned()]));
        let both = vec![(path("notes/a"), Condition::Any), (path("notes/none"), Condition::Any)];
        engine.remove(&notes, both).await.expect("its owner may");
        assert_eq!(listed().await.ok(), Some(vec!["notes/b".to_owned()]));
        assert_eq!(kept.paths(), ["notes/b"]);
        engine.remove(&notes, vec![(path("notes/b"), Condition::Any)]).await.expect("its owner may");
        assert!(engine.has_partition(&notes).await.is_ok_and(|there| there), "who removes the last file has not removed the partition");
        engine.forget_partition(&notes);
        assert!(engine.has_partition(&notes).await.is_ok_and(|there| !there) && engine.partitions().await.is_ok_and(|all| all.is_empty()));
        let names = (0..=MAX_PARTITIONS).filter_map(|number| Name::new(&format!("more{number}")));
        let made: Vec<bool> = names.map(|name| engine.make_partition(&name).is_ok()).collect();
        assert_eq!(
            (made.iter().filter(|made| **made).count(), made.last()),
            (MAX_PARTITIONS, Some(&false)),
            "and no more than a volume has"
        );
    });
}

/// A file of this content that was sent, and is to be committed.
fn sent(engine: &Engine, to: &str, content: &[u8]) -> Order {
    Order { edit: Edit::Put(Box::new(entry(to, content))), path: path(to), condition: Condition::Any, began: engine.next() }
}

/// What is committed while a list is read is in it: who writes here reads what was written, however old what the relays gave is.
#[test]
fn a_list_has_what_was_committed_meanwhile() {
    locally(async {
        let (engine, kept) = engine(OWNER, false);
        let notes = Name::new("notes").expect("a name");
        kept.put(&[("notes/a", b"a")]);
        kept.turns.set(50);
        let change = engine.change(&notes, vec![sent(&engine, "notes/b", b"b")]);
        let (listed, changed) = tokio::join!(engine.listing(&notes, Duration::from_secs(9)), change);
        assert!(changed.is_ok() && listed.is_ok_and(|files| files.len() == 2));
        let again = engine.listing(&notes, Duration::from_secs(9)).await;
        assert!(again.is_ok_and(|files| files.contains_key("notes/b")));
    });
}

/// A file that takes long to come is not put over what began later and was committed before it, a removal included.
#[test]
fn what_is_late_replaces_nothing() {
    locally(async {
        let (engine, kept) = engine(OWNER, false);
        let notes = Name::new("notes").expect("a name");
        for later in [Some(b"later"), None] {
            let begun = engine.begin(&path("notes/a"));
            let first = Order { began: begun.number, ..sent(&engine, "notes/a", b"first") };
            let done = match later {
                Some(later) => put(&engine, "notes/a", later, Condition::Any).await.map(drop),
                None => engine.remove(&notes, vec![(path("notes/a"), Condition::Any)]).await,
            };
            done.expect("its owner may");
            engine.change(&notes, vec![first]).await.expect("it was there for a moment");
            assert_eq!(kept.content("notes/a"), later.map(|later| later.to_vec()));
        }
        assert!(engine.racing.borrow().is_empty());
        // In one commit as well.
        let _begun = engine.begin(&path("notes/a"));
        let (first, later) = (sent(&engine, "notes/a", b"first"), sent(&engine, "notes/a", b"later"));
        let of = |order: &Order| match &order.edit {
            Edit::Put(entry) => entry.meta.hash,
            Edit::Remove(_) => Hash::ZERO,
        };
        let expected = of(&later);
        let both = join_all([engine.change(&notes, vec![later]), engine.change(&notes, vec![first])]).await;
        assert!(both.iter().all(Result::is_ok));
        assert_eq!(engine.find(&path("notes/a")).await.ok().flatten().map(|entry| entry.meta.hash), Some(expected));
    });
}

/// One change of many that cannot be made costs a few commits, and so does a chain that takes none.
#[test]
fn failures_cost_few_commits() {
    locally(async {
        let (engine, kept) = engine(OWNER, false);
        let notes = Name::new("notes").expect("a name");
        kept.quota.set(500);
        let names: Vec<String> = (0..400).map(|number| format!("notes/{number}")).collect();
        let long = "x".repeat(600);
        let content = |at: usize| if at == 250 { long.as_str() } else { "x" };
        let orders = names.iter().enumerate().map(|(at, name)| sent(&engine, name, content(at).as_bytes()));
        let done = join_all(orders.map(|order| engine.change(&notes, vec![order]))).await;
        assert_eq!(done.iter().position(Result::is_err), Some(250));
        assert_eq!(done.iter().filter(|done| done.is_ok()).count(), 399);
        assert!(kept.tries.get() < 40, "{}", kept.tries.get());
        kept.is_broken.set(true);
        kept.tries.set(0);
        let orders = names.iter().map(|name| sent(&engine, name, b"y"));
        let done = join_all(orders.map(|order| engine.change(&notes, vec![order]))).await;
        assert!(done.iter().all(|done| matches!(done, Err(Fault::Outside(_)))));
        assert!(kept.tries.get() < 90, "{}", kept.tries.get());
    });
}
