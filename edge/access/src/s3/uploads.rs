//! Files that come in parts. They lie in the spool until they are whole; those to which nothing is added for a day are forgotten.

use super::keys::now_ms;
use crate::fault::Fault;
use crate::spool::{Body, Spool, Spooled};
use crate::store::About;
use cowboy_volumes::Path;
use cowboy_volumes::code::OBJECT_BYTES;
use s3s::dto::{CompletedPart, ETag};
use s3s::{S3Result, s3_error};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most files that come in parts at once.
const MAX_OPEN: usize = 64;

/// The most parts of a file.
const MAX_PARTS: i32 = 10_000;

/// The most bytes of parts of a file, with those that were sent again.
const MAX_BYTES: u64 = 2 * OBJECT_BYTES;

/// After how long a file to which nothing is added is forgotten, in ms.
const ABANDONED_MS: u64 = 86_400_000;

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
}

/// All of them, by id.
#[derive(Default)]
pub(super) struct Uploads(Mutex<BTreeMap<String, Upload>>);

fn unknown() -> s3s::S3Error {
    s3_error!(NoSuchUpload, "it is over, was aborted, or nothing came for a day")
}

impl Uploads {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Upload>> {
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
        if all.len() >= MAX_OPEN {
            return Err(s3_error!(SlowDown, "{MAX_OPEN} files come in parts already: complete or abort some"));
        }
        all.insert(id.clone(), Upload { path, about, began_ms: now, touched_ms: now, spooled, parts: BTreeMap::new() });
        Ok(id)
    }

    /// Forgets those to which nothing was added for a day: they take room of the spool.
    pub(super) fn forget_abandoned(&self, now: u64) {
        self.all().retain(|_, upload| upload.touched_ms.saturating_add(ABANDONED_MS) > now);
    }

    /// One that goes to this path.
    pub(super) fn of(&self, id: &str, path: &Path) -> S3Result<Upload> {
        self.all().get(id).filter(|upload| upload.path == *path).cloned().ok_or_else(unknown)
    }

    /// Where the next part of one goes, if it may have it.
    pub(super) fn place(&self, id: &str, path: &Path, (number, length): (i32, u64)) -> S3Result<Arc<Spooled>> {
        if !(1..=MAX_PARTS).contains(&number) {
            return Err(s3_error!(InvalidArgument, "parts have numbers from 1 to {MAX_PARTS}"));
        }
        let upload = self.of(id, path)?;
        if length > OBJECT_BYTES || upload.spooled.length().saturating_add(length) > MAX_BYTES {
            return Err(Fault::TooLong.into());
        }
        Ok(upload.spooled)
    }

    /// Takes a part that came. One that has its number already goes.
    pub(super) fn take(&self, id: &str, path: &Path, number: i32, part: Part) -> S3Result<()> {
        let mut all = self.all();
        let upload = all.get_mut(id).filter(|upload| upload.path == *path).ok_or_else(unknown)?;
        upload.touched_ms = now_ms();
        upload.parts.insert(number, part);
        Ok(())
    }

    /// Ends one.
    pub(super) fn end(&self, id: &str, path: &Path) -> S3Result<()> {
        let mut all = self.all();
        if all.get(id).is_none_or(|upload| upload.path != *path) {
            return Err(unknown());
        }
        all.remove(id);
        Ok(())
    }

    /// Those whose paths begin so, by path and id.
    pub(super) fn list(&self, prefix: &str) -> Vec<(String, Upload)> {
        let all = self.all();
        let below = all.iter().filter(|(_, upload)| upload.path.as_str().starts_with(prefix));
        let mut found: Vec<(String, Upload)> = below.map(|(id, upload)| (id.clone(), upload.clone())).collect();
        found.sort_by(|(one, upload), (other, second)| (&upload.path, one).cmp(&(&second.path, other)));
        found
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
        let (spool, uploads) = (Spool::new(None, 100), Uploads::default());
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
        assert!(uploads.of(&id, &path("notes/b")).is_err() && uploads.end(&id, &path("notes/b")).is_err(), "it goes elsewhere");
        uploads.end(&id, &path("notes/a")).expect("it is there");
        drop((upload, body));
        assert_eq!(spool.used(), 0, "nothing of it is left");
        assert!(uploads.of(&id, &path("notes/a")).is_err());
    }

    /// The number of open uploads is bounded.
    #[tokio::test]
    async fn uploads_are_bounded() {
        let (spool, uploads) = (Spool::new(None, 100), Uploads::default());
        for number in 0..MAX_OPEN {
            uploads.begin(&spool, path(&format!("notes/{number}")), about()).await.expect("there is room");
        }
        assert!(uploads.begin(&spool, path("notes/more"), about()).await.is_err());
        assert_eq!((uploads.list("notes/1").len(), uploads.list("other/").len()), (11, 0));
        for upload in uploads.all().values_mut() {
            upload.touched_ms = 0;
        }
        uploads.begin(&spool, path("notes/more"), about()).await.expect("the others were abandoned");
        assert_eq!(uploads.list("").len(), 1);
        uploads.forget_abandoned(now_ms());
        assert_eq!(uploads.list("").len(), 1);
        uploads.forget_abandoned(u64::MAX);
        assert!(uploads.list("").is_empty(), "also where no other one begins");
    }
}
