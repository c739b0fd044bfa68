//! Signatures of requests and of the chunks of their bodies, as clients make them.

use super::{NEW, Sent};
use cowboy_host::clock;
use s3s::crypto::{Checksum as _, Sha256};
use s3s::dto::{Timestamp, TimestampFormat};
use std::time::{Duration, UNIX_EPOCH};

pub(super) const ACCESS_KEY: &str = "COWBOY01";

pub(super) const SECRET_KEY: &str = "0123456789abcdef";

/// The server's name, as requests say it.
const HOST: &str = "127.0.0.1:9000";

/// The bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// How the chunks of a body are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Each of them.
    Signed,
    /// None; a checksum comes behind them.
    Trailing,
}

impl Payload {
    fn name(self) -> &'static str {
        match self {
            Self::Signed => "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
            Self::Trailing => "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
        }
    }
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::checksum(bytes))
}

/// The names of headers, as requests say which ones they sign.
fn names(headers: &[(&'static str, String)]) -> String {
    headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";")
}

/// HMAC-SHA-256 with a key that is not longer than a block.
fn hmac(key: &[u8], bytes: &[u8]) -> [u8; 32] {
    let padded = |pad: u8| -> Vec<u8> { (0..BLOCK).map(|at| key.get(at).copied().unwrap_or_default() ^ pad).collect() };
    let inner = Sha256::checksum(&[&padded(0x36)[..], bytes].concat());
    Sha256::checksum(&[&padded(0x5C)[..], &inner[..]].concat())
}

/// Signs at one time.
struct Signer {
    /// The time, as `20261129T000000Z`.
    time: String,
    /// What the key holds for.
    scope: String,
    key: [u8; 32],
}

impl Signer {
    fn now() -> Self {
        let now = Timestamp::from(UNIX_EPOCH + Duration::from_secs(clock::now_ms() / 1_000));
        let mut text = Vec::new();
        // Writing to a vector never fails.
        let _ = now.format(TimestampFormat::DateTime, &mut text);
        let digits = String::from_utf8_lossy(&text).replace(['-', ':'], "");
        let time = format!("{}Z", digits.get(..15).unwrap_or_default());
        let date = time.get(..8).unwrap_or_default();
        let secret = format!("AWS4{SECRET_KEY}");
        let parts = [date, "us-east-1", "s3", "aws4_request"];
        let key = parts.iter().fold(secret.into_bytes(), |key, part| hmac(&key, part.as_bytes()).to_vec());
        let scope = parts.join("/");
        Self { key: key.try_into().unwrap_or_default(), scope, time }
    }

    fn sign(&self, text: &str) -> String {
        hex::encode(hmac(&self.key, text.as_bytes()))
    }

    /// The headers of a request to put [`NEW`] that are signed, by name.
    fn signed(&self, payload: Payload, length: usize) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("host", HOST.to_owned()),
            ("x-amz-content-sha256", payload.name().to_owned()),
            ("x-amz-date", self.time.clone()),
            ("x-amz-decoded-content-length", length.to_string()),
        ];
        if payload == Payload::Trailing {
            headers.push(("x-amz-trailer", "x-amz-checksum-crc32".to_owned()));
        }
        headers
    }

    /// The signature of a request, as it is signed.
    fn sign_request(&self, canonical: &str) -> String {
        self.sign(&format!("AWS4-HMAC-SHA256\n{}\n{}\n{}", self.time, self.scope, sha256(canonical.as_bytes())))
    }

    /// The signature of a request to put [`NEW`] with these headers.
    fn sign_head(&self, payload: Payload, headers: &[(&'static str, String)]) -> String {
        let lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        self.sign_request(&format!("PUT\n/{NEW}\n\n{}\n{}\n{}", lines.concat(), names(headers), payload.name()))
    }

    /// The signature of a chunk, behind the one before.
    fn sign_chunk(&self, before: &str, chunk: &[u8]) -> String {
        let hashes = format!("{}\n{}", sha256(b""), sha256(chunk));
        self.sign(&format!("AWS4-HMAC-SHA256-PAYLOAD\n{}\n{}\n{before}\n{hashes}", self.time, self.scope))
    }

    /// A request to put [`NEW`], with a body that is `length` bytes without its frame.
    fn put(&self, payload: Payload, length: usize, body: Vec<u8>) -> Sent {
        let mut headers = self.signed(payload, length);
        let (signed, signature) = (names(&headers), self.sign_head(payload, &headers));
        let credential = format!("{ACCESS_KEY}/{}", self.scope);
        headers.extend([
            ("content-encoding", "aws-chunked".to_owned()),
            ("content-length", body.len().to_string()),
            ("authorization", format!("AWS4-HMAC-SHA256 Credential={credential},SignedHeaders={signed},Signature={signature}")),
        ]);
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value.into_bytes())).collect();
        Sent { method: "PUT".to_owned(), target: format!("/{NEW}"), headers, body }
    }
}

/// A signed request to put [`NEW`], with these bytes as its chunks, which are `length` bytes without their frame.
pub fn put_as(payload: Payload, length: usize, body: &[u8]) -> Sent {
    Signer::now().put(payload, length, body.to_vec())
}

/// A signed request to put [`NEW`] in signed chunks.
pub fn put_in_chunks(pieces: &[&[u8]]) -> Sent {
    let signer = Signer::now();
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    let mut signature = signer.sign_head(Payload::Signed, &signer.signed(Payload::Signed, length));
    let mut body = Vec::new();
    let whole = pieces.iter().copied().filter(|piece| !piece.is_empty());
    for piece in whole.chain([&b""[..]]) {
        signature = signer.sign_chunk(&signature, piece);
        body.extend_from_slice(format!("{:x};chunk-signature={signature}\r\n", piece.len()).as_bytes());
        body.extend_from_slice(piece);
        body.extend_from_slice(b"\r\n");
    }
    signer.put(Payload::Signed, length, body)
}

/// A request to put an empty file as [`NEW`] at an address that is signed for a minute, with these headers that are not.
pub fn put_presigned(others: &[(&str, &str)]) -> Sent {
    let signer = Signer::now();
    let credential = format!("{ACCESS_KEY}/{}", signer.scope).replace('/', "%2F");
    let fields = format!("X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={credential}&X-Amz-Date={}", signer.time);
    let query = format!("{fields}&X-Amz-Expires=60&X-Amz-SignedHeaders=host");
    let signature = signer.sign_request(&format!("PUT\n/{NEW}\n{query}\nhost:{HOST}\n\nhost\nUNSIGNED-PAYLOAD"));
    let mut sent = Sent::with_body("PUT", &format!("/{NEW}?{query}&X-Amz-Signature={signature}"), b"");
    let headers = [("host", HOST)].into_iter().chain(others.iter().copied());
    sent.headers.extend(headers.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec())));
    sent
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test cases 1 and 2.
    #[test]
    fn hmac_is_that_of_the_standard() {
        let first = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
        assert_eq!(hex::encode(hmac(&[0x0B; 20], b"Hi There")), first);
        let second = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(hex::encode(hmac(b"Jefe", b"what do ya want for nothing?")), second);
    }
}
