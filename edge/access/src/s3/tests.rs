//! The operations of S3 over a volume in memory, and who is let in.

mod slow;

use super::*;
use crate::engine;
use crate::testing::{Kept, OWNER, engine as memory, locally, spool};
use bytes::Bytes;
use cowboy_cli::volumes::Rights;
use futures::StreamExt as _;
use hyper::{HeaderMap, Method, Uri};
use std::rc::Rc;

/// A volume behind S3, and what a test sees of it.
fn volume(rights: Rights) -> (S3Volume, Rc<Kept>) {
    let (engine, kept) = memory(rights, false);
    let (handle, serving) = engine::serve(engine);
    tokio::task::spawn_local(serving);
    (S3Volume { engine: handle, spool: spool(8 << 20), uploads: Arc::default() }, kept)
}

/// A request that was let in.
fn request<T>(input: T) -> S3Request<T> {
    S3Request {
        input,
        method: Method::GET,
        uri: Uri::default(),
        headers: HeaderMap::new(),
        extensions: hyper::http::Extensions::default(),
        credentials: None,
        region: None,
        service: None,
        trailing_headers: None,
    }
}

fn blob(content: &'static [u8]) -> Option<StreamingBlob> {
    let pieces = content.chunks(3).map(|piece| Ok::<_, std::io::Error>(Bytes::from_static(piece)));
    Some(StreamingBlob::wrap(futures::stream::iter(pieces.collect::<Vec<_>>())))
}

fn put(key: &str, content: &'static [u8]) -> PutObjectInput {
    PutObjectInput {
        bucket: "notes".to_owned(),
        key: key.to_owned(),
        body: blob(content),
        content_length: i64::try_from(content.len()).ok(),
        ..PutObjectInput::default()
    }
}

fn get(key: &str, range: Option<&str>) -> GetObjectInput {
    let range = range.map(|range| Range::parse(range).expect("a range"));
    GetObjectInput { bucket: "notes".to_owned(), key: key.to_owned(), range, ..GetObjectInput::default() }
}

async fn content(volume: &S3Volume, input: GetObjectInput) -> Result<(Vec<u8>, Option<String>), String> {
    let output = volume.get_object(request(input)).await.map_err(|error| code(&error))?.output;
    let mut body = output.body.expect("a file has a content");
    let mut found = Vec::new();
    while let Some(piece) = body.next().await {
        found.extend_from_slice(&piece.expect("it is read"));
    }
    assert_eq!(output.content_length, i64::try_from(found.len()).ok());
    Ok((found, output.content_range))
}

fn code(error: &s3s::S3Error) -> String {
    error.code().as_str().to_owned()
}

/// What is put is committed, and comes back whole and in parts; a copy is one, and what is removed is gone.
#[test]
fn files_come_and_go() {
    locally(async {
        let (volume, kept) = volume(OWNER);
        assert_eq!(content(&volume, get("a", None)).await, Err("NoSuchBucket".to_owned()));
        let said = volume.put_object(request(put("a/b.txt", b"hello world"))).await.expect("its owner may").output;
        let hash = blake3::hash(b"hello world").to_hex().to_string();
        assert_eq!(said.e_tag, Some(ETag::Strong(hash)));
        assert_eq!(kept.content("notes/a/b.txt").as_deref(), Some(&b"hello world"[..]));
        let rows = [
            (None, &b"hello world"[..], None),
            (Some("bytes=0-4"), b"hello", Some("bytes 0-4/11")),
            (Some("bytes=6-"), b"world", Some("bytes 6-10/11")),
            (Some("bytes=-3"), b"rld", Some("bytes 8-10/11")),
            (Some("bytes=4-9223372036854775807"), b"o world", Some("bytes 4-10/11")),
        ];
        for (range, expected, said) in rows {
            assert_eq!(content(&volume, get("a/b.txt", range)).await, Ok((expected.to_vec(), said.map(str::to_owned))), "{range:?}");
        }
        for range in ["bytes=11-", "bytes=9223372036854775806-9223372036854775807", "bytes=-0"] {
            assert_eq!(content(&volume, get("a/b.txt", Some(range))).await, Err("InvalidRange".to_owned()), "{range}");
        }
        for key in ["none", "../a", "a//b.txt", "a/", "a b"] {
            assert_eq!(content(&volume, get(key, None)).await, Err("NoSuchKey".to_owned()), "{key}");
        }
        let copy = CopyObjectInput::builder()
            .bucket("notes".to_owned())
            .key("copy".to_owned())
            .copy_source(CopySource::Bucket { bucket: "notes".into(), key: "a/b.txt".into(), version_id: None })
            .build()
            .expect("it says what is copied");
        volume.copy_object(request(copy)).await.expect("its owner may");
        let remove = DeleteObjectInput { bucket: "notes".to_owned(), key: "a/b.txt".to_owned(), ..DeleteObjectInput::default() };
        for _ in 0..2 {
            volume.delete_object(request(remove.clone())).await.expect("what is gone is gone");
        }
        assert_eq!(kept.paths(), ["notes/copy"]);
        assert_eq!(kept.content("notes/copy").as_deref(), Some(&b"hello world"[..]));
    });
}

/// What cannot be kept is refused and leaves nothing: bad keys, lengths, sums, encodings and types.
#[test]
fn bad_files_are_refused() {
    locally(async {
        let (volume, kept) = volume(OWNER);
        let of = |change: fn(&mut PutObjectInput)| {
            let mut input = put("a", b"hello");
            change(&mut input);
            input
        };
        let rows = [
            (of(|input| input.key = "../a".to_owned()), "InvalidArgument"),
            (of(|input| input.key = "a/".to_owned()), "InvalidArgument"),
            (of(|input| input.key = "x".repeat(65)), "InvalidArgument"),
            (of(|input| input.content_length = Some(4)), "IncompleteBody"),
            (of(|input| input.content_length = Some(6)), "IncompleteBody"),
            (of(|input| input.content_length = None), "MissingContentLength"),
            (of(|input| input.content_length = Some(-1)), "InvalidArgument"),
            (of(|input| input.content_length = Some(i64::MAX)), "EntityTooLarge"),
            (of(|input| input.content_length = Some(9 << 20)), "SlowDown"),
            (of(|input| input.content_md5 = Some("AAAA".to_owned())), "BadDigest"),
            (of(|input| input.checksum_crc32 = Some("AAAA".to_owned())), "BadDigest"),
            (of(|input| input.content_encoding = Some("gzip".to_owned())), "NotImplemented"),
            (of(|input| input.content_type = Some("x".repeat(65))), "InvalidArgument"),
            (of(|input| input.if_match = Some(ETagCondition::ETag(ETag::Strong("other".to_owned())))), "PreconditionFailed"),
        ];
        for (input, expected) in rows {
            let refused = volume.put_object(request(input)).await.map(drop).map_err(|error| code(&error));
            assert_eq!(refused, Err(expected.to_owned()));
        }
        assert!(kept.paths().is_empty());
        assert_eq!(volume.spool.used(), 0);
        let absent = || PutObjectInput { if_none_match: Some(ETagCondition::Any), ..put("a", b"hello") };
        volume.put_object(request(absent())).await.expect("it is the first");
        let second = volume.put_object(request(absent())).await.map(drop).map_err(|error| code(&error));
        assert_eq!(second, Err("PreconditionFailed".to_owned()));
        // A client that names its request may repeat it.
        let named = || {
            let mut named = request(PutObjectInput { key: "b".to_owned(), ..absent() });
            named.headers.insert("amz-sdk-invocation-id", hyper::header::HeaderValue::from_static("1"));
            named
        };
        for _ in 0..2 {
            volume.put_object(named()).await.expect("it is the same request");
        }
    });
}

/// Lists have the keys of one bucket, in parts of a bounded length.
#[test]
fn buckets_are_listed() {
    locally(async {
        let (volume, kept) = volume(OWNER);
        kept.put(&[("notes/a", b"1"), ("notes/b/c", b"2"), ("notes/b/d", b"3"), ("other/x", b"4")]);
        let input = |after: Option<String>| ListObjectsV2Input {
            bucket: "notes".to_owned(),
            delimiter: Some("/".to_owned()),
            max_keys: Some(1),
            continuation_token: after,
            ..ListObjectsV2Input::default()
        };
        let first = volume.list_objects_v2(request(input(None))).await.expect("it is there").output;
        assert_eq!((first.key_count, first.is_truncated), (Some(1), Some(true)));
        assert_eq!(first.contents.expect("one")[0].key.as_deref(), Some("a"));
        let second = volume.list_objects_v2(request(input(first.next_continuation_token))).await.expect("it is there").output;
        assert_eq!(second.common_prefixes.expect("one")[0].prefix.as_deref(), Some("b/"));
        assert_eq!((second.is_truncated, second.next_continuation_token), (Some(false), None));
        let million = ListObjectsV2Input { max_keys: Some(1_000_000), ..input(None) };
        assert_eq!(volume.list_objects_v2(request(million)).await.expect("it is clamped").output.max_keys, Some(1_000));
        let buckets = volume.list_buckets(request(ListBucketsInput::default())).await.expect("it is there").output.buckets;
        let names: Vec<String> = buckets.unwrap_or_default().into_iter().filter_map(|bucket| bucket.name).collect();
        assert_eq!(names, ["notes", "other"]);
        let bucket = |name: &str| name.to_owned();
        let unmade = DeleteBucketInput { bucket: bucket("notes"), ..DeleteBucketInput::default() };
        assert_eq!(volume.delete_bucket(request(unmade)).await.map(drop).map_err(|error| code(&error)), Err("BucketNotEmpty".to_owned()));
        let head = |name: &str| HeadBucketInput { bucket: name.to_owned(), ..HeadBucketInput::default() };
        assert!(volume.head_bucket(request(head("more"))).await.is_err());
        volume
            .create_bucket(request(CreateBucketInput { bucket: bucket("more"), ..CreateBucketInput::default() }))
            .await
            .expect("its owner may");
        assert!(volume.head_bucket(request(head("more"))).await.is_ok());
        let objects = ["a", "b/c", "../x"].map(|key| ObjectIdentifier { key: key.to_owned(), ..ObjectIdentifier::default() });
        let many = DeleteObjectsInput::builder()
            .bucket(bucket("notes"))
            .delete(Delete { objects: objects.to_vec(), ..Delete::default() })
            .build()
            .expect("it says what goes");
        volume.delete_objects(request(many)).await.expect("its owner may");
        assert_eq!((kept.paths(), kept.commits.borrow().clone()), (vec!["notes/b/d".to_owned(), "other/x".to_owned()], vec![2]));
    });
}

/// A bucket that lost its files is there until it is removed, and then nowhere; one with files is not removed.
#[test]
fn buckets_go() {
    locally(async {
        let (volume, kept) = volume(OWNER);
        kept.put(&[("notes/a", b"1"), ("other/x", b"2")]);
        let listed = async || {
            let buckets = volume.list_buckets(request(ListBucketsInput::default())).await.expect("it is there").output.buckets;
            buckets.unwrap_or_default().into_iter().filter_map(|bucket| bucket.name).collect::<Vec<_>>()
        };
        let notes = || "notes".to_owned();
        let remove = async || {
            let input = DeleteBucketInput { bucket: notes(), ..DeleteBucketInput::default() };
            volume.delete_bucket(request(input)).await.map(drop).map_err(|error| code(&error))
        };
        assert_eq!(remove().await, Err("BucketNotEmpty".to_owned()));
        let gone = DeleteObjectInput { bucket: notes(), key: "a".to_owned(), ..DeleteObjectInput::default() };
        volume.delete_object(request(gone)).await.expect("its owner may");
        assert_eq!(listed().await, ["notes", "other"]);
        assert_eq!(remove().await, Ok(()));
        assert_eq!(listed().await, ["other"]);
        assert_eq!(remove().await, Err("NoSuchBucket".to_owned()));
        let head = HeadBucketInput { bucket: notes(), ..HeadBucketInput::default() };
        assert!(volume.head_bucket(request(head)).await.is_err());
        let list = ListObjectsV2Input { bucket: notes(), ..ListObjectsV2Input::default() };
        assert_eq!(volume.list_objects_v2(request(list)).await.map(drop).map_err(|error| code(&error)), Err("NoSuchBucket".to_owned()));
        volume.put_object(request(put("a", b"again"))).await.expect("its owner may");
        assert_eq!(listed().await, ["notes", "other"]);
    });
}

/// A file that comes in parts is committed once it is complete, and nothing of one that is aborted is left.
#[test]
fn parts_are_one_file() {
    locally(async {
        let (volume, kept) = volume(OWNER);
        let begin =
            || CreateMultipartUploadInput { bucket: "notes".to_owned(), key: "big".to_owned(), ..CreateMultipartUploadInput::default() };
        let id = volume.create_multipart_upload(request(begin())).await.expect("its owner may").output.upload_id.expect("it has one");
        let part = |number: i32, content: &'static [u8]| UploadPartInput {
            bucket: "notes".to_owned(),
            key: "big".to_owned(),
            upload_id: id.clone(),
            part_number: number,
            body: blob(content),
            content_length: i64::try_from(content.len()).ok(),
            ..UploadPartInput::default()
        };
        let mut parts = Vec::new();
        for (number, content) in [(1, &b"hello "[..]), (7, b"world")] {
            let e_tag = volume.upload_part(request(part(number, content))).await.expect("there is room").output.e_tag;
            parts.push(CompletedPart { part_number: Some(number), e_tag, ..CompletedPart::default() });
        }
        assert!(kept.paths().is_empty(), "nothing is committed before it is complete");
        let complete = CompleteMultipartUploadInput {
            bucket: "notes".to_owned(),
            key: "big".to_owned(),
            upload_id: id.clone(),
            multipart_upload: Some(CompletedMultipartUpload { parts: Some(parts) }),
            ..CompleteMultipartUploadInput::default()
        };
        // It is the first, and stays so where its client asks again, at once or later.
        let complete = CompleteMultipartUploadInput { if_none_match: Some(ETagCondition::Any), ..complete };
        let tag = async || volume.complete_multipart_upload(request(complete.clone())).await.map(|answer| answer.output.e_tag);
        let (first, second) = tokio::join!(tag(), tag());
        assert_eq!(kept.content("notes/big").as_deref(), Some(&b"hello world"[..]));
        let expected = Some(ETag::Strong(blake3::hash(b"hello world").to_hex().to_string()));
        let third = tag().await;
        for answer in [first, second, third] {
            assert_eq!(answer.map_err(|error| code(&error)), Ok(expected.clone()));
        }
        assert_eq!(kept.commits.borrow().len(), 1);
        let other = CompleteMultipartUploadInput { multipart_upload: None, ..complete.clone() };
        let other = volume.complete_multipart_upload(request(other)).await.map(drop).map_err(|error| code(&error));
        assert_eq!(other, Err("NoSuchUpload".to_owned()), "it was completed with other parts");
        let id = volume.create_multipart_upload(request(begin())).await.expect("its owner may").output.upload_id.expect("it has one");
        let abort = AbortMultipartUploadInput {
            bucket: "notes".to_owned(),
            key: "big".to_owned(),
            upload_id: id,
            ..AbortMultipartUploadInput::default()
        };
        for _ in 0..2 {
            volume.abort_multipart_upload(request(abort.clone())).await.expect("it is over");
        }
        let never = AbortMultipartUploadInput { upload_id: "none".to_owned(), ..abort };
        assert!(volume.abort_multipart_upload(request(never)).await.is_err());
        assert_eq!(volume.spool.used(), 0);
    });
}

/// An upload to notes/big, to which parts came: its id, and the list of them.
async fn upload(volume: &S3Volume, contents: &[&'static [u8]]) -> (String, Vec<CompletedPart>) {
    let (bucket, key) = ("notes".to_owned(), "big".to_owned());
    let begin = CreateMultipartUploadInput { bucket: bucket.clone(), key: key.clone(), ..CreateMultipartUploadInput::default() };
    let upload_id = volume.create_multipart_upload(request(begin)).await.expect("its owner may").output.upload_id.expect("it has one");
    let mut parts = Vec::new();
    for (part_number, content) in (1..).zip(contents.iter().copied()) {
        let (bucket, key, upload_id) = (bucket.clone(), key.clone(), upload_id.clone());
        let (body, content_length) = (blob(content), i64::try_from(content.len()).ok());
        let part = UploadPartInput { bucket, key, upload_id, part_number, body, content_length, ..UploadPartInput::default() };
        let e_tag = volume.upload_part(request(part)).await.expect("there is room").output.e_tag;
        parts.push(CompletedPart { part_number: Some(part_number), e_tag, ..CompletedPart::default() });
    }
    (upload_id, parts)
}

async fn complete(volume: &S3Volume, upload_id: &str, parts: &[CompletedPart]) -> Result<(), String> {
    let input = CompleteMultipartUploadInput {
        bucket: "notes".to_owned(),
        key: "big".to_owned(),
        upload_id: upload_id.to_owned(),
        multipart_upload: Some(CompletedMultipartUpload { parts: Some(parts.to_vec()) }),
        ..CompleteMultipartUploadInput::default()
    };
    volume.complete_multipart_upload(request(input)).await.map(drop).map_err(|error| code(&error))
}

/// An upload that is aborted while its completion waits is not committed, and neither is what completes it with other parts.
#[test]
fn an_aborted_upload_is_not_committed() {
    locally(async {
        let (volume, kept) = volume(OWNER);
        let (id, parts) = upload(&volume, &[&b"hello "[..], b"world"]).await;
        let open = volume.uploads.of(&id, &cowboy_volumes::Path::new("notes/big").expect("a path")).expect("it is open");
        let (bucket, key) = ("notes".to_owned(), "big".to_owned());
        let abort = AbortMultipartUploadInput { bucket, key, upload_id: id.clone(), ..AbortMultipartUploadInput::default() };
        // Both wait for as long as this is held.
        let held = open.completing.lock().await;
        let (first, second, aborted) = tokio::join!(complete(&volume, &id, &parts), complete(&volume, &id, &parts[..1]), async {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            let aborted = volume.abort_multipart_upload(request(abort)).await.map(drop);
            drop(held);
            aborted
        });
        assert!(aborted.is_ok());
        assert_eq!([first, second], [Err("NoSuchUpload".to_owned()), Err("NoSuchUpload".to_owned())]);
        assert!(kept.paths().is_empty());
    });
}

/// A completion that is repeated after it failed sends again what relays do not have, and no more; with other parts it is another file.
#[test]
fn a_repeated_completion_sends_nothing_again() {
    locally(async {
        let (volume, kept) = volume(OWNER);
        let (id, parts) = upload(&volume, &[&b"hello "[..], b"world"]).await;
        kept.is_broken.set(true);
        for (listed, sends) in [(&parts[..], 1), (&parts[..], 1), (&parts[1..], 2), (&parts[..], 3)] {
            assert_eq!((complete(&volume, &id, listed).await, kept.sends.get()), (Err("InternalError".to_owned()), sends));
        }
        kept.is_broken.set(false);
        assert_eq!((complete(&volume, &id, &parts).await, kept.sends.get()), (Ok(()), 3));
        assert_eq!(kept.content("notes/big").as_deref(), Some(&b"hello world"[..]));
    });
}

/// A disk without room is a matter of time for clients: they are told to slow down, and nothing is kept of what they sent.
#[test]
fn a_full_disk_slows_clients_down() {
    locally(async {
        let (mut volume, kept) = volume(OWNER);
        volume.spool = spool(8 << 20).sparing(u64::MAX);
        let refused = volume.put_object(request(put("a", b"hello"))).await.map(drop).expect_err("there is no room");
        assert_eq!((code(&refused), refused.status_code()), ("SlowDown".to_owned(), Some(StatusCode::SERVICE_UNAVAILABLE)));
        assert!(kept.paths().is_empty());
        volume.spool = spool(8 << 20);
        volume.put_object(request(put("a", b"hello"))).await.expect("there is room by now");
    });
}

/// What a request says beside the key is never left out of account: nothing is removed or replaced that it does not mean.
#[test]
fn what_is_not_known_changes_nothing() {
    locally(async {
        let (volume, kept) = volume(OWNER);
        kept.put(&[("notes/a", b"a"), ("notes/b", b"b"), ("notes/c", b"c"), ("notes/d", b"d")]);
        let of = |key: &str| ObjectIdentifier { key: key.to_owned(), ..ObjectIdentifier::default() };
        let objects = vec![
            of("a"),
            ObjectIdentifier { version_id: Some("3".to_owned()), ..of("b") },
            ObjectIdentifier { e_tag: Some(ETag::Strong("0".repeat(64))), ..of("c") },
            ObjectIdentifier { size: Some(9), ..of("d") },
        ];
        let many = DeleteObjectsInput::builder().bucket("notes".to_owned()).delete(Delete { objects, ..Delete::default() });
        let many = many.build().expect("it says what is removed");
        let output = volume.delete_objects(request(many)).await.expect("its owner may").output;
        assert_eq!((output.deleted.map(|keys| keys.len()), output.errors.map(|keys| keys.len())), (Some(1), Some(3)));
        let append = PutObjectInput { write_offset_bytes: Some(1), ..put("b", b"x") };
        assert_eq!(volume.put_object(request(append)).await.map(drop).map_err(|error| code(&error)), Err("NotImplemented".to_owned()));
        let sized =
            DeleteObjectInput { bucket: "notes".to_owned(), key: "b".to_owned(), if_match_size: Some(9), ..DeleteObjectInput::default() };
        assert_eq!(volume.delete_object(request(sized)).await.map(drop).map_err(|error| code(&error)), Err("NotImplemented".to_owned()));
        let copy = CopyObjectInput::builder()
            .bucket("notes".to_owned())
            .key("b".to_owned())
            .copy_source(CopySource::Bucket { bucket: "notes".into(), key: "c".into(), version_id: None })
            .build()
            .expect("it says what is copied");
        let mut conditional = request(copy);
        conditional.headers.insert("if-none-match", hyper::header::HeaderValue::from_static("*"));
        assert_eq!(volume.copy_object(conditional).await.map(drop).map_err(|error| code(&error)), Err("NotImplemented".to_owned()));
        assert_eq!(kept.paths(), ["notes/b", "notes/c", "notes/d"]);
        assert_eq!(kept.content("notes/b").as_deref(), Some(&b"b"[..]));
    });
}

/// Who may read only, reads.
#[test]
fn readers_write_nothing() {
    locally(async {
        let (volume, kept) = volume(Rights { writes: false, removes: false, ..OWNER });
        kept.put(&[("notes/a", b"a")]);
        let refused = volume.put_object(request(put("a", b"b"))).await.map(drop).map_err(|error| code(&error));
        assert_eq!(refused, Err("AccessDenied".to_owned()));
        let remove = DeleteObjectInput { bucket: "notes".to_owned(), key: "a".to_owned(), ..DeleteObjectInput::default() };
        assert_eq!(volume.delete_object(request(remove)).await.map(drop).map_err(|error| code(&error)), Err("AccessDenied".to_owned()));
        assert_eq!(content(&volume, get("a", None)).await, Ok((b"a".to_vec(), None)));
    });
}

/// Nobody is let in without the signature of the one pair of credentials, by no older version of it, and with no form.
#[test]
fn strangers_stay_outside() {
    locally(async {
        let (engine, kept) = memory(OWNER, false);
        kept.put(&[("notes/a", b"a")]);
        let (handle, serving) = engine::serve(engine);
        tokio::task::spawn_local(serving);
        let credentials = Credentials { access_key: "COWBOY01".to_owned(), secret_key: "0123456789abcdef".to_owned() };
        let service = service(S3Volume { engine: handle, spool: spool(1 << 20), uploads: Arc::default() }, &credentials);
        let fourth = |key: &str| {
            let scope = format!("{key}/20261129/us-east-1/s3/aws4_request");
            format!("AWS4-HMAC-SHA256 Credential={scope},SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature={}", "0".repeat(64))
        };
        let rows = [
            ("/notes/a", None),
            ("/notes/a", Some("AWS COWBOY01:AAAAAAAAAAAAAAAAAAAAAAAAAAA=".to_owned())),
            ("/notes/a", Some(fourth("COWBOY01"))),
            ("/notes/a", Some(fourth("OTHER"))),
            ("/notes/a", Some("nonsense".to_owned())),
            ("/notes/a?AWSAccessKeyId=COWBOY01&Expires=4102444800&Signature=AAAA", None),
            ("/", None),
            ("/notes/..%2f..%2fa", None),
        ];
        for (uri, authorization) in rows {
            for method in [Method::GET, Method::PUT, Method::DELETE] {
                let mut builder = Request::builder().method(method.clone()).uri(uri).header("host", "127.0.0.1:9000");
                builder = builder.header("x-amz-date", "20261129T000000Z").header("x-amz-content-sha256", "UNSIGNED-PAYLOAD");
                if let Some(authorization) = &authorization {
                    builder = builder.header("authorization", authorization);
                }
                let request = builder.header("content-length", "0").body(Body::empty()).expect("a request");
                let status = service.call(request).await.expect("it is answered").status();
                let is_refused = status.is_client_error() || status == StatusCode::NOT_IMPLEMENTED;
                assert!(is_refused, "{method} {uri} {authorization:?}: {status}");
            }
        }
        let form = Request::builder().method(Method::POST).uri("/notes").header("content-type", "multipart/form-data; boundary=x");
        let form = form.body(Body::from(Bytes::from_static(b"--x\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\na\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nb\r\n--x--\r\n")));
        let status = service.call(form.expect("a request")).await.expect("it is answered").status();
        assert!(status.is_client_error() || status == StatusCode::NOT_IMPLEMENTED, "{status}");
        assert_eq!(kept.content("notes/a").as_deref(), Some(&b"a"[..]));
        assert_eq!(kept.paths(), ["notes/a"]);
    });
}

/// A key that lies in a file is not printed: what a program prints ends in logs.
#[test]
fn a_key_of_a_file_is_not_printed() {
    let credentials = Credentials { access_key: "COWBOY01".to_owned(), secret_key: "0123456789abcdef".to_owned() };
    for (file, is_printed) in [(Some(std::path::PathBuf::from("s3.ini")), false), (None, true)] {
        let printed = document(file.is_some(), &credentials, &["notes"], "http://127.0.0.1:9000").to_string();
        let said = said(&file, &credentials, &["notes"], "http://127.0.0.1:9000");
        assert_eq!((printed.contains(&credentials.secret_key), said.contains(&credentials.secret_key)), (is_printed, is_printed));
    }
}
