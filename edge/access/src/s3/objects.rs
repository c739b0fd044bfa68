//! Files: reading, writing, copying and removing them.

use super::S3Volume;
use super::fields::{reading, reading_source, said, shown};
use super::keys::{self, Reading};
use super::sums::Sums;
use crate::engine::Condition;
use crate::fault::Fault;
use crate::spool::{Body, Spooled};
use crate::store::About;
use cowboy_host::clock;
use cowboy_volume::Entry;
use cowboy_volumes::code::OBJECT_BYTES;
use futures::TryStreamExt as _;
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result, TrailingHeaders, s3_error};
use std::ops::Range as Part;
use std::sync::Arc;
use tokio_util::io::ReaderStream;

/// The most files of one request to remove some.
const MAX_REMOVED: usize = 1_000;

/// Bytes of a file that go out at once.
const PIECE: usize = 64 * 1024;

/// Refuses encodings of a content: they would not be kept, and readers would not know of them.
pub(super) fn refuse_encoding(encoding: Option<&str>) -> S3Result<()> {
    let mut parts = encoding.unwrap_or_default().split(',').map(str::trim);
    match parts.all(|part| matches!(part, "" | "aws-chunked" | "identity")) {
        true => Ok(()),
        false => Err(s3_error!(NotImplemented, "volumes keep no Content-Encoding: give the content as it is")),
    }
}

/// The length that a request says its body has.
fn length(said: Option<i64>) -> S3Result<u64> {
    let said = said.ok_or_else(|| s3_error!(MissingContentLength))?;
    let length = u64::try_from(said).map_err(|_| s3_error!(InvalidArgument, "a length is negative"))?;
    if length > OBJECT_BYTES { Err(Fault::TooLong.into()) } else { Ok(length) }
}

/// Refuses a version: files have one.
fn refuse_version(version: Option<&str>) -> S3Result<()> {
    match version {
        None | Some("null") => Ok(()),
        Some(_) => Err(s3_error!(NoSuchVersion, "volumes keep one version of a file")),
    }
}

/// Whether a request names a file by its key and by nothing else.
fn is_by_key(object: &ObjectIdentifier) -> bool {
    let is_any_version = object.version_id.as_deref().is_none_or(|version| version == "null");
    is_any_version && object.e_tag.is_none() && object.last_modified_time.is_none() && object.size.is_none()
}

impl S3Volume {
    /// A file that is there.
    async fn standing(&self, bucket: &str, key: &str) -> S3Result<Entry> {
        let path = keys::standing_path(bucket, key)?;
        let missing = Fault::NoFile(format!("{bucket}/{key}"));
        Ok(self.engine.ask(move |engine| async move { engine.find(&path).await?.ok_or(missing) }).await?)
    }

    /// Takes a body into the spool. Answers where it lies and its MD5.
    pub(super) async fn taken(
        &self,
        spooled: &Arc<Spooled>,
        body: Option<StreamingBlob>,
        said: Option<i64>,
        (mut sums, behind): (Sums, Option<TrailingHeaders>),
    ) -> S3Result<(Part<u64>, String)> {
        let length = length(said)?;
        let body = body.map(|body| body.map_err(|error| Fault::Broken(error.to_string())));
        let place = match body {
            Some(body) => spooled.append(body, length, |piece| sums.update(piece)).await?,
            None => spooled.append(futures::stream::empty::<Result<bytes::Bytes, Fault>>(), length, |_| {}).await?,
        };
        Ok((place, sums.finish(behind.as_ref())?))
    }

    /// Sends and commits a file, for a request that its client may repeat under this name.
    async fn put_body(
        &self,
        path: cowboy_volumes::Path,
        body: Body,
        about: About,
        (condition, caller): (Condition, Option<String>),
    ) -> S3Result<Entry> {
        let put = move |engine: std::rc::Rc<crate::engine::Engine>| async move {
            engine.put(&path, &body, &about, (condition, caller.as_deref())).await
        };
        Ok(self.engine.ask(put).await?)
    }

    pub(super) async fn put(&self, request: S3Request<PutObjectInput>) -> S3Result<S3Response<PutObjectOutput>> {
        let input = request.input;
        if input.write_offset_bytes.is_some() {
            return Err(s3_error!(NotImplemented, "a file is put as a whole: nothing is written into one"));
        }
        let path = keys::path(&input.bucket, &input.key)?;
        let condition = keys::condition(input.if_match.as_ref(), input.if_none_match.as_ref())?;
        let written_ms = keys::written_ms(input.metadata.as_ref()).unwrap_or_else(clock::now_ms);
        let about = About { written_ms, kind: keys::kind(input.content_type.as_deref())? };
        refuse_encoding(input.content_encoding.as_deref())?;
        let partition = path.partition();
        self.engine.ask(move |engine| async move { engine.may_write(&partition) }).await?;
        let caller = keys::caller(&request.headers);
        let sums = Sums::new(said!(input), input.content_md5, &request.headers);
        self.uploads.forget_abandoned(clock::now_ms());
        let spooled = self.spool.file().await?;
        let (place, _) = self.taken(&spooled, input.body, input.content_length, (sums, request.trailing_headers)).await?;
        let entry = self.put_body(path, Body::new(spooled, vec![place]), about, (condition, caller)).await?;
        let (e_tag, size) = (Some(keys::tag(&entry.meta.hash)), i64::try_from(entry.meta.size).ok());
        Ok(S3Response::new(PutObjectOutput { e_tag, size, ..PutObjectOutput::default() }))
    }

    pub(super) async fn get(&self, input: GetObjectInput) -> S3Result<S3Response<GetObjectOutput>> {
        refuse_version(input.version_id.as_deref())?;
        let entry = self.standing(&input.bucket, &input.key).await?;
        reading!(input).check(&entry.meta)?;
        let (part, content_range) = part_of(&entry, input.range.as_ref())?;
        let mut output = shown!(GetObjectOutput, entry, part, content_range);
        let reader = self.engine.ask(move |engine| async move { Ok::<_, Fault>(engine.read(entry, part)) }).await?;
        output.body = Some(StreamingBlob::wrap(ReaderStream::with_capacity(reader, PIECE)));
        Ok(S3Response::new(output))
    }

    pub(super) async fn head(&self, input: HeadObjectInput) -> S3Result<S3Response<HeadObjectOutput>> {
        refuse_version(input.version_id.as_deref())?;
        let entry = self.standing(&input.bucket, &input.key).await?;
        reading!(input).check(&entry.meta)?;
        let (part, content_range) = part_of(&entry, input.range.as_ref())?;
        Ok(S3Response::new(shown!(HeadObjectOutput, entry, part, content_range)))
    }

    pub(super) async fn delete(&self, input: DeleteObjectInput) -> S3Result<S3Response<DeleteObjectOutput>> {
        refuse_version(input.version_id.as_deref())?;
        if input.if_match_last_modified_time.is_some() || input.if_match_size.is_some() {
            return Err(s3_error!(NotImplemented, "a file is removed by its name, or by its tag with If-Match"));
        }
        let partition = keys::partition(&input.bucket)?;
        let condition = keys::condition(input.if_match.as_ref(), None)?;
        // What no volume has is gone already.
        let paths = keys::path(&input.bucket, &input.key).map(|path| vec![(path, condition)]).unwrap_or_default();
        self.engine.ask(move |engine| async move { engine.remove(&partition, paths).await }).await?;
        Ok(S3Response::new(DeleteObjectOutput::default()))
    }

    /// Removes many files with one commit. One that its request names by more than its key stays.
    pub(super) async fn delete_many(&self, input: DeleteObjectsInput) -> S3Result<S3Response<DeleteObjectsOutput>> {
        let partition = keys::partition(&input.bucket)?;
        if input.delete.objects.len() > MAX_REMOVED {
            return Err(s3_error!(MalformedXML, "a request removes at most {MAX_REMOVED} files"));
        }
        let (objects, kept): (Vec<ObjectIdentifier>, Vec<ObjectIdentifier>) = input.delete.objects.into_iter().partition(is_by_key);
        let known = objects.iter().filter_map(|object| keys::path(&input.bucket, &object.key).ok());
        let paths = known.map(|path| (path, Condition::Any)).collect();
        self.engine.ask(move |engine| async move { engine.remove(&partition, paths).await }).await?;
        let is_quiet = input.delete.quiet.unwrap_or_default();
        let gone = |object: ObjectIdentifier| DeletedObject { key: Some(object.key), ..DeletedObject::default() };
        let deleted = if is_quiet { Vec::new() } else { objects.into_iter().map(gone).collect() };
        let stays = |object: ObjectIdentifier| Error {
            code: Some("NotImplemented".to_owned()),
            message: Some("many files are removed by their keys alone".to_owned()),
            key: Some(object.key),
            version_id: object.version_id,
        };
        let errors = (!kept.is_empty()).then(|| kept.into_iter().map(stays).collect());
        Ok(S3Response::new(DeleteObjectsOutput { deleted: Some(deleted), errors, ..DeleteObjectsOutput::default() }))
    }

    /// The file that a request copies, where what it says of it holds.
    pub(super) async fn source(&self, source: &CopySource, reading: &Reading<'_>) -> S3Result<Entry> {
        let CopySource::Bucket { bucket, key, version_id } = source else {
            return Err(s3_error!(NotImplemented, "a copy names a bucket and a key"));
        };
        refuse_version(version_id.as_deref())?;
        let entry = self.standing(bucket, key).await?;
        // A copy has no answer for a file that is known.
        reading.check(&entry.meta).map_err(|_| Fault::Condition)?;
        Ok(entry)
    }

    /// Takes a part of a file of the volume into the spool.
    pub(super) async fn copied(&self, spooled: Arc<Spooled>, entry: Entry, part: Part<u64>) -> S3Result<(Part<u64>, String)> {
        let copy = move |engine: std::rc::Rc<crate::engine::Engine>| async move {
            let mut sums = Sums::new(Checksum::default(), None, &hyper::HeaderMap::new());
            let place = engine.spool(&entry, part, &spooled, |piece| sums.update(piece)).await?;
            Ok::<_, Fault>((place, sums.finish(None)?))
        };
        Ok(self.engine.ask(copy).await?)
    }

    pub(super) async fn copy(&self, request: S3Request<CopyObjectInput>) -> S3Result<S3Response<CopyObjectOutput>> {
        if ["if-match", "if-none-match"].iter().any(|name| request.headers.contains_key(*name)) {
            return Err(s3_error!(NotImplemented, "a copy has conditions on its source alone"));
        }
        let input = request.input;
        let path = keys::path(&input.bucket, &input.key)?;
        let entry = self.source(&input.copy_source, &reading_source!(input)).await?;
        let is_replaced = input.metadata_directive.is_some_and(|directive| directive.as_str() == MetadataDirective::REPLACE);
        let about = if is_replaced {
            refuse_encoding(input.content_encoding.as_deref())?;
            let written_ms = keys::written_ms(input.metadata.as_ref()).unwrap_or_else(clock::now_ms);
            About { written_ms, kind: keys::kind(input.content_type.as_deref())? }
        } else {
            About { written_ms: entry.meta.written_ms, kind: entry.meta.kind.clone() }
        };
        let (spooled, size) = (self.spool.file().await?, entry.meta.size);
        let (place, _) = self.copied(spooled.clone(), entry, 0..size).await?;
        let entry = self.put_body(path, Body::new(spooled, vec![place]), about, (Condition::Any, None)).await?;
        let result = CopyObjectResult {
            e_tag: Some(keys::tag(&entry.meta.hash)),
            last_modified: Some(keys::modified(&entry.meta)),
            ..CopyObjectResult::default()
        };
        Ok(S3Response::new(CopyObjectOutput { copy_object_result: Some(result), ..CopyObjectOutput::default() }))
    }
}

/// The part of a file that a request wants, and what its answer says of it.
pub(super) fn part_of(entry: &Entry, range: Option<&Range>) -> S3Result<(Part<u64>, Option<String>)> {
    let size = entry.meta.size;
    let Some(range) = range else { return Ok((0..size, None)) };
    let part = range.check(size)?;
    if part.is_empty() {
        // The end of an empty file.
        return Ok((0..size, None));
    }
    let said = format!("bytes {}-{}/{size}", part.start, part.end - 1);
    Ok((part, Some(said)))
}
