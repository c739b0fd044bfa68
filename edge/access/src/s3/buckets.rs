//! Buckets, and lists of what they have.

use super::S3Volume;
use super::keys::{self, Page, Query};
use crate::fault::Fault;
use cowboy_volume::Entry;
use s3s::dto::*;
use s3s::{S3Response, S3Result, s3_error};
use std::time::Duration;

/// A part of a list, as both versions of the request have it.
struct Listed {
    contents: ObjectList,
    folders: CommonPrefixList,
    most: i32,
    next: Option<String>,
}

fn object((key, entry): (String, Entry)) -> Object {
    Object {
        e_tag: Some(keys::tag(&entry.meta.hash)),
        key: Some(key),
        last_modified: Some(keys::modified(&entry.meta)),
        size: i64::try_from(entry.meta.size).ok(),
        storage_class: Some(ObjectStorageClass::from_static(ObjectStorageClass::STANDARD)),
        ..Object::default()
    }
}

impl From<Page> for Listed {
    fn from(page: Page) -> Self {
        Self {
            contents: page.files.into_iter().map(object).collect(),
            folders: page.folders.into_iter().map(|prefix| CommonPrefix { prefix: Some(prefix) }).collect(),
            most: i32::try_from(page.most).unwrap_or(i32::MAX),
            next: page.next,
        }
    }
}

impl S3Volume {
    /// A part of the list of a bucket.
    async fn page(&self, bucket: &str, query: Query) -> S3Result<Listed> {
        let partition = keys::partition(bucket)?;
        let page = self
            .engine
            .ask(move |engine| async move {
                let listing = engine.listing(&partition, Duration::ZERO).await?;
                if listing.is_empty() && !engine.has_partition(&partition).await? {
                    return Err(Fault::NoPartition(partition.as_str().to_owned()));
                }
                Ok::<_, Fault>(keys::page(&listing, &partition, &query))
            })
            .await?;
        Ok(page?.into())
    }

    pub(super) async fn buckets(&self) -> S3Result<S3Response<ListBucketsOutput>> {
        let names = self.engine.ask(|engine| async move { engine.partitions().await }).await?;
        let bucket = |name: cowboy_volumes::Name| Bucket { name: Some(name.as_str().to_owned()), ..Bucket::default() };
        let buckets = names.into_iter().map(bucket).collect();
        Ok(S3Response::new(ListBucketsOutput { buckets: Some(buckets), ..ListBucketsOutput::default() }))
    }

    /// Refuses a bucket that is not there.
    pub(super) async fn bucket(&self, name: &str) -> S3Result<()> {
        let partition = keys::partition(name)?;
        let name = name.to_owned();
        let look = |engine: std::rc::Rc<crate::engine::Engine>| async move {
            if engine.has_partition(&partition).await? { Ok(()) } else { Err(Fault::NoPartition(name)) }
        };
        Ok(self.engine.ask(look).await?)
    }

    pub(super) async fn made(&self, input: CreateBucketInput) -> S3Result<S3Response<CreateBucketOutput>> {
        let partition = keys::partition(&input.bucket)?;
        self.engine.ask(move |engine| async move { engine.make_partition(&partition) }).await?;
        Ok(S3Response::new(CreateBucketOutput { location: Some(format!("/{}", input.bucket)) }))
    }

    pub(super) async fn unmade(&self, input: DeleteBucketInput) -> S3Result<S3Response<DeleteBucketOutput>> {
        let partition = keys::partition(&input.bucket)?;
        let is_empty = self
            .engine
            .ask(move |engine| async move {
                engine.may_remove(&partition)?;
                if !engine.has_partition(&partition).await? {
                    return Err(Fault::NoPartition(partition.as_str().to_owned()));
                }
                let is_empty = engine.listing(&partition, Duration::ZERO).await?.is_empty();
                if is_empty {
                    engine.forget_partition(&partition);
                }
                Ok::<_, Fault>(is_empty)
            })
            .await?;
        if is_empty { Ok(S3Response::new(DeleteBucketOutput {})) } else { Err(s3_error!(BucketNotEmpty, "it has files")) }
    }

    pub(super) async fn listed(&self, input: ListObjectsV2Input) -> S3Result<S3Response<ListObjectsV2Output>> {
        let prefix = input.prefix.unwrap_or_default();
        let after = input.continuation_token.clone().or_else(|| input.start_after.clone()).unwrap_or_default();
        let query = Query { prefix: prefix.clone(), delimiter: input.delimiter.clone(), after, most: input.max_keys };
        let page = self.page(&input.bucket, query).await?;
        let count = page.contents.len().saturating_add(page.folders.len());
        Ok(S3Response::new(ListObjectsV2Output {
            name: Some(input.bucket),
            prefix: keys::echo(&prefix),
            max_keys: Some(page.most),
            key_count: i32::try_from(count).ok(),
            continuation_token: input.continuation_token.as_deref().and_then(keys::echo),
            is_truncated: Some(page.next.is_some()),
            next_continuation_token: page.next,
            contents: Some(page.contents),
            common_prefixes: Some(page.folders),
            delimiter: input.delimiter.as_deref().and_then(keys::echo),
            start_after: input.start_after.as_deref().and_then(keys::echo),
            ..ListObjectsV2Output::default()
        }))
    }

    /// The first version of the request, with a marker.
    pub(super) async fn listed_from(&self, input: ListObjectsInput) -> S3Result<S3Response<ListObjectsOutput>> {
        let (prefix, marker) = (input.prefix.unwrap_or_default(), input.marker.unwrap_or_default());
        let query = Query { prefix: prefix.clone(), delimiter: input.delimiter.clone(), after: marker.clone(), most: input.max_keys };
        let page = self.page(&input.bucket, query).await?;
        Ok(S3Response::new(ListObjectsOutput {
            name: Some(input.bucket),
            prefix: keys::echo(&prefix),
            marker: keys::echo(&marker),
            max_keys: Some(page.most),
            is_truncated: Some(page.next.is_some()),
            next_marker: page.next,
            contents: Some(page.contents),
            common_prefixes: Some(page.folders),
            delimiter: input.delimiter.as_deref().and_then(keys::echo),
            ..ListObjectsOutput::default()
        }))
    }
}
