//! Files that come in parts. They lie in the spool until they are whole; those to which nothing is added for a day are forgotten. How an upload ended is
//! remembered as long, so that a request whose answer was lost can be repeated (decision 624).

use crate::fault::Fault;
use crate::spool::{Body, Spool, Spooled};
use crate::store::{About, Sent};
use cowboy_host::clock::now_ms;
use cowboy_types::{Hash, blake3};
use cowboy_volumes::Path;
use cowboy_volumes::code::OBJECT_BYTES;
use s3s::dto::{CompletedPart, ETag};
use s3s::{S3Result, s3_error};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most files that come in parts at once.
const MAX_OPEN: usize = 64;

/// The most parts of a file.
const MAX_PARTS: i32 = 10_000;

/// The most bytes of parts of a file, with those that were sent again.
const MAX_BYTES: u64 = 2 * OBJECT_BYTES;

/// After how long a file to which nothing is added is forgotten, and how an upload ended, in ms.
const ABANDONED_MS: u64 = 86_400_000;

/// The most uploads of which it is remembered how they ended.
const MAX_ENDED: usize = 1_000;

/// A part of a file.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Where it lies in the spool.
    pub(super) place: Range<u64>,
    /// Its MD5, in hex.
    pub(super) md5: String,
}

/// A file that comes in parts.
#[derive(Clone, Debug)]
pub(super) struct Upload {
    /// Where it goes.
    pub(super) path: Path,
    /// What was said of it.
    pub(super) about: About,
    /// When it began: ms since 1970.
    pub(super) began_ms: u64,
    /// When something came last.
    touched_ms: u64,
    spooled: Arc<Spooled>,
    /// Its parts, by number.
    pub(super) parts: BTreeMap<i32, Part>,
    /// Held while it is committed.
    pub(super) completing: Arc<tokio::sync::Mutex<()>>,
    /// Whether it is being committed.
    is_claimed: bool,
    /// What was sent of it and is not committed, and where that lies in the spool: nothing is written there again.
    sent: Option<(Vec<Range<u64>>, Sent)>,
}

/// An upload that is being committed: as long as this is held, it is neither aborted nor forgotten.
pub(super) struct Claim {
    uploads: Arc<Uploads>,
    id: String,
}

impl Claim {
    /// What relays have of the file from an earlier try.
    pub(super) fn sent(&self, body: &Body) -> Option<Sent> {
        let all = self.uploads.all();
        let (places, sent) = all.open.get(&self.id)?.sent.as_ref()?;
        (places == body.parts()).then(|| sent.clone())
    }

    /// Notes what relays have of the file.
    pub(super) fn keep(&self, body: &Body, sent: Sent) {
        if let Some(upload) = self.uploads.all().open.get_mut(&self.id) {
            upload.sent = Some((body.parts().to_vec(), sent));
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(upload) = self.uploads.all().open.get_mut(&self.id) {
            upload.is_claimed = false;
        }
    }
}

/// How an upload ended.
#[derive(Debug)]
struct Ended {
    id: String,
    path: Path,
    /// When: ms since 1970.
    at_ms: u64,
    /// The digest of the list that completed it, and the content of the file; none where it was aborted.
    completed: Option<(Hash, Hash)>,
}

/// All of them.
#[derive(Default)]
struct All {
    /// Those that are open, by id.
    open: BTreeMap<String, Upload>,
    /// Those that ended, the newest at the end.
    ended: VecDeque<Ended>,
}

/// Files that come in parts.
#[derive(Default)]
pub(super) struct Uploads(Mutex<All>);

/// What a list of parts is recognized by: numbers and tags, as the request says them.
pub(super) fn digest(listed: &[CompletedPart]) -> Hash {
    let mut bytes = Vec::new();
    for part in listed {
        let tag = part.e_tag.as_ref().map(ETag::value).unwrap_or_default();
        bytes.extend_from_slice(&part.part_number.unwrap_or_default().to_be_bytes());
        bytes.extend_from_slice(blake3(&[tag.as_bytes()]).0.as_slice());
    }
    blake3(&[bytes.as_slice()])
}

/// The refusal of an upload that is not open.
pub(super) fn unknown() -> s3s::S3Error {
    s3_error!(NoSuchUpload, "it is over, was aborted, or nothing came for a day")
}

impl Uploads {
    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins one. Answers its id.
    pub(super) async fn begin(&self, spool: &Spool, path: Path, about: About) -> S3Result<String> {
        let (spooled, now) = (spool.file().await?, now_ms());
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(Fault::outside)?;
        let id = hex::encode(bytes);
        self.forget_abandoned(now);
        let mut all = self.all();
        if all.open.len() >= MAX_OPEN {
            return Err(s3_error!(SlowDown, "{MAX_OPEN} files come in parts already: complete or abort some"));
        }
        let (parts, completing) = (BTreeMap::new(), Arc::default());
        let upload = Upload { path, about, began_ms: now, touched_ms: now, spooled, parts, completing, is_claimed: false, sent: None };
        all.open.insert(id.clone(), upload);
        Ok(id)
    }

    /// Forgets those to which nothing was added for a day: they take room of the spool. So it does with those that ended a day ago.
    pub(super) fn forget_abandoned(&self, now: u64) {
        let mut all = self.all();
        all.open.retain(|_, upload| upload.is_claimed || upload.touched_ms.saturating_add(ABANDONED_MS) > now);
        all.ended.retain(|ended| ended.at_ms.saturating_add(ABANDONED_MS) > now);
    }

    /// One that goes to this path.
    pub(super) fn of(&self, id: &str, path: &Path) -> S3Result<Upload> {
        self.all().open.get(id).filter(|upload| upload.path == *path).cloned().ok_or_else(unknown)
    }

    /// Where the next part of one goes, if it may have it.
    pub(super) fn place(&self, id: &str, path: &Path, (number, length): (i32, u64)) -> S3Result<Arc<Spooled>> {
        if !(1..=MAX_PARTS).contains(&number) {
            return Err(s3_error!(InvalidArgument, "parts have numbers from 1 to {MAX_PARTS}"));
        }
        let upload = self.of(id, path)?;
        if length > OBJECT_BYTES || upload.spooled.held().saturating_add(length) > MAX_BYTES {
            return Err(Fault::TooLong.into());
        }
        Ok(upload.spooled)
    }

    /// Takes a part that came. One that has its number already goes.
    pub(super) fn take(&self, id: &str, path: &Path, number: i32, part: Part) -> S3Result<()> {
        let mut all = self.all();
        let upload = all.open.get_mut(id).filter(|upload| upload.path == *path).ok_or_else(unknown)?;
        upload.touched_ms = now_ms();
        upload.parts.insert(number, part);
        Ok(())
    }

    /// The content of the file, where this list of parts completed the upload before.
    pub(super) fn completed(&self, id: &str, path: &Path, digest: &Hash) -> Option<Hash> {
        let all = self.all();
        let (listed, content) = all.ended.iter().find(|ended| ended.id == id && ended.path == *path)?.completed?;
        Some(content).filter(|_| listed == *digest)
    }

    /// Begins to commit one. None where it is over by now.
    pub(super) fn claim(self: &Arc<Self>, id: &str, path: &Path) -> Option<Claim> {
        let mut all = self.all();
        all.open.get_mut(id).filter(|upload| upload.path == *path)?.is_claimed = true;
        Some(Claim { uploads: self.clone(), id: id.to_owned() })
    }

    /// Ends one that is committed.
    pub(super) fn complete(&self, id: &str, path: &Path, digest: Hash, content: Hash) {
        self.all().end(id, path, Some((digest, content)));
    }

    /// Ends one, and nothing of it is kept. One that was aborted before is over already; a commit that is under way cannot be taken back.
    pub(super) fn abort(&self, id: &str, path: &Path) -> S3Result<()> {
        let mut all = self.all();
        let open = all.open.get(id).filter(|upload| upload.path == *path);
        let (is_open, is_claimed) = (open.is_some(), open.is_some_and(|upload| upload.is_claimed));
        if is_claimed {
            return Err(s3_error!(OperationAborted, "its parts are being committed as a file: ask again when that is done"));
        }
        let is_over = || all.ended.iter().any(|ended| ended.id == id && ended.path == *path && ended.completed.is_none());
        if !is_open && !is_over() {
            return Err(unknown());
        }
        if is_open {
            all.end(id, path, None);
        }
        Ok(())
    }

    /// Those whose paths begin so, by path and id.
    pub(super) fn list(&self, prefix: &str) -> Vec<(String, Upload)> {
        let all = self.all();
        let below = all.open.iter().filter(|(_, upload)| upload.path.as_str().starts_with(prefix));
        let mut found: Vec<(String, Upload)> = below.map(|(id, upload)| (id.clone(), upload.clone())).collect();
        found.sort_by(|(one, upload), (other, second)| (&upload.path, one).cmp(&(&second.path, other)));
        found
    }
}

impl All {
    /// Ends one, and remembers how.
    fn end(&mut self, id: &str, path: &Path, completed: Option<(Hash, Hash)>) {
        self.open.remove(id);
        self.ended.retain(|ended| ended.id != id);
        if self.ended.len() >= MAX_ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back(Ended { id: id.to_owned(), path: path.clone(), at_ms: now_ms(), completed });
    }
}

impl Upload {
    /// The file: these parts, in this order.
    pub(super) fn body(&self, listed: &[CompletedPart]) -> S3Result<Body> {
        let (mut places, mut last) = (Vec::with_capacity(listed.len()), 0);
        for part in listed {
            let number = part.part_number.unwrap_or_default();
            if number <= last {
                return Err(s3_error!(InvalidPartOrder, "parts are listed ascending, each once"));
            }
            last = number;
            let found = self.parts.get(&number).filter(|found| part.e_tag.as_ref().is_none_or(|tag| tag.value() == found.md5));
            places.push(found.ok_or_else(|| s3_error!(InvalidPart, "there is no part {number} with that tag"))?.place.clone());
        }
        if places.is_empty() {
            return Err(s3_error!(MalformedXML, "no parts are listed"));
        }
        let body = Body::new(self.spooled.clone(), places);
        if body.size() > OBJECT_BYTES { Err(Fault::TooLong.into()) } else { Ok(body) }
    }
}

impl Part {
    /// Its tag.
    pub(super) fn tag(&self) -> ETag {
        ETag::Strong(self.md5.clone())
    }

    /// Its length.
    pub(super) fn size(&self) -> u64 {
        self.place.end.saturating_sub(self.place.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::spool;
    use bytes::Bytes;
    use cowboy_types::Text;

    fn about() -> About {
        About { written_ms: 1, kind: Text::new("text/plain").expect("short") }
    }

    fn path(text: &str) -> Path {
        Path::new(text).expect("a path")
    }

    fn listed(number: i32, tag: &str) -> CompletedPart {
        CompletedPart { part_number: Some(number), e_tag: Some(ETag::Strong(tag.to_owned())), ..CompletedPart::default() }
    }

    async fn part(uploads: &Uploads, id: &str, number: i32, bytes: &'static [u8], md5: &str) {
        let length = u64::try_from(bytes.len()).expect("short");
        let spooled = uploads.place(id, &path("notes/a"), (number, length)).expect("there is room");
        let piece = futures::stream::iter([Ok::<_, Fault>(Bytes::from_static(bytes))]);
        let place = spooled.append(piece, length, |_| {}).await.expect("it is as long");
        uploads.take(id, &path("notes/a"), number, Part { place, md5: md5.to_owned() }).expect("it is there");
    }

    /// Parts come in any order, one that comes again replaces itself, and the list says which the file has.
    #[tokio::test]
    async fn parts_become_a_file() {
        let (spool, uploads) = (spool(100), Uploads::default());
        let id = uploads.begin(&spool, path("notes/a"), about()).await.expect("it is the first");
        part(&uploads, &id, 2, b"world", "m2").await;
        part(&uploads, &id, 1, b"hallo ", "m0").await;
        part(&uploads, &id, 1, b"hello ", "m1").await;
        let upload = uploads.of(&id, &path("notes/a")).expect("it is there");
        let body = upload.body(&[listed(1, "m1"), listed(2, "m2")]).expect("all are there");
        assert_eq!(body.bytes().await, b"hello world");
        let wrong: [&[CompletedPart]; 5] =
            [&[], &[listed(2, "m2"), listed(1, "m1")], &[listed(1, "m1"), listed(1, "m1")], &[listed(1, "m0")], &[listed(3, "m1")]];
        assert!(wrong.iter().all(|parts| upload.body(parts).is_err()));
        for number in [i32::MIN, 0, MAX_PARTS + 1] {
            assert!(uploads.place(&id, &path("notes/a"), (number, 1)).is_err(), "{number}");
        }
        assert!(uploads.place(&id, &path("notes/a"), (3, u64::MAX)).is_err());
        assert!(uploads.of(&id, &path("notes/b")).is_err() && uploads.abort(&id, &path("notes/b")).is_err(), "it goes elsewhere");
        uploads.abort(&id, &path("notes/a")).expect("it is there");
        drop((upload, body));
        assert_eq!(spool.used(), 0, "nothing of it is left");
        assert!(uploads.of(&id, &path("notes/a")).is_err());
    }

    /// One that is aborted is committed no more; one that is being committed is neither aborted nor forgotten, and can be once that failed.
    #[tokio::test]
    async fn an_abort_wins_or_is_refused() {
        let (spool, uploads) = (spool(100), Arc::new(Uploads::default()));
        let id = uploads.begin(&spool, path("notes/a"), about()).await.expect("it is the first");
        assert!(uploads.claim(&id, &path("notes/b")).is_none(), "it goes elsewhere");
        let claim = uploads.claim(&id, &path("notes/a")).expect("it is open");
        let refused = uploads.abort(&id, &path("notes/a")).expect_err("it is being committed");
        assert_eq!(refused.code().as_str(), "OperationAborted");
        uploads.forget_abandoned(u64::MAX);
        assert!(uploads.of(&id, &path("notes/a")).is_ok());
        drop(claim);
        uploads.abort(&id, &path("notes/a")).expect("it was not committed");
        assert!(uploads.claim(&id, &path("notes/a")).is_none());
        let other = uploads.begin(&spool, path("notes/a"), about()).await.expect("there is room");
        let claim = uploads.claim(&other, &path("notes/a")).expect("it is open");
        uploads.complete(&other, &path("notes/a"), Hash([1; 32]), Hash([2; 32]));
        drop(claim);
        assert!(uploads.abort(&other, &path("notes/a")).is_err() && uploads.claim(&other, &path("notes/a")).is_none());
    }

    /// The number of open uploads is bounded.
    #[tokio::test]
    async fn uploads_are_bounded() {
        let (spool, uploads) = (spool(100), Uploads::default());
        for number in 0..MAX_OPEN {
            uploads.begin(&spool, path(&format!("notes/{number}")), about()).await.expect("there is room");
        }
        assert!(uploads.begin(&spool, path("notes/more"), about()).await.is_err());
        assert_eq!((uploads.list("notes/1").len(), uploads.list("other/").len()), (11, 0));
        for upload in uploads.all().open.values_mut() {
            upload.touched_ms = 0;
        }
        uploads.begin(&spool, path("notes/more"), about()).await.expect("the others were abandoned");
        assert_eq!(uploads.list("").len(), 1);
        uploads.forget_abandoned(now_ms());
        assert_eq!(uploads.list("").len(), 1);
        uploads.forget_abandoned(u64::MAX);
        assert!(uploads.list("").is_empty(), "also where no other one begins");
    }

    /// How an upload ended is told again to whoever asks for the same, for a day and of a bounded number.
    #[tokio::test]
    async fn ends_are_remembered() {
        let (spool, uploads) = (spool(100), Uploads::default());
        let begin = async || uploads.begin(&spool, path("notes/a"), about()).await.expect("there is room");
        let (parts, content) = (digest(&[listed(1, "m1")]), Hash([7; 32]));
        let others = [digest(&[]), digest(&[listed(2, "m1")]), digest(&[listed(1, "m2")]), digest(&[listed(1, "m1"), listed(2, "m2")])];
        let id = begin().await;
        assert_eq!(uploads.completed(&id, &path("notes/a"), &parts), None);
        uploads.complete(&id, &path("notes/a"), parts, content);
        assert_eq!(uploads.completed(&id, &path("notes/a"), &parts), Some(content));
        assert_eq!(uploads.completed(&id, &path("notes/b"), &parts), None);
        assert!(others.iter().all(|other| uploads.completed(&id, &path("notes/a"), other).is_none()));
        assert!(uploads.abort(&id, &path("notes/a")).is_err(), "it is a file by now");
        let aborted = begin().await;
        for _ in 0..2 {
            uploads.abort(&aborted, &path("notes/a")).expect("it is over");
        }
        assert!(uploads.abort(&aborted, &path("notes/b")).is_err() && uploads.abort("none", &path("notes/a")).is_err());
        assert_eq!(uploads.completed(&aborted, &path("notes/a"), &parts), None);
        assert!(uploads.of(&aborted, &path("notes/a")).is_err());
        uploads.forget_abandoned(now_ms());
        assert_eq!(uploads.completed(&id, &path("notes/a"), &parts), Some(content));
        for number in 0..MAX_ENDED {
            uploads.complete(&number.to_string(), &path("notes/a"), parts, content);
        }
        assert_eq!(uploads.completed(&id, &path("notes/a"), &parts), None, "others ended since");
        assert_eq!(uploads.completed("0", &path("notes/a"), &parts), Some(content));
        uploads.forget_abandoned(u64::MAX);
        assert!(uploads.all().ended.is_empty());
    }
}
