//! The fuzz targets of S3 on bytes from seeds: random ones, right ones, and right ones but for a bit (decision 359).

use super::{BIG, FILES, NEW, PART, Payload, ask, ask_unsigned, complete, files, put_as, put_in_chunks, put_presigned};
use cowboy_types::blake3;

#[path = "../../../../../fuzz/corpus.rs"]
mod corpus;
#[path = "../../../../../fuzz/bodies/s3_chunks.rs"]
mod s3_chunks;
#[path = "../../../../../fuzz/bodies/s3_head.rs"]
mod s3_head;
#[path = "../../../../../fuzz/bodies/s3_list.rs"]
mod s3_list;
#[path = "../../../../../fuzz/bodies/s3_xml.rs"]
mod s3_xml;

/// Bytes from a seed, at most 255.
fn drawn(name: &str, seed: u64) -> Vec<u8> {
    let block = |number: u64| blake3(&[name.as_bytes(), &seed.to_be_bytes(), &number.to_be_bytes()]).0;
    let length = usize::from(block(0)[0]);
    let mut bytes: Vec<u8> = (1..=8).flat_map(block).collect();
    bytes.truncate(length);
    bytes
}

/// The same bytes with one bit changed.
fn changed(mut bytes: Vec<u8>, seed: u64) -> Vec<u8> {
    let places = u64::try_from(bytes.len()).expect("few");
    if places > 0 {
        let place = usize::try_from(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) % places).expect("it is below");
        bytes[place] ^= 1 << (seed % 8);
    }
    bytes
}

/// Runs a target on bytes from seeds, and on samples.
fn run(name: &str, body: fn(&[u8]), samples: &[&[u8]]) {
    let run = |bytes: &[u8]| {
        corpus::keep(name, bytes);
        body(bytes);
    };
    for seed in 0..60 {
        run(&drawn(name, seed));
        for sample in samples {
            run(&changed(sample.to_vec(), seed));
        }
    }
    samples.iter().for_each(|sample| run(sample));
}

const HEADS: [&[u8]; 3] = [
    b"GET /notes/a\nhost: 127.0.0.1:9000\nrange: bytes=0-4\n\n",
    b"PUT /notes/a?x=1&%41=b\nhost: a\nx-amz-date: 20261129T000000Z\nx-amz-content-sha256: UNSIGNED-PAYLOAD\ncontent-length: 1\n\
      authorization: AWS4-HMAC-SHA256 Credential=COWBOY01/20261129/us-east-1/s3/aws4_request,SignedHeaders=host;x-amz-date,Signature=0000000000000000000000000000000000000000000000000000000000000000\n\nx",
    b"DELETE /notes/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=COWBOY01%2F20261129%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20261129T000000Z&X-Amz-Expires=604800&X-Amz-SignedHeaders=host&X-Amz-Signature=00\nhost: a\n\n",
];

#[test]
fn heads_hold() {
    run("s3_head", s3_head::body, &HEADS);
}

#[test]
fn chunks_hold() {
    run(
        "s3_chunks",
        s3_chunks::body,
        &[b"\x03hello world, in chunks of three", b"\x055\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n"],
    );
}

#[test]
fn documents_hold() {
    let whole: &[u8] = b"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber></Part></CompleteMultipartUpload>";
    let delete: &[u8] = b"<Delete><Quiet>true</Quiet><Object><Key>a</Key></Object><Object><Key>../x</Key></Object></Delete>";
    run("s3_xml", s3_xml::body, &[whole, delete]);
}

#[test]
fn lists_hold() {
    run("s3_list", s3_list::body, &[b"b/\0/\0b/1\0bytes=1-3", b"\0\0\0bytes=-4", b"\0b\0a/b\0bytes=0-4,6-7"]);
}

/// Who signs with a key of another name is told that it is not known.
#[test]
fn unknown_keys_are_named() {
    let mut sent = put_in_chunks(&[&b"x"[..]]);
    for (_, value) in &mut sent.headers {
        *value = String::from_utf8_lossy(value).replace("COWBOY01", "OTHER").into_bytes();
    }
    let refused = ask(&sent).expect("a request");
    let body = String::from_utf8_lossy(&refused.body);
    assert!(refused.status == 403 && body.contains("<Code>InvalidAccessKeyId</Code>"), "{}: {body}", refused.status);
}

/// Decision 747: who was given an address to put one file reads no other one with it, and nobody changes on the way what a signed request does.
#[test]
fn headers_that_nobody_signed_change_nothing() {
    let put = ask(&put_presigned(&[])).expect("a request");
    assert_eq!((put.status, put.files.get(NEW).map(Vec::len)), (200, Some(0)), "{}", String::from_utf8_lossy(&put.body));
    let copy = ("x-amz-copy-source", "/other/x");
    let mut in_chunks = put_in_chunks(&[&b"x"[..]]);
    in_chunks.headers.push((copy.0.to_owned(), copy.1.as_bytes().to_vec()));
    for sent in [put_presigned(&[copy]), put_presigned(&[copy, ("x-amz-metadata-directive", "REPLACE")]), in_chunks] {
        let refused = ask(&sent).expect("a request");
        let body = String::from_utf8_lossy(&refused.body);
        assert!(refused.status == 403 && body.contains("is not signed"), "{}: {body}", refused.status);
        assert_eq!(refused.files, files());
    }
}

/// The targets reach what they are about: right requests are done.
#[test]
fn right_requests_are_done() {
    let content = b"hello world";
    let pieces: Vec<&[u8]> = content.chunks(4).collect();
    let put = ask(&put_in_chunks(&pieces)).expect("a request");
    assert_eq!((put.status, put.files.get(NEW).map(Vec::as_slice)), (200, Some(&content[..])), "{}", String::from_utf8_lossy(&put.body));
    let trailing = put_as(Payload::Trailing, 5, b"5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n");
    let put = ask(&trailing).expect("a request");
    assert_eq!((put.status, put.files.get(NEW).map(Vec::as_slice)), (200, Some(&b"hello"[..])), "{}", String::from_utf8_lossy(&put.body));
    let document = b"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber></Part></CompleteMultipartUpload>";
    let done = complete(document).expect("a request");
    assert_eq!((done.status, done.files.get(BIG).map(Vec::as_slice)), (200, Some(PART)), "{}", String::from_utf8_lossy(&done.body));
    let delete = b"<Delete><Object><Key>a</Key></Object></Delete>";
    let gone = ask_unsigned(&super::Sent::with_body("POST", "/notes?delete", delete)).expect("a request");
    assert_eq!((gone.status, gone.files.len()), (200, FILES.len() - 1), "{}", String::from_utf8_lossy(&gone.body));
}
