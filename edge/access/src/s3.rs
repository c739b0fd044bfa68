//! `cowboy volume serve`: a volume for programs that speak S3 (decision 609).

mod buckets;
mod deadline;
mod errors;
mod fields;
mod gate;
mod keys;
mod objects;
mod parts;
#[cfg(any(test, feature = "testing"))]
pub mod probe;
mod sums;
#[cfg(test)]
mod tests;
mod uploads;

use crate::engine::{Engine, Handle};
use crate::spool::Spool;
use cowboy_cli::volumes::{Serve, Stop};
use cowboy_console::{failure::Failure, output::Output};
use cowboy_host::loopback;
use cowboy_serve::{Server, Settings, Slots};
use deadline::Timed;
use gate::{Credentials, Gate};
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use s3s::config::{S3Config, StaticConfigProvider};
use s3s::dto::*;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, S3, S3Request, S3Response, S3Result};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use uploads::Uploads;

/// Connections at once.
const CONNECTIONS: usize = 256;

/// The most bytes of a request's XML: a list of 10,000 parts with a checksum each.
const XML_BYTES: usize = 4 << 20;

/// The most bytes of forms, which are refused once they were read.
const FORM_BYTES: usize = 64 << 10;

/// Seconds by which a client's clock may be wrong.
const SKEW_SECONDS: u32 = 900;

/// The time that requests have to end when the program does.
const DRAIN: Duration = Duration::from_secs(30);

/// A volume behind the operations of S3.
pub(crate) struct S3Volume {
    engine: Handle<Engine>,
    spool: Spool,
    uploads: Arc<Uploads>,
}

/// Hands every operation to what does it.
#[async_trait::async_trait]
impl S3 for S3Volume {
    async fn list_buckets(&self, _: S3Request<ListBucketsInput>) -> S3Result<S3Response<ListBucketsOutput>> {
        self.buckets().await
    }

    async fn head_bucket(&self, request: S3Request<HeadBucketInput>) -> S3Result<S3Response<HeadBucketOutput>> {
        self.bucket(&request.input.bucket).await?;
        Ok(S3Response::new(HeadBucketOutput::default()))
    }

    async fn get_bucket_location(&self, request: S3Request<GetBucketLocationInput>) -> S3Result<S3Response<GetBucketLocationOutput>> {
        self.bucket(&request.input.bucket).await?;
        Ok(S3Response::new(GetBucketLocationOutput::default()))
    }

    async fn get_bucket_versioning(&self, request: S3Request<GetBucketVersioningInput>) -> S3Result<S3Response<GetBucketVersioningOutput>> {
        self.bucket(&request.input.bucket).await?;
        Ok(S3Response::new(GetBucketVersioningOutput::default()))
    }

    async fn create_bucket(&self, request: S3Request<CreateBucketInput>) -> S3Result<S3Response<CreateBucketOutput>> {
        self.made(request.input).await
    }

    async fn delete_bucket(&self, request: S3Request<DeleteBucketInput>) -> S3Result<S3Response<DeleteBucketOutput>> {
        self.unmade(request.input).await
    }

    async fn list_objects(&self, request: S3Request<ListObjectsInput>) -> S3Result<S3Response<ListObjectsOutput>> {
        self.listed_from(request.input).await
    }

    async fn list_objects_v2(&self, request: S3Request<ListObjectsV2Input>) -> S3Result<S3Response<ListObjectsV2Output>> {
        self.listed(request.input).await
    }

    async fn put_object(&self, request: S3Request<PutObjectInput>) -> S3Result<S3Response<PutObjectOutput>> {
        self.put(request).await
    }

    async fn get_object(&self, request: S3Request<GetObjectInput>) -> S3Result<S3Response<GetObjectOutput>> {
        self.get(request.input).await
    }

    async fn head_object(&self, request: S3Request<HeadObjectInput>) -> S3Result<S3Response<HeadObjectOutput>> {
        self.head(request.input).await
    }

    async fn copy_object(&self, request: S3Request<CopyObjectInput>) -> S3Result<S3Response<CopyObjectOutput>> {
        self.copy(request).await
    }

    async fn delete_object(&self, request: S3Request<DeleteObjectInput>) -> S3Result<S3Response<DeleteObjectOutput>> {
        self.delete(request.input).await
    }

    async fn delete_objects(&self, request: S3Request<DeleteObjectsInput>) -> S3Result<S3Response<DeleteObjectsOutput>> {
        self.delete_many(request.input).await
    }

    async fn create_multipart_upload(
        &self,
        request: S3Request<CreateMultipartUploadInput>,
    ) -> S3Result<S3Response<CreateMultipartUploadOutput>> {
        self.begin(request.input).await
    }

    async fn upload_part(&self, request: S3Request<UploadPartInput>) -> S3Result<S3Response<UploadPartOutput>> {
        self.part(request).await
    }

    async fn upload_part_copy(&self, request: S3Request<UploadPartCopyInput>) -> S3Result<S3Response<UploadPartCopyOutput>> {
        self.part_copy(request.input).await
    }

    async fn complete_multipart_upload(
        &self,
        request: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
        self.complete(request.input).await
    }

    async fn abort_multipart_upload(
        &self,
        request: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<S3Response<AbortMultipartUploadOutput>> {
        self.abort(&request.input)
    }

    async fn list_parts(&self, request: S3Request<ListPartsInput>) -> S3Result<S3Response<ListPartsOutput>> {
        self.parts(request.input)
    }

    async fn list_multipart_uploads(
        &self,
        request: S3Request<ListMultipartUploadsInput>,
    ) -> S3Result<S3Response<ListMultipartUploadsOutput>> {
        self.open_uploads(request.input)
    }
}

/// The service of a volume within the limits of this server. It lets everybody in.
fn builder(volume: S3Volume) -> S3ServiceBuilder {
    let mut config = S3Config::default();
    config.xml_max_body_size = XML_BYTES;
    config.post_object_max_file_size = FORM_BYTES as u64;
    config.form_max_field_size = FORM_BYTES;
    config.form_max_fields_size = FORM_BYTES;
    config.presigned_url_max_skew_time_secs = SKEW_SECONDS;
    let mut builder = S3ServiceBuilder::new(volume);
    builder.set_config(Arc::new(StaticConfigProvider::new(Arc::new(config))));
    builder.set_validation(keys::Partitions);
    builder
}

/// The service of a volume, for whoever signs with these credentials.
fn service(volume: S3Volume, credentials: &Credentials) -> S3Service {
    let mut builder = builder(volume);
    builder.set_auth(credentials.clone());
    builder.set_access(Gate);
    builder.build()
}

/// What a request is answered, whose body is waited for this long.
async fn answer(service: S3Service, request: Request<Incoming>, patience: Duration) -> Response<Body> {
    let request = request.map(|body| Body::http_body_unsync(Timed::new(body, patience)));
    service.call(request).await.unwrap_or_else(|_| {
        let mut failed = Response::new(Body::empty());
        *failed.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        failed
    })
}

/// Serves until told to stop, and lets requests under way end.
pub(crate) async fn serve(options: &Serve, engine: Handle<Engine>, spool: Spool, output: Output, mut stop: Stop) -> Result<(), Failure> {
    if !loopback::is_address(options.s3.ip()) && !options.expose {
        return Err(Failure::argument(
            format!("{} is reached from other computers, and nothing is encrypted on the way", options.s3),
            "listen at 127.0.0.1, or say --expose where a proxy with TLS is before it",
        ));
    }
    let credentials = Credentials::load(options.credentials.as_deref())?;
    let listening = |error: std::io::Error| Failure::Node(format!("cannot listen at {}: {error}", options.s3));
    let listener = TcpListener::bind(options.s3).await.map_err(listening)?;
    let endpoint = format!("http://{}", listener.local_addr().map_err(listening)?);
    let names = engine.ask(|engine| async move { engine.partitions().await }).await.map_err(|fault| Failure::Node(fault.to_string()))?;
    let service = service(S3Volume { engine, spool, uploads: Arc::default() }, &credentials);
    let buckets: Vec<&str> = names.iter().map(cowboy_volumes::Name::as_str).collect();
    output.result(
        &document(options.credentials.is_some(), &credentials, &buckets, &endpoint),
        said(&options.credentials, &credentials, &buckets, &endpoint),
    );
    let (ended, _) = watch::channel(false);
    let server = Server::new("s3", Slots::new(CONNECTIONS), Settings::of_service(CONNECTIONS));
    let accepting =
        server.accept(listener, None, ended.subscribe(), DRAIN, move |_, request| answer(service.clone(), request, deadline::PATIENCE));
    let mut accepting = std::pin::pin!(accepting);
    let stopped = tokio::select! {
        () = &mut accepting => return Ok(()),
        stopped = stop.wait() => stopped,
    };
    ended.send_replace(true);
    accepting.await;
    stopped
}

/// What a program reads that begins to serve. A key that is in a file stays there.
fn document(has_file: bool, credentials: &Credentials, buckets: &[&str], endpoint: &str) -> serde_json::Value {
    let mut document = serde_json::json!({
        "endpoint": endpoint, "region": "us-east-1", "buckets": buckets, "access_key_id": credentials.access_key,
    });
    if !has_file {
        document["secret_access_key"] = credentials.secret_key.as_str().into();
    }
    document
}

/// What a person is told who begins to serve.
fn said(file: &Option<std::path::PathBuf>, credentials: &Credentials, buckets: &[&str], endpoint: &str) -> String {
    let signing = match file {
        Some(file) => format!("credentials: {}", file.display()),
        None => format!("access key: {}\nsecret key: {}", credentials.access_key, credentials.secret_key),
    };
    let buckets = if buckets.is_empty() { "none yet".to_owned() } else { buckets.join(", ") };
    format!("buckets: {buckets}\n{signing}\nready: {endpoint}")
}
