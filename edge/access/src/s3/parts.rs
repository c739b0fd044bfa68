//! Files that come in parts.

use super::S3Volume;
use super::fields::{reading_source, said};
use super::keys;
use super::objects::{part_of, refuse_encoding};
use super::sums::Sums;
use super::uploads::{self, Part, Upload};
use crate::engine::{Condition, Engine};
use crate::fault::Fault;
use crate::spool::Body;
use crate::store::About;
use cowboy_host::clock;
use cowboy_types::Hash;
use s3s::dto::{
    AbortMultipartUploadInput, AbortMultipartUploadOutput, CompleteMultipartUploadInput, CompleteMultipartUploadOutput, CopyPartResult,
    CreateMultipartUploadInput, CreateMultipartUploadOutput, ListMultipartUploadsInput, ListMultipartUploadsOutput, ListPartsInput,
    ListPartsOutput, MultipartUpload, Part as ListedPart, Range, Timestamp, UploadPartCopyInput, UploadPartCopyOutput, UploadPartInput,
    UploadPartOutput,
};
use s3s::{S3Request, S3Response, S3Result, s3_error};
use std::rc::Rc;
use std::time::{Duration, UNIX_EPOCH};

/// The most parts or files of one answer.
const MAX_LISTED: usize = 1_000;

fn at(ms: u64) -> Timestamp {
    Timestamp::from(UNIX_EPOCH + Duration::from_secs(ms / 1_000))
}

fn listed(number: i32, part: &Part) -> ListedPart {
    ListedPart { e_tag: Some(part.tag()), part_number: Some(number), size: i64::try_from(part.size()).ok(), ..ListedPart::default() }
}

/// How many are listed at most.
fn max_listed(said: Option<i32>) -> S3Result<usize> {
    let said = usize::try_from(said.unwrap_or(i32::MAX)).map_err(|_| s3_error!(InvalidArgument, "the most is negative"))?;
    Ok(said.min(MAX_LISTED))
}

impl S3Volume {
    pub(super) async fn begin(&self, input: CreateMultipartUploadInput) -> S3Result<S3Response<CreateMultipartUploadOutput>> {
        let path = keys::path(&input.bucket, &input.key)?;
        refuse_encoding(input.content_encoding.as_deref())?;
        let written_ms = keys::written_ms(input.metadata.as_ref()).unwrap_or_else(clock::now_ms);
        let about = About { written_ms, kind: keys::kind(input.content_type.as_deref())? };
        let partition = path.partition();
        self.engine.ask(move |engine| async move { engine.may_write(&partition) }).await?;
        let id = self.uploads.begin(&self.spool, path, about).await?;
        Ok(S3Response::new(CreateMultipartUploadOutput {
            bucket: Some(input.bucket),
            key: Some(input.key),
            upload_id: Some(id),
            ..CreateMultipartUploadOutput::default()
        }))
    }

    pub(super) async fn part(&self, request: S3Request<UploadPartInput>) -> S3Result<S3Response<UploadPartOutput>> {
        let (input, headers, behind) = (request.input, request.headers, request.trailing_headers);
        let path = keys::path(&input.bucket, &input.key)?;
        let length = input.content_length.and_then(|length| u64::try_from(length).ok());
        let length = length.ok_or_else(|| s3_error!(MissingContentLength))?;
        let spooled = self.uploads.place(&input.upload_id, &path, (input.part_number, length))?;
        let sums = Sums::new(said!(input), input.content_md5, &headers);
        let (place, md5) = self.taken(&spooled, input.body, input.content_length, (sums, behind)).await?;
        let part = Part { place, md5 };
        let e_tag = Some(part.tag());
        self.uploads.take(&input.upload_id, &path, input.part_number, part)?;
        Ok(S3Response::new(UploadPartOutput { e_tag, ..UploadPartOutput::default() }))
    }

    pub(super) async fn part_copy(&self, input: UploadPartCopyInput) -> S3Result<S3Response<UploadPartCopyOutput>> {
        let path = keys::path(&input.bucket, &input.key)?;
        let entry = self.source(&input.copy_source, &reading_source!(input)).await?;
        let range = input.copy_source_range.as_deref().map(Range::parse).transpose();
        let range = range.map_err(|_| s3_error!(InvalidArgument, "a range is like bytes=0-99"))?;
        let (part, _) = part_of(&entry, range.as_ref())?;
        let length = part.end.saturating_sub(part.start);
        let spooled = self.uploads.place(&input.upload_id, &path, (input.part_number, length))?;
        let (place, md5) = self.copied(spooled, entry, part).await?;
        let part = Part { place, md5 };
        let result = CopyPartResult { e_tag: Some(part.tag()), last_modified: Some(at(clock::now_ms())), ..CopyPartResult::default() };
        self.uploads.take(&input.upload_id, &path, input.part_number, part)?;
        Ok(S3Response::new(UploadPartCopyOutput { copy_part_result: Some(result), ..UploadPartCopyOutput::default() }))
    }

    pub(super) async fn complete(&self, input: CompleteMultipartUploadInput) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
        let path = keys::path(&input.bucket, &input.key)?;
        let condition = keys::condition(input.if_match.as_ref(), input.if_none_match.as_ref())?;
        let parts = input.multipart_upload.and_then(|listed| listed.parts).unwrap_or_default();
        let digest = uploads::digest(&parts);
        // Clients whose answer was lost repeat what they sent.
        let content = match self.uploads.completed(&input.upload_id, &path, &digest) {
            Some(content) => content,
            None => {
                let upload = self.uploads.of(&input.upload_id, &path)?;
                let body = upload.body(&parts)?;
                if input.mpu_object_size.is_some_and(|size| u64::try_from(size).ok() != Some(body.size())) {
                    return Err(Fault::Incomplete.into());
                }
                self.complete_once((input.upload_id, upload), body, condition, digest).await?
            }
        };
        Ok(S3Response::new(CompleteMultipartUploadOutput {
            e_tag: Some(keys::tag(&content)),
            location: Some(format!("/{}", path.as_str())),
            bucket: Some(input.bucket),
            key: Some(input.key),
            ..CompleteMultipartUploadOutput::default()
        }))
    }

    /// Commits a file that came in parts, also where its client goes. A request that is repeated meanwhile waits for the first one.
    async fn complete_once(&self, (id, upload): (String, Upload), body: Body, condition: Condition, digest: Hash) -> S3Result<Hash> {
        let uploads = self.uploads.clone();
        let commit = move |engine: Rc<Engine>| async move {
            let _one = upload.completing.lock().await;
            if let Some(content) = uploads.completed(&id, &upload.path, &digest) {
                return Ok::<_, Fault>(Some(content));
            }
            // While it waited, it may have been aborted, or completed with other parts.
            let Some(claim) = uploads.claim(&id, &upload.path) else { return Ok(None) };
            let begun = engine.begin(&upload.path);
            let sent = engine.send(&upload.path, &body, &upload.about, claim.sent(&body)).await?;
            // Where it cannot be committed, its parts stay, and what relays have of it is not sent again.
            claim.keep(&body, sent.clone());
            let content = engine.put_asked(&begun, &upload.path, sent.entry, (condition, Some(id.as_str()))).await?.meta.hash;
            uploads.complete(&id, &upload.path, digest, content);
            Ok(Some(content))
        };
        self.engine.ask(commit).await?.ok_or_else(uploads::unknown)
    }

    pub(super) fn abort(&self, input: &AbortMultipartUploadInput) -> S3Result<S3Response<AbortMultipartUploadOutput>> {
        self.uploads.abort(&input.upload_id, &keys::path(&input.bucket, &input.key)?)?;
        Ok(S3Response::new(AbortMultipartUploadOutput::default()))
    }

    pub(super) fn parts(&self, input: ListPartsInput) -> S3Result<S3Response<ListPartsOutput>> {
        let (upload, most) = (self.uploads.of(&input.upload_id, &keys::path(&input.bucket, &input.key)?)?, max_listed(input.max_parts)?);
        let behind = upload.parts.iter().filter(|(number, _)| **number > input.part_number_marker.unwrap_or_default());
        let mut parts: Vec<ListedPart> = behind.take(most.saturating_add(1)).map(|(number, part)| listed(*number, part)).collect();
        let is_truncated = parts.len() > most;
        parts.truncate(most);
        Ok(S3Response::new(ListPartsOutput {
            bucket: Some(input.bucket),
            key: Some(input.key),
            upload_id: Some(input.upload_id),
            max_parts: i32::try_from(most).ok(),
            is_truncated: Some(is_truncated),
            next_part_number_marker: parts.last().and_then(|part| part.part_number).filter(|_| is_truncated),
            parts: Some(parts),
            ..ListPartsOutput::default()
        }))
    }

    /// All files of a bucket that come in parts: there are few.
    pub(super) fn open_uploads(&self, input: ListMultipartUploadsInput) -> S3Result<S3Response<ListMultipartUploadsOutput>> {
        let (head, most) = (format!("{}/", keys::partition(&input.bucket)?.as_str()), max_listed(input.max_uploads)?);
        let found = self.uploads.list(&format!("{head}{}", input.prefix.as_deref().unwrap_or_default()));
        let shown = |(id, upload): (String, Upload)| MultipartUpload {
            key: upload.path.as_str().strip_prefix(&head).map(str::to_owned),
            upload_id: Some(id),
            initiated: Some(at(upload.began_ms)),
            ..MultipartUpload::default()
        };
        Ok(S3Response::new(ListMultipartUploadsOutput {
            is_truncated: Some(found.len() > most),
            uploads: Some(found.into_iter().take(most).map(shown).collect()),
            max_uploads: i32::try_from(most).ok(),
            prefix: input.prefix.as_deref().and_then(keys::echo),
            bucket: Some(input.bucket),
            ..ListMultipartUploadsOutput::default()
        }))
    }
}
