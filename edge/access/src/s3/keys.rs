//! Buckets and keys: a partition is a bucket, and the rest of a path is a key.

use crate::engine::{Condition, Listing};
use crate::fault::Fault;
use cowboy_types::{Hash, Text};
use cowboy_volume::Entry;
use cowboy_volume::segments::Meta;
use cowboy_volumes::{Name, Path};
use hyper::HeaderMap;
use s3s::dto::{ETag, ETagCondition, Metadata, Timestamp};
use s3s::validation::NameValidation;
use s3s::{S3Result, s3_error};
use std::collections::HashMap;
use std::ops::Bound;
use std::time::{Duration, UNIX_EPOCH};

/// The most keys of one answer.
const MAX_KEYS: usize = 1_000;

/// The last second that a date of HTTP has.
const LAST_SECOND: u64 = 253_402_300_799;

/// The metadata in which rclone keeps when a file was written. All other metadata is not kept.
const MTIME: &str = "mtime";

/// The header in which Amazon's clients name a request. It is the same each time that they repeat it.
const INVOCATION: &str = "amz-sdk-invocation-id";

/// The most bytes of such a name: they send 36.
const MAX_INVOCATION: usize = 128;

/// What a file is where nobody says it.
const DEFAULT_KIND: &str = "application/octet-stream";

/// Buckets have the names of partitions.
pub(super) struct Partitions;

impl NameValidation for Partitions {
    fn validate_bucket_name(&self, name: &str) -> bool {
        Name::new(name).is_some()
    }
}

/// The partition of a bucket.
pub(super) fn partition(bucket: &str) -> Result<Name, Fault> {
    Name::new(bucket).ok_or_else(|| Fault::Path(bucket.to_owned()))
}

/// The path of a key. One that no volume has leads nowhere.
pub(super) fn path(bucket: &str, key: &str) -> Result<Path, Fault> {
    let text = format!("{bucket}/{key}");
    Path::new(&text).ok_or(Fault::Path(text))
}

/// The path of a key that is read: what no volume has is not there.
pub(super) fn standing_path(bucket: &str, key: &str) -> Result<Path, Fault> {
    path(bucket, key).map_err(|_| Fault::NoFile(format!("{bucket}/{key}")))
}

/// The tag of a content: its BLAKE3 hash. It has 64 digits, so that no client takes it for an MD5.
pub(super) fn tag(content: &Hash) -> ETag {
    ETag::Strong(hex::encode(content.0))
}

/// Whether a tag is that of a content.
fn is_of(tag: &ETagCondition, content: &Hash) -> bool {
    tag.as_etag().is_none_or(|tag| tag.value() == hex::encode(content.0))
}

/// What a request to write says has to hold.
pub(super) fn condition(if_match: Option<&ETagCondition>, if_none_match: Option<&ETagCondition>) -> S3Result<Condition> {
    match (if_match, if_none_match) {
        (None, None) => Ok(Condition::Any),
        (None, Some(ETagCondition::Any)) => Ok(Condition::Absent),
        (Some(ETagCondition::Any), None) => Ok(Condition::Present),
        (Some(ETagCondition::ETag(tag)), None) => {
            let mut hash = [0; 32];
            hex::decode_to_slice(tag.value(), &mut hash).map_err(|_| Fault::Condition)?;
            Ok(Condition::Content(Hash(hash)))
        }
        _ => Err(s3_error!(NotImplemented, "a write has one condition: If-Match, or If-None-Match: *")),
    }
}

/// What a client calls a request that it may repeat, where it says so.
pub(super) fn caller(headers: &HeaderMap) -> Option<String> {
    let said = headers.get(INVOCATION)?.to_str().ok()?;
    (1..=MAX_INVOCATION).contains(&said.len()).then(|| said.to_owned())
}

/// What a request to read says has to hold.
pub(super) struct Reading<'a> {
    pub(super) if_match: Option<&'a ETagCondition>,
    pub(super) if_none_match: Option<&'a ETagCondition>,
    pub(super) if_modified_since: Option<&'a Timestamp>,
    pub(super) if_unmodified_since: Option<&'a Timestamp>,
}

impl Reading<'_> {
    /// Refuses a file of which that does not hold. A tag that is given counts more than a time.
    pub(super) fn check(&self, meta: &Meta) -> S3Result<()> {
        let written = modified(meta);
        let unchanged = match (self.if_match, self.if_unmodified_since) {
            (Some(tag), _) => is_of(tag, &meta.hash),
            (None, Some(time)) => written <= *time,
            (None, None) => true,
        };
        if !unchanged {
            return Err(Fault::Condition.into());
        }
        let is_known = match (self.if_none_match, self.if_modified_since) {
            (Some(tag), _) => is_of(tag, &meta.hash),
            (None, Some(time)) => written <= *time,
            (None, None) => false,
        };
        if is_known { Err(s3_error!(NotModified)) } else { Ok(()) }
    }
}

/// When a file was written, in whole seconds as headers have them.
pub(super) fn modified(meta: &Meta) -> Timestamp {
    Timestamp::from(UNIX_EPOCH + Duration::from_secs((meta.written_ms / 1_000).min(LAST_SECOND)))
}

/// When a client says that a file was written: seconds since 1970, and a part of one.
pub(super) fn written_ms(metadata: Option<&Metadata>) -> Option<u64> {
    let text = metadata?.get(MTIME)?.as_str();
    let (seconds, part) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = part.chars().chain("000".chars()).take(3).collect();
    seconds.parse::<u64>().ok()?.checked_mul(1_000)?.checked_add(digits.parse().ok()?)
}

/// The metadata of a file.
pub(super) fn metadata(meta: &Meta) -> Metadata {
    let text = format!("{}.{:03}", meta.written_ms / 1_000, meta.written_ms % 1_000);
    HashMap::from([(MTIME.to_owned(), text)])
}

/// What kind of content a file is.
pub(super) fn kind(content_type: Option<&str>) -> S3Result<Text<64>> {
    let text = content_type.filter(|text| !text.is_empty()).unwrap_or(DEFAULT_KIND);
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    Text::new(text).filter(|_| is_plain).ok_or_else(|| s3_error!(InvalidArgument, "a content type has at most 64 characters of ASCII"))
}

/// What kind of content the writer of a file says that it is: it may have said anything.
pub(super) fn kind_of(meta: &Meta) -> String {
    kind(Some(&*meta.kind)).map_or_else(|_| DEFAULT_KIND.to_owned(), |kind| kind.to_string())
}

/// What a list is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Query {
    pub(super) prefix: String,
    /// What ends the part of a key that stands for all keys with it.
    pub(super) delimiter: Option<String>,
    /// The key, or the part of one, that was listed last.
    pub(super) after: String,
    /// The most keys and parts.
    pub(super) most: Option<i32>,
}

/// A part of a list.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) files: Vec<(String, Entry)>,
    /// What several keys have in common, up to the delimiter.
    pub(super) folders: Vec<String>,
    /// Where the list continues.
    pub(super) next: Option<String>,
    /// The most keys and parts.
    pub(super) most: usize,
}

/// A part of the list of a partition's keys.
pub(super) fn page(listing: &Listing, partition: &Name, query: &Query) -> S3Result<Page> {
    let most = usize::try_from(query.most.unwrap_or(i32::MAX)).map_err(|_| s3_error!(InvalidArgument, "max-keys is negative"))?;
    let mut page = Page { most: most.min(MAX_KEYS), ..Page::default() };
    let place = |key: &str| format!("{}/{key}", partition.as_str());
    let head = place("");
    let mut from = if query.after.as_str() < query.prefix.as_str() {
        Bound::Included(place(&query.prefix))
    } else {
        Bound::Excluded(place(&query.after))
    };
    if page.most == 0 {
        return Ok(page);
    }
    let delimiter = query.delimiter.as_deref().filter(|delimiter| !delimiter.is_empty());
    let mut last = None;
    while let Some((path, entry)) = listing.range((from, Bound::Unbounded)).next() {
        let Some(key) = path.strip_prefix(&head).filter(|key| key.starts_with(&query.prefix)) else { break };
        let rest = key.get(query.prefix.len()..).unwrap_or_default();
        let folder = delimiter.and_then(|delimiter| Some(query.prefix.len() + rest.find(delimiter)? + delimiter.len()));
        let folder = folder.and_then(|end| key.get(..end));
        if folder == Some(query.after.as_str()) {
            from = Bound::Excluded(place(&query.after) + "\u{10FFFF}");
            continue;
        }
        if page.files.len() + page.folders.len() == page.most {
            page.next = last;
            break;
        }
        match folder {
            Some(folder) => {
                page.folders.push(folder.to_owned());
                last = Some(folder.to_owned());
                // No key has this letter: all with that part are behind.
                from = Bound::Excluded(place(folder) + "\u{10FFFF}");
            }
            None => {
                page.files.push((key.to_owned(), entry.clone()));
                last = Some(key.to_owned());
                from = Bound::Excluded(path.clone());
            }
        }
    }
    Ok(page)
}

/// What an answer repeats of a request, where XML has it.
pub(super) fn echo(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.chars().any(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::entry;

    fn listing(keys: &[&str]) -> Listing {
        keys.iter().map(|key| (format!("notes/{key}"), entry(&format!("notes/{key}"), b"x"))).collect()
    }

    /// All pages of a list, each with at most `most`: keys and common parts.
    fn pages(listing: &Listing, prefix: &str, delimiter: Option<&str>, most: i32) -> Vec<Vec<String>> {
        let (mut found, mut after) = (Vec::new(), String::new());
        let notes = Name::new("notes").expect("a name");
        loop {
            let query = Query { prefix: prefix.into(), delimiter: delimiter.map(str::to_owned), after, most: Some(most) };
            let page = page(listing, &notes, &query).expect("most is no negative number");
            let mut names: Vec<String> = page.files.into_iter().map(|(key, _)| key).chain(page.folders).collect();
            names.sort();
            found.push(names);
            match page.next {
                Some(next) => after = next,
                None => return found,
            }
        }
    }

    /// Every key is listed once, whatever the length of a page, and common parts stand for what lies below them.
    #[test]
    fn lists_go_on_where_they_ended() {
        let all = listing(&["a", "b/1", "b/2", "b/c/3", "b0", "c", "d/4"]);
        for most in 1..9 {
            let flat: Vec<String> = pages(&all, "", None, most).concat();
            assert_eq!(flat, ["a", "b/1", "b/2", "b/c/3", "b0", "c", "d/4"], "{most}");
            let folders: Vec<String> = pages(&all, "", Some("/"), most).concat();
            assert_eq!(folders, ["a", "b/", "b0", "c", "d/"], "{most}");
            assert_eq!(pages(&all, "b/", Some("/"), most).concat(), ["b/1", "b/2", "b/c/"], "{most}");
            assert_eq!(pages(&all, "b", None, most).concat(), ["b/1", "b/2", "b/c/3", "b0"], "{most}");
        }
        assert_eq!(pages(&all, "", Some("/"), 2), [vec!["a", "b/"], vec!["b0", "c"], vec!["d/"]]);
        assert_eq!(pages(&all, "z", None, 2), [Vec::<String>::new()]);
        assert_eq!(pages(&Listing::new(), "", Some("/"), 2), [Vec::<String>::new()]);
        // Another partition's files are not listed, whatever the key after which it begins.
        let mut two = all;
        two.insert("notes2/x".into(), entry("notes2/x", b"x"));
        assert_eq!(pages(&two, "", None, 100).concat().len(), 7);
    }

    /// However many keys are asked for, an answer has a thousand; none at all is no reason to continue, and less is a mistake.
    #[test]
    fn answers_are_bounded() {
        let keys: Vec<String> = (0..1_500).map(|number| format!("k{number:04}")).collect();
        let all = listing(&keys.iter().map(String::as_str).collect::<Vec<_>>());
        let notes = Name::new("notes").expect("a name");
        let of = |most| page(&all, &notes, &Query { most, ..Query::default() });
        for most in [None, Some(1_000_000), Some(i32::MAX)] {
            let page = of(most).expect("it is clamped");
            assert_eq!((page.files.len(), page.most, page.next.as_deref()), (1_000, 1_000, Some("k0999")));
        }
        let none = of(Some(0)).expect("none");
        assert!(none.files.is_empty() && none.next.is_none());
        assert!(of(Some(-1)).is_err());
    }

    /// No key leads out of its bucket.
    #[test]
    fn keys_are_paths() {
        for key in ["", "/", "../x", "a/../b", "a//b", "./a", "a/", "ä", "a b", "a\0", "a\\b"] {
            assert!(path("notes", key).is_err(), "{key:?}");
            assert!(matches!(standing_path("notes", key), Err(Fault::NoFile(_))), "{key:?}");
        }
        assert!(path("..", "a").is_err() && path("notes", &"a/".repeat(300)).is_err());
        assert_eq!(path("notes", "a/b.txt").expect("a path").as_str(), "notes/a/b.txt");
    }

    /// The time that rclone keeps comes back as it was, to the millisecond; anything else is none.
    #[test]
    fn times_come_back() {
        let of = |text: &str| written_ms(Some(&HashMap::from([(MTIME.to_owned(), text.to_owned())])));
        let rows = [
            ("1700000000.123456789", Some(1_700_000_000_123)),
            ("1700000000", Some(1_700_000_000_000)),
            ("1700000000.5", Some(1_700_000_000_500)),
            ("-1", None),
            ("1e9", None),
            ("1.x", None),
            ("99999999999999999999", None),
            ("18446744073709551615", None),
        ];
        for (text, expected) in rows {
            assert_eq!(of(text), expected, "{text}");
        }
        let mut meta = entry("notes/a", b"x").meta;
        for ms in [0, 1_700_000_000_023, u64::MAX] {
            meta.written_ms = ms;
            assert_eq!(written_ms(Some(&metadata(&meta))), Some(ms));
            let _ = modified(&meta);
        }
    }

    /// Conditions of reading: a tag counts more than a time, and a time counts in whole seconds.
    #[test]
    fn reading_has_conditions() {
        let mut meta = entry("notes/a", b"x").meta;
        meta.written_ms = 5_900;
        let tag = ETagCondition::ETag(tag(&meta.hash));
        let (other, any) = (ETagCondition::ETag(ETag::Strong("0".repeat(64))), ETagCondition::Any);
        let at = |second| Timestamp::from(UNIX_EPOCH + Duration::from_secs(second));
        let (early, same) = (at(4), at(5));
        let none = || Reading { if_match: None, if_none_match: None, if_modified_since: None, if_unmodified_since: None };
        let code = |reading: Reading<'_>| reading.check(&meta).map_err(|error| error.code().as_str().to_owned()).err();
        let (changed, known) = (Some("PreconditionFailed".to_owned()), Some("NotModified".to_owned()));
        assert_eq!(code(none()), None);
        assert_eq!(code(Reading { if_match: Some(&tag), if_unmodified_since: Some(&early), ..none() }), None);
        assert_eq!(code(Reading { if_match: Some(&any), ..none() }), None);
        assert_eq!(code(Reading { if_match: Some(&other), ..none() }), changed);
        assert_eq!(code(Reading { if_unmodified_since: Some(&early), ..none() }), changed);
        assert_eq!(code(Reading { if_unmodified_since: Some(&same), ..none() }), None);
        assert_eq!(code(Reading { if_none_match: Some(&tag), ..none() }), known);
        assert_eq!(code(Reading { if_none_match: Some(&other), if_modified_since: Some(&same), ..none() }), None);
        assert_eq!(code(Reading { if_modified_since: Some(&same), ..none() }), known);
        assert_eq!(code(Reading { if_modified_since: Some(&early), ..none() }), None);
    }
}
